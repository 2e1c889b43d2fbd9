package groth16

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/proofmill/proofmill/pkg/r1cs"
)

// tinySystem is x * x = y with y an input and x used in A and B.
func tinySystem() *r1cs.System {
	b := r1cs.NewBuilder()
	b.Block("square", 1, func(cs *r1cs.CS) {
		x, y := cs.AllocElement(), cs.AllocInput()
		cs.Enforce(r1cs.LCOf(x), r1cs.LCOf(x), r1cs.LCOf(y))
	})
	return b.System()
}

// tinyParams makes a parameter file and returns its path and bytes.
func tinyParams(t testing.TB) (string, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.params")
	if _, err := SetupFile(context.Background(), tinySystem(), path, SetupOptions{Circuit: "x * x = y"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, b
}

// outsideSubgroup is a point of the curve outside of the subgroup.
func outsideSubgroup(t testing.TB) []byte {
	t.Helper()
	var p bls12381.G1Affine
	for x := uint64(1); ; x++ { // y² = x³ + 4
		p.X.SetUint64(x)
		p.Y.Square(&p.X).Mul(&p.Y, &p.X)
		four := p.X
		four.SetUint64(4)
		p.Y.Add(&p.Y, &four)
		if p.Y.Sqrt(&p.Y) != nil && !p.IsInSubGroup() {
			b := p.RawBytes()
			return b[:]
		}
	}
}

func TestOpenParamsExplainsWhatIsWrong(t *testing.T) {
	path, good := tinyParams(t)
	marker, err := os.ReadFile(MarkerPath(path))
	if err != nil {
		t.Fatal(err)
	}
	counts := CountsOf(tinySystem())
	vk := vkFixedBytes + counts.IC*g1Bytes
	count := func(at int, n uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint32(b[at:], n); return b }
	}
	for name, tc := range map[string]struct {
		change func(b []byte) []byte // nil: there is no file
		want   error
		text   string
	}{
		"missing":         {nil, ErrParamsMissing, "does not exist"},
		"empty":           {func([]byte) []byte { return nil }, ErrParamsDamaged, "only 0 bytes"},
		"error page":      {func([]byte) []byte { return []byte("\n<html>504</html>") }, ErrParamsDamaged, "error page"},
		"error as JSON":   {func([]byte) []byte { return []byte(`{"error":"no"}`) }, ErrParamsDamaged, "error page"},
		"long error page": {func([]byte) []byte { return []byte("<html>" + strings.Repeat(" ", 9999)) }, ErrParamsDamaged, "alpha"},
		"cut in the key":  {func(b []byte) []byte { return b[:vk-10] }, ErrParamsDamaged, "input point"},
		"cut at a count":  {func(b []byte) []byte { return b[:vk+3] }, ErrParamsDamaged, "section h"},
		"cut at the end":  {func(b []byte) []byte { return b[:len(b)-1] }, ErrParamsDamaged, "section b_g2"},
		"longer":          {func(b []byte) []byte { return append(b, 0) }, ErrParamsDamaged, "goes on"},
		"too many inputs": {count(vkFixedBytes-4, MaxInputs+1), ErrParamsDamaged, "inputs"},
		"no inputs":       {count(vkFixedBytes-4, 0), ErrParamsDamaged, "inputs"},
		"huge section":    {count(vk, 0xffffffff), ErrParamsDamaged, "more than any circuit"},
		"large section":   {count(vk, MaxPoints), ErrParamsDamaged, "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "v28-some.params")
			if tc.change != nil {
				if err := os.WriteFile(path, tc.change(slices.Clone(good)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p, err := OpenParams(path, PolicyTest)
			if !errors.Is(err, tc.want) || p != nil {
				t.Fatalf("error %v, want one that wraps %v", err, tc.want)
			}
			if !strings.Contains(err.Error(), tc.text) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q does not say %q and the path", err, tc.text)
			}
		})
	}
	t.Run("marked", func(t *testing.T) {
		_, err := OpenParams(path, PolicyProduction)
		if !errors.Is(err, ErrParamsTestOnly) || !strings.Contains(err.Error(), MarkerPath(path)) {
			t.Errorf("marked parameters in production: %v", err)
		}
		for _, m := range [][]byte{marker, []byte("?"), nil} {
			if err := os.WriteFile(MarkerPath(path), m, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := OpenParams(path, PolicyProduction); !errors.Is(err, ErrParamsTestOnly) {
				t.Errorf("parameters marked by %q in production: %v", m, err)
			}
			p, err := OpenParams(path, PolicyTest)
			if err != nil || p.Marker() == nil {
				t.Fatalf("parameters marked by %q in a test: %v", m, err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("not marked", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "v28-some.params")
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := OpenParams(path, PolicyProduction)
		if err != nil || p.Marker() != nil {
			t.Fatalf("parameters without a marker: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a folder", func(t *testing.T) {
		if _, err := OpenParams(t.TempDir(), PolicyTest); err == nil {
			t.Error("a folder was opened")
		}
	})
}

// TestCheckFindsBadPoints damages one point of each section.
func TestCheckFindsBadPoints(t *testing.T) {
	path, good := tinyParams(t)
	p, err := OpenParams(path, PolicyTest)
	if err != nil {
		t.Fatal(err)
	}
	var last int
	if err := p.Check(context.Background(), 2, func(done, total int) { last = total - done }); err != nil || last != 0 {
		t.Fatalf("good parameters: %v, %d points left", err, last)
	}
	offsets, counts := [numSections]int64{}, [numSections]int{}
	for s := range numSections {
		offsets[s], counts[s] = p.Offset(s), p.Count(s)
		if _, err := p.Raw(s, counts[s], 1); err == nil {
			t.Errorf("section %s has a point after its last", s)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(MarkerPath(path)); err != nil {
		t.Fatal(err)
	}
	for s := range numSections {
		if counts[s] == 0 {
			continue
		}
		at := offsets[s] + int64((counts[s]-1)*s.PointBytes())
		for name, change := range map[string]func(b []byte){
			"another y":   func(b []byte) { b[s.PointBytes()-1] ^= 1 },
			"flag":        func(b []byte) { b[0] |= 0x80 },
			"infinity":    func(b []byte) { clear(b); b[0] = 0x40 },
			"zeros":       func(b []byte) { clear(b) },
			"too large":   func(b []byte) { b[0], b[1] = 0x1f, 0xff },
			"no subgroup": func(b []byte) { copy(b, outsideSubgroup(t)) },
		} {
			if name == "no subgroup" && s == SectionBG2 {
				continue
			}
			b := slices.Clone(good)
			change(b[at : at+int64(s.PointBytes())])
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := OpenParams(path, PolicyProduction)
			if err != nil {
				t.Fatal(err)
			}
			err = p.Check(context.Background(), 0, nil)
			if !errors.Is(err, ErrParamsDamaged) || !strings.Contains(err.Error(), "section "+s.String()) {
				t.Errorf("section %s with %s: %v", s, name, err)
			}
			_, err = LoadKey(context.Background(), p, 0)
			if decoded := name == "another y" || name == "no subgroup"; (err == nil) != decoded {
				t.Errorf("loading section %s with %s: %v", s, name, err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

type failingWriter struct{ room int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if len(b) > w.room {
		return 0, io.ErrShortWrite
	}
	w.room -= len(b)
	return len(b), nil
}

func TestSetupFails(t *testing.T) {
	sys := tinySystem()
	if _, err := Setup(context.Background(), sys, &failingWriter{1000}, SetupOptions{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("writer that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	if _, err := SetupFile(ctx, sys, filepath.Join(dir, "x.params"), SetupOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("cancelled setup left %v, error %v", left, err)
	}
	if _, err := SetupFile(context.Background(), sys, filepath.Join(dir, "no", "x.params"), SetupOptions{}); err == nil {
		t.Error("setup into a folder that does not exist worked")
	}
	for name, toxic := range map[string]*Toxic{
		"zero tau":      {Alpha: fr.One(), Beta: fr.One(), Gamma: fr.One(), Delta: fr.One()},
		"tau in domain": {Alpha: fr.One(), Beta: fr.One(), Gamma: fr.One(), Delta: fr.One(), Tau: fr.One()},
	} {
		if _, err := Setup(context.Background(), sys, io.Discard, SetupOptions{Toxic: toxic}); err == nil {
			t.Errorf("setup with %s worked", name)
		}
	}
	b := r1cs.NewBuilder()
	b.Block("unused", 1, func(cs *r1cs.CS) { cs.AllocBit() })
	if _, err := Setup(context.Background(), b.System(), io.Discard, SetupOptions{}); err == nil || !strings.Contains(err.Error(), "variable 0") {
		t.Errorf("setup with an unconstrained variable: %v", err)
	}
}

// bytesSource is a parameter file in memory.
type bytesSource []byte

func (b bytesSource) view(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > int64(len(b)) || n > int64(len(b))-off {
		return nil, io.ErrUnexpectedEOF
	}
	return b[off : off+n], nil
}

func (b bytesSource) Close() error { return nil }

func FuzzReadLayout(f *testing.F) {
	_, good := tinyParams(f)
	f.Add(good)
	f.Add(good[:vkFixedBytes+2*g1Bytes+4])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		vk, sections, err := readLayout(bytesSource(b), int64(len(b)))
		if err != nil {
			return
		}
		n := int64(vk.Size())
		for s, e := range sections {
			n += 4
			if e.offset != n || e.count < 0 {
				t.Fatalf("section %s at %d with %d points, want it at %d", Section(s), e.offset, e.count, n)
			}
			n += int64(e.count) * int64(Section(s).PointBytes())
		}
		if n != int64(len(b)) {
			t.Fatalf("sections end at %d of %d bytes", n, len(b))
		}
	})
}
