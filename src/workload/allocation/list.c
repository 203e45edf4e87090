/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals one by one, in the order of ranks; a long list can stand in a file of its own ($include). */
#include "flitwarp/application.h"

#include <stdlib.h>
#include <string.h>

struct list_config {
    struct u32_list terminals;
};

static const struct option list_options[] = {
    OPTION_U32_LIST(struct list_config, terminals, REQUIRED, 0, UINT32_MAX - 1, NULL, "terminals, by rank"),
    OPTION_END,
};

static uint32_t list_allocate(const struct choice *self, uint32_t network_terminals, uint64_t seed, uint32_t *terminals,
                              struct errors *errors)
{
    const struct list_config *config = self->config;
    (void)seed;
    uint32_t before = errors->count;
    bool *taken = memory_take(network_terminals);
    memset(taken, 0, network_terminals);
    if (config->terminals.count == 0 || config->terminals.count > network_terminals)
        choice_error(errors, self, "terminals", "lists %u terminals; accepted: 1 to %u", config->terminals.count,
                     network_terminals);
    for (uint32_t rank = 0; errors->count == before && rank < config->terminals.count; rank++) {
        uint32_t terminal = config->terminals.items[rank];
        if (terminal >= network_terminals)
            choice_error(errors, self, "terminals", "%u is not a terminal; accepted: 0 to %u", terminal,
                         network_terminals - 1);
        else if (taken[terminal])
            choice_error(errors, self, "terminals", "%u is listed twice", terminal);
        else
            taken[terminal] = true, terminals[rank] = terminal;
    }
    free(taken);
    return errors->count == before ? config->terminals.count : 0;
}

static const struct allocation_ops list = {
    .name = "list",
    .summary = "terminals as listed",
    .options = list_options,
    .config_size = sizeof(struct list_config),
    .example = "{\"type\": \"list\", \"terminals\": [0, 9, 18]}",
    .allocate = list_allocate,
};
REGISTER_ALLOCATION(list);
