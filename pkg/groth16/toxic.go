package groth16

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// Toxic are the secrets of a setup. Who knows them can prove anything.
type Toxic struct{ Alpha, Beta, Gamma, Delta, Tau fr.Element }

// RandomToxic draws secrets.
func RandomToxic() (*Toxic, error) {
	t := new(Toxic)
	for _, e := range t.all() {
		for e.IsZero() {
			if _, err := e.SetRandom(); err != nil {
				return nil, fmt.Errorf("random secrets: %w", err)
			}
		}
	}
	return t, nil
}

func (t *Toxic) all() []*fr.Element {
	return []*fr.Element{&t.Alpha, &t.Beta, &t.Gamma, &t.Delta, &t.Tau}
}

// check refuses secrets with which some point would be at infinity.
func (t *Toxic) check(domain int) error {
	for i, e := range t.all() {
		if e.IsZero() {
			return fmt.Errorf("setup secret %s is zero", [...]string{"alpha", "beta", "gamma", "delta", "tau"}[i])
		}
	}
	if z := vanishing(&t.Tau, domain); z.IsZero() {
		return fmt.Errorf("setup secret tau is a point of the evaluation domain of size %d", domain)
	}
	return nil
}
