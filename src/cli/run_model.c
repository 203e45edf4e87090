/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp run and check for a configuration with a model: prepare, run over
 * threads, write the results.
 */
#include "cli/run.h"

#include "run/interrupt.h"
#include "run/resources.h"
#include "engine/process_run.h"
#include "workload/report.h"

#include <unistd.h>

#define ADD_U64(object, key, value) json_add(object, key, json_number_u64(arena, value))
#define ADD_F64(object, key, value) json_add(object, key, json_number_f64(arena, value))

/* The model and its settings; false with errors. */
static bool prepare(struct simulation *simulation, struct model *model, struct process_settings *settings,
                    struct ranks *ranks)
{
    const struct simulator_config *simulator = &simulation->config.simulator;
    const struct choice *choice = &simulation->config.model;
    *model = (struct model){.ops = CHOICE_OPS(choice, struct model_ops),
                            .config = choice->config,
                            .choice = choice,
                            .seed = simulator->seed,
                            .tick_seconds = simulator->tick,
                            .arena = &simulation->built};
    *settings = (struct process_settings){.sync = (enum process_sync)simulator->sync,
                                          .threads = simulator->threads,
                                          .partitions = simulator->partitions,
                                          .window = simulator->window,
                                          .check_reversal = simulator->check_reversal};
    model->ops->prepare(model, &simulation->errors);
    const struct json *block = json_find(simulation->json, "simulator");
    return simulation->errors.count == 0 && process_run_check(model, settings, ranks, block, &simulation->errors);
}

struct progress {
    const char *time; /* what the time that is shown is called */
    double start, last;
    bool shown;
};

/* Twice a second on a terminal. */
static void show_progress(void *context, const struct process_progress *now)
{
    struct progress *progress = context;
    double time = wall_seconds();
    if (time - progress->last < 0.5)
        return;
    progress->last = time;
    progress->shown = true;
    fprintf(stderr, "\r%s %-14llu %.3g M events/s  efficiency %.3f  %.0f s \033[K", progress->time,
            (unsigned long long)now->time, 1e-6 * (double)now->events / (time - progress->start), now->efficiency,
            time - progress->start);
}

static struct json *sync_block(struct simulation *simulation, const struct process_run *run)
{
    struct arena *arena = &simulation->setup;
    const struct process_counts *counts = &run->counts;
    struct json *sync = json_object(arena);
    json_add(sync, "type", json_text(arena, sync_name(run->settings.sync)));
    ADD_U64(sync, "threads", run->settings.threads);
    ADD_U64(sync, "ranks", run->rank_count);
    ADD_U64(sync, "events", counts->handled);
    ADD_U64(sync, "committed", counts->committed);
    ADD_U64(sync, "rolled_back", counts->rolled_back);
    ADD_F64(sync, "efficiency", 1 - (double)counts->rolled_back / (double)counts->committed);
    ADD_F64(sync, "remote_share", counts->posted ? (double)counts->posted_away / (double)counts->posted : 0);
    ADD_U64(sync, "primary_rollbacks", counts->primary);
    ADD_U64(sync, "secondary_rollbacks", counts->secondary);
    ADD_U64(sync, "gvt_count", run->meetings);
    ADD_F64(sync, "events_per_second", (double)counts->committed / simulation->wall_seconds);
    return sync;
}

static struct json *results(struct simulation *simulation, const struct process_run *run)
{
    struct arena *arena = &simulation->setup;
    struct json *root = results_document(simulation);
    json_add(root, "complete", json_bool(arena, run->is_complete));
    json_add(root, "outcome", json_text(arena, run->is_complete ? "done" : "interrupted"));
    struct json *block = json_add(root, "simulation", json_object(arena));
    char digest[33];
    digest_text(&run->digest, digest);
    ADD_U64(block, "end_tick", run->totals.end_tick);
    ADD_U64(block, "events", run->totals.events);
    ADD_F64(block, "cpu_seconds", simulation->cpu_seconds);
    ADD_F64(block, "wall_seconds", simulation->wall_seconds);
    ADD_U64(block, "peak_rss_bytes", simulation->peak_bytes);
    if (simulation->restarts)
        ADD_U64(block, "restarts", simulation->restarts);
    json_add(block, "digest", json_text(arena, digest));
    json_add(block, "sync", sync_block(simulation, run));
    struct report report = {json_add(root, "model", json_object(arena)), arena};
    json_add(report.block, "type", json_text(arena, run->model->ops->name));
    run->model->ops->results(run->model, &run->totals, &report);
    struct json *applications = json_add(root, "applications", json_array(arena));
    if (run->model->ops->application) {
        struct report application = {json_append(applications, json_object(arena)), arena};
        run->model->ops->application(run->model, &run->totals, &application);
    }
    return root;
}

static void print_summary(const struct simulation *simulation, const struct process_run *run)
{
    fprintf(stderr, "%s: %llu events to tick %llu, %.3g million a CPU second\n", run->model->ops->name,
            (unsigned long long)run->totals.events, (unsigned long long)run->totals.end_tick,
            1e-6 * (double)run->totals.events / simulation->cpu_seconds);
    if (run->model->ops->print_summary)
        run->model->ops->print_summary(run->model, &run->totals, stderr);
}

/* Whether the workers are to come to rest, and what is done then. */
static bool wants_pause(void *context, tick_t now)
{
    const struct run *run = context;
    return checkpoint_is_due(&run->checkpoint, now);
}

static void pause_model(void *context, tick_t now)
{
    struct run *run = context;
    stopwatch_note(&run->simulation.watch);
    checkpoint_write(&run->checkpoint, now, true);
}

static void watch_signals(struct run *run)
{
    struct process_run *process_run = &run->model.run;
    process_run->interrupt = interrupt_catch();
    if (!run->checkpoint.path)
        return;
    checkpoint_begin(&run->checkpoint);
    process_run->interrupt = &run->checkpoint.stops;
    process_run->pauses = (struct process_pauses){wants_pause, pause_model, run};
}

static void time_run(struct run *whole, struct progress *progress, bool shows)
{
    struct simulation *simulation = &whole->simulation;
    struct process_run *run = &whole->model.run;
    progress->start = progress->last = wall_seconds();
    progress->time = run->settings.sync == SYNC_OPTIMISTIC ? "GVT" : "tick";
    run->progress = shows && isatty(STDERR_FILENO) ? show_progress : NULL; /* another process may have shown it */
    run->progress_context = progress;
    watch_signals(whole);
    stopwatch_start(&simulation->watch);
    process_run(run);
    simulation_add_up(simulation);
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
}

/* Rank 0 alone writes; all of them have the same numbers. */
int run_model(struct run *whole)
{
    struct simulation *simulation = &whole->simulation;
    struct process_run *run = &whole->model.run;
    bool leads = run->rank == 0, is_told = leads && !whole->request.quiet;
    struct progress progress = {0};
    time_run(whole, &progress, is_told);
    bool is_written = !leads || results_write(simulation, results(simulation, run), whole->request.results);
    if (is_told)
        print_summary(simulation, run);
    errors_print(&simulation->errors, stderr);
    int status = !is_written ? EXIT_IO : run->is_complete ? EXIT_DONE : EXIT_INTERRUPTED;
    status = (int)ranks_largest(run->ranks, (uint64_t)status);
    whole->goes_on = whole->checkpoint.is_kept && status != EXIT_DONE;
    process_run_release(run);
    return status;
}

int build_model(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    struct ranks *ranks = simulation->ranks;
    struct model_run *built = &run->model;
    const char *path = run->request.results, *log = logs_first(&run->request.logs);
    bool is_good = prepare(simulation, &built->model, &built->settings, ranks), leads = ranks_lead(ranks);
    if (log)
        errors_add(&simulation->errors, "flitwarp run: %s: a model has no packets or channels to log", log);
    int status = !is_good || log ? EXIT_USAGE : leads ? results_try(path, &simulation->errors) : EXIT_DONE;
    if (status != EXIT_DONE && leads)
        errors_print(&simulation->errors, stderr);
    status = (int)ranks_largest(ranks, (uint64_t)status);
    if (status == EXIT_DONE)
        process_run_init(&built->run, &built->model, &built->settings, ranks);
    return status;
}

int check_model(struct simulation *simulation)
{
    struct model model;
    struct process_settings settings;
    if (!prepare(simulation, &model, &settings, NULL)) {
        errors_print(&simulation->errors, stderr);
        return EXIT_USAGE;
    }
    printf("settings: correct\n");
    printf("model: %s, %llu processes, lookahead %llu ticks\n", model.ops->name,
           (unsigned long long)model.expected_processes, (unsigned long long)model.lookahead);
    return EXIT_DONE;
}
