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

static void add_lane(struct wait_graph *graph, const struct network *part, uint32_t router, uint32_t lane,
                     struct waiting *waiting)
{
    if (!network_waits_for(part, router, lane, waiting))
        return;
    const struct packet *packet = network_packet(part, waiting->packet);
    const struct waiter waiter = {
        .created = packet->created,
        .source = packet->source,
        .sequence = packet->sequence,
        .destination = packet->destination,
        .size = packet->size,
        .router = router,
        .lane = lane,
        .taken = waiting->taken,
        .turn = waiting->turn,
        .wanted_count = waiting->wanted_count,
        .for_credit = waiting->for_credit,
    };
    graph_add(graph, &waiter, waiting->wanted);
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
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct waiter *waiter = &graph->waiters[i];
        words_add(&mail.for_all, waiter, WAITER_WORDS);
        words_add(&mail.for_all, graph->wanted + waiter->first_wanted, waiter->wanted_count);
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

/* The part of this rank that runs a router; NULL: another rank does. */
static const struct network *part_of(const struct network *network, uint32_t router)
{
    uint32_t part = network->router_part ? network->router_part[router] - network->core->first_part : 0;
    return part < network->core->part_count ? network->core->parts[part] : NULL;
}

static void gather_own(struct wait_graph *graph, const struct network *network)
{
    uint32_t lanes = network->ports * network->num_vcs;
    struct waiting waiting = {0};
    *graph = (struct wait_graph){.network = network};
    for (uint32_t router = network->first_router; router < network->end_router; router++) {
        const struct network *part = part_of(network, router);
        for (uint32_t lane = 0; part && lane < lanes; lane++)
            add_lane(graph, part, router, lane, &waiting);
    }
    waiting_release(&waiting);
}

void wait_graph_init(struct wait_graph *graph, const struct network *network)
{
    gather_own(graph, network);
    if (network_ranks(network))
        gather_ranks(graph, network_ranks(network));
}

void wait_graph_init_doubtful(struct wait_graph *graph, const struct network *network)
{
    uint32_t kept = 0;
    gather_own(graph, network);
    graph->is_of_one_rank = true;
    wait_graph_reduce(graph, false);
    graph->is_of_one_rank = false;
    for (uint32_t i = 0; i < graph->count; i++)
        if (graph->waiters[i].is_stuck)
            graph->waiters[kept++] = graph->waiters[i];
    graph->count = kept;
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

static struct link link_behind(const struct wait_graph *graph, uint32_t router, uint32_t lane)
{
    return network_find_link(graph->network, router, lane / graph->network->num_vcs);
}

/* Lanes of the port at a channel's far end. */
static uint32_t far_lane(const struct network *network, const struct link *link, uint32_t lane, uint32_t more)
{
    return link->first_lane + (lane + more) % network->num_vcs;
}

static uint32_t taken_in(const struct wait_graph *graph, uint32_t waiter)
{
    return waiter == FW_NONE ? 0 : graph->waiters[waiter].taken;
}

/* Whether others at the port behind have a say: not where the lane itself must be empty, whatever room there is. */
static bool shares_room(const struct network *network, const struct wanted *want)
{
    return network->plan.room_exclusive && want->need != UINT32_MAX;
}

/*
 * Does what is needed fit behind a channel, now or when what is under way is there? What nobody waits in is empty, and an
 * empty buffer takes whatever comes.
 */
static bool fits_behind(const struct wait_graph *graph, const struct link *link, const struct wanted *want)
{
    const struct network *network = graph->network;
    if (link->to_terminal || !want->need)
        return true;
    uint32_t taken = taken_in(graph, find_waiter(graph, link->target, far_lane(network, link, want->lane, 0)));
    if (!shares_room(network, want))
        return !taken || (uint64_t)want->need + taken <= link->depth;
    struct shared_room_rule rule = room_behind(network, link);
    uint32_t own = taken < rule.exclusive ? rule.exclusive - taken : 0, borrowed = 0, all = taken;
    for (uint32_t i = 0; i < rule.vcs; i++) {
        uint32_t each = taken_in(graph, find_waiter(graph, link->target, link->first_lane + i));
        borrowed += shared_room_borrowed(&rule, each);
        all += each;
    }
    uint32_t pool = shared_room_pool(&rule), left = own + (borrowed < pool ? pool - borrowed : 0);
    return !all || (want->need <= left && (uint64_t)want->need + taken <= rule.maximum);
}

/* Who at a channel's far end would have to move: one that is stuck, or not, if there is such a one. FW_NONE: nobody. */
static uint32_t next_behind(const struct wait_graph *graph, const struct link *link, const struct wanted *want,
                            bool is_stuck)
{
    const struct network *network = graph->network;
    uint32_t lanes = link->to_terminal ? 0 : shares_room(network, want) ? network->num_vcs : 1, found = FW_NONE;
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t next = find_waiter(graph, link->target, far_lane(network, link, want->lane, i));
        if (next != FW_NONE && graph->waiters[next].is_stuck == is_stuck)
            return next;
        found = found == FW_NONE ? next : found;
    }
    return found;
}

/* One that is stuck, wanted the same output lane before, and must not be overtaken. */
static uint32_t next_before(const struct wait_graph *graph, const struct waiter *waiter, uint16_t lane)
{
    uint32_t at = (uint32_t)(waiter - graph->waiters);
    while (at && graph->waiters[at - 1].router == waiter->router)
        at--;
    for (; waiter->turn > 1 && at < graph->count && graph->waiters[at].router == waiter->router; at++) {
        const struct waiter *other = &graph->waiters[at];
        bool is_before = other->is_stuck && other->turn && other->turn < waiter->turn;
        for (uint32_t i = 0; is_before && i < other->wanted_count; i++)
            if (graph->wanted[other->first_wanted + i].lane == lane)
                return at;
    }
    return FW_NONE;
}

uint32_t wait_graph_next(const struct wait_graph *graph, const struct waiter *waiter, uint32_t wanted)
{
    const struct wanted *want = &graph->wanted[waiter->first_wanted + wanted];
    if (is_held(waiter, want))
        return find_waiter(graph, waiter->router, want->holder);
    const struct link link = link_behind(graph, waiter->router, want->lane);
    uint32_t before = fits_behind(graph, &link, want) ? next_before(graph, waiter, want->lane) : FW_NONE;
    return before != FW_NONE ? before : next_behind(graph, &link, want, true);
}

/* ---- who is stuck ---- */

struct reduction {
    struct wait_graph *graph;
    bool stands_still;
    uint32_t *order; /* waiters by router and turn */
    uint32_t *first; /* by router, and one more: its place there */
    bool *claimed;   /* by output lane of the router in hand: one that is stuck and came before wants it */
    uint32_t routers;
    uint32_t *queue; /* a ring of routers to look at again; each is in it once */
    bool *is_queued;
    uint32_t head, count;
};

/* Can a waiter have one of the lanes that it wants? */
static bool is_open(const struct reduction *reduction, const struct waiter *waiter, const struct wanted *want)
{
    const struct wait_graph *graph = reduction->graph;
    if (is_held(waiter, want)) {
        uint32_t holder = find_waiter(graph, waiter->router, want->holder);
        return holder == FW_NONE || !graph->waiters[holder].is_stuck;
    }
    if (waiter->turn && reduction->claimed[want->lane])
        return false;
    const struct link link = link_behind(graph, waiter->router, want->lane);
    if (graph->is_of_one_rank && want->need && !link.to_terminal && !part_of(graph->network, link.target))
        return false; /* as far as this rank knows */
    if (fits_behind(graph, &link, want))
        return true;
    uint32_t next = next_behind(graph, &link, want, false);
    return next == FW_NONE || !graph->waiters[next].is_stuck;
}

/* Where all are known to stand still, only those that others wait for can be said to move: who waits for nobody. */
static bool can_move(const struct reduction *reduction, const struct waiter *waiter)
{
    const struct wait_graph *graph = reduction->graph;
    bool leads_nowhere = true;
    for (uint32_t i = 0; i < waiter->wanted_count; i++) {
        uint32_t next = reduction->stands_still ? wait_graph_next(graph, waiter, i) : FW_NONE;
        if (reduction->stands_still ? next != FW_NONE && !graph->waiters[next].is_stuck
                                    : is_open(reduction, waiter, &graph->wanted[waiter->first_wanted + i]))
            return true;
        leads_nowhere &= reduction->stands_still && next == FW_NONE;
    }
    return waiter->wanted_count == 0 || leads_nowhere;
}

static void look_again(struct reduction *reduction, uint32_t router)
{
    if (router >= reduction->routers || reduction->is_queued[router])
        return;
    reduction->is_queued[router] = true;
    reduction->queue[(reduction->head + reduction->count++) % reduction->routers] = router;
}

static void claim(const struct reduction *reduction, const struct waiter *waiter)
{
    const struct wanted *wanted = reduction->graph->wanted + waiter->first_wanted;
    for (uint32_t i = 0; waiter->turn && i < waiter->wanted_count; i++)
        reduction->claimed[wanted[i].lane] = true;
}

/* Who can move is not stuck, and those before and beside it are looked at again. */
static uint32_t reduce_router(struct reduction *reduction, uint32_t router)
{
    const struct network *network = reduction->graph->network;
    uint32_t moving = 0;
    memset(reduction->claimed, false, sizeof(bool) * network->ports * network->num_vcs);
    for (uint32_t at = reduction->first[router]; at < reduction->first[router + 1]; at++) {
        struct waiter *waiter = &reduction->graph->waiters[reduction->order[at]];
        if (!waiter->is_stuck)
            continue;
        if (!can_move(reduction, waiter)) {
            claim(reduction, waiter);
            continue;
        }
        const struct link link = link_behind(reduction->graph, router, waiter->lane);
        waiter->is_stuck = false;
        moving++;
        look_again(reduction, router);
        if (!link.to_terminal)
            look_again(reduction, link.target);
    }
    return moving;
}

static int compare_turns(const void *a, const void *b, void *context)
{
    const struct wait_graph *graph = context;
    const struct waiter *x = &graph->waiters[*(const uint32_t *)a], *y = &graph->waiters[*(const uint32_t *)b];
    if (x->router != y->router)
        return x->router < y->router ? -1 : 1;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

static void reduction_init(struct reduction *reduction, struct wait_graph *graph, bool stands_still)
{
    uint32_t routers = graph->waiters[graph->count - 1].router + 1;
    *reduction = (struct reduction){
        .graph = graph,
        .stands_still = stands_still,
        .order = memory_take(sizeof(uint32_t) * graph->count),
        .claimed = memory_take(sizeof(bool) * graph->network->ports * graph->network->num_vcs),
        .first = memory_take(sizeof(uint32_t) * (routers + 1)),
        .routers = routers,
        .queue = memory_take(sizeof(uint32_t) * routers),
        .is_queued = memory_take(sizeof(bool) * routers),
    };
    for (uint32_t i = 0; i < graph->count; i++) {
        graph->waiters[i].is_stuck = true;
        reduction->order[i] = i;
        reduction->first[graph->waiters[i].router + 1] = i + 1;
    }
    for (uint32_t router = 0; router < routers; router++) {
        uint32_t *end = &reduction->first[router + 1];
        *end = *end ? *end : reduction->first[router];
        look_again(reduction, router);
    }
    qsort_r(reduction->order, graph->count, sizeof *reduction->order, compare_turns, graph);
}

/* Who waits for one that can move can move too. */
uint32_t wait_graph_reduce(struct wait_graph *graph, bool stands_still)
{
    struct reduction reduction;
    uint32_t stuck = graph->count;
    if (!stuck)
        return 0;
    reduction_init(&reduction, graph, stands_still);
    while (reduction.count) {
        uint32_t router = reduction.queue[reduction.head];
        reduction.head = (reduction.head + 1) % reduction.routers;
        reduction.count--;
        reduction.is_queued[router] = false;
        stuck -= reduce_router(&reduction, router);
    }
    free(reduction.order);
    free(reduction.claimed);
    free(reduction.first);
    free(reduction.queue);
    free(reduction.is_queued);
    return stuck;
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
