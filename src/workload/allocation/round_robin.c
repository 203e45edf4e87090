/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks dealt out like cards: one terminal of every router in turn, then a second one
 * of every router, and so on; or the same over the groups of the network. Applications
 * share one such order, in which `skip` tells them apart.
 */
#include "flitwarp/application.h"

#include "workload/terminal_groups.h"

enum { OVER_ROUTERS, OVER_GROUPS };
static const char *const over_names[] = {"routers", "groups", NULL};

struct round_robin_config {
    uint32_t count, over, skip;
};

static const struct option round_robin_options[] = {
    OPTION_U32(struct round_robin_config, count, REQUIRED, 1, UINT32_MAX - 1, NULL, "number of terminals"),
    OPTION_ENUM(struct round_robin_config, over, "\"routers\"", over_names, "whose turn it is"),
    OPTION_U32(struct round_robin_config, skip, "0", 0, UINT32_MAX - 1, NULL,
               "terminals at the start of that order that are left to others"),
    OPTION_END,
};

/* All terminals in the order in which they are dealt, as far as `end`; then those from `skip` on. */
static void deal(const struct terminal_groups *groups, uint32_t skip, uint32_t end, uint32_t *terminals)
{
    uint32_t dealt = 0;
    for (uint32_t round = 0; dealt < end; round++)
        for (uint32_t group = 0; group < groups->count && dealt < end; group++)
            if (round < terminal_group_size(groups, group)) {
                if (dealt >= skip)
                    terminals[dealt - skip] = groups->terminals[groups->first[group] + round];
                dealt++;
            }
}

static uint32_t round_robin_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                                     uint32_t *terminals, struct errors *errors)
{
    const struct round_robin_config *config = self->config;
    struct terminal_groups groups;
    (void)seed;
    uint64_t end = (uint64_t)config->skip + config->count;
    if (end > topology->terminals) {
        choice_error(errors, self, "count", "%u terminals after the first %u are more than the network's %u",
                     config->count, config->skip, topology->terminals);
        return 0;
    }
    if (config->over == OVER_ROUTERS) {
        terminal_groups_by_router(&groups, topology);
    } else if (!terminal_groups_of(&groups, topology)) {
        choice_error(errors, self, "over", "topology '%s' has no groups; accepted: routers", topology->ops->name);
        return 0;
    }
    deal(&groups, config->skip, (uint32_t)end, terminals);
    terminal_groups_release(&groups);
    return config->count;
}

static const struct allocation_ops round_robin = {
    .name = "round_robin",
    .summary = "a terminal of every router, or of every group, in turn",
    .options = round_robin_options,
    .config_size = sizeof(struct round_robin_config),
    .example = "{\"type\": \"round_robin\", \"count\": 32}",
    .allocate = round_robin_allocate,
};
REGISTER_ALLOCATION(round_robin);
