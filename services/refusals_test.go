package services_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/proofmill/proofmill/pkg/bus/objects"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/wire"
	"github.com/proofmill/proofmill/services/gpuprove/cpu"
)

// vanilla changes one input of a request.
func vanilla(r *wire.Request, i int, change func(data []byte) []byte) {
	r.Inputs.List[i] = wire.InlineInput(change(bytes.Clone(r.Inputs.List[i].Inline)))
}

// What can never be proved ends with one clear reason, and nobody proves anything for it.
func TestRefusals(t *testing.T) {
	const porep, update = "porep-2KiB", "update-2KiB"
	f := newFleet(t, keysOnly(t, winning, window, porep, update))
	f.gateway("gateway-1")
	backend := newDouble(t, nil, winning, window, porep, update)
	f.prover("prove-1", backend)
	f.synth()
	names := f.client.Names()
	for _, c := range []struct {
		name    string
		fixture string
		change  func(r *wire.Request)
		code    wire.Code
		detail  map[string]string
	}{
		{"truncated bincode", winning, func(r *wire.Request) { vanilla(r, 0, func(b []byte) []byte { return b[:len(b)/2] }) }, wire.CodeBadInput, nil},
		{"oversized bincode", winning, func(r *wire.Request) { vanilla(r, 0, func(b []byte) []byte { return append(b, 0) }) }, wire.CodeBadInput, nil},
		{"JSON where bincode is due", winning, func(r *wire.Request) { vanilla(r, 0, func([]byte) []byte { return []byte(`{"a": 1}`) }) }, wire.CodeBadInput, nil},
		{"a wrong byte in the last sector", window, func(r *wire.Request) {
			vanilla(r, 2, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}, wire.CodeBadVanillaProof, map[string]string{"sector": "12", "partition": "1"}},
		{"a wrong byte", winning, func(r *wire.Request) { vanilla(r, 0, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }) }, wire.CodeBadVanillaProof, map[string]string{"sector": "10"}},
		{"truncated JSON", porep, func(r *wire.Request) { vanilla(r, 0, func(b []byte) []byte { return b[:len(b)-2] }) }, wire.CodeBadInput, nil},
		{"JSON with something behind it", porep, func(r *wire.Request) { vanilla(r, 0, func(b []byte) []byte { return append(b, `{"a": 1}`...) }) }, wire.CodeBadInput, nil},
		{"bincode where JSON is due", porep, func(r *wire.Request) { vanilla(r, 0, func([]byte) []byte { return []byte{1, 0, 0, 0} }) }, wire.CodeBadInput, nil},
		{"another miner", porep, func(r *wire.Request) { r.Statement.Miner++ }, 0, nil},
		{"no such input", update, func(r *wire.Request) { r.Inputs.List = append(r.Inputs.List, r.Inputs.List[0]) }, wire.CodeBadInput, nil},
		{"contradictory size", window, func(r *wire.Request) { r.Statement.SectorSize = 32 << 30 }, wire.CodeSizeContradiction, nil},
		{"unknown proof", winning, func(r *wire.Request) { r.Statement.RegisteredProof = 77 }, wire.CodeUnknownProof, nil},
		{"a window's number", winning, func(r *wire.Request) { r.Statement.RegisteredProof = 5 }, wire.CodeUnknownProof, nil},
		{"a circuit without a key", winning, func(r *wire.Request) {
			p, err := filecoin.PoStProofFor(filecoin.Winning, 512<<20, filecoin.APIv1_0_0)
			if err != nil {
				t.Fatal(err)
			}
			r.Statement.RegisteredProof, r.Statement.SectorSize = uint64(p), 0
		}, wire.CodeUnsupportedCircuit, map[string]string{"circuit": "winning-512m"}},
		{"an input that is gone", winning, func(r *wire.Request) {
			in := &r.Inputs.List[0]
			ref := wire.ObjectRef{Bucket: names.BucketInputs(), Name: "never", Size: in.Size, SHA256: in.SHA256}
			r.Inputs.Objects, in.Inline, in.Object = []wire.ObjectRef{ref}, nil, 1
		}, wire.CodeInputMissing, nil},
		{"an input that is not what was announced", winning, func(r *wire.Request) {
			in := &r.Inputs.List[0]
			ref, err := f.client.Inputs().Put(t.Context(), objects.NewName("in"), bytes.NewReader(in.Inline), int64(in.Size))
			if err != nil {
				t.Fatal(err)
			}
			r.Inputs.Objects, in.Inline, in.Object, in.SHA256 = []wire.ObjectRef{ref}, nil, 1, wire.Digest{7}
		}, wire.CodeInputCorrupt, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := readFixture(t, c.fixture).request(t)
			c.change(r)
			result := f.result(f.submit(r), 1)
			if result.Status != wire.Failed || c.code != 0 && !errors.Is(result.Err(), c.code) || result.Error.Class != wire.Terminal {
				t.Fatalf("%s: %v", result.Status, result.Err())
			}
			for name, value := range c.detail {
				if result.Error.Detail[name] != value {
					t.Errorf("detail %s is %q, want %q: %v", name, result.Error.Detail[name], value, result.Err())
				}
			}
		})
	}
	t.Run("messages that are none", func(t *testing.T) {
		good := readFixture(t, winning).request(t)
		data, err := wire.Encode(good)
		if err != nil {
			t.Fatal(err)
		}
		key := good.Key()
		other := wire.JobKey{Account: key.Account, ID: wire.JobID(wire.SumOf([]byte("other")).String())}
		foreign := wire.JobKey{Account: "other", ID: key.ID}
		for _, m := range []struct {
			key  wire.JobKey
			data []byte
			code wire.Code
		}{
			{wire.JobKey{Account: key.Account, ID: wire.JobID(wire.SumOf([]byte("noise")).String())}, []byte("noise"), wire.CodeBadMessage},
			{other, data, wire.CodeNotPermitted},
			{foreign, data, wire.CodeNotPermitted},
		} {
			msg := nats.NewMsg(names.Request(good.Priority, m.key))
			msg.Data = m.data
			if _, err := f.client.JetStream().PublishMsg(t.Context(), msg, jetstream.WithExpectStream(names.Stream(wire.WorkRequests))); err != nil {
				t.Fatal(err)
			}
			if r := f.result(m.key, 1); r.Status != wire.Failed || !errors.Is(r.Err(), m.code) {
				t.Errorf("%s: %v", r.Status, r.Err())
			}
		}
	})
	// One of the window's partitions was good, and may have been proved before the other was found bad.
	if n := backend.calls.Load(); n > 1 {
		t.Errorf("%d proofs were made", n)
	}
}

// Parameter files that are missing, foreign, damaged or for tests only are told apart before any work.
func TestParameterFiles(t *testing.T) {
	good := testParams(t, winning, window)
	c, w := readFixture(t, winning).circuit(t), readFixture(t, window).circuit(t)
	file := func(name string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	params, vk := file(filecoin.ParamsFile(c.Kind, c.Size)), file(filecoin.VerifyingKeyFile(c.Kind, c.Size))
	foreign := file(filecoin.ParamsFile(w.Kind, w.Size))
	link := func(dir, from, to string) {
		if err := os.Symlink(filepath.Join(good, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name  string
		build func(dir string)
		test  bool
		code  wire.Code
	}{
		{"good", func(dir string) { link(dir, params, params); link(dir, vk, vk) }, true, 0},
		{"missing", func(string) {}, true, wire.CodeParametersMissing},
		{"those of another circuit", func(dir string) { link(dir, foreign, params) }, true, wire.CodeParametersForeign},
		{"another circuit's key beside them", func(dir string) {
			link(dir, params, params)
			link(dir, filepath.Base(groth16.VerifyingKeyPath(foreign)), vk)
		}, true, wire.CodeParametersForeign},
		{"an error page", func(dir string) {
			if err := os.WriteFile(filepath.Join(dir, params), []byte("<html>no</html>"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, true, wire.CodeParametersForeign},
		{"for tests in production", func(dir string) {
			link(dir, params, params)
			link(dir, groth16.MarkerPath(params), groth16.MarkerPath(params))
		}, false, wire.CodeParametersForeign},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			tc.build(dir)
			for _, circuits := range [][]string{{c.ID()}, nil} {
				b, err := cpu.Open(t.Context(), cpu.Options{Params: cpu.ParamsDir{Path: dir, AllowTest: tc.test}, Circuits: circuits, Systems: &systems})
				if tc.code == 0 {
					if err != nil || len(b.Keys()) != 1 || b.Keys()[0].Circuit != c.ID() {
						t.Errorf("good parameters: %v", err)
					}
					continue
				}
				if !errors.Is(err, tc.code) {
					t.Errorf("circuits %v: %v", circuits, err)
				}
			}
		})
	}
	// A gateway in production does not verify with the key of test parameters.
	dir := t.TempDir()
	link(dir, vk, vk)
	link(dir, groth16.MarkerPath(params), groth16.MarkerPath(params))
	f := newFleet(t, dir)
	f.run("gateway-1", f.production)
	r := readFixture(t, winning).request(t)
	if result := f.result(f.submit(r), 1); !errors.Is(result.Err(), wire.CodeParametersForeign) {
		t.Errorf("%s: %v", result.Status, result.Err())
	}
}

// A worker with another key than the gateway's is found out by its first proof, and named.
func TestForeignWorker(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	f.gateway("gateway-1")
	backend := newDouble(t, nil, winning)
	backend.keys[0].VK = wire.Digest{1}
	f.prover("prove-1", backend)
	f.synth()
	result := f.result(f.submit(readFixture(t, winning).request(t)), 1)
	if !errors.Is(result.Err(), wire.CodeProofRejected) || result.Error.Detail["worker"] != "prove-1" {
		t.Errorf("%v, %v", result.Err(), result.Error.Detail)
	}
}

// TestStatus asks for the state of jobs.
func TestStatus(t *testing.T) {
	f := newFleet(t, keysOnly(t, winning))
	f.gateway("gateway-1")
	ask := func(key wire.JobKey) *wire.Reply {
		data, err := wire.Encode(&wire.StatusQuery{JobKey: key})
		if err != nil {
			t.Fatal(err)
		}
		msg, err := f.client.NATS().Request(f.client.Names().Ask("status", key), data, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		reply := new(wire.Reply)
		if err := wire.Decode(msg.Data, reply); err != nil {
			t.Fatal(err)
		}
		return reply
	}
	r := readFixture(t, winning).request(t)
	if reply := ask(r.Key()); reply.Found || reply.Error != nil {
		t.Errorf("unknown job: %+v", reply)
	}
	f.submit(r)
	eventually(t, "running job", func() bool {
		reply := ask(r.Key())
		return reply.Found && reply.State == wire.JobRunning && reply.Live && reply.Total == 1 && reply.Done == 0
	})
}
