/* SPDX-License-Identifier: Apache-2.0 */
/* Building the staged routers from their settings and the network's links, and looking at them from outside; see staged.c. */
#include "network/router/staged.h"

#include "flitwarp/shown.h"

static const char *const room_names[] = {"flit", "packet", NULL};
static const char *const lock_names[] = {"none", "packet", "until_idle", NULL};

static const struct option staged_options[] = {
    OPTION_ROWS(struct staged_config, buffer, struct buffer_config, buffer_options),
    OPTION_U32(struct staged_config, output_depth, "null", 1, 32768, "flits",
               "output queue of each virtual channel; null: flits go from the crossbar to the channel"),
    OPTION_TICKS(struct staged_config, cycle, "1", 1, 1000000, "clock of the router: a step each cycle"),
    OPTION_U32(struct staged_config, routing_latency, "1", 1, 10000, "cycles", "to route a packet's head"),
    OPTION_U32(struct staged_config, crossbar_latency, "1", 1, 10000, "cycles", "to cross the router"),
    OPTION_U32(struct staged_config, output_latency, "1", 1, 10000, "cycles of the channel",
               "from the crossbar, or from the choice among output queues, to the channel"),
    OPTION_BOOL(struct staged_config, stores_packet, "false", "route a packet only when all of it is there"),
    OPTION_BOOL(struct staged_config, waits_for_exit, "true",
                "ask for an output virtual channel only when the flit before is gone"),
    OPTION_ENUM(struct staged_config, room, "\"flit\"", room_names, "what must have room before a head crosses"),
    OPTION_ENUM(struct staged_config, lock, "\"none\"", lock_names,
                "how long a packet keeps an output of the crossbar: not at all, to its tail, or while it can go on",
                NOT_WITH("output_depth")),
    OPTION_CHOICE(struct staged_config, vc_allocator, "allocator", "\"separable_output_first\"",
                  "matches packets with output virtual channels"),
    OPTION_CHOICE(struct staged_config, allocator, "allocator", "\"separable_output_first\"",
                  "matches input virtual channels with outputs of the crossbar", NOT_WITH("output_depth")),
    OPTION_CHOICE(struct staged_config, output_arbiter, "arbiter", "\"round_robin\"",
                  "picks among an output's virtual channels that can send", ONLY_WITH("output_depth")),
    OPTION_ENUM(struct staged_config, output_room, "\"flit\"", room_names,
                "what must have room downstream before a head leaves its output queue", ONLY_WITH("output_depth")),
    OUTPUT_HOLD_OPTION_WITH(struct staged_config, "output_depth"),
    CONGESTION_OPTION(struct staged_config),
    OPTION_END,
};

static void staged_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors)
{
    const struct staged_config *c = self->config;
    (void)flit_bytes, (void)errors;
    buffer_plan(&c->buffer, plan);
    plan->output_depth = c->output_depth;
    plan->congestion = &c->congestion;
    if (c->stores_packet || (c->output_depth ? c->output_room : c->room) == ROOM_FOR_PACKET)
        plan->max_packet = buffer_least(&c->buffer);
    if (c->room == ROOM_FOR_PACKET && c->output_depth && (!plan->max_packet || plan->max_packet > c->output_depth)) {
        plan->max_packet = c->output_depth;
        plan->max_packet_key = "output_depth";
    }
}

static void staged_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct staged_config *c = self->config;
    buffer_check(&c->buffer, self, errors);
    if (routing_needs_room(&network->routing))
        choice_error(errors, self, "type",
                     "'staged' gives output VCs without regard to their room, which escape VCs need; accepted: "
                     "input_queued, input_output_queued, output_queued");
}

static void init_lane(struct staged *q, struct staged_router *r, uint32_t number)
{
    struct arena *arena = q->network->arena;
    const struct link *link = network_link(q->network, r->number, number / q->num_vcs);
    r->inputs[number] = (struct staged_lane){
        .held = NOBODY,
        .buffer = lane_buffer_make(q->network, r->number, number, q->ring_mask),
        .answer = arena_array(arena, uint64_t, q->words),
        .asked = arena_array(arena, uint64_t, q->words),
    };
    r->owner[number] = NOBODY;
    if (bits_test(r->usable, number))
        r->credits[number] = q->outputs ? q->config.output_depth : link->depth;
}

static void init_router(struct staged *q, struct staged_router *r, uint32_t number)
{
    struct arena *arena = q->network->arena;
    *r = (struct staged_router){
        .step_at = FW_NEVER,
        .number = number,
        .active = arena_array(arena, uint64_t, q->words),
        .free = router_usable(q->network, number),
        .usable = router_usable(q->network, number),
        .inputs = arena_array(arena, struct staged_lane, q->lanes),
        .credits = arena_array(arena, uint32_t, q->lanes),
        .flits = arena_array(arena, uint32_t, q->lanes),
        .owner = arena_array(arena, uint16_t, q->lanes),
        .lock = arena_array(arena, uint16_t, q->ports),
        .free_at = arena_array(arena, tick_t, q->ports),
        .vc_state = allocator_create(arena, &q->config.vc_allocator, q->lanes, q->lanes),
        .switch_state = allocator_create(arena, &q->config.allocator, q->lanes, q->ports),
        .random = random_stream(q->network->seed, number, RANDOM_ARBITER),
    };
    for (uint32_t port = 0; port < q->ports; port++)
        r->lock[port] = NOBODY;
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        init_lane(q, r, lane);
}

static void staged_build(void *routers, const void *config)
{
    struct staged *q = routers;
    struct network *network = q->network;
    q->config = *(const struct staged_config *)config;
    const struct staged_config *c = &q->config;
    if (c->output_depth)
        q->outputs = output_stage_build(network, &(struct output_stage_config){
                                                     .arbiter = &c->output_arbiter,
                                                     .congestion = q->congestion,
                                                     .depth = c->output_depth,
                                                     .delay_cycles = c->output_latency,
                                                     .reports_all = true,
                                                     .sensed = SENSED_DOWNSTREAM_LATER,
                                                     .reserves_packet = c->output_room == ROOM_FOR_PACKET,
                                                     .holds = c->output_hold,
                                                 });
    q->ring_mask = ring_mask_for(c->buffer.buffer_depth);
    q->cycle = c->cycle;
    q->routing = c->routing_latency * c->cycle;
    q->crossbar = c->crossbar_latency * c->cycle;
    q->each = arena_array(network->arena, struct staged_router, network->topology.routers);
    for (uint32_t router = network->first_router; router < network->end_router; router++)
        init_router(q, &q->each[router], router);
}

static void staged_share(void *routers)
{
    struct staged *q = routers;
    q->outputs = q->outputs ? output_stage_share(q->outputs, q->network) : NULL;
    struct arena *arena = q->network->arena;
    allocation_init(&q->vcs, arena, &q->config.vc_allocator, q->lanes, q->lanes);
    allocation_init(&q->ways, arena, &q->config.allocator, q->lanes, q->ports);
    q->eligible = arena_array(arena, uint64_t, q->words);
}

/* ---- looking from outside ---- */

static uint32_t staged_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    const struct staged *q = routers;
    return q->outputs ? output_lane_flits(routers, router, lane) : q->each[router].flits[lane];
}

/* The registers that have a flit, from the exit backwards. */
static uint32_t list_registers(const struct staged_lane *lane, struct flit *flits)
{
    uint32_t count = 0;
    if (lane->exit_state != REGISTER_EMPTY)
        flits[count++] = lane->exit;
    if (lane->middle_state != REGISTER_EMPTY)
        flits[count++] = lane->middle;
    if (lane->entry_state != REGISTER_EMPTY)
        flits[count++] = lane->entry;
    return count;
}

/* How far the packet in front has come. */
static void look_at_front(const struct staged *q, const struct staged_lane *lane, struct lane_look *seen)
{
    if (lane->exit_state != REGISTER_EMPTY) {
        seen->output = lane->output;
        seen->room = q->config.room == ROOM_FOR_PACKET && (lane->exit.place & FLIT_HEAD)
                         ? network_packet(q->network, lane->exit.packet)->size
                         : 1;
    } else if (lane->held != NOBODY) {
        seen->output = lane->held;
    } else if (lane->middle_state == REGISTER_ASKS) {
        seen->output = LANE_WAITS;
        seen->wants = lane->asked;
    } else if (seen->flits) {
        seen->output = LANE_ROUTED;
    }
}

static void staged_look(const void *routers, uint32_t router, uint32_t number, struct lane_look *seen,
                        struct shown_router *shown)
{
    const struct staged *q = routers;
    const struct staged_router *r = &q->each[router];
    const struct staged_lane *lane = &r->inputs[number];
    struct flit registers[3];
    uint32_t count = list_registers(lane, registers);
    seen->flits = count + lane->buffer.count;
    seen->freed = count;
    if (seen->flits)
        seen->packet = count ? registers[0].packet : lane_buffer_front(&lane->buffer, q->ring_mask).packet;
    look_at_front(q, lane, seen);
    seen->owner = r->owner[number];
    seen->credits = r->credits[number];
    bool is_usable = bits_test(r->usable, number);
    seen->depth = is_usable ? network_link(q->network, router, number / q->num_vcs)->depth : 0;
    if (q->outputs && is_usable) {
        uint32_t taken = q->config.output_depth - seen->credits; /* until the crossbar hears of the room, too */
        output_look(q->outputs, router, number, seen, shown);
        seen->queued = taken > seen->queued ? taken : seen->queued;
    }
    for (uint32_t i = 0; i < count; i++)
        shown_add_input(shown, number, registers[i]);
    shown_add_buffer(shown, number, &lane->buffer, q->ring_mask);
}

static const struct router_ops staged = {
    .name = "staged",
    .summary = "virtual-channel router with a register for each stage behind its buffers, as SuperSim's",
    .options = staged_options,
    .example = "{\"type\": \"staged\", \"num_vcs\": 2, \"buffer_depth\": 16, \"output_depth\": 32}",
    .size = sizeof(struct staged),
    .plan = staged_plan,
    .check = staged_check,
    .build = staged_build,
    .share = staged_share,
    .receive_flits = staged_receive_flits,
    .receive_credits = staged_receive_credits,
    .step = staged_step,
    .receive_room = staged_receive_room,
    .receive_queued = output_receive_queued,
    .step_outputs = output_step,
    .look = staged_look,
    .lane_flits = staged_lane_flits,
};
REGISTER_ROUTER(staged);
