package e2e

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/proofmill/proofmill/internal/testparams"
	"github.com/proofmill/proofmill/pkg/bus/embedded"
	"github.com/proofmill/proofmill/pkg/client"
	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/wire"
)

// patience is a time that no healthy run needs.
const patience = 10 * time.Minute

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "proofmill-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "proofmill")
	build := exec.Command("go", "build", "-o", binary, "../../cmd/proofmill")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// fleet is a NATS server with one process for each service.
type fleet struct {
	t         *testing.T
	server    *embedded.Server
	params    string
	client    *client.Client
	js        jetstream.JetStream
	processes map[string]*process
}

// process is a running service of the binary.
type process struct {
	cmd    *exec.Cmd
	ended  chan struct{}
	output *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newFleet(t *testing.T, fixtures ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, params: testparams.Dir(t, fixtures...), processes: map[string]*process{}}
	var err error
	if f.server, err = embedded.Start(t.Context(), embedded.Config{StoreDir: t.TempDir(), Port: -1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.server.Shutdown)
	if f.client, err = client.Dial(t.Context(), client.Config{URL: f.server.URL(), Name: "test"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.client.Close)
	nc, err := nats.Connect(f.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if f.js, err = jetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for name := range f.processes {
			f.stop(name, syscall.SIGTERM)
		}
	})
	return f
}

// start starts services and waits until each says that it is ready. A synth is when a prover has
// said what it serves.
func (f *fleet) start(names ...string) {
	f.t.Helper()
	for _, name := range names {
		f.launch(name)
	}
	for _, name := range names {
		p := f.processes[name]
		f.until(name+" is ready", func() bool {
			select {
			case <-p.ended:
				f.t.Fatalf("%s ended: %s", name, p.output)
			default:
			}
			return strings.Contains(p.output.String(), "msg=ready")
		})
	}
}

func (f *fleet) launch(name string) {
	f.t.Helper()
	p := &process{ended: make(chan struct{}), output: &lockedBuffer{}}
	p.cmd = exec.Command(binary, name, "--nats", f.server.URL(), "--test-params", "--params-dir", f.params, "--listen", "", "--log-format", "text")
	p.cmd.Stderr = p.output
	p.cmd.Env = []string{"HOME=" + f.t.TempDir()}
	if err := p.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit is looked at where it matters
		close(p.ended)
	}()
	f.processes[name] = p
}

// stop sends a signal and waits for the end of the process.
func (f *fleet) stop(name string, signal syscall.Signal) *process {
	f.t.Helper()
	p := f.processes[name]
	delete(f.processes, name)
	if err := p.cmd.Process.Signal(signal); err != nil {
		f.t.Errorf("%s: %v", name, err)
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		f.t.Errorf("%s did not end on %s: %s", name, signal, p.output)
	}
	return p
}

// until polls what can only be polled: another process.
func (f *fleet) until(what string, done func() bool) {
	f.t.Helper()
	deadline := time.Now().Add(patience)
	for !done() {
		if time.Now().After(deadline) {
			f.t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// sector is a golden fixture as a request, and what verifies its proof.
type sector struct {
	request client.Request
	job     *engine.Job
	vk      *groth16.PreparedVerifyingKey
}

func (f *fleet) sector(kind string) *sector {
	f.t.Helper()
	const golden = "../../testdata/golden/2KiB/"
	var fixture struct {
		Miner      uint64 `json:"miner_id"`
		Sector     uint64 `json:"sector_number"`
		Randomness string `json:"randomness"`
		C1         string `json:"c1_file"`
		Sectors    []struct {
			File string `json:"vanilla_file"`
		} `json:"sectors"`
		Parameters struct {
			VK string `json:"vk_file"`
		} `json:"parameters"`
	}
	data, err := os.ReadFile(golden + kind + "-2KiB.json")
	if err != nil {
		f.t.Fatal(err)
	}
	if err := json.Unmarshal(data, &fixture); err != nil {
		f.t.Fatal(err)
	}
	s := &sector{}
	r := &engine.Request{Miner: fixture.Miner, Sector: fixture.Sector}
	files := []string{}
	switch kind {
	case "porep":
		r.Kind, r.RegisteredProof, files = filecoin.PoRep, 5, append(files, fixture.C1)
		s.request.Kind = wire.KindPoRep
	case "winning":
		r.Kind = filecoin.Winning
		s.request.Kind = wire.KindWinningPoSt
	default:
		f.t.Fatalf("kind %s", kind)
	}
	for _, sec := range fixture.Sectors {
		files = append(files, sec.File)
	}
	if _, err := hex.Decode(r.Randomness[:], []byte(fixture.Randomness)); err != nil {
		f.t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(golden + name)
		if err != nil {
			f.t.Fatal(err)
		}
		r.Vanilla = append(r.Vanilla, data)
	}
	s.request.RegisteredProof, s.request.Miner, s.request.Sector = r.RegisteredProof, r.Miner, r.Sector
	s.request.Randomness, s.request.Vanilla = r.Randomness, r.Vanilla
	if s.job, err = engine.Open(f.t.Context(), r, engine.Options{}); err != nil {
		f.t.Fatal(err)
	}
	vk, err := groth16.OpenVerifyingKey(golden + fixture.Parameters.VK)
	if err != nil {
		f.t.Fatal(err)
	}
	if s.vk, err = groth16.Prepare(vk); err != nil {
		f.t.Fatal(err)
	}
	return s
}

// oneProof awaits the job's end and checks that there is one result, with a proof that holds.
func (f *fleet) oneProof(s *sector, id wire.JobID) *wire.Result {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	result, err := f.client.Await(ctx, id)
	if err != nil {
		f.t.Fatalf("job ended with %v", err)
	}
	if err := s.job.VerifyResult(s.vk, result.Proof); err != nil {
		f.t.Fatal(err)
	}
	stream, err := f.js.Stream(ctx, wire.Names{}.StreamResults())
	if err != nil {
		f.t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != 1 {
		f.t.Errorf("%d results are stored, want 1", n)
	}
	return result
}
