/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BookSim's terminals, for its router, cycle by cycle. The packets of each class (application) wait in a queue of
 * their own, answers before others. In a cycle a terminal sends one flit: of the class whose turn it is among
 * those that can send, or of a higher rank. A packet takes a virtual channel when it is first looked at and one
 * has room, and keeps it while others go before it.
 *
 *   enqueue          a packet joins the queue of its class
 *   step             one flit leaves
 *   receive_credits  there is room again behind a VC
 *   receive_flits    what arrives is consumed at once, and its credit goes back
 */
#include "flitwarp/interface.h"
#include "network/network.h"
#include "network/router/booksim.h"

#include <string.h>

enum booksim_vc_order { VCS_IN_TURN, VCS_AT_RANDOM };
static const char *const vc_order_names[] = {"in_turn", "random", NULL};

struct terminals_config {
    uint32_t classes, answers, vc_order;
};

static const struct option terminals_options[] = {
    OPTION_U32(struct terminals_config, classes, "1", 1, 256, NULL,
               "applications whose packets take turns flit by flit; all from the last on wait together"),
    OPTION_U32(
        struct terminals_config, answers, "null", 1, 63, NULL,
        "protocol class whose packets go before others of their application, from the next cycle on; null: none"),
    OPTION_ENUM(struct terminals_config, vc_order, "\"in_turn\"", vc_order_names,
                "which virtual channel a packet tries first: the next one in turn, or any"),
    OPTION_END,
};

/* Packets of one class; the first may have sent some of its flits. */
struct class_queue {
    struct packet_queue packets, answers; /* answers go before the others */
    uint32_t current;                     /* that is being sent; FW_NONE: none */
    uint32_t position;                    /* next flit of it */
    uint32_t vc, last_vc;                 /* of it: FW_NONE: none yet; of the last one, FW_NONE: there was none */
};

struct terminal {
    uint32_t packets;               /* here, the one that is being sent included */
    tick_t step_at, free_at;        /* when its channel can take the next flit */
    struct lane_place entry, exit;  /* VC 0 each way, at the router */
    tick_t latency, credit_latency; /* of its channel; until the router is told of a credit */
    uint32_t last_class;
    struct booksim_room *room;
    struct class_queue *queues; /* by class */
    struct random random;
};

struct terminals {
    INTERFACES_HEAD;
    struct terminals_config config;
    struct booksim_config router;
    struct booksim_rule rule;
    bool is_plain;         /* one class without answers */
    struct terminal *each; /* by terminal */
};

static void terminals_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    const char *router = network->core->config->router.component->name;
    if (strcmp(router, "booksim") != 0)
        choice_error(errors, self, "type", "'booksim' is for the router of that name, found '%s'; accepted: standard",
                     router);
    else if (network->plane_count > 1 || network->service.groups > 1)
        choice_error(errors, self, "type", "'booksim' knows neither planes nor levels of service; accepted: standard");
}

static void terminal_init(struct terminals *all, uint32_t number)
{
    const struct network *network = all->network;
    struct arena *arena = network->arena;
    struct terminal *terminal = &all->each[number];
    *terminal = (struct terminal){
        .step_at = FW_NEVER,
        .entry = network_entry(network, 0, number),
        .exit = network_exit(network, 0, number),
        .room = arena_take(arena, booksim_room_bytes(network->num_vcs)),
        .queues = arena_array(arena, struct class_queue, all->config.classes),
        .random = random_stream(network->seed, number, RANDOM_SOURCE),
    };
    const struct link *link = network_link(network, terminal->entry.target, terminal->entry.lane / network->num_vcs);
    terminal->latency = link->latency + all->router.cycle;
    terminal->credit_latency = link->latency + (1 + all->router.credit_latency) * all->router.cycle;
    for (uint32_t class = 0; class < all->config.classes; class ++)
        terminal->queues[class] =
            (struct class_queue){EMPTY_QUEUE, EMPTY_QUEUE, .current = FW_NONE, .vc = FW_NONE, .last_vc = FW_NONE};
}

static void terminals_build(void *interfaces, const void *config)
{
    struct terminals *all = interfaces;
    const struct network *network = all->network;
    all->config = *(const struct terminals_config *)config;
    all->router = *(const struct booksim_config *)network->core->config->router.config;
    all->rule = booksim_rule_of(&all->router);
    all->is_plain = all->config.classes == 1 && !all->config.answers;
    all->each = arena_array(network->arena, struct terminal, network->topology.terminals);
    for (uint32_t number = network->first_terminal; number < network->end_terminal; number++)
        terminal_init(all, number);
}

static void terminal_wake(struct terminals *all, uint32_t number, tick_t when)
{
    network_wake(all->engine, EVENT_INTERFACE_STEP, number, &all->each[number].step_at, when);
}

/* ---- packets come ---- */

static void terminals_enqueue(void *interfaces, uint32_t handle)
{
    struct terminals *all = interfaces;
    const struct packet *packet = network_packet(all->network, handle);
    uint32_t last = all->config.classes - 1, class = packet->application < last ? packet->application : last;
    struct terminal *terminal = &all->each[packet->source];
    struct class_queue *queue = &terminal->queues[class];
    bool is_answer = all->config.answers && packet->protocol == all->config.answers;
    packet_queue_put(all->network, is_answer ? &queue->answers : &queue->packets, handle);
    terminal->packets++;
    terminal_wake(all, packet->source, all->engine->now);
}

/* The packet of a class that is being sent, or would be next; FW_NONE: there is none. */
FW_INLINE uint32_t current_of(const struct terminals *all, struct class_queue *queue, tick_t now)
{
    const struct network *network = all->network;
    if (queue->current != FW_NONE)
        return queue->current;
    uint32_t answer = queue->answers.first;
    bool has_answer = answer != FW_NONE && network_packet(network, answer)->created < now;
    if (!has_answer && queue->packets.first == FW_NONE)
        return FW_NONE;
    queue->current = packet_queue_take(network, has_answer ? &queue->answers : &queue->packets);
    queue->position = 0;
    queue->vc = FW_NONE;
    return queue->current;
}

/* ---- flits leave ---- */

/* Of the VCs that a packet may enter by, those for the output that it takes at the router. */
static __attribute__((noinline)) uint64_t vcs_by_next_output(struct terminals *all, const struct terminal *terminal,
                                                             uint32_t handle, uint64_t vcs)
{
    uint64_t answer[MAX_ROUTER_WORDS];
    struct route question = {.routing = &all->network->routing};
    uint32_t router = terminal->entry.target;
    uint32_t ahead = booksim_look_ahead(all->network, &question, handle, router, FW_NONE, answer);
    return booksim_vcs_for_output(all->network->core->routers, vcs, router, ahead);
}

/* The first VC with room behind that of the packet before; where that was none of these, the first of all or nothing. */
FW_INLINE uint32_t choose_vc(struct terminals *all, struct terminal *terminal, const struct class_queue *queue)
{
    uint64_t vcs = interface_vcs(all->network, network_packet(all->network, queue->current));
    if (all->router.vcs_by_next_output)
        vcs = vcs_by_next_output(all, terminal, queue->current, vcs);
    uint32_t first = (uint32_t)lowest_bit(vcs), count = (uint32_t)__builtin_popcountll(vcs), last = queue->last_vc;
    if (all->config.vc_order == VCS_AT_RANDOM)
        last = first + random_below(&terminal->random, count);
    bool was_other = last == FW_NONE || last < first || last >= first + count;
    for (uint32_t i = 1; i <= (was_other ? 1 : count); i++) {
        uint32_t next = last - first + i;
        uint32_t vc = was_other ? first : first + (next < count ? next : next - count);
        if (room_is_free(terminal->room, vc) && !room_is_full(&all->rule, terminal->room, vc))
            return vc;
    }
    return FW_NONE;
}

FW_INLINE void send(struct terminals *all, uint32_t number, uint32_t class, tick_t now)
{
    struct network *network = all->network;
    struct terminal *terminal = &all->each[number];
    struct class_queue *queue = &terminal->queues[class];
    struct packet *packet = network_packet(network, queue->current);
    struct lane_place to = {.target = terminal->entry.target, .lane = terminal->entry.lane + queue->vc};
    if (!queue->position) {
        interface_begin(network, packet, terminal->entry.target, now);
        room_take(terminal->room, queue->vc);
        queue->last_vc = queue->vc;
    }
    struct flit flit = transfer_unit(packet, queue->current, queue->position++, 1);
    terminal->last_class = class;
    room_send(&all->rule, terminal->room, queue->vc, flit.place & FLIT_TAIL);
    if (network->is_watched)
        network->listener.enter(network->listener.context, now, packet, to, 1);
    if (network_is_traced(network, flit.packet))
        network_trace(network, now, FW_NONE, "inject", "flit %u by vc %u", flit.place & FLIT_POSITION, queue->vc);
    send_flit(network, EVENT_FLIT, to, flit, now + terminal->latency);
    terminal->free_at = now + network->terminal_cycle;
    if (flit.place & FLIT_TAIL) {
        queue->current = FW_NONE;
        terminal->packets--;
    }
}

/* Can a class send a flit now? Its packet takes a VC for it, if it has none. */
FW_INLINE bool can_send(struct terminals *all, struct terminal *terminal, struct class_queue *queue)
{
    if (queue->vc == FW_NONE)
        queue->vc = choose_vc(all, terminal, queue);
    return queue->vc != FW_NONE && !room_is_full(&all->rule, terminal->room, queue->vc);
}

static __attribute__((noinline)) void step_terminal(struct terminals *all, uint32_t number, tick_t now)
{
    struct terminal *terminal = &all->each[number];
    uint32_t classes = all->config.classes, chosen = FW_NONE, held = terminal->last_class;
    int64_t best = 0;
    bool is_waiting = false;
    struct class_queue *last = &terminal->queues[held];
    if (all->router.holds_switch && last->current != FW_NONE && last->position &&
        !room_is_full(&all->rule, terminal->room, last->vc)) {
        chosen = held;
        best = booksim_rank_at_source(&all->router, network_packet(all->network, last->current));
        classes--;
    }
    for (uint32_t i = 1; i <= classes; i++) {
        uint32_t class = (held + i) % all->config.classes;
        struct class_queue *queue = &terminal->queues[class];
        is_waiting |= queue->answers.first != FW_NONE;
        if (current_of(all, queue, now) == FW_NONE)
            continue;
        int64_t rank = booksim_rank_at_source(&all->router, network_packet(all->network, queue->current));
        if ((chosen != FW_NONE && best >= rank) || !can_send(all, terminal, queue))
            continue;
        chosen = class;
        best = rank;
    }
    if (chosen != FW_NONE)
        send(all, number, chosen, now);
    if (chosen != FW_NONE || is_waiting || all->config.vc_order == VCS_AT_RANDOM)
        terminal_wake(all, number, now + all->network->terminal_cycle);
}

/* The same where there is one class, and no packet goes before others. */
static void step_plain(struct terminals *all, uint32_t number, tick_t now)
{
    struct terminal *terminal = &all->each[number];
    struct class_queue *queue = terminal->queues;
    current_of(all, queue, now);
    bool sends = can_send(all, terminal, queue);
    if (sends)
        send(all, number, 0, now);
    if (sends || all->config.vc_order == VCS_AT_RANDOM)
        terminal_wake(all, number, now + all->network->terminal_cycle);
}

/* What the events to come will touch is fetched while those before are worked on: terminals are many, and far apart. */
#define EVENTS_AHEAD 8
#define FEW_EVENTS 256 /* at most: what is this small lies in the cache */

static __attribute__((noinline)) void fetch_terminals(const struct terminals *all, const struct step_event *event)
{
    const char *far = (const char *)&all->each[event[EVENTS_AHEAD].target];
    const struct terminal *near = &all->each[event[EVENTS_AHEAD / 2].target];
    __builtin_prefetch(far, 1);
    __builtin_prefetch(far + 64, 1);
    __builtin_prefetch(near->room, 1);
    __builtin_prefetch(near->queues, 1);
}

static void terminals_step(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct terminals *all = interfaces;
    const struct step_event *event = events, *end = event + count;
    const struct step_event *fetching = count > FEW_EVENTS ? end - EVENTS_AHEAD : event;
    for (; event < end; event++) {
        if (event < fetching)
            fetch_terminals(all, event);
        struct terminal *terminal = &all->each[event->target];
        if (terminal->step_at != now)
            continue;
        terminal->step_at = FW_NEVER;
        if (terminal->free_at > now)
            terminal_wake(all, event->target, terminal->free_at);
        else if (terminal->packets)
            (all->is_plain ? step_plain : step_terminal)(all, event->target, now);
    }
}

static void terminals_receive_credits(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct terminals *all = interfaces;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        room_receive_credit(&all->rule, all->each[event->to.target].room, event->to.lane);
        terminal_wake(all, event->to.target, now);
    }
}

static void terminals_receive_flits(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct terminals *all = interfaces;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        const struct terminal *terminal = &all->each[event->to.target];
        interface_consume(all->network, event, terminal->exit, terminal->credit_latency, now);
    }
}

/* ---- at the end ---- */

/* Packets that have not begun to enter the network go back, so that a saturated run can end. */
static uint32_t terminals_withdraw(void *interfaces, uint32_t terminal)
{
    struct terminals *all = interfaces;
    for (uint32_t class = 0; class < all->config.classes; class ++) {
        struct class_queue *queue = &all->each[terminal].queues[class];
        uint32_t handle = queue->current;
        if (handle != FW_NONE && !queue->position) {
            queue->current = FW_NONE;
            all->each[terminal].packets--;
            return handle;
        }
        struct packet_queue *from = queue->answers.first != FW_NONE ? &queue->answers : &queue->packets;
        if (from->first != FW_NONE) {
            all->each[terminal].packets--;
            return packet_queue_take(all->network, from);
        }
    }
    return FW_NONE;
}

static void terminals_check_idle(void *interfaces)
{
    const struct terminals *all = interfaces;
    for (uint32_t number = all->network->first_terminal; number < all->network->end_terminal; number++)
        for (uint32_t vc = 0; vc < all->network->num_vcs; vc++)
            FW_CHECK(all->each[number].room->held[vc] == 0, "terminal %u vc %u: a credit is not back at the end",
                     number, vc);
}

static const struct interface_ops booksim_terminals = {
    .name = "booksim",
    .summary = "BookSim's terminals, for its router: packets of each application in turn, flit by flit",
    .options = terminals_options,
    .example = "{\"type\": \"booksim\", \"classes\": 2}",
    .size = sizeof(struct terminals),
    .check = terminals_check,
    .build = terminals_build,
    .receive_flits = terminals_receive_flits,
    .receive_credits = terminals_receive_credits,
    .step = terminals_step,
    .enqueue = terminals_enqueue,
    .withdraw = terminals_withdraw,
    .check_idle = terminals_check_idle,
};
REGISTER_INTERFACE(booksim_terminals);
