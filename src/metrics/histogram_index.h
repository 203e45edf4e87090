/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Which bucket of a histogram counts a value: see statistics.h. Read by OpenCL too. */
#include "flitwarp/both.h"

#define HISTOGRAM_BUCKETS (58 * 128)

/* `shift` halves a value until it fits eight bits; each halving has 128 buckets of its own. */
static inline uint64_t histogram_index(uint64_t value)
{
    uint64_t shift = 56 - (uint64_t)__builtin_clzll(value | 128);
    return (shift << 7) + (value >> shift);
}
