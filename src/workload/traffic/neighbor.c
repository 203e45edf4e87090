/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbour traffic: every terminal sends to the next one by number, the last to
 * the first, as in a ring of processes. A terminal that is alone sends to itself.
 */
#include "flitwarp/traffic.h"

static uint32_t neighbor_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return source + 1 < traffic->terminals ? source + 1 : 0;
}

static const struct traffic_ops neighbor = {
    .name = "neighbor",
    .summary = "to the next terminal by number",
    .destination = neighbor_destination,
};
REGISTER_TRAFFIC(neighbor);
