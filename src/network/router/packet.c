/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet router: packets, or chunks of them, move whole. An event for each
 * chunk and hop and one for its credits; work does not grow with size.
 *
 *   input buffers (bytes) -> delay -> route -> output lane with room -> channel
 *
 * The sender of a chunk has reserved its place downstream and knows how long the
 * way and the router's delay take, so the router is told of a chunk when it could
 * leave, and routes it there and then when it comes to the front of its lane. A step,
 * later in the same tick, does in order:
 *
 *   move_bodies   chunks of packets that hold an output lane
 *   retry         packets that wait for a lane, the longest wait first
 *   advance       packets that are new at the front take a lane
 *
 * A chunk that gets a lane is sent at once: it has its place downstream, and its
 * channel as soon as all that were before it are through. So an output is a queue,
 * first come first served, whose waiting chunks still fill their input buffers. A
 * packet waits at the front of its lane only for room downstream; it claims the
 * lanes it could take, so that smaller packets do not overtake it for ever.
 *   Of several lanes that it may have it takes the first with room, after the one
 * that its input lane had last, going round.
 *   Queueing by output, a packet without room does not keep those behind it: it goes into the line of a lane that it may
 * have, and is served from there.
 */
#include "network/router/packet.h"

#include "flitwarp/congestion.h"

/* Everything is compiled twice: for routers whose lanes fit a word, which is most of them, and for others. */
#define FOR_WORDS static inline __attribute__((always_inline))

/* What is the same in all questions of a batch. */
static inline struct route begin_questions(const struct packets *q, tick_t now)
{
    return (struct route){.routing = &q->network->routing, .congestion = q->congestion, .now = now};
}

/*
 * Asks where the packet at the front of a lane may go. Sensors show nothing of this tick, so it does not matter when in
 * the tick that is.
 */
FOR_WORDS void route(const struct packets *q, struct packet_head *head, struct packet_lane *input, uint32_t lane,
                     struct route *question, uint32_t words)
{
    question->router = head->number;
    ask_route(q->network, question, input->first, lane, input->back_kind == EVENT_CREDIT,
              packet_wants_of(q, head, input, lane, words), packet_set(head, SET_USABLE, words), words, question->now);
    if (network_is_traced(q->network, input->first))
        trace_route(q->network, question, lane, question->now);
}

/* ---- what arrives is stored ---- */

/* A packet's first chunk goes behind what is there. */
static inline void begin_packet(const struct packets *q, struct packet_lane *input, struct packet *packet,
                                uint32_t handle)
{
    packet->next = FW_NONE;
    if (input->first == FW_NONE)
        input->first = handle;
    else if (input->second == FW_NONE)
        input->second = handle;
    else
        network_packet(q->network, input->last)->next = handle;
    input->last = handle;
    input->arrived = 0;
}

FOR_WORDS void receive_chunk(const struct packets *q, const struct flit_event *event, struct route *question,
                             uint32_t words, tick_t now)
{
    uint32_t lane = event->to.lane, handle = event->flit.packet, position = event->flit.place & FLIT_POSITION;
    struct packet_head *head = packet_head(q, event->to.target);
    struct packet_lane *input = packet_input(q, head, lane);
    struct packet *packet = network_packet(q->network, handle);
    uint32_t flits = transfer_flits(&q->network->plan.transfer, packet, position);
    bool is_alone = input->first == FW_NONE;
    if (event->flit.place & FLIT_HEAD)
        begin_packet(q, input, packet, handle);
    FW_CHECK(input->last == handle && input->arrived == position && input->first != FW_NONE,
             "tick %llu router %u lane %u: packet %u brings flit %u where %u of packet %u is due",
             (unsigned long long)now, head->number, lane, handle, position, input->arrived, input->last);
    FW_CHECK(flits <= q->depth - input->flits, "tick %llu router %u lane %u: packet %u overruns the buffer",
             (unsigned long long)now, head->number, lane, handle);
    input->arrived += flits;
    input->flits += flits;
    if (is_alone) {
        route(q, head, input, lane, question, words);
        input->output = LANE_ROUTED;
        if (words == 1) /* the step will look at it */
            __builtin_prefetch(PACKET_PART(head, void, q->places[lowest_bit(input->wants)].port_at), 1);
    } else if (input->first != handle || input->output >= LANE_ROUTED) {
        return; /* its turn comes by itself */
    }
    bits_add(packet_set(head, SET_FRESH, words), lane);
    router_wake(q->engine, head->number, &head->step_at, now);
}

/* A network that does not fit the cache: what the events to come will touch is fetched ahead. */
#define FETCH_AHEAD 8

FOR_WORDS void receive_chunks(const struct packets *q, const struct flit_event *event, uint32_t count, uint32_t words,
                              tick_t now)
{
    struct route question = begin_questions(q, now);
    for (const struct flit_event *end = event + count; event < end; event++) {
        if (event + FETCH_AHEAD < end) {
            const struct flit_event *ahead = event + FETCH_AHEAD;
            struct packet_head *head = packet_head(q, ahead->to.target);
            __builtin_prefetch(head, 1);
            __builtin_prefetch(packet_input(q, head, ahead->to.lane), 1);
            __builtin_prefetch(network_packet(q->network, ahead->flit.packet), 1);
        }
        receive_chunk(q, event, &question, words, now);
    }
}

static void packet_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct packets *q = routers;
    if (q->words == 1)
        receive_chunks(q, events, count, 1, now);
    else
        receive_chunks(q, events, count, q->words, now);
}

static void packet_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct packets *q = routers;
    for (const struct credits_event *event = events, *end = event + count; event < end; event++) {
        struct packet_head *head = packet_head(q, event->to.target);
        uint32_t lane = event->to.lane;
        struct packet_output *output = packet_output(q, head, lane);
        if (event + FETCH_AHEAD < end) {
            const struct lane_place *ahead = &event[FETCH_AHEAD].to;
            __builtin_prefetch(packet_head(q, ahead->target));
            __builtin_prefetch(packet_output(q, packet_head(q, ahead->target), ahead->lane), 1);
        }
        FW_CHECK(event->flits <= q->depth - output->credits,
                 "tick %llu router %u lane %u: credits for %u flits too many", (unsigned long long)now, head->number,
                 lane, event->flits);
        output->credits += event->flits;
        congestion_change(q->congestion, head->number, lane, QUEUE_DOWNSTREAM, -(int32_t)event->flits, now);
        if (head->waiting || (q->divides && packet_owners(q, head)[lane] != NOBODY)) {
            bits_add(packet_set(head, SET_OPENED, q->words), lane);
            router_wake(q->engine, head->number, &head->step_at, now);
        }
    }
}

/* ---- sending ---- */

/* The first packet is through: the next one comes to the front. */
static inline void end_packet(const struct packets *q, struct packet_lane *input)
{
    input->output = LANE_IDLE;
    input->sent = 0;
    input->first = input->second;
    if (input->first != FW_NONE)
        input->second = network_packet(q->network, input->first)->next;
}

static __attribute__((noinline)) void trace_chunk(const struct packets *q, const struct packet_head *head,
                                                  uint32_t output, uint32_t position, uint32_t flits, tick_t start,
                                                  tick_t end, tick_t now)
{
    network_trace(q->network, now, head->number, "send_chunk", "flits %u to %u by port %u vc %u from %llu to %llu",
                  position, position + flits - 1, output / q->num_vcs, output % q->num_vcs, (unsigned long long)start,
                  (unsigned long long)end);
}

/* The next chunk of the first packet takes its turn on the channel of an output lane, which has room for it. */
static inline void send_chunk(struct packets *q, struct packet_head *head, struct packet_lane *input, uint32_t output,
                              const struct packet *packet, uint32_t flits, tick_t now)
{
    struct packet_output *out = packet_output(q, head, output);
    struct packet_port *port = PACKET_PART(head, struct packet_port, q->places[output].port_at);
    tick_t start = port->free_at > now ? port->free_at : now;
    tick_t behind = flits - 1,
           end = start + behind * port->cycle; /* flits behind the first; when the last one leaves */
    uint32_t position = input->sent;
    struct flit unit = transfer_unit(packet, input->first, position, flits);
    struct lane_place to = {.target = port->target, .lane = port->first_lane + q->places[output].vc};
    port->free_at = end + port->cycle;
    out->credits -= flits;
    out->flits += flits;
    input->sent = position + flits;
    input->flits -= flits;
    q->flit_hops += flits;
    congestion_change(q->congestion, head->number, output, QUEUE_DOWNSTREAM, (int32_t)flits, now);
    send_flit(q->network, port->kind, to, unit, start + port->latency + behind * port->lag);
    send_credits(q->network, input->back_kind, input->back, flits, (q->by_output ? now : end) + input->back_delay);
    if (network_is_traced(q->network, input->first))
        trace_chunk(q, head, output, position, flits, start, end, now);
}

/* Sends what has come of a packet that holds an output lane, as long as there is room; true: it is through. */
static bool send_body(struct packets *q, struct packet_head *head, struct packet_lane *input, tick_t now)
{
    const struct packet *packet = network_packet(q->network, input->first);
    uint32_t output = input->output;
    struct packet_output *out = packet_output(q, head, output);
    uint32_t here = input->first == input->last ? input->arrived : packet->size;
    while (input->sent < here) {
        uint32_t flits = transfer_flits(&q->network->plan.transfer, packet, input->sent);
        if (out->credits < flits)
            return false;
        send_chunk(q, head, input, output, packet, flits, now);
    }
    if (input->sent < packet->size)
        return false;
    packet_owners(q, head)[output] = NOBODY;
    bits_remove(packet_set(head, SET_OWNED, q->words), output);
    bits_add(packet_set(head, SET_OPENED, q->words), output);
    end_packet(q, input);
    return true;
}

/* The first of some lanes that has room, after the input lane's last, going round; FW_NONE: none has. */
FOR_WORDS uint32_t find_room(const struct packets *q, struct packet_head *head, const struct packet_lane *input,
                             const uint64_t *wants, uint32_t room, uint32_t words)
{
    const uint64_t *claimed = packet_set(head, SET_CLAIMED, words), *owned = packet_set(head, SET_OWNED, words);
    uint32_t from = input->last_output + 1u < q->lanes ? input->last_output + 1u : 0, first = from / WORD_BITS;
    uint64_t behind = ~(uint64_t)0 << from % WORD_BITS;
    for (uint32_t i = 0; i <= words; i++) {
        uint32_t w = words == 1 ? 0 : first + i < words ? first + i : first + i - words;
        uint64_t left = wants[w] & ~claimed[w] & ~owned[w];
        left &= i == 0 ? behind : i == words ? ~behind : ~(uint64_t)0;
        for (; left; left &= left - 1) {
            uint32_t output = (uint32_t)(w * WORD_BITS + lowest_bit(left));
            if (packet_output(q, head, output)->credits >= room)
                return output;
        }
    }
    return FW_NONE;
}

enum attempt { BLOCKED, BEGUN, THROUGH };

/* A packet without an output lane takes one and begins to leave, if one that it may have is free. */
FOR_WORDS enum attempt take_lane(struct packets *q, struct packet_head *head, struct packet_lane *input, uint32_t lane,
                                 uint32_t words, tick_t now)
{
    const struct packet *packet = network_packet(q->network, input->first);
    uint32_t flits = transfer_flits(&q->network->plan.transfer, packet, 0), room = flits;
    if (q->whole_for_room)
        room = packet->size < q->depth ? packet->size : q->depth;
    uint32_t output = find_room(q, head, input, packet_wants_of(q, head, input, lane, words), room, words);
    if (output == FW_NONE)
        return BLOCKED;
    input->last_output = (uint16_t)output;
    send_chunk(q, head, input, output, packet, flits, now);
    if (flits == packet->size) {
        end_packet(q, input);
        return THROUGH;
    }
    input->output = (uint16_t)output;
    packet_owners(q, head)[output] = (uint16_t)lane;
    bits_add(packet_set(head, SET_OWNED, words), output);
    return send_body(q, head, input, now) ? THROUGH : BEGUN;
}

/* ---- queueing by output ---- */

/* The lane that a packet waits for: of those that it may have the one with the most room, an escape where there are some. */
FOR_WORDS uint32_t choose_line(const struct packets *q, struct packet_head *head, const uint64_t *wants, uint32_t words)
{
    uint32_t best = FW_NONE;
    bool best_escapes = false;
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t left = wants[w]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)(w * WORD_BITS + lowest_bit(left));
            bool is_escape = routing_is_escape(&q->network->routing, q->places[lane].vc);
            if (best == FW_NONE || is_escape > best_escapes ||
                (is_escape == best_escapes &&
                 packet_output(q, head, lane)->credits > packet_output(q, head, best)->credits)) {
                best = lane;
                best_escapes = is_escape;
            }
        }
    return best;
}

/* The first packet of a lane, which found no room, stands in line and lets the next one come to the front. */
FOR_WORDS void line_up(const struct packets *q, struct packet_head *head, struct packet_lane *input, uint32_t lane,
                       uint32_t words)
{
    uint32_t output = choose_line(q, head, packet_wants_of(q, head, input, lane, words), words), handle = input->first;
    struct packet *packet = network_packet(q->network, handle);
    end_packet(q, input);
    packet->head_delay = lane;
    packet_queue_put(q->network, packet_lines(q, head) + output, handle);
    bits_add(packet_set(head, SET_CLAIMED, words), output);
    head->waiting++;
}

/* Sends those in line for an output lane, as long as there is room. */
FOR_WORDS void serve_line(struct packets *q, struct packet_head *head, uint32_t output, uint32_t words, tick_t now)
{
    struct packet_queue *line = packet_lines(q, head) + output;
    while (line->first != FW_NONE) {
        const struct packet *packet = network_packet(q->network, line->first);
        if (packet_output(q, head, output)->credits < packet->size)
            return;
        struct packet_lane *input = packet_input(q, head, packet->head_delay);
        uint32_t fresh = input->first;
        input->first = packet_queue_take(q->network, line);
        send_chunk(q, head, input, output, packet, packet->size, now);
        input->first = fresh;
        input->sent = 0;
        head->waiting--;
    }
    bits_remove(packet_set(head, SET_CLAIMED, words), output);
}

FOR_WORDS void serve_lines(struct packets *q, struct packet_head *head, uint32_t words, tick_t now)
{
    const uint64_t *opened = packet_set(head, SET_OPENED, words), *claimed = packet_set(head, SET_CLAIMED, words);
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t left = opened[w] & claimed[w]; left; left &= left - 1)
            serve_line(q, head, (uint32_t)(w * WORD_BITS + lowest_bit(left)), words, now);
}

/* ---- the step ---- */

FOR_WORDS void claim(const struct packets *q, struct packet_head *head, uint32_t lane, uint32_t words)
{
    uint64_t *claimed = packet_set(head, SET_CLAIMED, words);
    const uint64_t *wants = packet_wants_of(q, head, packet_input(q, head, lane), lane, words);
    for (uint32_t w = 0; w < words; w++)
        claimed[w] |= wants[w];
}

/* Chunks of packets that hold an output lane: new ones, and those whose lane has room again. */
FOR_WORDS void move_bodies(struct packets *q, struct packet_head *head, uint32_t words, tick_t now)
{
    uint64_t *fresh = packet_set(head, SET_FRESH, words);
    const uint64_t *opened = packet_set(head, SET_OPENED, words), *owned = packet_set(head, SET_OWNED, words);
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t left = opened[w] & owned[w]; left; left &= left - 1)
            bits_add(fresh, packet_owners(q, head)[w * WORD_BITS + lowest_bit(left)]);
    BITS_EACH(lane, fresh, words) {
        struct packet_lane *input = packet_input(q, head, (uint32_t)lane);
        if (input->output < LANE_ROUTED && (!send_body(q, head, input, now) || input->first == FW_NONE))
            bits_remove(fresh, (uint32_t)lane);
    }
}

/*
 * Who can have gained nothing is passed over. Those who go set free what they claimed: it counts as opened for the
 * ones behind.
 */
FOR_WORDS void retry(struct packets *q, struct packet_head *head, uint32_t words, tick_t now)
{
    uint64_t *claimed = packet_set(head, SET_CLAIMED, words), *opened = packet_set(head, SET_OPENED, words);
    uint16_t *order = packet_waits(q, head);
    uint32_t left = 0;
    for (uint32_t w = 0; w < words; w++)
        claimed[w] = 0;
    for (uint32_t i = 0; i < head->waiting; i++) {
        uint32_t lane = order[i];
        struct packet_lane *input = packet_input(q, head, lane);
        const uint64_t *wants = packet_wants_of(q, head, input, lane, words);
        enum attempt attempt = bits_meet(wants, opened, words) ? take_lane(q, head, input, lane, words, now) : BLOCKED;
        if (attempt == BLOCKED) {
            claim(q, head, lane, words);
            order[left++] = (uint16_t)lane;
            continue;
        }
        for (uint32_t w = 0; w < words; w++)
            opened[w] |= wants[w];
        if (attempt == THROUGH && input->first != FW_NONE)
            bits_add(packet_set(head, SET_FRESH, words), lane);
    }
    head->waiting = left;
}

/* Sends the packets of a lane, until one must wait. */
FOR_WORDS void advance(struct packets *q, struct packet_head *head, uint32_t lane, struct route *question,
                       uint32_t words, tick_t now)
{
    struct packet_lane *input = packet_input(q, head, lane);
    enum attempt attempt;
    do {
        if (input->output == LANE_IDLE)
            route(q, head, input, lane, question, words);
        attempt = take_lane(q, head, input, lane, words, now);
        if (attempt == BLOCKED && q->by_output) {
            line_up(q, head, input, lane, words);
            attempt = THROUGH;
        }
    } while (attempt == THROUGH && input->first != FW_NONE);
    if (attempt != BLOCKED)
        return;
    input->output = LANE_WAITS;
    packet_waits(q, head)[head->waiting++] = (uint16_t)lane;
    claim(q, head, lane, words);
}

FOR_WORDS void step_router(struct packets *q, struct packet_head *head, struct route *question, uint32_t words,
                           tick_t now)
{
    uint64_t *opened = packet_set(head, SET_OPENED, words), *fresh = packet_set(head, SET_FRESH, words);
    if (q->divides)
        move_bodies(q, head, words, now);
    if (head->waiting && q->by_output)
        serve_lines(q, head, words, now);
    else if (head->waiting && bits_any(opened, words))
        retry(q, head, words, now);
    for (uint32_t w = 0; w < words; w++)
        opened[w] = 0;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t left = fresh[w];
        for (fresh[w] = 0; left; left &= left - 1)
            advance(q, head, (uint32_t)(w * WORD_BITS + lowest_bit(left)), question, words, now);
    }
}

FOR_WORDS void step_routers(struct packets *q, const struct step_event *event, uint32_t count, uint32_t words,
                            tick_t now)
{
    struct route question = begin_questions(q, now);
    for (const struct step_event *end = event + count; event < end; event++) {
        struct packet_head *head = packet_head(q, event->target);
        if (head->step_at != now)
            continue; /* it was woken earlier than this step was posted for */
        head->step_at = FW_NEVER;
        step_router(q, head, &question, words, now);
    }
}

static void packet_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct packets *q = routers;
    if (q->words == 1)
        step_routers(q, events, count, 1, now);
    else
        step_routers(q, events, count, q->words, now);
}

static const struct router_ops packet = {
    .name = "packet",
    .summary = "packets move whole: bandwidth, buffers in bytes and credits, an event a hop",
    .options = packet_options,
    .example = "{\"type\": \"packet\", \"num_vcs\": 2, \"buffer\": 16384, \"delay\": 50}",
    .size = sizeof(struct packets),
    .plan = packet_plan,
    .build = packet_build,
    .receive_flits = packet_receive_flits,
    .receive_credits = packet_receive_credits,
    .step = packet_step,
    .look = packet_look,
    .lane_flits = packet_lane_flits,
};
REGISTER_ROUTER(packet);
