package gadget_test

import "math/big"

// prime is the prime number i, from 2 on.
func prime(i int) int64 {
	for n := int64(2); ; n++ {
		if big.NewInt(n).ProbablyPrime(0) {
			if i == 0 {
				return n
			}
			i--
		}
	}
}

// fractionOfRoot is the first 32 bits after the point of the root of n.
func fractionOfRoot(n int64, degree uint) uint64 {
	target := new(big.Int).Lsh(big.NewInt(n), 32*degree)
	low, high := big.NewInt(0), new(big.Int).Lsh(big.NewInt(n), 32)
	for {
		mid := new(big.Int).Add(low, high)
		mid.Rsh(mid.Add(mid, big.NewInt(1)), 1)
		if low.Cmp(high) == 0 {
			return low.Uint64() & (1<<32 - 1)
		}
		if new(big.Int).Exp(mid, big.NewInt(int64(degree)), nil).Cmp(target) <= 0 {
			low = mid
		} else {
			high = mid.Sub(mid, big.NewInt(1))
		}
	}
}

var roundConstants = func() (k [64]uint32) {
	for i := range k {
		k[i] = uint32(fractionOfRoot(prime(i), 3))
	}
	return k
}()

func roundConstant(i int) uint32 { return roundConstants[i] }
