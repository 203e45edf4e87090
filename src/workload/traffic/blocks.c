/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals in blocks, see blocks.h. */
#include "workload/traffic/blocks.h"

const char *const block_targets[] = {"offset", "half", "opposite", NULL};

bool blocks_fit(uint32_t size, const char *key, const struct choice *self, const struct traffic_space *space,
                struct errors *errors)
{
    if (size < space->terminals && space->terminals % size == 0)
        return true;
    choice_error(errors, self, key, "%u terminals are not several blocks of %u", space->terminals, size);
    return false;
}

void local_check(const struct local_traffic *traffic, const struct choice *self, const struct traffic_space *space,
                 struct errors *errors)
{
    if (blocks_fit(traffic->block, "block", self, space, errors) && traffic->block == 1 && traffic->local > 0 &&
        !traffic->self)
        choice_error(errors, self, "local", "a block of one terminal has nobody to send to; accepted: 0, or self");
}

uint32_t local_draw(const struct local_traffic *traffic, uint32_t source, struct random *random)
{
    if (random_unit(random) >= traffic->local)
        return NONE;
    uint32_t first = source / traffic->block * traffic->block;
    if (traffic->self)
        return first + random_below(random, traffic->block);
    uint32_t other = first + random_below(random, traffic->block - 1);
    return other + (other >= source);
}
