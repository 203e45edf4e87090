/* SPDX-License-Identifier: Apache-2.0 */
/* What arrives at BookSim's routers of the usual variant, and looking at them from outside; see booksim_usual.c. */
#include "network/router/booksim_usual.h"

#include "flitwarp/shown.h"

/* Somebody steps at a tick: an event is posted for it. */
void booksim_usual_post_due(const struct booksim *q, tick_t when)
{
    if (q->usual->due_at[when % 2] == when)
        return;
    q->usual->due_at[when % 2] = when;
    network_post_step(q->engine, EVENT_ROUTER_STEP, FW_NONE, 0, when);
}

/* ---- what arrives ---- */

/* Networks that do not fit the cache: what events to come will touch is fetched while those before are worked on. */
#define EVENTS_AHEAD 12

static uint32_t fetching_events(const struct booksim_usual *u, uint32_t count)
{
    return u->fetches_ahead && count > EVENTS_AHEAD ? count - EVENTS_AHEAD : 0;
}

FW_INLINE void store_flit(const struct booksim *q, const struct booksim_usual *u, struct usual_router *r, size_t lane,
                          struct flit flit, tick_t now)
{
    struct usual_input *input = &inputs_of(r)[lane];
    uint32_t count = input->count++;
    r->is_active = true;
    if (count) {
        uint32_t place = (uint32_t)input->first + count - 1;
        FW_CHECK(count <= q->ring_mask, "tick %llu router %u lane %zu: packet %u overruns the buffer",
                 (unsigned long long)now, r->number, lane, flit.packet);
        ring_of(u, r, lane)[place & q->ring_mask] = flit;
        return;
    }
    input->front = flit;
    if (input->output == LANE_IDLE) {
        input->output = LANE_WAITS;
        r->fresh |= bit((uint32_t)lane);
    } else {
        r->waiting |= bit((uint32_t)lane);
    }
}

/* Where the heads that come may go, where that is asked at once. */
static __attribute__((noinline)) void ask_ahead(struct booksim *q, tick_t now, const struct flit_event *event)
{
    struct usual_router *r = router_at(q->usual, event->to.target);
    const struct usual_input *input = &inputs_of(r)[event->to.lane];
    uint32_t place = (uint32_t)input->first + input->count - 1;
    if (event->flit.place & FLIT_HEAD)
        route_packet(q, r->number, event->flit.packet, event->to.lane, ahead_at(q, r, event->to.lane, place),
                     &r->usable, now);
}

static __attribute__((noinline)) void fetch_input(const struct booksim_usual *u, struct lane_place to)
{
    struct usual_router *r = router_at(u, to.target);
    __builtin_prefetch(r, 1);
    __builtin_prefetch(&inputs_of(r)[to.lane], 1);
}

void booksim_usual_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct booksim *q = routers;
    const struct booksim_usual *u = q->usual;
    const struct flit_event *event = events, *end = event + count, *fetching = event + fetching_events(u, count);
    uint64_t *due = u->due[now % 2];
    bool asks_ahead = q->asks_ahead;
    booksim_usual_post_due(q, now);
    for (; event < end; event++) {
        if (event < fetching)
            fetch_input(u, event[EVENTS_AHEAD].to);
        bits_add(due, event->to.target);
        if (asks_ahead)
            ask_ahead(q, now, event);
        store_flit(q, u, router_at(u, event->to.target), event->to.lane, event->flit, now);
    }
}

/* What few settings ask for when a credit comes. */
static __attribute__((noinline)) void note_credit(const struct booksim *q, struct usual_router *r, uint32_t lane,
                                                  bool is_empty, tick_t now)
{
    congestion_change(q->congestion, r->number, lane, QUEUE_DOWNSTREAM, -1, now);
    if (!q->rule.when_empty || !is_empty)
        return;
    uint64_t *tail_sent = &q->usual->tail_sent[r->number];
    r->free |= *tail_sent & bit(lane);
    *tail_sent &= ~bit(lane);
}

void booksim_usual_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    const struct booksim *q = routers;
    const struct credit_event *event = events;
    const struct booksim_usual *u = q->usual;
    uint64_t *due = u->due[now % 2];
    unsigned char *blocks = u->blocks, *outputs = blocks + u->outputs_at; /* what is stored does not change these */
    size_t stride = u->stride;
    uint32_t depth = q->rule.depth;
    bool is_noted = q->congestion || q->rule.when_empty;
    booksim_usual_post_due(q, now);
    const struct credit_event *fetching = event + fetching_events(u, count);
    for (const struct credit_event *end = event + count; event < end; event++) {
        if (event < fetching)
            __builtin_prefetch(outputs + event[EVENTS_AHEAD].to.target * stride +
                                   event[EVENTS_AHEAD].to.lane * sizeof(struct usual_output),
                               1);
        struct usual_router *r = (struct usual_router *)(void *)(blocks + event->to.target * stride);
        struct usual_output *out =
            (struct usual_output *)(void *)(outputs + event->to.target * stride) + event->to.lane;
        bits_add(due, event->to.target);
        FW_CHECK(out->credits < depth, "tick %llu router %u lane %u: a credit too many", (unsigned long long)now,
                 r->number, event->to.lane);
        if (out->credits++ == 0 && out->owner != NOBODY)
            r->blocked &= ~bit(out->owner);
        if (is_noted)
            note_credit(q, r, event->to.lane, out->credits == depth, now);
    }
}

/* ---- looking from outside ---- */

uint32_t booksim_usual_lane_flits(const struct booksim *q, uint32_t router, uint32_t lane)
{
    return outputs_of(q->usual, router_at(q->usual, router))[lane].flits;
}

void booksim_usual_look(const struct booksim *q, uint32_t router, uint32_t lane, struct lane_look *seen,
                        struct shown_router *shown)
{
    struct usual_router *r = router_at(q->usual, router);
    const struct usual_input *input = &inputs_of(r)[lane];
    const struct usual_output *out = &outputs_of(q->usual, r)[lane];
    seen->flits = input->count;
    seen->owner = out->owner;
    if (r->usable & bit(lane)) {
        seen->depth = q->rule.depth;
        seen->credits = out->credits;
    }
    if (input->count)
        seen->packet = input->front.packet;
    seen->output = r->fresh & bit(lane) ? LANE_ROUTED : input->output;
    if (seen->output == LANE_WAITS)
        seen->wants = &input->wants;
    seen->room = 1;
    seen->beyond = seen->output == LANE_WAITS && q->rule.when_empty ? UINT32_MAX : 0;
    if (shown && input->count) {
        shown_add_input(shown, lane, input->front);
        shown_add_ring(shown, &shown->inputs[lane].queue, ring_of(q->usual, r, lane), q->ring_mask, input->first,
                       input->count - 1);
    }
}
