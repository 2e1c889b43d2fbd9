// Inserting a node among its siblings: the picks that the circuits of Merkle paths make.
#pragma once

#include "ntt/element.h"

namespace pm::poseidon {

// Value yes where the condition holds, else value no. Values: the node is 0, the siblings follow, then the
// results of the picks. Conditions: the bits of the index; with eight elements 3 and 4 say that its two low
// bits are both zero, both one.
struct Pick {
    uint8_t condition, yes, no;
};

struct Insertion {
    int size, bits, picks;
    bool both;  // the conditions 3 and 4 are variables too
    const Pick* pick;
    const uint8_t* out;  // which value stands at each position
};

// The program for 2, 4 or 8 elements. They are those of the reference's circuits.
PM_HD Insertion insertion(int size)
{
    static constexpr Pick pick2[] = {{0, 1, 0}, {0, 0, 1}};
    static constexpr uint8_t out2[] = {2, 3};
    static constexpr Pick pick4[] = {{0, 1, 0}, {1, 1, 4}, {0, 0, 1}, {1, 2, 6}, {0, 3, 0}, {1, 8, 2}, {0, 0, 3}, {1, 10, 3}};
    static constexpr uint8_t out4[] = {5, 7, 9, 11};
    static constexpr Pick pick8[] = {{3, 0, 1}, {2, 1, 8},  {0, 0, 1}, {1, 2, 10}, {2, 2, 11}, {0, 3, 0},  {1, 13, 2},
                                     {2, 3, 14}, {4, 0, 3}, {2, 4, 16}, {3, 0, 5}, {2, 18, 4}, {0, 0, 5},  {1, 6, 20},
                                     {2, 21, 5}, {0, 7, 0}, {1, 23, 6}, {2, 24, 6}, {4, 0, 7}, {2, 26, 7}};
    static constexpr uint8_t out8[] = {9, 12, 15, 17, 19, 22, 25, 27};
    if (size == 2) return {2, 1, 2, false, pick2, out2};
    if (size == 4) return {4, 2, 8, false, pick4, out4};
    return {8, 3, 20, true, pick8, out8};
}

PM_HD bool holds(const Insertion& p, int condition, uint32_t index)
{
    if (condition < p.bits) return (index >> condition & 1) != 0;
    return condition == p.bits ? (index & 3) == 0 : (index & 3) == 3;
}

PM_HD int insertion_variables(const Insertion& p) { return p.picks + (p.both ? 2 : 0); }

// A value of the program, from the elements (node and siblings) and the picks written so far.
PM_HD const Fr* insertion_value(const Insertion& p, int v, const Fr* elements, const Fr* picks)
{
    return v < p.size ? elements + v : picks + (v - p.size);
}

// Writes the program's variables, and returns where its picks start.
PM_HD const Fr* insert(const Insertion& p, uint32_t index, const Fr* elements, Fr* out)
{
    if (p.both) {
        ntt::store(out, holds(p, p.bits, index) ? Fr::one() : Fr::zero());
        ntt::store(out + 1, holds(p, p.bits + 1, index) ? Fr::one() : Fr::zero());
        out += 2;
    }
    for (int i = 0; i < p.picks; i++) {
        const Pick k = p.pick[i];
        ntt::store(out + i, ntt::load(insertion_value(p, holds(p, k.condition, index) ? k.yes : k.no, elements, out)));
    }
    return out;
}

}  // namespace pm::poseidon
