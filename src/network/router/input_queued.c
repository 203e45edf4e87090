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

#define STAGE static inline __attribute__((always_inline))

/* One router's parts, found once a step. */
struct view {
    struct input_queued *q;
    struct router_head *head;
    struct input_lane *inputs;
    struct output_lane *outputs;
    uint64_t *fresh, *waiting, *sendable, *free, *credited;
    tick_t now;
    tick_t soonest; /* when a lane that was looked at becomes ready */
    bool moved;     /* something was granted */
};

STAGE struct view view_of(struct input_queued *q, struct router_head *head, tick_t now, uint32_t words)
{
    return (struct view){
        .q = q,
        .head = head,
        .inputs = inputs_of(head, words),
        .outputs = outputs_of(q, head),
        .fresh = lanes_in(head, SET_FRESH, words),
        .waiting = lanes_in(head, SET_WAITING, words),
        .sendable = lanes_in(head, SET_SENDABLE, words),
        .free = lanes_in(head, SET_FREE, words),
        .credited = lanes_in(head, SET_CREDITED, words),
        .now = now,
        .soonest = NEVER,
    };
}

STAGE void wake(const struct input_queued *q, struct router_head *head, tick_t when)
{
    if (__builtin_expect(q->cycle > 1, 0))
        when = (when + q->cycle - 1) / q->cycle * q->cycle;
    if (when < head->step_at) {
        head->step_at = when;
        struct step_event *event = engine_post(q->engine, EVENT_ROUTER_STEP, when, sizeof *event);
        *event = (struct step_event){.target = head->number};
    }
}

/* A packet has come to the front of its lane: its routing begins, unless it must first be there as a whole. */
STAGE bool begin_packet(const struct input_queued *q, struct router_head *head, uint32_t lane, tick_t when,
                        uint32_t words)
{
    struct input_lane *input = &inputs_of(head, words)[lane];
    struct flit flit = front_flit(q, head, lane, words);
    CHECK(flit.place & FLIT_HEAD, "router %u lane %u: packet %u begins with flit %u", head->number, lane, flit.packet,
          flit.place & FLIT_POSITION);
    if (q->config.switching == STORE_AND_FORWARD && input->count < network_packet(q->network, flit.packet)->size)
        return false;
    input->output = LANE_WAITS;
    input->ready_at = when + q->routing;
    bits_add(lanes_in(head, SET_FRESH, words), lane);
    return true;
}

STAGE void receive_flit(const struct input_queued *q, const struct flit_event *event, tick_t now, uint32_t words)
{
    struct router_head *head = block_of(q, event->target);
    struct input_lane *input = &inputs_of(head, words)[event->lane];
    CHECK(input->count < q->config.buffer_depth, "tick %llu router %u lane %u: packet %u overruns the buffer",
          (unsigned long long)now, head->number, event->lane, event->flit.packet);
    ring_of(q, head, event->lane)[(input->first + input->count) & q->ring_mask] = event->flit;
    input->count++;
    if (input->output == LANE_IDLE) {
        if (begin_packet(q, head, event->lane, now, words))
            wake(q, head, now);
    } else if (input->count == 1 && bits_test(lanes_in(head, SET_CREDITED, words), input->output)) {
        bits_add(lanes_in(head, SET_SENDABLE, words), event->lane);
        wake(q, head, now);
    }
}

static void receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    const struct flit_event *event = events, *end = event + count;
    for (; event < end; event++) {
        if (q->prefetch && event + 4 < end) {
            struct router_head *ahead = block_of(q, event[4].target);
            __builtin_prefetch(ahead, 1);
            __builtin_prefetch(&inputs_of(ahead, q->words)[event[4].lane], 1);
            __builtin_prefetch(network_packet(q->network, event[4].flit.packet), 1);
        }
        if (q->words == 1)
            receive_flit(q, event, now, 1);
        else
            receive_flit(q, event, now, q->words);
    }
}

STAGE void receive_credit(const struct input_queued *q, const struct credit_event *event, tick_t now, uint32_t words)
{
    struct router_head *head = block_of(q, event->target);
    struct output_lane *output = &outputs_of(q, head)[event->lane];
    CHECK(output->credits < q->config.buffer_depth, "tick %llu router %u lane %u: a credit too many",
          (unsigned long long)now, head->number, event->lane);
    if (output->credits++ == 0) {
        bits_add(lanes_in(head, SET_CREDITED, words), event->lane);
        if (output->owner != NOBODY && inputs_of(head, words)[output->owner].count)
            bits_add(lanes_in(head, SET_SENDABLE, words), output->owner);
        else if (!q->config.vc_needs_credit)
            return;
        wake(q, head, now);
    } else if (q->reserves_packet) {
        wake(q, head, now);
    }
}

static void receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct input_queued *q = routers;
    const struct credit_event *event = events, *end = event + count;
    for (; event < end; event++) {
        if (q->prefetch && event + 4 < end)
            __builtin_prefetch(&outputs_of(q, block_of(q, event[4].target))[event[4].lane], 1);
        if (q->words == 1)
            receive_credit(q, event, now, 1);
        else
            receive_credit(q, event, now, q->words);
    }
}

STAGE void route(struct view *v, uint32_t words, bool traced)
{
    const struct input_queued *q = v->q;
    const struct routing *routing = &q->network->routing;
    const uint64_t *usable = lanes_in(v->head, SET_USABLE, words);
    BITS_EACH(lane, v->fresh, words) {
        uint32_t handle = front_flit(q, v->head, lane, words).packet;
        uint64_t *vcs = routes_of(q, v->head) + lane * words;
        for (uint32_t w = 0; w < words; w++)
            vcs[w] = 0;
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
        if (traced && handle == q->network->traced)
            network_trace(q->network, v->now, v->head->number, "route", "input lane %u, to terminal %u",
                          (unsigned)lane, question.packet->destination);
    }
    for (uint32_t w = 0; w < words; w++) {
        v->waiting[w] |= v->fresh[w];
        v->fresh[w] = 0;
    }
}

/* When the packet at the front of a lane was made: smaller is older. */
static uint64_t age_of(const struct input_queued *q, struct router_head *head, uint32_t lane)
{
    return network_packet(q->network, front_flit(q, head, lane, q->words).packet)->created;
}

/* The stage's latency is not over: the router must look again when it is. */
STAGE bool is_ready(struct view *v, uint32_t lane)
{
    tick_t ready_at = v->inputs[lane].ready_at;
    if (ready_at <= v->now)
        return true;
    v->soonest = ready_at < v->soonest ? ready_at : v->soonest;
    return false;
}

STAGE void take_output(struct view *v, uint32_t lane, uint32_t output, bool traced)
{
    const struct input_queued *q = v->q;
    struct input_lane *input = &v->inputs[lane];
    bits_remove(v->waiting, lane);
    bits_remove(v->free, output);
    v->outputs[output].owner = (uint16_t)lane;
    input->output = (uint16_t)output;
    input->port = q->lane_port[output];
    input->ready_at = v->now + q->vc_allocation;
    if (bits_test(v->credited, output))
        bits_add(v->sendable, lane);
    if (traced && front_flit(q, v->head, lane, q->words).packet == q->network->traced)
        network_trace(q->network, v->now, v->head->number, "allocate_vc", "port %u vc %u", input->port,
                      output - input->port * q->num_vcs);
}

/* What a lane may take of the output lanes that are free, one word of it. */
STAGE uint64_t wanted_outputs(const struct view *v, uint32_t lane, uint32_t word, uint32_t words)
{
    uint64_t want = routes_of(v->q, v->head)[lane * words + word] & v->free[word];
    return v->q->config.vc_needs_credit ? want & v->credited[word] : want;
}

static __attribute__((noinline)) void request_outputs(struct view *v, struct matching *m, uint32_t lane)
{
    uint32_t words = v->q->words;
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t want = wanted_outputs(v, lane, w, words); want; want &= want - 1) {
            uint32_t output = w * WORD_BITS + lowest_bit(want);
            matching_request(m, lane, output);
            if (m->age)
                m->age[lane * m->cols + output] = age_of(v->q, v->head, lane);
        }
}

/* Rivals for output lanes, or more lanes than fit a word: the allocator sees the whole picture. */
static __attribute__((noinline)) void match_outputs(struct view *v, bool traced)
{
    struct input_queued *q = v->q;
    struct matching *m = &q->vc_matching;
    BITS_EACH(lane, v->waiting, q->words)
        if (is_ready(v, lane))
            request_outputs(v, m, lane);
    if (!bits_any(m->active_rows, m->row_words))
        return;
    m->random = &q->random[v->head->number];
    q->vc_allocator->allocate((unsigned char *)v->head + q->vc_state_at, q->config.vc_allocator.config, m);
    BITS_EACH(lane, m->granted, m->row_words)
        take_output(v, lane, m->grant[lane], traced);
    v->moved = true;
    matching_clear(m);
}

STAGE void allocate_vc(struct view *v, uint32_t words, bool traced)
{
    struct input_queued *q = v->q;
    if (words > 1 || !q->vc_allocator->allocate_disjoint) {
        match_outputs(v, traced);
        return;
    }
    uint8_t lanes[WORD_BITS], grant[WORD_BITS];
    uint64_t wants[WORD_BITS], seen = 0, rivals = 0;
    uint32_t count = 0;
    BITS_EACH(lane, v->waiting, 1) {
        if (!is_ready(v, lane))
            continue;
        uint64_t want = wanted_outputs(v, lane, 0, 1);
        rivals |= seen & want;
        seen |= want;
        lanes[count] = (uint8_t)lane;
        wants[count] = want;
        count += want != 0;
    }
    if (!count)
        return;
    if (rivals) {
        match_outputs(v, traced);
        return;
    }
    q->vc_allocator->allocate_disjoint((unsigned char *)v->head + q->vc_state_at, q->config.vc_allocator.config,
                                       q->lanes, count, lanes, wants, grant);
    for (uint32_t i = 0; i < count; i++)
        take_output(v, lanes[i], grant[i], traced);
    v->moved = true;
}

/* May this lane ask for the switch now? The flow control of the crossbar has its say here. */
STAGE bool may_send(struct view *v, uint32_t lane, uint32_t words)
{
    const struct input_queued *q = v->q;
    const struct input_lane *input = &v->inputs[lane];
    if (q->reserves_packet) {
        struct flit flit = front_flit(q, v->head, lane, words);
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

/* A winner leaves its buffer: its flit goes out, a credit goes back. */
STAGE void traverse(struct view *v, uint32_t lane, uint32_t words, bool traced)
{
    struct input_queued *q = v->q;
    struct input_lane *input = &v->inputs[lane];
    uint32_t output = input->output, port = input->port, in_port = q->lane_port[lane];
    struct output_lane *out = &v->outputs[output];
    const struct link *links = links_of(q, v->head);
    const struct link *link = &links[port], *back = &links[in_port];
    struct flit flit = front_flit(q, v->head, lane, words);

    input->first++;
    input->count--;
    CHECK(out->credits > 0, "tick %llu router %u output lane %u: packet %u is sent without a credit",
          (unsigned long long)v->now, v->head->number, output, flit.packet);
    if (--out->credits == 0)
        bits_remove(v->credited, output);

    struct output_port *exit = &ports_of(q, v->head)[port];
    tick_t enters = v->now + q->to_channel;
    enters = enters > exit->free_at ? enters : exit->free_at;
    exit->free_at = enters + link->cycle;
    exit->flits++;
    link_send(q->engine, link, output - port * q->num_vcs, flit, enters + link->latency);
    link_credit(q->engine, back, lane - in_port * q->num_vcs, v->now + q->credit + back->latency);

    if (flit.place & FLIT_HEAD) {
        network_packet(q->network, flit.packet)->hops += !link->to_terminal;
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
        if (input->count)
            begin_packet(q, v->head, lane, v->now + q->next_packet, words);
    } else if (out->credits == 0 || input->count == 0) {
        bits_remove(v->sendable, lane);
    }
}

/* The VC arbiter of a switch input; it remembers whom it served. */
STAGE void *arbiter_state(const struct view *v, uint32_t row)
{
    return (unsigned char *)v->head + v->q->arbiter_state_at + row * v->q->arbiter_state_size;
}

STAGE void served(const struct view *v, uint32_t row, uint32_t vc)
{
    const struct input_queued *q = v->q;
    if (q->serves)
        q->serves(arbiter_state(v, row), q->num_vcs, vc);
}

/* Which of the eligible lanes of a switch input uses the output port that the input was granted. */
static uint32_t choose_lane(struct view *v, uint32_t row, uint32_t port)
{
    const struct input_queued *q = v->q;
    uint32_t first = row / q->config.input_speedup * q->num_vcs;
    uint64_t vcs = 0;
    for (uint32_t vc = 0; vc < q->num_vcs; vc++)
        if (bits_test(q->eligible, first + vc) && v->inputs[first + vc].port == port && q->switch_row[first + vc] == row)
            vcs |= bit(vc);
    uint32_t vc = lowest_bit(vcs);
    if (vcs & (vcs - 1)) {
        if (q->arbiter->needs_age)
            for (uint64_t left = vcs; left; left &= left - 1)
                q->vc_age[lowest_bit(left)] = age_of(q, v->head, first + lowest_bit(left));
        struct arbitration arbitration = {.requests = &vcs,
                                          .inputs = q->num_vcs,
                                          .words = 1,
                                          .age = q->vc_age,
                                          .random = &q->random[v->head->number]};
        vc = q->arbiter->pick(arbiter_state(v, row), &arbitration);
    }
    served(v, row, vc);
    return first + vc;
}

static void request_switch(struct view *v, struct matching *m, uint32_t lane)
{
    const struct input_queued *q = v->q;
    uint32_t row = q->switch_row[lane], spread = q->config.output_speedup;
    for (uint32_t col = v->inputs[lane].port * spread, end = col + spread; col < end; col++) {
        matching_request(m, row, col);
        if (m->age) {
            uint64_t *oldest = &m->age[row * m->cols + col], age = age_of(q, v->head, lane);
            *oldest = age < *oldest ? age : *oldest;
        }
    }
}

static void forget_ages(struct matching *m)
{
    BITS_EACH(row, m->active_rows, m->row_words)
        BITS_EACH(col, m->wants + row * m->col_words, m->col_words)
            m->age[row * m->cols + col] = UINT64_MAX;
}

/* Rivals for inputs or outputs of the switch: the allocator sees the whole picture. q->eligible says who asks. */
static __attribute__((noinline)) void match_switch(struct view *v, bool traced)
{
    struct input_queued *q = v->q;
    struct matching *m = &q->switch_matching;
    BITS_EACH(lane, q->eligible, q->words)
        request_switch(v, m, lane);
    m->random = &q->random[v->head->number];
    q->switch_allocator->allocate((unsigned char *)v->head + q->switch_state_at, q->config.allocator.config, m);
    BITS_EACH(row, m->granted, m->row_words) {
        uint32_t lane = choose_lane(v, row, m->grant[row] / q->config.output_speedup);
        traverse(v, lane, q->words, traced);
        q->flit_hops++;
    }
    v->moved = true;
    if (m->age)
        forget_ages(m);
    matching_clear(m);
}

STAGE void allocate_switch(struct view *v, uint32_t words, bool traced)
{
    struct input_queued *q = v->q;
    uint8_t lanes[WORD_BITS], rows[WORD_BITS], grant[WORD_BITS];
    uint64_t wants[WORD_BITS], rows_seen = 0, ports_seen = 0, rivals = 0;
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++)
        q->eligible[w] = 0;
    BITS_EACH(lane, v->sendable, words) {
        if (!is_ready(v, lane) || !may_send(v, lane, words))
            continue;
        bits_add(q->eligible, lane);
        if (words == 1) {
            uint64_t row = bit(q->switch_row[lane]), port = bit(v->inputs[lane].port);
            rivals |= (rows_seen & row) | (ports_seen & port);
            rows_seen |= row;
            ports_seen |= port;
            lanes[count] = (uint8_t)lane;
            rows[count] = (uint8_t)q->switch_row[lane];
            wants[count] = port;
        }
        count++;
    }
    if (!count)
        return;
    if (words > 1 || rivals || !q->switch_is_simple) {
        match_switch(v, traced);
        return;
    }
    q->switch_allocator->allocate_disjoint((unsigned char *)v->head + q->switch_state_at, q->config.allocator.config,
                                           q->switch_rows, count, rows, wants, grant);
    for (uint32_t i = 0; i < count; i++) {
        served(v, rows[i], lanes[i] - q->lane_port[lanes[i]] * q->num_vcs);
        traverse(v, lanes[i], 1, traced);
    }
    q->flit_hops += count;
    v->moved = true;
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

STAGE void step_router(struct input_queued *q, struct router_head *head, tick_t now, uint32_t words, bool traced)
{
    struct view view = view_of(q, head, now, words);
    route(&view, words, traced);
    allocate_vc(&view, words, traced);
    allocate_switch(&view, words, traced);
    rest(&view, words);
}

static void step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct input_queued *q = routers;
    const struct step_event *event = events, *end = event + count;
    bool traced = q->network->trace_out != NULL;
    for (; event < end; event++) {
        if (q->prefetch && event + 2 < end)
            for (uint32_t line = 0; line < q->prefetch; line += 64)
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
