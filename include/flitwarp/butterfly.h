/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Facts of a butterfly, for routing algorithms that know one: topology_butterfly().
 * Router `row` of `stage` has number stage * rows + row. Port p < radix leads to
 * the next stage, to the row with one digit replaced by p.
 */
#include "flitwarp/grid.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

#define MAX_STAGES 24

struct butterfly {
    uint32_t radix;
    uint32_t stages;
    uint32_t rows;                /* routers of a stage */
    uint32_t strides[MAX_STAGES]; /* by stage: what the digit counts that the hop to the next stage replaces */
};

#if FW_HOST
/* NULL: it is none of this family. Who has asked once takes topology->facts. */
extern const char butterfly_family[];
static inline const struct butterfly *topology_butterfly(const struct topology *topology)
{
    return topology->family == butterfly_family ? topology->facts : NULL;
}
#endif
