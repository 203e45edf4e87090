/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Facts of a butterfly, for routing algorithms that know one: topology->butterfly.
 * Router `row` of `stage` has number stage * rows + row. Port p < radix leads to
 * the next stage, to the row with one digit replaced by p.
 */
#include "flitwarp/topology.h"

#define MAX_STAGES 24

struct butterfly {
    uint32_t radix;
    uint32_t stages;
    uint32_t rows;                /* routers of a stage */
    uint32_t strides[MAX_STAGES]; /* by stage: what the digit counts that the hop to the next stage replaces */
};
