/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet router: packets, or chunks of them, move whole. An event for each
 * chunk and hop and one for its credits; work does not grow with size.
 *
 *   input buffers (bytes) -> delay -> route -> output lane with room -> channel
 *
 * The sender of a chunk has reserved its place downstream and knows how long the
 * way and the router's delay take, so the router is told of a chunk when it could
 * leave. A step, in the tick in which there is something new, does in order:
 *
 *   move_bodies   chunks of packets that hold an output lane
 *   retry         packets that wait for a lane, the longest wait first
 *   take_fresh    packets that are new at the front: ask the algorithm, take a lane
 *
 * A chunk that gets a lane is sent at once: it has its place downstream, and its
 * channel as soon as all that were before it are through. So an output is a queue,
 * first come first served, whose waiting chunks still fill their input buffers. A
 * packet waits at the front of its lane only for room downstream; it claims the
 * lanes it could take, so that smaller packets do not overtake it for ever.
 *   Of several lanes that it may have it takes the first with room, after the one
 * that its input lane had last, going round.
 */
#include "network/router/packet.h"

#include "flitwarp/congestion.h"

static void wake(const struct packets *q, uint32_t router, tick_t when)
{
    struct packet_head *head = &q->heads[router];
    if (when < head->step_at) {
        head->step_at = when;
        struct step_event *event = engine_post(q->engine, EVENT_ROUTER_STEP, when, sizeof *event);
        *event = (struct step_event){.target = router};
    }
}

/* Something of the front packet has come that nobody has tried to send. */
static void add_fresh(const struct packets *q, uint32_t router, uint32_t lane, tick_t now)
{
    bits_add(packet_set(q, router, SET_FRESH), lane);
    wake(q, router, now);
}

/* ---- what arrives is stored ---- */

/* A packet's first chunk goes behind what is there. */
static inline void begin_packet(const struct packets *q, struct packet_lane *input, uint32_t handle)
{
    if (input->first == NONE)
        input->first = handle;
    else if (input->second == NONE)
        input->second = handle;
    else
        network_packet(q->network, input->last)->next = handle;
    input->last = handle;
    input->arrived = 0;
}

static void receive_chunk(const struct packets *q, const struct flit_event *event, tick_t now)
{
    uint32_t router = event->to.target, lane = event->to.lane, position = event->flit.place & FLIT_POSITION;
    struct packet_lane *input = &q->inputs[packet_lane_number(q, router, lane)];
    struct packet *packet = network_packet(q->network, event->flit.packet);
    uint32_t flits = transfer_flits(&q->network->transfer, packet, position);
    bool is_alone = input->first == NONE;
    if (event->flit.place & FLIT_HEAD) {
        packet->next = NONE;
        begin_packet(q, input, event->flit.packet);
    }
    CHECK(input->last == event->flit.packet && input->arrived == position && input->first != NONE,
          "tick %llu router %u lane %u: packet %u brings flit %u where %u of packet %u is due", (unsigned long long)now,
          router, lane, event->flit.packet, position, input->arrived, input->last);
    CHECK(flits <= q->depth - input->flits, "tick %llu router %u lane %u: packet %u overruns the buffer",
          (unsigned long long)now, router, lane, event->flit.packet);
    input->arrived += flits;
    input->flits += flits;
    if (is_alone || (input->first == event->flit.packet && input->output < LANE_WAITS))
        add_fresh(q, router, lane, now);
}

/* A network that does not fit the cache: what the events to come will touch is fetched ahead. */
#define FETCH_AHEAD 8

static void receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct packets *q = routers;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        if (event + FETCH_AHEAD < end) {
            const struct flit_event *ahead = event + FETCH_AHEAD;
            __builtin_prefetch(&q->inputs[packet_lane_number(q, ahead->to.target, ahead->to.lane)], 1);
            __builtin_prefetch(network_packet(q->network, ahead->flit.packet), 1);
            __builtin_prefetch(&q->heads[ahead->to.target], 1);
        }
        receive_chunk(q, event, now);
    }
}

static void report(const struct packets *q, uint32_t router, uint32_t lane, int32_t flits, tick_t now)
{
    if (q->congestion)
        q->congestion->ops->change(q->congestion, router, lane, QUEUE_DOWNSTREAM, flits, now);
}

static void receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct packets *q = routers;
    for (const struct credits_event *event = events, *end = event + count; event < end; event++) {
        uint32_t router = event->to.target, lane = event->to.lane;
        struct packet_output *output = &q->outputs[packet_lane_number(q, router, lane)];
        if (event + FETCH_AHEAD < end) {
            const struct place *ahead = &event[FETCH_AHEAD].to;
            __builtin_prefetch(&q->outputs[packet_lane_number(q, ahead->target, ahead->lane)], 1);
        }
        CHECK(event->flits <= q->depth - output->credits, "tick %llu router %u lane %u: credits for %u flits too many",
              (unsigned long long)now, router, lane, event->flits);
        output->credits += event->flits;
        report(q, router, lane, -(int32_t)event->flits, now);
        if (q->heads[router].waiting || output->owner != NOBODY) {
            bits_add(packet_set(q, router, SET_OPENED), lane);
            wake(q, router, now);
        }
    }
}

/* ---- sending ---- */

/* The first packet is through: the next one comes to the front. */
static void end_packet(const struct packets *q, struct packet_lane *input)
{
    input->output = LANE_IDLE;
    input->sent = 0;
    input->first = input->second;
    if (input->first != NONE)
        input->second = network_packet(q->network, input->first)->next;
}

static void trace_chunk(const struct packets *q, uint32_t router, uint32_t output, struct flit unit, uint32_t flits,
                        tick_t start, tick_t now)
{
    const struct packet_port *port = &q->out_ports[(size_t)router * q->ports + output / q->num_vcs];
    network_trace(q->network, now, router, "send_chunk", "flits %u to %u by port %u vc %u from %llu to %llu",
                  unit.place & FLIT_POSITION, (unit.place & FLIT_POSITION) + flits - 1, output / q->num_vcs,
                  output % q->num_vcs, (unsigned long long)start,
                  (unsigned long long)(start + (tick_t)(flits - 1) * port->cycle));
}

/* The next chunk of the first packet takes its turn on the channel of an output lane, which has room for it. */
static inline void send_chunk(const struct packets *q, uint32_t router, struct packet_lane *input, uint32_t output,
                              const struct packet *packet, uint32_t flits, tick_t now)
{
    struct packet_output *out = &q->outputs[packet_lane_number(q, router, output)];
    struct packet_port *port = &q->out_ports[(size_t)router * q->ports + out->port];
    tick_t start = port->free_at > now ? port->free_at : now;
    tick_t behind = flits - 1; /* flits behind the first */
    struct flit unit = transfer_unit(packet, input->first, input->sent, flits);
    struct place to = {.target = port->to.target, .lane = port->to.lane + output - out->port * q->num_vcs};
    port->free_at = start + (tick_t)flits * port->cycle;
    port->flits += flits;
    out->credits -= flits;
    input->sent += flits;
    input->flits -= flits;
    q->heads[router].flit_hops += flits;
    report(q, router, output, (int32_t)flits, now);
    send_flit(q->engine, port->kind, to, unit, start + port->latency + behind * port->lag);
    send_credits(q->engine, input->back_kind, input->back, flits, start + behind * port->cycle + input->back_delay);
    if (__builtin_expect(q->network->trace_out != NULL, 0) && input->first == q->network->traced)
        trace_chunk(q, router, output, unit, flits, start, now);
}

/* Sends what has come of a packet that holds an output lane, as long as there is room; true: it is through. */
static bool send_body(const struct packets *q, uint32_t router, struct packet_lane *input, tick_t now)
{
    const struct packet *packet = network_packet(q->network, input->first);
    uint32_t output = input->output;
    struct packet_output *out = &q->outputs[packet_lane_number(q, router, output)];
    uint32_t here = input->first == input->last ? input->arrived : packet->size;
    while (input->sent < here) {
        uint32_t flits = transfer_flits(&q->network->transfer, packet, input->sent);
        if (out->credits < flits)
            return false;
        send_chunk(q, router, input, output, packet, flits, now);
    }
    if (input->sent < packet->size)
        return false;
    out->owner = NOBODY;
    bits_remove(packet_set(q, router, SET_OWNED), output);
    bits_add(packet_set(q, router, SET_OPENED), output);
    end_packet(q, input);
    return true;
}

/* A packet that has got an output lane begins to leave; true: it is through. */
static inline bool begin_to_send(const struct packets *q, uint32_t router, uint32_t lane, struct packet_lane *input,
                                 uint32_t output, const struct packet *packet, uint32_t flits, tick_t now)
{
    input->last_output = (uint16_t)output;
    send_chunk(q, router, input, output, packet, flits, now);
    if (flits == packet->size) {
        end_packet(q, input);
        return true;
    }
    input->output = (uint16_t)output;
    q->outputs[packet_lane_number(q, router, output)].owner = (uint16_t)lane;
    bits_add(packet_set(q, router, SET_OWNED), output);
    return send_body(q, router, input, now);
}

/* The first of some lanes that has room, after the input lane's last, going round; NONE: none has. */
static inline uint32_t find_room(const struct packets *q, uint32_t router, const struct packet_lane *input,
                                 const uint64_t *wants, uint32_t room)
{
    const uint64_t *claimed = packet_set(q, router, SET_CLAIMED), *owned = packet_set(q, router, SET_OWNED);
    const struct packet_output *outputs = q->outputs + packet_lane_number(q, router, 0);
    uint32_t from = input->last_output + 1u < q->lanes ? input->last_output + 1u : 0, first = from / WORD_BITS;
    uint64_t behind = ~(uint64_t)0 << from % WORD_BITS;
    for (uint32_t i = 0; i <= q->words; i++) {
        uint32_t w = first + i < q->words ? first + i : first + i - q->words;
        uint64_t left = wants[w] & ~claimed[w] & ~owned[w];
        left &= i == 0 ? behind : i == q->words ? ~behind : ~(uint64_t)0;
        for (; left; left &= left - 1) {
            uint32_t output = (uint32_t)(w * WORD_BITS + lowest_bit(left));
            if (outputs[output].credits >= room)
                return output;
        }
    }
    return NONE;
}

enum attempt { BLOCKED, BEGUN, THROUGH };

/* A packet without an output lane takes one and begins to leave, if one that it may have is free. */
static inline enum attempt take_lane(const struct packets *q, uint32_t router, uint32_t lane, tick_t now)
{
    size_t number = packet_lane_number(q, router, lane);
    struct packet_lane *input = &q->inputs[number];
    const struct packet *packet = network_packet(q->network, input->first);
    uint32_t flits = transfer_flits(&q->network->transfer, packet, 0), room = flits;
    if (q->whole_for_room)
        room = packet->size < q->depth ? packet->size : q->depth;
    uint32_t output = find_room(q, router, input, packet_wants(q, number), room);
    if (output == NONE)
        return BLOCKED;
    return begin_to_send(q, router, lane, input, output, packet, flits, now) ? THROUGH : BEGUN;
}

/* ---- the step ---- */

static void claim(const struct packets *q, uint32_t router, uint32_t lane)
{
    uint64_t *claimed = packet_set(q, router, SET_CLAIMED);
    const uint64_t *wants = packet_wants(q, packet_lane_number(q, router, lane));
    for (uint32_t w = 0; w < q->words; w++)
        claimed[w] |= wants[w];
}

/* Chunks of packets that hold an output lane: new ones, and those whose lane has room again. */
static void move_bodies(const struct packets *q, uint32_t router, tick_t now)
{
    uint64_t *fresh = packet_set(q, router, SET_FRESH);
    const uint64_t *opened = packet_set(q, router, SET_OPENED), *owned = packet_set(q, router, SET_OWNED);
    for (uint32_t w = 0; w < q->words; w++)
        for (uint64_t left = opened[w] & owned[w]; left; left &= left - 1)
            bits_add(fresh,
                     q->outputs[packet_lane_number(q, router, (uint32_t)(w * WORD_BITS + lowest_bit(left)))].owner);
    BITS_EACH(lane, fresh, q->words) {
        struct packet_lane *input = &q->inputs[packet_lane_number(q, router, (uint32_t)lane)];
        if (input->output < LANE_WAITS && (!send_body(q, router, input, now) || input->first == NONE))
            bits_remove(fresh, (uint32_t)lane);
    }
}

static bool meet(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (a[w] & b[w])
            return true;
    return false;
}

/*
 * Who can have gained nothing is passed over. Those who go set free what they claimed: it counts as opened for the
 * ones behind.
 */
static void retry(const struct packets *q, uint32_t router, tick_t now)
{
    struct packet_head *head = &q->heads[router];
    uint64_t *claimed = packet_set(q, router, SET_CLAIMED), *opened = packet_set(q, router, SET_OPENED);
    uint16_t *order = q->wait_order + packet_lane_number(q, router, 0);
    uint32_t left = 0;
    for (uint32_t w = 0; w < q->words; w++)
        claimed[w] = 0;
    for (uint32_t i = 0; i < head->waiting; i++) {
        uint32_t lane = order[i];
        const uint64_t *wants = packet_wants(q, packet_lane_number(q, router, lane));
        enum attempt attempt = meet(wants, opened, q->words) ? take_lane(q, router, lane, now) : BLOCKED;
        if (attempt == BLOCKED) {
            claim(q, router, lane);
            order[left++] = (uint16_t)lane;
            continue;
        }
        for (uint32_t w = 0; w < q->words; w++)
            opened[w] |= wants[w];
        if (attempt == THROUGH && q->inputs[packet_lane_number(q, router, lane)].first != NONE)
            bits_add(packet_set(q, router, SET_FRESH), lane);
    }
    head->waiting = left;
}

/* Routes the packets of a lane and sends them, until one must wait. */
static void advance(const struct packets *q, uint32_t router, uint32_t lane, struct route *question, tick_t now)
{
    size_t number = packet_lane_number(q, router, lane);
    struct packet_lane *input = &q->inputs[number];
    enum attempt attempt = THROUGH;
    while (attempt == THROUGH && input->first != NONE) {
        ask_route(q->network, question, input->first, input->back_kind == EVENT_CREDIT, packet_wants(q, number),
                  packet_set(q, router, SET_USABLE), q->words, now);
        if (__builtin_expect(q->network->trace_out != NULL, 0) && input->first == q->network->traced)
            trace_route(q->network, question, lane, now);
        attempt = take_lane(q, router, lane, now);
    }
    if (attempt != BLOCKED)
        return;
    input->output = LANE_WAITS;
    q->wait_order[packet_lane_number(q, router, q->heads[router].waiting++)] = (uint16_t)lane;
    claim(q, router, lane);
}

static void take_fresh(const struct packets *q, uint32_t router, tick_t now)
{
    uint64_t *fresh = packet_set(q, router, SET_FRESH);
    struct route question = {
        .routing = &q->network->routing, .router = router, .congestion = q->congestion, .now = now};
    for (uint32_t w = 0; w < q->words; w++) {
        uint64_t left = fresh[w];
        for (fresh[w] = 0; left; left &= left - 1)
            advance(q, router, (uint32_t)(w * WORD_BITS + lowest_bit(left)), &question, now);
    }
}

static void step_router(const struct packets *q, uint32_t router, tick_t now)
{
    uint64_t *opened = packet_set(q, router, SET_OPENED);
    if (q->divides)
        move_bodies(q, router, now);
    if (q->heads[router].waiting && bits_any(opened, q->words))
        retry(q, router, now);
    for (uint32_t w = 0; w < q->words; w++)
        opened[w] = 0;
    take_fresh(q, router, now);
}

static void step(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct packets *q = routers;
    for (const struct step_event *event = events, *end = event + count; event < end; event++) {
        struct packet_head *head = &q->heads[event->target];
        if (head->step_at != now)
            continue; /* it was woken earlier than this step was posted for */
        head->step_at = NEVER;
        step_router(q, event->target, now);
    }
}

static const struct router_ops packet = {
    .name = "packet",
    .summary = "packets move whole: bandwidth, buffers in bytes and credits, an event a hop",
    .options = packet_options,
    .config_size = sizeof(struct packet_config),
    .example = "{\"type\": \"packet\", \"num_vcs\": 2, \"buffer\": 16384, \"delay\": 50}",
    .num_vcs = packet_num_vcs,
    .buffer_depth = packet_depth,
    .plan = packet_plan,
    .build = packet_build,
    .receive_flits = receive_flits,
    .receive_credits = receive_credits,
    .step = step,
    .check_idle = packet_check_idle,
    .waits_for = packet_waits_for,
    .flit_hops = packet_flit_hops,
    .port_flits = packet_port_flits,
};
REGISTER_ROUTER(packet);
