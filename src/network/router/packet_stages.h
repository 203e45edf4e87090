/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. The stages of the packet routers: see packet.c. What includes this knows struct packets already, and
 * says
 *
 *   packet_set()      a set of the router's lanes
 *   wake()            the router steps in this tick
 *   tell_sensors()    the buffer behind an output lane has so many more flits
 *   put_on_channel()  a chunk goes out from a tick on, which may be later than now, and its credits go back
 */
#include "network/router/packet_lanes.h"

/* Everything is compiled twice: for routers whose lanes fit a word, which is most of them, and for others. */
#define FOR_WORDS FW_INLINE

/*
 * Asks where the packet at the front of a lane may go. Sensors show nothing of this tick, so it does not matter when in
 * the tick that is.
 */
FOR_WORDS void route(const struct packets *q, FW_GLOBAL struct packet_head *head, FW_GLOBAL struct packet_lane *input,
                     uint32_t lane, struct route *question, uint32_t words)
{
    question->router = head->number;
    ask_route(q->network, question, input->first, lane, input->back_kind == EVENT_CREDIT,
              packet_wants_of(q, head, input, lane, words), packet_set(q, head, SET_USABLE, words), words,
              question->now);
#if FW_HOST
    if (network_is_traced(q->network, input->first))
        trace_route(q->network, question, lane, question->now);
#endif
}

/* ---- what arrives is stored ---- */

/* A packet's first chunk goes behind what is there. */
static inline void begin_packet(const struct packets *q, FW_GLOBAL struct packet_lane *input,
                                FW_GLOBAL struct packet *packet, uint32_t handle)
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

/* A chunk arrives at a lane. */
FOR_WORDS void receive_chunk(const struct packets *q, FW_GLOBAL struct packet_head *head, uint32_t lane,
                             struct flit flit, struct route *question, uint32_t words, tick_t now)
{
    uint32_t handle = flit.packet, position = flit.place & FLIT_POSITION;
    FW_GLOBAL struct packet_lane *input = packet_input(q, head, lane);
    FW_GLOBAL struct packet *packet = network_packet(q->network, handle);
    uint32_t flits = transfer_flits(&q->network->plan.transfer, packet, position);
    bool is_alone = input->first == FW_NONE;
    if (flit.place & FLIT_HEAD)
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
#if FW_HOST
        if (words == 1) /* the step will look at it */
            __builtin_prefetch(PACKET_PART(head, void, q->places[lowest_bit(input->wants)].port_at), 1);
#endif
    } else if (input->first != handle || input->output >= LANE_ROUTED) {
        return; /* its turn comes by itself */
    }
    bits_add(packet_set(q, head, SET_FRESH, words), lane);
    wake(q, head, now);
}

/* Credits arrive: an output lane has room for so many flits more. */
static inline void receive_room(const struct packets *q, FW_GLOBAL struct packet_head *head, uint32_t lane,
                                uint32_t flits, tick_t now)
{
    FW_GLOBAL struct packet_output *output = packet_output(q, head, lane);
    FW_CHECK(flits <= q->depth - output->credits, "tick %llu router %u lane %u: credits for %u flits too many",
             (unsigned long long)now, head->number, lane, flits);
    output->credits += flits;
    tell_sensors(q, head, lane, -(int32_t)flits, now);
    if (head->waiting || (q->divides && packet_owners(q, head)[lane] != NOBODY)) {
        bits_add(packet_set(q, head, SET_OPENED, q->words), lane);
        wake(q, head, now);
    }
}

/* ---- sending ---- */

/* The first packet is through: the next one comes to the front. */
static inline void end_packet(const struct packets *q, FW_GLOBAL struct packet_lane *input)
{
    input->output = LANE_IDLE;
    input->sent = 0;
    input->first = input->second;
    if (input->first != FW_NONE)
        input->second = network_packet(q->network, input->first)->next;
}

/* The next chunk of the first packet takes its turn on the channel of an output lane, which has room for it. */
FW_INLINE void send_chunk(struct packets *q, FW_GLOBAL struct packet_head *head, FW_GLOBAL struct packet_lane *input,
                          uint32_t output, FW_GLOBAL const struct packet *packet, uint32_t flits, tick_t now)
{
    FW_GLOBAL struct packet_output *out = packet_output(q, head, output);
    FW_GLOBAL struct packet_port *port = PACKET_PART(head, struct packet_port, place_of_lane(q, output).port_at);
    tick_t start = port->free_at > now ? port->free_at : now;
    uint32_t position = input->sent;
    const struct chunk chunk = {transfer_unit(packet, input->first, position, flits), output, flits};
    port->free_at = start + (tick_t)(flits - 1) * port->cycle + port->cycle;
    out->credits -= flits;
    out->flits += flits;
    input->sent = position + flits;
    input->flits -= flits;
    q->flit_hops += flits;
    tell_sensors(q, head, output, (int32_t)flits, now);
    put_on_channel(q, head, input, port, &chunk, start, now);
}

/* Sends what has come of a packet that holds an output lane, as long as there is room; true: it is through. */
static bool send_body(struct packets *q, FW_GLOBAL struct packet_head *head, FW_GLOBAL struct packet_lane *input,
                      tick_t now)
{
    FW_GLOBAL const struct packet *packet = network_packet(q->network, input->first);
    uint32_t output = input->output;
    FW_GLOBAL struct packet_output *out = packet_output(q, head, output);
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
    bits_remove(packet_set(q, head, SET_OWNED, q->words), output);
    bits_add(packet_set(q, head, SET_OPENED, q->words), output);
    end_packet(q, input);
    return true;
}

/* The first of some lanes that has room, after the input lane's last, going round; FW_NONE: none has. */
FOR_WORDS uint32_t find_room(const struct packets *q, FW_GLOBAL struct packet_head *head,
                             FW_GLOBAL const struct packet_lane *input, FW_GLOBAL const uint64_t *wants, uint32_t room,
                             uint32_t words)
{
    const uint64_t *claimed = packet_set(q, head, SET_CLAIMED, words), *owned = packet_set(q, head, SET_OWNED, words);
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
FOR_WORDS enum attempt take_lane(struct packets *q, FW_GLOBAL struct packet_head *head,
                                 FW_GLOBAL struct packet_lane *input, uint32_t lane, uint32_t words, tick_t now)
{
    FW_GLOBAL const struct packet *packet = network_packet(q->network, input->first);
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
    bits_add(packet_set(q, head, SET_OWNED, words), output);
    return send_body(q, head, input, now) ? THROUGH : BEGUN;
}

/* ---- queueing by output ---- */

/* The lane that a packet waits for: of those that it may have the one with the most room, an escape where there are some. */
FOR_WORDS uint32_t choose_line(const struct packets *q, FW_GLOBAL struct packet_head *head,
                               FW_GLOBAL const uint64_t *wants, uint32_t words)
{
    uint32_t best = FW_NONE;
    bool best_escapes = false;
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t left = wants[w]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)(w * WORD_BITS + lowest_bit(left));
            bool is_escape = routing_is_escape(&q->network->routing, place_of_lane(q, lane).vc);
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
FOR_WORDS void line_up(const struct packets *q, FW_GLOBAL struct packet_head *head, FW_GLOBAL struct packet_lane *input,
                       uint32_t lane, uint32_t words)
{
    uint32_t output = choose_line(q, head, packet_wants_of(q, head, input, lane, words), words), handle = input->first;
    FW_GLOBAL struct packet *packet = network_packet(q->network, handle);
    end_packet(q, input);
    packet->head_delay = lane;
    packet_queue_put(q->network, packet_lines(q, head) + output, handle);
    bits_add(packet_set(q, head, SET_CLAIMED, words), output);
    head->waiting++;
}

/* Sends those in line for an output lane, as long as there is room. */
FOR_WORDS void serve_line(struct packets *q, FW_GLOBAL struct packet_head *head, uint32_t output, uint32_t words,
                          tick_t now)
{
    FW_GLOBAL struct packet_queue *line = packet_lines(q, head) + output;
    while (line->first != FW_NONE) {
        FW_GLOBAL const struct packet *packet = network_packet(q->network, line->first);
        if (packet_output(q, head, output)->credits < packet->size)
            return;
        FW_GLOBAL struct packet_lane *input = packet_input(q, head, packet->head_delay);
        uint32_t fresh = input->first;
        input->first = packet_queue_take(q->network, line);
        send_chunk(q, head, input, output, packet, packet->size, now);
        input->first = fresh;
        input->sent = 0;
        head->waiting--;
    }
    bits_remove(packet_set(q, head, SET_CLAIMED, words), output);
}

FOR_WORDS void serve_lines(struct packets *q, FW_GLOBAL struct packet_head *head, uint32_t words, tick_t now)
{
    const uint64_t *opened = packet_set(q, head, SET_OPENED, words), *claimed = packet_set(q, head, SET_CLAIMED, words);
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t left = opened[w] & claimed[w]; left; left &= left - 1)
            serve_line(q, head, (uint32_t)(w * WORD_BITS + lowest_bit(left)), words, now);
}

/* ---- the step ---- */

FOR_WORDS void claim(const struct packets *q, FW_GLOBAL struct packet_head *head, uint32_t lane, uint32_t words)
{
    uint64_t *claimed = packet_set(q, head, SET_CLAIMED, words);
    FW_GLOBAL const uint64_t *wants = packet_wants_of(q, head, packet_input(q, head, lane), lane, words);
    for (uint32_t w = 0; w < words; w++)
        claimed[w] |= wants[w];
}

/* Chunks of packets that hold an output lane: new ones, and those whose lane has room again. */
FOR_WORDS void move_bodies(struct packets *q, FW_GLOBAL struct packet_head *head, uint32_t words, tick_t now)
{
    uint64_t *fresh = packet_set(q, head, SET_FRESH, words);
    const uint64_t *opened = packet_set(q, head, SET_OPENED, words), *owned = packet_set(q, head, SET_OWNED, words);
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t left = opened[w] & owned[w]; left; left &= left - 1)
            if (packet_owners(q, head)[w * WORD_BITS + lowest_bit(left)] != NOBODY) /* else its port is closed */
                bits_add(fresh, packet_owners(q, head)[w * WORD_BITS + lowest_bit(left)]);
    BITS_EACH(lane, fresh, words) {
        FW_GLOBAL struct packet_lane *input = packet_input(q, head, (uint32_t)lane);
        if (input->output < LANE_ROUTED && (!send_body(q, head, input, now) || input->first == FW_NONE))
            bits_remove(fresh, (uint32_t)lane);
    }
}

/* Have two sets a member in common? */
FOR_WORDS bool meet(FW_GLOBAL const uint64_t *wants, const uint64_t *set, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (wants[w] & set[w])
            return true;
    return false;
}

/*
 * Who can have gained nothing is passed over. Those who go set free what they claimed: it counts as opened for the
 * ones behind.
 */
FOR_WORDS void retry(struct packets *q, FW_GLOBAL struct packet_head *head, uint32_t words, tick_t now)
{
    uint64_t *claimed = packet_set(q, head, SET_CLAIMED, words), *opened = packet_set(q, head, SET_OPENED, words);
    FW_GLOBAL uint16_t *order = packet_waits(q, head);
    uint32_t left = 0;
    for (uint32_t w = 0; w < words; w++)
        claimed[w] = 0;
    for (uint32_t i = 0; i < head->waiting; i++) {
        uint32_t lane = order[i];
        FW_GLOBAL struct packet_lane *input = packet_input(q, head, lane);
        FW_GLOBAL const uint64_t *wants = packet_wants_of(q, head, input, lane, words);
        enum attempt attempt = meet(wants, opened, words) ? take_lane(q, head, input, lane, words, now) : BLOCKED;
        if (attempt == BLOCKED) {
            claim(q, head, lane, words);
            order[left++] = (uint16_t)lane;
            continue;
        }
        for (uint32_t w = 0; w < words; w++)
            opened[w] |= wants[w];
        if (attempt == THROUGH && input->first != FW_NONE)
            bits_add(packet_set(q, head, SET_FRESH, words), lane);
    }
    head->waiting = left;
}

/* Sends the packets of a lane, until one must wait. */
FOR_WORDS void advance(struct packets *q, FW_GLOBAL struct packet_head *head, uint32_t lane, struct route *question,
                       uint32_t words, tick_t now)
{
    FW_GLOBAL struct packet_lane *input = packet_input(q, head, lane);
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

FOR_WORDS void step_router(struct packets *q, FW_GLOBAL struct packet_head *head, struct route *question,
                           uint32_t words, tick_t now)
{
    uint64_t *opened = packet_set(q, head, SET_OPENED, words), *fresh = packet_set(q, head, SET_FRESH, words);
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
