/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The graph of VCs that wait for each other. A node is a VC of a channel between
 * routers, named by the end that receives: (router * ports + port) * num_vcs + vc.
 * An edge means that a packet may hold the one and ask for the other.
 */
#include "base/table.h"
#include "flitwarp/routing.h"

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
