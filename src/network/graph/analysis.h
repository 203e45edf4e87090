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

/*
 * How far routers are from each other and how many shortest ways lead from one to
 * the other, by breadth-first search from every router where packets enter, or
 * from as many of them as a budget of work allows. A distance counts the channels
 * between routers.
 */

/* Searches from one router after the other. What is known of a router lies together: channels lead all over the place. */
struct reached {
    double paths; /* shortest ones */
    uint32_t distance;
};
struct path_search {
    const struct adjacency *adjacency; /* borrowed */
    struct reached *reached;           /* by router; distance FW_NONE: out of reach */
    uint32_t *order;                   /* as they were reached, the one searched from first */
    uint32_t count;
};
void path_search_init(struct path_search *search, const struct adjacency *adjacency, struct arena *arena);
void path_search_from(struct path_search *search, uint32_t router);

/* A mean over pairs. Of sampled sources, `error` is its standard error. */
struct pair_mean {
    double mean;
    double error;
};

struct distances {
    uint32_t sources;         /* searched from; all of adjacency->sources: what follows is exact, else from a sample */
    uint32_t diameter;        /* the longest found */
    struct pair_mean routers; /* over pairs of different routers with terminals */
    struct pair_mean terminals; /* over pairs of different terminals, as uniform random traffic takes them */
    uint64_t unreached;         /* pairs of routers without a way between them; they count nowhere else */
    /* By distance, up to the diameter, over the pairs of routers: */
    uint64_t *pairs;
    double *paths; /* shortest paths of all of them; parallel channels make different ones */
    double least_paths;
    struct pair_mean paths_of_pair;
};

/* `budget` counts channels looked at; the first two searches are free. */
void distances_find(struct distances *distances, const struct adjacency *adjacency, uint64_t budget,
                    struct arena *arena);

/* The ratio of two sums over a sample of sources, the first so many of `all`, with its standard error. */
struct pair_mean ratio_of_sums(const double *sums, const double *counts, uint32_t sources, uint32_t all);

/*
 * How many shortest paths between two routers there are at once, no two of them
 * sharing a channel: what is left of a network's ways when each is taken by
 * somebody. Over all pairs of routers with terminals, or a sample of them.
 */

struct disjoint_paths {
    uint64_t pairs; /* looked at */
    bool is_exact;  /* those were all */
    struct pair_mean paths;
    uint32_t least;
};

/* `budget` counts channels looked at; the first two sources are free. */
void disjoint_paths_find(struct disjoint_paths *disjoint, const struct adjacency *adjacency, uint64_t budget);

/*
 * A cut of a network into two halves with as many terminals each, through as few
 * links between routers as can be found. To find the fewest is a hard problem: what
 * is found is an upper bound of the minimum bisection, and equal to it in regular
 * networks, whose natural halves are among the cuts that are tried.
 *   Halves differ by the terminals of one router at most, and not at all where all
 * routers with terminals have as many and are an even number. Routers without
 * terminals go wherever it is best.
 */

struct bisection {
    uint64_t links;     /* cut */
    uint8_t *side;      /* by router: 0 or 1 */
    const char *method; /* the cut from which it was found */
    uint32_t tried;     /* cuts */
};

/* `budget` counts channels looked at; natural cuts are free. Takes bisection->side from the arena. */
void bisection_find(struct bisection *bisection, const struct adjacency *adjacency, uint64_t budget,
                    struct arena *arena);

/* ---- cycles in any directed graph, whose nodes are numbers ---- */

struct digraph {
    uint32_t nodes;
    const void *context;
    /* The node behind the next edge of a node at *cursor, which starts at 0 and moves on; FW_NONE: there is none. */
    uint32_t (*next)(const void *context, uint32_t node, uint32_t *cursor);
};

/* A node on a cycle, the first that a depth-first search from node 0 on comes back to; FW_NONE: there is no cycle. */
uint32_t digraph_find_on_cycle(const struct digraph *graph);
/* The shortest way from a node on a cycle back to itself, into `path`, which begins with it; returns how many nodes. */
uint32_t digraph_shortest_round(const struct digraph *graph, uint32_t start, uint32_t *path);

/* ---- what a topology tells of where its routers stand ---- */

/* 0: routers have no coordinates. */
uint32_t topology_dimensions(const struct topology *topology);
uint32_t topology_coordinate(const struct topology *topology, uint32_t router, uint32_t dimension);
/* "(3,1)" on a grid, "7" elsewhere. */
const char *topology_router_name(const struct topology *topology, uint32_t router, char *buffer, size_t size);
/* The level in a tree, from the leaves up, or the stage of a butterfly; FW_NONE: there is no such thing. */
uint32_t topology_level(const struct topology *topology, uint32_t router);
/* By router: its group, all that is joined without global links; NULL where no class of links is called global. */
const uint32_t *topology_groups(const struct topology *topology, struct arena *arena);
