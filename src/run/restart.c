/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a run, see run.h: their name and interval; the rest of network and logs while one is written; and going
 * on from the last one. All that a run was told is in the file: what may change then is where results go and when the next
 * checkpoints are written.
 */
#include "run/run.h"

#include "base/need.h"
#include "base/heap.h"
#include "flitwarp/random.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool run_fix_heap(const struct run_request *request, struct errors *errors)
{
    if (request->checkpoint && !request->checkpoint_every)
        errors_add(errors, "--checkpoint: there is no interval; expected --checkpoint-every as well");
    if (request->checkpoint_every && checkpoint_is_possible("--checkpoint-every", errors) && !heap_fix())
        errors_add(errors, "--checkpoint-every: the system has no room at the address that is kept for it: %s",
                   strerror(errno));
    return errors->count == 0;
}

/* ---- planning ---- */

/* FILE, the name of the results or that of the configuration, here. */
static const char *checkpoint_name(const struct run_request *request, struct arena *arena)
{
    const char *slash = strrchr(request->config, '/');
    const char *config = slash ? slash + 1 : request->config;
    if (request->checkpoint)
        return request->checkpoint;
    bool has_results = request->results && strcmp(request->results, "-") != 0;
    return arena_format(arena, "%s.checkpoint", has_results ? request->results : config);
}

/* Looks whether checkpoints can be written by their name, and replace nothing else; an exit status, with errors. */
static int run_try_name(struct run *run)
{
    struct errors *errors = &run->simulation.errors;
    const char *path = run->checkpoint.path;
    int status = run_check_names(run);
    if (status == EXIT_DONE && !checkpoint_file_is_free(path, errors))
        status = EXIT_USAGE;
    return status == EXIT_DONE ? results_try(path, errors) : status;
}

int run_plan_checkpoints(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    struct checkpoint *checkpoint = &run->checkpoint;
    if (run_is_model(run) && simulation->config.simulator.check_reversal)
        return errors_end(EXIT_USAGE, &simulation->errors,
                          "--checkpoint-every: found check_reversal with a model, expected one of them: that is a test "
                          "of the model, not a long run");
    if (simulation->config.simulator.device)
        return errors_end(
            EXIT_USAGE, &simulation->errors,
            "--checkpoint-every: found simulator.device, expected one of them: a checkpoint keeps nothing "
            "of a device");
    if (!checkpoint_read_every(checkpoint, run->request.checkpoint_every, &simulation->errors))
        return EXIT_USAGE;
    const struct ranks *ranks = simulation->ranks;
    checkpoint->path = checkpoint_name(&run->request, &simulation->setup);
    checkpoint->next_tick = checkpoint->ticks;
    checkpoint->ranks = simulation->ranks;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t drawn = random_mix((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) ^ (uint64_t)getpid();
    checkpoint->facts = (struct checkpoint_facts){.run = ranks_largest(ranks, drawn), /* no two runs have the same */
                                                  .ranks = ranks ? ranks->count : 1,
                                                  .rank = ranks ? ranks->number : 0};
    return ranks_lead(ranks) ? run_try_name(run) : EXIT_DONE;
}

/* ---- writing ---- */

/* Nothing of the run may lie outside its heap when that is written. */
static void take_checkpoint(void *context, tick_t now)
{
    struct run *run = context;
    struct simulation *simulation = &run->simulation;
    bool logs_are_whole = logs_all(&run->request.logs, csv_rest, NULL);
    stopwatch_note(&simulation->watch);
    checkpoint_write(&run->checkpoint, now, logs_are_whole);
    if (!logs_all(&run->request.logs, csv_wake, &simulation->errors)) {
        errors_print(&simulation->errors, stderr);
        check_end(EXIT_IO);
    }
}

/* After a grid point. */
static void pause_network(void *context, tick_t now)
{
    struct run *run = context;
    if (!ranks_largest(run->simulation.ranks, checkpoint_is_due(&run->checkpoint, now)))
        return;
    network_rest(&run->simulation.network);
    take_checkpoint(run, now);
}

static bool model_wants_pause(void *context, tick_t now)
{
    const struct run *run = context;
    return checkpoint_is_due(&run->checkpoint, now);
}

void run_take_checkpoints(struct run *run)
{
    struct workload *workload = &run->simulation.workload;
    checkpoint_begin(&run->checkpoint);
    workload->pause = pause_network;
    workload->pause_context = run;
    run->model.run.pauses = (struct process_pauses){model_wants_pause, take_checkpoint, run};
}

/* ---- going on from one ---- */

/* What was told this time; in the run's own memory. */
static void run_change(struct run *run, const struct run_request *told)
{
    struct arena *arena = &run->simulation.setup;
    struct checkpoint *checkpoint = &run->checkpoint;
    checkpoint_clean(checkpoint);
    run->request.restart = arena_text(arena, told->restart);
    if (told->results)
        run->request.results = arena_text(arena, told->results);
    checkpoint->is_kept = !told->checkpoint; /* by that name */
    if (told->checkpoint)
        checkpoint->path = arena_text(arena, told->checkpoint);
    if (told->checkpoint_every) {
        checkpoint_read_every(checkpoint, told->checkpoint_every, &run->simulation.errors);
        checkpoint->next_tick = checkpoint->facts.tick + checkpoint->ticks;
    }
    run->request.quiet |= told->quiet;
    run->simulation.restarts++;
}

/* Files and ranks are the only things outside its memory. */
static int run_reach_out(struct run *run, const struct ranks *ranks)
{
    struct errors *errors = &run->simulation.errors;
    if (ranks)
        run->ranks = *ranks;
    if (!ranks_lead(ranks))
        return EXIT_DONE;
    int status = results_try(run->request.results, errors);
    if (status == EXIT_DONE)
        status = run_try_name(run);
    return status == EXIT_DONE && !logs_all(&run->request.logs, csv_wake, errors) ? EXIT_USAGE : status;
}

/* Puts the heap back to where it was; an exit status, after messages. */
static int run_restore(const char *path, const struct ranks *ranks)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct checkpoint_file *file = NULL;
    if (checkpoint_is_possible("--restart", &errors))
        file = checkpoint_open(path, ranks, &errors);
    int status = run_agree(ranks, &errors, file ? EXIT_DONE : EXIT_USAGE, stderr);
    if (status == EXIT_DONE)
        status = run_agree(ranks, &errors, checkpoint_file_restore(file, &errors) ? EXIT_DONE : EXIT_USAGE, stderr);
    checkpoint_file_close(file);
    arena_release(&arena);
    return status;
}

int run_restart(const struct run_request *request, const struct ranks *ranks)
{
    int status = run_restore(request->restart, ranks);
    if (status != EXIT_DONE)
        return status;
    struct run *run = heap_root();
    run_change(run, request);
    status = run_agree(ranks, &run->simulation.errors, run_reach_out(run, ranks), stderr);
    if (status == EXIT_DONE)
        status = run_go_on(run);
    else
        run_logs_end(&run->request.logs.run, csv_leave, NULL);
    run_release(run);
    return status;
}
