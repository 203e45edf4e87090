/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model that is hard on Time Warp, run in every way: what a process sends
 * depends on everything it has received and on the order of it, many events share
 * a tick, delays are short or nothing at all, one process gets most of the work,
 * and events multiply and die out. Whatever is handled out of order and not undone
 * to the last bit shows in the digest.
 */
#include "test.h"

#include "engine/process_run.h"

#include <string.h>

struct churn_config {
    uint64_t processes;
    tick_t lookahead, end;
    uint32_t spread; /* of delays */
    bool reverses;
};

/* Payload: a value that travels, and a note for reverse(). */
struct churn_event {
    struct event event;
    uint64_t value, old;
};

struct churn_state {
    uint64_t first;
    struct {
        uint64_t value, sent;
        uint8_t history[24]; /* saved in odd sizes */
    } processes[];
};

enum { SUM_EVENTS, SUM_VALUES, SUMS };

static void churn_prepare(struct model *model, struct errors *errors)
{
    const struct churn_config *config = model->config;
    (void)errors;
    model->event_size = sizeof(struct churn_event);
    model->sum_count = SUMS;
    model->maximum_count = 1;
    model->lookahead = config->lookahead;
    model->end = config->end;
}

static uint32_t churn_owner(const struct model *model, uint64_t process, uint32_t partitions)
{
    const struct churn_config *config = model->config;
    return process_block(process, config->processes, partitions);
}

static void churn_build(struct partition *partition)
{
    const struct churn_config *config = partition->model->config;
    uint64_t first = process_block_start(partition->number, config->processes, partition->count);
    uint64_t end = process_block_start(partition->number + 1, config->processes, partition->count);
    struct churn_state *state = process_memory(partition, sizeof *state + (end - first) * sizeof *state->processes);
    state->first = first;
    partition->state = state;
}

static void churn_begin(struct partition *partition)
{
    const struct churn_config *config = partition->model->config;
    struct churn_state *state = partition->state;
    uint64_t end = process_block_start(partition->number + 1, config->processes, partition->count);
    for (uint64_t process = state->first; process < end; process++)
        for (uint64_t i = 0; i < 2; i++) {
            struct churn_event event = {{config->lookahead + process % 3, process, .tie = ~i}, .value = process};
            process_post(partition, &event.event);
        }
}

static void churn_send(struct partition *partition, const struct event *cause, uint64_t number, uint64_t value)
{
    const struct churn_config *config = partition->model->config;
    uint64_t target = value % 4 == 0 ? 0 : random_mix(value) % config->processes;
    tick_t delay = config->lookahead + random_mix(value + 1) % config->spread;
    struct churn_event event = {{cause->time + delay, target, .tie = cause->process << 32 | number}, .value = value};
    if (!event_is_before(cause, &event.event))
        event.event.time++;
    process_post(partition, &event.event);
}

static void churn_handle(struct partition *partition, struct event *event)
{
    const struct churn_config *config = partition->model->config;
    struct churn_event *churn = (struct churn_event *)event;
    struct churn_state *state = partition->state;
    uint64_t at = event->process - state->first;
    churn->old = state->processes[at].value;
    process_save(partition, &state->processes[at].value, sizeof state->processes[at].value);
    state->processes[at].value = random_mix(churn->old ^ churn->value ^ event->time);
    uint64_t value = state->processes[at].value;
    if (!config->reverses) {
        process_save(partition, &state->processes[at].history[value % 20], 3);
        state->processes[at].history[value % 20] ^= (uint8_t)value;
        value ^= state->processes[at].history[3];
    }
    process_save(partition, &state->processes[at].sent, sizeof state->processes[at].sent);
    uint32_t sends = value % 8 == 0 ? 0 : value % 8 == 1 ? 2 : 1; /* on average one */
    for (uint32_t i = 0; i < 2; i++) {
        state->processes[at].sent++;
        if (i < sends)
            churn_send(partition, event, state->processes[at].sent, random_mix(value + i));
    }
}

static void churn_reverse(struct partition *partition, struct event *event)
{
    struct churn_event *churn = (struct churn_event *)event;
    struct churn_state *state = partition->state;
    uint64_t at = event->process - state->first;
    state->processes[at].value = churn->old;
    state->processes[at].sent -= 2;
}

static void churn_commit(struct partition *partition, const struct event *event)
{
    const struct churn_event *churn = (const struct churn_event *)event;
    partition->sums[SUM_EVENTS]++;
    partition->sums[SUM_VALUES] += churn->value;
    if (churn->value > partition->maxima[0])
        partition->maxima[0] = churn->value;
    digest_add(&partition->digest, (const uint64_t[]){event->time, event->process, event->tie, churn->value}, 4);
}

static const struct model_ops churn_ops = {
    .name = "churn",
    .prepare = churn_prepare,
    .owner = churn_owner,
    .build = churn_build,
    .begin = churn_begin,
    .handle = churn_handle,
    .commit = churn_commit,
};
static struct model_ops churn_reversing(void)
{
    struct model_ops ops = churn_ops;
    ops.reverse = churn_reverse;
    return ops;
}

struct outcome {
    struct digest digest;
    uint64_t sums[SUMS], maximum, events;
    struct process_counts counts;
};

static struct outcome run_churn(const struct churn_config *config, struct process_settings settings)
{
    struct model_ops reversing = churn_reversing();
    struct model model = {.ops = config->reverses ? &reversing : &churn_ops, .config = config};
    model.ops->prepare(&model, NULL);
    if (!settings.partitions)
        settings.partitions = 4;
    struct process_run run;
    process_run_init(&run, &model, &settings, NULL);
    process_run(&run);
    EXPECT(run.is_complete);
    struct outcome outcome = {.digest = run.digest, .maximum = run.maxima[0], .events = run.totals.events};
    outcome.counts = run.counts;
    memcpy(outcome.sums, run.sums, sizeof outcome.sums);
    process_run_release(&run);
    return outcome;
}

static void expect_same(const struct outcome *a, const struct outcome *b)
{
    EXPECT_EQ_U64(a->digest.lanes[0], b->digest.lanes[0]);
    EXPECT_EQ_U64(a->digest.lanes[1], b->digest.lanes[1]);
    EXPECT_EQ_U64(a->sums[SUM_EVENTS], b->sums[SUM_EVENTS]);
    EXPECT_EQ_U64(a->sums[SUM_VALUES], b->sums[SUM_VALUES]);
    EXPECT_EQ_U64(a->maximum, b->maximum);
    EXPECT_EQ_U64(a->events, b->events);
    EXPECT_EQ_U64(b->counts.handled - b->counts.rolled_back, b->counts.committed);
}

static const uint32_t thread_counts[] = {1, 2, 3, 4, 8};
#define EACH_THREADS(i) (size_t i = 0; i < sizeof thread_counts / sizeof *thread_counts; i++)

TEST(churn_is_the_same_conservatively)
{
    const struct churn_config config = {.processes = 50, .lookahead = 3, .end = 4000, .spread = 10};
    struct outcome expected = run_churn(&config, (struct process_settings){SYNC_SEQUENTIAL, .threads = 1});
    EXPECT(expected.events > 5000);
    for
        EACH_THREADS(i)
        {
            struct outcome found =
                run_churn(&config, (struct process_settings){SYNC_CONSERVATIVE, .threads = thread_counts[i]});
            expect_same(&expected, &found);
        }
}

TEST(churn_is_the_same_optimistically_without_lookahead)
{
    const struct churn_config config = {.processes = 50, .lookahead = 0, .end = 1000, .spread = 5};
    struct outcome expected = run_churn(&config, (struct process_settings){SYNC_SEQUENTIAL, .threads = 1});
    EXPECT(expected.events > 5000);
    uint64_t rolled_back = 0;
    for
        EACH_THREADS(i)
        {
            struct outcome found =
                run_churn(&config, (struct process_settings){SYNC_OPTIMISTIC, .threads = thread_counts[i]});
            expect_same(&expected, &found);
            rolled_back += found.counts.rolled_back;
        }
    EXPECT(rolled_back > 0);
}

TEST(churn_is_the_same_under_any_window_and_partitions)
{
    const struct churn_config config = {.processes = 37, .lookahead = 1, .end = 1500, .spread = 8};
    struct outcome expected = run_churn(&config, (struct process_settings){SYNC_SEQUENTIAL, .threads = 1});
    static const tick_t windows[] = {1, 5, 1000000000};
    static const uint32_t partitions[] = {1, 3, 64}; /* the last: most are empty */
    for (uint32_t w = 0; w < 3; w++)
        for (uint32_t p = 0; p < 3; p++) {
            struct process_settings settings = {SYNC_OPTIMISTIC, .threads = 3, .partitions = partitions[p],
                                                .window = windows[w]};
            struct outcome found = run_churn(&config, settings);
            expect_same(&expected, &found);
        }
}

TEST(churn_is_the_same_with_a_reverse_handler)
{
    const struct churn_config config = {.processes = 20, .lookahead = 0, .end = 1000, .spread = 6, .reverses = true};
    struct outcome expected = run_churn(&config, (struct process_settings){SYNC_SEQUENTIAL, .threads = 1});
    for
        EACH_THREADS(i)
        {
            struct outcome found =
                run_churn(&config, (struct process_settings){SYNC_OPTIMISTIC, .threads = thread_counts[i]});
            expect_same(&expected, &found);
        }
}

TEST(churn_passes_the_check_of_reversal)
{
    for (uint32_t reverses = 0; reverses < 2; reverses++) {
        const struct churn_config config = {
            .processes = 20, .lookahead = 0, .end = 300, .spread = 6, .reverses = reverses};
        struct outcome expected = run_churn(&config, (struct process_settings){SYNC_SEQUENTIAL, .threads = 1});
        struct process_settings settings = {SYNC_OPTIMISTIC, .threads = 1, .check_reversal = true};
        struct outcome found = run_churn(&config, settings);
        expect_same(&expected, &found);
        EXPECT_EQ_U64(found.counts.rolled_back, found.counts.committed);
    }
}

TEST(more_threads_than_processes_leave_some_without_work)
{
    const struct churn_config config = {.processes = 2, .lookahead = 2, .end = 3000, .spread = 9};
    struct outcome expected = run_churn(&config, (struct process_settings){SYNC_SEQUENTIAL, .threads = 1});
    for (uint32_t sync = SYNC_CONSERVATIVE; sync <= SYNC_OPTIMISTIC; sync++) {
        struct outcome found = run_churn(&config, (struct process_settings){sync, .threads = 5});
        expect_same(&expected, &found);
    }
}

TEST(two_runs_live_side_by_side)
{
    const struct churn_config config = {.processes = 10, .lookahead = 2, .end = 500, .spread = 9};
    struct model model = {.ops = &churn_ops, .config = &config};
    churn_prepare(&model, NULL);
    struct process_run first, second;
    const struct process_settings settings = {SYNC_OPTIMISTIC, .threads = 2, .partitions = 2};
    process_run_init(&first, &model, &settings, NULL);
    process_run_init(&second, &model, &settings, NULL);
    process_run(&first);
    process_run(&second);
    EXPECT_EQ_U64(first.digest.lanes[0], second.digest.lanes[0]);
    process_run_release(&first);
    process_run_release(&second);
}

TEST(blocks_of_processes_meet_without_gaps)
{
    for (uint64_t processes = 1; processes < 40; processes += 3)
        for (uint32_t partitions = 1; partitions < 60; partitions += 7)
            for (uint64_t process = 0; process < processes; process++) {
                uint32_t owner = process_block(process, processes, partitions);
                EXPECT(process >= process_block_start(owner, processes, partitions));
                EXPECT(process < process_block_start(owner + 1, processes, partitions));
            }
}
