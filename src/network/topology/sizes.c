/* SPDX-License-Identifier: Apache-2.0 */
#include "network/topology/sizes.h"

#include "base/finite_field.h"

#include <inttypes.h>

void topology_size(struct topology *topology, uint32_t routers, uint32_t concentration, uint32_t ports)
{
    topology->routers = routers;
    topology->concentration = concentration;
    topology->terminals = routers * concentration;
    topology->ports = ports;
}

void topology_check_size(const struct choice *self, const char *key, uint64_t terminals, uint64_t channels,
                         struct errors *errors)
{
    if (terminals > MAX_TERMINALS)
        choice_error(errors, self, key, "more than %" PRIu64 " terminals", MAX_TERMINALS);
    else if (channels > MAX_CHANNELS)
        choice_error(errors, self, key, "more than %" PRIu64 " channels", MAX_CHANNELS);
}

bool topology_check_prime_power(const struct choice *self, const char *key, uint32_t number, struct errors *errors)
{
    uint32_t below = number, above = number;
    if (prime_of_power(number))
        return true;
    while (!prime_of_power(below))
        below--;
    while (!prime_of_power(above))
        above++;
    choice_error(errors, self, key, "%u is no power of a prime; the nearest that are: %u and %u", number, below, above);
    return false;
}
