/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The channel dependency check (Dally and Seitz 1987). For one destination after
 * the other, packets are followed from all sources by every possible route; a
 * packet that holds one VC and may ask for another makes an edge between them. A
 * cycle of edges is a deadlock that can happen (or, for an algorithm that offers
 * several ways at once, one that is not excluded).
 *   An algorithm with escape VCs is judged by Duato's condition (1993): a packet
 * is offered one of them wherever it is, and they have no cycle among themselves.
 * An edge leads from the last escape VC that a packet took to those it may ask
 * for, also when it has taken other VCs in between.
 *   The rest of a way depends only on (router, waypoint, route word, hops, VC), so
 * each such state is asked about once a destination, however many sources lead to
 * it; those that arrive there differ in what they hold, and get their edges once
 * all answers are known.
 */
#include "network/graph/dependency.h"

#include "network/network.h"
#include "network/graph/analysis.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAULTS_SHOWN 5

/* All that the rest of a packet's way can depend on, its destination being given. It has no padding: bytes are compared. */
struct state {
    uint64_t escape_vcs;     /* of the last channel where it took escape VCs: any of these it may hold on to; 0: none */
    uint32_t escape_channel; /* that channel; 0 where there is none */
    uint32_t router;
    uint32_t waypoint;
    uint32_t route;
    uint32_t hops;
    uint32_t input_lane; /* one of those that its head may be in, by its VC alone unless its port matters */
};

/* A packet that came into a state by a channel. */
struct arrival {
    uint64_t held; /* any of these VCs of the channel */
    uint32_t channel;
    uint32_t state;
};

struct check {
    const struct routing *routing;
    const struct topology *topology;
    const struct check_listener *listener;
    FILE *out;
    struct channel_graph graph;
    uint32_t *terminals;  /* by router: the first that injects there; FW_NONE: has none */
    uint32_t destination; /* terminal */
    uint32_t destination_router;
    uint32_t longest;     /* hops that a way may have */
    uint64_t *vcs;        /* the answer to a question */
    uint64_t *counted;    /* output VCs that count: all, or the escape VCs */
    uint32_t *ports;      /* by output VC */
    struct state *states; /* those of this destination, in the order found */
    uint64_t *wanted;     /* by state: the output VCs that count and may be asked for there */
    uint32_t state_count, state_room, followed;
    uint32_t *slots;          /* hash table over states: index + 1; 0: empty; twice state_room of them */
    struct arrival *arrivals; /* at states of this destination, whose edges are not in the graph yet */
    uint32_t arrival_count, arrival_room;
    uint64_t steps; /* questions asked, for all destinations */
    uint64_t faults;
    uint64_t cut_off;       /* pairs without a way, which are not followed */
    struct lost_pairs lost; /* owned, of this destination */
    uint32_t *lost_sources;
    uint64_t lost_count;
};

/* ---- names in messages ---- */

static void print_router(const struct check *check, uint32_t router)
{
    char name[128];
    fprintf(check->out, "%s%s", topology_whole(check->topology)->grid ? "" : "router ",
            topology_router_name(check->topology, router, name, sizeof name));
}

static void check_print_node(const struct check *check, uint32_t node)
{
    uint32_t ports = check->topology->ports, channel = node / check->routing->num_vcs;
    uint32_t sender = check->graph.channels[channel];
    fputs("channel ", check->out);
    print_router(check, sender / ports);
    if (!topology_whole(check->topology)->grid)
        fprintf(check->out, " port %u", sender % ports);
    fputs("->", check->out);
    print_router(check, channel / ports);
    fprintf(check->out, " vc %u", node % check->routing->num_vcs);
}

static void print_terminal_or_router(const struct check *check, uint32_t terminal, uint32_t router)
{
    if (check->routing->is_by_terminal)
        fprintf(check->out, "terminal %u", terminal);
    else
        print_router(check, router);
}

/* Of the destination at hand. */
static void print_lost_pairs(struct check *check)
{
    uint32_t count = lost_pairs_sources(&check->lost, check->state_count, check->lost_sources);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t source = check->lost_sources[i];
        if (++check->lost_count > FAULTS_SHOWN)
            continue;
        fputs("  no way from ", check->out);
        print_terminal_or_router(check, source, topology_router_of(check->topology, source));
        fputs(" to ", check->out);
        print_terminal_or_router(check, check->destination, check->destination_router);
        fputc('\n', check->out);
    }
}

static void check_fault(struct check *check, const struct state *state, const char *what)
{
    if (++check->faults > FAULTS_SHOWN)
        return;
    fprintf(check->out, "  a packet to terminal %u at ", check->destination);
    print_router(check, state->router);
    fprintf(check->out, " after %u hops %s\n", state->hops, what);
}

/* ---- following packets ---- */

static uint32_t *state_slot(const struct check *check, const struct state *state)
{
    uint64_t words[sizeof *state / sizeof(uint64_t)], hash = 0;
    memcpy(words, state, sizeof *state);
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = random_mix(hash ^ words[i]) + 1;
    uint32_t mask = 2 * check->state_room - 1, slot = (uint32_t)hash & mask;
    while (check->slots[slot] && memcmp(&check->states[check->slots[slot] - 1], state, sizeof *state) != 0)
        slot = (slot + 1) & mask;
    return &check->slots[slot];
}

static void states_clear(struct check *check)
{
    check->state_count = check->followed = 0;
    memset(check->slots, 0, sizeof *check->slots * 2 * check->state_room);
}

static void states_grow(struct check *check, uint32_t room)
{
    check->state_room = room;
    check->states = memory_resize(check->states, sizeof *check->states * room);
    check->wanted = memory_resize(check->wanted, sizeof *check->wanted * check->routing->words * room);
    check->slots = memory_resize(check->slots, sizeof *check->slots * 2 * room);
    uint32_t count = check->state_count, followed = check->followed;
    states_clear(check);
    check->followed = followed;
    for (; check->state_count < count; check->state_count++)
        *state_slot(check, &check->states[check->state_count]) = check->state_count + 1;
}

/* Returns its index. */
static uint32_t states_add(struct check *check, const struct state *state)
{
    if (check->state_count == check->state_room)
        states_grow(check, check->state_room * 2);
    uint32_t *slot = state_slot(check, state), words = check->routing->words;
    if (!*slot) {
        memset(check->wanted + (size_t)check->state_count * words, 0, sizeof *check->wanted * words);
        check->states[check->state_count++] = *state;
        *slot = check->state_count;
    }
    return *slot - 1;
}

static void arrive(struct check *check, uint32_t from, struct state *next, uint32_t channel, uint64_t held)
{
    if (check->routing->escape_vcs) {
        next->escape_vcs = held;
        next->escape_channel = channel;
    }
    uint32_t state = states_add(check, next);
    lost_pairs_step(&check->lost, from, state);
    check->arrivals = memory_grow(check->arrivals, check->arrival_count, &check->arrival_room, sizeof *check->arrivals);
    check->arrivals[check->arrival_count++] = (struct arrival){held, channel, state};
}

/* What came into a state holds what it holds, and may ask for what any answer there offered. */
static void add_edges(struct check *check)
{
    for (uint32_t i = 0; i < check->arrival_count; i++) {
        const struct arrival *at = &check->arrivals[i];
        channel_graph_add(&check->graph, at->channel, at->held, check->states[at->state].router,
                          check->wanted + (size_t)at->state * check->routing->words);
    }
    check->arrival_count = 0;
}

/* It arrives in one of these VCs of a channel, and holds on to some of another, or of those. */
static void arrive_in(struct check *check, uint32_t from, struct state *next, uint32_t into, uint64_t vcs,
                      uint32_t channel, uint64_t held)
{
    const struct routing *routing = check->routing;
    uint32_t port = routing->local_ports + into % check->topology->ports;
    uint32_t first_lane = routing->is_by_input_port ? port * routing->num_vcs : 0;
    while (vcs) {
        uint64_t vc = lowest_bit(vcs);
        next->input_lane = first_lane + (uint32_t)vc;
        arrive(check, from, next, channel,
               routing->is_by_input_vc && channel == into ? held & bit((uint32_t)vc) : held);
        vcs = routing->is_by_input_vc ? vcs & (vcs - 1) : 0;
    }
}

/* The packet moves on by one port, on one of these VCs. */
static void follow_port(struct check *check, uint32_t index, const struct packet *packet, uint32_t port, uint64_t vcs)
{
    const struct state state = check->states[index]; /* which may move, as states are added */
    uint32_t ports = check->topology->ports;
    uint32_t channel = port < ports ? check->graph.channels[state.router * ports + port] : FW_NONE;
    uint64_t escape_vcs = check->routing->escape_vcs, counted = escape_vcs ? vcs & escape_vcs : vcs;
    if (channel == FW_NONE) {
        check_fault(check, &state, "is sent to an unused port");
        return;
    }
    if (state.hops >= check->longest) {
        check_fault(check, &state, "is still on its way");
        return;
    }
    struct state next = {
        .router = channel / ports, .waypoint = packet->waypoint, .route = packet->route, .hops = state.hops + 1};
    arrive_in(check, index, &next, channel, counted, channel, counted);
    arrive_in(check, index, &next, channel, vcs & ~counted, state.escape_channel, state.escape_vcs);
}

static bool is_home(const struct check *check, uint32_t router, uint32_t local_port)
{
    const struct routing *routing = check->routing;
    uint32_t first = routing->terminal_slot[check->destination] * routing->terminal_ports;
    return router == check->destination_router && local_port - first < routing->ejection_channels;
}

/* Reads the answer to one question about a state: what may be asked for, and where the packet may be next. */
static void follow_answer(struct check *check, uint32_t index, const struct packet *packet)
{
    const struct routing *routing = check->routing;
    const struct state state = check->states[index]; /* which may move, as states are added */
    uint32_t num_vcs = routing->num_vcs, words = routing->words;
    uint64_t *wanted = check->wanted + (size_t)index * words, has_wanted = 0;
    for (uint32_t w = 0; w < words; w++) {
        has_wanted |= check->vcs[w] & check->counted[w];
        wanted[w] |= check->vcs[w] & check->counted[w];
    }
    if (!bits_any(check->vcs, words)) {
        lost_pairs_end(&check->lost, index);
        if (!routing->may_lack_ways)
            check_fault(check, &state, "has nowhere to go");
    } else if (!has_wanted)
        check_fault(check, &state, "is offered no escape VC");
    uint32_t port = FW_NONE;
    uint64_t vcs = 0;
    BITS_EACH(lane, check->vcs, words) {
        if (port != check->ports[lane]) {
            if (vcs)
                follow_port(check, index, packet, port - routing->local_ports, vcs);
            port = check->ports[lane];
            vcs = 0;
        }
        if (port >= routing->local_ports)
            vcs |= bit((uint32_t)lane - port * num_vcs);
        else if (!is_home(check, state.router, port))
            check_fault(check, &state, "is given to another terminal");
    }
    if (vcs)
        follow_port(check, index, packet, port - routing->local_ports, vcs);
}

static struct route question(struct check *check, struct packet *packet, const struct state *state,
                             struct decisions *decisions)
{
    memset(check->vcs, 0, sizeof *check->vcs * check->routing->words);
    return (struct route){.routing = check->routing,
                          .packet = packet,
                          .router = state->router,
                          .input_lane = state->input_lane,
                          .decisions = decisions,
                          .vcs = check->vcs};
}

static struct packet packet_in(const struct check *check, const struct state *state, uint32_t source)
{
    return (struct packet){.source = source,
                           .destination = check->destination,
                           .destination_router = check->destination_router,
                           .size = 1,
                           .message = FW_NONE,
                           .next = FW_NONE,
                           .hops = (uint16_t)state->hops,
                           .waypoint = state->waypoint,
                           .route = state->route};
}

static uint32_t source_at(const struct check *check, uint32_t router)
{
    return check->terminals[router] != FW_NONE ? check->terminals[router] : check->destination;
}

/* Asks all that may be chosen at random: the ways in which a packet may start at a router ... */
static void check_enter(struct check *check, uint32_t source)
{
    const uint32_t router = topology_router_of(check->topology, source);
    const struct state at = {.router = router};
    struct decisions decisions;
    decisions.made = decisions.known = 0; /* the rest is written before it is read: half a kilobyte, a million times */
    do {
        struct packet packet = packet_in(check, &at, source);
        struct route route = question(check, &packet, &at, &decisions);
        if (check->routing->inject)
            check->routing->inject(&route);
        const struct state start = {.router = router, .waypoint = packet.waypoint, .route = packet.route};
        lost_pairs_enter(&check->lost, source, states_add(check, &start));
    } while (decisions_next(&decisions));
}

/* ... and those in which it may go on. */
static void check_follow(struct check *check, uint32_t index)
{
    const struct state state = check->states[index];
    struct decisions decisions;
    decisions.made = decisions.known = 0;
    do {
        struct packet packet = packet_in(check, &state, source_at(check, state.router));
        struct route route = question(check, &packet, &state, &decisions);
        check->routing->route(&route);
        follow_answer(check, index, &packet);
        check->steps++;
    } while (decisions_next(&decisions));
}

/* ---- the whole ---- */

/* By destinations or by questions, whichever ends it first. */
static void tell_share(const struct check *check, uint64_t budget, double destinations, double all)
{
    double spent = (double)check->steps / (double)budget;
    if (check->listener)
        check->listener->tell(check->listener->context, fmin(1, fmax(destinations / all, spent)));
}

#define CUT_OFF_SHOWN 3

/* A pair without a way is not followed; the first ones are named. */
static void note_cut_off(struct check *check, uint32_t source)
{
    if (check->cut_off++ >= CUT_OFF_SHOWN)
        return;
    fputs(check->cut_off == 1 ? "cut off: no way from " : ", ", check->out);
    print_terminal_or_router(check, source, topology_router_of(check->topology, source));
    fputs(" to ", check->out);
    print_terminal_or_router(check, check->destination, check->destination_router);
}

/* Follows packets between pairs of routers as far as the budget reaches; returns how many pairs that were. */
static uint64_t follow_pairs(struct check *check, const struct hosts *from, const struct hosts *to, uint64_t budget)
{
    uint64_t pairs = 0, from_step = spread_step(from->count), to_step = spread_step(to->count);
    uint32_t portions = to->count < 64 ? to->count : 64; /* so that the budget reaches several destinations */
    for (uint32_t i = 0; i < to->count && check->steps < budget; i++) {
        check->destination = to->terminals[i * to_step % to->count];
        check->destination_router = topology_ejects_at(check->topology, check->destination);
        uint64_t portion = i + 1 < portions ? budget / portions * (i + 1) : budget;
        states_clear(check);
        lost_pairs_clear(&check->lost);
        for (uint32_t j = 0; j < from->count && check->steps < portion; j++) {
            uint32_t source = from->terminals[j * from_step % from->count];
            if (!routing_reaches(check->routing, topology_router_of(check->topology, source),
                                 check->destination_router)) {
                note_cut_off(check, source);
                continue;
            }
            check_enter(check, source);
            check->steps += check->routing->is_by_terminal;
            while (check->followed < check->state_count && check->steps < portion)
                check_follow(check, check->followed++);
            add_edges(check);
            pairs += check->followed == check->state_count; /* all is known of the pair */
        }
        print_lost_pairs(check);
        tell_share(check, budget, i + 1.0, to->count);
    }
    return pairs;
}

static void print_cycle(const struct check *check, const uint32_t *cycle, uint32_t length)
{
    fprintf(check->out, "  deadlock is possible: %u VCs can wait for each other\n", length);
    for (uint32_t i = 0; i < length; i++) {
        fputs("    ", check->out);
        check_print_node(check, cycle[i]);
        fputs(" waits for ", check->out);
        check_print_node(check, cycle[(i + 1) % length]);
        fputc('\n', check->out);
    }
}

/*
 * Where escape VCs have no cycle that is enough if a packet takes another VC only with room for all of it: else it may stand
 * in several buffers at once, behind packets that stand behind it, and none of their heads is where it could escape.
 */
static const char *verdict(const struct check *check, bool is_sample)
{
    if (check->routing->takes_room_as_it_comes)
        return "no deadlock of escape VCs, but the others are taken without room for a whole packet, which can "
               "deadlock";
    return is_sample ? "no deadlock found" : "no deadlock";
}

static bool check_report(const struct check *check, uint64_t pairs, uint64_t all_pairs)
{
    uint32_t length;
    uint32_t *cycle = channel_graph_cycle(&check->graph, &length);
    const char *of = check->routing->is_by_terminal ? "terminals" : "routers";
    if (check->faults > FAULTS_SHOWN)
        fprintf(check->out, "  and %" PRIu64 " more\n", check->faults - FAULTS_SHOWN);
    if (check->lost_count)
        fprintf(check->out, "  no way between %" PRIu64 " of %" PRIu64 " pairs of %s%s\n", check->lost_count, pairs, of,
                check->routing->may_lack_ways ? ", as the settings allow" : "");
    if (cycle)
        print_cycle(check, cycle, length);
    fprintf(check->out,
            "routing \"%s\" on \"%s\": checked %s%" PRIu64 " of %" PRIu64 " pairs of %s, %" PRIu64
            " dependencies%s: %s\n",
            check->routing->ops->name, check->topology->ops->name, pairs < all_pairs ? "a sample, " : "", pairs,
            all_pairs, of, channel_graph_edges(&check->graph), check->routing->escape_vcs ? " of escape VCs" : "",
            cycle           ? "deadlock is possible"
            : check->faults ? "faults"
                            : verdict(check, pairs < all_pairs));
    free(cycle);
    return !cycle && check->faults == 0;
}

/* Of each output VC its port; and those that count: all, or those to terminals and the escape VCs between routers. */
static void check_find_lanes(struct check *check, struct arena *arena)
{
    const struct routing *routing = check->routing;
    check->counted = arena_array(arena, uint64_t, routing->words);
    check->ports = arena_array(arena, uint32_t, (size_t)routing->words * WORD_BITS);
    for (uint32_t lane = 0; lane < routing->words * WORD_BITS; lane++) {
        uint32_t port = check->ports[lane] = lane / routing->num_vcs;
        bool is_escape = !routing->escape_vcs || routing->escape_vcs & bit(lane % routing->num_vcs);
        if (port < routing->local_ports || (is_escape && port < routing->local_ports + routing->topology->ports))
            bits_add(check->counted, lane);
    }
}

bool dependency_check(const struct routing *all_planes, uint64_t budget, const struct check_listener *listener,
                      FILE *out)
{
    struct arena arena = {0};
    const struct routing one = planes_routing_of_one(all_planes), *routing = &one; /* planes are alike and never meet */
    struct check check = {.routing = routing, .topology = routing->topology, .listener = listener, .out = out};
    if (!channel_graph_init(&check.graph, routing)) {
        fprintf(out, "routing \"%s\": not checked, the network is too large\n", routing->ops->name);
        return true;
    }
    check.vcs = arena_array(&arena, uint64_t, routing->words);
    check_find_lanes(&check, &arena);
    check.longest = routing->most_hops ? routing->most_hops : 10 * hops_to_farthest(check.topology, &arena) + 10;
    states_grow(&check, 1024);
    struct hosts from = hosts_find(check.topology, routing->is_by_terminal, topology_router_of, &arena);
    struct hosts to = hosts_find(check.topology, routing->is_by_terminal, topology_ejects_at, &arena);
    check.terminals = from.first;
    check.lost_sources = arena_array(&arena, uint32_t, from.count);
    uint64_t pairs = follow_pairs(&check, &from, &to, budget);
    if (check.cut_off)
        fprintf(out, "%s, %" PRIu64 " of %" PRIu64 " pairs of %s\n", check.cut_off > CUT_OFF_SHOWN ? " and others" : "",
                check.cut_off, (uint64_t)from.count * to.count,
                routing->is_by_terminal ? "terminals" : "routers with terminals");
    bool is_sound = check_report(&check, pairs, (uint64_t)from.count * to.count - check.cut_off);
    free(check.states);
    free(check.slots);
    free(check.wanted);
    free(check.arrivals);
    lost_pairs_release(&check.lost);
    channel_graph_release(&check.graph);
    arena_release(&arena);
    return is_sound;
}
