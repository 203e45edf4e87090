/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Weights to draw one of several by: their running sums, searched by halves. Read by OpenCL too. */
#include "flitwarp/random.h"

struct weights {
    uint32_t count;
    FW_FAR(double) sums; /* sums[i]: of weights 0..i */
};

/*
 * By the sums of so many weights; never one whose weight is 0. The first whose sum lies above the drawn number;
 * (1 - 2^-53) * sum is below sum after rounding too.
 */
static inline uint32_t weights_draw(FW_GLOBAL const double *sums, uint32_t count, struct random *random)
{
    double drawn = random_unit(random) * sums[count - 1];
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sums[middle] > drawn)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* By weights; `owner` as of FW_AT. */
#define WEIGHTS_DRAW(owner, weights, random)                                                                           \
    weights_draw(FW_AT(const double, owner, (weights)->sums), (weights)->count, random)
