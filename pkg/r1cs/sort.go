package r1cs

import (
	"cmp"
	"slices"
)

// sort orders lc by variable. Combinations of most gadgets are short or nearly sorted, where
// insertion is faster than a general sort.
func (lc LC) sort() {
	if len(lc) > 48 {
		slices.SortStableFunc(lc, func(a, b Term) int { return cmp.Compare(a.Var, b.Var) })
		return
	}
	for i := 1; i < len(lc); i++ {
		t := lc[i]
		j := i
		for ; j > 0 && lc[j-1].Var > t.Var; j-- {
			lc[j] = lc[j-1]
		}
		lc[j] = t
	}
}
