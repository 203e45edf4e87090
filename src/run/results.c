/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results document, as the contract in docs/guide/results.md has it. Everything in
 * it except times, memory and version is a function of configuration and seed.
 */
#include "run/simulation.h"

#include "base/version.h"
#include "device/lockstep.h"
#include "base/text.h"
#include "metrics/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* How the run was done, which no other number depends on. */
static void add_sync(struct report *sync, const struct simulation *simulation)
{
    const struct network_sync facts = simulation->workload.sync;
    uint64_t events = simulation->workload.totals.events; /* that count */
    report_text(sync, "type", sync_name(simulation->config.simulator.sync));
    report_count(sync, "threads", facts.threads);
    report_count(sync, "ranks", facts.ranks);
    if (simulation->ranks)
        report_count(sync, "largest_rank_bytes", simulation->largest_bytes);
    report_count(sync, "events", events + facts.rolled_back);
    if (facts.parts == 1 && !simulation->rewind)
        return; /* a sequential run says nothing here that the next one would not */
    report_number(sync, "events_per_second", (double)events / simulation->wall_seconds);
    report_number(sync, "window", facts.window == FW_NEVER ? NAN : (double)facts.window);
    report_count(sync, "windows", facts.windows);
    report_count(sync, "remote_events", facts.sent);
    report_number(sync, "remote_share", (double)facts.sent / (double)events);
    report_number(sync, "waiting_share", facts.waited / simulation->wall_seconds / facts.parts);
    if (!simulation->rewind)
        return;
    report_count(sync, "committed", events);
    report_count(sync, "rolled_back", facts.rolled_back);
    report_number(sync, "efficiency", events ? 1 - (double)facts.rolled_back / (double)events : 1);
    report_count(sync, "primary_rollbacks", facts.rollbacks);
    report_count(sync, "secondary_rollbacks", 0); /* nothing is taken in before it is certain */
    report_count(sync, "gvt_count", facts.windows);
}

/* What another machine or driver would tell otherwise. */
static void add_device(struct report *block, struct lockstep *lockstep)
{
    struct lockstep_use use;
    lockstep_use(lockstep, &use);
    report_text(block, "name", use.facts->name);
    if (*use.facts->driver)
        report_text(block, "driver", use.facts->driver);
    report_text(block, "kind", "opencl");
    report_count(block, "runs", use.runs);
    report_number(block, "seconds", use.seconds);
    report_number(block, "compile_seconds", use.compile_seconds);
    report_count(block, "memory_bytes", use.bytes);
}

void results_add_run(struct report *block, const struct simulation *simulation, tick_t end, uint64_t events,
                     const struct digest *digest)
{
    char text[33];
    snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)digest->lanes[0],
             (unsigned long long)digest->lanes[1]);
    report_count(block, "end_tick", end);
    report_count(block, "events", events);
    report_number(block, "cpu_seconds", simulation->cpu_seconds);
    report_number(block, "wall_seconds", simulation->wall_seconds);
    report_count(block, "peak_rss_bytes", simulation->peak_bytes);
    if (simulation->restarts)
        report_count(block, "restarts", simulation->restarts);
    report_text(block, "digest", text);
}

static void add_simulation(struct report *root, struct simulation *simulation)
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
    struct report *block = report_block(root, "simulation");
    results_add_run(block, simulation, totals->now, totals->events, &digest);
    report_count(block, "flit_hops", totals->flit_hops);
    report_count(block, "packet_hops", packet_hops);
    report_number(block, "bytes_per_router",
                  simulation->ranks ? NAN : (double)network->core->bytes / network->topology.routers);
    add_sync(report_block(block, "sync"), simulation);
    if (simulation->lockstep)
        add_device(report_block(block, "device"), simulation->lockstep);
    report_finish(block, NULL);
}

/* Flits per terminal and channel cycle over the sampling window. */
static double load_of(const struct application *application, uint64_t flits, uint32_t terminals)
{
    const struct measurement *m = application->measurement;
    double cycles = (double)(m->window_end - m->window_start) / (double)application->cycle;
    return cycles > 0 ? (double)flits / cycles / terminals : NAN;
}

/* The worst terminal is that whose messages fare worst, of those that send any. */
static void add_terminals(struct report *block, const struct application *application, const uint32_t *sequences,
                          bool list)
{
    const uint64_t *flits = application->measurement->accepted_in_window;
    uint32_t worst = FW_NONE;
    struct json *all = json_array(block->arena);
    for (uint32_t i = 0; i < application->allocated.count; i++) {
        uint32_t terminal = application->allocated.items[i];
        if (sequences[terminal] && (worst == FW_NONE || flits[terminal] < flits[worst]))
            worst = terminal;
        if (list)
            json_append(all, json_number_f64(block->arena, load_of(application, flits[terminal], 1)));
    }
    if (worst == FW_NONE) {
        report_json(block, "worst_terminal", json_null(block->arena));
    } else {
        struct report *entry = report_block(block, "worst_terminal");
        report_count(entry, "terminal", worst);
        report_number(entry, "accepted_load", load_of(application, flits[worst], 1));
    }
    if (list)
        report_json(block, "accepted_by_terminal", all);
}

static void add_series(struct report *block, const struct bins *series)
{
    struct arena *arena = block->arena;
    static const char *const keys[] = {"packet_latency", "packets", "flits_offered", "flits_accepted"};
    report_count(block, "interval", series->interval);
    for (uint32_t column = 0; column < 4; column++) {
        struct json *list = json_array(arena);
        for (uint32_t i = 0; i < series->count; i++) {
            const struct series_bin *bin = (const struct series_bin *)series->bytes + i;
            const uint64_t counts[] = {0, bin->packets_created, bin->flits_offered, bin->flits_accepted};
            double mean = bin->packets_arrived ? (double)bin->latency_sum / (double)bin->packets_arrived : NAN;
            json_append(list, column ? json_number_u64(arena, counts[column]) : json_number_f64(arena, mean));
        }
        report_json(block, keys[column], list);
    }
}

/* Which planes the packets took. */
static void add_planes(struct report *block, const struct measurement *m)
{
    struct json *share = json_array(block->arena);
    for (uint32_t plane = 0; plane < m->planes; plane++) {
        double part = (double)m->packets_by_plane[plane] / (double)m->sampled_delivered;
        json_append(share, json_number_f64(block->arena, m->sampled_delivered ? part : NAN));
    }
    report_counts(block, "packets", m->packets_by_plane, m->planes);
    report_json(block, "share", share);
}

/* What is not a number of the window alone: where packets went, and when. */
static void add_figures(struct report *block, const struct application *application)
{
    const struct measurement *m = application->measurement;
    struct histogram *minimal = arena_array(block->arena, struct histogram, 1);
    measurement_minimal_hops(m, minimal);
    report_json(block, "minimal_hops", counts_json(block->arena, minimal));
    report_number(block, "nonminimal_share",
                  m->sampled_delivered ? (double)m->nonminimal / (double)m->sampled_delivered : NAN);
    report_json(block, "latency_distribution", buckets_json(block->arena, &m->packet_latency, false));
    report_json(block, "hop_distribution", buckets_json(block->arena, &m->hops, true));
    struct report *phases = report_block(block, "phases");
    for (uint32_t phase = 0; phase <= application->phase; phase++)
        report_count(phases, phase_name(phase), application->phase_start[phase]);
    if (m->planes)
        add_planes(report_block(block, "planes"), m);
    if (m->series.interval)
        add_series(report_block(block, "series"), &m->series);
}

static void add_application(struct report *block, const struct workload *workload, uint32_t number)
{
    const struct application *application = &workload->applications[number];
    const struct measurement *m = application->measurement;
    uint32_t terminals = application->allocated.count;
    struct estimate estimate = batch_means_estimate(&m->batches);
    report_text(block, "name", application->name);
    report_count(block, "terminals", terminals);
    report_number(block, "target_load", application->load);
    report_number(block, "offered_load", load_of(application, m->offered_at_end - m->offered_at_start, terminals));
    report_number(block, "accepted_load", load_of(application, m->accepted_at_end - m->accepted_at_start, terminals));
    report_flag(block, "saturated", measurement_is_saturated(m));
    report_count(block, "warmup_ticks", m->window_start);
    report_count(block, "sampled_ticks", m->window_end - m->window_start);
    report_count(block, "unfinished_packets", m->sampled_created - m->sampled_delivered);
    report_json(block, "packet_latency", summary_json(block->arena, &m->packet_latency, &estimate));
    if (m->has_transactions)
        report_count(block, "unfinished_transactions", m->transactions_begun - m->transactions_ended);
    block->own = application->ops->reports;
    if (application->ops->report)
        application->ops->report(application, block);
    add_terminals(block, application, workload->sequences, workload->config->per_terminal);
    add_figures(block, application);
    report_finish(block, m);
}

/* What all applications had of one level of service; loads are per terminal of the network. */
static void add_level(struct report *block, const struct simulation *simulation, uint32_t number)
{
    const struct workload *workload = &simulation->workload;
    const struct network *network = &simulation->network;
    struct level_count *all = arena_array(block->arena, struct level_count, 1);
    uint64_t offered = 0, accepted = 0;
    for (uint32_t i = 0; i < workload->count; i++) {
        const struct level_count *level = &workload->measurements[i].by_level[number];
        offered += level->offered;
        accepted += level->accepted;
        results_merge(level_results, RESULT_AT_GRID_POINTS, all, level);
        results_merge(level_results, RESULT_AT_END, all, level);
    }
    const struct application *any = &workload->applications[0]; /* they have the same window */
    struct json *classes = json_array(block->arena);
    for (uint32_t class = 0; class < network->core->config->protocol_classes; class ++)
        if (network->service.class_level[class] == number)
            json_append(classes, json_number_u64(block->arena, class));
    report_count(block, "level", number);
    report_json(block, "protocol_classes", classes);
    report_number(block, "offered_load", load_of(any, offered, network->topology.terminals));
    report_number(block, "accepted_load", load_of(any, accepted, network->topology.terminals));
    report_finish(block, all);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where each router lies, for drawing. */
static struct json *coordinates_json(const struct network *network, struct arena *arena)
{
    struct json *all = json_array(arena);
    const struct topology *one = topology_whole(network->routing.topology);
    for (uint32_t router = 0; router < network->topology.routers; router++) {
        struct json *row = json_append(all, json_array(arena));
        uint32_t coordinates[MAX_DIMENSIONS];
        grid_coordinates(one->grid, router % one->routers, coordinates);
        for (uint32_t d = 0; d < one->grid->dimensions; d++)
            json_append(row, json_number_u64(arena, coordinates[d]));
    }
    return all;
}

/* Share of the window's cycles in which channels between routers carried a flit. */
static void add_channels(struct report *block, struct simulation *simulation)
{
    struct arena *arena = block->arena;
    const struct workload *workload = &simulation->workload;
    const struct network *network = &simulation->network;
    const struct measurement *m = &workload->measurements[0];
    double ticks = (double)(m->window_end - m->window_start);
    size_t ports = (size_t)network->topology.routers * network->topology.ports, count = 0;
    double *shares = arena_array(arena, double, ports + 1), sum = 0;
    struct json *list = workload->config->per_channel ? json_array(arena) : NULL;
    for (struct router_channel at = {0}; ticks > 0 && m->window_end && network_next_channel(network, &at);) {
        uint32_t port = network->routing.local_ports + at.from.port;
        size_t i = (size_t)at.from.router * network->ports + port;
        uint32_t flits = workload->port_flits_at_end[i] - workload->port_flits_at_start[i]; /* modulo 2^32 */
        shares[count] = flits / (ticks / channel_cycle(&network->core->latencies, at.from.router, at.from.port));
        const double row[] = {at.from.router, port, at.to.router, shares[count]};
        struct json *shown =
            list ? json_append(list, json_array(arena)) : NULL; /* ports as `flitwarp trace` has them */
        for (uint32_t column = 0; shown && column < 4; column++)
            json_append(shown, json_number_f64(arena, row[column]));
        sum += shares[count++];
    }
    qsort(shares, count, sizeof *shares, compare_doubles);
    report_count(block, "count", count);
    struct report *utilisation = report_block(block, "utilisation");
    report_number(utilisation, "mean", count ? sum / (double)count : NAN);
    report_number(utilisation, "min", count ? shares[0] : NAN);
    report_number(utilisation, "p50", count ? shares[count / 2] : NAN);
    report_number(utilisation, "p90", count ? shares[count * 9 / 10] : NAN);
    report_number(utilisation, "max", count ? shares[count - 1] : NAN);
    if (!list)
        return;
    report_json(block, "columns", json_from_word(arena, "[\"router\", \"port\", \"target\", \"utilisation\"]"));
    report_json(block, "list", list);
    if (topology_whole(network->routing.topology)->grid)
        report_json(block, "coordinates", coordinates_json(network, arena));
}

struct report results_begin(struct simulation *simulation)
{
    struct arena *arena = &simulation->setup;
    struct report root = {.block = json_object(arena), .arena = arena, .rows = results_rows};
    report_text(report_block(&root, "flitwarp"), "version", FLITWARP_VERSION);
    report_json(&root, "config", simulation->json);
    if (simulation->sums && simulation->sums->count)
        report_json(&root, "data", simulation->sums);
    return root;
}

struct json *simulation_results(struct simulation *simulation)
{
    const struct workload *workload = &simulation->workload;
    static const char *const outcomes[] = {"running", "done", "deadlock", "interrupted", "stuck"};
    struct report root = results_begin(simulation);
    report_flag(&root, "complete", workload->outcome == OUTCOME_DONE);
    report_text(&root, "outcome", outcomes[workload->outcome]);
    results_add_deadlock(&root, workload);
    add_simulation(&root, simulation);
    for (uint32_t i = 0; i < workload->count; i++)
        add_application(report_item(&root, "applications"), workload, i);
    uint32_t levels = simulation->network.service.levels;
    for (uint32_t level = 0; levels > 1 && level < levels; level++)
        add_level(report_item(&root, "levels"), simulation, level);
    if (simulation->network.core->failures)
        results_add_failures(report_block(&root, "failures"), simulation);
    add_channels(report_block(&root, "channels"), simulation);
    return root.block;
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
