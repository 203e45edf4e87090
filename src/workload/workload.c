/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leading the applications through their phases. Whatever needs a view of the
 * whole is decided at the points of a fixed grid of ticks, from what is true
 * there, and takes effect at the next point: so it depends neither on partitions
 * nor on the order of events.
 */
#include "workload/workload.h"

#include "flitwarp/steady.h"
#include "network/failures/retries.h"
#include "network/network.h"

#include <math.h>
#include <string.h>

const char *phase_name(enum phase phase)
{
    static const char *const names[] = {"warming", "generating", "finishing", "draining"};
    return names[phase];
}

/* What the parts of this rank have counted of an application. */
static void gather_parts(struct workload *workload, uint32_t application, enum result_moment moment)
{
    struct measurement *whole = &workload->measurements[application];
    struct network_runner *runner = workload->network->core->runner;
    if (runner)
        runner->gather(runner, application, moment);
    if (!workload_is_parted(workload))
        return;
    if (moment != RESULT_AT_END)
        results_forget(application_results, moment, whole);
    for (uint32_t part = 0; part < workload->part_count; part++)
        results_merge(application_results, moment, whole, &workload->parts[part].measurements[application]);
}

/* What all parts of all ranks have counted, for those who decide. */
static void workload_count_parts(struct workload *workload)
{
    workload->is_interrupted = workload->interrupt && *workload->interrupt;
    if (workload->ranks)
        workload_ranks_hand_over(workload);
    parts_end_groups(workload->parts, workload->part_count);
    if (workload->logs)
        parts_write_logs(workload->parts, workload->part_count, workload->logs);
    for (uint32_t i = 0; i < workload->count; i++)
        gather_parts(workload, i, RESULT_AT_GRID_POINTS);
    workload->totals = network_count(workload->network);
    if (workload->ranks)
        workload_ranks_count(workload);
}

static void workload_merge_parts(struct workload *workload)
{
    workload_count_parts(workload);
    for (uint32_t i = 0; i < workload->count; i++) {
        gather_parts(workload, i, RESULT_AT_WINDOW_ENDS);
        gather_parts(workload, i, RESULT_AT_END);
    }
    workload->sync = network_sync_facts(workload->network);
    workload->retries = retries_count(workload->network);
    if (workload->ranks)
        workload_ranks_merge(workload);
}

/* Where the sampling window begins, or ends. */
static void count_channels(struct workload *workload, bool is_end)
{
    const struct network *network = workload->network;
    struct lane_counts *lanes = workload->lanes;
    network_count_flits(network, network->num_vcs,
                        is_end ? workload->port_flits_at_end : workload->port_flits_at_start);
    if (lanes) {
        memcpy(lanes->in[is_end], lanes->entered, sizeof *lanes->entered * lanes->count);
        network_count_flits(network, 1, lanes->out[is_end]);
    }
}

static void open_windows(struct workload *workload, tick_t now)
{
    for (uint32_t i = 0; i < workload->count; i++) {
        gather_parts(workload, i, RESULT_AT_WINDOW_ENDS);
        for (uint32_t part = 0; part < workload->part_count; part++)
            workload->parts[part].measurements[i].window_start = now;
        measurement_open(&workload->measurements[i], now);
    }
    count_channels(workload, false);
}

static void close_windows(struct workload *workload, tick_t now)
{
    for (uint32_t i = 0; i < workload->count; i++) {
        gather_parts(workload, i, RESULT_AT_WINDOW_ENDS);
        measurement_close(&workload->measurements[i], now);
    }
    count_channels(workload, true);
}

static bool is_running(const struct workload *workload, uint32_t application)
{
    return workload->alone == FW_NONE || workload->alone == application;
}

static void enter_phase(struct workload *workload, enum phase phase, tick_t now)
{
    workload->phase = phase;
    if (phase == PHASE_GENERATING)
        open_windows(workload, now);
    if (phase == PHASE_FINISHING)
        close_windows(workload, now);
    for (uint32_t i = 0; i < workload->count; i++) {
        struct application *application = &workload->applications[i];
        application->phase = phase;
        application->phase_start[phase] = now;
        if (application->ops->phase_changed && is_running(workload, i))
            application->ops->phase_changed(application, now);
    }
    if (phase == PHASE_DRAINING)
        workload_give_up_lost(workload);
    for (uint32_t i = 0; i < workload->part_count && phase == PHASE_DRAINING; i++)
        network_withdraw(workload->parts[i].network, part_withdrawn, &workload->parts[i]);
}

static bool all_have_signalled(struct workload *workload, tick_t now)
{
    bool all = true;
    for (uint32_t i = 0; i < workload->count; i++) {
        struct application *a = &workload->applications[i];
        if (!is_running(workload, i))
            continue;
        a->ops->check(a, now);
        all &= workload->phase == PHASE_WARMING      ? a->ready
               : workload->phase == PHASE_GENERATING ? a->complete
                                                     : a->done;
    }
    return all;
}

/* Nobody warms up, and all that is decided at tick 0 is known before. */
static bool starts_now(const struct workload *workload, tick_t now)
{
    bool is_wanted = workload->config->starts_at_zero && now == 0;
    for (uint32_t i = 0; is_wanted && i < workload->count; i++) {
        const struct sampling_config *sampling = workload->applications[i].window.sampling;
        is_wanted = !is_running(workload, i) || !sampling || sampling->warmup == 0;
    }
    return is_wanted;
}

/* A grid point. */
static void control(struct workload *workload, tick_t now)
{
    workload_lose(workload, now);
    workload_count_parts(workload);
    if (workload->change_due || starts_now(workload, now)) {
        workload->change_due = false;
        enter_phase(workload, workload->phase + 1, now);
    }
    if (workload->progress)
        workload->progress(workload->progress_context, workload, now);
    if (workload->is_interrupted)
        workload->outcome = OUTCOME_INTERRUPTED;
    else
        workload_look_for_stuck(workload, now);
    if (workload->outcome == OUTCOME_RUNNING && workload->phase != PHASE_DRAINING)
        workload->change_due = all_have_signalled(workload, now);
    if (workload->outcome != OUTCOME_RUNNING && workload->phase == PHASE_GENERATING)
        close_windows(workload, now);
}

static void workload_begin(struct workload *workload)
{
    workload->has_begun = true;
    for (uint32_t i = 0; i < workload->count; i++) {
        shared_begin(&workload->applications[i]);
        if (workload->applications[i].ops->begin && is_running(workload, i))
            workload->applications[i].ops->begin(&workload->applications[i]);
    }
}

/* Until when events alone can change what a grid point sees of an empty network; 0: every point counts. */
static tick_t quiet_until(const struct workload *workload)
{
    tick_t until = FW_NEVER;
    if (workload->phase == PHASE_DRAINING)
        return until;
    for (uint32_t i = 0; i < workload->count; i++) {
        const struct application *application = &workload->applications[i];
        const struct errand_config *errand = application->window.errand;
        tick_t limit = errand ? application->phase_start[PHASE_GENERATING] + errand->limit : 0;
        if (is_running(workload, i) && limit < until)
            until = limit;
    }
    return workload->phase == PHASE_GENERATING ? until : 0;
}

static void drop_timers(const struct workload *workload)
{
    struct network_runner *runner = workload->network->core->runner;
    if (runner)
        runner->drop_timers(runner);
    for (uint32_t i = 0; i < workload->part_count; i++)
        engine_drop(workload->parts[i].network->engine, EVENT_WAKE);
}

/*
 * The grid point to come: of an empty network, behind the next event. When it drains, timers of applications do nothing
 * any more: those far ahead are dropped, and the run does not wait for them.
 */
static tick_t next_point(const struct workload *workload, tick_t now)
{
    enum { FAR_POINTS = 100 };
    uint64_t interval = workload->config->check_interval;
    tick_t next = network_next(workload->network), until = quiet_until(workload), loss = workload_next_loss(workload);
    if (workload->totals.in_flight || next == FW_NEVER || next <= now || until <= now)
        return now + interval;
    if (until == FW_NEVER && next - now > FAR_POINTS * interval)
        drop_timers(workload);
    next = loss < next && until != FW_NEVER ? loss : next;
    if (next >= until)
        return now + (until - now + interval - 1) / interval * interval;
    return now + interval * ((next - now) / interval + 1);
}

/* The grid point that is run up to, or the tick at which a device has noticed that it is interrupted. */
static tick_t point_reached(const struct workload *workload, tick_t check)
{
    struct network_runner *runner = workload->network->core->runner;
    bool is_interrupted = runner && workload->interrupt && *workload->interrupt;
    tick_t reached = is_interrupted ? runner->reached(runner) : check;
    return reached < check ? reached : check;
}

bool workload_run_to(struct workload *workload, tick_t last)
{
    struct network *network = workload->network;
    if (!workload->has_begun)
        workload_begin(workload);
    while (!workload->is_over) {
        tick_t check = workload->next_check;
        if (check)
            network_run(network, check > last ? last : check - 1);
        if (check > last)
            break;
        check = point_reached(workload, check);
        bool goes_on = workload_recovers(workload) || workload_next_loss(workload) != FW_NEVER;
        workload->is_over = workload->phase == PHASE_DRAINING && network_next(network) == FW_NEVER &&
                            !(goes_on && workload->totals.in_flight);
        if (workload->is_over)
            break;
        enum phase before = workload->phase;
        network_advance(network, check);
        control(workload, check);
        workload->is_over = workload->outcome != OUTCOME_RUNNING;
        bool is_same = workload->phase == before && !workload->change_due; /* what is to come is known as it was run */
        workload->next_check = is_same ? next_point(workload, check) : check + workload->config->check_interval;
        if (workload->pause && !workload->is_over)
            workload->pause(workload->pause_context, check);
    }
    return !workload->is_over;
}

void workload_end(struct workload *workload, FILE *out)
{
    struct network *network = workload->network;
    workload_merge_parts(workload);
    workload_report_stuck(workload, out);
    if (workload->outcome == OUTCOME_RUNNING) {
        network_check_idle(network);
        for (uint32_t i = 0; i < workload->part_count; i++)
            FW_CHECK(workload->parts[i].messages.taken == 0, "%u messages are unaccounted for at the end",
                     workload->parts[i].messages.taken);
        workload->outcome = OUTCOME_DONE;
    }
}

enum outcome workload_run(struct workload *workload, FILE *out)
{
    workload_run_to(workload, FW_NEVER);
    workload_end(workload, out);
    return workload->outcome;
}

bool workload_find_part(const struct workload *workload, uint32_t terminal, struct workload_part **part)
{
    const struct network *network = workload->network;
    uint32_t here = network->terminal_part[terminal] - network->core->first_part;
    if (here >= workload->part_count)
        return false;
    *part = &workload->parts[here];
    return true;
}
