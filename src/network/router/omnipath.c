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

void omnipath_ask(struct omnipath *q, struct omnipath_router *r, uint32_t source, uint64_t vls, tick_t now)
{
    if (!vls || r->sources[source].sink != NOBODY)
        return;
    bits_add(r->asking, source);
    BITS_EACH(vl, &vls, 1) {
        tick_t when = omnipath_arbitrated(q, r, source, (uint32_t)vl);
        if (when >= now)
            omnipath_wake(q, r, when);
    }
}

/* Asks where the packet at the front of an input lane may go. */
static void route(struct omnipath *q, struct omnipath_router *r, uint32_t input, uint32_t vl, tick_t now)
{
    const struct omnipath_lane *lane = lane_at(q, r, input, vl);
    uint32_t packet = packet_at(q, lane, 0);
    q->question.router = r->number;
    q->question.now = now;
    ask_route(q->network, &q->question, packet, input * q->num_vcs + vl, r->ports[input].back_kind == EVENT_CREDIT,
              lane->wants, r->usable, q->words, now);
    if (network_is_traced(q->network, packet))
        network_trace(q->network, now, r->number, "RT", "from port %u vl %u, to terminal %u", input, vl,
                      q->question.packet->destination);
}

uint64_t omnipath_look_at_front(struct omnipath *q, struct omnipath_router *r, uint32_t source, uint32_t vl, tick_t now)
{
    struct omnipath_lane *lane = lane_at(q, r, source, vl);
    bool is_input = source < q->all_ports;
    if (lane->target != LANE_IDLE || !lane->count || !(is_input ? lane->routed : lane->ready))
        return 0;
    if (is_input) {
        lane->routed--;
        route(q, r, source, vl, now);
        lane->target = LANE_WAITS;
    } else {
        lane->target = lane->targets[lane->first & q->ring_mask];
    }
    lane->ready_at = now;
    r->sources[source].ready |= bit(vl);
    return bit(vl);
}

uint32_t omnipath_choose_vl(struct omnipath *q, const struct lane_scheduler *scheduler, const void *choice,
                            const struct omnipath_lane *lanes, uint64_t vls, struct random *random)
{
    if (scheduler->arbiter->needs_age)
        BITS_EACH(vl, &vls, 1)
            q->vl_age[vl] = network_packet(q->network, packet_at(q, &lanes[vl], 0))->created;
    const struct arbitration arbitration = {
        .requests = &vls, .inputs = q->num_vcs, .words = 1, .age = q->vl_age, .random = random};
    return lane_scheduler_pick(scheduler, choice, &arbitration);
}

/* ---- OB: the VLs of an output take turns, a packet each: who has a flit and, before its head, room for the packet ---- */

static void wake_port(struct omnipath *q, const struct omnipath_router *r, uint32_t number, tick_t now)
{
    struct omnipath_port *port = &r->ports[number];
    if (port->is_due || !port->stored)
        return;
    port->is_due = true;
    network_post_step(q->engine, EVENT_OUTPUT_STEP, r->number, number, port->free_at > now ? port->free_at : now);
}

static void omnipath_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct omnipath *q = routers;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        const struct omnipath_router *r = &q->each[event->to.target];
        uint32_t number = event->to.lane / q->num_vcs;
        const struct omnipath_port *port = &r->ports[number];
        shared_room_give(port->rule, port->room, event->to.lane % q->num_vcs, 1);
        congestion_change(q->congestion, r->number, event->to.lane, QUEUE_DOWNSTREAM, -(int32_t)port->credit_flits,
                          now);
        wake_port(q, r, number, now);
    }
}

/* The VLs of a port that can send now. */
static uint64_t sendable(const struct omnipath *q, const struct omnipath_port *port, const struct omnipath_lane *lanes)
{
    uint64_t vls = port->stored;
    uint32_t held = lane_scheduler_held(port->choice);
    if (held != NO_VC && (vls & bit(held)) && !q->scheduler.service->preempts)
        return bit(held); /* no other has a chance */
    for (uint64_t left = vls; left; left &= left - 1) {
        uint32_t vl = (uint32_t)lowest_bit(left);
        if (!lanes[vl].sent && !shared_room_can_take(port->rule, port->room, vl,
                                                     credits_for(first_size(q, &lanes[vl]), port->credit_flits)))
            vls &= ~bit(vl);
    }
    return vls;
}

/* The next flit of a VL leaves its buffer. */
static struct flit leave(struct omnipath *q, struct omnipath_router *r, uint32_t number, uint32_t vl, tick_t now)
{
    struct omnipath_port *port = &r->ports[number];
    uint32_t buffer = output_buffer(q, number), output = number * q->num_vcs + vl;
    struct omnipath_lane *lane = lane_at(q, r, buffer, vl);
    uint32_t handle = packet_at(q, lane, 0), position = lane->sent;
    const struct packet *packet = network_packet(q->network, handle);
    if (position == 0) {
        uint32_t credits = credits_for(packet->size, port->credit_flits);
        shared_room_take(port->rule, port->room, vl, credits);
        congestion_change(q->congestion, r->number, output, QUEUE_DOWNSTREAM, (int32_t)(credits * port->credit_flits),
                          now);
    }
    congestion_change(q->congestion, r->number, output, QUEUE_OUTPUT, -1, now);
    if (credit_ends_at(position, position + 1 == packet->size, q->flits_per_credit)) {
        shared_room_give(&q->rule[0], r->rooms[buffer], vl, 1);
        if (bits_any(r->asking, q->source_words))
            omnipath_wake(q, r, now + 1);
    }
    r->lane_flits[output]++;
    lane->ready--;
    if (++lane->sent == packet->size) {
        lane->sent = 0;
        lane->first++;
        lane->count--;
    }
    if (!lane->ready)
        port->stored &= ~bit(vl);
    return transfer_unit(packet, handle, position, 1);
}

static void step_port(struct omnipath *q, struct omnipath_router *r, uint32_t number, tick_t now)
{
    struct omnipath_port *port = &r->ports[number];
    const struct omnipath_lane *lanes = lane_at(q, r, output_buffer(q, number), 0);
    port->is_due = false;
    uint64_t vls = sendable(q, port, lanes);
    if (!vls)
        return; /* until there are credits */
    uint32_t vl = vls & (vls - 1) ? omnipath_choose_vl(q, &q->scheduler, port->choice, lanes, vls, &port->random)
                                  : (uint32_t)lowest_bit(vls);
    struct flit flit = leave(q, r, number, vl, now);
    struct lane_place to = {.target = port->far.target, .lane = port->far.lane + vl};
    port->free_at = now + port->cycle;
    lane_scheduler_sent(&q->scheduler, port->choice, vl, flit.place & FLIT_TAIL);
    send_flit(q->network, port->kind, to, flit, now + port->latency);
    if (network_is_traced(q->network, flit.packet))
        network_trace(q->network, now, r->number, "OB", "flit %u by port %u vl %u, arrives at %llu",
                      flit.place & FLIT_POSITION, number, vl, (unsigned long long)(now + port->latency));
    wake_port(q, r, number, now);
}

static void omnipath_step_outputs(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct omnipath *q = routers;
    for (const struct step_event *event = events, *end = event + count; event < end; event++)
        step_port(q, &q->each[event->target], event->port, now);
}

/* ---- what arrives is stored ---- */

static void add_timer(struct omnipath_timers *timers, tick_t at, uint64_t lane)
{
    FW_CHECK(timers->count <= timers->mask, "lane %llu: more flits than can be on their way", (unsigned long long)lane);
    timers->ring[(timers->first + timers->count++) & timers->mask] = (struct omnipath_timer){.at = at, .lane = lane};
}

/* Takes the next timer that has ended; false: there is none. */
static inline bool take_timer(struct omnipath_timers *timers, tick_t now, uint64_t *lane)
{
    const struct omnipath_timer *timer = &timers->ring[timers->first & timers->mask];
    if (!timers->count || timer->at > now)
        return false;
    *lane = timer->lane;
    timers->first++;
    timers->count--;
    return true;
}

/* IB: flits that have been stored may move on. */
static void store(struct omnipath_router *r, tick_t now)
{
    for (uint64_t lane; take_timer(&r->storing, now, &lane);)
        r->lanes[lane].ready++;
}

static void receive_head(struct omnipath *q, struct omnipath_router *r, uint32_t lane, uint32_t packet, tick_t at)
{
    uint32_t port = lane / q->num_vcs, size = network_packet(q->network, packet)->size;
    shared_room_take(&q->rule[0], r->rooms[port], lane % q->num_vcs, credits_for(size, q->flits_per_credit));
    join_lane(q, &r->lanes[lane], packet);
    add_timer(&r->routing, at + q->input + q->routing, lane);
    omnipath_wake(q, r, at + q->input + q->routing);
    if (network_is_traced(q->network, packet))
        network_trace(q->network, at, r->number, "IB", "head by port %u vl %u, stored at %llu", port, lane % q->num_vcs,
                      (unsigned long long)(at + q->input));
}

static void omnipath_receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct omnipath *q = routers;
    tick_t at = next_edge(now, q->cycle);
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        struct omnipath_router *r = &q->each[event->to.target];
        uint32_t position = event->flit.place & FLIT_POSITION;
        struct omnipath_lane *input = &r->lanes[event->to.lane];
        FW_CHECK(input->due == position, "tick %llu router %u lane %u: packet %u brings flit %u where %u is due",
                 (unsigned long long)now, r->number, event->to.lane, event->flit.packet, position, input->due);
        input->due = event->flit.place & FLIT_TAIL ? 0 : position + 1;
        store(r, now);
        add_timer(&r->storing, at + q->input, event->to.lane);
        if (event->flit.place & FLIT_HEAD)
            receive_head(q, r, event->to.lane, event->flit.packet, at);
    }
}

/* Flits have crossed to a central buffer, or are stored in an output buffer. */
static void omnipath_receive_crossed(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct omnipath *q = routers;
    for (const struct crossed_event *event = events, *end = event + count; event < end; event++) {
        struct omnipath_router *r = &q->each[event->router];
        uint32_t buffer = event->lane / q->num_vcs, vl = event->lane % q->num_vcs;
        r->lanes[event->lane].ready += event->flits;
        if (is_central(q, buffer)) {
            omnipath_ask(q, r, buffer, omnipath_look_at_front(q, r, buffer, vl, now), now);
        } else {
            r->ports[buffer - q->sources].stored |= bit(vl);
            wake_port(q, r, buffer - q->sources, now);
        }
    }
}

/* ---- the step ---- */

/* RT: packets whose routing is over, where they are at the front of their lanes. */
static void end_routing(struct omnipath *q, struct omnipath_router *r, tick_t now)
{
    for (uint64_t lane; take_timer(&r->routing, now, &lane);) {
        uint32_t input = (uint32_t)lane / q->num_vcs, vl = (uint32_t)lane % q->num_vcs;
        r->lanes[lane].routed++;
        omnipath_ask(q, r, input, omnipath_look_at_front(q, r, input, vl, now), now);
    }
}

/* VA-SA, where the allocator is not at work on those who asked last. */
static void allocate(struct omnipath *q, struct omnipath_router *r, tick_t now)
{
    if (now >= r->allocate_at && omnipath_allocate(q, r, now))
        r->allocate_at = now + q->interval;
    if (r->allocate_at > now && bits_any(r->asking, q->source_words))
        omnipath_wake(q, r, r->allocate_at);
}

static void omnipath_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct omnipath *q = routers;
    for (const struct step_event *event = events, *end = event + count; event < end; event++) {
        struct omnipath_router *r = &q->each[event->target];
        if (r->stepped_at == now)
            continue; /* posted more than once */
        r->stepped_at = now;
        store(r, now);
        end_routing(q, r, now);
        allocate(q, r, now);
        omnipath_cross(q, r, now);
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
    .lane_flits = omnipath_lane_flits,
    .check_idle = omnipath_check_idle,
};
REGISTER_ROUTER(omnipath);
