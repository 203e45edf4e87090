/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Message sizes with weights: what the size components `mix` and `file` have in common. */
#include "flitwarp/size.h"
#include "workload/weights.h"

struct weighted_sizes {
    const uint32_t *flits;
    struct weights weights;
};

/* The operations of a size whose state is a struct weighted_sizes. */
double weighted_sizes_mean(const struct size *size);
uint32_t weighted_sizes_max(const struct size *size);
uint32_t weighted_sizes_draw(const struct size *size, struct random *random);
