/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program in miniature, see run.h: settings are loaded and compared over ranks, what they say is built, files are
 * looked at before the run and written after it. A network and a model go the same way.
 */
#include "run/run.h"

#include "base/heap.h"
#include "base/interrupt.h"
#include "base/loaded.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

int run_agree(const struct ranks *ranks, const struct errors *errors, int status)
{
    if (ranks_first(ranks, errors->count > 0))
        errors_print(errors, stderr);
    return (int)ranks_largest(ranks, (uint64_t)status);
}

static int run_all_agree(const struct run *run, int status)
{
    return run_agree(run->simulation.ranks, &run->simulation.errors, status);
}

/* ---- before ---- */

static int run_load(struct run *run)
{
    const struct run_request *request = &run->request;
    struct simulation *simulation = &run->simulation;
    struct arena *arena = &simulation->setup;
    int count = request->override_count;
    char **overrides = arena_array(arena, char *, count + 3);
    memcpy(overrides, request->overrides, sizeof *overrides * (size_t)count);
    if (request->sync)
        overrides[count++] = arena_format(arena, "simulator.sync=%s", request->sync);
    if (request->threads)
        overrides[count++] = arena_format(arena, "simulator.threads=%s", request->threads);
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
    int status = ranks_lead(simulation->ranks) ? results_try(run->request.results, &simulation->errors) : EXIT_DONE;
    if (status == EXIT_DONE && !run_is_model(run))
        status = logs_open(logs, simulation);
    const char *restless = run->checkpoint.path ? logs_restless(logs) : NULL;
    if (!restless)
        return status;
    errors_add(&simulation->errors,
               "%s: found no regular file, expected one: with --checkpoint-every a log is gone on with after a restart",
               restless);
    return EXIT_USAGE;
}

static int run_build(struct run *run)
{
    struct errors *errors = &run->simulation.errors;
    uint32_t before = errors->count;
    const char *log = logs_first(&run->request.logs);
    bool is_built = false;
    if (!run_is_model(run))
        is_built = simulation_build(&run->simulation);
    else if (run->request.baseline)
        errors_add(errors, "flitwarp run: --baseline: a model has no applications to run alone");
    else
        is_built = model_prepare(&run->model, &run->simulation);
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
    int status = run_is_model(run) ? model_run(&run->model, simulation) : simulation_run(simulation, stderr);
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
