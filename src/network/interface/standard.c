/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The standard network interface. Packets wait in one queue at their source,
 * without limit; each injection channel sends the flits of one packet after the
 * other, on a virtual channel picked in turn among those with room. What
 * arrives is consumed at once and its credit returned.
 *
 *   application -> source queue -> injection channels -> router
 *   router -> ejection channels -> (check, count) -> application
 *
 * To each plane of routers a terminal has an outlet: a queue with channels of its own
 * behind it. Where there are several, a packet is given its plane as it comes. Where the
 * terminal's processor takes time to hand packets over, they wait for that first (struct feed).
 *
 * What it sends at once is what the router architecture moves at once (struct
 * transfer): a flit, or a packet or chunk that takes its channel for as long as it
 * has flits. The code is written once for any number of flits and planes, and compiled
 * for exactly one too.
 */
#include "network/interface/standard.h"
#include "network/router/room_behind.h"

static const struct option standard_options[] = {
    OPTION_U32(struct standard_config, injection_channels, "1", 1, 64, NULL,
               "channels from a terminal to its router, in each plane"),
    OPTION_U32(struct standard_config, ejection_channels, "1", 1, 64, NULL,
               "channels from a router to its terminal, in each plane"),
    OPTION_U32(struct standard_config, injection_vcs, "null", 1, 64, NULL,
               "virtual channels of an injection channel that packets enter by, the first that they may; null: all"),
    OPTION_TICKS(struct standard_config, latency, "0", 0, 1000000, "from the source queue to the channel"),
    OPTION_TICKS(
        struct standard_config, feed_cycle, "null", 1, 1000000,
        "between two flits that a terminal's processor hands over, whatever its channels carry; null: all at once"),
    OPTION_END,
};

/* Somebody looks at all that enters. */
void show_flits(const struct interfaces *n, const struct injector *injector, uint32_t position, uint32_t flits,
                struct lane_place to, tick_t now)
{
    const struct network *network = n->network;
    network->listener.enter(network->listener.context, now, network_packet(network, injector->packet), to, flits);
    if (network->trace_out && injector->packet == network->traced)
        network_trace(network, now, FW_NONE, "inject", "flit %u by channel %u vc %u", position, injector->channel,
                      injector->vc);
}

/* Sends a flit or chunk of the packet in hand, if there are credits, and comes again while there is more to send. */
FOR_EITHER void send_next(struct interfaces *n, uint32_t number, struct injector *injector, tick_t now, bool chunks)
{
    const struct packet *packet = network_packet(n->network, injector->packet);
    uint32_t flits = chunks ? transfer_flits(&n->network->plan.transfer, packet, injector->position) : 1;
    if (injector->credits[injector->vc] < flits)
        return;
    injector->credits[injector->vc] -= flits;
    inject_flits(n, injector, packet, flits, now);
    if (injector->packet != FW_NONE || n->outlets[number].source.first != FW_NONE)
        wake(n, number, injector->free_at);
}

FOR_EITHER void step_channel(struct interfaces *n, uint32_t number, struct injector *injector, tick_t now, bool chunks)
{
    struct outlet *outlet = &n->outlets[number];
    if (injector->packet == FW_NONE && outlet->source.first == FW_NONE)
        return;
    if (injector->free_at > now) {
        wake(n, number, injector->free_at);
        return;
    }
    if (injector->packet == FW_NONE) {
        if (!take_packet(n, injector, outlet->source.first, now, chunks))
            return;
        source_queue_take(n, number, &outlet->source);
    }
    send_next(n, number, injector, now, chunks);
}

FOR_EITHER void step_channels(struct interfaces *n, uint32_t number, tick_t now, bool chunks)
{
    struct injector *injector = &n->injectors[(size_t)number * n->channels];
    for (uint32_t left = n->channels; left; left--)
        step_channel(n, number, injector++, now, chunks);
}

static void step_in_flits(struct interfaces *n, uint32_t number, tick_t now) { step_channels(n, number, now, false); }
static void step_in_chunks(struct interfaces *n, uint32_t number, tick_t now) { step_channels(n, number, now, true); }

FOR_EITHER void enqueue_packet(struct interfaces *n, uint32_t number, uint32_t handle, bool chunks)
{
    tick_t now = n->engine->now;
    struct outlet *outlet = &n->outlets[number];
    struct injector *injector = &n->injectors[(size_t)number * n->channels];
    /* Credits of this tick are in already, so what can be sent now need not wait for the end of the tick. */
    if (outlet->source.first == FW_NONE && injector->packet == FW_NONE && injector->free_at <= now &&
        take_packet(n, injector, handle, now, chunks)) {
        send_next(n, number, injector, now, chunks);
        return;
    }
    source_queue_put(n, number, &outlet->source, handle);
    if (outlet->step_at > now)
        chunks ? step_in_chunks(n, number, now) : step_in_flits(n, number, now);
}

/* What has not been sent yet at an outlet. */
static struct plane_queue waiting_at(const struct interfaces *n, uint32_t number)
{
    struct plane_queue queue = n->queues[number];
    const struct injector *injector = &n->injectors[(size_t)number * n->channels * n->groups];
    for (const struct injector *end = injector + n->channels * n->groups; injector < end; injector++)
        if (injector->packet != FW_NONE) {
            queue.packets++;
            queue.flits += network_packet(n->network, injector->packet)->size - injector->position;
        }
    return queue;
}

/* Where there are several planes, the selection of the configuration gives each packet one. */
static uint32_t select_plane(const struct interfaces *n, uint32_t handle)
{
    uint32_t first = network_packet(n->network, handle)->source * n->planes;
    struct plane_queue queues[MAX_PLANES];
    for (uint32_t plane = 0; plane < n->planes; plane++)
        queues[plane] = waiting_at(n, first + plane);
    return network_select_plane(n->network, handle, queues);
}

/* To the source queue of its outlet. */
static void hand_over(struct interfaces *n, uint32_t handle)
{
    uint32_t number = network_packet(n->network, handle)->source;
    if (n->planes > 1)
        number = number * n->planes + select_plane(n, handle);
    if (n->is_by_level)
        levels_enqueue(n, number, handle);
    else if (n->chunk)
        enqueue_packet(n, number, handle, true);
    else
        enqueue_packet(n, number, handle, false);
}

/* ---- packets that a processor hands over one after the other, a flit every `feed_cycle` ---- */

static void feed_later(struct interfaces *n, uint32_t terminal)
{
    struct step_event *event = engine_post(n->engine, EVENT_INTERFACE_STEP, n->feeds[terminal].free_at, sizeof *event);
    *event = (struct step_event){.target = first_feed(n) + terminal};
}

static void feed_packet(struct interfaces *n, struct feed *feed, uint32_t handle, tick_t now)
{
    feed->free_at = now + network_packet(n->network, handle)->size * n->config.feed_cycle;
    hand_over(n, handle);
}

static void feed_step(struct interfaces *n, uint32_t terminal, tick_t now)
{
    struct feed *feed = &n->feeds[terminal];
    if (feed->first == FW_NONE) /* withdrawn */
        return;
    feed_packet(n, feed, feed_take(n, feed), now);
    if (feed->first != FW_NONE)
        feed_later(n, terminal);
}

static void feed_add(struct interfaces *n, uint32_t handle)
{
    uint32_t terminal = network_packet(n->network, handle)->source;
    struct feed *feed = &n->feeds[terminal];
    if (feed->first != FW_NONE) {
        network_packet(n->network, feed->last)->next = handle;
        feed->last = handle;
    } else if (feed->free_at <= n->engine->now) {
        feed_packet(n, feed, handle, n->engine->now);
    } else {
        feed->first = feed->last = handle;
        feed_later(n, terminal);
    }
}

/* ---- what comes from applications, routers and the interface itself ---- */

static void standard_enqueue(void *interfaces, uint32_t handle)
{
    struct interfaces *n = interfaces;
    if (__builtin_expect(n->is_plain, 1))
        enqueue_packet(n, network_packet(n->network, handle)->source, handle, false);
    else if (n->feeds)
        feed_add(n, handle);
    else
        hand_over(n, handle);
}

static void standard_step(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct interfaces *n = interfaces;
    const struct step_event *event = events;
    for (uint32_t i = 0; i < count; i++, event++) {
        if (n->feeds && event->target >= first_feed(n)) {
            feed_step(n, event->target - first_feed(n), now);
            continue;
        }
        struct outlet *outlet = &n->outlets[event->target];
        if (outlet->step_at != now)
            continue;
        outlet->step_at = FW_NEVER;
        if (n->is_plain)
            step_in_flits(n, event->target, now);
        else if (n->is_by_level)
            levels_step(n, event->target, now);
        else
            n->chunk ? step_in_chunks(n, event->target, now) : step_in_flits(n, event->target, now);
    }
}

/* The outlet of a lane at a terminal, whose lanes go through all planes, and the lane there. */
FOR_EITHER struct lane_place outlet_of(const struct interfaces *n, struct lane_place at, bool plain)
{
    if (plain || n->planes == 1)
        return at;
    uint32_t plane = at.lane / n->lanes;
    return (struct lane_place){.target = at.target * n->planes + plane, .lane = at.lane - plane * n->lanes};
}

FOR_EITHER void receive_credit(struct interfaces *n, struct lane_place at, uint32_t flits, tick_t now, bool plain)
{
    struct lane_place to = outlet_of(n, at, plain);
    if (!plain && n->is_by_level) {
        levels_receive_credit(n, to.target, to.lane, flits);
        if (levels_wait(n, to.target))
            wake(n, to.target, now);
        return;
    }
    uint32_t *credits = &n->credits[(size_t)to.target * n->lanes + to.lane];
    FW_CHECK(flits <= n->network->plan.buffer_depth - *credits, "tick %llu terminal %u lane %u: a credit too many",
             (unsigned long long)now, at.target, at.lane);
    *credits += flits;
    uint32_t channel = n->channels == 1 ? 0 : to.lane / n->num_vcs;
    const struct injector *injector = &n->injectors[(size_t)to.target * n->channels + channel];
    if (injector->packet != FW_NONE || n->outlets[to.target].source.first != FW_NONE)
        wake(n, to.target, now);
}

static void standard_receive_credits(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct interfaces *n = interfaces;
    if (n->chunk)
        for (const struct credits_event *event = events, *end = event + count; event < end; event++)
            receive_credit(n, event->to, event->flits, now, false);
    else if (n->is_plain)
        for (const struct credit_event *event = events, *end = event + count; event < end; event++)
            receive_credit(n, event->to, 1, now, true);
    else
        for (const struct credit_event *event = events, *end = event + count; event < end; event++)
            receive_credit(n, event->to, 1, now, false);
}

/* Flits arrive, the last of them now. */
FOR_EITHER void receive(struct interfaces *n, const struct flit_event *event, uint32_t count, tick_t now, bool chunks,
                        bool plain)
{
    struct network *network = n->network;
    for (uint32_t i = 0; i < count; i++, event++) {
        struct packet *packet = network_packet(network, event->flit.packet);
        FW_CHECK(packet->destination == event->to.target, "tick %llu terminal %u: packet %u belongs to terminal %u",
                 (unsigned long long)now, event->to.target, event->flit.packet, packet->destination);
        uint32_t position = event->flit.place & FLIT_POSITION;
        FW_CHECK(packet->received == position, "tick %llu terminal %u: packet %u brings flit %u where %u is due",
                 (unsigned long long)now, event->to.target, event->flit.packet, position, packet->received);
        uint32_t flits = chunks ? transfer_flits(&network->plan.transfer, packet, position) : 1;
        packet->received += flits;
        if (event->flit.place & FLIT_HEAD)
            packet->head_delay = (uint32_t)(now - (flits - 1) * n->channel_cycle - packet->injected);

        struct lane_place from = outlet_of(n, event->to, plain);
        const struct outlet *outlet = &n->outlets[from.target];
        struct lane_place back = outlet->ejector;
        back.lane += from.lane;
        if (chunks)
            send_credits(n->network, EVENT_CREDIT, back, flits, now + outlet->latency);
        else
            send_credit(n->network, EVENT_CREDIT, back, now + outlet->latency);

        if (!(event->flit.place & FLIT_TAIL)) {
            network->listener.accept(network->listener.context, now, packet, flits);
        } else {
            if (flits > 1)
                network->listener.accept(network->listener.context, now, packet, flits - 1);
            FW_CHECK(packet->received == packet->size, "tick %llu terminal %u: packet %u ends after %u of %u flits",
                     (unsigned long long)now, event->to.target, event->flit.packet, packet->received, packet->size);
            if (network->trace_out && event->flit.packet == network->traced) {
                network_trace(network, now, FW_NONE, "eject", "tail at terminal %u", event->to.target);
                network->traced = FW_NONE;
            }
            network->in_network--;
            network->listener.deliver(network->listener.context, now, event->flit.packet);
            pool_give(&network->packets, event->flit.packet, sizeof(struct packet));
        }
    }
}

static void standard_receive_flits(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct interfaces *n = interfaces;
    if (n->is_plain)
        receive(n, events, count, now, false, true);
    else if (n->chunk)
        receive(n, events, count, now, true, false);
    else
        receive(n, events, count, now, false, false);
}

static struct rails standard_rails(const void *config)
{
    const struct standard_config *settings = config;
    return (struct rails){.injection = settings->injection_channels, .ejection = settings->ejection_channels};
}

static const struct interface_ops standard = {
    .name = "standard",
    .summary = "source queue without limit, injection and ejection channels, consumes at once",
    .options = standard_options,
    .example = "{\"type\": \"standard\", \"injection_channels\": 1, \"ejection_channels\": 1}",
    .rails = standard_rails,
    .build = standard_build,
    .share = standard_share,
    .receive_flits = standard_receive_flits,
    .receive_credits = standard_receive_credits,
    .step = standard_step,
    .enqueue = standard_enqueue,
    .withdraw = standard_withdraw,
    .find = standard_find,
    .take_out = standard_take_out,
    .check_idle = standard_check_idle,
};
REGISTER_INTERFACE(standard);
