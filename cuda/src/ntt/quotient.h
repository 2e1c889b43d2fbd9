// The transforms of a domain in terms of passes or stages that an executor runs: the device's launches
// kernels, the host test's loops over threads.
//
// All transforms use the same root w. A transform to reversed order of values v_j = f(w^j) gives
// n times the coefficient -k mod n at index k, so coefficients are kept with their index negated; read
// with the index negated it gives coefficient k itself. So one set of tables serves all six transforms of a
// quotient, and no transform needs a bit reversal.
#pragma once

#include "ntt/plan.h"

namespace pm::ntt {

template <class Executor>
class Transforms {
public:
    Transforms(int log_n, const Fr* tables, Executor& executor)
        : plan_(log_n), layout_(plan_), constants_(log_n), tables_(tables), run_(executor)
    {
    }

    // Natural to reversed order. source2 may be null; source may be target if not negated, which needs source2.
    void to_reversed(Kind kind, const Fr* source, const Fr* source2, bool negate, const Fr* subtract, Fr* target)
    {
        const bool shifted = kind == Kind::to_coset || kind == Kind::from_coset;
        if (plan_.passes == 0) {
            run_.gather(target, source, source2, negate, plan_.log_n);
            for (int h = plan_.log_n - 1; h >= 0; h--) run_.stage_to_reversed(target, plan_.log_n, h, constants_.root);
            const Fr scale = kind == Kind::plain ? Fr::one() : kind == Kind::to_coset ? constants_.scale_coset : constants_.scale_out;
            if (kind != Kind::plain || subtract)
                run_.finish(target, subtract, scale, shifted, constants_.shift, kind == Kind::to_coset, constants_.first, plan_.log_n);
            return;
        }
        for (int p = 0; p < plan_.passes; p++) {
            const bool last = p + 1 == plan_.passes;
            PassArguments a = arguments(p);
            a.source = p == 0 ? source : target;
            a.source2 = p == 0 ? source2 : nullptr;
            a.negate = p == 0 && negate;
            a.target = target;
            a.subtract = last ? subtract : nullptr;
            a.has_first = last && kind == Kind::to_coset;
            a.reduce = last;
            a.first = constants_.first;
            if (!last) {
                a.factors = tables_ + layout_.between[p][(int)kind];
                a.factor_row_log = plan_.stride[p];
                a.factor_columns = true;
            } else if (shifted) {
                a.factors = tables_ + layout_.rows;
                a.factor_row_log = 0;
                a.factor_columns = false;
            }
            run_.pass_to_reversed(plan_.bits[p], a);
        }
    }

    // Reversed to natural order, in place.
    void from_reversed(Fr* x)
    {
        if (plan_.passes == 0) {
            for (int h = 0; h < plan_.log_n; h++) run_.stage_from_reversed(x, plan_.log_n, h, constants_.root);
            return;
        }
        for (int p = plan_.passes - 1; p >= 0; p--) {
            PassArguments a = arguments(p);
            a.source = a.target = x;
            a.reduce = p == 0;
            if (p + 1 < plan_.passes) {
                a.factors = tables_ + layout_.between[p][(int)Kind::plain];
                a.factor_row_log = plan_.stride[p];
                a.factor_columns = true;
            }
            run_.pass_from_reversed(plan_.bits[p], a);
        }
    }

    // The coefficients of (A B - C) / Z, A and B given by their values on the domain, C by the values of A B there.
    // They come to a in bit-reversed order; b and c are overwritten. The last coefficient, n - 1, is zero.
    //
    // C is reduced already, so its coefficients are subtracted after the product came back from the coset,
    // where Z is the constant 7^n - 1: six transforms.
    void quotient(Fr* a, Fr* b, Fr* c)
    {
        to_reversed(Kind::to_scaled, a, b, true, nullptr, c);
        to_reversed(Kind::to_coset, a, nullptr, false, nullptr, a);
        to_reversed(Kind::to_coset, b, nullptr, false, nullptr, b);
        from_reversed(a);  // element j is the value at 7 w^-j
        from_reversed(b);
        to_reversed(Kind::from_coset, a, b, false, c, a);
    }

    // Fills the tables.
    void fill_tables(Fr* tables)
    {
        if (plan_.passes == 0) return;
        run_.fill_powers(tables + layout_.roots512, Powers::of(root_of_unity(largest_pass)));
        Factors f = {};
        for (int p = 0; p + 1 < plan_.passes; p++) {
            const bool scaled = p + 2 == plan_.passes;
            f.row_bits = plan_.bits[p];
            f.stride = plan_.stride[p];
            f.root_step = (uint64_t)1 << plan_.before[p];
            f.shift_log = plan_.before[p];
            for (int kind = 0; kind < 4; kind++) {
                if (!scaled && kind != (int)Kind::plain && kind != (int)Kind::to_coset) continue;
                f.shifted = kind == (int)Kind::to_coset || kind == (int)Kind::from_coset;
                f.scale = !scaled || kind == (int)Kind::plain   ? Fr::one()
                          : kind == (int)Kind::to_coset ? constants_.scale_coset
                                                        : constants_.scale_out;
                run_.fill(tables + layout_.between[p][kind], f, constants_.root, constants_.shift);
            }
        }
        const int last = plan_.passes - 1;
        f = {plan_.bits[last], 0, 0, true, plan_.before[last], Fr::one()};
        run_.fill(tables + layout_.rows, f, constants_.root, constants_.shift);
    }

    static uint64_t table_elements(int log_n) { return Tables(Plan(log_n)).total; }

private:
    PassArguments arguments(int p) const
    {
        PassArguments a = {};
        a.roots = tables_ + layout_.roots512;
        a.w = constants_.w;
        a.log_n = plan_.log_n;
        a.log_stride = plan_.stride[p];
        return a;
    }

    Plan plan_;
    Tables layout_;
    Constants constants_;
    const Fr* tables_;
    Executor& run_;
};

}  // namespace pm::ntt
