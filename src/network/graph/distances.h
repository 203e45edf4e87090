/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * How far routers are from each other and how many shortest ways lead from one to
 * the other, by breadth-first search from every router where packets enter, or
 * from as many of them as a budget of work allows. A distance counts the channels
 * between routers.
 */
#include "network/graph/adjacency.h"

/* Searches from one router after the other. What is known of a router lies together: channels lead all over the place. */
struct reached {
    double paths; /* shortest ones */
    uint32_t distance;
};
struct path_search {
    const struct adjacency *adjacency; /* borrowed */
    struct reached *reached;           /* by router; distance NONE: out of reach */
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
