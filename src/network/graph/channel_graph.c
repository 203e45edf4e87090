/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles among VCs. A node's edges are a set of output VCs of the router at which
 * its channel ends; the channel behind an output port leads to the next node. A
 * depth-first search with a stack of its own finds a node on a cycle, a
 * breadth-first search from there the shortest cycle through it, which is what a
 * person wants to read.
 */
#include "network/graph/channel_graph.h"

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
    if (nodes >= FW_NONE || nodes * graph->words * sizeof(uint64_t) > MAX_EDGE_BYTES)
        return false;
    /* calloc: pages that no packet touches are never taken from the machine */
    graph->edges = calloc(nodes + 1, graph->words * sizeof(uint64_t));
    if (!graph->edges)
        return false;
    graph->channels = memory_take(sizeof(uint32_t) * (channels + 1));
    for (uint32_t channel = 0; channel < channels; channel++) {
        struct router_port peer;
        bool is_used = topology->ops->peer(topology, channel / topology->ports, channel % topology->ports, &peer);
        graph->channels[channel] = is_used ? peer.router * topology->ports + peer.port : FW_NONE;
    }
    return true;
}

void channel_graph_release(struct channel_graph *graph)
{
    free(graph->channels);
    free(graph->edges);
    free(graph->far);
    free(graph->first_far);
    free(graph->far_slots);
    *graph = (struct channel_graph){0};
}

/* ---- edges ---- */

static uint32_t *far_slot(const struct channel_graph *graph, uint32_t from, uint32_t to)
{
    uint32_t mask = 2 * graph->far_room - 1, slot = (uint32_t)random_mix((uint64_t)from << 32 | to) & mask;
    for (; graph->far_slots[slot]; slot = (slot + 1) & mask) {
        const struct far_edge *edge = &graph->far[graph->far_slots[slot] - 1];
        if (edge->from == from && edge->to == to)
            break;
    }
    return &graph->far_slots[slot];
}

static void grow_far(struct channel_graph *graph)
{
    if (!graph->first_far) {
        graph->first_far = memory_take(sizeof *graph->first_far * ((size_t)graph->nodes + 1));
        memset(graph->first_far, 0, sizeof *graph->first_far * graph->nodes);
    }
    graph->far_room = graph->far_room ? 2 * graph->far_room : 1024;
    graph->far = memory_resize(graph->far, sizeof *graph->far * graph->far_room);
    graph->far_slots = memory_resize(graph->far_slots, sizeof *graph->far_slots * 2 * graph->far_room);
    memset(graph->far_slots, 0, sizeof *graph->far_slots * 2 * graph->far_room);
    for (uint32_t i = 0; i < graph->far_count; i++)
        *far_slot(graph, graph->far[i].from, graph->far[i].to) = i + 1;
}

static void add_far(struct channel_graph *graph, uint32_t from, uint32_t to)
{
    if (graph->far_count == graph->far_room)
        grow_far(graph);
    uint32_t *slot = far_slot(graph, from, to);
    if (*slot)
        return;
    graph->far[graph->far_count] = (struct far_edge){from, to, graph->first_far[from]};
    graph->first_far[from] = *slot = ++graph->far_count;
}

/* The node that an output VC of a router leads to; FW_NONE: a terminal, or a fault that was reported. */
static uint32_t node_behind(const struct channel_graph *graph, uint32_t router, uint32_t output_vc)
{
    if (output_vc < graph->first_bit)
        return FW_NONE;
    uint32_t output = (output_vc - graph->first_bit) / graph->num_vcs;
    uint32_t channel = output < graph->ports ? graph->channels[router * graph->ports + output] : FW_NONE;
    return channel == FW_NONE ? FW_NONE : channel * graph->num_vcs + output_vc % graph->num_vcs;
}

void channel_graph_add(struct channel_graph *graph, uint32_t channel, uint64_t held, uint32_t router,
                       const uint64_t *wanted)
{
    uint64_t *first = graph->edges + (size_t)channel * graph->num_vcs * graph->words;
    if (!held)
        return;
    bool is_near = channel / graph->ports == router;
    BITS_EACH(vc, &held, 1)
        for (uint32_t w = 0; is_near && w < graph->words; w++)
            first[vc * graph->words + w] |= wanted[w];
    BITS_EACH(lane, wanted, is_near ? 0 : graph->words) {
        uint32_t to = node_behind(graph, router, (uint32_t)lane);
        BITS_EACH(vc, &held, to == FW_NONE ? 0 : 1)
            add_far(graph, channel * graph->num_vcs + (uint32_t)vc, to);
    }
}

/*
 * The next edge of a node to another at *cursor, which starts at 0 and moves on; FW_NONE: there is none. Up to the last
 * output VC a cursor counts those, behind them far edges.
 */
static uint32_t next_node(const struct channel_graph *graph, uint32_t node, uint32_t *cursor)
{
    const uint64_t *edges = graph->edges + (size_t)node * graph->words;
    uint32_t router = node / graph->num_vcs / graph->ports, end = graph->words * WORD_BITS + 1;
    while (*cursor < end) {
        uint32_t from = *cursor > graph->first_bit ? *cursor : graph->first_bit, word = from / WORD_BITS;
        uint64_t left = word < graph->words ? edges[word] & ~(uint64_t)0 << from % WORD_BITS : 0;
        while (!left && ++word < graph->words)
            left = edges[word];
        if (!left) {
            *cursor = end + (graph->first_far ? graph->first_far[node] : 0);
            break;
        }
        uint32_t found = word * WORD_BITS + (uint32_t)lowest_bit(left), next = node_behind(graph, router, found);
        *cursor = found + 1;
        if (next != FW_NONE)
            return next;
    }
    if (*cursor == end)
        return FW_NONE;
    const struct far_edge *edge = &graph->far[*cursor - end - 1];
    *cursor = end + edge->next;
    return edge->to;
}

uint64_t channel_graph_edges(const struct channel_graph *graph)
{
    uint64_t edges = 0;
    for (uint32_t node = 0; node < graph->nodes; node++)
        for (uint32_t cursor = 0; next_node(graph, node, &cursor) != FW_NONE;)
            edges++;
    return edges;
}

/* Some node on a cycle; FW_NONE: there is no cycle. */
static uint32_t find_node_on_cycle(const struct channel_graph *graph)
{
    uint8_t *marks = memory_take((size_t)graph->nodes + 1);
    uint32_t *path = memory_take(sizeof *path * ((size_t)graph->nodes + 1));
    uint32_t *cursors = memory_take(sizeof *cursors * ((size_t)graph->nodes + 1));
    uint32_t found = FW_NONE;
    memset(marks, UNSEEN, graph->nodes);
    for (uint32_t root = 0; root < graph->nodes && found == FW_NONE; root++) {
        if (marks[root] != UNSEEN)
            continue;
        uint32_t depth = 1;
        path[0] = root, cursors[0] = 0, marks[root] = ON_PATH;
        while (depth > 0 && found == FW_NONE) {
            uint32_t next = next_node(graph, path[depth - 1], &cursors[depth - 1]);
            if (next == FW_NONE)
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
    uint32_t start = find_node_on_cycle(graph), end = FW_NONE, reached = 1;
    *length = 0;
    if (start == FW_NONE)
        return NULL;
    uint32_t *queue = memory_take(sizeof *queue * ((size_t)graph->nodes + 1));
    uint32_t *before = memory_take(sizeof *before * ((size_t)graph->nodes + 1));
    memset(before, 0xff, sizeof *before * graph->nodes);
    queue[0] = start;
    for (uint32_t i = 0; i < reached && end == FW_NONE; i++)
        for (uint32_t cursor = 0, next; (next = next_node(graph, queue[i], &cursor)) != FW_NONE && end == FW_NONE;) {
            if (next == start)
                end = queue[i];
            else if (before[next] == FW_NONE)
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
