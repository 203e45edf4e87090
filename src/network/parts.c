/* SPDX-License-Identifier: Apache-2.0 */
/* A network in parts, see parts.h. */
#include "network/parts.h"

#include "engine/crew.h"

#include <stdlib.h>
#include <string.h>

/* A flit or a credit under way. A head's packet follows, and what belongs to it if it has a message. */
struct parcel {
    tick_t when;
    struct place to;
    struct flit flit;
    uint32_t kind;
    uint32_t bytes; /* of the parcel with all that follows */
};

/* Parcels from one part to another; a sender fills one of two while the receiver empties the other. */
struct box {
    unsigned char *bytes; /* owned */
    size_t used, room;
};

/* What a part has for the others. Apart from those of its neighbours in memory: each is written all the time. */
struct exchange {
    struct schedule *schedule; /* of all parts */
    struct box *boxes[2];      /* by parity of the window, by receiver */
    tick_t soonest;            /* arrival of what was sent in this window */
    uint32_t parity;           /* of this window */
    uint64_t sent;
    uint32_t *arriving;          /* by router lane: the packet whose flits come in; of all parts, shared */
    uint32_t *terminal_arriving; /* by terminal lane, the same */
    alignas(64) tick_t next[2];  /* by parity: when it has something to do, for the others to see */
};

struct schedule {
    struct crew *crew;
    struct network **parts;
    uint32_t count;
    tick_t window, last;
    uint64_t windows;
};

static uint32_t ejection_lanes(const struct network *network) { return network->terminal_ports * network->num_vcs; }

/* The packet that the flits on a lane belong to. */
static uint32_t *arriving_at(const struct network *network, uint32_t kind, struct place to)
{
    const struct exchange *exchange = network->exchange;
    if (kind == EVENT_TERMINAL_FLIT)
        return &exchange->terminal_arriving[(size_t)to.target * ejection_lanes(network) + to.lane];
    return &exchange->arriving[(size_t)to.target * network->ports * network->num_vcs + to.lane];
}

static void *box_take(struct box *box, size_t bytes)
{
    if (box->used + bytes > box->room) {
        box->room = 2 * (box->room + bytes);
        box->bytes = memory_resize(box->bytes, box->room);
    }
    box->used += bytes;
    return box->bytes + box->used - bytes;
}

static bool is_flit(uint32_t kind) { return kind == EVENT_FLIT || kind == EVENT_TERMINAL_FLIT; }

void network_export(struct network *network, uint32_t kind, struct place to, struct flit flit, tick_t arrival)
{
    struct exchange *exchange = network->exchange;
    bool is_terminal = kind == EVENT_TERMINAL_FLIT || kind == EVENT_TERMINAL_CREDIT;
    uint32_t receiver = (is_terminal ? network->terminal_part : network->router_part)[to.target];
    struct box *box = &exchange->boxes[exchange->parity][receiver];
    bool is_head = is_flit(kind) && (flit.place & FLIT_HEAD);
    const struct packet *packet = is_head ? network_packet(network, flit.packet) : NULL;
    bool has_message = is_head && packet->message != NONE;
    uint32_t bytes =
        (uint32_t)(sizeof(struct parcel) + (is_head ? sizeof *packet : 0) + (has_message ? BELONGINGS : 0));
    unsigned char *place = box_take(box, bytes);
    const struct parcel parcel = {.when = arrival, .to = to, .flit = flit, .kind = kind, .bytes = bytes};
    memcpy(place, &parcel, sizeof parcel);
    if (is_head)
        memcpy(place + sizeof parcel, packet, sizeof *packet);
    if (has_message)
        network->client.pack(network->client.context, packet, place + sizeof parcel + sizeof *packet);
    if (is_flit(kind) && (flit.place & FLIT_TAIL))
        pool_give(&network->packets, flit.packet, sizeof(struct packet));
    exchange->sent++;
    exchange->soonest = arrival < exchange->soonest ? arrival : exchange->soonest;
}

/* A packet's head has come with a copy of it. */
static uint32_t import_packet(struct network *network, const unsigned char *bytes)
{
    uint32_t handle = pool_take(&network->packets, sizeof(struct packet));
    struct packet *packet = network_packet(network, handle);
    memcpy(packet, bytes, sizeof *packet);
    if (packet->message != NONE)
        network->client.unpack(network->client.context, packet, bytes + sizeof *packet);
    return handle;
}

static void import_parcel(struct network *network, const unsigned char *bytes, const struct parcel *parcel)
{
    if (!is_flit(parcel->kind)) {
        struct credit_event *event = engine_post(network->engine, parcel->kind, parcel->when, sizeof *event);
        *event = (struct credit_event){.to = parcel->to};
        return;
    }
    uint32_t *packet = arriving_at(network, parcel->kind, parcel->to);
    if (parcel->flit.place & FLIT_HEAD)
        *packet = import_packet(network, bytes + sizeof *parcel);
    struct flit_event *event = engine_post(network->engine, parcel->kind, parcel->when, sizeof *event);
    *event = (struct flit_event){.to = parcel->to, .flit = {.packet = *packet, .place = parcel->flit.place}};
}

/* Takes in what the others have sent in the window before. */
static void import_all(struct network *network, uint32_t parity)
{
    for (uint32_t sender = 0; sender < network->part_count; sender++) {
        struct box *box = &network->parts[sender]->exchange->boxes[parity][network->part];
        for (size_t at = 0; at < box->used;) {
            struct parcel parcel;
            memcpy(&parcel, box->bytes + at, sizeof parcel);
            import_parcel(network, box->bytes + at, &parcel);
            at += parcel.bytes;
        }
        box->used = 0;
    }
}

/* A part's work up to the schedule's last tick. */
static void run_windows(void *context, uint32_t member)
{
    struct schedule *schedule = context;
    struct network *network = schedule->parts[member];
    struct exchange *exchange = network->exchange;
    for (;;) {
        uint32_t parity = exchange->parity;
        tick_t next = engine_next(network->engine);
        exchange->next[parity] = next < exchange->soonest ? next : exchange->soonest;
        crew_meet(schedule->crew);
        import_all(network, parity);
        exchange->parity = 1 - parity;
        exchange->soonest = NEVER;
        tick_t start = NEVER;
        for (uint32_t i = 0; i < schedule->count; i++) {
            tick_t theirs = schedule->parts[i]->exchange->next[parity];
            start = theirs < start ? theirs : start;
        }
        if (start > schedule->last)
            return;
        tick_t end = schedule->last - start < schedule->window ? schedule->last : start + schedule->window - 1;
        engine_run(network->engine, end);
        if (member == 0)
            schedule->windows++;
    }
}

void network_run(struct network *network, tick_t last)
{
    if (!network->exchange) {
        engine_run(network->engine, last);
        return;
    }
    struct schedule *schedule = network->exchange->schedule;
    if (!schedule->crew)
        schedule->crew = crew_start(schedule->count, run_windows, schedule);
    schedule->last = last;
    crew_run(schedule->crew);
}

tick_t network_next(const struct network *network)
{
    tick_t next = NEVER;
    for (uint32_t i = 0; i < network->part_count; i++) {
        tick_t theirs = engine_next(network->parts[i]->engine);
        next = theirs < next ? theirs : next;
    }
    return next;
}

void network_advance(struct network *network, tick_t tick)
{
    for (uint32_t i = 0; i < network->part_count; i++)
        engine_advance(network->parts[i]->engine, tick);
}

uint64_t network_in_flight(const struct network *network)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < network->part_count; i++)
        sum += network->parts[i]->in_network;
    return sum;
}

uint64_t network_flit_hops(const struct network *network)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < network->part_count; i++)
        sum += network->router_ops->flit_hops(network->parts[i]->routers);
    return sum;
}

uint64_t network_events(const struct network *network)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < network->part_count; i++)
        sum += network->parts[i]->engine->events;
    return sum;
}

tick_t network_now(const struct network *network)
{
    tick_t now = 0;
    for (uint32_t i = 0; i < network->part_count; i++)
        now = network->parts[i]->engine->now > now ? network->parts[i]->engine->now : now;
    return now;
}

struct network_sync network_sync_facts(const struct network *network)
{
    struct network_sync sync = {.parts = network->part_count, .window = NEVER};
    for (uint32_t i = 0; network->exchange && i < network->part_count; i++)
        sync.sent += network->parts[i]->exchange->sent;
    if (network->exchange) {
        sync.window = network->exchange->schedule->window;
        sync.windows = network->exchange->schedule->windows;
    }
    return sync;
}

/* Routers in the order of their numbers, which is how topologies keep neighbours together, with a fair share of terminals
   and channels each. */
static void share_out(struct network *network, uint32_t parts)
{
    const struct topology *topology = &network->topology;
    uint16_t *owner = arena_array(network->arena, uint16_t, topology->routers);
    uint16_t *terminal_owner = arena_array(network->arena, uint16_t, topology->terminals);
    uint64_t *weight = arena_array(network->arena, uint64_t, topology->routers), total = 0, before = 0;
    for (uint32_t router = 0; router < topology->routers; router++) {
        for (uint32_t port = 0; port < network->ports; port++)
            weight[router] += network_link(network, router, port)->target != NONE;
        total += ++weight[router];
    }
    for (uint32_t router = 0; router < topology->routers; before += weight[router++])
        owner[router] = (uint16_t)((before + weight[router] / 2) * parts / total);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        terminal_owner[terminal] = owner[network->terminal_router[terminal]];
    network->router_part = owner;
    network->terminal_part = terminal_owner;
}

/* The shortest time from a step in one part to its effect in another. */
static tick_t find_window(const struct network *network)
{
    tick_t shortest = NEVER, lead = network->router_ops->lead ? network->router_ops->lead(network->routers) : 0;
    for (uint32_t router = 0; router < network->topology.routers; router++)
        for (uint32_t port = 0; port < network->ports; port++) {
            const struct link *link = network_link(network, router, port);
            if (link->target == NONE)
                continue;
            const uint16_t *owner = link->to_terminal ? network->terminal_part : network->router_part;
            tick_t delay = link->latency + (link->to_terminal ? 0 : lead);
            if (owner[link->target] != network->router_part[router] && delay < shortest)
                shortest = delay;
        }
    return shortest;
}

static void make_part(struct network *network, uint32_t number, struct schedule *schedule, uint32_t *arriving,
                      uint32_t *terminal_arriving)
{
    struct arena *arena = network->arena;
    struct network *part = network;
    if (number) {
        part = arena_take(arena, sizeof *part);
        *part = *network;
        part->engine = arena_take(arena, sizeof *part->engine);
        engine_init(part->engine);
        pool_init(&part->packets, sizeof(struct packet));
        part->part = number;
        part->routers = network->router_ops->share(network->routers, part);
        part->interfaces = network->interface_ops->share(network->interfaces, part);
    }
    part->exchange = arena_array(arena, struct exchange, 1);
    *part->exchange = (struct exchange){
        .schedule = schedule, .soonest = NEVER, .arriving = arriving, .terminal_arriving = terminal_arriving};
    for (uint32_t parity = 0; parity < 2; parity++)
        part->exchange->boxes[parity] = arena_array(arena, struct box, schedule->count);
    schedule->parts[number] = part;
}

bool network_split(struct network *network, uint32_t parts, struct errors *errors)
{
    parts = parts < network->topology.routers ? parts : network->topology.routers;
    if (parts < 2)
        return true;
    if (network->routing.looks_afar) {
        choice_error(errors, &network->config->routing, "knowledge",
                     "'global' reads other routers at no delay, which threads cannot; accepted: 'local', or 1 thread");
        return false;
    }
    struct arena *arena = network->arena;
    size_t lanes = (size_t)network->topology.routers * network->ports * network->num_vcs;
    size_t terminal_lanes = (size_t)network->topology.terminals * ejection_lanes(network);
    share_out(network, parts);
    struct schedule *schedule = arena_array(arena, struct schedule, 1);
    *schedule = (struct schedule){.parts = arena_array(arena, struct network *, parts), .count = parts};
    schedule->window = find_window(network);
    network->parts = schedule->parts;
    network->part_count = parts;
    uint32_t *arriving = arena_array(arena, uint32_t, lanes);
    uint32_t *terminal_arriving = arena_array(arena, uint32_t, terminal_lanes);
    for (uint32_t i = 0; i < parts; i++)
        make_part(network, i, schedule, arriving, terminal_arriving);
    return true;
}

void network_release_parts(struct network *network)
{
    if (network->exchange && network->exchange->schedule->crew)
        crew_end(network->exchange->schedule->crew);
    for (uint32_t i = 0; i < network->part_count; i++) {
        struct network *part = network->parts[i];
        for (uint32_t box = 0; part->exchange && box < 2 * network->part_count; box++)
            free(part->exchange->boxes[box % 2][box / 2].bytes);
        pool_release(&part->packets);
        if (i)
            engine_release(part->engine);
    }
}
