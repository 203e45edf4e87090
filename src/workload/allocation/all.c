/* SPDX-License-Identifier: Apache-2.0 */
/* Every terminal of the network, in order; applications may share terminals. */
#include "flitwarp/application.h"

static uint32_t all_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                             uint32_t *terminals, struct errors *errors)
{
    (void)self, (void)seed, (void)errors;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        terminals[terminal] = terminal;
    return topology->terminals;
}

static const struct allocation_ops all = {
    .name = "all",
    .summary = "every terminal, in order",
    .allocate = all_allocate,
};
REGISTER_ALLOCATION(all);
