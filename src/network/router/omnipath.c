/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Omni-Path router, after OPASim (Cano et al., "OpaSim: an OPA simulator for
 * high-performance interconnections", report DIAB-18-12-1, 2018; docs/omnipath.md).
 * Four ports are an MPort. A packet for a port of its own MPort crosses that MPort's
 * crossbar alone; all others cross it to one of two central buffers and from there
 * the central crossbar.
 *
 *   input buffers -> MPort crossbar ----------------------------> output buffers -> channel
 *                                  `-> central buffers -> central crossbar -^
 *
 * The stages have the names of the report's events:
 *
 *   IB     a flit is stored in the input buffer               (store)
 *   RT     its packet's head is routed                        (end_routing)
 *   VA-SA  a buffer names a VL, a sink takes one of those     (omnipath_allocate)
 *   X      flits of the winners cross, several a cycle        (omnipath_cross)
 *   OB     they are stored, and the output's VLs take turns   (omnipath_step_outputs)
 *
 * Packets move as virtual cut-through: a packet begins to cross when there is room
 * for all of it in the central buffer, if it takes that way, and in the output
 * buffer; it leaves when there is room for all of it downstream. So what is in a
 * central buffer never waits for room, and the VLs that share one cannot block each
 * other: routing that is free of deadlock elsewhere is so here.
 */
#include "network/router/omnipath.h"

void omnipath_ask(struct omnipath *q, uint32_t router, uint32_t source, uint64_t vls, tick_t now)
{
    if (!vls || source_at(q, router, source)->sink != NOBODY)
        return;
    bits_add(q->asking + (size_t)router * q->source_words, source);
    BITS_EACH(vl, &vls, 1) {
        tick_t when = omnipath_arbitrated(q, router, source, (uint32_t)vl);
        if (when >= now)
            omnipath_wake(q, router, when);
    }
}

/* Asks where the packet at the front of an input lane may go. */
static void route(struct omnipath *q, uint32_t router, uint32_t input, uint32_t vl, tick_t now)
{
    uint32_t packet = first_packet(q, lane_number(q, router, input, vl));
    q->question.router = router;
    q->question.now = now;
    ask_route(q->network, &q->question, packet, port_at(q, router, input)->back_kind == EVENT_CREDIT,
              wants_of(q, router, input, vl), q->usable + (size_t)router * q->words, q->words, now);
    if (network_is_traced(q->network, packet))
        network_trace(q->network, now, router, "RT", "from port %u vl %u, to terminal %u", input, vl,
                      q->question.packet->destination);
}

uint64_t omnipath_look_at_front(struct omnipath *q, uint32_t router, uint32_t source, uint32_t vl, tick_t now)
{
    size_t number = lane_number(q, router, source, vl);
    struct omnipath_lane *lane = &q->lane_states[number];
    if (lane->target != LANE_IDLE || !lane->count)
        return 0;
    if (source < q->all_ports) {
        if (!lane->routed)
            return 0;
        lane->routed--;
        route(q, router, source, vl, now);
        lane->target = LANE_WAITS;
    } else {
        if (!lane->ready)
            return 0;
        lane->target = q->targets[central_slot(q, router, source, vl, lane->first)];
    }
    *ready_at(q, router, source, vl) = now;
    source_at(q, router, source)->ready |= bit(vl);
    return bit(vl);
}

/* ---- what arrives is stored ---- */

static void add_timer(struct omnipath_timers *timers, struct omnipath_timer *ring, uint32_t mask, tick_t at,
                      uint64_t lane)
{
    FW_CHECK(timers->count <= mask, "lane %llu: more flits than can be on their way", (unsigned long long)lane);
    ring[(timers->first + timers->count++) & mask] = (struct omnipath_timer){.at = at, .lane = lane};
}

/* Takes the next timer that has ended; false: there is none. */
static inline bool take_timer(struct omnipath_timers *timers, const struct omnipath_timer *ring, uint32_t mask,
                              tick_t now, uint64_t *lane)
{
    const struct omnipath_timer *timer = &ring[timers->first & mask];
    if (!timers->count || timer->at > now)
        return false;
    *lane = timer->lane;
    timers->first++;
    timers->count--;
    return true;
}

/* IB: flits that have been stored may move on. */
static void store(struct omnipath *q, uint32_t router, tick_t now)
{
    struct omnipath_timers *timers = &q->heads[router].storing;
    const struct omnipath_timer *ring = q->storing + (size_t)router * (q->storing_mask + 1);
    struct omnipath_lane *lanes = &q->lane_states[lane_number(q, router, 0, 0)];
    for (uint64_t lane; take_timer(timers, ring, q->storing_mask, now, &lane);)
        lanes[lane].ready++;
}

static void receive_head(struct omnipath *q, uint32_t router, uint32_t lane, uint32_t packet, tick_t at)
{
    size_t number = lane_number(q, router, 0, lane);
    struct omnipath_lane *input = &q->lane_states[number];
    struct omnipath_head *head = &q->heads[router];
    uint32_t port = lane / q->num_vcs, size = network_packet(q->network, packet)->size;
    shared_room_take(&q->rule[0], room_at(q, router, port), lane % q->num_vcs, credits_for(size, q->flits_per_credit));
    q->rings[number * (q->ring_mask + 1) + ((input->first + input->count++) & q->ring_mask)] = packet;
    add_timer(&head->routing, q->routing_heads + (size_t)router * (q->routing_mask + 1), q->routing_mask,
              at + q->input + q->routing, lane);
    omnipath_wake(q, router, at + q->input + q->routing);
    if (network_is_traced(q->network, packet))
        network_trace(q->network, at, router, "IB", "head by port %u vl %u, stored at %llu", port, lane % q->num_vcs,
                      (unsigned long long)(at + q->input));
}

static void omnipath_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct omnipath *q = routers;
    tick_t at = (now + q->cycle - 1) / q->cycle * q->cycle;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        uint32_t router = event->to.target, position = event->flit.place & FLIT_POSITION;
        struct omnipath_lane *input = &q->lane_states[lane_number(q, router, 0, event->to.lane)];
        FW_CHECK(input->due == position, "tick %llu router %u lane %u: packet %u brings flit %u where %u is due",
                 (unsigned long long)now, router, event->to.lane, event->flit.packet, position, input->due);
        input->due = event->flit.place & FLIT_TAIL ? 0 : position + 1;
        store(q, router, now);
        add_timer(&q->heads[router].storing, q->storing + (size_t)router * (q->storing_mask + 1), q->storing_mask,
                  at + q->input, event->to.lane);
        if (event->flit.place & FLIT_HEAD)
            receive_head(q, router, event->to.lane, event->flit.packet, at);
    }
}

/* Flits have crossed to a central buffer, or are stored in an output buffer. */
static void omnipath_receive_crossed(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct omnipath *q = routers;
    for (const struct crossed_event *event = events, *end = event + count; event < end; event++) {
        uint32_t buffer = event->lane / q->num_vcs, vl = event->lane % q->num_vcs;
        q->lane_states[lane_number(q, event->router, 0, event->lane)].ready += event->flits;
        if (!is_central(q, buffer)) {
            omnipath_stored(q, event->router, buffer - q->sources, vl, now);
            continue;
        }
        omnipath_ask(q, event->router, buffer, omnipath_look_at_front(q, event->router, buffer, vl, now), now);
    }
}

/* ---- the step ---- */

/* RT: packets whose routing is over, where they are at the front of their lanes. */
static void end_routing(struct omnipath *q, uint32_t router, tick_t now)
{
    struct omnipath_timers *timers = &q->heads[router].routing;
    const struct omnipath_timer *ring = q->routing_heads + (size_t)router * (q->routing_mask + 1);
    for (uint64_t lane; take_timer(timers, ring, q->routing_mask, now, &lane);) {
        uint32_t input = (uint32_t)lane / q->num_vcs, vl = (uint32_t)lane % q->num_vcs;
        q->lane_states[lane_number(q, router, input, vl)].routed++;
        omnipath_ask(q, router, input, omnipath_look_at_front(q, router, input, vl, now), now);
    }
}

static void step_router(struct omnipath *q, uint32_t router, tick_t now)
{
    store(q, router, now);
    end_routing(q, router, now);
    omnipath_allocate(q, router, now);
    omnipath_cross(q, router, now);
}

static void omnipath_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct omnipath *q = routers;
    for (const struct step_event *event = events, *end = event + count; event < end; event++) {
        struct omnipath_head *head = &q->heads[event->target];
        if (head->stepped_at == now)
            continue; /* posted more than once */
        head->stepped_at = now;
        step_router(q, event->target, now);
    }
}

static const struct router_ops omnipath = {
    .name = "omnipath",
    .summary = "Omni-Path router: MPorts of four ports, a central crossbar, lanes that share buffers",
    .options = omnipath_options,
    .example = "{\"type\": \"omnipath\", \"num_vcs\": 4, \"allocator\": \"islip\", \"candidates\": \"all\"}",
    .serves_levels = true,
    .size = sizeof(struct omnipath),
    .plan = omnipath_plan,
    .check = omnipath_check,
    .build = omnipath_build,
    .share = omnipath_share,
    .receive_flits = omnipath_receive_flits,
    .receive_credits = omnipath_receive_credits,
    .step = omnipath_step,
    .receive_queued = omnipath_receive_crossed,
    .step_outputs = omnipath_step_outputs,
    .look = omnipath_look,
    .check_idle = omnipath_check_idle,
};
REGISTER_ROUTER(omnipath);
