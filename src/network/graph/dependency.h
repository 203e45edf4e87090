/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The channel dependency graph: whether a routing algorithm can deadlock, found
 * without running anything, and whether it brings every packet home at all.
 */
#include "base/table.h"
#include "flitwarp/routing.h"

#include <stdio.h>

#define MAX_DECISIONS 64

/*
 * One string of random choices. Start with an empty one, ask a question under it, then move on to the next string
 * until there is none: every combination of answers comes up exactly once.
 */
struct decisions {
    uint32_t made;  /* in this run */
    uint32_t known; /* choices laid down by earlier runs */
    uint32_t taken[MAX_DECISIONS];
    uint32_t options[MAX_DECISIONS];
    double chances[MAX_DECISIONS]; /* of those taken */
    bool is_of_flow; /* some choice is made once for a source and a destination, see route_pick_of_flow() */
};

/* Lays down the next string and rewinds; false when all have been tried. */
bool decisions_next(struct decisions *decisions);
/* How likely this string is. */
double decisions_chance(const struct decisions *decisions);

/* Questions to the algorithm that an interactive check asks: a second. */
#define DEPENDENCY_BUDGET 8000000

/* Is told now and then what share of the check is done; 1: all of it. */
struct check_listener {
    void (*tell)(void *context, double share);
    void *context;
};

/*
 * Follows packets between every pair of routers with terminals by every route that the algorithm may give them.
 * Prints what was checked and, where there are any, faults (dead ends, unused ports, wrong terminals, endless ways) and
 * a cycle of VCs that wait for each other. True when there are neither. Once `budget` questions have been asked, the
 * pairs left over are not checked; which ones depends on the network alone. Routes may depend on all that a packet
 * carries except its source, unless routing->is_by_terminal: then all pairs of terminals are followed. Pairs without a
 * way are named and counted, as faults unless routing->may_lack_ways. The listener may be NULL.
 * Where the algorithm names escape VCs (routing->escape_vcs) they alone must have no cycle, and every answer must offer
 * one. That is enough in routers that give a packet an output VC only with room for all of it: those with buffers at
 * their inputs do so where routing has escape VCs.
 */
bool dependency_check(const struct routing *routing, uint64_t budget, const struct check_listener *listener, FILE *out);

/* ---- where packets begin and end ---- */

/* One terminal of each router that has any, in the order of these, or all terminals. */
struct hosts {
    uint32_t count;
    uint32_t *terminals;
    uint32_t *first; /* by router: its first one; FW_NONE: it has none */
};
struct hosts hosts_find(const struct topology *topology, bool takes_all,
                        uint32_t (*place)(const struct topology *topology, uint32_t terminal), struct arena *arena);
/* Numbers below `count` in an order that spreads them: i * step modulo count, with a step that shares no divisor. */
uint32_t spread_step(uint32_t count);
/* Hops to the farthest from the first router of each part that the network is in; there is one unless something failed. */
uint32_t hops_to_farthest(const struct topology *topology, struct arena *arena);

/* ---- pairs that are lost ---- */

/* For one destination: the states of packets to it, which of them end nowhere, and where packets begin. */
struct lost_pairs {
    struct lost_step {
        uint32_t from, to; /* states; of an entry the source, and the state that it begins in */
    } * steps, *entries;   /* owned */
    uint32_t *ends;        /* owned: states */
    uint32_t step_count, step_room, entry_count, entry_room, end_count, end_room;
};

void lost_pairs_clear(struct lost_pairs *lost);
void lost_pairs_release(struct lost_pairs *lost);
void lost_pairs_step(struct lost_pairs *lost, uint32_t from, uint32_t to);
/* The entries of one source one after the other. */
void lost_pairs_enter(struct lost_pairs *lost, uint32_t source, uint32_t state);
void lost_pairs_end(struct lost_pairs *lost, uint32_t state);
/* Sources some of whose ways end nowhere, among so many states; returns how many. */
uint32_t lost_pairs_sources(struct lost_pairs *lost, uint32_t states, uint32_t *sources);

/* ---- the graph ---- */

/*
 * The graph of VCs that wait for each other. A node is a VC of a channel between
 * routers, named by the end that receives: (router * ports + port) * num_vcs + vc.
 * An edge means that a packet may hold the one and ask for the other.
 */

struct channel_graph {
    uint32_t routers, ports, num_vcs;
    uint32_t first_bit; /* of the router ports in a set of output VCs */
    uint32_t words;     /* of such a set */
    uint32_t nodes;
    uint32_t *channels; /* owned, by router * ports + port: the same number at the other end; FW_NONE: unused */
    uint64_t *edges;    /* owned, by node: the output VCs of its router that are asked for */
    /* Edges to VCs of other routers, asked for by packets that went on meanwhile: lists by node, without doubles. */
    struct far_edge *far; /* owned */
    uint32_t *first_far;  /* owned, by node: index + 1; 0: none */
    uint32_t far_count, far_room;
    struct table far_known; /* owned, by the two nodes */
};

struct far_edge {
    uint32_t to;
    uint32_t next; /* of the same node: index + 1; 0: the last */
};

/* False when the network has more VCs than fit into memory. */
bool channel_graph_init(struct channel_graph *graph, const struct routing *routing);
void channel_graph_release(struct channel_graph *graph);

/* A packet that holds one of the VCs `held` of a channel may ask for any output VC in `wanted` at a router. */
void channel_graph_add(struct channel_graph *graph, uint32_t channel, uint64_t held, uint32_t router,
                       const uint64_t *wanted);
uint64_t channel_graph_edges(const struct channel_graph *graph);
/* Nodes of a short cycle, in order, into memory that the caller frees; NULL, with *length 0, when there is none. */
uint32_t *channel_graph_cycle(const struct channel_graph *graph, uint32_t *length);
