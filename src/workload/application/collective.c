/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations in rounds, see collective.h. */
#include "workload/application/collective.h"

#include <stddef.h>

const char *const collective_names[] = {"none", "barrier", "allreduce", NULL};

void collective_init(struct collective *collective, uint32_t type, uint32_t ranks)
{
    *collective = (struct collective){.type = type, .ranks = ranks, .core = 1};
    uint32_t doublings = 0;
    for (; collective->core <= ranks / 2; doublings++)
        collective->core *= 2;
    bool is_power = collective->core == ranks;
    if (type == COLLECTIVE_BARRIER)
        collective->rounds = doublings + !is_power;
    if (type == COLLECTIVE_ALLREDUCE)
        collective->rounds = doublings + (is_power ? 0 : 2);
}

/* With ranks outside of the core, the first round and the last are theirs. */
static bool is_first(const struct collective *collective, uint32_t round)
{
    return collective->core < collective->ranks && round == 0;
}

static bool is_last(const struct collective *collective, uint32_t round)
{
    return collective->core < collective->ranks && round + 1 == collective->rounds;
}

uint32_t collective_target(const struct collective *collective, uint32_t rank, uint32_t round)
{
    uint32_t core = collective->core, outside = collective->ranks - core;
    if (collective->type == COLLECTIVE_BARRIER)
        return (uint32_t)((rank + ((uint64_t)1 << round)) % collective->ranks);
    if (is_first(collective, round))
        return rank >= core ? rank - core : NONE;
    if (is_last(collective, round))
        return rank < outside ? rank + core : NONE;
    return rank < core ? rank ^ (uint32_t)1 << (round - (outside > 0)) : NONE;
}

bool collective_expects(const struct collective *collective, uint32_t rank, uint32_t round)
{
    if (collective->type == COLLECTIVE_BARRIER)
        return true;
    if (is_first(collective, round))
        return rank < collective->ranks - collective->core;
    return is_last(collective, round) ? rank >= collective->core : rank < collective->core;
}
