/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interface to read and to copy: `flitwarp new` starts from it. One channel each way and
 * one queue; it does what the standard interface does with its defaults, for networks of one
 * plane whose routers move flits one by one.
 *
 *   enqueue          a packet joins the source queue of its terminal
 *   step             the packet at its front takes a VC with room, in turn; then a flit leaves a cycle
 *   receive_credits  there is room again behind a VC
 *   receive_flits    what arrives is consumed at once, and its credit goes back
 *
 * A terminal sleeps while it has nothing to send, or no credit to send it with.
 */
#include "flitwarp/interface.h"

struct single_channel_config {
    uint64_t latency;
};

static const struct option single_channel_options[] = {
    OPTION_TICKS(struct single_channel_config, latency, "0", 0, 1000000, "from the source queue to the channel"),
    OPTION_END,
};

struct terminal {
    tick_t step_at; /* when it steps next; FW_NEVER: asleep */
    tick_t free_at; /* when the channel takes the next flit */
    struct packet_queue waiting;
    uint32_t packet, position; /* being sent, and its next flit; FW_NONE: none */
    uint32_t vc;               /* of that packet, or of the last one */
    struct lane_place entry,
        exit;          /* at the router: VC 0 of its port for flits to it, and for credits of flits from it */
    tick_t latency;    /* of the channels */
    uint32_t depth;    /* of the buffer of each VC at the router */
    uint32_t *credits; /* by VC */
};

/* All interfaces of the network, or of the part of it that a thread steps. */
struct single_channel {
    INTERFACES_HEAD;
    const struct single_channel_config *config;
    struct terminal *terminals;
};

static void single_channel_build(void *interfaces, const void *config)
{
    struct single_channel *all = interfaces;
    const struct network *network = all->network;
    uint32_t vcs = network->num_vcs;
    all->config = config;
    all->terminals = arena_array(network->arena, struct terminal, network->topology.terminals);
    for (uint32_t i = network->first_terminal; i < network->end_terminal; i++) {
        struct terminal *terminal = &all->terminals[i];
        *terminal = (struct terminal){.step_at = FW_NEVER, .waiting = EMPTY_QUEUE, .packet = FW_NONE};
        terminal->entry = network_entry(network, 0, i);
        terminal->exit = network_exit(network, 0, i);
        const struct link *link = network_link(network, terminal->entry.target, terminal->entry.lane / vcs);
        terminal->latency = link->latency;
        terminal->depth = link->depth;
        terminal->credits = arena_array(network->arena, uint32_t, vcs);
        for (uint32_t vc = 0; vc < vcs; vc++)
            terminal->credits[vc] = link->depth;
    }
}

static void terminal_wake(struct single_channel *all, uint32_t number, tick_t when)
{
    network_wake(all->engine, EVENT_INTERFACE_STEP, number, &all->terminals[number].step_at, when);
}

/* The packet at the front of the queue gets a VC that it may take and that has room, and its route's beginning. */
static void terminal_begin_packet(struct single_channel *all, struct terminal *terminal, tick_t now)
{
    struct network *network = all->network;
    struct packet *packet = network_packet(network, terminal->waiting.first);
    uint64_t allowed = interface_vcs(network, packet);
    uint32_t room = network->plan.reserves_packet ? network_room_for(network, packet->size) : 1;
    for (uint32_t i = 1; i <= network->num_vcs; i++) {
        uint32_t vc = (terminal->vc + i) % network->num_vcs;
        if (!(allowed >> vc & 1) || terminal->credits[vc] < room)
            continue;
        terminal->vc = vc;
        terminal->packet = packet_queue_take(network, &terminal->waiting);
        terminal->position = 0;
        interface_begin(network, packet, terminal->entry.target, now);
        return;
    }
}

static void terminal_send(struct single_channel *all, uint32_t number, tick_t now)
{
    struct network *network = all->network;
    struct terminal *terminal = &all->terminals[number];
    const struct packet *packet = network_packet(network, terminal->packet);
    struct flit flit = transfer_unit(packet, terminal->packet, terminal->position++, 1);
    struct lane_place to = {.target = terminal->entry.target, .lane = terminal->entry.lane + terminal->vc};
    terminal->credits[terminal->vc]--;
    terminal->free_at = now + network->terminal_cycle;
    if (network->is_watched)
        network->listener.enter(network->listener.context, now, packet, to, 1);
    send_flit(network, EVENT_FLIT, to, flit,
              now + all->config->latency + terminal->latency + network->plan.transfer.delay);
    if (flit.place & FLIT_TAIL)
        terminal->packet = FW_NONE;
    if (terminal->packet != FW_NONE || terminal->waiting.first != FW_NONE)
        terminal_wake(all, number, terminal->free_at);
}

static void terminal_step(struct single_channel *all, uint32_t number, tick_t now)
{
    struct terminal *terminal = &all->terminals[number];
    if (terminal->packet == FW_NONE && terminal->waiting.first == FW_NONE)
        return;
    if (terminal->free_at > now) {
        terminal_wake(all, number, terminal->free_at);
        return;
    }
    if (terminal->packet == FW_NONE)
        terminal_begin_packet(all, terminal, now);
    if (terminal->packet != FW_NONE && terminal->credits[terminal->vc])
        terminal_send(all, number, now);
}

static void single_channel_step(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct single_channel *all = interfaces;
    for (const struct step_event *event = events, *end = event + count; event < end; event++) {
        struct terminal *terminal = &all->terminals[event->target];
        if (terminal->step_at != now)
            continue;
        terminal->step_at = FW_NEVER;
        terminal_step(all, event->target, now);
    }
}

static void single_channel_enqueue(void *interfaces, uint32_t handle)
{
    struct single_channel *all = interfaces;
    uint32_t number = network_packet(all->network, handle)->source;
    struct terminal *terminal = &all->terminals[number];
    tick_t now = all->engine->now;
    packet_queue_put(all->network, &terminal->waiting, handle);
    if (terminal->step_at > now)
        terminal_step(all, number, now);
}

static void single_channel_receive_credits(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct single_channel *all = interfaces;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        struct terminal *terminal = &all->terminals[event->to.target];
        terminal->credits[event->to.lane]++;
        if (terminal->packet != FW_NONE || terminal->waiting.first != FW_NONE)
            terminal_wake(all, event->to.target, now);
    }
}

static void single_channel_receive_flits(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct single_channel *all = interfaces;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        const struct terminal *terminal = &all->terminals[event->to.target];
        interface_consume(all->network, event, terminal->exit, terminal->latency, now);
    }
}

/* Packets that have not begun to enter the network go back, so that a saturated run can end. */
static uint32_t single_channel_withdraw(void *interfaces, uint32_t terminal)
{
    struct single_channel *all = interfaces;
    struct packet_queue *waiting = &all->terminals[terminal].waiting;
    return waiting->first == FW_NONE ? FW_NONE : packet_queue_take(all->network, waiting);
}

static void single_channel_check_idle(void *interfaces)
{
    const struct single_channel *all = interfaces;
    for (uint32_t i = all->network->first_terminal; i < all->network->end_terminal; i++)
        for (uint32_t vc = 0; vc < all->network->num_vcs; vc++)
            FW_CHECK(all->terminals[i].credits[vc] == all->terminals[i].depth,
                     "terminal %u vc %u: a credit is not back at the end", i, vc);
}

static const struct interface_ops single_channel = {
    .name = "single_channel",
    .summary = "one channel each way and one source queue, flit by flit; small, to be copied",
    .options = single_channel_options,
    .example = "{\"type\": \"single_channel\", \"latency\": 2}",
    .size = sizeof(struct single_channel),
    .check = interface_check_plain,
    .build = single_channel_build,
    .receive_flits = single_channel_receive_flits,
    .receive_credits = single_channel_receive_credits,
    .step = single_channel_step,
    .enqueue = single_channel_enqueue,
    .withdraw = single_channel_withdraw,
    .check_idle = single_channel_check_idle,
};
REGISTER_INTERFACE(single_channel);
/* Copied by `flitwarp new`, with an example: network.interface=$ */
