/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp run CONFIG [PATH=VALUE ...]: load, build, run, write. Results go to
 * --results or standard output; a one-line summary and progress go to standard
 * error.
 */
#include "cli/arguments.h"
#include "run/baseline.h"
#include "checkpoint/checkpoint_plugins.h"
#include "cli/cli.h"
#include "run/interrupt.h"
#include "cli/run.h"

#include "base/heap.h"
#include "base/text.h"
#include "flitwarp/random.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_LOG 1 /* of the flags; the others follow it in the order of enum run_log */
#define LOG_FLAG(log, name, help)                                                                                      \
    [FIRST_LOG + (log)] = FLAG_VALUE(struct run_request, logs.names[log], name, "FILE", help)

static const struct flag run_flags[] = {
    FLAG_VALUE(struct run_request, results, "--results", "FILE", "where results go; standard output if not given"),
    LOG_FLAG(RUN_LOG_PACKETS, "--log", "a line for each sampled packet; logs are .csv or .csv.zst, compressed"),
    LOG_FLAG(RUN_LOG_MESSAGES, "--message-log", "a line for each sampled message"),
    LOG_FLAG(RUN_LOG_TRAFFIC, "--traffic-log", "a line for each pair of terminals, with what went between them"),
    LOG_FLAG(RUN_LOG_RATES, "--rate-log", "what each terminal sent and got, interval by interval"),
    LOG_FLAG(RUN_LOG_CHANNELS, "--channel-log", "a line for each channel, with its flits by VC"),
    FLAG_VALUE(struct run_request, logs.rate_interval, "--rate-interval", "TICKS",
               "of the rate log; workload.series_interval if not given"),
    FLAG(struct run_request, quiet, "--quiet", "no progress and no summary on standard error"),
    FLAG_VALUE(struct run_request, sync, "--sync", "sequential|conservative|optimistic",
               "short for simulator.sync=..."),
    FLAG_VALUE(struct run_request, threads, "--threads", "N", "short for simulator.threads=N"),
    FLAG(struct run_request, baseline, "--baseline",
         "run each job by itself as well, and tell how much slower it is among others"),
    FLAG_VALUE(struct run_request, checkpoint_every, "--checkpoint-every", "TICKS|30s|10min|2h",
               "write down all that the run is, now and then, to go on from after a kill"),
    FLAG_VALUE(struct run_request, checkpoint, "--checkpoint", "FILE",
               "where; the name of the results or the configuration with .checkpoint if not given"),
    FLAG_VALUE(struct run_request, restart, "--restart", "FILE", "go on from a checkpoint; takes no CONFIG"),
    FLAG(struct run_request, check_reversal, "--check-reversal",
         "optimistic: do, undo and do again every event, and compare"),
    FLAG_END,
};

const char *run_log_flag(enum run_log log) { return run_flags[FIRST_LOG + log].name; }

struct progress {
    struct timespec last;
    struct timespec start;
    bool is_optimistic;
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
    char efficiency[32] = "";
    if (progress->is_optimistic && workload->totals.events)
        snprintf(efficiency, sizeof efficiency, "  efficiency %.3f",
                 1 - (double)network_sync_facts(workload->network).rolled_back / (double)workload->totals.events);
    fprintf(stderr, "\r%-10s %s %-12llu load %-6g %.3g M events/s%s  %llu packets in the network, %.0f s \033[K",
            phase_name(workload->phase), progress->is_optimistic ? "GVT" : "tick", (unsigned long long)now,
            first->ops->load(first), 1e-6 * (double)workload->totals.events / elapsed, efficiency,
            (unsigned long long)workload->totals.in_flight, elapsed);
}

/* So many digits of a number, and no exponent: a latency of 1.2e+06 is hard to read. */
static const char *digits(char out[static 32], int count, double number)
{
    bool is_large = number > pow(10, count) - 0.5;
    snprintf(out, 32, is_large ? "%.*f" : "%.*g", is_large ? 0 : count, number);
    return out;
}

/* An application that comes to an end by itself took so long. */
static const char *ending(char out[static 48], const struct json *results, uint32_t application)
{
    const struct json *block = json_at(json_find(results, "applications"), application);
    const struct json *time = json_find(block, "completion_time");
    *out = 0;
    if (time && time->type == JSON_NUMBER)
        snprintf(out, 48, "; done in %.0f ticks", time->number);
    return out;
}

/* A run that an error ended says of an application what it has measured, if it has come so far. */
static void print_summary(const struct simulation *simulation, const struct json *results, int status)
{
    for (uint32_t i = 0; i < simulation->workload.count; i++) {
        const struct application *a = &simulation->workload.applications[i];
        const struct measurement *m = a->measurement;
        struct estimate estimate = batch_means_estimate(&m->batches);
        char time[48];
        double cycles = (double)(m->window_end - m->window_start) / (double)a->cycle * a->allocated.count;
        if (!m->sampled_delivered && status == EXIT_SIMULATION)
            continue;
        if (!m->sampled_delivered) {
            fprintf(stderr, "%s: offered %.4g, accepted %.4g flits/terminal/cycle; no sampled packet has arrived%s%s\n",
                    a->name, cycles > 0 ? (double)(m->offered_at_end - m->offered_at_start) / cycles : 0,
                    cycles > 0 ? (double)(m->accepted_at_end - m->accepted_at_start) / cycles : 0,
                    measurement_is_saturated(m) ? "; SATURATED" : "", ending(time, results, i));
            continue;
        }
        char mean[32], interval[32] = "";
        bool has_interval = estimate.half_width < 1e300; /* else there are too few batches to tell */
        char transactions[64] = "";
        if (m->transactions_ended)
            snprintf(transactions, sizeof transactions, "; transaction latency %s",
                     digits(mean, 4, histogram_mean(&m->transaction_latency)));
        fprintf(stderr,
                "%s: offered %.4g, accepted %.4g flits/terminal/cycle; packet latency %s%s%s ticks, p99 %llu%s%s%s\n",
                a->name, (double)(m->offered_at_end - m->offered_at_start) / cycles,
                (double)(m->accepted_at_end - m->accepted_at_start) / cycles, digits(mean, 4, estimate.mean),
                has_interval ? " +- " : "", has_interval ? digits(interval, 2, estimate.half_width) : "",
                (unsigned long long)histogram_percentile(&m->packet_latency, 99), transactions,
                measurement_is_saturated(m) ? "; SATURATED" : "", ending(time, results, i));
    }
}

/* After a grid point. Nothing of the run may lie outside its heap when that is written. */
static void pause_network(void *context, tick_t now)
{
    struct run *run = context;
    struct simulation *simulation = &run->simulation;
    if (!ranks_largest(simulation->ranks, checkpoint_is_due(&run->checkpoint, now)))
        return;
    network_rest(&simulation->network);
    logs_rest(&run->request.logs);
    stopwatch_note(&simulation->watch);
    checkpoint_write(&run->checkpoint, now, logs_are_whole(&run->request.logs, NULL));
    if (!logs_wake(&run->request.logs, &simulation->errors)) {
        errors_print(&simulation->errors, stderr);
        check_end(EXIT_IO);
    }
}

static void watch_signals(struct run *run)
{
    struct workload *workload = &run->simulation.workload;
    workload->interrupt = interrupt_catch();
    if (!run->checkpoint.path)
        return;
    checkpoint_begin(&run->checkpoint);
    workload->interrupt = &run->checkpoint.stops;
    workload->pause = pause_network;
    workload->pause_context = run;
}

/* All ranks run; the first shows progress and writes, once all numbers are put together. */
static int run_built(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    struct run_request *request = &run->request;
    struct progress progress = {.is_optimistic = simulation->rewind};
    bool leads = ranks_lead(simulation->ranks);
    clock_gettime(CLOCK_MONOTONIC, &progress.start);
    progress.last = progress.start;
    bool shows = leads && !request->quiet && isatty(STDERR_FILENO);
    simulation->workload.progress = shows ? show_progress : NULL; /* another process may have shown it */
    simulation->workload.progress_context = &progress;
    watch_signals(run);
    simulation_run(simulation, stderr);
    if (progress.shown)
        fprintf(stderr, "\r\033[K");
    int status = simulation_status(simulation);
    struct json *document = leads ? simulation_results(simulation) : NULL;
    if (request->baseline && status == EXIT_DONE)
        status = baseline_add(simulation, document, request->quiet);
    bool is_written = !leads || results_write(simulation, document, request->results);
    bool logs_are_kept = !run->checkpoint.is_kept || logs_are_whole(&request->logs, &simulation->errors);
    run->goes_on = run->checkpoint.is_kept && (status == EXIT_INTERRUPTED || !is_written || !logs_are_kept);
    if (run->goes_on)
        logs_leave(&request->logs); /* they go on with it */
    else if (leads)
        logs_are_kept = logs_commit(&request->logs, simulation);
    if (leads && !request->quiet)
        print_summary(simulation, document, status);
    return logs_are_kept && is_written ? status : EXIT_IO;
}

/* Looks before the run whether the files can be written: the end of a long run is no time to find out. */
static int open_files(struct simulation *simulation, const char *results, struct logs *logs)
{
    int status = ranks_lead(simulation->ranks) ? results_try(results, &simulation->errors) : EXIT_DONE;
    return status == EXIT_DONE ? logs_open(logs, simulation) : status;
}

int run_agree(const struct ranks *ranks, const struct errors *errors, int status)
{
    if (ranks_first(ranks, errors->count > 0))
        errors_print(errors, stderr);
    return (int)ranks_largest(ranks, (uint64_t)status);
}

static int agree(const struct simulation *simulation, int status)
{
    return run_agree(simulation->ranks, &simulation->errors, status);
}

static int run_network(struct run *run)
{
    int status = agree(&run->simulation, run_built(run));
    logs_release(&run->request.logs);
    return status;
}

static int build_network(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    struct logs *logs = &run->request.logs;
    int status = simulation_build(simulation) ? open_files(simulation, run->request.results, logs) : EXIT_USAGE;
    const char *restless = run->checkpoint.path ? logs_restless(logs) : NULL;
    if (restless) {
        errors_add(
            &simulation->errors,
            "%s: found no regular file, expected one: with --checkpoint-every a log is gone on with after a restart",
            restless);
        status = EXIT_USAGE;
    }
    status = agree(simulation, status);
    if (status != EXIT_DONE)
        logs_release(logs);
    return status;
}

static bool load(struct simulation *simulation, const struct run_request *request)
{
    struct arena *arena = &simulation->setup;
    int count = request->arguments.override_count;
    char **overrides = arena_array(arena, char *, count + 3);
    memcpy(overrides, request->arguments.overrides, sizeof *overrides * (size_t)count);
    if (request->sync)
        overrides[count++] = arena_format(arena, "simulator.sync=%s", request->sync);
    if (request->threads)
        overrides[count++] = arena_format(arena, "simulator.threads=%s", request->threads);
    if (request->check_reversal)
        overrides[count++] = arena_text(arena, "simulator.check_reversal=true");
    return simulation_load(simulation, request->arguments.config, overrides, count);
}

/* Ranks that run different things would wait for each other for ever, or worse: a file may be an old copy somewhere. */
static int compare_settings(struct simulation *simulation)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    NEED(stream, "out of memory for the settings as text");
    json_write(stream, simulation->json, 0);
    fclose(stream);
    uint64_t hash = 0;
    for (size_t i = 0; i < length; i++)
        hash = random_mix(hash ^ (unsigned char)text[i]);
    free(text);
    bool is_same = ranks_largest(simulation->ranks, hash) == ~ranks_largest(simulation->ranks, ~hash);
    if (!is_same)
        errors_add(&simulation->errors, "flitwarp run: ranks have different settings; expected the same files and "
                                        "arguments for all of them");
    return agree(simulation, is_same ? EXIT_DONE : EXIT_USAGE);
}

/* The name of a run: no two have the same. */
static uint64_t draw_number(const struct ranks *ranks)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t number = random_mix((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) ^ (uint64_t)getpid();
    return ranks_largest(ranks, number);
}

/* FILE, the name of the results or that of the configuration, here. */
static const char *checkpoint_name(const struct run_request *request, struct arena *arena)
{
    const char *slash = strrchr(request->arguments.config, '/');
    const char *config = slash ? slash + 1 : request->arguments.config;
    if (request->checkpoint)
        return request->checkpoint;
    bool has_results = request->results && strcmp(request->results, "-") != 0;
    return arena_format(arena, "%s.checkpoint", has_results ? request->results : config);
}

/* Another file of the run that would be lost; NULL: none. */
static const char *file_of_that_name(const struct run_request *request, const char *name)
{
    if (request->results && strcmp(request->results, name) == 0)
        return "--results";
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++)
        if (request->logs.names[i] && strcmp(request->logs.names[i], name) == 0)
            return run_log_flag(i);
    return NULL;
}

int run_try_checkpoint(struct run *run)
{
    struct errors *errors = &run->simulation.errors;
    const char *path = run->checkpoint.path, *flag = file_of_that_name(&run->request, path);
    if (flag)
        errors_add(errors, "--checkpoint: '%s' is the file of %s too", path, flag);
    return !flag && checkpoint_file_is_free(path, errors) ? results_try(path, errors) : EXIT_USAGE;
}

static int plan_checkpoints(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    struct checkpoint *checkpoint = &run->checkpoint;
    if (simulation->config.model.component && simulation->config.simulator.check_reversal) {
        errors_add(
            &simulation->errors,
            "--checkpoint-every: found check_reversal with a model, expected one of them: that is a test of the model, "
            "not a long run");
        return EXIT_USAGE;
    }
    if (!checkpoint_read_every(checkpoint, run->request.checkpoint_every, &simulation->errors))
        return EXIT_USAGE;
    const struct ranks *ranks = simulation->ranks;
    checkpoint->path = checkpoint_name(&run->request, &simulation->setup);
    checkpoint->next_tick = checkpoint->ticks;
    checkpoint->ranks = simulation->ranks;
    checkpoint->facts = (struct checkpoint_facts){
        .run = draw_number(ranks), .ranks = ranks ? ranks->count : 1, .rank = ranks ? ranks->number : 0};
    return ranks_lead(ranks) ? run_try_checkpoint(run) : EXIT_DONE;
}

/* Settings into something that runs; an exit status, after messages. */
static int prepare(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    int status = agree(simulation, load(simulation, &run->request) ? EXIT_DONE : EXIT_USAGE);
    if (status == EXIT_DONE && simulation->ranks)
        status = compare_settings(simulation);
    if (status == EXIT_DONE && run->request.checkpoint_every)
        status = agree(simulation, plan_checkpoints(run));
    if (status != EXIT_DONE)
        return status;
    if (!simulation->config.model.component)
        return build_network(run);
    if (run->request.baseline) {
        errors_add(&simulation->errors, "flitwarp run: --baseline: a model has no applications to run alone");
        return agree(simulation, EXIT_USAGE);
    }
    return build_model(run);
}

int run_go_on(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    int status = simulation->config.model.component ? run_model(run) : run_network(run);
    if (run->checkpoint.path)
        checkpoint_end(&run->checkpoint, status != EXIT_INTERRUPTED && status != EXIT_IO);
    if (run->goes_on && ranks_lead(simulation->ranks))
        checkpoint_tell(&run->checkpoint);
    return status;
}

static int run_request(const struct run_request *request, const struct ranks *ranks)
{
    struct run *run = memory_take(sizeof *run);
    *run = (struct run){.request = *request};
    simulation_init(&run->simulation);
    if (ranks) {
        run->ranks = *ranks;
        run->simulation.ranks = &run->ranks;
    }
    if (request->checkpoint_every)
        heap_set_root(run);
    int status = prepare(run);
    if (status == EXIT_DONE)
        status = run_go_on(run);
    run_release(run);
    return status;
}

void run_release(struct run *run)
{
    simulation_release(&run->simulation);
    free(run);
}

static int join_ranks(const struct run_request *request)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct ranks ranks;
    int status = EXIT_USAGE;
    if (ranks_open(&ranks, &errors)) {
        status = run_request(request, &ranks);
        ranks_close(&ranks);
    } else if (ranks_launched_as() == 0) {
        errors_print(&errors, stderr);
    }
    arena_release(&arena);
    return status;
}

/* Where a checkpoint will find them again. */
static void keep_arguments(struct run_request *request)
{
    struct arguments *arguments = &request->arguments;
    char **overrides = memory_take(sizeof *overrides * ((size_t)arguments->override_count + 1));
    for (int i = 0; i < arguments->override_count; i++)
        overrides[i] = text_copy(arguments->overrides[i]);
    arguments->overrides = overrides;
    arguments->config = text_copy(arguments->config);
    for (const struct flag *flag = run_flags; flag->name; flag++) {
        const char **value = (const char **)(void *)((char *)request + flag->offset);
        if (flag->value && *value)
            *value = text_copy(*value);
    }
}

/* Before anything is built that is to be kept. */
static bool prepare_heap(struct run_request *request)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    if (request->checkpoint && !request->checkpoint_every)
        errors_add(&errors, "--checkpoint: there is no interval; expected --checkpoint-every as well");
    if (request->checkpoint_every && checkpoint_is_possible("--checkpoint-every", &errors)) {
        if (heap_fix())
            keep_arguments(request);
        else
            errors_add(&errors, "--checkpoint-every: the system has no room at the address that is kept for it: %s",
                       strerror(errno));
    }
    bool is_good = errors.count == 0;
    if (ranks_launched_as() == 0)
        errors_print(&errors, stderr);
    arena_release(&arena);
    return is_good;
}

static int cli_run(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--restart") == 0 || strncmp(argv[i], "--restart=", 10) == 0)
            return cli_restart(argc, argv);
    struct run_request request = {0};
    FILE *complains = ranks_launched_as() == 0 ? stderr : NULL;
    if (!arguments_read(&request.arguments, argc, argv, &run_command, &request, complains))
        return EXIT_USAGE;
    if (!prepare_heap(&request))
        return EXIT_USAGE;
    return ranks_launched() > 1 ? join_ranks(&request) : run_request(&request, NULL);
}

const struct command run_command = {
    .name = "run",
    .words = "CONFIG [PATH=VALUE ...]\n--restart FILE",
    .summary = "simulate; results as JSON",
    .flags = run_flags,
    .notes = "PATH=VALUE overrides a setting: network.router.num_vcs=4. flitwarp explain tells what there is. An "
             "interrupted\n"
             "run writes what was measured so far, marked as not complete.",
    .call = cli_run,
};
