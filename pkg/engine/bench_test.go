package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/sample"
	"github.com/proofmill/proofmill/pkg/witness"
)

const production = filecoin.Size32GiB

// sampleRequest is a request about a sample of production size, as a storage provider sends it; sectors is for a window
// PoSt, 0 a full partition.
func sampleRequest(b *testing.B, kind filecoin.Kind, sectors int) *Request {
	b.Helper()
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	r := &Request{Kind: kind, SectorSize: uint64(production)}
	var s *sample.Sample
	switch kind {
	case filecoin.PoRep:
		p, err := filecoin.SealProofFor(filecoin.SealV1_1, production)
		must(err)
		s, err = sample.PoRep(b.Context(), p, sample.Options{})
		must(err)
		r.RegisteredProof, r.Miner, r.Sector = uint64(p), s.Seal.Miner, s.Seal.Sector
	case filecoin.Update:
		p, err := filecoin.UpdateProofFor(production)
		must(err)
		s, err = sample.Update(b.Context(), p, sample.Options{})
		must(err)
		r.RegisteredProof = uint64(p)
		r.CommROld, r.CommRNew, r.CommDNew = s.Update.CommROld, s.Update.CommRNew, s.Update.CommDNew
	default:
		p, err := filecoin.PoStProofFor(kind, production, filecoin.APIv1_2_0)
		must(err)
		s, err = sample.PoSt(b.Context(), p, sample.Options{Sectors: sectors})
		must(err)
		r.RegisteredProof, r.Miner, r.Randomness = uint64(p), s.PoSt.Miner, s.PoSt.Randomness
	}
	for i := range s.Inputs() {
		data, err := s.Input(i)
		must(err)
		r.Vanilla = append(r.Vanilla, data)
	}
	if kind == filecoin.PoRep {
		r.Vanilla[0] = filecoin.EncodeC1Wrapper(r.Vanilla[0], filecoin.C1Wrapper{SectorNum: r.Sector, SectorSize: production})
	}
	return r
}

func inputBytes(r *Request) (n int64) {
	for _, data := range r.Vanilla {
		n += int64(len(data))
	}
	return n
}

// requests are the requests that benchmarks are of.
var requests = []struct {
	kind    filecoin.Kind
	sectors int
}{{filecoin.PoRep, 0}, {filecoin.Update, 0}, {filecoin.Window, 10}, {filecoin.Window, 0}, {filecoin.Winning, 1}}

func requestName(kind filecoin.Kind, sectors int) string {
	name := kind.String()
	if kind != filecoin.Window {
		return name
	}
	if sectors == 0 {
		sectors = production.WindowSectors()
	}
	return name + "-" + strconv.Itoa(sectors) + "-sectors"
}

// BenchmarkPartition is what is done for one partition of a 32 GiB sector: decoding of its input, the check of its
// vanilla proof (or, before a witness, its match), the witness, and the blob. Run it with -cpu 1,2.
func BenchmarkPartition(b *testing.B) {
	var systems Systems
	for _, of := range requests {
		r := sampleRequest(b, of.kind, of.sectors)
		ctx := b.Context()
		j, err := Open(ctx, r, Options{})
		if err != nil {
			b.Fatal(err)
		}
		sys, err := systems.Get(ctx, j.Circuit())
		if err != nil {
			b.Fatal(err)
		}
		w, err := j.Witness(ctx, sys, 0)
		if err != nil {
			b.Fatal(err)
		}
		name := requestName(of.kind, of.sectors)
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"open", func() error { _, err := Open(ctx, r, Options{}); return err }},
			{"check", func() error { return j.Check(ctx, 0) }},
			{"match", func() error { return j.Match(ctx, 0) }},
			{"witness", func() error { _, err := j.Witness(ctx, sys, 0); return err }},
			{"encode", func() error {
				_, err := witness.Encode(witness.Header{Circuit: j.Circuit().ID(), R1CS: sys.R1CS}, w)
				return err
			}},
		} {
			b.Run(name+"/"+step.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := step.do(); err != nil {
						b.Fatal(err)
					}
				}
				switch step.name {
				case "open":
					b.SetBytes(inputBytes(r))
				case "encode":
					b.ReportMetric(float64(witness.BlobSize(sys.System, j.Circuit().ID())), "blob-bytes")
				}
			})
		}
	}
}

// BenchmarkRequest is a whole request about a 32 GiB sector: bytes as they arrive to blobs of all partitions in files,
// a partition after the other. The circuit is built before.
func BenchmarkRequest(b *testing.B) {
	for _, of := range requests {
		b.Run(requestName(of.kind, of.sectors), func(b *testing.B) {
			r := sampleRequest(b, of.kind, of.sectors)
			ctx, dir := b.Context(), b.TempDir()
			var systems Systems
			c, err := r.Circuit(Options{})
			if err != nil {
				b.Fatal(err)
			}
			sys, err := systems.Get(ctx, c)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			peak := startPeak(b)
			for b.Loop() {
				j, err := Open(ctx, r, Options{})
				if err != nil {
					b.Fatal(err)
				}
				for k := range j.Partitions() {
					if err := j.Match(ctx, k); err != nil {
						b.Fatal(err)
					}
					w, err := j.Witness(ctx, sys, k)
					if err != nil {
						b.Fatal(err)
					}
					blob, err := witness.Encode(witness.Header{Circuit: c.ID(), R1CS: sys.R1CS, Partition: uint32(k)}, w)
					if err != nil {
						b.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(k)), blob, 0o600); err != nil {
						b.Fatal(err)
					}
				}
			}
			peak.report(b)
		})
	}
}
