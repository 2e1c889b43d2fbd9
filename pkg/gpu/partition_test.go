package gpu

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"golang.org/x/sync/errgroup"

	"github.com/proofmill/proofmill/pkg/circuit"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/groth16"
	"github.com/proofmill/proofmill/pkg/r1cs"
	"github.com/proofmill/proofmill/pkg/witness"
)

// tiled is a key of any size whose points are a few multiples of the generators, over and over: for measuring, as no proof of it verifies.
type tiled struct {
	counts groth16.Counts
	g1     []bls12381.G1Affine
	g2     []bls12381.G2Affine
}

func newTiled(sys *r1cs.System) *tiled {
	const n = 1 << 16
	k := &tiled{counts: groth16.CountsOf(sys)}
	_, _, g1, g2 := bls12381.Generators()
	p1, p2 := make([]bls12381.G1Jac, n), make([]bls12381.G2Jac, n)
	p1[0].FromAffine(&g1)
	p2[0].FromAffine(&g2)
	for i := range n - 1 {
		p1[i+1].Set(&p1[i]).AddMixed(&g1)
		p2[i+1].Set(&p2[i]).AddMixed(&g2)
	}
	k.g1 = bls12381.BatchJacobianToAffineG1(p1)
	k.g2 = make([]bls12381.G2Affine, n)
	for i := range p2 {
		k.g2[i].FromJacobian(&p2[i])
	}
	return k
}

func (k *tiled) VerifyingKey() *groth16.VerifyingKey {
	vk := &groth16.VerifyingKey{IC: make([]bls12381.G1Affine, k.counts.IC)}
	vk.AlphaG1, vk.BetaG1, vk.DeltaG1 = k.g1[2], k.g1[3], k.g1[4]
	vk.BetaG2, vk.GammaG2, vk.DeltaG2 = k.g2[2], k.g2[3], k.g2[4]
	return vk
}

func (k *tiled) Count(s groth16.Section) int {
	return map[groth16.Section]int{
		groth16.SectionH: k.counts.H, groth16.SectionL: k.counts.L, groth16.SectionA: k.counts.A,
		groth16.SectionBG1: k.counts.BG1, groth16.SectionBG2: k.counts.BG2,
	}[s]
}

func (k *tiled) ReadG1(_ groth16.Section, from int, dst []bls12381.G1Affine) error {
	for i := 0; i < len(dst); i += copy(dst[i:], k.g1[(from+i)%len(k.g1):]) {
	}
	return nil
}

func (k *tiled) ReadG2(from int, dst []bls12381.G2Affine) error {
	for i := 0; i < len(dst); i += copy(dst[i:], k.g2[(from+i)%len(k.g2):]) {
	}
	return nil
}

// BenchmarkPartition proves partitions of full-size circuits with random witnesses and tiled keys. PROOFMILL_FULL=1 asks for it: it
// needs a large GPU, such as one with 140 GB, and as much time for preparing as for proving.
func BenchmarkPartition(b *testing.B) {
	if os.Getenv("PROOFMILL_FULL") == "" {
		b.Skip("needs a large GPU; set PROOFMILL_FULL=1 to run")
	}
	d := testDevice(b)
	for _, kind := range []filecoin.Kind{filecoin.Winning, filecoin.PoRep, filecoin.Update, filecoin.Window} {
		b.Run(fmt.Sprint(kind), func(b *testing.B) { benchmarkPartition(b, d, kind) })
	}
}

func benchmarkPartition(b *testing.B, d *Device, kind filecoin.Kind) {
	b.Helper()
	start := time.Now()
	lap := func(what string) {
		b.Logf("%-24s %v", what, time.Since(start))
		start = time.Now()
	}
	sys, err := circuit.Build(kind, 32<<30)
	if err != nil {
		b.Fatal(err)
	}
	lap("circuit built")
	w := randomWitness(rand.New(rand.NewPCG(7, 7)), sys)
	lap("witness drawn")
	c, err := d.NewCircuit(b.Context(), "full", sys)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	lap("circuit on device")
	points := newTiled(sys)
	for _, inFlight := range []int{1, 2} {
		b.Run(fmt.Sprint(inFlight), func(b *testing.B) {
			opts := ProverOptions{InFlight: inFlight}
			start = time.Now()
			k, err := c.NewKey(b.Context(), "full", points, KeyOptions{Prover: opts})
			if err != nil {
				b.Fatal(err)
			}
			defer k.Close()
			lap("key on device")
			p, err := NewProver("full", c, k, opts)
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			for _, r := range d.Ledger().Reservations() {
				b.Logf("%-24s %d MB", r.Name, r.Bytes>>20)
			}
			benchmarkProofs(b, p, w, inFlight)
		})
	}
}

// benchmarkProofs measures proofs with a number of them in flight all the time.
func benchmarkProofs(b *testing.B, p *Prover, w *witness.Witness, inFlight int) {
	b.Helper()
	const each = 3 // proofs of one goroutine
	var once sync.Once
	proofs := 0
	for b.Loop() {
		var g errgroup.Group
		for range inFlight {
			g.Go(func() error {
				for range each {
					_, err := p.Prove(b.Context(), w, ProveOptions{
						StageHook: func(s groth16.Stage) { b.Logf("%-12s %v", s.Name, s.Duration) },
						Device: func(stages []DeviceStage) {
							once.Do(func() {
								for _, s := range stages {
									b.Logf("    %-20s %v", s.Name, s.Duration)
								}
							})
						},
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			b.Fatal(err)
		}
		proofs += each * inFlight
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(proofs), "s/proof")
	b.ReportMetric(float64(p.key.Copies()), "copies")
}
