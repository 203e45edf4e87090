/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Separable allocation, shared by the allocators that arbitrate in two stages:
 * members of one side (rows or columns) each propose to one member of the
 * other, which each choose one of the proposals.
 */
#include "flitwarp/allocator.h"

struct separable_config {
    uint32_t iterations;
    struct choice input_arbiter;  /* of each row, among columns */
    struct choice output_arbiter; /* of each column, among rows */
};

size_t separable_state_size(const void *config, uint32_t rows, uint32_t cols);
void separable_init(void *state, const void *config, uint32_t rows, uint32_t cols);

/* Output first, arbiters may remember the grants of the first iteration alone. */
enum separable_order { INPUT_FIRST, OUTPUT_FIRST, OUTPUT_FIRST_ONCE };

void separable_allocate(void *state, const struct separable_config *config, struct matching *matching,
                        enum separable_order order);
