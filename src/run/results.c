/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results document, as the contract in docs/guide/results.md has it. Everything in
 * it except times, memory and version is a function of configuration and seed.
 */
#include "run/simulation.h"

#include "base/digest.h"
#include "run/results_deadlock.h"
#include "base/version.h"
#include "base/text.h"
#include "metrics/summary.h"
#include "workload/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ADD_U64(object, key, value) json_add(object, key, json_number_u64(arena, value))
#define ADD_F64(object, key, value) json_add(object, key, json_number_f64(arena, value))
#define ADD_BOOL(object, key, value) json_add(object, key, json_bool(arena, value))

/* How the run was done, which no other number depends on. */
static struct json *sync_block(const struct simulation *simulation, struct arena *arena)
{
    const struct network_sync facts = simulation->workload.sync;
    uint64_t events = simulation->workload.totals.events; /* that count */
    struct json *sync = json_object(arena);
    json_add(sync, "type", json_text(arena, sync_name(simulation->config.simulator.sync)));
    ADD_U64(sync, "threads", facts.threads);
    ADD_U64(sync, "ranks", facts.ranks);
    ADD_U64(sync, "events", events + facts.rolled_back);
    if (facts.parts == 1 && !simulation->rewind)
        return sync; /* a sequential run says nothing here that the next one would not */
    ADD_F64(sync, "events_per_second", (double)events / simulation->wall_seconds);
    ADD_F64(sync, "window", facts.window == NEVER ? NAN : (double)facts.window);
    ADD_U64(sync, "windows", facts.windows);
    ADD_U64(sync, "remote_events", facts.sent);
    ADD_F64(sync, "remote_share", (double)facts.sent / (double)events);
    ADD_F64(sync, "waiting_share", facts.waited / simulation->wall_seconds / facts.parts);
    if (!simulation->rewind)
        return sync;
    ADD_U64(sync, "committed", events);
    ADD_U64(sync, "rolled_back", facts.rolled_back);
    ADD_F64(sync, "efficiency", events ? 1 - (double)facts.rolled_back / (double)events : 1);
    ADD_U64(sync, "primary_rollbacks", facts.rollbacks);
    ADD_U64(sync, "secondary_rollbacks", 0); /* nothing is taken in before it is certain */
    ADD_U64(sync, "gvt_count", facts.windows);
    return sync;
}

static struct json *simulation_block(struct simulation *simulation, struct arena *arena)
{
    const struct network *network = &simulation->network;
    const struct network_totals *totals = &simulation->workload.totals;
    struct digest digest = {0};
    uint64_t packet_hops = 0;
    for (uint32_t i = 0; i < simulation->workload.count; i++) {
        const struct measurement *m = &simulation->workload.measurements[i];
        digest_merge(&digest, &m->digest);
        packet_hops +=
            (uint64_t)m->hops.sum + m->sampled_delivered; /* routers are one more than channels between them */
    }
    char text[33];
    digest_text(&digest, text);
    struct json *block = json_object(arena);
    ADD_U64(block, "end_tick", totals->now);
    ADD_U64(block, "events", totals->events);
    ADD_U64(block, "flit_hops", totals->flit_hops);
    ADD_U64(block, "packet_hops", packet_hops);
    ADD_F64(block, "cpu_seconds", simulation->cpu_seconds);
    ADD_F64(block, "wall_seconds", simulation->wall_seconds);
    ADD_U64(block, "peak_rss_bytes", simulation->peak_bytes);
    if (simulation->restarts)
        ADD_U64(block, "restarts", simulation->restarts);
    ADD_F64(block, "bytes_per_router", (double)network->core->bytes / network->topology.routers);
    json_add(block, "digest", json_text(arena, text));
    json_add(block, "sync", sync_block(simulation, arena));
    return block;
}

/* Flits per terminal and channel cycle over the sampling window. */
static double load_of(const struct application *application, uint64_t flits, uint32_t terminals)
{
    const struct measurement *m = application->measurement;
    double cycles = (double)(m->window_end - m->window_start) / (double)application->cycle;
    return cycles > 0 ? (double)flits / cycles / terminals : NAN;
}

/* The worst terminal is that whose messages fare worst, of those that send any. */
static void add_terminals(struct json *block, const struct application *application, const uint32_t *sequences,
                          bool list, struct arena *arena)
{
    const struct measurement *m = application->measurement;
    uint32_t worst = NONE;
    struct json *all = json_array(arena);
    for (uint32_t i = 0; i < application->allocated.count; i++) {
        uint32_t terminal = application->allocated.items[i];
        uint64_t flits = m->accepted_from_at_end[terminal] - m->accepted_from_at_start[terminal];
        bool is_worse = worst == NONE || flits < m->accepted_from_at_end[worst] - m->accepted_from_at_start[worst];
        if (sequences[terminal] && is_worse)
            worst = terminal;
        if (list)
            json_append(all, json_number_f64(arena, load_of(application, flits, 1)));
    }
    struct json *entry = json_add(block, "worst_terminal", worst == NONE ? json_null(arena) : json_object(arena));
    if (worst != NONE) {
        ADD_U64(entry, "terminal", worst);
        ADD_F64(entry, "accepted_load",
                load_of(application, m->accepted_from_at_end[worst] - m->accepted_from_at_start[worst], 1));
    }
    if (list)
        json_add(block, "accepted_by_terminal", all);
}

static struct json *series_block(const struct series *series, struct arena *arena)
{
    struct json *block = json_object(arena);
    ADD_U64(block, "interval", series->length);
    struct json *latency = json_add(block, "packet_latency", json_array(arena));
    struct json *created = json_add(block, "packets", json_array(arena));
    struct json *offered = json_add(block, "flits_offered", json_array(arena));
    struct json *accepted = json_add(block, "flits_accepted", json_array(arena));
    for (uint32_t i = 0; i < series->count; i++) {
        const struct series_bin *bin = &series->bins[i];
        double mean = bin->packets_arrived ? (double)bin->latency_sum / (double)bin->packets_arrived : NAN;
        json_append(latency, json_number_f64(arena, mean));
        json_append(created, json_number_u64(arena, bin->packets_created));
        json_append(offered, json_number_u64(arena, bin->flits_offered));
        json_append(accepted, json_number_u64(arena, bin->flits_accepted));
    }
    return block;
}

static struct json *phases_block(const struct application *application, struct arena *arena)
{
    struct json *block = json_object(arena);
    for (uint32_t phase = 0; phase <= application->phase; phase++)
        ADD_U64(block, phase_name(phase), application->phase_start[phase]);
    return block;
}

/* Which planes the packets took. */
static void add_planes(struct json *block, const struct measurement *m, struct arena *arena)
{
    struct json *planes = json_add(block, "planes", json_object(arena));
    struct json *packets = json_add(planes, "packets", json_array(arena));
    struct json *share = json_add(planes, "share", json_array(arena));
    for (uint32_t plane = 0; plane < m->planes; plane++) {
        uint64_t count = m->packets_by_plane[plane];
        json_append(packets, json_number_u64(arena, count));
        json_append(share,
                    json_number_f64(arena, m->sampled_delivered ? (double)count / (double)m->sampled_delivered : NAN));
    }
}

static struct json *application_block(const struct workload *workload, uint32_t number, struct arena *arena)
{
    const struct application *application = &workload->applications[number];
    const struct measurement *m = application->measurement;
    uint32_t terminals = application->allocated.count;
    struct estimate estimate = batch_means_estimate(&m->batches);
    struct json *block = json_object(arena);
    json_add(block, "name", json_text(arena, application->name));
    ADD_U64(block, "terminals", terminals);
    ADD_F64(block, "target_load", application->load);
    ADD_F64(block, "offered_load", load_of(application, m->offered_at_end - m->offered_at_start, terminals));
    ADD_F64(block, "accepted_load", load_of(application, m->accepted_at_end - m->accepted_at_start, terminals));
    ADD_BOOL(block, "saturated", measurement_is_saturated(m));
    ADD_U64(block, "warmup_ticks", m->window_start);
    ADD_U64(block, "sampled_ticks", m->window_end - m->window_start);
    ADD_U64(block, "packets", m->sampled_delivered);
    ADD_U64(block, "unfinished_packets", m->sampled_created - m->sampled_delivered);
    json_add(block, "packet_latency", summary_json(arena, &m->packet_latency, &estimate));
    json_add(block, "network_latency", summary_json(arena, &m->network_latency, NULL));
    json_add(block, "message_latency", summary_json(arena, &m->message_latency, NULL));
    if (application->transaction_messages > 1) {
        ADD_U64(block, "transactions", m->transactions_ended);
        ADD_U64(block, "unfinished_transactions", m->transactions_begun - m->transactions_ended);
        json_add(block, "transaction_latency", summary_json(arena, &m->transaction_latency, NULL));
    }
    if (application->ops->report)
        application->ops->report(application, &(struct report){block, arena});
    json_add(block, "hops", counts_json(arena, &m->hops));
    struct histogram *minimal = arena_array(arena, struct histogram, 1);
    measurement_minimal_hops(m, minimal);
    json_add(block, "minimal_hops", counts_json(arena, minimal));
    ADD_F64(block, "nonminimal_share",
            m->sampled_delivered ? (double)m->nonminimal / (double)m->sampled_delivered : NAN);
    if (m->planes)
        add_planes(block, m, arena);
    add_terminals(block, application, workload->sequences, workload->config->per_terminal, arena);
    json_add(block, "phases", phases_block(application, arena));
    json_add(block, "latency_distribution", distribution_json(arena, &m->packet_latency));
    json_add(block, "hop_distribution", values_json(arena, &m->hops));
    if (m->series.length)
        json_add(block, "series", series_block(&m->series, arena));
    return block;
}

/* What all applications had of one level of service; loads are per terminal of the network. */
static struct json *level_block(const struct simulation *simulation, uint32_t number, struct arena *arena)
{
    const struct workload *workload = &simulation->workload;
    const struct network *network = &simulation->network;
    struct level_count *all = arena_array(arena, struct level_count, 1);
    uint64_t offered = 0, accepted = 0;
    for (uint32_t i = 0; i < workload->count; i++) {
        const struct level_count *level = &workload->measurements[i].by_level[number];
        offered += level->offered_at_end - level->offered_at_start;
        accepted += level->accepted_at_end - level->accepted_at_start;
        level_count_merge(all, level);
    }
    const struct application *any = &workload->applications[0]; /* they have the same window */
    struct json *block = json_object(arena);
    ADD_U64(block, "level", number);
    struct json *classes = json_add(block, "protocol_classes", json_array(arena));
    for (uint32_t class = 0; class < network->core->config->protocol_classes; class ++)
        if (network->service.class_level[class] == number)
            json_append(classes, json_number_u64(arena, class));
    ADD_F64(block, "offered_load", load_of(any, offered, network->topology.terminals));
    ADD_F64(block, "accepted_load", load_of(any, accepted, network->topology.terminals));
    ADD_U64(block, "packets", all->packets);
    json_add(block, "packet_latency", summary_json(arena, &all->packet_latency, NULL));
    json_add(block, "network_latency", summary_json(arena, &all->network_latency, NULL));
    return block;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* [router, port, target router, utilisation], ports as `flitwarp trace` counts them. */
static void add_channel(struct json *list, const struct network *network, size_t port, double share,
                        struct arena *arena)
{
    struct json *row = json_append(list, json_array(arena));
    json_append(row, json_number_u64(arena, port / network->ports));
    json_append(row, json_number_u64(arena, port % network->ports));
    json_append(row, json_number_u64(arena, network->links[port].target));
    json_append(row, json_number_f64(arena, share));
}

/* Where each router lies, for drawing; nothing where the topology has no coordinates. */
static void add_coordinates(struct json *block, const struct network *network, struct arena *arena)
{
    if (!network->core->coordinates)
        return;
    struct json *all = json_add(block, "coordinates", json_array(arena));
    const struct topology *one = network->routing.topology;
    uint32_t dimensions = one->grid->dimensions;
    for (uint32_t router = 0; router < network->topology.routers; router++) {
        struct json *row = json_append(all, json_array(arena));
        for (uint32_t d = 0; d < dimensions; d++)
            json_append(row, json_number_u64(
                                 arena, network->core->coordinates[(size_t)(router % one->routers) * dimensions + d]));
    }
}

/* Share of the window's cycles in which channels between routers carried a flit. */
static struct json *channels_block(struct simulation *simulation, struct arena *arena)
{
    const struct workload *workload = &simulation->workload;
    const struct network *network = &simulation->network;
    const struct measurement *m = &workload->measurements[0];
    double ticks = (double)(m->window_end - m->window_start);
    size_t ports = (size_t)network->topology.routers * network->ports, count = 0;
    double *shares = arena_array(arena, double, ports + 1), sum = 0;
    struct json *list = workload->config->per_channel ? json_array(arena) : NULL;
    for (size_t i = 0; i < ports; i++) {
        const struct link *link = &network->links[i];
        if (link->target == NONE || link->to_terminal || ticks <= 0 || !m->window_end)
            continue;
        uint32_t flits = workload->port_flits_at_end[i] - workload->port_flits_at_start[i]; /* modulo 2^32 */
        shares[count] = flits / (ticks / link->cycle);
        if (list)
            add_channel(list, network, i, shares[count], arena);
        sum += shares[count++];
    }
    qsort(shares, count, sizeof *shares, compare_doubles);
    struct json *block = json_object(arena);
    ADD_U64(block, "count", count);
    struct json *utilisation = json_add(block, "utilisation", json_object(arena));
    ADD_F64(utilisation, "mean", count ? sum / (double)count : NAN);
    ADD_F64(utilisation, "min", count ? shares[0] : NAN);
    ADD_F64(utilisation, "p50", count ? shares[count / 2] : NAN);
    ADD_F64(utilisation, "p90", count ? shares[count * 9 / 10] : NAN);
    ADD_F64(utilisation, "max", count ? shares[count - 1] : NAN);
    if (list) {
        json_add(block, "columns", json_from_word(arena, "[\"router\", \"port\", \"target\", \"utilisation\"]"));
        json_add(block, "list", list);
        add_coordinates(block, network, arena);
    }
    return block;
}

struct json *results_document(struct simulation *simulation)
{
    struct arena *arena = &simulation->setup;
    struct json *root = json_object(arena);
    struct json *program = json_add(root, "flitwarp", json_object(arena));
    json_add(program, "version", json_text(arena, FLITWARP_VERSION));
    json_add(root, "config", simulation->json);
    return root;
}

struct json *simulation_results(struct simulation *simulation)
{
    struct arena *arena = &simulation->setup;
    struct json *root = results_document(simulation);
    ADD_BOOL(root, "complete", simulation->workload.outcome == OUTCOME_DONE);
    static const char *const outcomes[] = {"running", "done", "deadlock", "interrupted", "stuck"};
    json_add(root, "outcome", json_text(arena, outcomes[simulation->workload.outcome]));
    results_add_deadlock(root, &simulation->workload, arena);
    json_add(root, "simulation", simulation_block(simulation, arena));
    struct json *applications = json_add(root, "applications", json_array(arena));
    for (uint32_t i = 0; i < simulation->workload.count; i++)
        json_append(applications, application_block(&simulation->workload, i, arena));
    if (simulation->network.service.levels > 1) {
        struct json *levels = json_add(root, "levels", json_array(arena));
        for (uint32_t level = 0; level < simulation->network.service.levels; level++)
            json_append(levels, level_block(simulation, level, arena));
    }
    json_add(root, "channels", channels_block(simulation, arena));
    return root;
}

int results_try(const char *path, struct errors *errors)
{
    struct output_file trial;
    struct stat status;
    bool is_pipe = path && stat(path, &status) == 0 && S_ISFIFO(status.st_mode); /* opening it has effects */
    if (path && !is_pipe && !output_open(&trial, path, errors))
        return EXIT_IO;
    if (path && !is_pipe)
        output_discard(&trial);
    return EXIT_DONE;
}

bool results_write(struct simulation *simulation, const struct json *document, const char *path)
{
    struct output_file output;
    if (!output_open(&output, path ? path : "-", &simulation->errors))
        return false;
    json_write(output.stream, document, 2);
    fputc('\n', output.stream);
    return output_commit(&output, &simulation->errors);
}
