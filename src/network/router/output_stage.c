/* SPDX-License-Identifier: Apache-2.0 */
/* The output side of routers with output queues; see output_stage.h. */
#include "network/router/output_stage.h"

#include "network/allocator/round_robin.h"

#include "flitwarp/shown.h"

const char *const output_hold_names[] = {"flit", "packet", NULL};

/*
 * What is done for every flit is compiled twice from the same text: once for the usual stage, where most questions are
 * answered by the compiler, and once for all others. `usual` is a constant wherever these are used. On a torus with
 * output queues a hop takes 28 instructions less.
 */
#define STAGE static inline __attribute__((always_inline))

static __attribute__((noinline)) void make_blocks(struct output_stage *stage)
{
    struct flit_block *blocks = arena_array(stage->network->arena, struct flit_block, stage->next_blocks);
    for (uint32_t i = 0; i < stage->next_blocks; i++)
        blocks[i].next = i + 1 < stage->next_blocks ? &blocks[i + 1] : NULL;
    stage->free = blocks;
    stage->next_blocks *= 2;
}

void output_add_block(struct output_stage *stage, struct output_queue *queue)
{
    if (!stage->free)
        make_blocks(stage);
    struct flit_block *block = stage->free;
    stage->free = block->next;
    block->next = NULL;
    if (queue->last)
        queue->last->next = block;
    else
        queue->first = block;
    queue->last = block;
    queue->end = 0;
}

static void drop_block(struct output_stage *stage, struct output_queue *queue)
{
    struct flit_block *block = queue->first;
    queue->first = block->next;
    queue->front = 0;
    block->next = stage->free;
    stage->free = block;
}

static inline struct flit front_of(const struct output_queue *queue) { return queue->first->flits[queue->front]; }

/* A lane can send. If it is the first one of its port, the port steps as soon as its channel is free. */
static inline void add_sendable(struct output_stage *stage, uint32_t router, uint32_t lane, tick_t now)
{
    uint32_t port = stage->port_of[lane];
    struct output_port *output = &stage->output_ports[(size_t)router * stage->ports + port];
    if (!output->sendable) {
        tick_t when = output->free_at > now ? output->free_at : now;
        network_post_step(stage->engine, EVENT_OUTPUT_STEP, router, port, when);
    }
    output->sendable |= bit(lane - port * stage->num_vcs);
}

/* Has the queue a flit that may leave, as far as room downstream goes? */
STAGE bool can_send(const struct output_stage *stage, const struct output_queue *queue, bool usual)
{
    if (!queue->ready || !queue->credits)
        return false;
    return usual || !stage->reserves_packet || !(front_of(queue).place & FLIT_HEAD) ||
           queue->credits >= network_packet(stage->network, front_of(queue).packet)->size;
}

STAGE void crossed(struct output_stage *stage, uint32_t router, uint32_t lane, tick_t now, bool usual)
{
    struct output_queue *queue = output_queue_at(stage, router, lane);
    if (queue->ready++ == 0 && can_send(stage, queue, usual)) {
        __builtin_prefetch(queue->first); /* for the port's step */
        add_sendable(stage, router, lane, now);
    }
}

void output_crossed(struct output_stage *stage, uint32_t router, uint32_t lane, tick_t now)
{
    crossed(stage, router, lane, now, false);
}

void output_put(struct output_stage *stage, uint32_t router, uint32_t lane, struct flit flit, tick_t now, tick_t when)
{
    put_flit(stage, router, lane, flit, now, when, output_crossing(stage, when));
}

/* A network that does not fit the cache: what the events to come will touch is fetched ahead. */
#define FETCH_AHEAD 12
#define CACHE_BYTES (1u << 20)

static inline void fetch_queue(const struct output_stage *stage, struct lane_place at)
{
    __builtin_prefetch(output_queue_at(stage, at.target, at.lane), 1);
}

STAGE void receive_queued(struct output_stage *stage, tick_t now, const struct credit_event *event, uint32_t count,
                          bool usual)
{
    for (const struct credit_event *end = event + count; event < end; event++) {
        if (stage->fetches_ahead && event + FETCH_AHEAD < end)
            fetch_queue(stage, event[FETCH_AHEAD].to);
        crossed(stage, event->to.target, event->to.lane, now, usual);
    }
}

void output_receive_queued(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct output_stage *stage = ((struct routers *)routers)->outputs;
    if (stage->is_usual)
        receive_queued(stage, now, events, count, true);
    else
        receive_queued(stage, now, events, count, false);
}

/* What is left of a shared buffer has changed, for all VCs. Returns those that can send. */
static uint64_t count_room(struct output_stage *stage, const struct shared_room_rule *rule,
                           const struct shared_room *room, struct output_queue *queues)
{
    uint64_t sendable = 0;
    for (uint32_t vc = 0; vc < stage->num_vcs; vc++) {
        queues[vc].credits = (uint16_t)shared_room_usable(rule, room, vc);
        if (can_send(stage, &queues[vc], false))
            sendable |= bit(vc);
    }
    return sendable;
}

static void receive_shared(struct output_stage *stage, uint32_t router, uint32_t lane, tick_t now)
{
    uint32_t port = stage->port_of[lane], first = port * stage->num_vcs;
    struct shared_room_rule rule = room_behind(stage->network, network_link(stage->network, router, port));
    struct shared_room *room = room_at(stage, router, port);
    shared_room_give(&rule, room, lane - first, 1);
    for (uint64_t left = count_room(stage, &rule, room, output_queue_at(stage, router, first)); left; left &= left - 1)
        add_sendable(stage, router, first + (uint32_t)lowest_bit(left), now);
}

STAGE void receive_credits(struct output_stage *stage, tick_t now, const struct credit_event *event, uint32_t count,
                           bool usual)
{
    for (const struct credit_event *end = event + count; event < end; event++) {
        uint32_t router = event->to.target, lane = event->to.lane;
        struct output_queue *queue = output_queue_at(stage, router, lane);
        if (stage->fetches_ahead && event + FETCH_AHEAD < end)
            fetch_queue(stage, event[FETCH_AHEAD].to);
        congestion_change(stage->congestion, router, lane, QUEUE_DOWNSTREAM, -1, now);
        if (!usual && stage->rooms) {
            receive_shared(stage, router, lane, now);
            continue;
        }
        FW_CHECK(queue->credits < stage->network->plan.buffer_depth, "tick %llu router %u lane %u: a credit too many",
                 (unsigned long long)now, router, lane);
        if ((queue->credits++ == 0 || (!usual && stage->reserves_packet)) && can_send(stage, queue, usual))
            add_sendable(stage, router, lane, now);
    }
}

void output_receive_credits(struct output_stage *stage, tick_t now, const struct credit_event *event, uint32_t count)
{
    if (stage->is_usual)
        receive_credits(stage, now, event, count, true);
    else
        receive_credits(stage, now, event, count, false);
}

static void *choice_at(const struct output_stage *stage, size_t port)
{
    return stage->choices + port * stage->scheduler.bytes;
}

/* Which of several VCs that can send does. */
static __attribute__((noinline)) uint32_t choose_vc(struct output_stage *stage, size_t number,
                                                    struct output_queue *queues, uint64_t sendable)
{
    if (stage->scheduler.arbiter->needs_age)
        for (uint64_t left = sendable; left; left &= left - 1)
            stage->vc_age[lowest_bit(left)] =
                network_packet(stage->network, front_of(&queues[lowest_bit(left)]).packet)->created;
    const struct arbitration arbitration = {.requests = &sendable,
                                            .inputs = stage->num_vcs,
                                            .words = 1,
                                            .age = stage->vc_age,
                                            .random = &stage->random[number]};
    return lane_scheduler_pick(&stage->scheduler, choice_at(stage, number), &arbitration);
}

/* The flit goes out and its place is free. */
STAGE struct flit leave(struct output_stage *stage, uint32_t router, uint32_t lane, struct output_queue *queue,
                        tick_t now, bool usual)
{
    struct flit flit = front_of(queue);
    bool was_full = queue->count == stage->depth;
    queue->front++;
    if (--queue->count == 0)
        queue->front = queue->end = 0;
    else if (queue->front == BLOCK_FLITS)
        drop_block(stage, queue);
    queue->ready--;
    queue->credits--;
    queue->flits++;
    if (was_full || stage->reports_all) {
        struct credit_event *room = engine_post(stage->engine, EVENT_ROOM, now + 1, sizeof *room);
        *room = (struct credit_event){.to = {.target = router, .lane = lane}};
    }
    if (usual || stage->sensed == SENSED_AT_CHOICE)
        congestion_move(stage->congestion, router, lane, now);
    else if (stage->sensed == SENSED_DOWNSTREAM_LATER)
        congestion_change(stage->congestion, router, lane, QUEUE_OUTPUT, -1, now);
    return flit;
}

/* A flit has left that takes room of a buffer that VCs share: less is left for all. */
static void spend_shared(struct output_stage *stage, uint32_t router, uint32_t port, uint32_t vc, struct flit flit)
{
    struct shared_room_rule rule = room_behind(stage->network, network_link(stage->network, router, port));
    struct shared_room *room = room_at(stage, router, port);
    room_send(stage->network, &rule, room, vc, flit);
    stage->output_ports[(size_t)router * stage->ports + port].sendable =
        count_room(stage, &rule, room, output_queue_at(stage, router, port * stage->num_vcs));
}

STAGE void step_port(struct output_stage *stage, uint32_t router, uint32_t port, tick_t now, bool usual)
{
    size_t number = (size_t)router * stage->ports + port;
    struct output_port *output = &stage->output_ports[number];
    struct output_queue *queues = &stage->queues[number * stage->num_vcs];
    FW_CHECK(output->sendable && output->free_at <= now, "tick %llu router %u port %u: steps without a flit",
             (unsigned long long)now, router, port);
    uint64_t sendable = output->sendable;
    uint32_t vc, *last = lane_scheduler_arbiter(&stage->scheduler, choice_at(stage, number), 0);
    if (usual)
        vc = *last = turn_after(&sendable, 1, *last);
    else
        vc = sendable & (sendable - 1) ? choose_vc(stage, number, queues, sendable) : (uint32_t)lowest_bit(sendable);
    struct flit flit = leave(stage, router, port * stage->num_vcs + vc, &queues[vc], now, usual);
    struct lane_place to = {.target = output->to.target, .lane = output->to.lane + vc};
    send_flit(stage->network, output->kind, to, flit, now + output->latency);
    if (!usual)
        lane_scheduler_sent(&stage->scheduler, choice_at(stage, number), vc, flit.place & FLIT_TAIL);
    output->free_at = now + output->cycle;
    if (!usual && stage->rooms)
        spend_shared(stage, router, port, vc, flit);
    else if (!can_send(stage, &queues[vc], usual))
        output->sendable &= ~bit(vc);
    if (output->sendable)
        network_post_step(stage->engine, EVENT_OUTPUT_STEP, router, port, output->free_at);
    if (network_is_traced(stage->network, flit.packet))
        network_trace(stage->network, now, router, "step_port", "flit %u by port %u vc %u, arrives at %llu",
                      flit.place & FLIT_POSITION, port, vc, (unsigned long long)(now + output->latency));
}

STAGE void step_ports(struct output_stage *stage, tick_t now, const struct step_event *event, uint32_t count,
                      bool usual)
{
    for (const struct step_event *end = event + count; event < end; event++) {
        if (stage->fetches_ahead && event + FETCH_AHEAD < end) {
            const struct step_event *ahead = event + FETCH_AHEAD;
            __builtin_prefetch(&stage->output_ports[(size_t)ahead->target * stage->ports + ahead->port], 1);
            __builtin_prefetch(output_queue_at(stage, ahead->target, ahead->port * stage->num_vcs), 1);
        }
        step_port(stage, event->target, event->port, now, usual);
    }
}

void output_step(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct output_stage *stage = ((struct routers *)routers)->outputs;
    if (stage->is_usual)
        step_ports(stage, now, events, count, true);
    else
        step_ports(stage, now, events, count, false);
}

static void init_port(struct output_stage *stage, uint32_t router, uint32_t port)
{
    const struct network *network = stage->network;
    const struct link *link = network_link(network, router, port);
    size_t number = (size_t)router * stage->ports + port;
    stage->output_ports[number] = (struct output_port){
        .to = link_lane(link, 0),
        .latency = link->latency + stage->delay_cycles * link->cycle,
        .cycle = link->cycle,
        .kind = link->to_terminal ? EVENT_TERMINAL_FLIT : EVENT_FLIT,
    };
    lane_scheduler_start(&stage->scheduler, choice_at(stage, number));
    stage->random[number] = random_stream(network->seed, number, RANDOM_OUTPUT);
    for (uint32_t vc = 0; vc < stage->num_vcs; vc++)
        output_queue_at(stage, router, port * stage->num_vcs + vc)->credits = (uint16_t)room_at_most(network, link);
}

struct output_stage *output_stage_build(struct network *network, const struct output_stage_config *config)
{
    struct arena *arena = network->arena;
    struct output_stage *stage = arena_take(arena, sizeof *stage);
    *stage = (struct output_stage){
        .network = network,
        .engine = network->engine,
        .congestion = config->congestion,
        .ports = network->ports,
        .num_vcs = network->num_vcs,
        .lanes = network->ports * network->num_vcs,
        .depth = config->depth,
        .delay_cycles = config->delay_cycles,
        .reports_all = config->reports_all,
        .reserves_packet = config->reserves_packet,
        .sensed = config->congestion && !config->congestion->adds_up ? config->sensed : SENSED_AT_CHOICE,
        .next_blocks = 64,
    };
    size_t ports = (size_t)network->topology.routers * stage->ports;
    lane_scheduler_init(&stage->scheduler, &network->service, config->arbiter, stage->num_vcs, config->holds);
    stage->is_usual = stage->scheduler.is_plain && stage->scheduler.arbiter == &round_robin_arbiter &&
                      !network->plan.room_exclusive && !stage->reserves_packet && stage->sensed == SENSED_AT_CHOICE;
    stage->choices = arena_take(arena, ports * stage->scheduler.bytes);
    if (network->plan.room_exclusive)
        stage->rooms = arena_take(arena, ports * shared_room_bytes(stage->num_vcs));
    stage->random = arena_array(arena, struct random, ports);
    stage->output_ports = arena_array(arena, struct output_port, ports);
    stage->queues = arena_array(arena, struct output_queue, ports * stage->num_vcs);
    stage->fetches_ahead = ports * (sizeof *stage->output_ports + stage->num_vcs * sizeof *stage->queues) > CACHE_BYTES;
    stage->port_of = arena_array(arena, uint16_t, stage->lanes);
    for (uint32_t lane = 0; lane < stage->lanes; lane++)
        stage->port_of[lane] = (uint16_t)(lane / stage->num_vcs);
    for (uint32_t router = network->first_router; router < network->end_router; router++)
        for (uint32_t port = 0; port < stage->ports; port++)
            init_port(stage, router, port);
    return stage;
}

struct output_stage *output_stage_share(const struct output_stage *stage, struct network *part)
{
    struct output_stage *copy = arena_take(part->arena, sizeof *copy);
    *copy = *stage;
    copy->network = part;
    copy->engine = part->engine;
    copy->vc_age = arena_array(part->arena, uint64_t, part->num_vcs);
    copy->free = NULL;
    return copy;
}

uint32_t output_lane_flits(const void *routers, uint32_t router, uint32_t lane)
{
    return output_queue_at(((const struct routers *)routers)->outputs, router, lane)->flits;
}

void output_look(const struct output_stage *stage, uint32_t router, uint32_t lane, struct lane_look *seen,
                 struct shown_router *shown)
{
    const struct output_queue *queue = output_queue_at(stage, router, lane);
    const struct flit_block *block = queue->first;
    seen->queued = queue->count;
    seen->space = stage->depth - queue->count;
    if (queue->count)
        seen->ahead = stage->reserves_packet && (front_of(queue).place & FLIT_HEAD)
                          ? network_packet(stage->network, front_of(queue).packet)->size
                          : 1;
    seen->credits = queue->credits;
    seen->depth = room_at_most(stage->network, network_link(stage->network, router, stage->port_of[lane]));
    uint32_t left = shown ? queue->count : 0;
    for (uint32_t at = queue->front, end; left; left -= end - at, block = block->next, at = 0) {
        end = at + left < BLOCK_FLITS ? at + left : BLOCK_FLITS;
        shown_add_ring(shown, &shown->outputs[lane].queue, block->flits, UINT32_MAX, at, end - at);
    }
}
