// How a scalar is cut into signed digits, and how windows share buckets through multiples of the bases.
#pragma once

#include "field/target.h"

namespace pm {

// A scalar s is first replaced by the smaller of s and r - s (below 2^254; the sign goes to every digit).
// It is then the sum of digit_j * 2^(bits j) with digits in [-2^(bits-1), 2^(bits-1)). A digit d adds
// the base, or its negative, to bucket |d|; zero digits are dropped.
//
// With copies of the bases (copy i is the base times 2^(bits * sets * i)) window j = i * sets + s goes to
// bucket set s with the point of copy i, so only `sets` bucket sets remain to be reduced.
struct Windows {
    int bits;    // of a digit, 2 to 26
    int count;   // windows; bits * count >= 255
    int copies;  // of the bases, the original included
    int sets;    // ceil(count / copies)

    static Windows of(int bits, int copies)
    {
        Windows w;
        w.bits = bits;
        w.count = (255 + bits - 1) / bits;
        // Exactly 255 bits leave the top digit room for its carry only if windows are wide: (r - 1) / 2 is 0.906 * 2^254.
        if (bits == 3) w.count++;
        w.copies = copies;
        w.sets = (w.count + copies - 1) / copies;
        return w;
    }

    PM_HD uint32_t buckets() const { return 1u << (bits - 1); }
    // Doublings between two copies.
    int copy_shift() const { return bits * sets; }
    // Windows whose digits go to set s.
    int windows_of(int s) const { return (count - s + sets - 1) / sets; }
};

}  // namespace pm
