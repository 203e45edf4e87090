/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and columns of ranks, see rank_groups.h. */
#include "flitwarp/rank_groups.h"

#include "workload/trace/trace.h"

#include <stdlib.h>

struct rank_groups rank_groups_make(struct trace_builder *builder, uint32_t size, uint32_t stride)
{
    struct rank_groups groups = {size, stride, FW_WORLD};
    uint32_t *ranks = memory_take(sizeof *ranks * size);
    for (uint32_t group = 0; group < builder_ranks(builder) / size; group++) {
        uint32_t first = group / stride * size * stride + group % stride;
        for (uint32_t i = 0; i < size; i++)
            ranks[i] = first + i * stride;
        uint32_t made = builder_communicator(builder, ranks, size);
        groups.first = group ? groups.first : made;
    }
    free(ranks);
    return groups;
}

uint32_t rank_group_of(const struct rank_groups *groups, uint32_t rank)
{
    return groups->first + rank / (groups->size * groups->stride) * groups->stride + rank % groups->stride;
}
