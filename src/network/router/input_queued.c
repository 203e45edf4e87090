/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input-queued router: a buffer for each virtual channel at each input,
 * credits for the buffers beyond each output, one crossbar. After Dally and
 * Towles, "Principles and Practices of Interconnection Networks", chapter 16.
 *
 * A step does the stages in this order, each on the lanes that are ready for it:
 *
 *   end_stages       lanes whose stage is over are busy no more
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
 * Everything is compiled twice from this text: for the usual router (lanes fit one
 * word, wormhole switching with a flit-wise crossbar, no stage longer than a cycle,
 * round-robin allocators, channels that are alike), where most questions are answered
 * by the compiler and sets of lanes are registers, and for all others. On the 8x8
 * mesh a hop takes less than half of the instructions by that. Both leave the same state behind
 * after every step; the general one also does what the usual one could, for `flitwarp
 * trace` and for the test that compares them (tests/contract/test_router_variants.py).
 */
#include "network/router/input_queued_stages.h"

#include <string.h>

/* Registers are given out for the whole function at once: 9 instructions a hop less in the usual variant, 6 more in the other. */
#if defined __GNUC__ && !defined __clang__
#define ONE_REGION __attribute__((optimize("ira-region=one")))
#else
#define ONE_REGION
#endif

/* Has the router something to do in the next cycle? If not, it sleeps until something arrives or a stage is over. */
STAGE bool goes_on(const struct view *v, struct variant is)
{
    uint64_t work = 0;
    for (uint32_t w = 0; w < is.words; w++)
        work |= v->fresh[w] | v->waiting[w] | v->sendable[w];
    if (work && !v->moved && !is.usual && v->soonest != FW_NEVER)
        wake(v->q, v->head, v->soonest, is);
    return work && v->moved;
}

/* One step of one router; true when it steps in the next cycle too. The usual router's sets are held in registers. */
STAGE bool step_router(struct input_queued *q, struct router_head *head, tick_t now, const struct destinations *to,
                       struct variant is)
{
    uint64_t fresh, waiting, sendable, busy = 0, free;
    if (is.usual) {
        fresh = *lanes_in(head, SET_FRESH, 1);
        waiting = *lanes_in(head, SET_WAITING, 1);
        sendable = *lanes_in(head, SET_SENDABLE, 1);
        free = *lanes_in(head, SET_FREE, 1);
    }
    struct view view = {
        .q = q,
        .head = head,
        .inputs = inputs_of(head, is.words),
        .outputs = outputs_of(q, head),
        .fresh = is.usual ? &fresh : lanes_in(head, SET_FRESH, is.words),
        .waiting = is.usual ? &waiting : lanes_in(head, SET_WAITING, is.words),
        .sendable = is.usual ? &sendable : lanes_in(head, SET_SENDABLE, is.words),
        .busy = is.usual ? &busy : lanes_in(head, SET_BUSY, is.words),
        .free = is.usual ? &free : lanes_in(head, SET_FREE, is.words),
        .credited = credited_of(q, head),
        .usable = lanes_in(head, SET_USABLE, is.words),
        .wants = wants_of(q, head, 0, is.words),
        .wants_apart = is.words == 1 ? sizeof(struct input_lane) / sizeof(uint64_t) : is.words,
        .to = to,
        .traces = !is.usual && q->network->trace_out,
        .now = now,
        .soonest = FW_NEVER,
        .moved = false,
    };
    end_stages(&view, is);
    route(&view, is);
    allocate_vc(&view, is);
    allocate_switch(&view, is);
    bool again = goes_on(&view, is);
    if (is.usual) {
        *lanes_in(head, SET_FRESH, 1) = fresh;
        *lanes_in(head, SET_WAITING, 1) = waiting;
        *lanes_in(head, SET_SENDABLE, 1) = sendable;
        *lanes_in(head, SET_FREE, 1) = free;
    }
    return again;
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

/* Lists the routers that step now, for fetch_ahead. */
static uint32_t list_due(const struct input_queued *q, const uint64_t *due)
{
    uint32_t *next = q->order;
    BITS_EACH(router, due, q->router_words)
        *next++ = (uint32_t)router;
    return (uint32_t)(next - q->order);
}

/* Where events of a kind go that are sent now; NULL: their channels' latencies differ, or are too long. */
static struct event_list *list_at(const struct input_queued *q, uint32_t kind, tick_t sent, tick_t latency)
{
    bool is_far = sent + latency - q->engine->now >= WHEEL_SLOTS;
    return latency && !is_far ? engine_list(q->engine, kind, sent + latency) : NULL;
}

STAGE void step_routers(struct input_queued *q, tick_t now, const uint32_t *list, uint32_t count, struct variant is)
{
    const struct destinations to = {
        .flits = {list_at(q, EVENT_TERMINAL_FLIT, now + q->to_channel,
                          q->queues_to_send ? 0 : q->network->terminal_latency),
                  list_at(q, EVENT_FLIT, now + q->to_channel, q->queues_to_send ? 0 : q->network->channel_latency)},
        .credits = {list_at(q, EVENT_TERMINAL_CREDIT, now + q->credit, q->network->terminal_latency),
                    list_at(q, EVENT_CREDIT, now + q->credit, q->network->channel_latency)},
    };
    const struct blocks blocks = q->blocks;
    bool any = false;
    if (is.usual) {
        uint64_t *due = q->due[now % 2];
        const uint32_t *at = q->order, *end = at + (q->fetches_ahead ? list_due(q, due) : 0);
        for (size_t w = 0; w < q->router_words; w++) {
            uint64_t left = due[w];
            q->engine->events += (uint64_t)__builtin_popcountll(left);
            for (due[w] = 0; left; left &= left - 1) {
                struct router_head *head = block_at(blocks, (uint32_t)(w * WORD_BITS + lowest_bit(left)));
                if (q->fetches_ahead)
                    fetch_ahead(q, at++, end);
                if (!step_router(q, head, now, &to, is))
                    continue;
                make_due(q, head, now + 1, is);
                any = true;
            }
        }
    } else {
        for (const uint32_t *at = list, *end = at + count; at < end; at++) {
            struct router_head *head = block_at(blocks, *at);
            if (!step_router(q, head, now, &to, is))
                continue;
            if (q->steps_each_tick)
                make_due(q, head, now + 1, is);
            else
                wake(q, head, now + q->cycle, is);
            any = q->steps_each_tick;
        }
    }
    if (any && q->due_at[(now + 1) % 2] != now + 1)
        input_queued_post_due(q, now + 1);
}

/* The variants are apart so that each has the compiler's registers to itself. */
static __attribute__((noinline)) ONE_REGION void step_usual(struct input_queued *q, tick_t now)
{
    step_routers(q, now, NULL, 0, USUAL);
}

static __attribute__((noinline)) void step_general(struct input_queued *q, tick_t now, const uint32_t *list,
                                                   uint32_t count)
{
    step_routers(q, now, list, count, GENERAL(q->words));
}

/* Those of the routers that an event was posted for which were not woken earlier. */
static uint32_t list_events(const struct input_queued *q, tick_t now, const struct step_event *event, uint32_t count)
{
    uint32_t *next = q->order;
    for (const struct step_event *end = event + count; event < end; event++) {
        struct router_head *head = block_of(q, event->target);
        if (head->step_at != now)
            continue;
        head->step_at = FW_NEVER;
        *next++ = event->target;
    }
    return (uint32_t)(next - q->order);
}

/* Where one event stands for all routers that step in a tick, each is counted, as if it had its own. */
void input_queued_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct input_queued *q = routers;
    uint32_t parity = now % 2;
    if (q->steps_each_tick)
        q->engine->events--;
    if (q->is_usual && !q->network->trace_out) {
        step_usual(q, now);
        return;
    }
    const uint32_t *list = q->order;
    if (q->is_usual) { /* the general variant tells a packet's walk */
        count = list_due(q, q->due[parity]);
        memset(q->due[parity], 0, q->router_words * sizeof *q->due[parity]);
    } else if (q->steps_each_tick) {
        list = q->woken[parity];
        count = q->woken_count[parity];
        q->woken_count[parity] = 0;
    } else {
        count = list_events(q, now, events, count);
    }
    q->engine->events += q->steps_each_tick ? count : 0;
    step_general(q, now, list, count);
}

static const struct router_ops input_queued = {
    .name = "input_queued",
    .summary = "virtual-channel router with buffers at its inputs",
    .options = input_queued_options,
    .example = "{\"type\": \"input_queued\", \"num_vcs\": 4, \"buffer_depth\": 8, \"allocator\": \"islip\"}",
    .serves_levels = true,
    .size = sizeof(struct input_queued),
    .plan = input_queued_plan,
    .check = input_queued_check,
    .build = input_queued_build,
    .share = input_queued_share,
    .receive_flits = input_queued_receive_flits,
    .receive_credits = input_queued_receive_credits,
    .step = input_queued_step,
    .look = input_queued_look,
    .lane_flits = input_queued_lane_flits,
    .find = input_queued_find,
    .take_out = input_queued_take_out,
};
REGISTER_ROUTER(input_queued);
