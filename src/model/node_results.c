/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the node model measured, as the results show it.
 *
 * Packets in flight are counted twice: as a time average over the window, and by Little's law from the rate and the mean
 * latency of the packets that finished in it. The two count different packets at the window's ends, no others; where they
 * differ by more than chance explains, the network was not in a steady state, and that is said.
 */
#include "model/node.h"

#include "metrics/report.h"

#include <math.h>

static const struct result in_flight_reports[] = {
    RESULT("time_average", NUMBER, NULL, "average over the window"),
    RESULT("littles_law", NUMBER, NULL, "from rate and mean latency"),
    RESULT("difference", NUMBER, NULL, "relative difference of the two"),
    RESULT("tolerance", NUMBER, NULL, "difference that chance explains"),
    RESULT("agree", FLAG, NULL, "whether the difference is within the tolerance"),
    RESULT("at_end", COUNT, NULL, "packets in flight at the end of the run"),
    RESULT_END,
};
static const struct result start_reports[] = {
    RESULT("packets", COUNT, NULL, "packets that finished"),
    RESULT("mean_latency", NUMBER, "ticks", "their mean latency"),
    RESULT_END,
};
static const struct result message_reports[] = {
    RESULT("messages", COUNT, NULL, "messages whose last packet finished in the window"),
    RESULT("mean_latency", NUMBER, "ticks", "mean latency to the arrival of that packet"),
    RESULT_END,
};
static const struct result queue_reports[] = {
    RESULT("mean_wait", NUMBER, "ticks", "mean wait of a packet at a queue"),
    RESULT("max_wait", COUNT, "ticks", "longest wait"),
    RESULT("mean_length", NUMBER, NULL, "packets waiting in a queue, averaged over all queues"),
    RESULT("max_length", COUNT, NULL, "most packets that one found waiting or being served"),
    RESULT_END,
};
const struct result node_reports[] = {
    RESULT("nodes", COUNT, NULL, "nodes of the torus"),
    RESULT("hop_ticks", COUNT, "ticks", "time of a hop without waiting"),
    RESULT("mean_distance", NUMBER, "hops", "mean distance between two nodes"),
    RESULT("zero_load_latency", NUMBER, "ticks", "latency over that distance without waiting"),
    RESULT("hop_events", COUNT, NULL, "arrivals of packets at nodes, from the beginning"),
    RESULT_BLOCK("packets_in_flight", BLOCK, in_flight_reports, "packets in flight, counted in two ways"),
    RESULT_BLOCK("from_the_start", BLOCK, start_reports, "including the warm-up"),
    RESULT_BLOCK("messages", BLOCK, message_reports, "with several packets in a message"),
    RESULT_BLOCK("unit_queues", BLOCK, queue_reports, "queues before processing units, with queue_statistics"),
    RESULT_BLOCK("link_queues", BLOCK, queue_reports, "queues before links, with queue_statistics"),
    RESULT("unit_utilisation", NUMBER, NULL, "share of the window in which a node's unit works"),
    RESULT("link_utilisation", NUMBER, NULL, "share of the window in which a link is held"),
    RESULT_END,
};

struct node_measured {
    double ticks;     /* of the window */
    double sampled;   /* packets that finished in it */
    double latency;   /* their mean; NAN without any */
    double in_flight; /* time average */
    double little;    /* the same by rate and latency */
    double tolerance; /* of their difference, relative */
    bool is_steady;
    bool is_saturated;
};

static struct node_measured measured(const struct model *model, const struct model_totals *totals)
{
    const struct node_model *node = model->shared;
    const uint64_t *sums = totals->sums;
    tick_t end = totals->is_complete || totals->end_tick > node->end ? node->end : totals->end_tick;
    struct node_measured m = {.ticks = end > node->start ? (double)(end - node->start) : 0,
                              .sampled = (double)sums[SUM_SAMPLED]};
    m.latency = m.sampled > 0 ? (double)sums[SUM_LATENCY] / m.sampled : NAN;
    /* Packets were counted as in flight to the end of the window, which an interrupted run has not reached. */
    uint64_t too_many = (node->end - end) * (sums[SUM_CREATED] - sums[SUM_FINISHED]);
    m.in_flight = m.ticks > 0 ? (double)(sums[SUM_IN_FLIGHT] - too_many) / m.ticks : NAN;
    m.little = m.sampled > 0 ? m.sampled / m.ticks * m.latency : 0;
    /*
     * The packets in flight at one end of the window, N of them and each with a part of its latency L there, vary by
     * 0.6 L sqrt(N) or so: the difference of the two ends by 0.85 L sqrt(N), of which chance makes six times as much never.
     */
    m.tolerance = m.in_flight > 0 ? 1e-9 + 5 * m.latency / m.ticks / sqrt(m.in_flight) : 0;
    m.is_steady = fabs(m.in_flight - m.little) <= m.tolerance * m.in_flight;
    /* More packets made than arrived, after time enough for the first ones to arrive. */
    double offered = (double)sums[SUM_OFFERED];
    m.is_saturated =
        node->start >= node->longest && offered - m.sampled > 0.03 * offered + 6 * sqrt(2 * m.in_flight + 1);
    return m;
}

static void fill_histogram(struct histogram *histogram, const uint64_t *buckets, uint64_t sum, const uint64_t *maxima)
{
    histogram->sum = sum;
    histogram->min = ~maxima[1];
    histogram->span = maxima[0] - ~maxima[1];
    memcpy(histogram->buckets, buckets, sizeof histogram->buckets);
}

static struct estimate latency_estimate(const uint64_t *sums)
{
    struct batch_means batches = {0};
    for (uint32_t i = 0; i < BATCHES; i++)
        batches.slots[i] = (struct batch_slot){sums[SUM_BATCH_LATENCY + i], sums[SUM_BATCH_COUNT + i]};
    return batch_means_estimate(&batches);
}

void node_application(const struct model *model, const struct model_totals *totals, struct report *report)
{
    const struct node_model *node = model->shared;
    const struct node_config *config = model->config;
    const uint64_t *sums = totals->sums;
    struct arena *arena = report->arena;
    struct node_measured m = measured(model, totals);
    struct histogram *latency = arena_array(arena, struct histogram, 1),
                     *hops = arena_array(arena, struct histogram, 1);
    if (sums[SUM_SAMPLED]) {
        fill_histogram(latency, &sums[SUM_LATENCIES], sums[SUM_LATENCY], &totals->maxima[MAX_LATENCY]);
        fill_histogram(hops, &sums[SUM_HOP_COUNTS], sums[SUM_HOPS], &totals->maxima[MAX_HOPS]);
    }
    /* A packet is one flit of its link, whose cycle is the time that a packet holds it. */
    double per_load = m.ticks / (double)node->holding * node->torus.nodes;
    struct estimate estimate = latency_estimate(sums);
    report_text(report, "name", config->traffic == TRAFFIC_PING_PONG ? "ping_pong" : "uniform");
    report_number(report, "terminals", node->torus.nodes);
    report_number(report, "offered_load", (double)sums[SUM_OFFERED] / per_load);
    report_number(report, "accepted_load", m.sampled / per_load);
    report_number(report, "offered_rate", (double)sums[SUM_OFFERED] / m.ticks);
    report_number(report, "accepted_rate", m.sampled / m.ticks);
    report_flag(report, "saturated", m.is_saturated);
    report_count(report, "warmup_ticks", node->start);
    report_count(report, "sampled_ticks", (uint64_t)m.ticks);
    report_count(report, "packets", sums[SUM_SAMPLED]);
    report_count(report, "unfinished_packets", 0); /* those are sampled that arrive in the window */
    report_json(report, "packet_latency", summary_json(arena, latency, &estimate));
    report_json(report, "hops", counts_json(arena, hops));
    report_json(report, "latency_distribution", buckets_json(arena, latency, false));
    report_json(report, "hop_distribution", buckets_json(arena, hops, true));
}

static void add_in_flight(const struct node_measured *m, const struct model_totals *totals, struct report *report)
{
    struct report *block = report_block(report, "packets_in_flight");
    report_number(block, "time_average", m->in_flight);
    report_number(block, "littles_law", m->little);
    report_number(block, "difference", m->in_flight > 0 ? m->little / m->in_flight - 1 : NAN);
    report_number(block, "tolerance", m->tolerance);
    report_flag(block, "agree", m->is_steady);
    report_count(block, "at_end", totals->sums[SUM_CREATED] - totals->sums[SUM_FINISHED]);
}

/* How many, and their mean latency. */
static void add_mean(const char *name, const char *key, uint64_t count, uint64_t latency, struct report *report)
{
    struct report *block = report_block(report, name);
    report_count(block, key, count);
    report_number(block, "mean_latency", count ? (double)latency / (double)count : NAN);
}

/* By Little's law packets that wait are those that come in a tick times their mean wait. */
static void add_queues(const char *name, uint64_t taken, uint64_t waited, uint64_t longest, tick_t service,
                       double server_ticks, struct report *report)
{
    struct report *block = report_block(report, name);
    report_number(block, "mean_wait", taken ? (double)waited / (double)taken : NAN);
    report_count(block, "max_wait", longest);
    report_number(block, "mean_length", (double)waited / server_ticks);
    report_count(block, "max_length", service ? (longest + service - 1) / service : 0);
}

void node_results(const struct model *model, const struct model_totals *totals, struct report *report)
{
    const struct node_model *node = model->shared;
    const uint64_t *sums = totals->sums;
    struct node_measured m = measured(model, totals);
    double hop = (double)(node->processing + node->holding + node->latency);
    double distance = node_torus_mean_distance(&node->torus);
    double hops_per_node = (double)sums[SUM_HOPS] / m.ticks / node->torus.nodes;
    report_number(report, "nodes", node->torus.nodes);
    report_count(report, "hop_ticks", node->processing + node->holding + node->latency);
    report_number(report, "mean_distance", distance);
    /* The first hop begins with a link, the last ends when the destination's unit takes the packet up. */
    report_number(report, "zero_load_latency", distance * hop - (double)node->processing);
    report_count(report, "hop_events", sums[SUM_HOP_EVENTS]);
    add_in_flight(&m, totals, report);
    add_mean("from_the_start", "packets", sums[SUM_FINISHED], sums[SUM_EVERY_LATENCY], report);
    if (node->message_packets > 1)
        add_mean("messages", "messages", sums[SUM_MESSAGES], sums[SUM_MESSAGE_LATENCY], report);
    if (node->counts_queues) {
        double ticks = m.ticks * node->torus.nodes;
        add_queues("unit_queues", sums[SUM_UNIT_TAKEN], sums[SUM_UNIT_WAIT], totals->maxima[MAX_UNIT_WAIT],
                   node->processing, ticks, report);
        add_queues("link_queues", sums[SUM_LINK_TAKEN], sums[SUM_LINK_WAIT], totals->maxima[MAX_LINK_WAIT],
                   node->holding, ticks * 2 * node->torus.dimensions, report);
    }
    report_number(report, "unit_utilisation", hops_per_node * (double)node->processing);
    report_number(report, "link_utilisation", hops_per_node * (double)node->holding / (2 * node->torus.dimensions));
}

void node_summary(const struct model *model, const struct model_totals *totals, FILE *out)
{
    struct node_measured m = measured(model, totals);
    if (m.sampled > 0)
        fprintf(out,
                "node: latency %.6g ticks over %.4g hops; packets in flight %.6g, by Little's law %.6g (%+.2g %%)%s\n",
                m.latency, (double)totals->sums[SUM_HOPS] / m.sampled, m.in_flight, m.little,
                100 * (m.little / m.in_flight - 1), m.is_saturated ? "; SATURATED" : "");
    else
        fprintf(out, "node: no packet arrived in the %.0f ticks that are measured\n", m.ticks);
    if (m.sampled > 0 && !m.is_steady && !m.is_saturated)
        fprintf(out,
                "node: Little's law does not hold to within %.2g %%: not a steady state; a longer warmup is needed\n",
                100 * m.tolerance);
}
