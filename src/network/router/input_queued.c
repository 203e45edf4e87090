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
 *   rest             sleep until something can change
 *
 * A stage's latency is a ready_at time of the lane, not an event. A router that
 * granted nothing has nothing to do before a flit or credit arrives or a
 * ready_at comes, so it sleeps; arbiters move only on grants, so that sleeping
 * changes nothing.
 *
 * Each stage is compiled twice: for networks whose lanes fit one word, and for
 * any number of words (which also prints the walk of a traced packet).
 */
#include "network/router/input_queued.h"

#include <string.h>

#define STAGE static inline __attribute__((always_inline))

/* One router's parts, found once a step. */
struct view {
    const struct input_queued *q;
    struct router_head *head;
    struct input_lane *inputs;
    struct output_lane *outputs;
    uint64_t *fresh, *waiting, *sendable, *free, *credited;
    const struct link *links;
    tick_t now;
    tick_t soonest; /* when a lane that was looked at becomes ready */
    bool moved;     /* something was granted */
};

STAGE struct view view_of(const struct input_queued *q, struct router_head *head, tick_t now, uint32_t words)
{
    return (struct view){
        .q = q,
        .head = head,
        .inputs = inputs_of(q, head),
        .outputs = outputs_of(q, head),
        .fresh = lanes_in(q, head, SET_FRESH, words),
        .waiting = lanes_in(q, head, SET_WAITING, words),
        .sendable = lanes_in(q, head, SET_SENDABLE, words),
        .free = lanes_in(q, head, SET_FREE, words),
        .credited = lanes_in(q, head, SET_CREDITED, words),
        .links = links_of(q, head),
        .now = now,
        .soonest = NEVER,
    };
}

static inline void wake(const struct input_queued *q, struct router_head *head, tick_t when)
{
    if (q->cycle > 1)
        when = (when + q->cycle - 1) / q->cycle * q->cycle;
    if (when < head->step_at) {
        head->step_at = when;
        struct step_event *event = engine_post(q->engine, EVENT_ROUTER_STEP, when, sizeof *event);
        *event = (struct step_event){.target = head->number};
    }
}

/* A packet has come to the front of its lane: its routing begins, unless it must first be there as a whole. */
static inline bool begin_packet(const struct input_queued *q, struct router_head *head, uint32_t lane, tick_t when)
{
    struct input_lane *input = &inputs_of(q, head)[lane];
    struct flit flit = front_flit(q, head, lane);
    CHECK(flit.place & FLIT_HEAD, "router %u lane %u: packet %u begins with flit %u", head->number, lane, flit.packet,
          flit.place & FLIT_POSITION);
    if (q->config.switching == STORE_AND_FORWARD && input->count < network_packet(q->network, flit.packet)->size)
        return false;
    input->output = LANE_WAITS;
    input->ready_at = when + q->routing;
    bits_add(lanes_in(q, head, SET_FRESH, q->words), lane);
    return true;
}

static void receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    const struct flit_event *event = events;
    for (uint32_t i = 0; i < count; i++, event++) {
        if (i + 4 < count) {
            struct router_head *ahead = block_of(q, event[4].target);
            __builtin_prefetch(ahead, 1);
            __builtin_prefetch(&inputs_of(q, ahead)[event[4].lane], 1);
            __builtin_prefetch(network_packet(q->network, event[4].flit.packet), 1);
        }
        struct router_head *head = block_of(q, event->target);
        struct input_lane *input = &inputs_of(q, head)[event->lane];
        CHECK(input->count < q->config.buffer_depth, "tick %llu router %u lane %u: packet %u overruns the buffer",
              (unsigned long long)now, head->number, event->lane, event->flit.packet);
        ring_of(q, head, event->lane)[(input->first + input->count) & q->ring_mask] = event->flit;
        input->count++;
        if (input->output == LANE_IDLE) {
            if (begin_packet(q, head, event->lane, now))
                wake(q, head, now);
        } else if (input->count == 1 && bits_test(lanes_in(q, head, SET_CREDITED, q->words), input->output)) {
            bits_add(lanes_in(q, head, SET_SENDABLE, q->words), event->lane);
            wake(q, head, now);
        }
    }
}

static void receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    const struct credit_event *event = events;
    for (uint32_t i = 0; i < count; i++, event++) {
        if (i + 4 < count) {
            struct router_head *ahead = block_of(q, event[4].target);
            __builtin_prefetch(ahead, 1);
            __builtin_prefetch(&outputs_of(q, ahead)[event[4].lane], 1);
        }
        struct router_head *head = block_of(q, event->target);
        struct output_lane *output = &outputs_of(q, head)[event->lane];
        CHECK(output->credits < q->config.buffer_depth, "tick %llu router %u lane %u: a credit too many",
              (unsigned long long)now, head->number, event->lane);
        if (output->credits++ == 0) {
            bits_add(lanes_in(q, head, SET_CREDITED, q->words), event->lane);
            if (output->owner != NOBODY && inputs_of(q, head)[output->owner].count)
                bits_add(lanes_in(q, head, SET_SENDABLE, q->words), output->owner);
            else if (!q->config.vc_needs_credit)
                continue;
            wake(q, head, now);
        } else if (q->reserves_packet) {
            wake(q, head, now);
        }
    }
}

STAGE void route(struct view *v, uint32_t words, bool traced)
{
    const struct input_queued *q = v->q;
    const struct routing *routing = &q->network->routing;
    const uint64_t *usable = lanes_in(q, v->head, SET_USABLE, words);
    BITS_EACH(lane, v->fresh, words) {
        uint32_t handle = front_flit(q, v->head, lane).packet;
        uint64_t *vcs = routes_of(q, v->head) + lane * words;
        memset(vcs, 0, words * sizeof *vcs);
        struct route question = {
            .routing = routing,
            .packet = network_packet(q->network, handle),
            .router = v->head->number,
            .in_port = q->lane_port[lane],
            .vcs = vcs,
        };
        routing->ops->route(&question);
        uint64_t some = 0, wrong = 0;
        for (uint32_t w = 0; w < words; w++) {
            some |= vcs[w];
            wrong |= vcs[w] & ~usable[w];
        }
        CHECK(some && !wrong, "tick %llu router %u: routing gives packet %u for terminal %u %s",
              (unsigned long long)v->now, v->head->number, handle, question.packet->destination,
              wrong ? "an unused port" : "nowhere to go");
        bits_add(v->waiting, lane);
        if (traced && handle == q->network->traced)
            network_trace(q->network, v->now, v->head->number, "route", "input lane %u, to terminal %u",
                          (unsigned)lane, question.packet->destination);
    }
    memset(v->fresh, 0, words * sizeof *v->fresh);
}

/* Who created the packet at the front of a lane, and when: smaller is older. */
static uint64_t age_of(const struct view *v, uint32_t lane)
{
    const struct packet *packet = network_packet(v->q->network, front_flit(v->q, v->head, lane).packet);
    return packet->created;
}

STAGE void allocate_vc(struct view *v, uint32_t words, bool traced)
{
    const struct input_queued *q = v->q;
    struct matching *m = (struct matching *)&q->vc_matching;
    uint64_t asking = 0;
    BITS_EACH(lane, v->waiting, words) {
        tick_t ready_at = v->inputs[lane].ready_at;
        if (ready_at > v->now) {
            v->soonest = ready_at < v->soonest ? ready_at : v->soonest;
            continue;
        }
        const uint64_t *route = routes_of(q, v->head) + lane * words;
        uint64_t some = 0;
        for (uint32_t w = 0; w < words; w++) {
            uint64_t want = route[w] & v->free[w];
            if (q->config.vc_needs_credit)
                want &= v->credited[w];
            m->wants[lane * words + w] = want;
            m->active_cols[w] |= want;
            some |= want;
            for (; want; want &= want - 1) {
                uint32_t col = w * WORD_BITS + lowest_bit(want);
                m->wanted_by[col * words + lane / WORD_BITS] |= bit(lane);
                if (m->age)
                    m->age[lane * m->cols + col] = age_of(v, lane);
            }
        }
        if (some)
            bits_add(m->active_rows, lane);
        asking |= some;
    }
    if (!asking)
        return;
    m->random = &q->random[v->head->number];
    q->vc_allocator->allocate((unsigned char *)v->head + q->vc_state_at, q->config.vc_allocator.config, m);
    BITS_EACH(lane, m->granted, words) {
        uint32_t output = m->grant[lane];
        bits_remove(v->waiting, lane);
        bits_remove(v->free, output);
        v->outputs[output].owner = (uint16_t)lane;
        v->inputs[lane].output = (uint16_t)output;
        v->inputs[lane].port = q->lane_port[output];
        v->inputs[lane].ready_at = v->now + q->vc_allocation;
        if (bits_test(v->credited, output))
            bits_add(v->sendable, lane);
        if (traced && front_flit(q, v->head, lane).packet == q->network->traced)
            network_trace(q->network, v->now, v->head->number, "allocate_vc", "port %u vc %u", q->lane_port[output],
                          output % q->num_vcs);
    }
    v->moved = true;
    m->row_words = m->col_words = words;
    matching_clear(m);
}

/* May this lane ask for the switch now? The flow control of the crossbar has its say here. */
STAGE bool may_send(struct view *v, uint32_t lane)
{
    const struct input_queued *q = v->q;
    const struct input_lane *input = &v->inputs[lane];
    if (q->reserves_packet) {
        struct flit flit = front_flit(q, v->head, lane);
        if ((flit.place & FLIT_HEAD) &&
            v->outputs[input->output].credits < network_packet(q->network, flit.packet)->size)
            return false;
    }
    if (q->config.crossbar_flow != FLIT_BUFFER) {
        uint16_t *lock = &locks_of(q, v->head)[input->port];
        if (*lock != UNLOCKED && *lock != lane) {
            if (q->config.crossbar_flow == PACKET_BUFFER || bits_test(v->sendable, *lock))
                return false;
            *lock = UNLOCKED; /* the winner that took all is idle: others may have the output */
        }
    }
    return true;
}

/* The VCs of one switch input that ask for one output port. */
STAGE uint64_t candidates(const struct view *v, uint32_t row, uint32_t port, uint32_t words)
{
    const struct input_queued *q = v->q;
    uint32_t speedup = q->config.input_speedup;
    uint32_t in_port = speedup == 1 ? row : row / speedup;
    uint32_t first = in_port * q->num_vcs;
    uint64_t vcs = 0;
    if (words == 1) {
        for (uint64_t left = q->eligible[0] >> first & bits_range(0, q->num_vcs); left; left &= left - 1)
            if (v->inputs[first + lowest_bit(left)].port == port)
                vcs |= left & -left;
    } else {
        for (uint32_t vc = 0; vc < q->num_vcs; vc++)
            if (bits_test(q->eligible, first + vc) && v->inputs[first + vc].port == port)
                vcs |= bit(vc);
    }
    if (speedup > 1)
        for (uint64_t left = vcs; left; left &= left - 1)
            if (lowest_bit(left) % speedup != row % speedup)
                vcs &= ~(left & -left);
    return vcs;
}

/* Which VC of a switch input uses the output that the input was granted. */
STAGE uint32_t choose_vc(struct view *v, uint32_t row, uint32_t port, uint32_t words)
{
    const struct input_queued *q = v->q;
    uint64_t vcs = candidates(v, row, port, words);
    uint32_t vc = lowest_bit(vcs);
    if (q->num_vcs == 1)
        return vc;
    void *state = (unsigned char *)v->head + q->arbiter_state_at + row * q->arbiter_state_size;
    if (vcs & (vcs - 1)) {
        uint32_t in_port = row / q->config.input_speedup;
        if (q->arbiter->needs_age)
            for (uint64_t left = vcs; left; left &= left - 1)
                q->vc_age[lowest_bit(left)] = age_of(v, in_port * q->num_vcs + lowest_bit(left));
        struct arbitration arbitration = {.requests = &vcs,
                                          .inputs = q->num_vcs,
                                          .words = 1,
                                          .age = q->vc_age,
                                          .random = &q->random[v->head->number]};
        vc = q->arbiter->pick(state, &arbitration);
    }
    if (q->arbiter->served)
        q->arbiter->served(state, q->num_vcs, vc);
    return vc;
}

/* A winner leaves its buffer. */
STAGE void traverse(struct view *v, uint32_t lane, uint32_t words, bool traced)
{
    struct input_queued *q = (struct input_queued *)v->q;
    struct engine *engine = q->engine;
    struct input_lane *input = &v->inputs[lane];
    uint32_t output = input->output, port = input->port;
    struct output_lane *out = &v->outputs[output];
    struct flit flit = front_flit(q, v->head, lane);
    const struct link *link = &v->links[port];

    input->first++;
    input->count--;
    CHECK(out->credits > 0, "tick %llu router %u output lane %u: packet %u is sent without a credit",
          (unsigned long long)v->now, v->head->number, output, flit.packet);
    if (--out->credits == 0)
        bits_remove(v->credited, output);
    if (out->credits == 0 || input->count == 0)
        bits_remove(v->sendable, lane);

    struct output_port *exit = &ports_of(q, v->head)[port];
    tick_t enters = v->now + q->to_channel;
    enters = enters > exit->free_at ? enters : exit->free_at;
    exit->free_at = enters + link->cycle;
    exit->flits++;
    link_send(engine, link, output - port * q->num_vcs, flit, enters + link->latency);

    const struct link *back = &v->links[q->lane_port[lane]];
    link_credit(engine, back, lane - q->lane_port[lane] * q->num_vcs, v->now + q->leave_buffer + back->latency + q->credit);
    q->flit_hops++;

    if (flit.place & FLIT_HEAD) {
        if (!link->to_terminal)
            network_packet(q->network, flit.packet)->hops++;
        if (q->config.crossbar_flow != FLIT_BUFFER)
            locks_of(q, v->head)[port] = (uint16_t)lane;
    }
    if (traced && flit.packet == q->network->traced)
        network_trace(q->network, v->now, v->head->number, "traverse", "flit %u by port %u vc %u, arrives at %llu",
                      flit.place & FLIT_POSITION, port, output - port * q->num_vcs,
                      (unsigned long long)(enters + link->latency));
    if (flit.place & FLIT_TAIL) {
        out->owner = NOBODY;
        bits_add(v->free, output);
        bits_remove(v->sendable, lane);
        if (q->config.crossbar_flow != FLIT_BUFFER)
            locks_of(q, v->head)[port] = UNLOCKED;
        input->output = LANE_IDLE;
        if (input->count) {
            tick_t next = q->leave_buffer > q->cycle ? q->leave_buffer : q->cycle;
            begin_packet(q, v->head, lane, v->now + next);
        }
    }
    (void)words;
}

STAGE void allocate_switch(struct view *v, uint32_t words, bool traced)
{
    const struct input_queued *q = v->q;
    struct matching *m = (struct matching *)&q->switch_matching;
    uint32_t spread = q->config.output_speedup;
    bool asking = false;
    for (uint32_t w = 0; w < words; w++)
        q->eligible[w] = v->sendable[w];
    BITS_EACH(lane, v->sendable, words) {
        const struct input_lane *input = &v->inputs[lane];
        if (input->ready_at > v->now) {
            v->soonest = input->ready_at < v->soonest ? input->ready_at : v->soonest;
            bits_remove(q->eligible, lane);
            continue;
        }
        if (!may_send(v, lane)) {
            bits_remove(q->eligible, lane);
            continue;
        }
        uint32_t row = q->switch_row[lane];
        if (spread == 1)
            matching_request(m, row, input->port);
        else
            for (uint32_t j = 0; j < spread; j++)
                matching_request(m, row, input->port * spread + j);
        if (m->age) {
            uint64_t age = age_of(v, lane);
            for (uint32_t j = 0; j < spread; j++) {
                uint64_t *known = &m->age[row * m->cols + input->port * spread + j];
                *known = age < *known ? age : *known;
            }
        }
        asking = true;
    }
    if (!asking)
        return;
    m->random = &q->random[v->head->number];
    q->switch_allocator->allocate((unsigned char *)v->head + q->switch_state_at, q->config.allocator.config, m);
    BITS_EACH(row, m->granted, words == 1 ? 1 : m->row_words) {
        uint32_t port = spread == 1 ? m->grant[row] : m->grant[row] / spread;
        uint32_t in_port = q->config.input_speedup == 1 ? row : row / q->config.input_speedup;
        uint32_t lane = in_port * q->num_vcs + choose_vc(v, row, port, words);
        traverse(v, lane, words, traced);
    }
    v->moved = true;
    if (m->age)
        BITS_EACH(row, m->active_rows, m->row_words)
            BITS_EACH(col, m->wants + row * m->col_words, m->col_words)
                m->age[row * m->cols + col] = UINT64_MAX;
    matching_clear(m);
}

/* Sleeps, unless there is something to do in a cycle that is known now. */
STAGE void rest(struct view *v, uint32_t words)
{
    uint64_t work = 0;
    for (uint32_t w = 0; w < words; w++)
        work |= v->fresh[w] | v->waiting[w] | v->sendable[w];
    if (!work)
        return;
    if (v->moved)
        wake(v->q, v->head, v->now + v->q->cycle);
    else if (v->soonest != NEVER)
        wake(v->q, v->head, v->soonest);
}

STAGE void step_router(const struct input_queued *q, struct router_head *head, tick_t now, uint32_t words, bool traced)
{
    struct view view = view_of(q, head, now, words);
    route(&view, words, traced);
    allocate_vc(&view, words, traced);
    allocate_switch(&view, words, traced);
    rest(&view, words);
}

static void step(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    const struct step_event *event = events;
    bool traced = q->network->trace_out != NULL;
    for (uint32_t i = 0; i < count; i++, event++) {
        if (i + 2 < count)
            for (uint32_t line = 0; line < q->rings_at; line += 64)
                __builtin_prefetch((unsigned char *)block_of(q, event[2].target) + line, 1);
        struct router_head *head = block_of(q, event->target);
        if (head->step_at != now)
            continue; /* woken earlier than this step was posted for */
        head->step_at = NEVER;
        if (q->words == 1 && !traced)
            step_router(q, head, now, 1, false);
        else
            step_router(q, head, now, q->words, traced);
    }
}

static const struct router_ops input_queued = {
    .name = "input_queued",
    .summary = "virtual-channel router with buffers at its inputs",
    .options = input_queued_options,
    .config_size = sizeof(struct input_queued_config),
    .example = "{\"type\": \"input_queued\", \"num_vcs\": 4, \"buffer_depth\": 8, \"allocator\": \"islip\"}",
    .num_vcs = input_queued_num_vcs,
    .buffer_depth = input_queued_depth,
    .max_packet = input_queued_max_packet,
    .build = input_queued_build,
    .receive_flits = receive_flits,
    .receive_credits = receive_credits,
    .step = step,
    .check_idle = input_queued_check_idle,
    .waits_for = input_queued_waits_for,
    .flit_hops = input_queued_flit_hops,
    .port_flits = input_queued_port_flits,
};
REGISTER_ROUTER(input_queued);
