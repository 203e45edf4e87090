/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals drawn at random without repetition. Applications that name the same `map` draw from one order of
 * the terminals, in which `skip` tells them apart: no two of them get the same terminal. */
#include "flitwarp/application.h"

struct random_config {
    uint64_t map;
    uint32_t count, skip, among;
};

static const struct option random_options[] = {
    OPTION_U32(struct random_config, count, REQUIRED, 1, UINT32_MAX - 1, NULL, "number of terminals"),
    OPTION_U64(struct random_config, map, "null", 1, 1ull << 53, NULL,
               "which of all random orders of the terminals, the same for all applications and seeds; null: each "
               "application draws its own, by the simulator's seed"),
    OPTION_U32(struct random_config, skip, "0", 0, UINT32_MAX - 1, NULL,
               "terminals at the start of that order that are left to others"),
    OPTION_U32(struct random_config, among, "null", 1, UINT32_MAX - 1, NULL,
               "how many terminals, from 0 on, are drawn from, so that larger networks get the same map; null: all"),
    OPTION_END,
};

static uint32_t random_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                                uint32_t *terminals, struct errors *errors)
{
    const struct random_config *config = self->config;
    uint32_t among = config->among ? config->among : topology->terminals;
    if (among > topology->terminals) {
        choice_error(errors, self, "among", "%u is above the network's %u terminals", among, topology->terminals);
        return 0;
    }
    if (config->count > among) {
        choice_error(errors, self, "count", "%u is above the %s %u terminals", config->count,
                     config->among ? "chosen" : "network's", among);
        return 0;
    }
    if (config->skip > among - config->count) {
        choice_error(errors, self, "skip", "%u leave %u of %u terminals; accepted: 0 to %u", config->skip,
                     config->skip < among ? among - config->skip : 0, among, among - config->count);
        return 0;
    }
    struct random stream = random_stream(config->map ? config->map : seed, 0, RANDOM_ALLOCATION);
    for (uint32_t terminal = 0; terminal < among; terminal++)
        terminals[terminal] = terminal;
    random_draw(&stream, terminals, among, config->skip + config->count);
    for (uint32_t rank = 0; rank < config->count; rank++)
        terminals[rank] = terminals[config->skip + rank];
    return config->count;
}

static const struct allocation_ops random_terminals = {
    .name = "random",
    .summary = "terminals drawn at random",
    .options = random_options,
    .example = "{\"type\": \"random\", \"count\": 32}",
    .allocate = random_allocate,
};
REGISTER_ALLOCATION(random_terminals);
