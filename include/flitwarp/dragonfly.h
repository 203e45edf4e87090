/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Facts of a dragonfly, for routing algorithms that know one: topology->dragonfly.
 * Router `place` of `group` has number group * routers + place. Its ports: first
 * those to the other routers of its group in rising order, then its global ones.
 * Every two groups are joined by the same number of global channels. How the
 * channels of a group are laid out is in src/network/topology/dragonfly.c; here a
 * table answers.
 */
#include "flitwarp/topology.h"

enum dragonfly_arrangement { DRAGONFLY_ABSOLUTE, DRAGONFLY_RELATIVE, DRAGONFLY_CIRCULANT };

/* Where a global channel leaves a group. */
struct dragonfly_gate {
    uint16_t place; /* the router in its group */
    uint16_t port;
};

struct dragonfly {
    uint32_t routers;      /* in each group */
    uint32_t globals;      /* ports of each router for global channels; some may be unused */
    uint32_t groups;       /* two at least */
    uint32_t channels;     /* between every two groups, one at least */
    uint32_t first_global; /* port */
    enum dragonfly_arrangement arrangement;
    const uint32_t *group_of;           /* by router */
    const uint16_t *place_of;           /* by router: its number in the group */
    const struct dragonfly_gate *gates; /* by rank * channels + parallel channel; the same for all groups */
};

static inline uint32_t dragonfly_group(const struct dragonfly *dragonfly, uint32_t router)
{
    return dragonfly->group_of[router];
}

/* A router's number in its group. */
static inline uint32_t dragonfly_place(const struct dragonfly *dragonfly, uint32_t router)
{
    return dragonfly->place_of[router];
}

static inline uint32_t dragonfly_router(const struct dragonfly *dragonfly, uint32_t group, uint32_t place)
{
    return group * dragonfly->routers + place;
}

/* The port of a router to another one of its group, by their places. */
static inline uint32_t dragonfly_local_port(uint32_t place, uint32_t other) { return other - (other > place); }

/* Which of its neighbours, from 0, a group takes another one for; both are different. */
static inline uint32_t dragonfly_rank(const struct dragonfly *dragonfly, uint32_t group, uint32_t other)
{
    if (dragonfly->arrangement == DRAGONFLY_ABSOLUTE)
        return other - (other > group);
    uint32_t groups = dragonfly->groups, offset = other > group ? other - group : other + groups - group;
    if (dragonfly->arrangement == DRAGONFLY_RELATIVE)
        return offset - 1;
    return 2 * offset <= groups ? 2 * offset - 2 : 2 * (groups - offset) - 1;
}

/*
 * The places where a group's channels to another group leave it: dragonfly->channels of them. The far end of gate i
 * is gate i of the other group towards this one.
 */
static inline const struct dragonfly_gate *dragonfly_gates(const struct dragonfly *dragonfly, uint32_t group,
                                                           uint32_t other)
{
    return dragonfly->gates + (size_t)dragonfly_rank(dragonfly, group, other) * dragonfly->channels;
}
