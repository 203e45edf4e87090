/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Facts of a tree with several roots, for routing algorithms that go up and down:
 * topology_tree(). Level 0 is that of the leaves, where the terminals are. From
 * every router exactly one port leads down towards each terminal below it, or at
 * the top tree_down_ports() in a row; all ports up lead to routers that have the
 * same terminals below them.
 *   Ports of a router: first those down (not at a leaf, whose ports down are its
 * terminals), then those up.
 */
#include "flitwarp/grid.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

#define MAX_LEVELS 16

struct tree {
    uint32_t levels;
    uint32_t terminals;
    uint32_t down[MAX_LEVELS];             /* ports of each router of a level; terminals at level 0 */
    uint32_t up[MAX_LEVELS];               /* 0 at the top */
    uint32_t joined;                       /* ports of a router of the top towards each terminal */
    uint32_t first_up[MAX_LEVELS];         /* port */
    uint32_t first_router[MAX_LEVELS + 1]; /* of each level; leaves first */
    uint32_t below[MAX_LEVELS];            /* terminals below a router of the level */
    FW_FAR(const uint8_t) level_of;        /* by router */
    FW_FAR(const uint32_t) first_below;    /* by router: its first terminal; the others follow */
    FW_FAR(const uint16_t) down_ports;     /* by level * terminals + terminal */
    uint64_t self;                         /* see FW_NEAR() */
};

#if FW_HOST
/* NULL: it is none of this family. Who has asked once takes topology->facts. */
extern const char tree_family[];
static inline const struct tree *topology_tree(const struct topology *topology)
{
    return topology->family == tree_family ? topology->facts : NULL;
}
#endif

static inline uint32_t tree_level(FW_GLOBAL const struct tree *tree, uint32_t router)
{
    return FW_NEAR(const uint8_t, tree, tree->level_of)[router];
}

static inline bool tree_is_below(FW_GLOBAL const struct tree *tree, uint32_t router, uint32_t terminal)
{
    return terminal - FW_NEAR(const uint32_t, tree, tree->first_below)[router] < tree->below[tree_level(tree, router)];
}

/* The port down towards a terminal below the router; at a leaf, the terminal's place there. */
static inline uint32_t tree_down_port(FW_GLOBAL const struct tree *tree, uint32_t router, uint32_t terminal)
{
    return FW_NEAR(const uint16_t, tree,
                   tree->down_ports)[(size_t)tree_level(tree, router) * tree->terminals + terminal];
}

/* How many ports in a row lead down towards a terminal at a level; tree_down_port() is the first. */
static inline uint32_t tree_down_ports(FW_GLOBAL const struct tree *tree, uint32_t level)
{
    return level + 1 == tree->levels ? tree->joined : 1;
}

/* Ports up; they begin with tree_first_up. */
static inline uint32_t tree_up_ports(FW_GLOBAL const struct tree *tree, uint32_t router)
{
    return tree->up[tree_level(tree, router)];
}

static inline uint32_t tree_first_up(FW_GLOBAL const struct tree *tree, uint32_t router)
{
    return tree->first_up[tree_level(tree, router)];
}
