/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stencil: ranks at the points of a grid compute, exchange halos with their
 * neighbours, and take part in a collective operation, some times over. A rank goes
 * on when what it waits for has arrived, whatever the others do; neighbours can be
 * one iteration ahead at most, so messages are kept by the parity of theirs.
 *
 *   compute -> send halos -> all halos here -> collective, round by round -> compute ...
 */
#include "flitwarp/steady.h"

#include "flitwarp/motif.h"
#include "metrics/statistics.h"
#include "workload/trace/collective.h"

#define STEPS 64 /* tag = iteration * STEPS + step; step 0: halos, n: round n - 1 of the collective */

enum { COLLECTIVE_NONE, COLLECTIVE_BARRIER, COLLECTIVE_ALLREDUCE };
static const char *const collective_names[] = {"none", "barrier", "allreduce", NULL};

struct stencil_config {
    struct application_config common;
    struct u32_list ranks, halo;
    bool wraps;
    uint32_t iterations, collective, collective_flits;
    uint64_t compute;
    struct errand_config errand;
};

static const struct option stencil_options[] = {
    OPTION_U32_LIST(struct stencil_config, ranks, REQUIRED, 1, 65536, NULL, "the grid: ranks along 1 to 3 dimensions"),
    OPTION_U32_LIST(struct stencil_config, halo, "[1]", 1, 1 << 30, "flits",
                    "of a face, of an edge, of a corner; neighbours are those that have a number"),
    OPTION_BOOL(struct stencil_config, wraps, "true",
                "whether the first and the last along a dimension are neighbours"),
    OPTION_U32(struct stencil_config, iterations, "10", 1, 1e7, NULL, "how often halos are exchanged"),
    OPTION_TICKS(struct stencil_config, compute, "0", 0, 1e12, "time of a rank between two exchanges"),
    OPTION_ENUM(struct stencil_config, collective, "\"none\"", collective_names, "at the end of an iteration"),
    OPTION_U32(struct stencil_config, collective_flits, "1", 1, 1 << 30, "flits", "messages of the collective",
               ONLY_WITH("collective")),
    OPTION_ROWS(struct stencil_config, errand, struct errand_config, errand_options),
    OPTION_ROWS(struct stencil_config, common, struct application_config, application_options),
    OPTION_END,
};

/* What a rank knows. */
struct cell {
    uint32_t iteration, step;
    bool is_computing;
    uint32_t halos_due; /* in an iteration */
    uint32_t halos[2];  /* that have arrived, by parity of the iteration */
    uint64_t rounds[2]; /* set of rounds whose message has arrived */
    tick_t begun;       /* this iteration */
};

struct stencil {
    struct halo_grid grid;
    struct plan collective;
    uint32_t rounds;                 /* of the collective */
    struct cell *cells;              /* by rank */
    struct histogram iteration_time; /* of all ranks */
};

static bool stencil_take_widths(struct stencil *stencil, const struct application *application, struct errors *errors)
{
    const struct stencil_config *config = application->config;
    uint64_t ranks = 1;
    stencil->grid = (struct halo_grid){.wraps = config->wraps, .kinds = config->halo.count};
    for (uint32_t d = 0; d < 3; d++)
        ranks *= stencil->grid.width[d] = d < config->ranks.count ? config->ranks.items[d] : 1;
    if (config->ranks.count == 0 || config->ranks.count > 3)
        return choice_error(errors, application->choice, "ranks", "%u dimensions; accepted: 1 to 3",
                            config->ranks.count);
    if (ranks != application->ranks)
        return choice_error(errors, application->choice, "ranks", "a grid of %llu for an application on %u terminals",
                            (unsigned long long)ranks, application->ranks);
    if (config->halo.count == 0 || config->halo.count > config->ranks.count)
        return choice_error(errors, application->choice, "halo", "%u numbers for %u dimensions; accepted: 1 to %u",
                            config->halo.count, config->ranks.count, config->ranks.count);
    return true;
}

/* Barriers by dissemination, sums by recursive doubling. */
static void plan_collective(struct stencil *stencil, uint32_t collective, uint32_t ranks)
{
    if (collective == COLLECTIVE_NONE)
        return;
    stencil->collective.ranks = ranks;
    stencil->collective.algorithm = collective == COLLECTIVE_BARRIER
                                        ? collective_find(OPERATION_BARRIER, "dissemination")
                                        : collective_find(OPERATION_ALLREDUCE, "recursive_doubling");
    stencil->rounds = plan_shape(&stencil->collective).steps;
}

static void stencil_prepare(struct application *application, struct errors *errors)
{
    const struct stencil_config *config = application->config;
    struct stencil *stencil = application->state = arena_array(application->arena, struct stencil, 1);
    if (!stencil_take_widths(stencil, application, errors))
        return;
    plan_collective(stencil, config->collective, application->ranks);
    application->max_message = config->collective == COLLECTIVE_NONE ? 0 : config->collective_flits;
    for (uint32_t i = 0; i < config->halo.count; i++)
        if (config->halo.items[i] > application->max_message)
            application->max_message = config->halo.items[i];
    stencil->cells = arena_array(application->arena, struct cell, application->ranks);
    application_share_samples(application, &stencil->iteration_time);
    errand_prepare(application, &config->errand, application->ranks);
}

static void stencil_phase_changed(struct application *application, tick_t now)
{
    const struct stencil_config *config = application->config;
    struct stencil *stencil = application->state;
    for (uint32_t rank = 0; application->phase == PHASE_GENERATING && rank < application->ranks; rank++) {
        stencil->cells[rank].begun = now + config->errand.delay;
        stencil->cells[rank].is_computing = true;
        application_wake_at(application, rank, now + config->errand.delay + config->compute);
    }
}

/* What a rank sends when its step begins. */
static void stencil_send(struct application *application, uint32_t rank)
{
    const struct stencil_config *config = application->config;
    struct stencil *stencil = application->state;
    struct cell *cell = &stencil->cells[rank];
    struct neighbour neighbours[MAX_NEIGHBOURS];
    uint32_t tag = cell->iteration * STEPS + cell->step;
    if (cell->step) {
        uint32_t to = plan_step(&stencil->collective, rank, cell->step - 1).send.peer;
        if (to != FW_NONE)
            application_send_tagged(application, rank, to, config->collective_flits, tag);
        return;
    }
    cell->halos_due = halo_grid_neighbours(&stencil->grid, rank, neighbours);
    for (uint32_t i = 0; i < cell->halos_due; i++)
        application_send_tagged(application, rank, neighbours[i].rank, config->halo.items[neighbours[i].kind - 1], tag);
}

/* Whether all that a rank waits for in its step has arrived, which is forgotten then. */
static bool stencil_ends_step(const struct stencil *stencil, uint32_t rank, struct cell *cell)
{
    uint32_t parity = cell->iteration % 2;
    if (cell->step == 0) {
        bool is_over = cell->halos[parity] >= cell->halos_due;
        cell->halos[parity] = is_over ? 0 : cell->halos[parity];
        return is_over;
    }
    uint64_t round = (uint64_t)1 << (cell->step - 1);
    bool expects = plan_step(&stencil->collective, rank, cell->step - 1).receive.peer != FW_NONE;
    if (expects && !(cell->rounds[parity] & round))
        return false;
    cell->rounds[parity] &= ~round;
    return true;
}

/* On to the next iteration. False: there is none, or nothing to do before compute is over. */
static bool stencil_advance(struct application *application, uint32_t rank, tick_t now)
{
    const struct stencil_config *config = application->config;
    struct stencil *stencil = application->state;
    struct cell *cell = &stencil->cells[rank];
    application_sample(application, &stencil->iteration_time, now - cell->begun);
    application_note_latest(application, &application->window.ended, now);
    cell->begun = now;
    cell->step = 0;
    cell->is_computing = true;
    if (++cell->iteration == config->iterations) {
        application_count(application, &application->window.left, -1);
        return false;
    }
    if (config->compute)
        application_wake_at(application, rank, now + config->compute);
    return config->compute == 0;
}

/* Goes on as far as what has arrived allows. */
static void stencil_go_on(struct application *application, uint32_t rank, tick_t now)
{
    struct stencil *stencil = application->state;
    struct cell *cell = &stencil->cells[rank];
    for (bool goes_on = application->phase != PHASE_DRAINING; goes_on;) {
        if (!cell->is_computing && !stencil_ends_step(stencil, rank, cell))
            return;
        if (!cell->is_computing && cell->step++ == stencil->rounds) {
            goes_on = stencil_advance(application, rank, now);
            continue;
        }
        cell->is_computing = false;
        stencil_send(application, rank);
    }
}

static void stencil_received(struct application *application, uint32_t rank, const struct message *message, tick_t now)
{
    struct stencil *stencil = application->state;
    struct cell *cell = &stencil->cells[rank];
    uint32_t iteration = message->tag / STEPS, step = message->tag % STEPS;
    FW_CHECK(iteration - cell->iteration <= 1, "tick %llu rank %u: iteration %u hears of iteration %u",
             (unsigned long long)now, rank, cell->iteration, iteration);
    if (step)
        cell->rounds[iteration % 2] |= (uint64_t)1 << (step - 1);
    else
        cell->halos[iteration % 2]++;
    if (!cell->is_computing)
        stencil_go_on(application, rank, now);
}

static void stencil_report(const struct application *application, struct report *report)
{
    const struct stencil_config *config = application->config;
    const struct stencil *stencil = application->state;
    report_number(report, "iterations", config->iterations);
    window_report(application, report);
    report_summary(report, "iteration_time", &stencil->iteration_time);
}

static const struct result stencil_reports[] = {
    RESULT("iterations", COUNT, NULL, "iterations in the configuration"),
    RESULT("completion_time", NUMBER, "ticks", "from its start to the last arrival; null when it was interrupted"),
    RESULT("iteration_time", SUMMARY, "ticks", "of iterations, over all ranks"),
    RESULT_END,
};

static const struct application_ops stencil = {
    COMPONENT("stencil", "halo exchange on a grid of ranks, with a collective after it", stencil_options,
              "{\"type\": \"stencil\", \"ranks\": [4, 4, 4], \"halo\": [16, 4, 1], \"iterations\": 5, "
              "\"collective\": \"allreduce\"}"),
    .reports = stencil_reports,
    .prepare = stencil_prepare,
    .wake = stencil_go_on, /* compute is over */
    .received = stencil_received,
    .phase_changed = stencil_phase_changed,
    .check = window_check,
    .report = stencil_report,
};
REGISTER_APPLICATION(stencil);
