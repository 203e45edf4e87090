/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals drawn at random without repetition (Fisher-Yates, from the seed). */
#include "flitwarp/application.h"

struct random_config {
    uint32_t count;
};

static const struct option random_options[] = {
    OPTION_U32(struct random_config, count, REQUIRED, 1, UINT32_MAX - 1, NULL, "number of terminals"),
    OPTION_END,
};

static uint32_t random_allocate(const struct choice *self, uint32_t network_terminals, uint64_t seed,
                                uint32_t *terminals, struct errors *errors)
{
    const struct random_config *config = self->config;
    if (config->count > network_terminals) {
        choice_error(errors, self, "count", "%u is above the network's %u terminals", config->count, network_terminals);
        return 0;
    }
    struct random stream = random_stream(seed, 0, RANDOM_ALLOCATION);
    for (uint32_t terminal = 0; terminal < network_terminals; terminal++)
        terminals[terminal] = terminal;
    for (uint32_t rank = 0; rank < config->count; rank++) {
        uint32_t other = rank + random_below(&stream, network_terminals - rank);
        uint32_t terminal = terminals[other];
        terminals[other] = terminals[rank];
        terminals[rank] = terminal;
    }
    return config->count;
}

static const struct allocation_ops random_terminals = {
    .name = "random",
    .summary = "terminals drawn at random",
    .options = random_options,
    .config_size = sizeof(struct random_config),
    .example = "{\"type\": \"random\", \"count\": 32}",
    .allocate = random_allocate,
};
REGISTER_ALLOCATION(random_terminals);
