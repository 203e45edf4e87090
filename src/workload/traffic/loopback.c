/* SPDX-License-Identifier: Apache-2.0 */
/* Every terminal sends to itself, by way of its router: what interfaces alone can do. */
#include "flitwarp/traffic.h"

static uint32_t loopback_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)traffic, (void)random;
    return source;
}

static const struct traffic_ops loopback = {
    .name = "loopback",
    .summary = "to the terminal itself",
    .destination = loopback_destination,
};
REGISTER_TRAFFIC(loopback);
