/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leading the applications through their phases. Whatever needs a view of the
 * whole is decided at the points of a fixed grid of ticks, from what is true
 * there, and takes effect at the next point: so it depends neither on partitions
 * nor on the order of events.
 */
#include "workload/workload.h"

#include "network/network.h"
#include "network/deadlock/deadlock.h"
#include "flitwarp/steady.h"

#include <math.h>
#include <string.h>

const struct option workload_options[] = {
    OPTION_CHOICES(struct workload_config, applications, "application", "[\"blast\"]", 1, 255, "what runs"),
    OPTION_TICKS(struct workload_config, check_interval, "100", 1, 1e9,
                 "grid on which phases change; windows are rounded up to it"),
    OPTION_TICKS(struct workload_config, series_interval, "0", 0, 1e12,
                 "bin of the time series in the results; 0: none"),
    OPTION_BOOL(struct workload_config, per_terminal, "false", "list the accepted load of every terminal"),
    OPTION_BOOL(struct workload_config, per_channel, "false", "list the utilisation of every channel between routers"),
    OPTION_END,
};

const char *phase_name(enum phase phase)
{
    static const char *const names[] = {"warming", "generating", "finishing", "draining"};
    return names[phase];
}

/* Then parts have measurements of their own. */
static bool is_parted(const struct workload *workload) { return workload->network->core->exchange; }

/* What the parts of this rank have counted of an application. */
static void gather_parts(struct workload *workload, uint32_t application, enum result_moment moment)
{
    struct measurement *whole = &workload->measurements[application];
    struct network_runner *runner = workload->network->core->runner;
    if (runner)
        runner->gather(runner, application, moment);
    if (!is_parted(workload))
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
    if (workload->ranks)
        workload_ranks_merge(workload);
}

static void open_windows(struct workload *workload, tick_t now)
{
    for (uint32_t i = 0; i < workload->count; i++) {
        gather_parts(workload, i, RESULT_AT_WINDOW_ENDS);
        for (uint32_t part = 0; part < workload->part_count; part++)
            workload->parts[part].measurements[i].window_start = now;
        measurement_open(&workload->measurements[i], now);
    }
}

static void close_windows(struct workload *workload, tick_t now)
{
    for (uint32_t i = 0; i < workload->count; i++) {
        gather_parts(workload, i, RESULT_AT_WINDOW_ENDS);
        measurement_close(&workload->measurements[i], now);
    }
}

static bool is_running(const struct workload *workload, uint32_t application)
{
    return workload->alone == FW_NONE || workload->alone == application;
}

/* The sampling window begins, or ends. */
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
    if (phase == PHASE_GENERATING || phase == PHASE_FINISHING)
        count_channels(workload, phase == PHASE_FINISHING);
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

/* Nothing moves and nothing is about to. */
static bool is_stuck(struct workload *workload)
{
    const struct network *network = workload->network;
    bool moved = workload->totals.flit_hops != workload->hops_at_check;
    workload->hops_at_check = workload->totals.flit_hops;
    if (moved || workload->totals.in_flight == 0)
        return false;
    return !ranks_largest(network_ranks(network), network_is_about_to_move(network));
}

static bool recovers(const struct workload *workload)
{
    return workload->network->core->config->deadlock == DEADLOCK_RECOVER;
}

/* One packet of each cycle leaves it; false: none could. */
static bool recover(struct workload *workload, tick_t now)
{
    struct network *network = workload->network;
    struct recoveries *recoveries = &workload->recoveries;
    uint64_t before = recoveries->packets;
    while (recovery_from(network, &workload->deadlock, now)) {
        recoveries->first = recoveries->packets++ ? recoveries->first : now;
        recoveries->last = now;
        deadlock_release(&workload->deadlock);
        if (!deadlock_find(&workload->deadlock, network, now, workload->totals.in_flight, false))
            return true;
    }
    return recoveries->packets > before;
}

/* Packets that can never move again, or none at all that does; false as well where they have been helped. */
static bool is_deadlocked(struct workload *workload, tick_t now)
{
    const struct network *network = workload->network;
    bool stands_still = is_stuck(workload);
    if (!stands_still) {
        if (now < workload->deadlock_check || !network->core->config->deadlock_interval || !workload->totals.in_flight)
            return false;
        workload->deadlock_check = now + network->core->config->deadlock_interval;
    }
    if (!deadlock_find(&workload->deadlock, network, now, workload->totals.in_flight, stands_still))
        return false;
    if (!recovers(workload) || (!recover(workload, now) && stands_still))
        return true;
    deadlock_release(&workload->deadlock); /* what could not be helped is looked at again at the next point */
    return false;
}

/* An application waits for what will never come, as it said at the last grid point. */
static bool an_application_is_stuck(const struct workload *workload)
{
    for (uint32_t i = 0; i < workload->count; i++)
        if (workload->applications[i].is_stuck)
            return true;
    return false;
}

static void report_stuck(const struct workload *workload, FILE *out)
{
    for (uint32_t i = 0; i < workload->count; i++) {
        const struct application *application = &workload->applications[i];
        if (application->is_stuck && application->ops->report_stuck)
            application->ops->report_stuck(application, workload->totals.now, out);
    }
}

/* A grid point. */
static void control(struct workload *workload, tick_t now)
{
    workload_count_parts(workload);
    if (workload->change_due) {
        workload->change_due = false;
        enter_phase(workload, workload->phase + 1, now);
    }
    if (workload->progress)
        workload->progress(workload->progress_context, workload, now);
    if (workload->is_interrupted)
        workload->outcome = OUTCOME_INTERRUPTED;
    else if (is_deadlocked(workload, now))
        workload->outcome = OUTCOME_DEADLOCK;
    else if (an_application_is_stuck(workload))
        workload->outcome = OUTCOME_STUCK;
    if (workload->outcome == OUTCOME_RUNNING && workload->phase != PHASE_DRAINING)
        workload->change_due = all_have_signalled(workload, now);
    if (workload->outcome != OUTCOME_RUNNING && workload->phase == PHASE_GENERATING)
        close_windows(workload, now);
}

static void watch_flits(struct workload *workload)
{
    for (uint32_t part = 0; part < workload->part_count; part++)
        workload->parts[part].network->is_watched = true;
}

void workload_keep_rates(struct workload *workload, uint64_t interval)
{
    for (uint32_t i = 0; i < workload->count; i++) {
        measurement_keep_rates(&workload->measurements[i], interval, workload->arena->rewind);
        for (uint32_t part = 0; part < workload->part_count && is_parted(workload); part++)
            measurement_keep_rates(&workload->parts[part].measurements[i], interval, workload->arena->rewind);
    }
    watch_flits(workload);
}

void workload_count_lanes(struct workload *workload)
{
    struct lane_counts *lanes = workload->lanes = arena_array(workload->arena, struct lane_counts, 1);
    lanes->lanes = workload->network->ports * workload->network->num_vcs;
    lanes->count = (size_t)workload->network->topology.routers * lanes->lanes;
    lanes->entered = arena_array(workload->arena, uint32_t, lanes->count);
    for (uint32_t end = 0; end < 2; end++) {
        lanes->in[end] = arena_array(workload->arena, uint32_t, lanes->count);
        lanes->out[end] = arena_array(workload->arena, uint32_t, lanes->count);
    }
    watch_flits(workload);
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
    tick_t next = network_next(workload->network), until = quiet_until(workload);
    if (workload->totals.in_flight || next == FW_NEVER || next <= now || until <= now)
        return now + interval;
    if (until == FW_NEVER && next - now > FAR_POINTS * interval)
        drop_timers(workload);
    if (next >= until)
        return now + (until - now + interval - 1) / interval * interval;
    return now + interval * ((next - now) / interval + 1);
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
        workload->is_over = workload->phase == PHASE_DRAINING && network_next(network) == FW_NEVER &&
                            !(recovers(workload) && workload->totals.in_flight);
        if (workload->is_over)
            break;
        enum phase before = workload->phase;
        network_advance(network, check);
        control(workload, check);
        workload->is_over = workload->outcome != OUTCOME_RUNNING;
        bool goes_on = workload->phase == before && !workload->change_due; /* what is to come is known as it was run */
        workload->next_check = goes_on ? next_point(workload, check) : check + workload->config->check_interval;
        if (workload->pause && !workload->is_over)
            workload->pause(workload->pause_context, check);
    }
    return !workload->is_over;
}

void workload_end(struct workload *workload, FILE *out)
{
    struct network *network = workload->network;
    workload_merge_parts(workload);
    if (workload->outcome == OUTCOME_RUNNING && workload->totals.in_flight) {
        workload->outcome = OUTCOME_DEADLOCK;
        deadlock_find(&workload->deadlock, network, workload->totals.now, workload->totals.in_flight, true);
    }
    if (workload->outcome == OUTCOME_DEADLOCK && ranks_lead(network_ranks(network)))
        deadlock_report(&workload->deadlock, out);
    if (workload->outcome == OUTCOME_STUCK)
        report_stuck(workload, out);
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

/* A whole grid-shaped network in order is a space that patterns with coordinates can use. */
static struct traffic_space traffic_space_of(const struct workload *workload, const struct application *application)
{
    const struct topology *topology = workload->network->routing.topology;
    bool is_whole = application->ranks == topology->terminals;
    for (uint32_t rank = 0; is_whole && rank < application->ranks; rank++)
        is_whole = application->terminals[rank] == rank;
    return (struct traffic_space){
        .terminals = application->ranks,
        .concentration = topology->concentration,
        .grid = is_whole ? topology->grid : NULL,
        .seed = application->seed,
        .arena = workload->arena,
    };
}

static bool allocate_terminals(struct workload *workload, struct application *application, struct errors *errors)
{
    const struct application_config *config = application->config;
    const struct allocation_ops *ops = CHOICE_OPS(&config->allocation, struct allocation_ops);
    const struct topology *topology = workload->network->routing.topology;
    uint32_t *terminals = arena_array(workload->arena, uint32_t, topology->terminals);
    application->ranks = ops->allocate(&config->allocation, topology, application->seed, terminals, errors);
    application->terminals = terminals;
    application->allocated = (struct u32_list){application->ranks, terminals};
    return application->ranks > 0;
}

static void check_protocol(const struct workload *workload, const struct application *application, const char *key,
                           uint32_t class, struct errors *errors)
{
    uint32_t classes = workload->network->core->config->protocol_classes;
    if (class >= classes)
        choice_error(errors, application->choice, key, "%u is not below network.protocol_classes (%u)", class, classes);
}

static void check_packet_size(const struct workload *workload, const struct application *application,
                              struct errors *errors)
{
    const struct network *network = workload->network;
    const struct application_config *config = application->config;
    uint32_t limit = network->plan.max_packet;
    uint32_t largest = application->max_message < config->max_packet ? application->max_message : config->max_packet;
    if (limit && largest > limit)
        choice_error(errors, application->choice, "max_packet",
                     "packets of up to %u flits do not fit network.router.%s (%u), and this router "
                     "moves whole packets; accepted: 1 to %u%s",
                     largest, network->plan.max_packet_key, limit, limit,
                     network->plan.transfer.chunk ? ", or a network.router.chunk" : "");
}

static void init_measurement(const struct workload *workload, struct measurement *measurement)
{
    const struct network *network = workload->network;
    measurement_init(measurement, workload->arena, network->topology.terminals, workload->config->series_interval);
    if (network->core->planes)
        measurement_keep_planes(measurement, network->plane_count, workload->arena);
    if (network->service.levels > 1)
        measurement_keep_levels(measurement, network->service.levels, network->service.class_level, workload->arena);
}

static void build_application(struct workload *workload, uint32_t number, uint64_t seed, struct errors *errors)
{
    const struct network *network = workload->network;
    const struct choice *choice = &workload->config->applications.items[number];
    struct application *application = &workload->applications[number];
    const struct application_config *config = choice->config;
    *application = (struct application){
        .ops = CHOICE_OPS(choice, struct application_ops),
        .choice = choice,
        .config = choice->config,
        .ranks_per_terminal = 1,
        .name = config->name ? config->name : choice->component->name,
        .number = number,
        .injection_channels = network->plane_count * network->injection_channels,
        .cycle = network->core->config->terminal_channel.cycle,
        .check_interval = workload->config->check_interval,
        .tick_seconds = workload->tick_seconds,
        .flit_bytes = network->core->config->flit_bytes,
        .seed = random_mix(seed + number),
        .arena = workload->arena,
        .workload = workload,
        .measurement = &workload->measurements[number],
        .transaction_messages = 1,
        .load = NAN,
    };
    application->listens = application->ops->received;
    init_measurement(workload, application->measurement);
    if (!allocate_terminals(workload, application, errors))
        return;
    application->space = traffic_space_of(workload, application);
    uint32_t before = errors->count;
    application->ops->prepare(application, errors);
    application->measurement->has_transactions = application->transaction_messages > 1;
    bool is_plain = !application->listens && application->transaction_messages == 1;
    application->plain_flits = is_plain ? config->max_packet : 0;
    check_protocol(workload, application, "protocol_class", config->protocol_class, errors);
    check_protocol(workload, application, "reply_protocol_class", config->reply_protocol_class, errors);
    if (errors->count == before)
        check_packet_size(workload, application, errors);
}

static void make_parts(struct workload *workload)
{
    struct network *network = workload->network;
    workload->part_count = network->core->part_count;
    workload->parts = arena_array(workload->arena, struct workload_part, workload->part_count);
    for (uint32_t i = 0; i < workload->part_count; i++) {
        struct workload_part *part = &workload->parts[i];
        part_init(part, workload, network->core->parts[i]);
        part->measurements = workload->measurements;
        if (!is_parted(workload))
            return;
        part->measurements = arena_array(workload->arena, struct measurement, workload->count);
        for (uint32_t a = 0; a < workload->count; a++)
            init_measurement(workload, &part->measurements[a]);
    }
}

bool workload_build(struct workload *workload, const struct workload_config *config, struct network *network,
                    struct arena *arena, double tick_seconds, uint64_t seed, struct errors *errors)
{
    uint32_t before = errors->count;
    *workload = (struct workload){.network = network,
                                  .tick_seconds = tick_seconds,
                                  .config = config,
                                  .arena = arena,
                                  .count = config->applications.count,
                                  .alone = FW_NONE,
                                  .deadlock_check = network->core->config->deadlock_interval,
                                  .trace_source = FW_NONE};
    size_t ports = (size_t)network->topology.routers * network->ports;
    workload->applications = arena_array(arena, struct application, workload->count);
    workload->measurements = arena_array(arena, struct measurement, workload->count);
    workload->sequences = arena_array(arena, uint32_t, network->topology.terminals);
    workload->port_flits_at_start = arena_array(arena, uint32_t, ports);
    workload->port_flits_at_end = arena_array(arena, uint32_t, ports);
    make_parts(workload);
    if (network_ranks(network))
        workload->ranks = workload_ranks_create(workload);
    for (uint32_t i = 0; i < workload->count; i++)
        build_application(workload, i, seed, errors);
    for (uint32_t part = 0; part < workload->part_count; part++)
        part_connect(&workload->parts[part]);
    return errors->count == before;
}

void workload_release(struct workload *workload)
{
    deadlock_release(&workload->deadlock);
    if (workload->ranks)
        workload_ranks_release(workload->ranks);
    for (uint32_t i = 0; i < workload->count; i++) {
        const struct application_ops *ops = workload->applications[i].ops;
        measurement_release(&workload->measurements[i]);
        if (ops && ops->release)
            ops->release(&workload->applications[i]);
    }
    for (uint32_t part = 0; part < workload->part_count; part++) {
        for (uint32_t i = 0; i < workload->count && is_parted(workload); i++)
            measurement_release(&workload->parts[part].measurements[i]);
        part_release(&workload->parts[part]);
    }
}
