/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Minimal steps on a dragonfly: to a router of the group that has a channel to
 * the wanted group, over that channel, and to the wanted router. A packet counts
 * what it has crossed in packet->route, for its VC classes.
 */
#include "flitwarp/dragonfly.h"
#include "flitwarp/routing.h"

#define ROUTE_GLOBAL 4u  /* this many for each global channel crossed; up to three */
#define ROUTE_LOCAL 16u  /* the last channel crossed was one inside the group */
#define ROUTE_MIDWAY 32u /* it has been at the router of its detour */

static inline uint32_t globals_crossed(const struct packet *packet) { return packet->route / ROUTE_GLOBAL % 4; }

/* VC classes of the next hop, whichever it is. */
struct hop_classes {
    uint32_t local, global;
};

/*
 * Offers the next hop towards a group, and in it towards a router by its place; the packet is not there yet. A router
 * with channels of its own to the group takes one of them, unless any of the group's channels is to be drawn.
 */
void dragonfly_step(struct route *route, const struct dragonfly *dragonfly, uint32_t group, uint32_t place,
                    struct hop_classes classes, bool any_channel);
