/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running the parts of a network window by window, see parts.h.
 *
 * Conservatively a window is as long as nothing that is sent in it can arrive in it.
 * Optimistically it is longer: the state is kept, all parts run ahead, and then look
 * when the first of all that was sent arrives, the horizon. Up to there everything was
 * right, for nobody has missed anything. A horizon behind the window's end is what one
 * hopes for. Otherwise the state is put back, and all run again up to the horizon, where
 * the next window begins. (Steinman 1992, "breathing time buckets": since nothing is taken
 * in before it is certain, nothing is ever taken back.)
 *
 *   window   |----------------------------|
 *   ran      |============================|
 *   sent         o-------> arrives: the horizon
 *   again    |============|
 */
#include "network/parallel/parts.h"

#include "engine/crew.h"
#include "base/rewind.h"
#include "network/parallel/exchange.h"

#include <time.h>

enum {
    MOST_FAILURES = 2,  /* in a row, before a grid interval goes on safely */
    TRIAL_SHARE = 16,   /* of the time, at most one part goes into trying the way that was slower */
    FEWEST_EVENTS = 64, /* of an interval that tells anything */
};

static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void part_meet(struct schedule *schedule, struct exchange *exchange)
{
    uint64_t before = nanoseconds();
    crew_meet(schedule->crew);
    exchange->waited += nanoseconds() - before;
}

/* With the threads of this rank and, by thread 0, with the other ranks, for which all wait as for each other. */
static void swap_parcels(struct schedule *schedule, struct exchange *exchange, uint32_t member)
{
    uint64_t before = nanoseconds();
    crew_meet(schedule->crew);
    if (schedule->ranks) {
        if (member == 0)
            exchange_with_ranks(schedule, exchange->parity);
        crew_meet(schedule->crew);
    }
    exchange->waited += nanoseconds() - before;
}

static tick_t window_end(const struct schedule *schedule, tick_t start, tick_t length)
{
    return schedule->last - start < length ? schedule->last : start + length - 1;
}

/* ---- running ahead ---- */

/* What all parts of all ranks are to come back to. */
static void keep_state(struct schedule *schedule, struct exchange *exchange, uint32_t member)
{
    part_meet(schedule, exchange);
    if (member == 0)
        rewind_mark(schedule->rewind);
    part_meet(schedule, exchange);
    rewind_copy(schedule->rewind, member, schedule->count);
    part_meet(schedule, exchange);
}

static void put_state_back(struct schedule *schedule, struct network *network, uint32_t member, uint64_t events_before)
{
    struct exchange *exchange = network->core->exchange;
    exchange->rolled_back += network->engine->events - events_before;
    for (uint32_t receiver = 0; receiver < schedule->all_parts; receiver++)
        exchange_box(network, exchange->parity, receiver)->count = 0;
    exchange->soonest = FW_NEVER;
    part_meet(schedule, exchange);
    rewind_put_back(schedule->rewind, member, schedule->count);
    part_meet(schedule, exchange);
    if (member == 0) {
        rewind_return(schedule->rewind);
        schedule->rollbacks++;
    }
    part_meet(schedule, exchange);
}

/* When the first of all that was sent in this window arrives. */
static tick_t find_horizon(struct schedule *schedule, struct exchange *exchange, uint32_t member)
{
    tick_t horizon = FW_NEVER;
    uint64_t before = nanoseconds();
    exchange->horizon = exchange->soonest;
    crew_meet(schedule->crew);
    for (uint32_t i = 0; i < schedule->count; i++) {
        tick_t theirs = schedule->parts[i]->core->exchange->horizon;
        horizon = theirs < horizon ? theirs : horizon;
    }
    if (schedule->ranks) {
        if (member == 0)
            schedule->horizon = ~ranks_largest(schedule->ranks, ~horizon);
        crew_meet(schedule->crew);
        horizon = schedule->horizon;
    }
    exchange->waited += nanoseconds() - before;
    return horizon;
}

/* Windows double as long as they are right, and shrink to what would have been. All parts find the same. */
static void learn(const struct schedule *schedule, struct exchange *exchange, tick_t start, tick_t end, tick_t horizon)
{
    tick_t shortest = 2 * schedule->window;
    exchange->failures = horizon > end ? 0 : exchange->failures + 1;
    if (!schedule->is_fixed)
        exchange->length = horizon > end                ? 2 * (end - start + 1)
                           : horizon - start < shortest ? shortest
                                                        : horizon - start;
}

/* Forward, back and forward again, which must come to the same. */
static void check_reversal(struct schedule *schedule, struct network *network, uint32_t member, tick_t end)
{
    uint64_t before = network->engine->events;
    keep_state(schedule, network->core->exchange, member);
    engine_run(network->engine, end);
    uint64_t hash = rewind_hash(schedule->rewind);
    put_state_back(schedule, network, member, before);
    engine_run(network->engine, end);
    FW_CHECK(
        rewind_hash(schedule->rewind) == hash,
        "ticks up to %llu: run, put back and run again, they end in another state: something changes memory that is "
        "neither the arena's nor a pool's",
        (unsigned long long)end);
}

/* Runs ahead of what is safe, and comes back to the horizon if that was too far. */
static void run_ahead(struct schedule *schedule, struct network *network, uint32_t member, tick_t start, tick_t end)
{
    struct exchange *exchange = network->core->exchange;
    uint64_t before = network->engine->events, sent = exchange->sent;
    keep_state(schedule, exchange, member);
    engine_run(network->engine, end);
    tick_t horizon = find_horizon(schedule, exchange, member);
    if (horizon <= end) {
        exchange->sent = sent;
        put_state_back(schedule, network, member, before);
        engine_run(network->engine, horizon - 1);
    }
    learn(schedule, exchange, start, end, horizon);
}

static void run_optimistically(struct schedule *schedule, struct network *network, uint32_t member, tick_t start)
{
    const struct exchange *exchange = network->core->exchange;
    tick_t end = window_end(schedule, start, exchange->length);
    bool runs_ahead = schedule->is_fixed || (schedule->runs_ahead && exchange->failures < MOST_FAILURES);
    if (schedule->checks_reversal)
        check_reversal(schedule, network, member, schedule->last);
    else if (runs_ahead && end - start >= schedule->window)
        run_ahead(schedule, network, member, start, end);
    else
        engine_run(network->engine, window_end(schedule, start, schedule->window));
}

/*
 * Whether running ahead pays is found out: between two grid points all windows are of one kind, and what an event takes is
 * kept for either. The slower kind has its turn now and then, the seldomer the slower it was. Rank 0 decides for all.
 */
static void choose_kind(struct schedule *schedule)
{
    const double *cost = schedule->cost;
    bool is_faster = cost[true] > 0 && cost[true] < cost[false];
    bool ahead = cost[false] > 0 && (schedule->until_trial ? is_faster : !is_faster);
    schedule->runs_ahead = ranks_largest(schedule->ranks, ranks_lead(schedule->ranks) && ahead);
    for (uint32_t i = 0; i < schedule->count; i++)
        schedule->parts[i]->core->exchange->failures = 0;
}

static uint64_t count_events(const struct schedule *schedule)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < schedule->count; i++)
        events += schedule->parts[i]->engine->events;
    return events;
}

static void note_cost(struct schedule *schedule, uint64_t events, uint64_t time)
{
    double *cost = &schedule->cost[schedule->runs_ahead];
    if (schedule->until_trial)
        schedule->until_trial--;
    else
        schedule->until_trial = TRIAL_SHARE;
    if (events < FEWEST_EVENTS)
        return;
    double found = (double)time / (double)events;
    *cost = *cost > 0 ? (3 * *cost + found) / 4 : found;
    double other = schedule->cost[!schedule->runs_ahead];
    if (*cost > other && other > 0 && schedule->until_trial == TRIAL_SHARE)
        schedule->until_trial = (uint64_t)(TRIAL_SHARE * *cost / other);
}

/* ---- windows ---- */

/* A part's work up to the schedule's last tick. */
static void run_windows(void *context, uint32_t member)
{
    struct schedule *schedule = context;
    struct network *network = schedule->parts[member];
    struct exchange *exchange = network->core->exchange;
    for (;;) {
        uint32_t parity = exchange->parity;
        tick_t next = engine_next(network->engine);
        exchange->next[parity] = next < exchange->soonest ? next : exchange->soonest;
        swap_parcels(schedule, exchange, member);
        network_import(network, parity);
        exchange->parity = 1 - parity;
        exchange->soonest = FW_NEVER;
        tick_t start = schedule->elsewhere;
        for (uint32_t i = 0; i < schedule->count; i++) {
            tick_t theirs = schedule->parts[i]->core->exchange->next[parity];
            start = theirs < start ? theirs : start;
        }
        if (start > schedule->last) {
            if (member == 0)
                schedule->next = start;
            return;
        }
        if (schedule->rewind)
            run_optimistically(schedule, network, member, start);
        else
            engine_run(network->engine, window_end(schedule, start, schedule->window));
        if (member == 0)
            schedule->windows++;
    }
}

void network_run(struct network *network, tick_t last)
{
    if (network->core->runner) {
        network->core->runner->run(network->core->runner, last);
        return;
    }
    if (!network->core->exchange) {
        engine_run(network->engine, last);
        return;
    }
    struct schedule *schedule = network->core->exchange->schedule;
    if (!schedule->crew)
        schedule->crew =
            crew_start(schedule->count, schedule->ranks ? schedule->ranks->sharing_cores : 1, run_windows, schedule);
    schedule->last = last;
    if (!schedule->rewind) {
        crew_run(schedule->crew);
        return;
    }
    choose_kind(schedule);
    uint64_t events = count_events(schedule), before = nanoseconds();
    crew_run(schedule->crew);
    note_cost(schedule, count_events(schedule) - events, nanoseconds() - before);
}

tick_t network_next(const struct network *network)
{
    if (network->core->runner)
        return network->core->runner->next(network->core->runner);
    return network->core->exchange ? network->core->exchange->schedule->next : engine_next(network->engine);
}

void network_advance(struct network *network, tick_t tick)
{
    for (uint32_t i = 0; i < network->core->part_count; i++)
        engine_advance(network->core->parts[i]->engine, tick);
}
