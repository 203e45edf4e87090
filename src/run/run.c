/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program in miniature, see run.h: settings are loaded and compared over ranks, what they say is built, files are
 * looked at before the run and written after it. A network and a model go the same way.
 */
#include "run/run.h"

#include "base/heap.h"
#include "base/machine.h"
#include "base/checksum.h"
#include "base/text.h"
#include "metrics/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int run_agree(const struct ranks *ranks, const struct errors *errors, int status, FILE *said)
{
    if (ranks_first(ranks, errors->count > 0))
        errors_print(errors, said);
    return (int)ranks_largest(ranks, (uint64_t)status);
}

static int run_all_agree(const struct run *run, int status)
{
    return run_agree(run->simulation.ranks, &run->simulation.errors, status, run_said(run));
}

/* ---- a model of processes ---- */

bool model_prepare(struct model_run *run, struct simulation *simulation)
{
    const struct simulator_config *simulator = &simulation->config.simulator;
    const struct choice *choice = &simulation->config.model;
    run->model = (struct model){.ops = CHOICE_OPS(choice, struct model_ops),
                                .config = choice->config,
                                .choice = choice,
                                .seed = simulator->seed,
                                .tick_seconds = simulator->tick,
                                .arena = &simulation->built};
    run->settings = (struct process_settings){.sync = (enum process_sync)simulator->sync,
                                              .threads = simulator->threads,
                                              .partitions = simulator->partitions,
                                              .window = simulator->window,
                                              .check_reversal = simulator->check_reversal};
    run->model.ops->prepare(&run->model, &simulation->errors);
    const struct json *block = json_find(simulation->json, "simulator");
    if (simulator->device)
        node_error(&simulation->errors, block, "device", "a model does not run on a device; accepted: null");
    return simulation->errors.count == 0 &&
           process_run_check(&run->model, &run->settings, simulation->ranks, block, &simulation->errors);
}

static int model_run(struct model_run *run, struct simulation *simulation)
{
    stopwatch_start(&simulation->watch);
    process_run(&run->run);
    simulation_add_up(simulation);
    return run->run.is_complete ? EXIT_DONE : EXIT_INTERRUPTED;
}

static void model_add_sync(struct report *sync, const struct simulation *simulation, const struct process_run *run)
{
    const struct process_counts *counts = &run->counts;
    report_text(sync, "type", sync_name(run->settings.sync));
    report_count(sync, "threads", run->settings.threads);
    report_count(sync, "ranks", run->rank_count);
    if (simulation->ranks)
        report_count(sync, "largest_rank_bytes", simulation->largest_bytes);
    report_count(sync, "events", counts->handled);
    report_count(sync, "committed", counts->committed);
    report_count(sync, "rolled_back", counts->rolled_back);
    report_number(sync, "efficiency", 1 - (double)counts->rolled_back / (double)counts->committed);
    report_number(sync, "remote_share", counts->posted ? (double)counts->posted_away / (double)counts->posted : 0);
    report_count(sync, "primary_rollbacks", counts->primary);
    report_count(sync, "secondary_rollbacks", counts->secondary);
    report_count(sync, "gvt_count", run->meetings);
    report_number(sync, "events_per_second", (double)counts->committed / simulation->wall_seconds);
}

static struct json *model_results(const struct model_run *whole, struct simulation *simulation)
{
    const struct process_run *run = &whole->run;
    const struct model_ops *ops = run->model->ops;
    struct report root = results_begin(simulation);
    report_flag(&root, "complete", run->is_complete);
    report_text(&root, "outcome", run->is_complete ? "done" : "interrupted");
    struct report *block = report_block(&root, "simulation");
    results_add_run(block, simulation, run->totals.end_tick, run->totals.events, &run->digest);
    model_add_sync(report_block(block, "sync"), simulation, run);
    struct report *model = report_block(&root, "model");
    report_text(model, "type", ops->name);
    model->own = ops->reports;
    ops->results(run->model, &run->totals, model);
    report_json(&root, "applications", json_array(root.arena));
    if (ops->application)
        ops->application(run->model, &run->totals, report_item(&root, "applications"));
    return root.block;
}

/* ---- --baseline: how much longer each application takes beside the others than by itself ---- */

/* What an application took: the communication of its slowest rank, else all of it; not a number: it has no end. */
static double time_of(const struct json *results, uint32_t application)
{
    const struct json *block = json_at(json_find(results, "applications"), application);
    const struct json *whole = json_find(block, "completion_time");
    if (!whole || whole->type != JSON_NUMBER)
        return NAN;
    const struct json *communication = json_find(block, "communication_time");
    return communication ? json_find(communication, "max")->number : whole->number;
}

/* The network is built anew, by the settings at hand; one application runs. All ranks take part; the first has the time. */
static int run_alone(const struct simulation *together, uint32_t application, double *time)
{
    struct simulation simulation;
    simulation_init(&simulation);
    simulation.json = json_copy(&simulation.setup, together->json); /* goes into results, as the other does */
    simulation.config = together->config;
    simulation.ranks = together->ranks;
    bool is_built = simulation_build(&simulation) && simulation_make_ready(&simulation);
    errors_print(&simulation.errors, stderr);
    int status = (int)ranks_largest(together->ranks, is_built ? EXIT_DONE : EXIT_USAGE);
    if (status == EXIT_DONE) {
        simulation.workload.alone = application;
        simulation.workload.interrupt = interrupt_catch();
        status = simulation_run(&simulation, stderr);
    }
    if (status == EXIT_DONE && ranks_lead(together->ranks))
        *time = time_of(simulation_results(&simulation), application);
    simulation_release(&simulation);
    return status;
}

/*
 * After a run of all applications: runs each that comes to an end by itself, where it was and with its own random
 * numbers, and adds `alone_time` and `slowdown` to its block of the results (NULL: another rank has them). Returns an
 * exit status.
 */
static int baseline_add(struct simulation *together, struct json *results, bool quiet)
{
    struct arena *arena = &together->setup;
    int status = EXIT_DONE;
    for (uint32_t i = 0; i < together->workload.count; i++) {
        double time = results ? time_of(results, i) : NAN, alone = NAN;
        if (status == EXIT_DONE && ranks_largest(together->ranks, !isnan(time)))
            status = run_alone(together, i, &alone);
        if (!results)
            continue;
        struct json *block = json_at(json_find(results, "applications"), i);
        json_add(block, "alone_time", json_number_f64(arena, alone));
        json_add(block, "slowdown", json_number_f64(arena, time / alone));
        if (!quiet && time / alone > 0)
            fprintf(stderr, "%s: %.6g ticks, %.6g alone: slowdown %.4g\n", together->workload.applications[i].name,
                    time, alone, time / alone);
    }
    return status;
}

/* ---- before ---- */

static int run_load(struct run *run)
{
    const struct run_request *request = &run->request;
    struct simulation *simulation = &run->simulation;
    struct arena *arena = &simulation->setup;
    int count = request->override_count;
    char **overrides = arena_array(arena, char *, count + 4);
    memcpy(overrides, request->overrides, sizeof *overrides * (size_t)count);
    if (request->sync)
        overrides[count++] = arena_format(arena, "simulator.sync=%s", request->sync);
    if (request->threads)
        overrides[count++] = arena_format(arena, "simulator.threads=%s", request->threads);
    if (request->device)
        overrides[count++] = arena_format(arena, "simulator.device=%s", request->device);
    if (request->check_reversal)
        overrides[count++] = arena_text(arena, "simulator.check_reversal=true");
    return simulation_load(simulation, request->config, overrides, count) ? EXIT_DONE : EXIT_USAGE;
}

/* Ranks that run different things would wait for each other for ever, or worse: a file may be an old copy somewhere. */
static int compare_settings(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    struct text text = {0};
    json_write_text(&text, simulation->json, 0);
    uint64_t hash = bytes_checksum(text.chars, text.length);
    text_release(&text);
    bool is_same = ranks_largest(simulation->ranks, hash) == ~ranks_largest(simulation->ranks, ~hash);
    if (!is_same)
        errors_add(&simulation->errors, "flitwarp run: ranks have different settings; expected the same files and "
                                        "arguments for all of them");
    return is_same ? EXIT_DONE : EXIT_USAGE;
}

/* Looks before the run whether the files can be written: the end of a long run is no time to find out. */
static int run_open_files(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    struct logs *logs = &run->request.logs;
    int status = run_check_names(run);
    if (status == EXIT_DONE && ranks_lead(simulation->ranks)) {
        run_note_data(simulation);
        status = results_try(run->request.results, &simulation->errors);
    }
    if (status == EXIT_DONE && !run_is_model(run))
        status = logs_open(logs, simulation);
    const char *restless = run->checkpoint.path ? logs_restless(logs) : NULL;
    if (!restless)
        return status;
    return errors_end(
        EXIT_USAGE, &simulation->errors,
        "%s: found no regular file, expected one: with --checkpoint-every a log is gone on with after a restart",
        restless);
}

static int run_build(struct run *run)
{
    struct errors *errors = &run->simulation.errors;
    uint32_t before = errors->count;
    const char *log = logs_first(&run->request.logs);
    bool is_built = false;
    if (!run_is_model(run)) {
        is_built = simulation_build(&run->simulation);
        if (run->request.many)
            many_note_built(&run->request);
        is_built = is_built && simulation_make_ready(&run->simulation);
    } else if (run->request.baseline) {
        errors_add(errors, "flitwarp run: --baseline: a model has no applications to run alone");
    } else {
        is_built = model_prepare(&run->model, &run->simulation);
    }
    if (run_is_model(run) && !run->request.baseline && log)
        errors_add(errors, "flitwarp run: %s: a model has no packets or channels to log", log);
    return is_built && errors->count == before ? run_open_files(run) : EXIT_USAGE;
}

/* Settings into something that runs; an exit status, after messages. */
static int run_prepare(struct run *run)
{
    int status = run_all_agree(run, run_load(run));
    if (status == EXIT_DONE && run->simulation.ranks)
        status = run_all_agree(run, compare_settings(run));
    if (status == EXIT_DONE && run->request.checkpoint_every)
        status = run_all_agree(run, run_plan_checkpoints(run));
    if (status == EXIT_DONE)
        status = run_all_agree(run, run_build(run));
    if (status != EXIT_DONE)
        run_logs_end(&run->request.logs.run, csv_discard, NULL);
    else if (run_is_model(run))
        process_run_init(&run->model.run, &run->model.model, &run->model.settings, run->simulation.ranks);
    return status;
}

/* ---- the run ---- */

static void watch_signals(struct run *run)
{
    const volatile sig_atomic_t *interrupt = interrupt_catch();
    if (run->checkpoint.path) {
        run_take_checkpoints(run);
        interrupt = &run->checkpoint.stops;
    }
    if (run_is_model(run))
        run->model.run.interrupt = interrupt;
    else
        run->simulation.workload.interrupt = interrupt;
}

/* Of several ranks the first writes, once all numbers are put together. */
static int run_write_files(struct run *run, int status)
{
    struct simulation *simulation = &run->simulation;
    struct run_request *request = &run->request;
    bool leads = ranks_lead(simulation->ranks);
    struct json *document = NULL;
    if (leads)
        document = run_is_model(run) ? model_results(&run->model, simulation) : simulation_results(simulation);
    if (request->baseline && status == EXIT_DONE)
        status = baseline_add(simulation, document, request->quiet);
    bool is_written = !leads || results_write(simulation, document, request->results);
    bool logs_are_kept = !run->checkpoint.is_kept || logs_all(&request->logs, csv_is_whole, &simulation->errors);
    run->goes_on = run->checkpoint.is_kept && (status == EXIT_INTERRUPTED || !is_written || !logs_are_kept);
    if (run->goes_on)
        run_logs_end(&request->logs.run, csv_leave, NULL); /* they go on with it */
    else if (leads)
        logs_are_kept = logs_commit(&request->logs, simulation);
    if (leads && !request->quiet)
        run_print_summary(run, document, status);
    return logs_are_kept && is_written ? status : EXIT_IO;
}

int run_go_on(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    progress_start(run);
    watch_signals(run);
    int status = run_is_model(run) ? model_run(&run->model, simulation) : simulation_run(simulation, run_said(run));
    progress_clear(run);
    status = run_all_agree(run, run_write_files(run, status));
    run_logs_end(&run->request.logs.run, csv_discard, NULL);
    if (run_is_model(run))
        process_run_release(&run->model.run);
    if (run->checkpoint.path)
        checkpoint_end(&run->checkpoint, status != EXIT_INTERRUPTED && status != EXIT_IO);
    if (run->goes_on && ranks_lead(simulation->ranks))
        checkpoint_tell(&run->checkpoint);
    return status;
}

void run_release(struct run *run)
{
    simulation_release(&run->simulation);
    free(run);
}

/* ---- from the beginning to the end ---- */

static int run_from_start(const struct run_request *request, const struct ranks *ranks)
{
    struct run *run = memory_take(sizeof *run);
    run->request = *request;
    simulation_init(&run->simulation);
    if (ranks) {
        run->ranks = *ranks;
        run->simulation.ranks = &run->ranks;
    }
    if (request->many)
        run->simulation.batch = request->many->batch;
    if (request->checkpoint_every)
        heap_set_root(run);
    int status = run_prepare(run);
    if (status == EXIT_DONE)
        status = run_go_on(run);
    run_release(run);
    return status;
}

int run_whole(const struct run_request *request)
{
    int (*const runs)(const struct run_request *, const struct ranks *) =
        request->restart ? run_restart : run_from_start;
    if (ranks_launched() <= 1)
        return runs(request, NULL);
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct ranks ranks;
    int status = EXIT_USAGE;
    if (ranks_open(&ranks, &errors)) {
        status = runs(request, &ranks);
        ranks_close(&ranks);
    } else if (ranks_launched_as() == 0) {
        errors_print(&errors, stderr);
    }
    arena_release(&arena);
    return status;
}
