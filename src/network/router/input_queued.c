/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input-queued router: a buffer for each virtual channel at each input,
 * credits for the buffers beyond each output, one crossbar. After Dally and
 * Towles, "Principles and Practices of Interconnection Networks", chapter 16.
 *
 * A step does the stages in this order, each on the lanes that are ready for it:
 *
 *   route            front packets without a route: ask the algorithm
 *   allocate_vc      routed packets without an output lane
 *   allocate_switch  lanes with output lane, flit and credit: one per input and output
 *   traverse         winners leave: credit back, flit on its channel
 *   goes_on          or sleep until something can change
 *
 * A stage's latency is a ready_at time of the lane, not an event. A router that
 * granted nothing has nothing to do before a flit or credit arrives or a
 * ready_at comes, so it sleeps; arbiters move only on grants, so that sleeping
 * changes nothing.
 *
 * The stages stand in input_queued_vc.h and input_queued_switch.h, layout and
 * building in input_queued.h and input_queued_build.c.
 *
 * Each stage is compiled twice from the same text: once for the usual router
 * (`plain`: lanes fit one word, wormhole switching with a flit-wise crossbar, no
 * stage longer than a cycle, round-robin allocators), where most questions are
 * answered by the compiler, and once for all others. On the 8x8 mesh that is 18
 * million flit-hops a second against 6. The others do without matchings too where
 * allocators and arbiters take turns (`turns`): a third of all instructions of a
 * dragonfly.
 */
#include "network/router/input_queued_switch.h"
#include "network/router/input_queued_vc.h"

#include <string.h>

STAGE void receive_flit(const struct input_queued *q, const struct flit_event *event, tick_t now, struct variant is)
{
    struct router_head *head = block_of(q, event->to.target);
    size_t lane = event->to.lane;
    struct input_lane *input = &inputs_of(head, is.words)[lane];
    uint32_t count = input->count++;
    if (count) {
        CHECK(count < q->depth, "tick %llu router %u lane %zu: packet %u overruns the buffer", (unsigned long long)now,
              head->number, lane, event->flit.packet);
        ring_of(q, head, lane, is)[(input->first + count - 1) & q->ring_mask] = event->flit;
        if (is.plain || input->output != LANE_IDLE)
            return;
    } else {
        input->front = event->flit;
    }
    if (input->output == LANE_IDLE) {
        if (begin_packet(q, head, lanes_in(head, SET_FRESH, is.words), lanes_in(head, SET_BUSY, is.words), lane, input,
                         now, is))
            wake(q, head, now, is);
    } else if (outputs_of(q, head)[input->output].credits) {
        add(lanes_in(head, SET_SENDABLE, is.words), lane, is);
        wake(q, head, now, is);
    }
}

/* What a flit will touch, in networks that do not fit the cache. */
STAGE void fetch_for(const struct input_queued *q, const struct flit_event *event, struct variant is)
{
    struct router_head *head = block_of(q, event->to.target);
    __builtin_prefetch(head, 1);
    __builtin_prefetch(&inputs_of(head, is.words)[event->to.lane], 1);
}

STAGE void fetch_credit_of(const struct input_queued *q, const struct credit_event *event)
{
    __builtin_prefetch(&outputs_of(q, block_of(q, event->to.target))[event->to.lane], 1);
}

#define EVENTS_AHEAD 12

void input_queued_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    const struct flit_event *event = events, *end = event + count;
    if (q->is_plain && !q->fetches_ahead) {
        for (; event < end; event++)
            receive_flit(q, event, now, PLAIN);
    } else if (q->is_plain) {
        for (; event < end; event++) {
            if (event + EVENTS_AHEAD < end)
                fetch_for(q, event + EVENTS_AHEAD, PLAIN);
            receive_flit(q, event, now, PLAIN);
        }
    } else {
        const struct variant is = {.words = q->words};
        for (; event < end; event++) {
            if (q->fetches_ahead && event + EVENTS_AHEAD < end) {
                fetch_for(q, event + EVENTS_AHEAD, is);
                __builtin_prefetch(network_packet(q->network, event[EVENTS_AHEAD].flit.packet), 1);
            }
            receive_flit(q, event, now, is);
        }
    }
}

STAGE void receive_credit(const struct input_queued *q, const struct credit_event *event, tick_t now, struct variant is)
{
    struct router_head *head = block_of(q, event->to.target);
    struct output_lane *output = &outputs_of(q, head)[event->to.lane];
    CHECK(output->credits < q->room, "tick %llu router %u lane %u: a credit too many", (unsigned long long)now,
          head->number, event->to.lane);
    if (!is.plain && q->congestion)
        q->congestion->ops->change(q->congestion, head->number, event->to.lane, QUEUE_DOWNSTREAM, -1, now);
    if (output->credits++ == 0) {
        if (!is.plain && q->config.vc_needs_credit)
            add(credited_of(q, head), event->to.lane, is);
        if (output->owner != NOBODY && inputs_of(head, is.words)[output->owner].count)
            add(lanes_in(head, SET_SENDABLE, is.words), output->owner, is);
        else if (is.plain || !q->config.vc_needs_credit)
            return;
        wake(q, head, now, is);
    } else if (!is.plain && (q->reserves_packet || q->needs_room)) {
        wake(q, head, now, is);
    }
}

/* The same where VCs share the buffers downstream. */
static void receive_shared_credit(const struct input_queued *q, const struct credit_event *event, tick_t now)
{
    struct router_head *head = block_of(q, event->to.target);
    if (q->congestion)
        q->congestion->ops->change(q->congestion, head->number, event->to.lane, QUEUE_DOWNSTREAM, -1, now);
    if (return_shared(q, head, event->to.lane) || q->reserves_packet || q->needs_room)
        wake(q, head, now, (struct variant){.words = q->words});
}

void input_queued_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    const struct credit_event *event = events, *end = event + count;
    if (q->is_plain && !q->fetches_ahead) {
        for (; event < end; event++)
            receive_credit(q, event, now, PLAIN);
    } else if (q->is_plain) {
        for (; event < end; event++) {
            if (event + EVENTS_AHEAD < end)
                fetch_credit_of(q, event + EVENTS_AHEAD);
            receive_credit(q, event, now, PLAIN);
        }
    } else {
        for (; event < end; event++) {
            if (q->fetches_ahead && event + EVENTS_AHEAD < end)
                fetch_credit_of(q, event + EVENTS_AHEAD);
            if (q->shares_room)
                receive_shared_credit(q, event, now);
            else
                receive_credit(q, event, now, (struct variant){.words = q->words});
        }
    }
}

void input_queued_look_again(struct input_queued *q, tick_t now, const struct credit_event *event, uint32_t count)
{
    const struct variant is = {.words = q->words};
    for (const struct credit_event *end = event + count; event < end; event++) {
        struct router_head *head = block_of(q, event->to.target);
        if (bits_any(lanes_in(head, SET_WAITING, is.words), is.words))
            wake(q, head, now, is);
    }
}

/* Has the router something to do in the next cycle? If not, it sleeps until something arrives or a stage is over. */
STAGE bool goes_on(const struct view *v, struct variant is)
{
    uint64_t work = 0;
    for (uint32_t w = 0; w < is.words; w++)
        work |= v->fresh[w] | v->waiting[w] | v->sendable[w];
    if (work && !v->moved && !is.plain && v->soonest != NEVER)
        wake(v->q, v->head, v->soonest, is);
    return work && v->moved;
}

/* One step of one router; true when it steps in the next cycle too. The usual router's sets are held in registers. */
STAGE bool step_router(struct input_queued *q, struct router_head *head, tick_t now, const struct destinations *to,
                       struct variant is)
{
    struct view view = view_of(q, head, now, to, is);
    uint64_t fresh, waiting, sendable, busy, free;
    struct view memory = view;
    if (is.plain) {
        fresh = *view.fresh, view.fresh = &fresh;
        waiting = *view.waiting, view.waiting = &waiting;
        sendable = *view.sendable, view.sendable = &sendable;
        busy = *view.busy, view.busy = &busy;
        free = *view.free, view.free = &free;
    }
    end_stages(&view, is);
    route(&view, is);
    allocate_vc(&view, is);
    allocate_switch(&view, is);
    bool again = goes_on(&view, is);
    if (is.plain) {
        *memory.fresh = fresh;
        *memory.waiting = waiting;
        *memory.sendable = sendable;
        *memory.busy = busy;
        *memory.free = free;
    }
    return again;
}

static struct destinations destinations_at(const struct input_queued *q, tick_t now)
{
    tick_t latency = q->network->channel_latency, terminal = q->network->terminal_latency;
    return (struct destinations){
        .flits = {engine_list(q->engine, EVENT_TERMINAL_FLIT, now + q->to_channel + terminal),
                  engine_list(q->engine, EVENT_FLIT, now + q->to_channel + latency)},
        .credits = {engine_list(q->engine, EVENT_TERMINAL_CREDIT, now + q->credit + terminal),
                    engine_list(q->engine, EVENT_CREDIT, now + q->credit + latency)},
    };
}

/*
 * A network that does not fit the cache is fetched ahead in three strides: the
 * sets of a router, the lanes that its sets name, and the packets that it will
 * route. On a 256x256 mesh waiting for packets took half of all time before.
 */
enum { SETS_AHEAD = 12, LANES_AHEAD = 8, PACKETS_AHEAD = 4 };

STAGE void fetch_ahead(const struct input_queued *q, const uint32_t *at, const uint32_t *end)
{
    if (at + SETS_AHEAD < end) {
        struct router_head *head = block_of(q, at[SETS_AHEAD]);
        __builtin_prefetch(head, 1);
        __builtin_prefetch(PART(char, 64), 1);
    }
    if (at + LANES_AHEAD < end) {
        struct router_head *head = block_of(q, at[LANES_AHEAD]);
        uint64_t lanes =
            *lanes_in(head, SET_FRESH, 1) | *lanes_in(head, SET_WAITING, 1) | *lanes_in(head, SET_SENDABLE, 1);
        for (; lanes; lanes &= lanes - 1)
            __builtin_prefetch(&inputs_of(head, 1)[lowest_bit(lanes)], 1);
        for (uint32_t lane = 0; lane < q->lanes && lane < 16; lane += 4)
            __builtin_prefetch(&outputs_of(q, head)[lane], 1);
    }
    if (at + PACKETS_AHEAD < end) {
        struct router_head *head = block_of(q, at[PACKETS_AHEAD]);
        BITS_EACH(lane, lanes_in(head, SET_FRESH, 1), 1)
            __builtin_prefetch(network_packet(q->network, inputs_of(head, 1)[lane].front.packet), 1);
    }
}

/* Steps one router of the due set, and puts it into the next one if it goes on. */
STAGE bool step_due(struct input_queued *q, size_t number, tick_t now, const struct destinations *to, struct variant is)
{
    struct router_head *head = block_of(q, (uint32_t)number);
    if (!step_router(q, head, now, to, is))
        return false;
    head->step_at = now + 1;
    bits_add(q->due[(now + 1) % 2], head->number);
    return true;
}

/* These are apart so that each has the compiler's registers to itself. All return whether a router goes on. */
static __attribute__((noinline)) bool step_small(struct input_queued *q, tick_t now, const struct destinations *to)
{
    uint64_t *due = q->due[now % 2];
    bool any = false;
    for (size_t w = 0; w < q->router_words; w++) {
        uint64_t left = due[w];
        q->engine->events += (uint64_t)__builtin_popcountll(left);
        for (due[w] = 0; left; left &= left - 1)
            any |= step_due(q, w * WORD_BITS + lowest_bit(left), now, to, PLAIN);
    }
    return any;
}

static uint32_t list_due(struct input_queued *q, tick_t now)
{
    uint64_t *due = q->due[now % 2];
    uint32_t count = 0;
    BITS_EACH(router, due, q->router_words)
        q->order[count++] = (uint32_t)router;
    memset(due, 0, q->router_words * sizeof *due);
    q->engine->events += count;
    return count;
}

static __attribute__((noinline)) bool step_large(struct input_queued *q, tick_t now, const struct destinations *to)
{
    bool any = false;
    for (const uint32_t *at = q->order, *end = at + list_due(q, now); at < end; at++) {
        fetch_ahead(q, at, end);
        any |= step_due(q, *at, now, to, PLAIN);
    }
    return any;
}

static __attribute__((noinline)) bool step_traced(struct input_queued *q, tick_t now, const struct destinations *to)
{
    bool any = false;
    for (const uint32_t *at = q->order, *end = at + list_due(q, now); at < end; at++)
        any |= step_due(q, *at, now, to, (struct variant){.plain = true, .turns = true, .traced = true, .words = 1});
    return any;
}

static __attribute__((noinline)) bool step_parted(struct input_queued *q, tick_t now, const struct destinations *to)
{
    bool any = false;
    for (const uint32_t *at = q->order, *end = at + list_due(q, now); at < end; at++) {
        fetch_ahead(q, at, end);
        any |= step_due(q, *at, now, to, (struct variant){.plain = true, .turns = true, .parted = true, .words = 1});
    }
    return any;
}

/* One event stands for the steps of all routers that are due: each is counted, as if it had its own. */
static void step_plain(struct input_queued *q, tick_t now)
{
    const struct destinations to = destinations_at(q, now);
    q->engine->events--;
    bool any = q->network->trace_out     ? step_traced(q, now, &to)
               : q->network->router_part ? step_parted(q, now, &to)
               : q->fetches_ahead        ? step_large(q, now, &to)
                                         : step_small(q, now, &to);
    if (any && q->due_at[(now + 1) % 2] != now + 1)
        post_due(q, now + 1);
}

STAGE void step_general(struct input_queued *q, tick_t now, const struct step_event *event, uint32_t count,
                        struct variant is)
{
    for (uint32_t i = 0; i < count; i++) {
        struct router_head *head = block_of(q, event[i].target);
        if (head->step_at != now)
            continue; /* it was woken earlier than this step was posted for */
        head->step_at = NEVER;
        if (step_router(q, head, now, NULL, is))
            wake(q, head, now + q->cycle, is);
    }
}

/* These are apart for the same reason. Few words of lanes are made constants. */
static __attribute__((noinline)) void step_by_turns(struct input_queued *q, tick_t now, const struct step_event *event,
                                                    uint32_t count)
{
    bool traced = q->network->trace_out != NULL;
    if (q->words == 1)
        step_general(q, now, event, count, (struct variant){.turns = true, .traced = traced, .words = 1});
    else if (q->words == 2)
        step_general(q, now, event, count, (struct variant){.turns = true, .traced = traced, .words = 2});
    else
        step_general(q, now, event, count, (struct variant){.turns = true, .traced = traced, .words = q->words});
}

static __attribute__((noinline)) void step_by_matching(struct input_queued *q, tick_t now,
                                                       const struct step_event *event, uint32_t count)
{
    bool traced = q->network->trace_out != NULL;
    if (q->is_extended)
        step_general(q, now, event, count, (struct variant){.extended = true, .traced = traced, .words = q->words});
    else if (q->words == 1)
        step_general(q, now, event, count, (struct variant){.traced = traced, .words = 1});
    else if (q->words == 2)
        step_general(q, now, event, count, (struct variant){.traced = traced, .words = 2});
    else
        step_general(q, now, event, count, (struct variant){.traced = traced, .words = q->words});
}

void input_queued_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct input_queued *q = routers;
    if (q->is_plain)
        step_plain(q, now);
    else if (q->takes_turns)
        step_by_turns(q, now, events, count);
    else
        step_by_matching(q, now, events, count);
}

static const struct router_inspect_ops input_queued_inspect = {
    .check_idle = input_queued_check_idle,
    .waits_for = input_queued_waits_for,
    .find = input_queued_find,
    .take_out = input_queued_take_out,
    .flit_hops = input_queued_flit_hops,
    .lane_flits = input_queued_lane_flits,
    .show = input_queued_show,
};

static const struct router_ops input_queued = {
    .name = "input_queued",
    .summary = "virtual-channel router with buffers at its inputs",
    .options = input_queued_options,
    .config_size = sizeof(struct input_queued_config),
    .example = "{\"type\": \"input_queued\", \"num_vcs\": 4, \"buffer_depth\": 8, \"allocator\": \"islip\"}",
    .serves_levels = true,
    .inspect = &input_queued_inspect,
    .plan = input_queued_plan,
    .build = input_queued_build,
    .share = input_queued_share,
    .receive_flits = input_queued_receive_flits,
    .receive_credits = input_queued_receive_credits,
    .step = input_queued_step,
};
REGISTER_ROUTER(input_queued);
