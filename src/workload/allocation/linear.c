/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals at equal distances: first, first + stride, ... A stride of 1 is one block, a larger one spreads out. */
#include "flitwarp/application.h"

struct linear_config {
    uint32_t first, count, stride;
};

static const struct option linear_options[] = {
    OPTION_U32(struct linear_config, first, "0", 0, UINT32_MAX - 1, NULL, "first terminal"),
    OPTION_U32(struct linear_config, count, REQUIRED, 1, UINT32_MAX - 1, NULL, "number of terminals"),
    OPTION_U32(struct linear_config, stride, "1", 1, UINT32_MAX - 1, NULL, "distance between two of them"),
    OPTION_END,
};

static uint32_t linear_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                                uint32_t *terminals, struct errors *errors)
{
    const struct linear_config *config = self->config;
    (void)seed;
    uint64_t last = config->first + (uint64_t)(config->count - 1) * config->stride;
    if (last >= topology->terminals)
        return choice_error(errors, self, "count",
                            "the last of %u terminals would be %llu, but the network has 0 to %u", config->count,
                            (unsigned long long)last, topology->terminals - 1);
    for (uint32_t rank = 0; rank < config->count; rank++)
        terminals[rank] = config->first + rank * config->stride;
    return config->count;
}

static const struct allocation_ops linear = {
    .name = "linear",
    .summary = "a block of terminals, or every n-th one",
    .options = linear_options,
    .example = "{\"type\": \"linear\", \"first\": 0, \"count\": 32}",
    .allocate = linear_allocate,
};
REGISTER_ALLOCATION(linear);
/* Copied by `flitwarp new`, with an example: workload.applications.0.allocation=$ */
