/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A topology as flat lists of neighbours, and how many terminals are at each
 * router: what analyses walk that look at a network as a whole. Channels that
 * join the same two routers are one entry with a number.
 */
#include "flitwarp/topology.h"

struct neighbour {
    uint32_t router;
    uint32_t links; /* side by side between the two */
    uint32_t back;  /* the entry in the neighbour's list that leads here */
};

struct adjacency {
    const struct topology *topology; /* borrowed */
    uint32_t *first;                 /* by router, and one more: where its entries begin; they rise by router */
    struct neighbour *neighbours;
    uint32_t *entering; /* by router: terminals whose packets enter the network there */
    uint32_t *leaving;  /* by router: terminals whose packets leave it there, nearly always the same */
    uint32_t sources;   /* routers where packets enter */
};

void adjacency_init(struct adjacency *adjacency, const struct topology *topology, struct arena *arena);

/* The routers where packets enter, in an order drawn at random, the same each time: its beginnings are samples. */
uint32_t *adjacency_sources(const struct adjacency *adjacency, struct arena *arena);

static inline uint32_t adjacency_entries(const struct adjacency *adjacency)
{
    return adjacency->first[adjacency->topology->routers];
}

/* Goes through the neighbours of a router: `to` is each entry. */
#define NEIGHBOURS_EACH(to, of, at)                                                                                    \
    for (struct neighbour *to = (of)->neighbours + (of)->first[at],                                                    \
                          *to##_end = (of)->neighbours + (of)->first[(at) + 1];                                        \
         to < to##_end; to++)
