/* SPDX-License-Identifier: Apache-2.0 */
/* Building BookSim's routers of the usual variant; see booksim_usual.c. */
#include "network/router/booksim_usual.h"

#include <string.h>

/* ---- numbers ---- */

/* By how many lanes BookSim's numbers of one side are ours turned round; NO_TURN: they are not. */
static uint32_t turned_by(const uint8_t *by_number, uint32_t count, uint32_t lanes)
{
    for (uint32_t number = 0; number < lanes; number++)
        if (count != lanes || by_number[number] != (number + by_number[0]) % lanes)
            return NO_TURN;
    return by_number[0];
}

static void number_sides(const struct booksim *q, struct usual_numbers *numbers)
{
    const struct booksim_ports *ports = &numbers->ports;
    uint32_t vcs = q->num_vcs;
    for (uint32_t row = 0; row < numbers->rows; row++) {
        uint32_t port = q->config.shuffled ? row % ports->in_count : row / vcs;
        uint32_t vc = q->config.shuffled ? row / ports->in_count : row % vcs;
        numbers->lane[row] = (uint8_t)(ports->in_port[port] * vcs + vc);
        numbers->row[numbers->lane[row]] = (uint8_t)row;
    }
    for (uint32_t column = 0; column < numbers->columns; column++) {
        numbers->output[column] = (uint8_t)(ports->out_port[column / vcs] * vcs + column % vcs);
        numbers->column[numbers->output[column]] = (uint8_t)column;
    }
}

/*
 * Turns go round: where both allocators take turns, and BookSim's numbers are ours turned round, ours do as well, if only who
 * is first at first stays so.
 */
static void keep_our_numbers(const struct booksim *q, struct usual_numbers *numbers)
{
    numbers->first_row = numbers->lane[0];
    numbers->first_column = numbers->output[0];
    numbers->are_ours = true;
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        numbers->row[lane] = numbers->lane[lane] = numbers->column[lane] = numbers->output[lane] = (uint8_t)lane;
}

static struct usual_numbers number_lanes(const struct booksim *q, uint32_t router)
{
    struct usual_numbers numbers = {.ports = booksim_number_ports(q, router, q->network->arena)};
    const struct booksim_ports *ports = &numbers.ports;
    uint32_t vcs = q->num_vcs;
    numbers.rows = ports->in_count * vcs;
    numbers.columns = ports->out_count * vcs;
    number_sides(q, &numbers);
    if (q->usual->vc_turns.rounds && q->usual->switch_turns.rounds &&
        turned_by(numbers.lane, numbers.rows, q->lanes) != NO_TURN &&
        turned_by(numbers.output, numbers.columns, q->lanes) != NO_TURN)
        keep_our_numbers(q, &numbers);
    for (uint32_t lane = 0; lane < q->lanes; lane++) {
        uint32_t port = lane / vcs;
        numbers.facts[lane] =
            (struct usual_facts){.port = (uint8_t)port,
                                 .vc = (uint8_t)(lane % vcs),
                                 .next_vc = (uint8_t)((lane + 1) % vcs),
                                 .row = (uint8_t)(numbers.are_ours ? port : ports->in_number[port]),
                                 .column = (uint8_t)(numbers.are_ours ? port : ports->out_number[port])};
    }
    return numbers;
}

static bool is_numbered_like(const struct booksim *q, uint32_t router, const struct booksim_ports *other)
{
    struct arena scratch = {0};
    struct booksim_ports ports = booksim_number_ports(q, router, &scratch);
    size_t bytes = q->ports * sizeof(uint16_t);
    bool is_same = ports.in_count == other->in_count && ports.out_count == other->out_count &&
                   memcmp(ports.in_number, other->in_number, bytes) == 0 &&
                   memcmp(ports.out_number, other->out_number, bytes) == 0;
    arena_release(&scratch);
    return is_same;
}

static const struct usual_numbers *numbers_of(const struct booksim *q, uint32_t router,
                                              const struct usual_numbers *last)
{
    if (last && is_numbered_like(q, router, &last->ports))
        return last;
    struct usual_numbers *numbers = arena_array(q->network->arena, struct usual_numbers, 1);
    *numbers = number_lanes(q, router);
    return numbers;
}

/* ---- routers ---- */

static void lay_out(struct booksim *q)
{
    struct booksim_usual *u = q->usual;
    size_t size = sizeof(struct usual_router) + q->lanes * sizeof(struct usual_input);
    u->outputs_at = block_place(&size, q->lanes * sizeof(struct usual_output), 8);
    u->turns_at = block_place(&size, q->ports, 1);
    u->vc_state_at = block_place(&size, allocator_bytes(&q->config.vc_allocator, q->lanes, q->lanes), 8);
    u->switch_state_at = block_place(&size, allocator_bytes(&q->config.allocator, q->ports, q->ports), 8);
    u->ring_bytes = (q->ring_mask + 1) * (uint32_t)sizeof(struct flit);
    u->rings_at = block_place(&size, (size_t)q->lanes * u->ring_bytes, 64);
    u->stride = (size + 63) / 64 * 64;
}

/* When what leaves by a port, or comes by it, has its effect at the far end. */
static struct usual_times times_of(const struct booksim *q, uint32_t router, uint32_t port)
{
    const struct network *network = q->network;
    const struct link *link = network_link(network, router, port);
    uint32_t credit = link->latency + 1;
    if (!link->to_terminal && link->target != FW_NONE) { /* as long as the flit took on its way here */
        const struct link back = network_find_link(network, link->target, link->first_lane / q->num_vcs);
        credit = back.latency + 1 + q->config.credit_latency;
    }
    return (struct usual_times){.flit = link->latency + 2, .credit = credit};
}

/* Whose turn it is at first, where numbers are ours. */
static void begin_turns(void *state, uint32_t lanes, uint32_t first_row, uint32_t first_column)
{
    struct turn_memory memory = separable_turn_memory(state, lanes);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        memory.last_row[lane] = (first_row + lanes - 1) % lanes;
        memory.last_col[lane] = (first_column + lanes - 1) % lanes;
    }
}

static void init_lane(const struct booksim *q, struct usual_router *r, uint32_t lane)
{
    unsigned char *block = (unsigned char *)r;
    struct usual_input *inputs = (struct usual_input *)(void *)(r + 1);
    struct usual_output *outputs = (struct usual_output *)(void *)(block + q->usual->outputs_at);
    uint32_t port = lane / q->num_vcs;
    struct lane_place far = link_lane(network_link(q->network, r->number, port), lane % q->num_vcs);
    inputs[lane] = (struct usual_input){.output = LANE_IDLE, .back = far};
    outputs[lane] = (struct usual_output){.credits = (uint16_t)q->rule.depth, .owner = NOBODY, .to = far};
}

void booksim_usual_build(struct booksim *q)
{
    struct network *network = q->network;
    struct arena *arena = network->arena;
    uint32_t routers = network->topology.routers, vcs = q->num_vcs;
    struct booksim_usual *u = q->usual = arena_array(arena, struct booksim_usual, 1);
    lay_out(q);
    u->vc_turns = separable_turns(&q->config.vc_allocator);
    u->switch_turns = separable_turns(&q->config.allocator);
    for (uint32_t lane = 0; lane < q->lanes; lane++)
        u->port_lanes[lane] = bits_range(lane - lane % vcs, vcs);
    u->tail_sent = q->rule.when_empty ? arena_array(arena, uint64_t, routers) : NULL;
    u->ahead = q->asks_ahead ? arena_array(arena, uint64_t, (size_t)routers * q->lanes * (q->ring_mask + 1)) : NULL;
    u->times = arena_array(arena, struct usual_times, (size_t)routers * q->ports);
    u->random = arena_array(arena, struct random, routers);
    u->local = network->routing.local_ports * vcs;
    u->is_alike = network->channel_latency && network->terminal_latency && !network->flit_router_part &&
                  network->terminal_latency + 2 < WHEEL_SLOTS &&
                  network->channel_latency + 2 + q->config.credit_latency < WHEEL_SLOTS;
    u->fetches_ahead = u->stride * routers > USUAL_CACHE_BYTES;
    u->blocks = arena_take(arena, u->stride * routers);
    memory_is_walked(u->blocks + u->stride * network->first_router,
                     u->stride * (network->end_router - network->first_router));
    const struct usual_numbers *numbers = NULL;
    for (uint32_t router = network->first_router; router < network->end_router; router++) {
        unsigned char *block = u->blocks + router * u->stride;
        struct usual_router *r = (struct usual_router *)(void *)block;
        numbers = numbers_of(q, router, numbers);
        uint64_t usable = *router_usable(network, router);
        *r = (struct usual_router){.free = usable, .usable = usable, .numbers = numbers, .number = router};
        u->random[router] = random_stream(network->seed, router, RANDOM_ARBITER);
        for (uint32_t lane = 0; lane < q->lanes; lane++)
            init_lane(q, r, lane);
        for (uint32_t port = 0; port < q->ports; port++)
            u->times[(size_t)router * q->ports + port] = times_of(q, router, port);
        allocator_init(block + u->vc_state_at, &q->config.vc_allocator, numbers->rows, numbers->columns);
        allocator_init(block + u->switch_state_at, &q->config.allocator, numbers->rows / vcs, numbers->columns / vcs);
        if (numbers->are_ours) {
            begin_turns(block + u->vc_state_at, q->lanes, numbers->first_row, numbers->first_column);
            begin_turns(block + u->switch_state_at, q->ports, numbers->first_row / vcs, numbers->first_column / vcs);
        }
    }
}

/* Each part of the network knows who of its routers is due. */
void booksim_usual_share(struct booksim *q)
{
    struct arena *arena = q->network->arena;
    struct booksim_usual *u = arena_array(arena, struct booksim_usual, 1);
    *u = *q->usual;
    u->due_words = words_for(q->network->topology.routers);
    for (uint32_t parity = 0; parity < 2; parity++)
        u->due[parity] = arena_array(arena, uint64_t, u->due_words);
    u->order = arena_array(arena, uint32_t, u->fetches_ahead ? q->network->topology.routers : 0);
    u->due_at = arena_array(arena, tick_t, 2);
    u->due_at[0] = u->due_at[1] = FW_NEVER;
    q->usual = u;
}
