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
 * Everything is compiled three times from this text: for the usual router (lanes fit one
 * word, wormhole switching with a flit-wise crossbar, no stage longer than a cycle,
 * allocators that take turns or match by words, channels that are alike), where most questions are answered
 * by the compiler and sets of lanes are registers; for one that has lanes of two words, sensors, output queues or
 * channels of many latencies, and takes turns, but is as usual in how flits go; and for all others. On the 8x8
 * mesh a hop takes less than half of the instructions by the first, on a dragonfly 15 % less by the second. All leave the
 * same state behind after every step; the general one also does what the usual one could, for `flitwarp
 * trace` and for the test that compares them (tests/contract/test_router_variants.py).
 */
#include "network/router/input_queued_lanes.h"

#include <string.h>

/* Where a tick's flits and credits go, by the class of their channel. NULL: engine_post() finds it, in no usual network. */
struct destinations {
    struct event_list *flits[CHANNEL_CLASSES], *credits[CHANNEL_CLASSES];
    struct event_list *crossing; /* into output queues */
};

/* When something gets to the far end of a lane's channel, that enters it or its end here at `sent`. */
static tick_t arrival_at(const struct input_queued *q, const struct router_head *head, const struct lane_facts *facts,
                         tick_t sent)
{
    return sent + network_link(q->network, head->number, facts->port)->latency;
}

/* Sends by channels of which one leads to another part of the network. */
SELDOM void send_across(const struct input_queued *q, const struct router_head *head, const struct input_lane *input,
                        size_t lane, tick_t granted, tick_t now)
{
    const struct lane_facts *from = &q->facts[lane], *to = &q->facts[input->output];
    const struct link *back = network_link(q->network, head->number, from->port);
    const struct link *link = network_link(q->network, head->number, to->port);
    send_credit(q->network, from->at_router ? EVENT_CREDIT : EVENT_TERMINAL_CREDIT, link_lane(back, from->vc),
                now + q->credit + back->latency);
    if (q->outputs)
        output_put(q->outputs, head->number, input->output, input->front, now, now + q->to_channel);
    else
        send_flit(q->network, to->at_router ? EVENT_FLIT : EVENT_TERMINAL_FLIT, link_lane(link, to->vc), input->front,
                  granted + q->to_channel + link->latency);
}

/* Room for an event to one of the terminals or routers. */
STAGE void *post(const struct view *v, struct event_list *const *lists, struct lane_facts facts, uint32_t kind,
                 tick_t sent, uint32_t size, struct variant is)
{
    struct event_list *list = lists[is.narrow ? facts.at_router : v->channels[facts.port]];
    if (is.narrow || list)
        return engine_list_post(v->q->engine, list, size);
    kind += facts.at_router ? 0 : EVENT_TERMINAL_FLIT - EVENT_FLIT;
    return engine_post(v->q->engine, kind, arrival_at(v->q, v->head, &facts, sent), size);
}

/* The flit goes out, a credit goes back. */
STAGE void send(const struct view *v, size_t lane, const struct input_lane *input, const struct output_lane *out,
                tick_t granted, struct variant is)
{
    const struct input_queued *q = v->q;
    if (__builtin_expect((int32_t)(input->back.lane | out->to.lane) < 0, 0)) { /* ELSEWHERE */
        send_across(q, v->head, input, lane, granted, v->now);
        return;
    }
    struct credit_event *credit =
        post(v, v->to->credits, facts_of(q, lane, is), EVENT_CREDIT, v->now + q->credit, sizeof *credit, is);
    credit->to = input->back;
    if (!is.narrow && q->outputs) {
        put_flit(q->outputs, v->head->number, input->output, input->front, v->now, v->now + q->to_channel,
                 v->to->crossing);
        return;
    }
    struct flit_event *event =
        post(v, v->to->flits, facts_of(q, input->output, is), EVENT_FLIT, granted + q->to_channel, sizeof *event, is);
    event->to = out->to;
    event->flit = input->front;
}

STAGE bool is_traced(const struct view *v, struct flit flit, struct variant is)
{
    return !is.usual && __builtin_expect(v->traces, 0) && flit.packet == v->q->network->traced;
}

SELDOM void trace_flit(const struct input_queued *q, const struct router_head *head, size_t output, struct flit flit,
                       tick_t granted, tick_t now)
{
    const struct lane_facts *facts = &q->facts[output];
    tick_t crossed = granted + q->to_channel;
    network_trace(q->network, now, head->number, "traverse", "flit %u by port %u vc %u, %s at %llu",
                  flit.place & FLIT_POSITION, facts->port, facts->vc, q->outputs ? "queued" : "arrives",
                  (unsigned long long)(q->outputs ? crossed : arrival_at(q, head, facts, crossed)));
}

#include "network/router/input_queued_stages.h"

/* ---- steps of the general variant, for those who match ---- */

void input_queued_hold(struct view *v, size_t lane, size_t output)
{
    hold_output(v, lane, output, GENERAL(v->q->words));
}

uint64_t input_queued_wanted(const struct view *v, size_t lane, uint32_t word)
{
    return wanted_outputs(v, lane, word, GENERAL(v->q->words));
}

bool input_queued_may_send(const struct view *v, size_t lane) { return may_send(v, lane); }

void input_queued_leave(struct view *v, size_t lane)
{
    traverse(v, lane, GENERAL(v->q->words));
    v->q->flit_hops++;
}

/* ---- the steps ---- */

STAGE void allocate_vc(struct view *v, struct variant is)
{
    if (is.usual || v->q->takes_turns || v->q->takes_words) {
        share_outputs(v, is);
        return;
    }
    struct view seen = *v;
    v->moved = input_queued_match_outputs(&seen);
}

STAGE void allocate_switch(struct view *v, struct variant is)
{
    if (is.usual || v->q->takes_turns || v->q->takes_words) {
        share_switch(v, is);
        return;
    }
    find_eligible(v, v->q->eligible, is);
    if (bits_any(v->q->eligible, is.words)) {
        struct view seen = *v;
        input_queued_match_switch(&seen);
        v->moved = true;
    }
}

/* Registers are given out for the whole function at once: 9 instructions a hop less in the usual variant, 6 more in the other. */
#if defined __GNUC__ && !defined __clang__
#define ONE_REGION __attribute__((optimize("ira-region=one")))
#else
#define ONE_REGION
#endif

/* One step of one router; true when it steps in the next cycle too. The usual router's sets are held in registers. */
STAGE bool step_router(struct input_queued *q, struct router_head *head, tick_t now, const struct destinations *to,
                       struct variant is)
{
    uint64_t fresh, waiting, sendable, busy[WIDE_WORDS] = {0}, free;
    if (is.narrow) {
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
        .fresh = is.narrow ? &fresh : lanes_in(head, SET_FRESH, is.words),
        .waiting = is.narrow ? &waiting : lanes_in(head, SET_WAITING, is.words),
        .sendable = is.narrow ? &sendable : lanes_in(head, SET_SENDABLE, is.words),
        .busy = is.usual ? busy : lanes_in(head, SET_BUSY, is.words),
        .free = is.narrow ? &free : lanes_in(head, SET_FREE, is.words),
        .credited = credited_of(q, head),
        .usable = lanes_in(head, SET_USABLE, is.words),
        .wants = wants_of(q, head, 0, is.words),
        .wants_apart = is.words == 1 ? sizeof(struct input_lane) / sizeof(uint64_t) : is.words,
        .to = to,
        .channels = q->channels + (size_t)head->number * q->ports,
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
    if (is.narrow) {
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

/* Where events of a kind go that are sent now; NULL: the latency is not known, or too long. */
static struct event_list *list_at(const struct input_queued *q, uint32_t kind, tick_t sent, tick_t latency)
{
    bool is_far = sent + latency - q->engine->now >= WHEEL_SLOTS;
    return latency && !is_far ? engine_list(q->engine, kind, sent + latency) : NULL;
}

STAGE void step_routers(struct input_queued *q, tick_t now, const uint32_t *list, uint32_t count, struct variant is)
{
    struct destinations to;
    to.crossing = !is.narrow && q->outputs ? output_crossing(q->outputs, now + q->to_channel) : NULL;
    for (uint32_t class = 0; class < (is.narrow ? CHANNELS_OF_ROUTERS + 1 : CHANNEL_CLASSES); class ++) {
        tick_t latency = q->channel_latencies[class];
        bool is_terminal = class == CHANNELS_OF_TERMINALS;
        to.flits[class] = list_at(q, is_terminal ? EVENT_TERMINAL_FLIT : EVENT_FLIT, now + q->to_channel,
                                  q->queues_to_send ? 0 : latency);
        to.credits[class] = list_at(q, is_terminal ? EVENT_TERMINAL_CREDIT : EVENT_CREDIT, now + q->credit, latency);
    }
    const struct blocks blocks = q->blocks;
    bool any = false;
    if (is.narrow) {
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
            if (is.usual || q->steps_each_tick)
                make_due(q, head, now + 1, is);
            else
                wake(q, head, now + q->cycle, is);
            any = is.usual || q->steps_each_tick;
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

static __attribute__((noinline)) ONE_REGION void step_wide(struct input_queued *q, tick_t now, const uint32_t *list,
                                                           uint32_t count)
{
    step_routers(q, now, list, count, WIDE);
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
    if (q->is_wide && !q->network->trace_out)
        step_wide(q, now, list, count);
    else
        step_general(q, now, list, count);
}

static const struct router_ops input_queued = {
    .name = "input_queued",
    .summary = "virtual-channel router with buffers at its inputs",
    .device = {.file = "src/device/router_kernel.h"},
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
    .holder = input_queued_holder,
    .close = input_queued_close,
    .ask_again = input_queued_ask_again,
};
REGISTER_ROUTER(input_queued);
