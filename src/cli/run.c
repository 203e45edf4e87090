/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp run CONFIG [PATH=VALUE ...]: load, build, run, write. Results go to
 * --results or standard output; a one-line summary and progress go to standard
 * error.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/logs.h"
#include "cli/run_model.h"

#include "base/text.h"
#include "engine/process_ranks.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] = "flitwarp run CONFIG [PATH=VALUE ...] [--results FILE] [--log FILE.csv.zst] [--quiet] "
                            "[--sync sequential] [--threads 1]\n"
                            "  models: [--sync sequential|conservative|optimistic] [--threads N] [--check-reversal]\n"
                            "  logs, .csv or .csv.zst: [--message-log FILE] [--traffic-log FILE] [--channel-log FILE] "
                            "[--rate-log FILE [--rate-interval TICKS]]";

struct progress {
    struct timespec last;
    struct timespec start;
    bool shown;
};

static double seconds_since(const struct timespec *then, const struct timespec *now)
{
    return (double)(now->tv_sec - then->tv_sec) + 1e-9 * (double)(now->tv_nsec - then->tv_nsec);
}

/* Twice a second on a terminal. */
static void show_progress(void *context, const struct workload *workload, tick_t now)
{
    struct progress *progress = context;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    if (seconds_since(&progress->last, &time) < 0.5)
        return;
    progress->last = time;
    progress->shown = true;
    double elapsed = seconds_since(&progress->start, &time);
    const struct application *first = &workload->applications[0];
    fprintf(stderr, "\r%-10s tick %-12llu load %-6g %.3g M events/s  %llu packets in the network, %.0f s \033[K",
            phase_name(workload->phase), (unsigned long long)now, first->ops->load(first),
            1e-6 * (double)workload->network->engine->events / elapsed,
            (unsigned long long)workload->network->in_network, elapsed);
}

static void print_summary(const struct simulation *simulation)
{
    for (uint32_t i = 0; i < simulation->workload.count; i++) {
        const struct application *a = &simulation->workload.applications[i];
        const struct measurement *m = a->measurement;
        struct estimate estimate = batch_means_estimate(&m->batches);
        double cycles = (double)(m->window_end - m->window_start) / (double)a->cycle * a->ranks;
        if (!m->sampled_delivered) {
            fprintf(stderr, "%s: offered %.4g, accepted %.4g flits/terminal/cycle; no sampled packet has arrived%s\n",
                    a->name, cycles > 0 ? (double)(m->offered_at_end - m->offered_at_start) / cycles : 0,
                    cycles > 0 ? (double)(m->accepted_at_end - m->accepted_at_start) / cycles : 0,
                    measurement_is_saturated(m) ? "; SATURATED" : "");
            continue;
        }
        char interval[32] = "";
        if (estimate.half_width < 1e300) /* else there are too few batches to tell */
            snprintf(interval, sizeof interval, " +- %.2g", estimate.half_width);
        char transactions[48] = "";
        if (m->transactions_ended)
            snprintf(transactions, sizeof transactions, "; transaction latency %.4g",
                     histogram_mean(&m->transaction_latency));
        fprintf(stderr,
                "%s: offered %.4g, accepted %.4g flits/terminal/cycle; packet latency %.4g%s ticks, p99 %llu%s%s\n",
                a->name, (double)(m->offered_at_end - m->offered_at_start) / cycles,
                (double)(m->accepted_at_end - m->accepted_at_start) / cycles, estimate.mean, interval,
                (unsigned long long)histogram_percentile(&m->packet_latency, 99), transactions,
                measurement_is_saturated(m) ? "; SATURATED" : "");
    }
}

static int run(struct simulation *simulation, const char *results, struct logs *logs, bool quiet)
{
    struct progress progress = {0};
    clock_gettime(CLOCK_MONOTONIC, &progress.start);
    progress.last = progress.start;
    if (!quiet && isatty(STDERR_FILENO)) {
        simulation->workload.progress = show_progress;
        simulation->workload.progress_context = &progress;
    }
    simulation->workload.interrupt = interrupt_catch();
    enum outcome outcome = simulation_run(simulation, stderr);
    if (progress.shown)
        fprintf(stderr, "\r\033[K");
    bool logs_are_kept = logs_commit(logs, simulation);
    bool is_written = results_write(simulation, simulation_results(simulation), results);
    if (!quiet)
        print_summary(simulation);
    if (!logs_are_kept || !is_written) {
        errors_print(&simulation->errors, stderr);
        return EXIT_IO;
    }
    return outcome == OUTCOME_DONE ? EXIT_DONE : outcome == OUTCOME_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_SIMULATION;
}

/* Looks before the run whether the files can be written: the end of a long run is no time to find out. */
static int open_files(struct simulation *simulation, const char *results, struct logs *logs)
{
    int status = results_try(results, &simulation->errors);
    return status == EXIT_DONE ? logs_open(logs, simulation) : status;
}

int cli_run(int argc, char **argv)
{
    const char *results = NULL, *sync = NULL, *threads = NULL;
    bool quiet = false, check_reversal = false;
    struct logs logs = {0};
    struct flag flags[RUN_LOG_KINDS + 7] = {
        {"--results", &results, NULL}, {"--quiet", NULL, &quiet},     {"--check-reversal", NULL, &check_reversal},
        {"--sync", &sync, NULL},       {"--threads", &threads, NULL}, {"--rate-interval", &logs.rate_interval, NULL}};
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++)
        flags[6 + i] = (struct flag){run_log_flags[i], &logs.names[i], NULL};
    struct arguments arguments;
    if (!arguments_read(&arguments, argc, argv, flags, usage))
        return EXIT_USAGE;
    struct simulation simulation;
    simulation_init(&simulation);
    struct arena *arena = &simulation.setup;
    char **overrides = arena_array(arena, char *, arguments.override_count + 3);
    int count = arguments.override_count;
    memcpy(overrides, arguments.overrides, sizeof *overrides * (size_t)count);
    if (sync)
        overrides[count++] = arena_format(arena, "simulator.sync=%s", sync);
    if (threads)
        overrides[count++] = arena_format(arena, "simulator.threads=%s", threads);
    if (check_reversal)
        overrides[count++] = arena_text(arena, "simulator.check_reversal=true");
    int status = EXIT_USAGE;
    bool is_loaded = simulation_load(&simulation, arguments.config, overrides, count);
    if (is_loaded && simulation.config.model.component) {
        status = run_model(&simulation, results, logs_first(&logs), quiet);
        simulation_release(&simulation);
        return status;
    }
    if (is_loaded && ranks_launched() > 1) {
        errors_add(&simulation.errors, "flitwarp run: started as one of %u ranks, expected one for a network",
                   ranks_launched());
        is_loaded = false;
    }
    if (is_loaded && simulation_build(&simulation))
        status = open_files(&simulation, results, &logs);
    if (status == EXIT_DONE)
        status = run(&simulation, results, &logs, quiet);
    else
        errors_print(&simulation.errors, stderr);
    logs_release(&logs);
    simulation_release(&simulation);
    return status;
}
