//go:build !purego

package poseidon

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/utils/cpu"
)

// addProducts adds the products a[i]*b[i] to t. The two have equal lengths.
func (t *wide) addProducts(a, b []fr.Element) {
	switch {
	case len(a) == 0:
	case cpu.SupportADX:
		addProductsADX((*[9]uint64)(t), &a[0], &b[:len(a)][0], len(a))
	default:
		t.addProductsGeneric(a, b)
	}
}

// addProductsADX adds n > 0 products to t, one limb of a at a time, with the carry chains of MULX,
// ADCX and ADOX.
//
//go:noescape
func addProductsADX(t *[9]uint64, a, b *fr.Element, n int)
