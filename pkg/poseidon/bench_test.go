package poseidon

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

func randomPreimage(arity int) []fr.Element {
	in := make([]fr.Element, arity)
	for i := range in {
		in[i].MustSetRandom()
	}
	return in
}

func BenchmarkHash(b *testing.B) {
	for _, arity := range []int{2, 4, 8, 11} {
		b.Run(fmt.Sprintf("arity=%d", arity), func(b *testing.B) {
			c, in := For(arity), randomPreimage(arity)
			b.ReportAllocs()
			for b.Loop() {
				in[0] = c.Hash(in)
			}
		})
	}
}

func BenchmarkStates(b *testing.B) {
	for _, arity := range []int{2, 4, 8, 11} {
		b.Run(fmt.Sprintf("arity=%d", arity), func(b *testing.B) {
			c, in := For(arity), randomPreimage(arity)
			states := make([]fr.Element, c.NumVariables())
			b.ReportAllocs()
			for b.Loop() {
				c.States(states, in)
				in[0] = states[len(states)-1]
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		build(8, For(8).DomainTag)
	}
}
