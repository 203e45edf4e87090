/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of a slow link: a longer latency, and a cycle that is longer by the share of bandwidth that is lost. */
#include "network/failures/failures.h"

#include <math.h>

uint32_t slow_cycle(const struct failure_damage *damage, uint32_t cycle)
{
    return damage ? (uint32_t)lround(cycle / damage->bandwidth) : cycle;
}

bool slow_cycle_is_whole(const struct failure_damage *damage, uint32_t cycle)
{
    double ticks = cycle / damage->bandwidth;
    return ticks < 0x1p31 && fabs(ticks - round(ticks)) <= 2e-6 * ticks; /* a third may be 0.333333 */
}
