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
 * There are no nodes in memory: servers are kept while they are busy (node_servers.h)
 * and packets while they are in flight, in their events. A source makes the packets of
 * a whole block of nodes: Poisson processes merged are a Poisson process. Blocks do
 * not depend on partitions, so neither do results.
 *
 * A source's event comes one processing time before its packet, as the event of a
 * packet that is passed on does: so links see both kinds in order.
 */
#include "model/node.h"

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
        struct hop hop = {.event = {.process = first, .tie = (uint64_t)i << NUMBER_BITS}, .destination = first};
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

/* Over the link to the next node. */
static void node_send(struct partition *partition, uint64_t from, struct hop *hop, tick_t ready)
{
    const struct node_model *node = partition->model->shared;
    struct servers *servers = &((struct node_state *)partition->state)->servers;
    struct node_step step = node_torus_step(&node->torus, from, hop->destination, hop->event.tie);
    tick_t start = servers_take(servers, partition, from, 1 + step.port, ready, node->holding);
    hop->event.time = start + node->holding + node->latency;
    hop->event.process = step.node;
    hop->hops++;
    process_post(partition, &hop->event);
}

static void node_make_packet(struct partition *partition, const struct event *event)
{
    const struct node_model *node = partition->model->shared;
    uint32_t block = node_block_of_source(&node->torus, event->process), first, end;
    struct source *source = &((struct node_state *)partition->state)->sources[block];
    process_save(partition, source, sizeof *source);
    node_torus_slabs(&node->torus, block, &first, &end);
    uint64_t from = node_torus_draw(&node->torus, first, end, &source->random);
    struct hop hop = {.event.tie = (uint64_t)block << NUMBER_BITS | source->made++,
                      .destination = from,
                      .birth = event->time + node->processing};
    while (hop.destination == from)
        hop.destination = node_torus_draw(&node->torus, 0, node->torus.slabs, &source->random);
    node_send(partition, from, &hop, hop.birth);
    node_post_source(partition, block);
}

/* The node that a ping-pong packet reached sends the next one back. */
static void node_answer(struct partition *partition, const struct hop *hop, tick_t now)
{
    const struct node_model *node = partition->model->shared;
    const uint64_t *ends = node->ends[hop->event.tie >> NUMBER_BITS];
    struct hop next = {
        .event.tie = hop->event.tie + 1, .destination = ends[hop->event.process == ends[0]], .birth = now};
    node_send(partition, hop->event.process, &next, now);
}

static void node_arrive(struct partition *partition, struct hop *hop)
{
    const struct node_model *node = partition->model->shared;
    struct servers *servers = &((struct node_state *)partition->state)->servers;
    uint64_t here = hop->event.process;
    tick_t now = hop->event.time, start = now;
    if (node->processing && hop->hops)
        start = servers_take(servers, partition, here, PORT_UNIT, now, node->processing);
    if (here != hop->destination) {
        struct hop next = *hop;
        node_send(partition, here, &next, start + node->processing);
        return;
    }
    FW_CHECK((start - now) >> WAIT_BITS == 0, "tick %llu: packet %llu has waited for %llu ticks at one node",
             (unsigned long long)now, (unsigned long long)hop->event.tie, (unsigned long long)(start - now));
    hop->wait = (start - now) & (((uint64_t)1 << WAIT_BITS) - 1);
    if (node->pairs)
        node_answer(partition, hop, start);
}

static void node_handle(struct partition *partition, struct event *event)
{
    const struct node_model *node = partition->model->shared;
    if (node_is_source(&node->torus, event->process))
        node_make_packet(partition, event);
    else
        node_arrive(partition, (struct hop *)(void *)event);
}

static void node_prefetch(const struct partition *partition, const struct event *event)
{
    servers_prefetch(&((const struct node_state *)partition->state)->servers, event->process);
}

/* ---- statistics ---- */

static void node_count_created(struct partition *partition, tick_t birth)
{
    const struct node_model *node = partition->model->shared;
    if (birth >= node->end)
        return;
    partition->sums[SUM_CREATED]++;
    partition->sums[SUM_OFFERED] += birth >= node->start;
    /* In flight from here to the end; what comes after its arrival is taken off then. */
    partition->sums[SUM_IN_FLIGHT] += node->end - (birth > node->start ? birth : node->start);
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
    uint64_t batch = (time - node->start) / node->slot;
    sums[SUM_BATCH_LATENCY + batch] += latency;
    sums[SUM_BATCH_COUNT + batch]++;
    node_count(sums, SUM_LATENCIES, partition->maxima, MAX_LATENCY, latency);
    node_count(sums, SUM_HOP_COUNTS, partition->maxima, MAX_HOPS, hop->hops);
    uint64_t record[] = {hop->event.tie, hop->destination, hop->birth, time, hop->hops};
    digest_add(&partition->digest, record, 5);
}

static void node_commit(struct partition *partition, const struct event *event)
{
    const struct node_model *node = partition->model->shared;
    const struct hop *hop = (const struct hop *)(const void *)event;
    ((struct node_state *)partition->state)->servers.horizon = event->time;
    if (node_is_source(&node->torus, event->process)) {
        node_count_created(partition, event->time + node->processing);
        return;
    }
    partition->sums[SUM_HOP_EVENTS] += hop->hops > 0;
    if (event->process != hop->destination)
        return;
    if (hop->hops)
        node_count_finished(partition, hop);
    if (node->pairs)
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
