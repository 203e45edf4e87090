/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node model's settings, and what is worked out from them before a run. The
 * defaults are those of the paper, or what its tables are closest to where it has
 * none: docs/torus.md.
 */
#include "model/node.h"

static const char *const routing_names[] = {"e_cube", "rotated", "adaptive", NULL};
static const char *const traffic_names[] = {"uniform", "ping_pong", NULL};

const struct option node_options[] = {
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

void node_prepare(struct model *model, struct errors *errors)
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
