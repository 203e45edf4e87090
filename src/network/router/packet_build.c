/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building the packet routers from their settings and the network's links, and
 * looking at them from outside: are they idle, and what does a lane wait for?
 */
#include "network/router/packet.h"

#include "flitwarp/congestion.h"
#include "flitwarp/shown.h"

enum packet_switching { CUT_THROUGH, STORED };
static const char *const switching_words[] = {"virtual_cut_through", "store_and_forward", NULL};

enum packet_queueing { BY_INPUT, BY_OUTPUT };
static const char *const queueing_words[] = {"by_input", "by_output", NULL};

#define MAX_FLITS (1u << 30)
#define MAX_DELAY 1000000000u

const struct option packet_options[] = {
    OPTION_U32(struct packet_config, num_vcs, "2", 1, 64, NULL, "virtual channels of each port"),
    OPTION_U32(struct packet_config, buffer_depth, "8", 1, MAX_FLITS, "flits", "buffer of each virtual channel",
               NOT_WITH("buffer")),
    OPTION_U32(struct packet_config, buffer, "null", 1, 4294967295.0, "bytes", "instead of buffer_depth"),
    OPTION_U32(struct packet_config, chunk, "null", 1, 4294967295.0, "bytes",
               "larger packets move in parts of this size; null: every packet moves whole"),
    OPTION_ENUM(struct packet_config, switching, "\"virtual_cut_through\"", switching_words,
                "whether a packet may leave before all of it has come"),
    OPTION_ENUM(
        struct packet_config, queueing, "\"by_input\"", queueing_words,
        "whether a packet waits behind those before it in its virtual channel, or for its own output alone; then its "
        "place is free as soon as it has one downstream"),
    OPTION_TICKS_AUTO(struct packet_config, delay, "\"auto\"", 0, MAX_DELAY,
                      "from a packet's arrival until it can leave; auto: the four latencies below"),
    OPTION_TICKS(struct packet_config, cycle, "1", 1, 1000000, "that latencies count"),
    OPTION_U32(struct packet_config, routing_latency, "0", 0, 10000, "cycles", "to route a packet",
               ONLY_WITH("delay=auto")),
    OPTION_U32(struct packet_config, vc_allocation_latency, "1", 0, 10000, "cycles",
               "to allocate an output virtual channel", ONLY_WITH("delay=auto")),
    OPTION_U32(struct packet_config, switch_allocation_latency, "1", 0, 10000, "cycles", "to allocate the crossbar",
               ONLY_WITH("delay=auto")),
    OPTION_U32(struct packet_config, crossbar_latency, "1", 0, 10000, "cycles", "to cross the router",
               ONLY_WITH("delay=auto")),
    OPTION_U32(struct packet_config, credit_latency, "1", 0, 10000, "cycles",
               "to process a credit, beyond the channel's latency"),
    CONGESTION_OPTION(struct packet_config),
    OPTION_END,
};

static uint64_t router_delay(const struct packet_config *c)
{
    uint64_t cycles = (uint64_t)c->routing_latency + c->vc_allocation_latency + c->switch_allocation_latency;
    return c->delay != TICKS_AUTO ? c->delay : (cycles + c->crossbar_latency) * c->cycle;
}

/* Sizes in bytes become flits: everything that moves is a number of them. */
void packet_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors)
{
    const struct packet_config *c = self->config;
    plan->num_vcs = c->num_vcs;
    plan->buffer_depth = c->buffer ? c->buffer / flit_bytes : c->buffer_depth;
    if (c->buffer && (c->buffer < flit_bytes || plan->buffer_depth > MAX_FLITS))
        choice_error(errors, self, "buffer",
                     "%u bytes, but a flit has %u (network.flit_bytes); accepted: 1 to %u flits", c->buffer, flit_bytes,
                     MAX_FLITS);
    else if (c->chunk % flit_bytes)
        choice_error(errors, self, "chunk", "%u bytes are no whole number of flits of %u (network.flit_bytes)",
                     c->chunk, flit_bytes);
    else if (c->chunk / flit_bytes > plan->buffer_depth)
        choice_error(errors, self, "chunk", "%u bytes do not fit network.router.%s, which holds %u flits of %u bytes",
                     c->chunk, c->buffer ? "buffer" : "buffer_depth", plan->buffer_depth, flit_bytes);
    if (c->chunk && c->queueing == BY_OUTPUT)
        choice_error(errors, self, "queueing",
                     "\"by_output\" moves packets whole; accepted with a chunk: \"by_input\"");
    if (router_delay(c) > MAX_DELAY)
        choice_error(errors, self, "cycle", "the four latencies come to %llu ticks; accepted: at most %u",
                     (unsigned long long)router_delay(c), MAX_DELAY);
    plan->max_packet = c->chunk ? 0 : plan->buffer_depth;
    plan->max_packet_key = c->buffer ? "buffer" : "buffer_depth";
    plan->congestion = &c->congestion;
    plan->queues_by_output = c->queueing == BY_OUTPUT;
    plan->transfer = (struct transfer){
        .chunk = c->chunk ? c->chunk / flit_bytes : plan->buffer_depth,
        .stores = c->switching == STORED,
        .delay = router_delay(c),
    };
}

static void lay_out(struct packets *q, struct arena *arena)
{
    size_t size = sizeof(struct packet_head) + sizeof(uint64_t) * PACKET_SETS * q->words;
    q->port_stride = (uint32_t)(sizeof(struct packet_port) + q->num_vcs * sizeof(struct packet_output) + 31) / 32 * 32;
    q->inputs_at = block_place(&size, (size_t)PACKET_LANE_STRIDE * q->lanes, 64);
    q->ports_at = block_place(&size, (size_t)q->port_stride * q->ports, 64);
    q->waits_at = block_place(&size, sizeof(uint16_t) * q->lanes, 8);
    q->owners_at = block_place(&size, sizeof(uint16_t) * q->lanes, 8);
    q->lines_at = block_place(&size, q->by_output ? sizeof(struct packet_queue) * q->lanes : 0, 8);
    q->stride = (size + 63) / 64 * 64;
    q->places = arena_array(arena, struct packet_place, q->lanes);
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        q->places[lane] = packet_place(q, lane);
}

static void init_lane(struct packets *q, const struct packet_config *c, struct packet_head *head, uint32_t lane)
{
    const struct link *link = network_link(q->network, head->number, lane / q->num_vcs);
    bool is_usable = link->target != FW_NONE && link->carries_out;
    *packet_input(q, head, lane) = (struct packet_lane){
        .first = FW_NONE,
        .second = FW_NONE,
        .last = FW_NONE,
        .output = LANE_IDLE,
        .last_output = (uint16_t)(q->lanes - 1),
        .back = link_lane(link, lane % q->num_vcs),
        .back_delay = c->credit_latency * c->cycle + link->latency,
        .back_kind = link->to_terminal ? EVENT_TERMINAL_CREDIT : EVENT_CREDIT,
    };
    *packet_output(q, head, lane) = (struct packet_output){.credits = is_usable ? q->depth : 0};
    packet_owners(q, head)[lane] = NOBODY;
    if (q->by_output)
        packet_lines(q, head)[lane] = EMPTY_QUEUE;
    if (is_usable)
        bits_add(packet_set_at(head, SET_USABLE, q->words), lane);
}

static void init_port(struct packets *q, struct packet_head *head, uint32_t port)
{
    const struct network *network = q->network;
    const struct link *link = network_link(network, head->number, port);
    if (link->target == FW_NONE)
        return;
    *packet_port(q, head, port) = (struct packet_port){
        .latency = link->latency + (link->to_terminal ? 0 : (uint32_t)network->plan.transfer.delay),
        .lag = link->to_terminal ? link->cycle : (uint16_t)network_lag(network, link->target, link->cycle),
        .cycle = link->cycle,
        .kind = (uint16_t)(link->to_terminal ? EVENT_TERMINAL_FLIT : EVENT_FLIT),
        .target = link->target,
        .first_lane = link->first_lane,
    };
}

void packet_build(void *all, const void *config)
{
    struct packets *q = all;
    const struct packet_config *c = config;
    struct arena *arena = q->network->arena;
    uint32_t routers = q->network->topology.routers;
    q->depth = q->network->plan.buffer_depth;
    q->divides = c->chunk;
    q->by_output = c->queueing == BY_OUTPUT;
    q->whole_for_room = routing_needs_room(&q->network->routing);
    q->lines_seen = q->by_output ? arena_array(arena, uint64_t, q->words) : NULL;
    lay_out(q, arena);
    q->blocks = arena_take(arena, q->stride * routers);
    q->wants = q->words == 1 ? NULL : arena_array(arena, uint64_t, (size_t)routers * q->lanes * q->words);
    for (uint32_t router = q->network->first_router; router < q->network->end_router; router++) {
        struct packet_head *head = packet_head(q, router);
        head->number = router;
        head->step_at = FW_NEVER;
        for (uint32_t port = 0; port < q->ports; port++)
            init_port(q, head, port);
        for (uint32_t lane = 0; lane < q->lanes; lane++)
            init_lane(q, c, head, lane);
    }
}

/* The list of a lane's packets runs through the packets themselves. */
static void show_lane(const struct packets *q, const struct packet_lane *lane, struct shown_router *shown,
                      struct shown_queue *queue)
{
    for (uint32_t packet = lane->first; packet != FW_NONE;) {
        const struct packet *this = network_packet(q->network, packet);
        uint32_t sent = packet == lane->first ? lane->sent : 0;
        uint32_t arrived = packet == lane->last ? lane->arrived : this->size;
        if (arrived > sent)
            shown_add(shown, queue, packet, sent, arrived - sent);
        packet = packet == lane->last ? FW_NONE : packet == lane->first ? lane->second : this->next;
    }
}

/* Packets in the buffer of an input lane that stand in line for an output; the first of them, or FW_NONE. Notes the lines. */
static uint32_t show_lines(const struct packets *q, struct packet_head *head, uint32_t lane, struct shown_router *shown)
{
    uint32_t first = FW_NONE;
    bits_clear(q->lines_seen, q->words);
    for (uint32_t output = 0; output < q->lanes; output++)
        for (uint32_t packet = packet_lines(q, head)[output].first; packet != FW_NONE;) {
            const struct packet *this = network_packet(q->network, packet);
            if (this->head_delay == lane) {
                first = first == FW_NONE ? packet : first;
                bits_add(q->lines_seen, output);
                if (shown)
                    shown_add(shown, &shown->inputs[lane].queue, packet, 0, this->size);
            }
            packet = this->next;
        }
    return first;
}

/*
 * Where packets queue by output, room in an input lane's buffer comes when one of its packets leaves: the first in line
 * for its output has to.
 */
static void look_at_lines(const struct packets *q, struct packet_head *head, uint32_t lane, struct lane_look *seen,
                          struct shown_router *shown)
{
    uint32_t in_line = show_lines(q, head, lane, shown), ahead = packet_lines(q, head)[lane].first;
    seen->ahead = ahead == FW_NONE ? 0 : network_packet(q->network, ahead)->size;
    if (seen->packet != FW_NONE || in_line == FW_NONE)
        return;
    seen->packet = in_line;
    seen->output = LANE_WAITS;
    seen->wants = q->lines_seen;
    seen->room = 1;
}

/* Flits that must fit behind an output lane for the packet at the front of an input lane; 0: it can go on by that. */
static uint32_t room_needed(const struct packets *q, struct packet_head *head, const struct packet_lane *input)
{
    const struct packet *packet = network_packet(q->network, input->first);
    uint32_t chunk = transfer_flits(&q->network->plan.transfer, packet, input->sent);
    if (input->output >= LANE_ROUTED)
        return !q->whole_for_room ? chunk : packet->size < q->depth ? packet->size : q->depth;
    return input->flits && packet_output(q, head, input->output)->credits < chunk ? chunk : 0;
}

/* The place of an input lane among those that wait; 0: it does not. */
static uint32_t turn_of(const struct packets *q, struct packet_head *head, uint32_t lane)
{
    for (uint32_t i = 0; !q->by_output && i < head->waiting; i++)
        if (packet_waits(q, head)[i] == lane)
            return i + 1;
    return 0;
}

uint32_t packet_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    const struct packets *q = routers;
    return packet_output(q, packet_head(q, router), lane)->flits;
}

void packet_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                 struct shown_router *shown)
{
    const struct packets *q = routers;
    struct packet_head *head = packet_head(q, router);
    struct packet_lane *input = packet_input(q, head, lane);
    bool is_empty = input->first == FW_NONE;
    seen->packet = input->first;
    seen->flits = input->flits;
    seen->room = is_empty ? 0 : room_needed(q, head, input);
    seen->turn = is_empty ? 0 : turn_of(q, head, lane);
    seen->output = input->output == LANE_IDLE && !is_empty ? LANE_ROUTED : input->output;
    seen->wants = packet_wants_of(q, head, input, lane, q->words);
    seen->owner = packet_owners(q, head)[lane];
    seen->is_full = seen->owner == NOBODY;
    seen->credits = packet_output(q, head, lane)->credits;
    seen->depth = bits_test(packet_set_at(head, SET_USABLE, q->words), lane) ? q->depth : 0;
    if (shown)
        show_lane(q, input, shown, &shown->inputs[lane].queue);
    if (q->by_output)
        look_at_lines(q, head, lane, seen, shown);
}
