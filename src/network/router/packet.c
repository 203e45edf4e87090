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

/* ---- what the stages ask for, see packet_stages.h ---- */

static inline uint64_t *packet_set(const struct packets *q, struct packet_head *head, enum packet_set set,
                                   uint32_t words)
{
    (void)q;
    return packet_set_at(head, set, words);
}

static inline void wake(const struct packets *q, struct packet_head *head, tick_t now)
{
    router_wake(q->engine, head->number, &head->step_at, now);
}

static inline void tell_sensors(const struct packets *q, const struct packet_head *head, uint32_t lane, int32_t change,
                                tick_t now)
{
    congestion_change(q->congestion, head->number, lane, QUEUE_DOWNSTREAM, change, now);
}

static __attribute__((noinline)) void trace_chunk(const struct packets *q, const struct packet_head *head,
                                                  const struct chunk *chunk, tick_t start, tick_t end, tick_t now)
{
    uint32_t position = chunk->unit.place & FLIT_POSITION;
    network_trace(q->network, now, head->number, "send_chunk", "flits %u to %u by port %u vc %u from %llu to %llu",
                  position, position + chunk->flits - 1, chunk->output / q->num_vcs, chunk->output % q->num_vcs,
                  (unsigned long long)start, (unsigned long long)end);
}

static inline void put_on_channel(struct packets *q, const struct packet_head *head, const struct packet_lane *input,
                                  const struct packet_port *port, const struct chunk *chunk, tick_t start, tick_t now)
{
    tick_t behind = chunk->flits - 1, end = start + behind * port->cycle; /* when the last flit leaves */
    struct lane_place to = {.target = port->target, .lane = port->first_lane + q->places[chunk->output].vc};
    send_flit(q->network, port->kind, to, chunk->unit, start + port->latency + behind * port->lag);
    send_credits(q->network, input->back_kind, input->back, chunk->flits,
                 (q->by_output ? now : end) + input->back_delay);
    if (network_is_traced(q->network, chunk->unit.packet))
        trace_chunk(q, head, chunk, start, end, now);
}

#include "network/router/packet_stages.h"

/* ---- what arrives, and the steps ---- */

/* What is the same in all questions of a batch. */
static inline struct route begin_questions(const struct packets *q, tick_t now)
{
    return (struct route){.routing = &q->network->routing, .congestion = q->congestion, .now = now};
}

/* A network that does not fit the cache: what the events to come will touch is fetched ahead. */
#define FETCH_AHEAD 8

FOR_WORDS void receive_all(const struct packets *q, const struct flit_event *event, uint32_t count, uint32_t words,
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
        receive_chunk(q, packet_head(q, event->to.target), event->to.lane, event->flit, &question, words, now);
    }
}

static void packet_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct packets *q = routers;
    if (q->words == 1)
        receive_all(q, events, count, 1, now);
    else
        receive_all(q, events, count, q->words, now);
}

static void packet_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct packets *q = routers;
    for (const struct credits_event *event = events, *end = event + count; event < end; event++) {
        if (event + FETCH_AHEAD < end) {
            const struct lane_place *ahead = &event[FETCH_AHEAD].to;
            __builtin_prefetch(packet_head(q, ahead->target));
            __builtin_prefetch(packet_output(q, packet_head(q, ahead->target), ahead->lane), 1);
        }
        receive_room(q, packet_head(q, event->to.target), event->to.lane, event->flits, now);
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
    .device = {.file = "src/device/packet_kernel.h"},
    .size = sizeof(struct packets),
    .plan = packet_plan,
    .build = packet_build,
    .receive_flits = packet_receive_flits,
    .receive_credits = packet_receive_credits,
    .step = packet_step,
    .look = packet_look,
    .lane_flits = packet_lane_flits,
    .find = packet_find,
    .take_out = packet_take_out,
    .holder = packet_holder,
    .close = packet_close,
    .ask_again = packet_ask_again,
};
REGISTER_ROUTER(packet);
