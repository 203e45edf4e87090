/* SPDX-License-Identifier: Apache-2.0 */
/* Building BookSim's routers from their settings and the network's links, and looking at them from outside; see booksim.c. */
#include "network/router/booksim.h"

#include "flitwarp/butterfly.h"
#include "flitwarp/hyperx.h"
#include "flitwarp/shown.h"
#include "network/router/buffer_size.h"

#include <string.h>

static const char *const speculation_names[] = {"none", "on_credit", "on_vc", "always", NULL};
static const char *const vc_freed_names[] = {"behind_tail", "when_empty", NULL};
static const char *const priority_names[] = {"none",         "class", "age",      "network_age", "local_age",
                                             "queue_length", "hops",  "sequence", NULL};

static const struct option booksim_options[] = {
    OPTION_U32(struct booksim_config, num_vcs, "2", 1, 64, NULL, "virtual channels of each port"),
    OPTION_U32(struct booksim_config, buffer_depth, "8", 1, 32768, "flits", "input buffer of each virtual channel"),
    BUFFER_SHARE_OPTIONS(struct booksim_config),
    OPTION_TICKS(struct booksim_config, cycle, "1", 1, 1000000, "clock of the router"),
    OPTION_F64(struct booksim_config, steps, "1", 1, 64, NULL, "steps of a router in a cycle, on average"),
    OPTION_U32(struct booksim_config, routing_latency, "1", 0, 10000, "cycles",
               "to route a packet's head; 0: it comes with its route"),
    OPTION_U32(struct booksim_config, crossbar_latency, "1", 1, 10000, "cycles", "to cross the router"),
    OPTION_U32(struct booksim_config, credit_latency, "0", 0, 10000, "cycles",
               "to process a credit, beyond its way; not at a terminal"),
    OPTION_U32(struct booksim_config, input_speedup, "1", 1, 64, NULL,
               "flits that an input port can send in a step, from different virtual channels"),
    OPTION_U32(struct booksim_config, output_speedup, "1", 1, 64, NULL,
               "flits that an output port can take in a step, each from inputs of its own"),
    OPTION_U32(struct booksim_config, output_depth, "null", 1, 32768, "flits",
               "that may queue for a channel before no more are sent to it; null: any number"),
    OPTION_BOOL(struct booksim_config, holds_switch, "false",
                "a packet keeps its way through the switch while it has flits and room"),
    OPTION_BOOL(struct booksim_config, vc_needs_credit, "false", "give a packet only virtual channels that have room"),
    OPTION_BOOL(struct booksim_config, empty_vcs_first, "false", "packets prefer virtual channels that are empty"),
    OPTION_BOOL(struct booksim_config, shuffled, "false",
                "the VC allocator counts inputs by virtual channel and then by port, not the other way"),
    OPTION_BOOL(struct booksim_config, vcs_by_next_output, "false",
                "virtual channels are shared out among the outputs that packets take behind the channel"),
    OPTION_ENUM(struct booksim_config, vc_freed, "\"behind_tail\"", vc_freed_names,
                "when a virtual channel can be given to the next packet: behind the tail, or when it is empty"),
    OPTION_ENUM(
        struct booksim_config, speculation, "\"none\"", speculation_names,
        "when a head asks for the switch together with its virtual channel: never, when one that it may take is "
        "free and has room, when one is free, or always; an allocator that looks at no ranks (islip, lonely_output, "
        "maximum_size, pim, round_robin) may serve heads without a virtual channel for ever, as BookSim's do"),
    OPTION_ENUM(struct booksim_config, priority, "\"none\"", priority_names,
                "who goes before others where allocators look at it: packets by the application that they are of, by "
                "when they were made, entered the network or came to the router, by flits behind them, by hops, or by "
                "their number at the source"),
    OPTION_U32_LIST(struct booksim_config, class_priority, "[]", 0, 1000000, NULL,
                    "of the packets of each application, the last for those beyond: the higher goes first"),
    OPTION_CHOICE(struct booksim_config, vc_allocator, "allocator", "\"islip\"",
                  "matches packets with output virtual channels"),
    OPTION_CHOICE(struct booksim_config, allocator, "allocator", "\"islip\"",
                  "matches inputs and outputs of the switch"),
    CONGESTION_OPTION(struct booksim_config),
    OPTION_BOOL(struct booksim_config, general, "false", "use the stages of the general router", HIDDEN),
    OPTION_END,
};

static void booksim_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan,
                         struct errors *errors)
{
    const struct booksim_config *c = self->config;
    (void)flit_bytes, (void)errors;
    *plan = (struct router_plan){
        .num_vcs = c->num_vcs,
        .buffer_depth = c->buffer_depth,
        .buffer_min = c->buffer_depth,
        .room_exclusive = c->buffer_exclusive,
        .room_maximum = c->buffer_maximum ? c->buffer_maximum : UINT16_MAX,
        .lead = c->cycle,
        .looks_ahead = c->vcs_by_next_output,
        .congestion = &c->congestion,
    };
}

static void booksim_check(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct booksim_config *c = self->config;
    buffer_check_shares(c->num_vcs, c->buffer_exclusive, c->buffer_maximum, c->buffer_depth, c->buffer_depth, self,
                        errors);
    if (routing_needs_room(&network->routing))
        choice_error(errors, self, "type",
                     "'booksim' gives output VCs without regard to their room, which escape VCs need; accepted: "
                     "input_queued, input_output_queued, output_queued");
    if (c->input_speedup > c->num_vcs)
        choice_error(errors, self, "input_speedup", "%u is above num_vcs (%u): an input sends from different VCs",
                     c->input_speedup, c->num_vcs);
    if (c->vcs_by_next_output && network->routing.is_adaptive)
        choice_error(errors, self, "vcs_by_next_output", "needs routing that gives a packet one way");
}

struct booksim_rule booksim_rule_of(const struct booksim_config *c)
{
    uint32_t total = c->num_vcs * c->buffer_depth;
    return (struct booksim_rule){
        .vcs = c->num_vcs,
        .depth = c->buffer_depth,
        .total = total,
        .exclusive = c->buffer_exclusive,
        .maximum = c->buffer_maximum ? c->buffer_maximum : total,
        .when_empty = c->vc_freed == WHEN_EMPTY,
    };
}

static void init_lane(struct booksim *q, struct booksim_router *r, uint32_t number)
{
    struct arena *arena = q->network->arena;
    struct booksim_lane *lane = &r->inputs[number];
    *lane = (struct booksim_lane){
        .buffer = lane_buffer_make(q->network, r->number, number, q->ring_mask),
        .wants = arena_array(arena, uint64_t, q->words),
        .came = q->config.priority == PRIORITY_LOCAL_AGE ? arena_array(arena, tick_t, q->ring_mask + 1) : NULL,
        .ahead = q->asks_ahead ? arena_array(arena, uint64_t, (size_t)(q->ring_mask + 1) * q->words) : NULL,
        .output = NO_GRANT,
    };
    bool to_router = lane->buffer.back_kind == EVENT_CREDIT;
    uint32_t target = lane->buffer.back_target, port = lane->buffer.back_lane / q->num_vcs;
    if (to_router && target != FW_NONE) /* as long as the flit took on its way here, not as one on the way back */
        lane->buffer.back_latency = network_find_link(q->network, target, port).latency;
    lane->buffer.back_latency += (uint32_t)q->config.cycle * (1 + (to_router ? q->config.credit_latency : 0));
    r->owner[number] = NOBODY;
}

/* Every lane is at most once in the list, and may be added again before it is dropped. */
static struct stage_list make_list(struct arena *arena, uint32_t lanes)
{
    return (struct stage_list){.lanes = arena_array(arena, uint16_t, 2 * (size_t)lanes)};
}

/* Flits that have left their buffers and not crossed yet have room downstream, and few can leave in a step. */
static uint32_t most_crossing(const struct booksim *q)
{
    uint64_t room = (uint64_t)q->ports * q->rule.total, steps = (uint64_t)q->config.steps + 1;
    uint64_t ways = q->rows < q->columns ? q->rows : q->columns;
    uint64_t sent = steps * (2 * (uint64_t)q->config.crossbar_latency + 1) * ways;
    return (uint32_t)(room < sent ? room : sent);
}

#define NO_NUMBER UINT16_MAX

/* Where packets cross a butterfly one way, the first of a router's ports are outputs alone, the others inputs. */
static bool leads_other_way(const struct network *network, uint32_t port, bool as_output)
{
    const struct butterfly *fly = network->topology.facts;
    return network->topology.family == butterfly_family && strcmp(network->routing.ops->name, "destination_tag") == 0 &&
           (port < fly->radix) != as_output;
}

/*
 * The place of a channel to a router in BookSim's order, where that is not the order of our ports: by the router at the other end,
 * and for outputs of a flattened butterfly by dimension first.
 */
static uint64_t place_by_neighbour(const struct network *network, uint32_t router, uint32_t port, bool as_output)
{
    const struct topology *topology = &network->topology;
    uint32_t target = network_link(network, router, port)->target;
    bool by_dimension = topology_hyperx(topology) && as_output && target != FW_NONE;
    uint32_t local = network->routing.local_ports;
    uint64_t dimension = by_dimension ? topology->ops->channel_class(topology, router, port - local) : 0;
    return dimension << 32 | target;
}

static bool goes_by_neighbour(const struct network *network)
{
    return strcmp(network->topology.ops->name, "file") == 0 || topology_hyperx(&network->topology);
}

static uint32_t neighbours_before(const struct network *network, uint32_t router, uint32_t port, bool as_outputs)
{
    uint64_t place = place_by_neighbour(network, router, port, as_outputs);
    uint32_t count = 0;
    for (uint32_t other = network->routing.local_ports; other < network->ports; other++) {
        uint64_t its = place_by_neighbour(network, router, other, as_outputs);
        bool is_used = network_link(network, router, other)->target != FW_NONE;
        count += is_used && (its < place || (its == place && other < port));
    }
    return count;
}

/* Gives the ports of a router BookSim's numbers, NO_NUMBER where it has none: see struct booksim_router. */
static uint32_t number_side(const struct network *network, uint32_t router, bool as_outputs, uint16_t *numbers)
{
    uint32_t ports = network->ports, local = network->routing.local_ports, count = 0, terminals = 0;
    uint32_t first = network->topology.grid && local == 1 ? local : 0;
    bool is_sorted = goes_by_neighbour(network);
    for (uint32_t i = 0; i < ports; i++) {
        uint32_t port = i + first < ports ? i + first : i + first - ports;
        const struct link *link = network_link(network, router, port);
        bool is_used = port < local ? link->target != FW_NONE && (as_outputs ? link->carries_out : link->carries_in)
                                    : (link->target != FW_NONE || network->topology.grid) &&
                                          !leads_other_way(network, port - local, as_outputs);
        numbers[port] = is_used ? (uint16_t)count++ : NO_NUMBER;
        terminals += is_used && port < local;
    }
    for (uint32_t port = local; port < ports && is_sorted; port++)
        if (numbers[port] != NO_NUMBER)
            numbers[port] = (uint16_t)(terminals + neighbours_before(network, router, port, as_outputs));
    return count;
}

static uint16_t *ports_by_number(const struct booksim *q, const uint16_t *numbers, struct arena *arena)
{
    uint16_t *by_number = arena_array(arena, uint16_t, q->ports);
    for (uint32_t port = 0; port < q->ports; port++)
        if (numbers[port] != NO_NUMBER)
            by_number[numbers[port]] = (uint16_t)port;
    return by_number;
}

struct booksim_ports booksim_number_ports(const struct booksim *q, uint32_t router, struct arena *arena)
{
    uint16_t *in_number = arena_array(arena, uint16_t, q->ports), *out_number = arena_array(arena, uint16_t, q->ports);
    uint32_t in_count = number_side(q->network, router, false, in_number);
    uint32_t out_count = number_side(q->network, router, true, out_number);
    return (struct booksim_ports){
        .in_number = in_number,
        .out_number = out_number,
        .in_port = ports_by_number(q, in_number, arena),
        .out_port = ports_by_number(q, out_number, arena),
        .in_count = in_count,
        .out_count = out_count,
    };
}

static void init_router(struct booksim *q, struct booksim_router *r, uint32_t number)
{
    struct arena *arena = q->network->arena;
    *r = (struct booksim_router){
        .step_at = FW_NEVER,
        .number = number,
        .ports = booksim_number_ports(q, number, arena),
        .arrived = arena_array(arena, uint64_t, q->words),
        .usable = router_usable(q->network, number),
        .inputs = arena_array(arena, struct booksim_lane, q->lanes),
        .rooms = arena_take(arena, q->ports * booksim_room_bytes(q->num_vcs)),
        .owner = arena_array(arena, uint16_t, q->lanes),
        .flits = arena_array(arena, uint32_t, q->lanes),
        .routing = make_list(arena, q->lanes),
        .vc = make_list(arena, q->lanes),
        .held = make_list(arena, q->lanes),
        .waiting = make_list(arena, q->lanes),
        .crossing = {.flits = arena_array(arena, struct crossing, q->most_crossing)},
        .free_at = arena_array(arena, tick_t, q->ports),
        .credit_at = arena_array(arena, tick_t, q->ports),
        .credit_of = arena_array(arena, tick_t, q->ports),
        .turn = arena_array(arena, uint16_t, q->rows),
        .held_lane = arena_array(arena, uint16_t, q->rows),
        .held_by = arena_array(arena, uint16_t, q->columns),
        .random = random_stream(q->network->seed, number, RANDOM_ARBITER),
    };
    uint32_t vcs = q->num_vcs, inputs = q->config.input_speedup, outputs = q->config.output_speedup;
    r->vc_state = allocator_create(arena, &q->config.vc_allocator, r->ports.in_count * vcs, r->ports.out_count * vcs);
    r->switch_state =
        allocator_create(arena, &q->config.allocator, r->ports.in_count * inputs, r->ports.out_count * outputs);
    for (uint32_t row = 0; row < q->rows; row++) {
        r->turn[row] = (uint16_t)(row % q->config.input_speedup);
        r->held_lane[row] = NOBODY;
    }
    for (uint32_t column = 0; column < q->columns; column++)
        r->held_by[column] = NOBODY;
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        init_lane(q, r, lane);
}

/* Does an allocator match by words, by what does not differ between packets? */
static bool takes_words(const struct choice *allocator, uint32_t size)
{
    const struct allocator_ops *ops = CHOICE_OPS(allocator, struct allocator_ops);
    return allocator_takes_words(allocator, size, size) && !(ops->needs_age && ops->needs_age(allocator->config));
}

/* Are these the usual settings? See booksim_usual.c. */
static bool is_usual(const struct booksim *q)
{
    const struct booksim_config *c = &q->config;
    const struct network *network = q->network;
    bool is_plain = !c->holds_switch && !c->vc_needs_credit && !c->empty_vcs_first && !c->vcs_by_next_output &&
                    !c->buffer_exclusive && !c->output_depth && !q->is_ranked && !network->routing.escape_vcs;
    bool is_in_step = c->steps == 1 && c->cycle == 1 && c->routing_latency <= 1 && c->crossbar_latency == 1 &&
                      network->channel_cycle == 1 && network->terminal_cycle == 1;
    return !c->general && is_plain && is_in_step && c->input_speedup == 1 && c->output_speedup == 1 &&
           takes_words(&c->vc_allocator, q->lanes) && takes_words(&c->allocator, q->ports);
}

static void booksim_build(void *routers, const void *config)
{
    struct booksim *q = routers;
    struct network *network = q->network;
    q->config = *(const struct booksim_config *)config;
    const struct booksim_config *c = &q->config;
    q->rule = booksim_rule_of(c);
    q->ring_mask = ring_mask_for(buffer_most(c->num_vcs, c->buffer_depth, c->buffer_exclusive, c->buffer_maximum));
    q->rows = q->ports * c->input_speedup;
    q->columns = q->ports * c->output_speedup;
    q->most_crossing = most_crossing(q);
    q->asks_ahead = network->routing.is_adaptive && !c->routing_latency;
    q->is_ranked = c->priority != PRIORITY_NONE || c->speculation != SPECULATES_NOT;
    q->is_usual = is_usual(q);
    if (q->is_usual) {
        booksim_usual_build(q);
        return;
    }
    q->each = arena_array(network->arena, struct booksim_router, network->topology.routers);
    for (uint32_t router = network->first_router; router < network->end_router; router++)
        init_router(q, &q->each[router], router);
}

static void add_ranks(struct matching *matching, struct arena *arena)
{
    matching->in_rank = arena_array(arena, int64_t, (size_t)matching->rows * matching->cols);
    matching->out_rank = arena_array(arena, int64_t, (size_t)matching->rows * matching->cols);
}

static void booksim_share(void *routers)
{
    struct booksim *q = routers;
    const struct booksim_config *c = &q->config;
    struct arena *arena = q->network->arena;
    allocation_init(&q->vcs, arena, &c->vc_allocator, q->lanes, q->lanes);
    allocation_init(&q->ways, arena, &c->allocator, q->rows, q->columns);
    q->vcs.runs_idle = q->vcs.ops->moves_by_itself;
    q->ways.runs_idle = q->ways.ops->moves_by_itself;
    if (q->is_usual) {
        booksim_usual_share(q);
        return;
    }
    if (c->empty_vcs_first || q->network->routing.escape_vcs || c->priority != PRIORITY_NONE)
        add_ranks(&q->vcs.matching, arena);
    if (q->is_ranked)
        add_ranks(&q->ways.matching, arena);
    q->asker = arena_array(arena, uint16_t, (size_t)q->rows * q->columns);
}

/* ---- looking from outside ---- */

static uint32_t booksim_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    const struct booksim *q = routers;
    return q->is_usual ? booksim_usual_lane_flits(q, router, lane) : q->each[router].flits[lane];
}

static void booksim_look(const void *routers, uint32_t router, uint32_t number, struct lane_look *seen,
                         struct shown_router *shown)
{
    const struct booksim *q = routers;
    if (q->is_usual) {
        booksim_usual_look(q, router, number, seen, shown);
        return;
    }
    const struct booksim_router *r = &q->each[router];
    const struct booksim_lane *lane = &r->inputs[number];
    const struct booksim_room *room = booksim_room_of(q, r, number / q->num_vcs);
    uint32_t vc = number % q->num_vcs;
    seen->flits = lane->buffer.count;
    seen->owner = r->owner[number];
    if (bits_test(r->usable, number)) {
        seen->depth = q->rule.depth;
        seen->is_full = q->config.vc_needs_credit && room_is_full(&q->rule, room, vc);
        seen->credits = room_is_full(&q->rule, room, vc)
                            ? 0
                            : q->rule.depth - (room->held[vc] < q->rule.depth ? room->held[vc] : q->rule.depth - 1);
    }
    if (lane->buffer.count)
        seen->packet = lane_buffer_front(&lane->buffer, q->ring_mask).packet;
    if (lane->stage == STAGE_HAS_VC)
        seen->output = lane->output;
    else if (lane->stage == STAGE_ASKS_VC) {
        seen->output = LANE_WAITS;
        seen->wants = lane->wants;
    } else if (lane->stage == STAGE_ROUTING) {
        seen->output = LANE_ROUTED;
    }
    seen->room = 1;
    seen->beyond = seen->output == LANE_WAITS && q->rule.when_empty ? UINT32_MAX : 0;
    shown_add_buffer(shown, number, &lane->buffer, q->ring_mask);
}

/* ---- of either variant ---- */

static void receive_flits(void *routers, tick_t now, const void *events, uint32_t count)
{
    bool is_usual = ((const struct booksim *)routers)->is_usual;
    (is_usual ? booksim_usual_receive_flits : booksim_receive_flits)(routers, now, events, count);
}

static void receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    bool is_usual = ((const struct booksim *)routers)->is_usual;
    (is_usual ? booksim_usual_receive_credits : booksim_receive_credits)(routers, now, events, count);
}

static void step(void *routers, tick_t now, const void *events, uint32_t count)
{
    bool is_usual = ((const struct booksim *)routers)->is_usual;
    (is_usual ? booksim_usual_step : booksim_step)(routers, now, events, count);
}

static const struct router_ops booksim = {
    .name = "booksim",
    .summary = "BookSim's input-queued router, cycle by cycle",
    .options = booksim_options,
    .example = "{\"type\": \"booksim\", \"num_vcs\": 4, \"buffer_depth\": 8, \"routing_latency\": 0}",
    .size = sizeof(struct booksim),
    .plan = booksim_plan,
    .check = booksim_check,
    .build = booksim_build,
    .share = booksim_share,
    .receive_flits = receive_flits,
    .receive_credits = receive_credits,
    .step = step,
    .look = booksim_look,
    .lane_flits = booksim_lane_flits,
};
REGISTER_ROUTER(booksim);
