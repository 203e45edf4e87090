/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Communicators of `size` ranks each that lie `stride` apart: rows of a grid with a
 * stride of 1, columns with that of its width. `size` times `stride` divides the number
 * of ranks, so that each is in one of them.
 */
#include <stdint.h>

struct trace_builder;

struct rank_groups {
    uint32_t size, stride;
    uint32_t first; /* communicator */
};

/* The builder knows its ranks by then. */
struct rank_groups rank_groups_make(struct trace_builder *builder, uint32_t size, uint32_t stride);
/* The communicator that a rank is in. */
uint32_t rank_group_of(const struct rank_groups *groups, uint32_t rank);
