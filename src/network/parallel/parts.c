/* SPDX-License-Identifier: Apache-2.0 */
/* A network in parts, see parts.h. */
#include "network/parallel/parts.h"

#include "base/pool.h"
#include "engine/crew.h"
#include "network/deadlock/deadlock.h"
#include "network/parallel/exchange.h"

#include <stdlib.h>
#include <string.h>

/*
 * Sharing out routers, see parts.h. Work is taken to be a router's channels.
 *
 *   blocks  routers in the order of their numbers, which is how topologies keep neighbours together. A cut may move by a
 *           sixteenth of a part to where only long channels cross it: windows between parts are as long as the shortest.
 *   metis   by the graph partitioner of Karypis and Kumar, for graphs whose numbers say nothing.
 */

const char *const partition_names[] = {"blocks", "metis", NULL};

enum { SLACK = 16 };

static uint64_t *weigh(const struct network *network, struct arena *scratch, uint64_t *total)
{
    const struct network_core *core = network->core;
    uint64_t *weight = arena_array(scratch, uint64_t, network->topology.routers);
    size_t places = (size_t)network->plane_count * network->topology.terminals;
    *total = 0;
    for (size_t place = 0; place < places; place++) {
        uint32_t in = core->terminal_router[place], out = core->ejection_router[place];
        weight[in] += network->terminal_ports;
        weight[out] += in == out ? 0 : network->terminal_ports;
    }
    for (struct router_channel channel = {0}; network_next_channel(network, &channel);)
        weight[channel.from.router]++;
    for (uint32_t router = 0; router < network->topology.routers; router++)
        *total += ++weight[router];
    return weight;
}

struct span {
    uint32_t latency, first, last; /* cuts that a channel crosses */
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->latency > y->latency) - (x->latency < y->latency);
}

/* By cut, in front of each router: the latency of the shortest channel across it. Short ones paint first. */
static uint32_t *shortest_across(const struct network *network, struct arena *scratch)
{
    uint32_t routers = network->topology.routers, count = 0;
    struct span *spans = arena_array(scratch, struct span, (size_t)routers * network->topology.ports);
    for (struct router_channel channel = {0}; network_next_channel(network, &channel);)
        if (channel.to.router > channel.from.router)
            spans[count++] = (struct span){channel.latency, channel.from.router + 1, channel.to.router};
    qsort(spans, count, sizeof *spans, compare_spans);
    uint32_t *across = arena_array(scratch, uint32_t, routers + 1);
    uint32_t *next = arena_array(scratch, uint32_t, routers + 2); /* the next cut that is not painted */
    for (uint32_t cut = 0; cut <= routers + 1; cut++)
        next[cut] = cut;
    for (uint32_t cut = 0; cut <= routers; cut++)
        across[cut] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t cut = spans[i].first; cut <= spans[i].last; cut++) {
            uint32_t open = cut;
            while (next[open] != open)
                open = next[open] = next[next[open]];
            cut = open;
            if (cut > spans[i].last)
                break;
            across[cut] = spans[i].latency;
            next[cut] = cut + 1;
        }
    return across;
}

static bool share_blocks(const struct network *network, uint32_t parts, uint16_t *owner)
{
    struct arena scratch = {0};
    uint64_t total, before = 0;
    const uint64_t *weight = weigh(network, &scratch, &total);
    const uint32_t *across = shortest_across(network, &scratch);
    uint64_t slack = total / parts / SLACK;
    uint32_t router = 0, routers = network->topology.routers;
    for (uint32_t part = 0; part < parts; part++) {
        uint64_t ideal = (part + 1) * total / parts;
        uint32_t best = FW_NONE, at = router;
        uint64_t best_off = 0, sum = before;
        for (; at < routers && sum <= ideal + slack; at++) { /* a cut in front of `at` gives the part all up to there */
            uint64_t off = sum > ideal ? sum - ideal : ideal - sum;
            bool is_better = best == FW_NONE || (off <= slack && best_off <= slack && across[at] != across[best]
                                                     ? across[at] > across[best]
                                                     : off < best_off);
            if (at > router && is_better) {
                best = at;
                best_off = off;
            }
            sum += weight[at];
        }
        uint32_t end = part + 1 == parts ? routers : best != FW_NONE ? best : router + 1;
        uint32_t most = routers - (parts - part - 1); /* all parts after this one have a router at least */
        end = end < most ? end : most;
        for (; router < end; router++) {
            owner[router] = (uint16_t)part;
            before += weight[router];
        }
    }
    arena_release(&scratch);
    return true;
}

#ifdef FLITWARP_HAVE_METIS
#include <metis.h>

/* Channels weigh more the shorter they are: a cut is to go through long ones. */
static idx_t weight_of(uint32_t latency) { return 1 + 1000 / (idx_t)(latency < 1000 ? latency : 1000); }

static bool share_by_metis(const struct network *network, uint32_t parts, uint16_t *owner, struct errors *errors)
{
    struct arena scratch = {0};
    uint64_t total;
    const uint64_t *weight = weigh(network, &scratch, &total);
    uint32_t routers = network->topology.routers;
    size_t count = 0, most = (size_t)routers * network->topology.ports;
    idx_t *starts = arena_array(&scratch, idx_t, routers + 1), *part = arena_array(&scratch, idx_t, routers);
    idx_t *peers = arena_array(&scratch, idx_t, most), *edges = arena_array(&scratch, idx_t, most);
    idx_t *work = arena_array(&scratch, idx_t, routers);
    for (struct router_channel channel = {0}; network_next_channel(network, &channel);)
        if (channel.to.router != channel.from.router) {
            peers[count] = (idx_t)channel.to.router;
            edges[count] = weight_of(channel.latency);
            starts[channel.from.router + 1] = (idx_t)++count;
        }
    for (uint32_t router = 0; router < routers; router++) {
        work[router] = (idx_t)weight[router];
        if (starts[router + 1] < starts[router]) /* it has no channels */
            starts[router + 1] = starts[router];
    }
    idx_t options[METIS_NOPTIONS], vertices = (idx_t)routers, constraints = 1, wanted = (idx_t)parts, cut = 0;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    int status = METIS_PartGraphKway(&vertices, &constraints, starts, peers, work, NULL, edges, &wanted, NULL, NULL,
                                     options, &cut, part);
    for (uint32_t router = 0; router < routers; router++)
        owner[router] = (uint16_t)part[router];
    arena_release(&scratch);
    if (status != METIS_OK)
        errors_add(errors, "simulator.partition: METIS finds no %u parts of this network; accepted: \"blocks\"", parts);
    return status == METIS_OK;
}
#else
static bool share_by_metis(const struct network *network, uint32_t parts, uint16_t *owner, struct errors *errors)
{
    (void)network, (void)parts, (void)owner;
    errors_add(errors,
               "simulator.partition: this program was built without METIS (libmetis-dev); accepted: \"blocks\"");
    return false;
}
#endif

/* ---- the parts ---- */

struct network_totals network_count(const struct network *network)
{
    struct network_totals totals = {0};
    for (uint32_t i = 0; i < network->core->part_count; i++) {
        const struct network *part = network->core->parts[i];
        totals.now = part->engine->now > totals.now ? part->engine->now : totals.now;
        totals.events += part->engine->events;
        totals.flit_hops += network_flit_hops(part);
        totals.in_flight += part->in_network;
    }
    if (network->core->runner)
        network->core->runner->count(network->core->runner, &totals);
    return totals;
}

bool network_is_about_to_move(const struct network *network)
{
    if (network->core->runner)
        return network->core->runner->is_about_to_move(network->core->runner);
    for (uint32_t kind = EVENT_FLIT; kind <= EVENT_OUTPUT_STEP; kind++)
        for (uint32_t i = 0; i < network->core->part_count; i++)
            if (kind != EVENT_WAKE && kind != EVENT_MESSAGE && engine_pending(network->core->parts[i]->engine, kind))
                return true;
    return false;
}

struct ranks *network_ranks(const struct network *network)
{
    return network->core->exchange ? network->core->exchange->schedule->ranks : NULL;
}

uint32_t network_rank_of(const struct network *network, uint32_t part)
{
    const struct schedule *schedule = network->core->exchange->schedule;
    return (uint32_t)((((uint64_t)part + 1) * schedule->ranks->count - 1) / schedule->all_parts);
}

struct network_sync network_sync_facts(const struct network *network)
{
    const struct ranks *ranks = network_ranks(network);
    struct network_sync sync = {.threads = network->core->part_count,
                                .ranks = ranks ? ranks->count : 1,
                                .parts = network->core->part_count,
                                .window = FW_NEVER};
    for (uint32_t i = 0; network->core->exchange && i < network->core->part_count; i++) {
        sync.sent += network->core->parts[i]->core->exchange->sent;
        sync.waited += 1e-9 * (double)network->core->parts[i]->core->exchange->waited;
        sync.rolled_back += network->core->parts[i]->core->exchange->rolled_back;
    }
    if (network->core->exchange) {
        sync.parts = network->core->exchange->schedule->all_parts;
        sync.window = network->core->exchange->schedule->window;
        sync.windows = network->core->exchange->schedule->windows;
        sync.rollbacks = network->core->exchange->schedule->rollbacks;
    }
    return sync;
}

/* Which parts there are, and which are on this rank: one at least, though there may be no router for it. */
static bool network_count_parts(struct network *network, uint32_t threads, const struct ranks *ranks,
                                struct errors *errors)
{
    uint64_t routers = network->topology.routers, count = ranks ? ranks->count : 1, all = threads * count;
    all = all < routers ? all : routers > count ? routers : count;
    if (all > UINT16_MAX) {
        network->core->part_count = 1;
        errors_add(errors, "simulator.threads: %u on each of %u ranks are too many; accepted: %u in all", threads,
                   (uint32_t)count, UINT16_MAX);
        return false;
    }
    uint32_t rank = ranks ? ranks->number : 0;
    network->core->all_parts = (uint32_t)all;
    network->core->first_part = network->part = first_part(rank, network->core->all_parts, (uint32_t)count);
    network->core->part_count = first_part(rank + 1, network->core->all_parts, (uint32_t)count) - network->part;
    return true;
}

/* From the first to the last of those whose owner is a part of this rank. */
static void find_range(const struct network *network, const uint16_t *owner, uint32_t *first, uint32_t *end)
{
    uint32_t count = *end;
    *first = *end = 0;
    for (uint32_t i = 0; i < count; i++)
        if (owner[i] - network->core->first_part < network->core->part_count) {
            *first = *end ? *first : i;
            *end = i + 1;
        }
}

bool network_share_out(struct network *network, const struct network_split *split, struct errors *errors)
{
    const struct topology *topology = &network->topology;
    bool is_possible = network_count_parts(network, split->parts, split->ranks, errors);
    network->core->parts = arena_array(network->arena, struct network *, network->core->part_count);
    network->core->parts[0] = network;
    network->end_router = topology->routers;
    network->end_terminal = topology->terminals;
    if (!is_possible || network->core->all_parts == 1)
        return is_possible;
    if (network->plan.one_part_key)
        return choice_error(errors, &network->core->config->router, network->plan.one_part_key,
                            "this setting steps the whole network at once, which threads cannot; accepted: 1 thread");
    bool router_can = !network->core->router_ops->is_in_one_part;
    if (!router_can || network->core->interface_ops->is_in_one_part)
        return choice_error(errors, router_can ? &network->core->config->interface : &network->core->config->router,
                            NULL, "cannot be run in parts; accepted: 1 thread");
    uint32_t with_routers = network->core->all_parts < topology->routers ? network->core->all_parts : topology->routers;
    uint16_t *owner = arena_array(network->arena, uint16_t, topology->routers);
    uint16_t *terminal_owner = arena_array(network->arena, uint16_t, topology->terminals);
    if (!(split->method == PARTITION_METIS && with_routers > 1 ? share_by_metis(network, with_routers, owner, errors)
                                                               : share_blocks(network, with_routers, owner)))
        return false;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) { /* each plane's parts have their share */
        size_t plane = terminal % network->plane_count;
        terminal_owner[terminal] = owner[network->core->terminal_router[plane * topology->terminals + terminal]];
    }
    network->router_part = network->flit_router_part = owner;
    network->terminal_part = network->flit_terminal_part = terminal_owner;
    /* A terminal of several planes is beside routers of any part, and what METIS finds lies all over the network. */
    if (network->plane_count == 1 && split->method == PARTITION_BLOCKS && !network->plan.looks_ahead) {
        find_range(network, owner, &network->first_router, &network->end_router);
        find_range(network, terminal_owner, &network->first_terminal, &network->end_terminal);
    }
    return true;
}

bool network_routes_in_parts(const struct network *network, struct errors *errors)
{
    const char *key = network->core->all_parts > 1 ? network->routing.looks_afar_key : NULL;
    return !key ||
           choice_error(
               errors, &network->core->config->routing, key,
               "this setting reads other routers at no delay, which threads cannot; accepted: '%s', or 1 thread",
               strcmp(key, "decides") == 0 ? "router" : "local");
}

/* The shortest time from a step in one part to its effect in another. */
static tick_t find_window(const struct network *network)
{
    const uint16_t *owner = network->router_part, *terminal_owner = network->terminal_part;
    tick_t shortest = FW_NEVER;
    for (struct router_channel channel = {0}; owner && network_next_channel(network, &channel);) {
        tick_t delay = channel.latency + network->plan.lead;
        if (owner[channel.from.router] != owner[channel.to.router] && delay < shortest)
            shortest = delay;
    }
    for (uint32_t plane = 0; owner && plane < network->plane_count; plane++)
        for (uint32_t terminal = 0; terminal < network->topology.terminals; terminal++) {
            size_t place = (size_t)plane * network->topology.terminals + terminal;
            tick_t delay = terminal_latency(&network->core->latencies, planes_seat(network, plane, terminal));
            uint32_t part = terminal_owner[terminal];
            bool crosses = owner[network->core->terminal_router[place]] != part ||
                           owner[network->core->ejection_router[place]] != part;
            if (crosses && delay < shortest)
                shortest = delay;
        }
    return shortest;
}

/* The same routers as another part of the network steps them. */
static void *share_routers(const struct network *network, struct network *part)
{
    const struct router_ops *ops = network->core->router_ops;
    struct routers *routers = arena_take(part->arena, ops->size);
    memcpy(routers, network->core->routers, ops->size);
    routers->network = part;
    routers->engine = part->engine;
    routers->question.routing = &part->routing;
    routers->flit_hops = 0;
    if (ops->share)
        ops->share(routers);
    return routers;
}

static void *share_interfaces(const struct network *network, struct network *part)
{
    size_t size = network->core->interface_ops->size;
    struct interfaces_head *interfaces = arena_take(part->arena, size);
    memcpy(interfaces, network->core->interfaces, size);
    *interfaces = (struct interfaces_head){part, part->engine};
    return interfaces;
}

static struct exchange *make_part(struct network *network, uint32_t number, struct schedule *schedule)
{
    struct arena *arena = network->arena;
    struct network *part = network;
    if (number) {
        part = arena_take(arena, sizeof *part);
        *part = *network;
        part->core = arena_take(arena, sizeof *part->core);
        *part->core = *network->core;
        part->engine = arena_take(arena, sizeof *part->engine);
        engine_init(part->engine, arena->rewind);
        pool_init(&part->packets, sizeof(struct packet), arena->rewind);
        part->part = network->core->first_part + number;
        part->core->routers = share_routers(network, part);
        part->core->interfaces = share_interfaces(network, part);
    }
    part->core->exchange = arena_array(&schedule->own, struct exchange, 1);
    *part->core->exchange = (struct exchange){.schedule = schedule, .soonest = FW_NEVER};
    for (uint32_t parity = 0; parity < 2; parity++)
        part->core->exchange->boxes[parity] = arena_array(&schedule->own, struct words, schedule->all_parts);
    schedule->parts[number] = part;
    return part->core->exchange;
}

void network_make_parts(struct network *network, const struct network_split *split)
{
    if (network->core->all_parts == 1 && !split->checks_reversal)
        return;
    struct arena *arena = network->arena, own = {0};
    size_t lanes = (size_t)network->topology.routers * network->ports * network->num_vcs;
    size_t terminal_lanes = (size_t)network->topology.terminals * (recovery_lane(network) + 1);
    struct schedule *schedule = arena_array(&own, struct schedule, 1);
    *schedule = (struct schedule){
        .parts = network->core->parts,
        .count = network->core->part_count,
        .next = FW_NEVER,
        .own = own,
        .ranks = split->ranks,
        .all_parts = network->core->all_parts,
        .elsewhere = FW_NEVER,
        /* How windows are found; see time_windows.c for what running ahead needs. */
        .window = find_window(network),
        .rewind = arena->rewind,
        .is_fixed = split->window,
        .checks_reversal = split->checks_reversal,
        .until_trial = 16, /* grid intervals: short runs try nothing */
    };
    if (!schedule->rewind && split->window && split->window < schedule->window)
        schedule->window = split->window;
    if (split->ranks) {
        mail_init(&schedule->mail, split->ranks, 1);
        schedule->inbox = arena_array(&schedule->own, struct inbox, (size_t)split->ranks->count * schedule->count);
    }
    uint32_t *arriving = arena_array(arena, uint32_t, lanes);
    uint32_t *terminal_arriving = arena_array(arena, uint32_t, terminal_lanes);
    for (uint32_t i = 0; i < network->core->part_count; i++) {
        struct exchange *exchange = make_part(network, i, schedule);
        exchange->arriving = arriving;
        exchange->terminal_arriving = terminal_arriving;
        exchange->length = split->window                     ? split->window
                           : schedule->window < FW_NEVER / 4 ? 4 * schedule->window
                                                             : FW_NEVER;
    }
}

void network_rest(struct network *network)
{
    struct schedule *schedule = network->core->exchange ? network->core->exchange->schedule : NULL;
    if (!schedule || !schedule->crew)
        return;
    crew_end(schedule->crew);
    schedule->crew = NULL;
}

void network_release_parts(struct network *network)
{
    network_rest(network);
    if (network_ranks(network))
        mail_release(&network->core->exchange->schedule->mail);
    if (network->core->exchange)
        words_release(&network->core->exchange->schedule->lengths);
    for (uint32_t i = 0; i < network->core->part_count && network->core->parts[i];
         i++) { /* not all of a network that is refused */
        struct network *part = network->core->parts[i];
        for (uint32_t box = 0; part->core->exchange && box < 2 * network->core->all_parts; box++)
            free(part->core->exchange->boxes[box % 2][box / 2].words);
        pool_release(&part->packets);
        if (i)
            engine_release(part->engine);
    }
    if (network->core->exchange) {
        struct arena own = network->core->exchange->schedule->own;
        arena_release(&own);
    }
}
