/* SPDX-License-Identifier: Apache-2.0 */
/* A network in parts, see parts.h. */
#include "network/parallel/parts.h"

#include "engine/crew.h"
#include "network/parallel/exchange.h"
#include "network/network.h"
#include "network/deadlock/deadlock.h"

#include <stdlib.h>
#include <string.h>

/* A flit, a credit or credits under way. What is said below follows: a head's packet last, and what belongs to that if it
   has a message. */
struct parcel {
    tick_t when;
    uint32_t target;
    uint16_t lane;
    uint8_t kind;
    uint8_t words; /* of 8 bytes: the parcel with all that follows */
};
enum {
    CREDIT_WORDS = sizeof(struct parcel) / 8,
    CREDITS_WORDS = CREDIT_WORDS + 1, /* with their number */
    FLIT_WORDS = CREDIT_WORDS + 1,    /* with its place in the packet */
    HEAD_WORDS = FLIT_WORDS + sizeof(struct packet) / 8,
    MESSAGE_WORDS = HEAD_WORDS + BELONGINGS / 8,
};
_Static_assert(BELONGINGS % 8 == 0, "parcels are made of words");

/* The packet that the flits on a lane belong to. */
static uint32_t *arriving_at(const struct network *network, uint32_t kind, struct lane_place to)
{
    const struct exchange *exchange = network->core->exchange;
    if (kind == EVENT_TERMINAL_FLIT)
        return &exchange->terminal_arriving[(size_t)to.target * (recovery_lane(network) + 1) + to.lane];
    return &exchange->arriving[(size_t)to.target * network->ports * network->num_vcs + to.lane];
}

/* A parcel of so many words; the first two are filled. */
static inline uint64_t *box_take(struct network *network, uint32_t receiver, uint32_t kind, struct lane_place to,
                                 tick_t when, uint32_t words)
{
    struct exchange *exchange = network->core->exchange;
    struct box *box = &exchange->boxes[exchange->parity][receiver];
    if (__builtin_expect(box->used + words > box->room, 0)) {
        box->room = 2 * (box->room + words);
        box->words = memory_resize(box->words, box->room * sizeof *box->words);
    }
    uint64_t *place = box->words + box->used;
    box->used += words;
    *(struct parcel *)place = (struct parcel){
        .when = when, .target = to.target, .lane = (uint16_t)to.lane, .kind = (uint8_t)kind, .words = (uint8_t)words};
    exchange->sent++;
    exchange->soonest = when < exchange->soonest ? when : exchange->soonest;
    return place;
}

static bool is_flit(uint32_t kind) { return kind == EVENT_FLIT || kind == EVENT_TERMINAL_FLIT; }

void network_export_credit(struct network *network, uint32_t kind, struct lane_place to, tick_t arrival)
{
    uint32_t receiver = (kind == EVENT_CREDIT ? network->router_part : network->terminal_part)[to.target];
    box_take(network, receiver, kind, to, arrival, CREDIT_WORDS);
}

void network_export_credits(struct network *network, uint32_t kind, struct lane_place to, uint32_t flits,
                            tick_t arrival)
{
    uint32_t receiver = (kind == EVENT_CREDIT ? network->router_part : network->terminal_part)[to.target];
    box_take(network, receiver, kind, to, arrival, CREDITS_WORDS)[CREDIT_WORDS] = flits;
}

void network_export_flit(struct network *network, uint32_t kind, struct lane_place to, struct flit flit, tick_t arrival)
{
    uint32_t receiver = (kind == EVENT_FLIT ? network->router_part : network->terminal_part)[to.target];
    const struct packet *packet = network_packet(network, flit.packet);
    uint32_t words = !(flit.place & FLIT_HEAD) ? FLIT_WORDS : packet->message == NONE ? HEAD_WORDS : MESSAGE_WORDS;
    uint64_t *place = box_take(network, receiver, kind, to, arrival, words);
    place[CREDIT_WORDS] = flit.place;
    if (flit.place & FLIT_HEAD)
        memcpy(place + FLIT_WORDS, packet, sizeof *packet);
    if (words == MESSAGE_WORDS)
        network->core->client.pack(network->listener.context, packet, place + HEAD_WORDS);
    if (flit.place & FLIT_TAIL)
        pool_give(&network->packets, flit.packet, sizeof(struct packet));
}

/* A packet's head has come with a copy of it. */
static uint32_t import_packet(struct network *network, const uint64_t *words)
{
    uint32_t handle = pool_take(&network->packets, sizeof(struct packet));
    struct packet *packet = network_packet(network, handle);
    memcpy(packet, words, sizeof *packet);
    if (packet->message != NONE)
        network->core->client.unpack(network->listener.context, packet, words + sizeof *packet / 8);
    return handle;
}

static void import_parcel(struct network *network, const uint64_t *words)
{
    const struct parcel *parcel = (const struct parcel *)words;
    struct lane_place to = {.target = parcel->target, .lane = parcel->lane};
    if (!is_flit(parcel->kind)) {
        if (parcel->words == CREDITS_WORDS) {
            struct credits_event *event = engine_post(network->engine, parcel->kind, parcel->when, sizeof *event);
            *event = (struct credits_event){.to = to, .flits = (uint32_t)words[CREDIT_WORDS]};
        } else {
            struct credit_event *event = engine_post(network->engine, parcel->kind, parcel->when, sizeof *event);
            *event = (struct credit_event){.to = to};
        }
        return;
    }
    uint32_t *packet = arriving_at(network, parcel->kind, to), flit = (uint32_t)words[CREDIT_WORDS];
    if (flit & FLIT_HEAD)
        *packet = import_packet(network, words + FLIT_WORDS);
    struct flit_event *event = engine_post(network->engine, parcel->kind, parcel->when, sizeof *event);
    *event = (struct flit_event){.to = to, .flit = {.packet = *packet, .place = flit}};
}

static void import_parcels(struct network *network, const uint64_t *words, size_t used)
{
    for (size_t at = 0; at < used; at += ((const struct parcel *)(words + at))->words)
        import_parcel(network, words + at);
}

void network_import(struct network *network, uint32_t parity)
{
    const struct schedule *schedule = network->core->exchange->schedule;
    for (uint32_t sender = 0; sender < network->core->part_count; sender++) {
        struct box *box = &network->core->parts[sender]->core->exchange->boxes[parity][network->part];
        import_parcels(network, box->words, box->used);
        box->used = 0;
    }
    for (uint32_t rank = 0; schedule->ranks && rank < schedule->ranks->count; rank++) {
        const struct inbox *inbox =
            &schedule->inbox[rank * schedule->count + network->part - network->core->first_part];
        import_parcels(network, inbox->words, inbox->used);
    }
}

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
    return totals;
}

bool network_is_about_to_move(const struct network *network)
{
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
                                .window = NEVER};
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
static bool count_parts(struct network *network, uint32_t threads, const struct ranks *ranks, struct errors *errors)
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

bool network_share_out(struct network *network, const struct network_split *split, struct errors *errors)
{
    const struct topology *topology = &network->topology;
    bool is_possible = count_parts(network, split->parts, split->ranks, errors);
    network->core->parts = arena_array(network->arena, struct network *, network->core->part_count);
    network->core->parts[0] = network;
    if (!is_possible || network->core->all_parts == 1)
        return is_possible;
    if (network->routing.looks_afar) {
        choice_error(errors, &network->core->config->routing, "knowledge",
                     "'global' reads other routers at no delay, which threads cannot; accepted: 'local', or 1 thread");
        return false;
    }
    if (!network->core->router_ops->share || !network->core->interface_ops->share) {
        const struct choice *what =
            network->core->router_ops->share ? &network->core->config->interface : &network->core->config->router;
        choice_error(errors, what, NULL, "cannot be run in parts; accepted: 1 thread");
        return false;
    }
    uint32_t with_routers = network->core->all_parts < topology->routers ? network->core->all_parts : topology->routers;
    uint16_t *owner = arena_array(network->arena, uint16_t, topology->routers);
    uint16_t *terminal_owner = arena_array(network->arena, uint16_t, topology->terminals);
    if (!partition_routers(network, with_routers, split->method, owner, errors))
        return false;
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) { /* each plane's parts have their share */
        size_t plane = terminal % network->plane_count;
        terminal_owner[terminal] = owner[network->core->terminal_router[plane * topology->terminals + terminal]];
    }
    network->router_part = owner;
    network->terminal_part = terminal_owner;
    return true;
}

/* The shortest time from a step in one part to its effect in another. */
static tick_t find_window(const struct network *network)
{
    tick_t shortest = NEVER;
    for (uint32_t router = 0; router < network->topology.routers; router++)
        for (uint32_t port = 0; port < network->ports; port++) {
            const struct link *link = network_link(network, router, port);
            tick_t delay = link->latency + (link->to_terminal ? 0 : network->plan.lead);
            if (network_crosses(network, router, link) && delay < shortest)
                shortest = delay;
        }
    return shortest;
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
        part->core->routers = network->core->router_ops->share(network->core->routers, part);
        part->core->interfaces = network->core->interface_ops->share(network->core->interfaces, part);
    }
    part->core->exchange = arena_array(&schedule->own, struct exchange, 1);
    *part->core->exchange = (struct exchange){.schedule = schedule, .soonest = NEVER};
    for (uint32_t parity = 0; parity < 2; parity++)
        part->core->exchange->boxes[parity] = arena_array(&schedule->own, struct box, schedule->all_parts);
    schedule->parts[number] = part;
    return part->core->exchange;
}

/* How windows are found; see windows.c for what running ahead needs. */
static void plan_windows(struct schedule *schedule, const struct network *network, const struct network_split *split)
{
    schedule->window = find_window(network);
    schedule->rewind = network->arena->rewind;
    schedule->is_fixed = split->window;
    schedule->checks_reversal = split->checks_reversal;
    schedule->until_trial = 16; /* grid intervals: short runs try nothing */
    if (!schedule->rewind && split->window && split->window < schedule->window)
        schedule->window = split->window;
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
        .next = NEVER,
        .own = own,
        .ranks = split->ranks,
        .all_parts = network->core->all_parts,
        .elsewhere = NEVER,
    };
    plan_windows(schedule, network, split);
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
        exchange->length = split->window ? split->window : schedule->window < NEVER / 4 ? 4 * schedule->window : NEVER;
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
