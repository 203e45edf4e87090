/* SPDX-License-Identifier: Apache-2.0 */
/* The wait-for graph of a network, see deadlock.h. */
#include "network/deadlock/deadlock.h"

#include "engine/ranks.h"
#include "network/graph/analysis.h"
#include "network/parallel/parts.h"
#include "network/router/shared_room.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct waiter) % 8 == 0 && sizeof(struct wanted) == 8, "mail is made of words");
enum { WAITER_WORDS = sizeof(struct waiter) / 8 };

/* ---- gathering ---- */

static void graph_add(struct wait_graph *graph, const struct waiter *waiter, const struct wanted *wanted)
{
    graph->waiters = memory_grow(graph->waiters, graph->count, &graph->room, sizeof *graph->waiters);
    if (graph->wanted_count + waiter->wanted_count > graph->wanted_room) {
        graph->wanted_room = 2 * (graph->wanted_count + waiter->wanted_count);
        graph->wanted = memory_resize(graph->wanted, graph->wanted_room * sizeof *graph->wanted);
    }
    graph->waiters[graph->count] = *waiter;
    graph->waiters[graph->count++].first_wanted = graph->wanted_count;
    if (waiter->wanted_count)
        memcpy(graph->wanted + graph->wanted_count, wanted, waiter->wanted_count * sizeof *wanted);
    graph->wanted_count += waiter->wanted_count;
}

static void add_lane(struct wait_graph *graph, const struct network *part, uint32_t router, uint32_t lane)
{
    struct waiting waiting;
    if (!network_waits_for(part, router, lane, &waiting))
        return;
    const struct packet *packet = network_packet(part, waiting.packet);
    const struct waiter waiter = {
        .created = packet->created,
        .source = packet->source,
        .sequence = packet->sequence,
        .destination = packet->destination,
        .size = packet->size,
        .router = router,
        .lane = lane,
        .flits = waiting.flits,
        .room = waiting.room,
        .wanted_count = waiting.wanted_count,
        .for_credit = waiting.for_credit,
    };
    graph_add(graph, &waiter, waiting.wanted);
}

static int compare_waiters(const void *a, const void *b)
{
    const struct waiter *x = a, *y = b;
    if (x->router != y->router)
        return x->router < y->router ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

/* Everybody tells everybody. */
static void gather_ranks(struct wait_graph *graph, struct ranks *ranks)
{
    struct mail mail;
    mail_init(&mail, ranks, 0);
    for (uint32_t rank = 0; rank < ranks->count; rank++)
        for (uint32_t i = 0; i < graph->count; i++) {
            const struct waiter *waiter = &graph->waiters[i];
            words_add(&mail.out[rank], waiter, WAITER_WORDS);
            words_add(&mail.out[rank], graph->wanted + waiter->first_wanted, waiter->wanted_count);
        }
    mail_swap(&mail, NULL);
    graph->count = graph->wanted_count = 0;
    for (uint32_t rank = 0; rank < ranks->count; rank++) {
        size_t count, at = 0;
        const uint64_t *words = mail_from(&mail, rank, &count);
        while (at < count) {
            struct waiter waiter;
            memcpy(&waiter, words + at, sizeof waiter);
            graph_add(graph, &waiter, (const struct wanted *)(words + at + WAITER_WORDS));
            at += WAITER_WORDS + waiter.wanted_count;
        }
    }
    mail_release(&mail);
    if (graph->count)
        qsort(graph->waiters, graph->count, sizeof *graph->waiters, compare_waiters);
}

void wait_graph_init(struct wait_graph *graph, const struct network *network)
{
    uint32_t lanes = network->ports * network->num_vcs;
    *graph = (struct wait_graph){.network = network};
    for (uint32_t router = 0; router < network->topology.routers; router++) {
        uint32_t part = network->router_part ? network->router_part[router] - network->core->first_part : 0;
        for (uint32_t lane = 0; part < network->core->part_count && lane < lanes; lane++)
            add_lane(graph, network->core->parts[part], router, lane);
    }
    if (network_ranks(network))
        gather_ranks(graph, network_ranks(network));
}

void wait_graph_release(struct wait_graph *graph)
{
    free(graph->waiters);
    free(graph->wanted);
    *graph = (struct wait_graph){0};
}

/* ---- following waits ---- */

static uint32_t find_waiter(const struct wait_graph *graph, uint32_t router, uint32_t lane)
{
    const struct waiter key = {.router = router, .lane = lane};
    const struct waiter *found =
        graph->count ? bsearch(&key, graph->waiters, graph->count, sizeof key, compare_waiters) : NULL;
    return found ? (uint32_t)(found - graph->waiters) : FW_NONE;
}

static bool is_held(const struct waiter *waiter, const struct wanted *wanted)
{
    return !waiter->for_credit && wanted->holder != HELD_BY_NOBODY && wanted->holder != WITHOUT_ROOM;
}

uint32_t wait_graph_next(const struct wait_graph *graph, const struct waiter *waiter, uint32_t wanted)
{
    const struct wanted *want = &graph->wanted[waiter->first_wanted + wanted];
    const struct network *network = graph->network;
    const struct link *link = network_link(network, waiter->router, want->lane / network->num_vcs);
    if (is_held(waiter, want))
        return find_waiter(graph, waiter->router, want->holder);
    return link->to_terminal ? FW_NONE
                             : find_waiter(graph, link->target, link->first_lane + want->lane % network->num_vcs);
}

/* Does a wait depend on the one that it leads to? Not where there is room, or will be when what is under way is there. */
static bool is_blocked(const struct wait_graph *graph, const struct waiter *waiter, uint32_t wanted, uint32_t next)
{
    const struct wanted *want = &graph->wanted[waiter->first_wanted + wanted];
    if (next == FW_NONE)
        return false;
    if (is_held(waiter, want))
        return true;
    const struct network *network = graph->network;
    uint32_t depth = room_at_most(network, network_link(network, waiter->router, want->lane / network->num_vcs));
    return (uint64_t)want->space + depth < (uint64_t)waiter->room + graph->waiters[next].flits;
}

/* ---- who is stuck ---- */

/* Edges backwards: from who is waited for to those who wait. */
struct back_edges {
    uint32_t *first; /* owned, by waiter, and one more */
    uint32_t *from;  /* owned */
};

/* Fills `next` with those that a waiter depends on; returns how many, or FW_NONE where it may move by itself. */
static uint32_t list_next(const struct wait_graph *graph, const struct waiter *waiter, bool stands_still,
                          uint32_t next[static MAX_WANTED])
{
    uint32_t count = 0;
    bool is_open = waiter->wanted_count == 0 || waiter->wanted_count == MAX_WANTED;
    for (uint32_t i = 0; i < waiter->wanted_count; i++) {
        uint32_t other = wait_graph_next(graph, waiter, i);
        is_open |= !is_blocked(graph, waiter, i, other);
        if (other != FW_NONE)
            next[count++] = other;
    }
    return count == 0 || (is_open && !stands_still) ? FW_NONE : count;
}

static struct back_edges turn_round(struct wait_graph *graph, bool stands_still)
{
    struct back_edges back = {.first = memory_take(sizeof(uint32_t) * ((size_t)graph->count + 2)),
                              .from = memory_take(sizeof(uint32_t) * ((size_t)graph->wanted_count + 1))};
    uint32_t next[MAX_WANTED];
    for (uint32_t i = 0; i < graph->count; i++) {
        uint32_t count = list_next(graph, &graph->waiters[i], stands_still, next);
        graph->waiters[i].is_stuck = count != FW_NONE;
        for (uint32_t n = 0; count != FW_NONE && n < count; n++)
            back.first[next[n] + 2]++;
    }
    for (uint32_t i = 0; i < graph->count; i++)
        back.first[i + 2] += back.first[i + 1];
    for (uint32_t i = 0; i < graph->count; i++) {
        uint32_t count = list_next(graph, &graph->waiters[i], stands_still, next);
        for (uint32_t n = 0; count != FW_NONE && n < count; n++)
            back.from[back.first[next[n] + 1]++] = i;
    }
    return back;
}

/* Who waits for one that can move can move too. */
uint32_t wait_graph_reduce(struct wait_graph *graph, bool stands_still)
{
    struct back_edges back = turn_round(graph, stands_still);
    uint32_t *moving = memory_take(sizeof(uint32_t) * ((size_t)graph->count + 1)), count = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        if (!graph->waiters[i].is_stuck)
            moving[count++] = i;
    for (uint32_t at = 0; at < count; at++)
        for (uint32_t edge = back.first[moving[at]]; edge < back.first[moving[at] + 1]; edge++)
            if (graph->waiters[back.from[edge]].is_stuck) {
                graph->waiters[back.from[edge]].is_stuck = false;
                moving[count++] = back.from[edge];
            }
    free(moving);
    free(back.first);
    free(back.from);
    return graph->count - count;
}

/* Whoever is stuck waits for others who are; who is not is of no interest. */
static uint32_t next_stuck(const void *context, uint32_t at, uint32_t *wanted)
{
    const struct wait_graph *graph = context;
    const struct waiter *waiter = &graph->waiters[at];
    while (waiter->is_stuck && *wanted < waiter->wanted_count) {
        uint32_t next = wait_graph_next(graph, waiter, (*wanted)++);
        if (next != FW_NONE && graph->waiters[next].is_stuck)
            return next;
    }
    return FW_NONE;
}

/* Short ones are easier to see: the shortest round of those on the first cycle met. */
uint32_t *wait_graph_cycle(const struct wait_graph *graph, uint32_t *length)
{
    const struct digraph waits = {graph->count, graph, next_stuck};
    uint32_t start = digraph_find_on_cycle(&waits), at = start, wanted;
    *length = 0;
    if (start == FW_NONE)
        return NULL;
    uint32_t *best = memory_take(sizeof(uint32_t) * graph->count), *path = memory_take(sizeof(uint32_t) * graph->count);
    do {
        uint32_t found = digraph_shortest_round(&waits, at, path);
        if (*length == 0 || found < *length) {
            *length = found;
            memcpy(best, path, found * sizeof *path);
        }
        wanted = 0;
        at = next_stuck(graph, at, &wanted);
    } while (at != start);
    free(path);
    return best;
}
