// Rows of a block's matrix times the assignment: what one thread or one warp's lane does.
#pragma once

#include "ntt/element.h"

namespace pm::sparse {

// Variables as the blocks name them: space in the top bit (1: auxiliary), class in the next two (0 shared, 1
// moving, 2 own), index in the rest.
constexpr uint32_t aux_flag = 1u << 31;
constexpr uint32_t class_mask = 3u << 29;
constexpr uint32_t class_moving = 1u << 29;
constexpr uint32_t class_own = 2u << 29;
constexpr uint32_t index_mask = (1u << 29) - 1;

constexpr uint16_t coefficient_one = 0;
constexpr uint16_t coefficient_minus_one = 1;

// Position of a moving variable in instance i: start + i * stride, or table[i].
struct Column {
    uint32_t start, stride;
    uint32_t table;  // where its table starts in the tables, or no_table
    static constexpr uint32_t no_table = 0xffffffffu;
};

// One matrix of a block. All pointers are device memory on a device.
struct Matrix {
    const uint32_t* end;   // row r has the terms end[r - 1] to end[r]
    const uint32_t* variables;
    const uint16_t* coefficients;
    const Column* columns;
    const uint32_t* tables;
    const uint32_t* long_rows;  // those with more terms than long_row, which a warp shares
    uint32_t long_count;
    uint32_t rows, repeat;
    uint32_t row_start;
    uint32_t aux_start, aux_stride, input_start, input_stride;
};

// Rows with more terms go to a warp each.
constexpr uint32_t long_row = 24;

struct Assignment {
    const Fr* coefficients;
    const Fr* inputs;
    const Fr* aux;
};

PM_HD const Fr* locate(const Matrix& m, const Assignment& z, uint32_t variable, uint32_t instance)
{
    const uint32_t index = variable & index_mask;
    const bool aux = (variable & aux_flag) != 0;
    const Fr* space = aux ? z.aux : z.inputs;
    switch (variable & class_mask) {
    case class_own: return space + (aux ? m.aux_start + (uint64_t)instance * m.aux_stride : m.input_start + (uint64_t)instance * m.input_stride) + index;
    case class_moving: {
        const Column c = m.columns[index];
        return space + (c.table != Column::no_table ? m.tables[c.table + instance] : c.start + instance * c.stride);
    }
    default: return space + index;
    }
}

// Adds term k. Most values are bits and most coefficients one or minus one, so both are looked at first.
PM_HD void add_term(Fr& sum, const Matrix& m, const Assignment& z, uint32_t instance, uint32_t k)
{
    const uint16_t c = m.coefficients[k];
    const Fr x = ntt::load(locate(m, z, m.variables[k], instance));
    if (x.is_zero()) return;
    if (c == coefficient_minus_one) {
        sum = sum - x;
        return;
    }
    Fr t = x;
    if (c != coefficient_one) {
        t = ntt::load_constant(z.coefficients + c);
        if (x != Fr::one()) t = t * x;
    }
    sum = sum + t;
}

PM_HD uint32_t first_term(const Matrix& m, uint32_t row) { return row == 0 ? 0 : m.end[row - 1]; }

// The terms from the given one on, step by step, of a row.
PM_HD Fr row_sum(const Matrix& m, const Assignment& z, uint32_t row, uint32_t instance, uint32_t from, uint32_t step)
{
    Fr sum = Fr::zero();
    const uint32_t end = m.end[row];
    for (uint32_t k = first_term(m, row) + from; k < end; k += step) add_term(sum, m, z, instance, k);
    return sum;
}

PM_HD uint64_t row_position(const Matrix& m, uint32_t row, uint32_t instance) { return m.row_start + (uint64_t)instance * m.rows + row; }

}  // namespace pm::sparse
