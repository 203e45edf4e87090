/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets on a torus of any size, one event a hop (Liu, Carothers, Cope, Carns and
 * Ross, "Model and Simulation of Exascale Communication Networks", 2012).
 *
 *     source -> link -> unit -> link -> unit -> ... -> unit of the destination
 *
 * A node has a processing unit and a link to each neighbour. All of them serve
 * packets one at a time in the order in which they come to the node, each packet
 * for the same time, so that when a packet arrives at a node is enough to know when
 * it arrives at the next. A node's own packets go to a link at once; a packet
 * that its destination's unit takes up has arrived. Queues are endless.
 *
 * There are no nodes in memory: servers are kept while they are busy (node.h)
 * and packets while they are in flight, in their events. A source makes the packets of
 * a whole block of nodes: Poisson processes merged are a Poisson process. Blocks do
 * not depend on partitions, so neither do results.
 *
 * A source's event comes one processing time before its packet, as the event of a
 * packet that is passed on does: so links see both kinds in order.
 */
#include "model/node.h"

#include <math.h>
#include <string.h>

/* ---- settings; the defaults are those of the paper, or what its tables are closest to where it has none: docs/torus.md ---- */

static const char *const routing_names[] = {"e_cube", "rotated", "adaptive", NULL};
static const char *const traffic_names[] = {"uniform", "ping_pong", NULL};

static const struct option node_options[] = {
    OPTION_U32_LIST(struct node_config, widths, REQUIRED, 2, NODE_WIDTH_MAX, "nodes", "nodes along each dimension"),
    OPTION_ENUM(struct node_config, traffic, "\"uniform\"", traffic_names,
                "uniform: every node sends to random others; ping_pong: pairs of nodes send one packet to and fro"),
    OPTION_F64(struct node_config, rate, "1", 1e-9, 1e6, "packets per tick", "packets that all nodes together make",
               ONLY_WITH("traffic=uniform")),
    OPTION_U32_LIST(struct node_config, from, "[]", 0, NODE_WIDTH_MAX, NULL,
                    "coordinates of the nodes that begin a ping-pong, one node after another",
                    ONLY_WITH("traffic=ping_pong")),
    OPTION_U32_LIST(struct node_config, to, "[]", 0, NODE_WIDTH_MAX, NULL, "coordinates of the nodes that answer",
                    ONLY_WITH("traffic=ping_pong")),
    OPTION_U32(struct node_config, blocks, "256", 1, 65536, "blocks",
               "of nodes that share a source; partitions are made of whole blocks"),
    OPTION_ENUM(struct node_config, routing, "\"e_cube\"", routing_names,
                "e_cube: the first dimension in which node and destination differ; rotated: each message begins with a "
                "dimension drawn for it; adaptive: of all that lead on the link that is free first"),
    OPTION_U32(struct node_config, message_packets, "1", 1, 65536, "packets", "that a message consists of"),
    OPTION_BOOL(struct node_config, queue_statistics, "false", "measure how long packets wait for units and for links"),
    OPTION_U32(struct node_config, packet_bytes, "256", 1, 1e9, "bytes", "size of a packet"),
    OPTION_RATE(struct node_config, bandwidth, "\"175MB/s\"", 1, 1e18, "of a link"),
    OPTION_TICKS(struct node_config, link_setup, "\"895ns\"", 0, 1e9,
                 "time that a link takes for a packet before it sends"),
    OPTION_TICKS(struct node_config, link_latency, "0", 0, 1e9, "time from a link's end of sending to the arrival"),
    OPTION_TICKS(struct node_config, processing, "\"300ns\"", 0, 1e9, "time that a node's unit takes for a packet"),
    OPTION_TICKS_AUTO(struct node_config, warmup, "\"auto\"", 0, TIME_MAX / 4,
                      "time before packets are measured; auto: as long as the longest way takes, and a tenth more"),
    OPTION_TICKS(struct node_config, sample, "\"100us\"", 1, TIME_MAX / 4, "time in which packets are measured"),
    OPTION_END,
};

/* Coordinates of nodes, one after another, from a list. */
static bool check_coordinates(const struct model *model, const struct u32_list *list, const char *key,
                              struct errors *errors)
{
    const struct node_config *config = model->config;
    uint32_t dimensions = config->widths.count;
    if (!list->count || list->count % dimensions)
        return choice_error(errors, model->choice, key, "%u coordinates are given, %u for each node are needed",
                            list->count, dimensions);
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] >= config->widths.items[i % dimensions])
            return choice_error(errors, model->choice, key, "coordinate %u of dimension %u is not below its width %u",
                                list->items[i], i % dimensions, config->widths.items[i % dimensions]);
    return true;
}

static void make_pairs(struct model *model, struct node_model *node, struct errors *errors)
{
    const struct node_config *config = model->config;
    if (!check_coordinates(model, &config->from, "from", errors) ||
        !check_coordinates(model, &config->to, "to", errors))
        return;
    if (config->from.count != config->to.count) {
        choice_error(errors, model->choice, "to", "%u coordinates are given, as many as in 'from' are needed: %u",
                     config->to.count, config->from.count);
        return;
    }
    node->pairs = config->from.count / config->widths.count;
    node->ends = arena_take(model->arena, node->pairs * sizeof *node->ends);
    for (uint32_t i = 0; i < node->pairs; i++) {
        node->ends[i][0] = node_torus_pack(&node->torus, &config->from.items[i * config->widths.count]);
        node->ends[i][1] = node_torus_pack(&node->torus, &config->to.items[i * config->widths.count]);
        if (node->ends[i][0] == node->ends[i][1])
            choice_error(errors, model->choice, "to", "pair %u is a node and itself, two different ones are needed", i);
    }
}

static bool check_widths(const struct model *model, struct errors *errors)
{
    const struct u32_list *widths = &((const struct node_config *)model->config)->widths;
    uint32_t bits = widths->count <= NODE_DIMENSIONS_MAX ? node_torus_bits(widths) : 0;
    if (!widths->count || widths->count > NODE_DIMENSIONS_MAX)
        choice_error(errors, model->choice, "widths", "%u dimensions are given, 1 to %u are accepted", widths->count,
                     NODE_DIMENSIONS_MAX);
    else if (bits > NODE_BITS_MAX)
        choice_error(errors, model->choice, "widths", "coordinates take %u bits together, at most %u are accepted",
                     bits, NODE_BITS_MAX);
    else
        return true;
    return false;
}

static void node_prepare(struct model *model, struct errors *errors)
{
    const struct node_config *config = model->config;
    if (!check_widths(model, errors))
        return;
    struct node_model *node = model->shared = arena_array(model->arena, struct node_model, 1);
    node_torus_init(&node->torus, &config->widths, config->blocks, model->arena);
    double serialisation = 8.0 * config->packet_bytes / config->bandwidth / model->tick_seconds;
    if (serialisation > 1e12) {
        choice_error(errors, model->choice, "bandwidth", "a packet takes %g ticks, at most 1e12 are accepted",
                     serialisation);
        return;
    }
    node->processing = config->processing;
    node->holding = config->link_setup + (tick_t)(serialisation + 0.5);
    node->latency = config->link_latency;
    if (node->holding + node->latency == 0) {
        choice_error(errors, model->choice, "bandwidth", "a hop takes less than half a tick, at least one is needed");
        return;
    }
    for (uint32_t d = 0; d < node->torus.dimensions; d++)
        node->longest += node->torus.widths[d] / 2 * (node->processing + node->holding + node->latency);
    node->start = config->warmup == TICKS_AUTO ? node->longest + node->longest / 10 : config->warmup;
    node->end = node->start + config->sample;
    if ((double)node->end > TIME_MAX) {
        choice_error(errors, model->choice, "sample", "the run would end at tick %llu, at most %.0f is accepted",
                     (unsigned long long)node->end, TIME_MAX);
        return;
    }
    node->slot = (config->sample + BATCHES - 1) / BATCHES;
    node->routing = config->routing;
    node->message_packets = config->message_packets;
    node->counts_queues = config->queue_statistics;
    if (node->routing == ROUTING_ADAPTIVE && node->message_packets > 1)
        choice_error(errors, model->choice, "message_packets",
                     "%u, but with adaptive routing packets of a message overtake each other; accepted: 1",
                     node->message_packets);
    node->gap = PARTS * node->torus.slabs / config->rate * node->message_packets;
    if (config->traffic == TRAFFIC_PING_PONG)
        make_pairs(model, node, errors);
    model->event_size = node->counts_queues ? sizeof(struct hop) : HOP_BYTES;
    model->sum_count = SUMS;
    model->maximum_count = MAXIMA;
    /* A packet that is passed on was processed before; the answer of a ping-pong leaves at once. */
    model->lookahead = node->holding + node->latency + (config->traffic == TRAFFIC_PING_PONG ? 0 : node->processing);
    model->end = node->end - 1;
    model->expected_processes = node->torus.nodes < 0x1p63 ? (uint64_t)node->torus.nodes : 0;
}

/* ---- packets ---- */

/* The Poisson source of a block. */
struct source {
    struct random random;
    uint64_t next; /* packet's creation, in parts of a tick */
    uint64_t made; /* packets */
};

/* State of a partition. */
struct node_state {
    struct servers servers;
    struct source *sources; /* by block; only those of the partition are in use */
};

static uint32_t node_owner(const struct model *model, uint64_t process, uint32_t partitions)
{
    const struct node_torus *torus = &((const struct node_model *)model->shared)->torus;
    uint32_t block =
        node_is_source(torus, process) ? node_block_of_source(torus, process) : node_torus_block(torus, process);
    return (uint32_t)((uint64_t)block * partitions / torus->blocks);
}

static void node_build(struct partition *partition)
{
    const struct node_model *node = partition->model->shared;
    const struct node_config *config = partition->model->config;
    struct node_state *state = partition->state = process_memory(partition, sizeof *state);
    /* About one server is busy for each packet in flight. */
    double in_flight = config->rate * node_torus_mean_distance(&node->torus) *
                       (double)(node->processing + node->holding + node->latency);
    double expected = config->traffic == TRAFFIC_UNIFORM ? in_flight / partition->count : node->pairs;
    servers_init(&state->servers, partition, expected < 1e8 ? expected : 1e8);
    state->sources = process_memory(partition, node->torus.blocks * sizeof *state->sources);
}

/* Posts a source's next event, and none after the end. */
static void node_post_source(struct partition *partition, uint32_t block)
{
    const struct node_model *node = partition->model->shared;
    struct source *source = &((struct node_state *)partition->state)->sources[block];
    uint32_t first, end;
    node_torus_slabs(&node->torus, block, &first, &end);
    double gap = random_exponential(&source->random) * (node->gap / (end - first));
    if (!(gap < TIME_MAX / 2 * PARTS))
        return;
    source->next += (uint64_t)gap;
    tick_t birth = source->next / (uint64_t)PARTS;
    if (birth >= node->end)
        return;
    struct hop hop = {
        .event = {.time = birth - node->processing, .process = node_source(&node->torus, block), .tie = source->made}};
    process_post(partition, &hop.event);
}

static void node_begin(struct partition *partition)
{
    const struct model *model = partition->model;
    const struct node_model *node = model->shared;
    struct node_state *state = partition->state;
    for (uint32_t i = 0; i < node->pairs; i++) {
        uint64_t first = node->ends[i][0];
        /* As if the last packet of a message had come. */
        struct hop hop = {.event = {.process = first, .tie = ((uint64_t)i << NUMBER_BITS) + node->message_packets - 1},
                          .destination = first};
        if (node_owner(model, first, partition->count) == partition->number)
            process_post(partition, &hop.event);
    }
    for (uint32_t block = 0; block < node->torus.blocks && !node->pairs; block++)
        if (node_owner(model, node_source(&node->torus, block), partition->count) == partition->number) {
            state->sources[block].random = random_stream(model->seed, block, RANDOM_INJECTION);
            state->sources[block].next = node->processing * (uint64_t)PARTS;
            node_post_source(partition, block);
        }
}

/* The dimension of a packet's next step, where that need not be the first; apart, since it usually is. */
__attribute__((noinline)) static uint32_t node_other_dimension(const struct node_model *node,
                                                               const struct servers *servers, uint64_t from,
                                                               const struct hop *hop, tick_t ready)
{
    const struct node_torus *torus = &node->torus;
    uint32_t best = node_torus_first(torus, from, hop->destination);
    /* With a bit of its own in each message's number, and none of those that decide which way round. */
    uint64_t message = node_message(node, hop->event.tie);
    uint64_t drawn = (message * 0xd6e8feb86659fd93u >> 32) * torus->dimensions >> 32;
    uint32_t first = node->routing == ROUTING_ROTATED ? (uint32_t)drawn : best;
    tick_t earliest = FW_NEVER;
    for (uint32_t i = 0; i < torus->dimensions; i++) {
        uint32_t d = (first + i) % torus->dimensions;
        if (!((from ^ hop->destination) >> torus->shifts[d] & torus->masks[d]))
            continue;
        if (node->routing == ROUTING_ROTATED)
            return d;
        struct node_step step = node_torus_step(torus, from, hop->destination, message, d);
        tick_t until = servers_until(servers, from, 1 + step.port);
        tick_t start = until > ready ? until : ready;
        if (start < earliest)
            earliest = start, best = d;
    }
    return best;
}

/* Over the link to the next node. Returns how long the packet waits for it. */
static tick_t node_send(struct partition *partition, uint64_t from, struct hop *hop, tick_t ready)
{
    const struct node_model *node = partition->model->shared;
    struct servers *servers = &((struct node_state *)partition->state)->servers;
    uint32_t d = node_torus_first(&node->torus, from, hop->destination);
    if (__builtin_expect(node->routing != ROUTING_E_CUBE, 0))
        d = node_other_dimension(node, servers, from, hop, ready);
    struct node_step step =
        node_torus_step(&node->torus, from, hop->destination, node_message(node, hop->event.tie), d);
    tick_t start = servers_take(servers, partition, from, 1 + step.port, ready, node->holding);
    hop->event.time = start + node->holding + node->latency;
    hop->event.process = step.node;
    hop->hops++;
    process_post(partition, &hop->event);
    return start - ready;
}

/* The packets of a message, the first of which is given; notes in the event at hand how long they wait for the link. */
static void node_send_message(struct partition *partition, uint64_t from, const struct hop *first, struct hop *event)
{
    const struct node_model *node = partition->model->shared;
    tick_t waited = 0, longest = 0;
    for (uint32_t i = 0; i < node->message_packets; i++) {
        struct hop hop = *first;
        hop.event.tie += i;
        tick_t wait = node_send(partition, from, &hop, hop.birth);
        waited += wait;
        longest = wait > longest ? wait : longest;
    }
    if (node->counts_queues) {
        event->link_wait = waited;
        event->longest_link_wait = longest;
    }
}

static void node_make_message(struct partition *partition, struct event *event)
{
    const struct node_model *node = partition->model->shared;
    uint32_t block = node_block_of_source(&node->torus, event->process), first, end;
    struct source *source = &((struct node_state *)partition->state)->sources[block];
    process_save(partition, source, sizeof *source);
    node_torus_slabs(&node->torus, block, &first, &end);
    uint64_t from = node_torus_draw(&node->torus, first, end, &source->random);
    struct hop hop = {.event.tie = (uint64_t)block << NUMBER_BITS | source->made,
                      .destination = from,
                      .birth = event->time + node->processing};
    source->made += node->message_packets;
    while (hop.destination == from)
        hop.destination = node_torus_draw(&node->torus, 0, node->torus.slabs, &source->random);
    node_send_message(partition, from, &hop, (struct hop *)(void *)event);
    node_post_source(partition, block);
}

/* The node that the last packet of a ping-pong message reached sends the next one back. */
static void node_answer(struct partition *partition, struct hop *hop, tick_t now)
{
    const struct node_model *node = partition->model->shared;
    const uint64_t *ends = node->ends[hop->event.tie >> NUMBER_BITS];
    struct hop next = {
        .event.tie = hop->event.tie + 1, .destination = ends[hop->event.process == ends[0]], .birth = now};
    node_send_message(partition, hop->event.process, &next, hop);
}

static void node_pass_on(struct partition *partition, struct hop *hop, tick_t start)
{
    const struct node_model *node = partition->model->shared;
    struct hop next;
    memcpy(&next, hop, HOP_BYTES);
    tick_t wait = node_send(partition, hop->event.process, &next, start + node->processing);
    if (node->counts_queues)
        hop->link_wait = hop->longest_link_wait = wait;
}

static void node_arrive(struct partition *partition, struct hop *hop)
{
    const struct node_model *node = partition->model->shared;
    struct servers *servers = &((struct node_state *)partition->state)->servers;
    uint64_t here = hop->event.process;
    tick_t now = hop->event.time, start = now;
    if (node->processing && hop->hops)
        start = servers_take(servers, partition, here, PORT_UNIT, now, node->processing);
    FW_CHECK((start - now) >> WAIT_BITS == 0, "tick %llu: packet %llu has waited for %llu ticks at one node",
             (unsigned long long)now, (unsigned long long)hop->event.tie, (unsigned long long)(start - now));
    if (here != hop->destination) {
        node_pass_on(partition, hop, start);
        if (node->counts_queues)
            hop->wait = (start - now) & (((uint64_t)1 << WAIT_BITS) - 1);
        return;
    }
    hop->wait = (start - now) & (((uint64_t)1 << WAIT_BITS) - 1);
    if (node->pairs && node_is_last(node, hop->event.tie))
        node_answer(partition, hop, start);
}

static void node_handle(struct partition *partition, struct event *event)
{
    const struct node_model *node = partition->model->shared;
    if (node_is_source(&node->torus, event->process))
        node_make_message(partition, event);
    else
        node_arrive(partition, (struct hop *)(void *)event);
}

static void node_prefetch(const struct partition *partition, const struct event *event)
{
    servers_prefetch(&((const struct node_state *)partition->state)->servers, event->process);
}

/* ---- statistics ---- */

/* The packets of a message. */
static void node_count_created(struct partition *partition, tick_t birth)
{
    const struct node_model *node = partition->model->shared;
    if (birth >= node->end)
        return;
    uint64_t packets = node->message_packets;
    partition->sums[SUM_CREATED] += packets;
    partition->sums[SUM_OFFERED] += birth >= node->start ? packets : 0;
    /* In flight from here to the end; what comes after its arrival is taken off then. */
    partition->sums[SUM_IN_FLIGHT] += packets * (node->end - (birth > node->start ? birth : node->start));
}

static void node_count(uint64_t *sums, enum node_sum histogram, uint64_t *maxima, enum node_maximum maximum,
                       uint64_t value)
{
    sums[histogram + histogram_index(value)]++;
    if (maxima[maximum] < value)
        maxima[maximum] = value;
    if (maxima[maximum + 1] < ~value)
        maxima[maximum + 1] = ~value;
}

static void node_count_finished(struct partition *partition, const struct hop *hop)
{
    const struct node_model *node = partition->model->shared;
    uint64_t *sums = partition->sums;
    tick_t time = hop->event.time + hop->wait, latency = time - hop->birth;
    if (time >= node->end)
        return;
    sums[SUM_FINISHED]++;
    sums[SUM_EVERY_LATENCY] += latency;
    sums[SUM_IN_FLIGHT] -= node->end - (time > node->start ? time : node->start);
    if (time < node->start)
        return;
    sums[SUM_SAMPLED]++;
    sums[SUM_LATENCY] += latency;
    sums[SUM_HOPS] += hop->hops;
    if (node_is_last(node, hop->event.tie)) {
        sums[SUM_MESSAGES]++;
        sums[SUM_MESSAGE_LATENCY] += latency;
    }
    uint64_t batch = (time - node->start) / node->slot;
    sums[SUM_BATCH_LATENCY + batch] += latency;
    sums[SUM_BATCH_COUNT + batch]++;
    node_count(sums, SUM_LATENCIES, partition->maxima, MAX_LATENCY, latency);
    node_count(sums, SUM_HOP_COUNTS, partition->maxima, MAX_HOPS, hop->hops);
    uint64_t record[] = {hop->event.tie, hop->destination, hop->birth, time, hop->hops};
    digest_add(&partition->digest, record, 5);
}

/* Packets that came to a unit, and to links, by an event in the window. */
__attribute__((noinline)) static void node_count_queues(struct partition *partition, const struct hop *hop)
{
    const struct node_model *node = partition->model->shared;
    const struct event *event = &hop->event;
    uint64_t *sums = partition->sums, *maxima = partition->maxima;
    if (event->time < node->start || event->time >= node->end)
        return;
    bool is_source = node_is_source(&node->torus, event->process), is_there = event->process == hop->destination;
    if (!is_source && hop->hops) {
        sums[SUM_UNIT_TAKEN]++;
        sums[SUM_UNIT_WAIT] += hop->wait;
        maxima[MAX_UNIT_WAIT] = hop->wait > maxima[MAX_UNIT_WAIT] ? hop->wait : maxima[MAX_UNIT_WAIT];
    }
    if (!is_source && is_there && !(node->pairs && node_is_last(node, event->tie)))
        return; /* nothing was sent on */
    sums[SUM_LINK_TAKEN] += is_source || is_there ? node->message_packets : 1;
    sums[SUM_LINK_WAIT] += hop->link_wait;
    if (maxima[MAX_LINK_WAIT] < hop->longest_link_wait)
        maxima[MAX_LINK_WAIT] = hop->longest_link_wait;
}

static void node_commit(struct partition *partition, const struct event *event)
{
    const struct node_model *node = partition->model->shared;
    const struct hop *hop = (const struct hop *)(const void *)event;
    ((struct node_state *)partition->state)->servers.horizon = event->time;
    if (__builtin_expect(node->counts_queues, 0))
        node_count_queues(partition, hop);
    if (node_is_source(&node->torus, event->process)) {
        node_count_created(partition, event->time + node->processing);
        return;
    }
    partition->sums[SUM_HOP_EVENTS] += hop->hops > 0;
    if (event->process != hop->destination)
        return;
    if (hop->hops)
        node_count_finished(partition, hop);
    if (node->pairs && node_is_last(node, event->tie))
        node_count_created(partition, event->time + hop->wait);
}

static const struct model_ops node_model = {
    .name = "node",
    .summary = "torus of any size, packets through processing units and links, one event a hop",
    .options = node_options,
    .reports = node_reports,
    .example = "{\"type\": \"node\", \"widths\": [8, 8, 8, 8, 8, 8, 8, 8], \"rate\": 4, \"sample\": \"50us\"}",
    .prepare = node_prepare,
    .owner = node_owner,
    .build = node_build,
    .begin = node_begin,
    .handle = node_handle,
    .commit = node_commit,
    .prefetch = node_prefetch,
    .results = node_results,
    .application = node_application,
    .print_summary = node_summary,
};
REGISTER_MODEL(node_model);
