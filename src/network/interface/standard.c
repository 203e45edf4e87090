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
#include "network/router/shared_room.h"

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
    if (network_is_traced(network, injector->packet))
        network_trace(network, now, FW_NONE, "inject", "flit %u by channel %u vc %u", position, injector->channel,
                      injector->vc);
}

static void step_in_flits(struct interfaces *n, uint32_t number, tick_t now) { step_channels(n, number, now, false); }
static void step_in_chunks(struct interfaces *n, uint32_t number, tick_t now) { step_channels(n, number, now, true); }

FOR_EITHER void enqueue_packet(struct interfaces *n, uint32_t number, uint32_t handle, bool chunks)
{
    tick_t now = n->engine->now;
    if (send_at_once(n, number, handle, now, chunks))
        return;
    struct outlet *outlet = &n->outlets[number];
    source_queue_put(n, number, &outlet->source, handle);
    if (outlet->step_at > now)
        chunks ? step_in_chunks(n, number, now) : step_in_flits(n, number, now);
}

/* What has not been sent yet at an outlet, and what has and fills the router's buffers. */
static struct plane_queue waiting_at(const struct interfaces *n, uint32_t number)
{
    struct plane_queue queue = n->queues[number];
    const struct link *link = outlet_link(n->network, number);
    const uint32_t *credits = n->credits + (size_t)number * n->lanes;
    for (uint32_t lane = 0; lane < n->channels * n->num_vcs; lane++)
        queue.buffered += room_at_most(n->network, link) - credits[lane];
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
static void standard_hand_over(struct interfaces *n, uint32_t handle)
{
    uint32_t number = network_packet(n->network, handle)->source;
    if (n->network->plan.takes_packets) {
        source_queue_put(n, number, &n->outlets[number].source, handle);
        network_post_step(n->engine, EVENT_ROUTER_STEP, network_entry(n->network, 0, number).target, 0, n->engine->now);
        return;
    }
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

/* Steps of feeds are numbered behind those of outlets. */
static uint32_t first_feed(const struct interfaces *n) { return n->network->topology.terminals * n->planes; }

static void feed_later(struct interfaces *n, uint32_t terminal)
{
    network_post_step(n->engine, EVENT_INTERFACE_STEP, first_feed(n) + terminal, 0, n->feeds[terminal].free_at);
}

static void feed_packet(struct interfaces *n, struct feed *feed, uint32_t handle, tick_t now)
{
    feed->free_at = now + network_packet(n->network, handle)->size * n->config.feed_cycle;
    standard_hand_over(n, handle);
}

static void feed_step(struct interfaces *n, uint32_t terminal, tick_t now)
{
    struct feed *feed = &n->feeds[terminal];
    if (feed->waiting.first == FW_NONE) /* withdrawn */
        return;
    feed_packet(n, feed, packet_queue_take(n->network, &feed->waiting), now);
    if (feed->waiting.first != FW_NONE)
        feed_later(n, terminal);
}

static void feed_add(struct interfaces *n, uint32_t handle)
{
    uint32_t terminal = network_packet(n->network, handle)->source;
    struct feed *feed = &n->feeds[terminal];
    bool is_first = feed->waiting.first == FW_NONE;
    if (is_first && feed->free_at <= n->engine->now) {
        feed_packet(n, feed, handle, n->engine->now);
        return;
    }
    packet_queue_put(n->network, &feed->waiting, handle);
    if (is_first)
        feed_later(n, terminal);
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
        standard_hand_over(n, handle);
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

FOR_EITHER void standard_receive_credit(struct interfaces *n, struct lane_place at, uint32_t flits, tick_t now,
                                        bool plain)
{
    struct lane_place to = outlet_of(n, at, plain);
    if (!plain && n->is_by_level) {
        levels_receive_credit(n, to.target, to.lane, flits);
        if (levels_wait(n, to.target))
            outlet_wake(n, to.target, now);
        return;
    }
    outlet_receive_credit(n, to, flits, now);
}

static void standard_receive_credits(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct interfaces *n = interfaces;
    if (n->chunk)
        for (const struct credits_event *event = events, *end = event + count; event < end; event++)
            standard_receive_credit(n, event->to, event->flits, now, false);
    else if (n->is_plain)
        for (const struct credit_event *event = events, *end = event + count; event < end; event++)
            standard_receive_credit(n, event->to, 1, now, true);
    else
        for (const struct credit_event *event = events, *end = event + count; event < end; event++)
            standard_receive_credit(n, event->to, 1, now, false);
}

/* Flits arrive, the last of them now. */
FOR_EITHER void receive(struct interfaces *n, const struct flit_event *event, uint32_t count, tick_t now, bool chunks,
                        bool plain)
{
    struct network *network = n->network;
    for (uint32_t i = 0; i < count; i++, event++) {
        const struct packet *packet = network_packet(network, event->flit.packet);
        uint32_t position = event->flit.place & FLIT_POSITION;
        uint32_t flits = piece_flits(n, packet, position, chunks);
        struct lane_place from = outlet_of(n, event->to, plain);
        const struct outlet *outlet = &n->outlets[from.target];
        struct lane_place back = outlet->ejector;
        back.lane += from.lane;
        if (chunks)
            send_credits(network, EVENT_CREDIT, back, flits, now + outlet->latency);
        else
            send_credit(network, EVENT_CREDIT, back, now + outlet->latency);
        if (network_is_traced(network, event->flit.packet) && event->flit.place & FLIT_TAIL)
            network_trace(network, now, FW_NONE, "eject", "tail at terminal %u", event->to.target);
        interface_arrive(network, event->to.target, event->flit, flits, now - (flits - 1) * n->channel_cycle, now);
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

/* ---- the layout made, packets taken back, all idle at the end ---- */

static void build_outlet(struct interfaces *n, uint32_t number)
{
    const struct network *network = n->network;
    const struct link *link = outlet_link(network, number);
    struct lane_place entry = network_entry(network, number % n->planes, number / n->planes);
    n->outlets[number] = (struct outlet){
        .step_at = FW_NEVER,
        .source = EMPTY_QUEUE,
        .latency = link->latency,
        .ejector = network_exit(network, number % n->planes, number / n->planes),
    };
    for (uint32_t i = 0; i < n->channels * n->groups; i++) {
        uint32_t channel = i / n->groups;
        n->injectors[(size_t)number * n->channels * n->groups + i] = (struct injector){
            .packet = FW_NONE,
            .channel = (uint16_t)channel,
            .latency = n->config.latency + link->latency + network->plan.transfer.delay,
            .lag = n->chunk ? network_lag(network, entry.target, (uint32_t)n->channel_cycle) : 0,
            .to = {.target = entry.target, .lane = entry.lane + channel * n->num_vcs},
            .credits = n->credits + (size_t)number * n->lanes + channel * n->num_vcs,
        };
    }
    for (size_t i = (size_t)number * n->lanes; i < (size_t)(number + 1) * n->lanes; i++)
        n->credits[i] = room_at_most(network, link);
}

static void standard_build(void *interfaces, const void *config)
{
    struct interfaces *n = interfaces;
    const struct network *network = n->network;
    struct arena *arena = network->arena;
    n->config = *(const struct standard_config *)config;
    n->num_vcs = network->num_vcs;
    n->all_vcs = limit_vcs(n, bits_range(0, network->routing.vcs));
    n->injection_vcs = network->routing.ops->injection_vcs;
    n->channel_cycle = network->terminal_cycle;
    n->chunk = network->plan.transfer.chunk;
    n->planes = network->plane_count;
    n->groups = network->service.groups;
    n->is_by_level = n->groups > 1 || network->plan.room_exclusive;
    n->is_plain =
        n->planes == 1 && !n->chunk && !n->config.feed_cycle && !n->is_by_level && !network->plan.takes_packets;
    n->channels = network->injection_channels;
    n->lanes = network->terminal_ports * n->num_vcs;
    uint32_t outlets = network->topology.terminals * n->planes;
    n->outlets = arena_array(arena, struct outlet, outlets);
    n->injectors = arena_array(arena, struct injector, (size_t)outlets * n->channels * n->groups);
    n->credits = arena_array(arena, uint32_t, (size_t)outlets * n->lanes);
    n->queues = n->planes > 1 ? arena_array(arena, struct plane_queue, outlets) : NULL;
    for (uint32_t number = network->first_terminal * n->planes; number < network->end_terminal * n->planes; number++)
        build_outlet(n, number);
    if (n->is_by_level)
        levels_build(n, arena);
    if (n->config.feed_cycle) {
        n->feeds = arena_array(arena, struct feed, network->topology.terminals);
        for (uint32_t terminal = network->first_terminal; terminal < network->end_terminal; terminal++)
            n->feeds[terminal].waiting = EMPTY_QUEUE;
    }
}

/* Packets that have not begun to enter the network go back, so that a saturated run can end. */
static uint32_t standard_withdraw(void *interfaces, uint32_t terminal)
{
    struct interfaces *n = interfaces;
    for (uint32_t i = 0; i < n->planes * n->groups; i++) {
        uint32_t number = terminal * n->planes + i / n->groups;
        struct packet_queue *source =
            n->is_by_level ? levels_source(n, number, i % n->groups) : &n->outlets[number].source;
        if (source->first != FW_NONE)
            return source_queue_take(n, number, source);
    }
    return n->feeds && n->feeds[terminal].waiting.first != FW_NONE
               ? packet_queue_take(n->network, &n->feeds[terminal].waiting)
               : FW_NONE;
}

/* What a terminal sends, by its source and sequence; NULL: nothing of it any more. */
static struct injector *injector_of(const struct interfaces *n, uint32_t source, uint32_t sequence)
{
    uint32_t each = n->planes * n->channels * n->groups;
    struct injector *injector = &n->injectors[(size_t)source * each];
    for (const struct injector *end = injector + each; injector < end; injector++)
        if (injector->packet != FW_NONE && network_packet(n->network, injector->packet)->sequence == sequence)
            return injector;
    return NULL;
}

static struct piece standard_find(void *interfaces, uint32_t source, uint32_t sequence)
{
    const struct interfaces *n = interfaces;
    const struct injector *injector = injector_of(n, source, sequence);
    if (!injector)
        return (struct piece){.packet = FW_NONE};
    return (struct piece){.packet = injector->packet,
                          .flits = network_packet(n->network, injector->packet)->size - injector->position};
}

static void standard_take_out(void *interfaces, uint32_t handle, tick_t now)
{
    struct interfaces *n = interfaces;
    const struct packet *packet = network_packet(n->network, handle);
    struct injector *injector = injector_of(n, packet->source, packet->sequence);
    uint32_t number = (uint32_t)((size_t)(injector - n->injectors) / (n->channels * n->groups));
    injector->packet = FW_NONE;
    outlet_wake(n, number, injector->free_at > now ? injector->free_at : now); /* for the next one, if there is any */
}

static void standard_check_idle(void *interfaces)
{
    const struct interfaces *n = interfaces;
    size_t each = (size_t)n->planes * n->lanes;
    for (size_t i = n->network->first_terminal * each; i < n->network->end_terminal * each; i++) {
        uint32_t outlet = (uint32_t)(i / n->lanes);
        uint32_t depth = room_at_most(n->network, outlet_link(n->network, outlet));
        FW_CHECK(n->credits[i] == depth, "terminal %u: %u of %u credits are back at the end", outlet / n->planes,
                 n->credits[i], depth);
    }
}

static struct rails standard_rails(const void *config)
{
    const struct standard_config *settings = config;
    return (struct rails){.injection = settings->injection_channels, .ejection = settings->ejection_channels};
}

/* A router that takes packets by itself leaves nothing to do for what says how they are sent. */
static void standard_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct standard_config *config = self->config;
    const char *key = !network->plan.takes_packets ? NULL
                      : config->injection_vcs      ? "injection_vcs"
                      : config->latency            ? "latency"
                                                   : NULL;
    if (key)
        choice_error(errors, self, key,
                     "has no effect beside a router that takes packets by itself; accepted: its default");
}

static const struct interface_ops standard = {
    .name = "standard",
    .summary = "source queue without limit, injection and ejection channels, consumes at once",
    .device = {.file = "src/device/terminal_kernel.h"},
    .options = standard_options,
    .example = "{\"type\": \"standard\", \"injection_channels\": 1, \"ejection_channels\": 1}",
    .size = sizeof(struct interfaces),
    .rails = standard_rails,
    .check = standard_check,
    .build = standard_build,
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
