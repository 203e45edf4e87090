/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Facts of a dragonfly, for routing algorithms that know one: topology_dragonfly().
 * All of the family have groups of routers with global channels between every two
 * groups; they differ in what a group is inside (enum group_shape).
 *   Router `place` of `group` has number group * routers + place. Its ports: first
 * those to other routers of its group, then its global ones. How the global
 * channels of a group are laid out is in src/network/topology/global_channels.c;
 * here tables answer.
 */
#include "flitwarp/grid.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

enum dragonfly_arrangement {
    DRAGONFLY_ABSOLUTE,
    DRAGONFLY_RELATIVE,
    DRAGONFLY_CIRCULANT,
    DRAGONFLY_PALM_TREE,
    DRAGONFLY_FROM_FILE,
};

enum group_shape {
    GROUP_ALL_TO_ALL, /* one port to every other router of the group, in rising order */
    GROUP_GRID,       /* the same along each row and each column, with parallel channels */
    GROUP_BIPARTITE,  /* leaves with terminals, spines with global channels; port i of a leaf is to spine i, and back */
};

/* Where a global channel leaves a group. */
struct dragonfly_gate {
    uint16_t place; /* the router in its group */
    uint16_t port;
};

struct dragonfly {
    enum group_shape shape;
    uint32_t routers;      /* in each group */
    uint32_t hosts;        /* of those, the first so many have terminals */
    uint32_t first_gate;   /* the first place with ports for global channels; all from there on have them */
    uint32_t globals;      /* such ports of each; some may be unused */
    uint32_t groups;       /* two at least */
    uint32_t channels;     /* between every two groups, one at least; 0: not the same for all, see dragonfly_channels */
    uint32_t first_global; /* port */
    uint32_t ports;        /* of a router, to others */
    enum dragonfly_arrangement arrangement;
    /* Of a grid: place row * columns + column; parallel channels along a row and along a column. */
    uint32_t columns, row_channels, column_channels;
    FW_FAR(const uint16_t) row_of;   /* of a grid: by place */
    FW_FAR(const uint32_t) group_of; /* by router */
    FW_FAR(const uint16_t) place_of; /* by router: its number in the group */
    FW_FAR(const struct dragonfly_gate)
    gates;                              /* by rank * channels + parallel channel; the same for all groups, or else */
    FW_FAR(const uint32_t) first_gates; /* from a file: by group * groups + other group, into gates; NULL: not so */
    FW_FAR(const struct router_port)
    far_ends; /* from a file: by router * globals + global port; router FW_NONE: unused */
    /* By router: a set of the routers behind its global channels, each as its number modulo the size of a word. For distances. */
    FW_FAR(const uint64_t) behind_globals;
    uint64_t self; /* see FW_NEAR() */
};

#if FW_HOST
/* NULL: it is none of this family. Who has asked once takes topology->facts. */
extern const char dragonfly_family[];
static inline const struct dragonfly *topology_dragonfly(const struct topology *topology)
{
    return topology->family == dragonfly_family ? topology->facts : NULL;
}
#endif

static inline uint32_t dragonfly_group(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t router)
{
    return FW_NEAR(const uint32_t, dragonfly, dragonfly->group_of)[router];
}

/* A router's number in its group. */
static inline uint32_t dragonfly_place(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t router)
{
    return FW_NEAR(const uint16_t, dragonfly, dragonfly->place_of)[router];
}

static inline uint32_t dragonfly_router(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t group, uint32_t place)
{
    return group * dragonfly->routers + place;
}

/* The port of a router to another one of its fully connected group, by their places. */
static inline uint32_t dragonfly_local_port(uint32_t place, uint32_t other) { return other - (other > place); }

/* Of a grid: the row of a place. */
static inline uint32_t dragonfly_row(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t place)
{
    return FW_NEAR(const uint16_t, dragonfly, dragonfly->row_of)[place];
}

/* Of a grid: the first of the parallel ports from a place to the place in its row, or its column, with that number. */
static inline uint32_t dragonfly_row_port(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t place, uint32_t column)
{
    uint32_t own = place - dragonfly_row(dragonfly, place) * dragonfly->columns;
    return dragonfly_local_port(own, column) * dragonfly->row_channels;
}
static inline uint32_t dragonfly_column_port(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t place, uint32_t row)
{
    return (dragonfly->columns - 1) * dragonfly->row_channels +
           dragonfly_local_port(dragonfly_row(dragonfly, place), row) * dragonfly->column_channels;
}

/* Which of its neighbours, from 0, a group takes another one for; both are different, and no file says it. */
static inline uint32_t dragonfly_rank(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t group, uint32_t other)
{
    uint32_t groups = dragonfly->groups;
    if (dragonfly->arrangement == DRAGONFLY_ABSOLUTE)
        return other - (other > group);
    if (dragonfly->arrangement == DRAGONFLY_PALM_TREE)
        return (group > other ? group - other : group + groups - other) - 1;
    uint32_t offset = other > group ? other - group : other + groups - group;
    if (dragonfly->arrangement == DRAGONFLY_RELATIVE)
        return offset - 1;
    return 2 * offset <= groups ? 2 * offset - 2 : 2 * (groups - offset) - 1;
}

/* How many channels join two groups. */
static inline uint32_t dragonfly_channels(FW_GLOBAL const struct dragonfly *dragonfly, uint32_t group, uint32_t other)
{
    if (__builtin_expect(!dragonfly->first_gates, 1))
        return dragonfly->channels;
    FW_GLOBAL const uint32_t *first =
        FW_NEAR(const uint32_t, dragonfly, dragonfly->first_gates) + (size_t)group * dragonfly->groups + other;
    return first[1] - first[0];
}

/*
 * The places where a group's channels to another group leave it: dragonfly_channels of them. The far end of gate i is
 * gate i of the other group towards this one.
 */
static inline FW_GLOBAL const struct dragonfly_gate *dragonfly_gates(FW_GLOBAL const struct dragonfly *dragonfly,
                                                                     uint32_t group, uint32_t other)
{
    FW_GLOBAL const struct dragonfly_gate *gates = FW_NEAR(const struct dragonfly_gate, dragonfly, dragonfly->gates);
    if (__builtin_expect(!dragonfly->first_gates, 1))
        return gates + (size_t)dragonfly_rank(dragonfly, group, other) * dragonfly->channels;
    return gates +
           FW_NEAR(const uint32_t, dragonfly, dragonfly->first_gates)[(size_t)group * dragonfly->groups + other];
}
