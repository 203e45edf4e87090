/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles among VCs. A node's edges are a set of output VCs of the router at which
 * its channel ends; the channel behind an output port leads to the next node. A
 * depth-first search with a stack of its own finds a node on a cycle, a
 * breadth-first search from there the shortest cycle through it, which is what a
 * person wants to read.
 */
#include "network/channel_graph.h"

#include <stdlib.h>
#include <string.h>

#define MAX_EDGE_BYTES ((uint64_t)16 << 30)

enum mark { UNSEEN, ON_PATH, DONE };

bool channel_graph_init(struct channel_graph *graph, const struct routing *routing)
{
    const struct topology *topology = routing->topology;
    uint64_t channels = (uint64_t)topology->routers * topology->ports;
    uint64_t nodes = channels * routing->num_vcs;
    *graph = (struct channel_graph){
        .routers = topology->routers,
        .ports = topology->ports,
        .num_vcs = routing->num_vcs,
        .first_bit = routing->local_ports * routing->num_vcs,
        .words = routing->words,
        .nodes = (uint32_t)nodes,
    };
    if (nodes >= NONE || nodes * graph->words * sizeof(uint64_t) > MAX_EDGE_BYTES)
        return false;
    /* calloc: pages that no packet touches are never taken from the machine */
    graph->edges = calloc(nodes + 1, graph->words * sizeof(uint64_t));
    if (!graph->edges)
        return false;
    graph->channels = memory_take(sizeof(uint32_t) * (channels + 1));
    for (uint32_t channel = 0; channel < channels; channel++) {
        struct router_port peer;
        bool is_used = topology->ops->peer(topology, channel / topology->ports, channel % topology->ports, &peer);
        graph->channels[channel] = is_used ? peer.router * topology->ports + peer.port : NONE;
    }
    return true;
}

void channel_graph_release(struct channel_graph *graph)
{
    free(graph->channels);
    free(graph->edges);
    *graph = (struct channel_graph){0};
}

void channel_graph_add(struct channel_graph *graph, uint32_t router, uint32_t port, uint64_t held,
                       const uint64_t *wanted)
{
    uint64_t *first = graph->edges + (size_t)(router * graph->ports + port) * graph->num_vcs * graph->words;
    BITS_EACH(vc, &held, 1)
        for (uint32_t w = 0; w < graph->words; w++)
            first[vc * graph->words + w] |= wanted[w];
}

/* The first edge of a node to another at or after *cursor, which moves behind it; NONE: there is none. */
static uint32_t next_node(const struct channel_graph *graph, uint32_t node, uint32_t *cursor)
{
    const uint64_t *edges = graph->edges + (size_t)node * graph->words;
    uint32_t router = node / graph->num_vcs / graph->ports;
    uint32_t from = *cursor > graph->first_bit ? *cursor : graph->first_bit;
    uint32_t word = from / WORD_BITS;
    uint64_t left = word < graph->words ? edges[word] & ~(uint64_t)0 << from % WORD_BITS : 0;
    while (!left && ++word < graph->words)
        left = edges[word];
    if (!left)
        return NONE;
    uint32_t found = word * WORD_BITS + lowest_bit(left);
    *cursor = found + 1;
    uint32_t output = (found - graph->first_bit) / graph->num_vcs;
    uint32_t channel = output < graph->ports ? graph->channels[router * graph->ports + output] : NONE;
    return channel == NONE ? next_node(graph, node, cursor) /* a fault that was reported */
                           : channel * graph->num_vcs + found % graph->num_vcs;
}

uint64_t channel_graph_edges(const struct channel_graph *graph)
{
    uint64_t edges = 0;
    for (uint32_t node = 0; node < graph->nodes; node++)
        for (uint32_t cursor = 0; next_node(graph, node, &cursor) != NONE;)
            edges++;
    return edges;
}

/* Some node on a cycle; NONE: there is no cycle. */
static uint32_t find_node_on_cycle(const struct channel_graph *graph)
{
    uint8_t *marks = memory_take((size_t)graph->nodes + 1);
    uint32_t *path = memory_take(sizeof *path * ((size_t)graph->nodes + 1));
    uint32_t *cursors = memory_take(sizeof *cursors * ((size_t)graph->nodes + 1));
    uint32_t found = NONE;
    memset(marks, UNSEEN, graph->nodes);
    for (uint32_t root = 0; root < graph->nodes && found == NONE; root++) {
        if (marks[root] != UNSEEN)
            continue;
        uint32_t depth = 1;
        path[0] = root, cursors[0] = 0, marks[root] = ON_PATH;
        while (depth > 0 && found == NONE) {
            uint32_t next = next_node(graph, path[depth - 1], &cursors[depth - 1]);
            if (next == NONE)
                marks[path[--depth]] = DONE;
            else if (marks[next] == ON_PATH)
                found = next;
            else if (marks[next] == UNSEEN)
                path[depth] = next, cursors[depth++] = 0, marks[next] = ON_PATH;
        }
    }
    free(marks);
    free(path);
    free(cursors);
    return found;
}

uint32_t *channel_graph_cycle(const struct channel_graph *graph, uint32_t *length)
{
    uint32_t start = find_node_on_cycle(graph), end = NONE, reached = 1;
    *length = 0;
    if (start == NONE)
        return NULL;
    uint32_t *queue = memory_take(sizeof *queue * ((size_t)graph->nodes + 1));
    uint32_t *before = memory_take(sizeof *before * ((size_t)graph->nodes + 1));
    memset(before, 0xff, sizeof *before * graph->nodes);
    queue[0] = start;
    for (uint32_t i = 0; i < reached && end == NONE; i++)
        for (uint32_t cursor = 0, next; (next = next_node(graph, queue[i], &cursor)) != NONE && end == NONE;) {
            if (next == start)
                end = queue[i];
            else if (before[next] == NONE)
                before[next] = queue[i], queue[reached++] = next;
        }
    /* Backwards from the end to the start, then turned round; the queue is no longer needed. */
    for (uint32_t node = end; node != start; node = before[node])
        queue[(*length)++] = node;
    queue[(*length)++] = start;
    for (uint32_t i = 0; i < *length / 2; i++) {
        uint32_t swap = queue[i];
        queue[i] = queue[*length - 1 - i];
        queue[*length - 1 - i] = swap;
    }
    free(before);
    return queue;
}
