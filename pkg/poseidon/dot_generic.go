//go:build !amd64 || purego

package poseidon

import "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

// addProducts adds the products a[i]*b[i] to t. The two have equal lengths.
func (t *wide) addProducts(a, b []fr.Element) { t.addProductsGeneric(a, b[:len(a)]) }
