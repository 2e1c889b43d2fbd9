package sample

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// made is a sample to test.
type made struct {
	name       string
	kind       filecoin.Kind
	size       filecoin.SectorSize
	make       func(ctx context.Context, o Options) (*Sample, error)
	options    Options
	partitions []int // whose witnesses are checked
}

// testProofs makes samples of all kinds at a size, and of all variants where these are possible.
func testProofs(t testing.TB, size filecoin.SectorSize) []made {
	t.Helper()
	var all []made
	variants := []filecoin.SealVariant{filecoin.SealV1, filecoin.SealV1_1}
	if size <= filecoin.Size32KiB || os.Getenv("PROOFMILL_SLOW") != "" && size <= MaxSealed { // labelling 8 MiB takes seconds
		variants = append(variants, filecoin.SealSynthetic, filecoin.SealNonInteractive)
	}
	for _, v := range variants {
		p, err := filecoin.SealProofFor(v, size)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made{p.String(), filecoin.PoRep, size, func(ctx context.Context, o Options) (*Sample, error) { return PoRep(ctx, p, o) },
			Options{Seed: 1}, []int{p.Partitions() - 1}})
	}
	post := func(kind filecoin.Kind, v filecoin.APIVersion, sectors int, partition int) {
		p, err := filecoin.PoStProofFor(kind, size, v)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made{p.String(), kind, size, func(ctx context.Context, o Options) (*Sample, error) { return PoSt(ctx, p, o) },
			Options{Seed: 1, Sectors: sectors}, []int{partition}})
	}
	post(filecoin.Winning, filecoin.APIv1_0_0, 1, 0)
	post(filecoin.Window, filecoin.APIv1_0_0, 3, min(1, 2/size.WindowSectors()))
	post(filecoin.Window, filecoin.APIv1_2_0, 3, min(1, 2/size.WindowSectors()))
	p, err := filecoin.UpdateProofFor(size)
	if err != nil {
		t.Fatal(err)
	}
	return append(all, made{"Update" + p.String(), filecoin.Update, size, func(ctx context.Context, o Options) (*Sample, error) { return Update(ctx, p, o) },
		Options{Seed: 1}, []int{size.UpdatePartitions() / 2}})
}

// request is the sample as a storage provider sends it.
func request(t testing.TB, s *Sample, m *made) *engine.Request {
	t.Helper()
	r := &engine.Request{Kind: s.Kind, SectorSize: uint64(s.Size)}
	for i := range s.Inputs() {
		data, err := s.Input(i)
		if err != nil {
			t.Fatal(err)
		}
		r.Vanilla = append(r.Vanilla, data)
	}
	switch {
	case s.Seal != nil:
		r.RegisteredProof, r.Miner, r.Sector = uint64(s.Seal.Proof), s.Seal.Miner, s.Seal.Sector
		r.Vanilla[0] = filecoin.EncodeC1Wrapper(r.Vanilla[0], filecoin.C1Wrapper{SectorNum: s.Seal.Sector, SectorSize: s.Size})
	case s.PoSt != nil:
		r.RegisteredProof, r.Miner, r.Randomness = uint64(s.PoSt.Proof), s.PoSt.Miner, s.PoSt.Randomness
	case s.Update != nil:
		r.RegisteredProof = uint64(s.Update.Proof)
		r.CommROld, r.CommRNew, r.CommDNew = s.Update.CommROld, s.Update.CommRNew, s.Update.CommDNew
	default:
		t.Fatalf("%s: sample has no statement", m.name)
	}
	return r
}

// opened makes a sample, opens it and checks all its vanilla proofs.
func opened(t *testing.T, m *made) (*Sample, *engine.Job) {
	t.Helper()
	s, err := m.make(t.Context(), m.options)
	if err != nil {
		t.Fatal(err)
	}
	if s.Kind != m.kind || s.Size != m.size {
		t.Fatalf("sample of %s %s", s.Kind, s.Size)
	}
	j, err := engine.Open(t.Context(), request(t, s, m), engine.Options{TestProofs: true})
	if err != nil {
		t.Fatal(err)
	}
	for k := range j.Partitions() {
		if err := j.Check(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	return s, j
}

// satisfied assigns a partition and evaluates every constraint.
func satisfied(t *testing.T, sys *engine.System, j *engine.Job, k int) *witness.Witness {
	t.Helper()
	w, err := j.Witness(t.Context(), sys, k)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := j.PublicInputs(k)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]fr.Element{fr.One()}, inputs...), w.Inputs); diff != "" {
		t.Fatalf("public inputs of partition %d (-statement +witness):\n%s", k, diff)
	}
	if err := w.Satisfied(t.Context(), 0); err != nil {
		t.Fatalf("partition %d: %v", k, err)
	}
	return w
}

// slowest asks for the tests that take a quarter of an hour, beside those of PROOFMILL_SLOW=1.
func slowest() bool { return os.Getenv("PROOFMILL_SLOW") == "all" }

// Samples of every kind hold as a storage provider sends them, and satisfy their circuits.
func TestSamplesSatisfyTheirCircuits(t *testing.T) {
	var systems engine.Systems
	for _, size := range []filecoin.SectorSize{filecoin.Size2KiB, filecoin.Size16KiB, filecoin.Size32KiB, filecoin.Size8MiB} {
		for _, m := range testProofs(t, size) {
			t.Run(m.name, func(t *testing.T) {
				if testing.Short() && size > filecoin.Size2KiB {
					t.Skip("short run")
				}
				_, j := opened(t, &m)
				sys, err := systems.Get(t.Context(), j.Circuit())
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range m.partitions {
					satisfied(t, sys, j, k)
				}
			})
		}
	}
}

// Samples of large sectors hold; where the slowest tests are asked for, one partition's circuit is evaluated too.
func TestSamplesOfLargeSectors(t *testing.T) {
	if testing.Short() {
		t.Skip("short run")
	}
	for _, size := range []filecoin.SectorSize{filecoin.Size512MiB, filecoin.Size32GiB, filecoin.Size64GiB} {
		for _, m := range testProofs(t, size) {
			t.Run(m.name, func(t *testing.T) {
				_, j := opened(t, &m)
				if !slowest() || size == filecoin.Size512MiB {
					return
				}
				var systems engine.Systems // not kept: one large circuit at a time
				sys, err := systems.Get(t.Context(), j.Circuit())
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range m.partitions {
					w := satisfied(t, sys, j, k)
					w.Elements[len(w.Elements)/2] = fr.NewElement(4711)
					var unsatisfied *r1cs.UnsatisfiedError
					if err := w.Satisfied(t.Context(), 0); !errors.As(err, &unsatisfied) {
						t.Errorf("partition %d with a changed value: %v", k, err)
					}
				}
			})
		}
	}
}

// A sample depends on seed, proof and options, and on nothing else.
func TestSamplesAreDeterministic(t *testing.T) {
	for _, m := range testProofs(t, filecoin.Size16KiB) {
		t.Run(m.name, func(t *testing.T) {
			encode := func(o Options) [][]byte {
				s, err := m.make(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				return request(t, s, &m).Vanilla
			}
			first, again, other := m.options, m.options, m.options
			first.Workers, again.Workers, other.Seed = 1, 3, 2
			a := encode(first)
			if b := encode(again); !cmp.Equal(a, b) {
				t.Error("two samples of one seed differ")
			}
			if b := encode(other); cmp.Equal(a, b) {
				t.Error("samples of two seeds are equal")
			}
		})
	}
}

func TestImpossibleSamples(t *testing.T) {
	ctx := t.Context()
	for name, v := range map[string]filecoin.SealVariant{"synthetic": filecoin.SealSynthetic, "non-interactive": filecoin.SealNonInteractive} {
		p, err := filecoin.SealProofFor(v, filecoin.Size32GiB)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := PoRep(ctx, p, Options{}); !errors.Is(err, ErrNotPossible) {
			t.Errorf("%s PoRep of a large sector: %v", name, err)
		}
	}
	for name, failed := range map[string]error{
		"seal proof":   second(PoRep(ctx, 20, Options{})),
		"PoSt proof":   second(PoSt(ctx, 15, Options{})),
		"update proof": second(Update(ctx, 5, Options{})),
		"two sectors":  second(PoSt(ctx, 0, Options{Sectors: 2})),
		"no sectors":   second(PoSt(ctx, 5, Options{Sectors: -1})),
		"many sectors": second(PoSt(ctx, 5, Options{Sectors: 1 << 22})),
	} {
		if failed == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func second(_ *Sample, err error) error { return err }

func TestCancelledSamples(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, m := range testProofs(t, filecoin.Size16KiB) {
		if _, err := m.make(ctx, m.options); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	for _, m := range testProofs(b, filecoin.Size32GiB) {
		b.Run(m.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.make(b.Context(), m.options); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("WindowPartition", func(b *testing.B) {
		p, err := filecoin.PoStProofFor(filecoin.Window, filecoin.Size32GiB, filecoin.APIv1_2_0)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			s, err := PoSt(b.Context(), p, Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(s.Inputs()), "sectors")
		}
	})
}
