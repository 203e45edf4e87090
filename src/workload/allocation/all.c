/* SPDX-License-Identifier: Apache-2.0 */
/* Every terminal of the network, in order; applications may share terminals. */
#include "flitwarp/application.h"

static uint32_t all_allocate(const struct choice *self, uint32_t network_terminals, uint64_t seed, uint32_t *terminals,
                             struct errors *errors)
{
    (void)self, (void)seed, (void)errors;
    for (uint32_t terminal = 0; terminal < network_terminals; terminal++)
        terminals[terminal] = terminal;
    return network_terminals;
}

static const struct allocation_ops all = {
    .name = "all",
    .summary = "every terminal, in order",
    .allocate = all_allocate,
};
REGISTER_ALLOCATION(all);
