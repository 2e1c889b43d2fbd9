package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGoldenBytes(t *testing.T) {
	for name, m := range sampleMessages() {
		t.Run(name, func(t *testing.T) {
			got, err := Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".hex")
			if *update {
				if err := os.WriteFile(path, []byte(hex.EncodeToString(got)+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := hex.DecodeString(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("bytes differ from %s:\n got %x\nwant %x", path, got, want)
			}
			back := emptyOf(m)
			if err := Decode(want, back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(m, back, cmpopts.IgnoreUnexported(Error{})); diff != "" {
				t.Errorf("decoded message differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRefusesOtherTypes(t *testing.T) {
	for name, m := range sampleMessages() {
		data, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		for other, o := range sampleMessages() {
			target := emptyOf(o)
			from, to := reflect.TypeOf(m), reflect.TypeOf(o)
			// A status query is only a version and a key, hence a cancel or reply without its optional fields; all other
			// types differ in required ones.
			if from == to || from == reflect.TypeFor[*StatusQuery]() {
				continue
			}
			if err := Decode(data, target); err == nil {
				t.Errorf("%s was read as %s", name, other)
			}
		}
	}
}

func TestDecodeRefusesDamage(t *testing.T) {
	good, err := Encode(sampleMessages()["request"])
	if err != nil {
		t.Fatal(err)
	}
	t.Run("truncated", func(t *testing.T) {
		for n := range good {
			if err := Decode(good[:n], new(Request)); err == nil {
				t.Fatalf("the first %d of %d bytes were read", n, len(good))
			}
		}
	})
	t.Run("trailing", func(t *testing.T) {
		if err := Decode(append(bytes.Clone(good), 0), new(Request)); !errors.Is(err, CodeBadMessage) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("oversized", func(t *testing.T) {
		if err := Decode(make([]byte, MaxMessageBytes+1), new(Request)); !errors.Is(err, CodeMessageTooLarge) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("later version", func(t *testing.T) {
		data, err := msgpack.Marshal(map[string]any{"v": 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := Decode(data, new(Request)); !errors.Is(err, CodeUnsupportedVersion) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("inline digest", func(t *testing.T) {
		data := bytes.Replace(good, []byte("vanilla"), []byte("vanillb"), 1)
		if err := Decode(data, new(Request)); !errors.Is(err, CodeInputCorrupt) {
			t.Errorf("got %v", err)
		}
	})
	for name, data := range map[string][]byte{
		"nil":         {0xc0},
		"float":       {0x81, 0xa1, 'v', 0xca, 0, 0, 0, 0},
		"extension":   {0x81, 0xa1, 'v', 0xd4, 1, 1},
		"repeated":    {0x82, 0xa1, 'v', 1, 0xa1, 'v', 1},
		"unknown":     {0x82, 0xa1, 'v', 1, 0xa1, 'z', 1},
		"integer key": {0x82, 0xa1, 'v', 1, 1, 1},
		"deep":        append(append([]byte{0x82, 0xa1, 'v', 1, 0xa1, 'z'}, bytes.Repeat([]byte{0x91}, 100)...), 1),
		"long array":  {0x82, 0xa1, 'v', 1, 0xa1, 'z', 0xdd, 0xff, 0xff, 0xff, 0xff},
		"long bytes":  {0x82, 0xa1, 'v', 1, 0xa1, 'z', 0xc6, 0x7f, 0xff, 0xff, 0xff},
		"array":       {0x91, 1},
		"empty":       {},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Decode(data, new(Cancel)); !errors.Is(err, CodeBadMessage) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestRequestRoundTrip checks that what Encode accepts, Decode gives back, and that equal messages are equal bytes.
func TestRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digest := rapid.Custom(func(t *rapid.T) Digest {
			return Digest(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
		})
		r := &Request{
			Account:  rapid.StringMatching(`[a-zA-Z0-9_-]{1,64}`).Draw(t, "account"),
			Label:    rapid.StringMatching(`[ -~]{0,256}`).Draw(t, "label"),
			Priority: rapid.SampledFrom(Priorities()).Draw(t, "priority"),
			Deadline: Millis(rapid.Int64Min(0).Draw(t, "deadline")),
			Run:      rapid.Uint32Min(1).Draw(t, "run"),
			Statement: Statement{
				Kind:            KindWindowPoSt,
				RegisteredProof: rapid.Uint64().Draw(t, "proof"),
				SectorSize:      1 << rapid.IntRange(0, 63).Draw(t, "size"),
				Miner:           rapid.Uint64().Draw(t, "miner"),
				Sector:          rapid.Uint64().Draw(t, "sector"),
				PartitionIndex:  rapid.Uint32().Draw(t, "index"),
				Randomness:      digest.Draw(t, "randomness"),
			},
		}
		for range rapid.IntRange(1, 5).Draw(t, "inputs") {
			r.Inputs.List = append(r.Inputs.List, InlineInput(rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "input")))
		}
		data, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		back := new(Request)
		if err := Decode(data, back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, back); diff != "" {
			t.Fatalf("differs (-want +got):\n%s", diff)
		}
		if back.Key() != r.Key() {
			t.Fatal("the identity changed on the way")
		}
	})
}

// FuzzDecode checks that no bytes make a decoder panic, and that what is accepted is written again as something equal.
func FuzzDecode(f *testing.F) {
	for _, m := range sampleMessages() {
		data, err := Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range []Message{new(Request), new(SynthJob), new(ProveJob), new(PartitionProof), new(Result), new(Cancel),
			new(StatusQuery), new(Reply), new(Progress), new(WorkerInfo), new(JobRecord)} {
			if err := Decode(data, m); err != nil {
				var e *Error
				if !errors.As(err, &e) || e.Class != Terminal {
					t.Fatalf("%T: unclassified error %v", m, err)
				}
				continue
			}
			again, err := Encode(m)
			if err != nil {
				t.Fatalf("%T: accepted, but not written: %v", m, err)
			}
			back := emptyOf(m)
			if err := Decode(again, back); err != nil {
				t.Fatalf("%T: written, but not accepted: %v", m, err)
			}
			if diff := cmp.Diff(m, back, cmpopts.IgnoreUnexported(Error{}), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%T differs (-first +second):\n%s", m, diff)
			}
		}
	})
}

func BenchmarkDecodeRequest(b *testing.B) {
	r := sampleMessages()["request"].(*Request)
	r.Inputs.List[0] = InlineInput(make([]byte, MaxInlineBytes))
	data, err := Encode(r)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := Decode(data, new(Request)); err != nil {
			b.Fatal(err)
		}
	}
}
