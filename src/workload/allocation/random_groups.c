/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole groups drawn at random, whose terminals are taken in order: of the last group perhaps
 * not all. Applications that name the same `map` draw from one order of the groups, in which
 * `skip` tells them apart: no two of them get the same group.
 */
#include "flitwarp/application.h"

#include "workload/terminal_groups.h"

#include <stdlib.h>

struct random_groups_config {
    uint64_t map;
    uint32_t count, skip, size;
};

static const struct option random_groups_options[] = {
    OPTION_U32(struct random_groups_config, count, REQUIRED, 1, UINT32_MAX - 1, NULL, "number of terminals"),
    OPTION_U32(struct random_groups_config, size, "null", 1, UINT32_MAX - 1, NULL,
               "terminals of a group, which have neighbouring numbers; null: the groups of the network"),
    OPTION_U64(struct random_groups_config, map, "null", 1, 1ull << 53, NULL,
               "which of all random orders of the groups, the same for all applications and seeds; null: each "
               "application draws its own, by the simulator's seed"),
    OPTION_U32(struct random_groups_config, skip, "0", 0, UINT32_MAX - 1, NULL,
               "groups at the start of that order that are left to others"),
    OPTION_END,
};

/* Fills in what there is of the terminals that are asked for, and tells how many. */
static uint32_t take(const struct random_groups_config *config, const struct terminal_groups *groups, uint64_t seed,
                     uint32_t *terminals)
{
    struct random stream = random_stream(config->map ? config->map : seed, 0, RANDOM_ALLOCATION);
    uint32_t *order = memory_take(groups->count * sizeof *order), taken = 0;
    for (uint32_t group = 0; group < groups->count; group++)
        order[group] = group;
    random_draw(&stream, order, groups->count, groups->count);
    for (uint32_t i = config->skip; i < groups->count; i++)
        for (uint32_t at = groups->first[order[i]]; at < groups->first[order[i] + 1] && taken < config->count; at++)
            terminals[taken++] = groups->terminals[at];
    free(order);
    return taken;
}

static uint32_t random_groups_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                                       uint32_t *terminals, struct errors *errors)
{
    const struct random_groups_config *config = self->config;
    struct terminal_groups groups;
    if (config->size) {
        terminal_groups_in_blocks(&groups, topology, config->size);
    } else if (!terminal_groups_of(&groups, topology)) {
        choice_error(errors, self, "size", "topology '%s' has no groups; expected a number of terminals",
                     topology->ops->name);
        return 0;
    }
    uint32_t taken = take(config, &groups, seed, terminals);
    if (taken < config->count)
        choice_error(errors, self, "count",
                     "%u terminals are more than the %u of %u groups, %u of which are left to others", config->count,
                     taken, groups.count, config->skip < groups.count ? config->skip : groups.count);
    terminal_groups_release(&groups);
    return taken == config->count ? taken : 0;
}

static const struct allocation_ops random_groups = {
    .name = "random_groups",
    .summary = "terminals of whole groups drawn at random",
    .options = random_groups_options,
    .config_size = sizeof(struct random_groups_config),
    .example = "{\"type\": \"random_groups\", \"count\": 32, \"size\": 16}",
    .allocate = random_groups_allocate,
};
REGISTER_ALLOCATION(random_groups);
