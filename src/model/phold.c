/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PHOLD: the smallest complete model, and the usual benchmark of parallel
 * discrete-event simulation. A fixed number of events hops between processes: a
 * process that gets one sends one, to any process with probability `remote` and
 * to itself otherwise, after `lookahead` and an exponential delay.
 *
 * R. M. Fujimoto, Performance of Time Warp under synthetic workloads, 1990.
 */
#include "flitwarp/process.h"

struct phold_config {
    uint64_t processes;
    uint32_t events;
    double remote;
    uint64_t lookahead, end;
    double mean_delay;
};

static const struct option phold_options[] = {
    OPTION_U64(struct phold_config, processes, "1024", 1, 4294967296.0, NULL, "processes that exchange events"),
    OPTION_U32(struct phold_config, events, "1", 1, 1 << 20, NULL, "events that each process starts with"),
    OPTION_F64(struct phold_config, remote, "0.25", 0, 1, NULL, "share of the events that go to any process"),
    OPTION_TICKS(struct phold_config, lookahead, "100", 0, 1e15, "smallest delay"),
    OPTION_TICKS_F64(struct phold_config, mean_delay, "1000", 0, 1e15, "mean of the exponential part of the delay"),
    OPTION_TICKS(struct phold_config, end, "100000", 0, 1e18, "last tick"),
    OPTION_END,
};

/* A process is its stream of random numbers. */
struct phold_state {
    uint64_t first; /* process */
    uint64_t remote_below;
    uint64_t processes;
    double mean;
    uint64_t lookahead;
    struct random random[];
};

enum { SUM_EVENTS, SUM_REMOTE, SUMS };

static void phold_prepare(struct model *model, struct errors *errors)
{
    const struct phold_config *config = model->config;
    (void)errors;
    model->sum_count = SUMS;
    model->lookahead = config->lookahead;
    model->end = config->end;
    model->expected_processes = config->processes;
}

static uint32_t phold_owner(const struct model *model, uint64_t process, uint32_t partitions)
{
    const struct phold_config *config = model->config;
    return process_block(process, config->processes, partitions);
}

static void phold_build(struct partition *partition)
{
    const struct phold_config *config = partition->model->config;
    uint64_t first = process_block_start(partition->number, config->processes, partition->count);
    uint64_t end = process_block_start(partition->number + 1, config->processes, partition->count);
    struct phold_state *state = process_memory(partition, sizeof *state + sizeof *state->random * (end - first));
    state->first = first;
    state->processes = config->processes;
    state->mean = config->mean_delay;
    state->lookahead = config->lookahead;
    state->remote_below = config->remote < 1 ? (uint64_t)(config->remote * 0x1p64) : UINT64_MAX;
    for (uint64_t process = first; process < end; process++)
        state->random[process - first] = random_stream(partition->model->seed, process, RANDOM_TRAFFIC);
    partition->state = state;
}

static struct random *phold_random(const struct partition *partition, uint64_t process)
{
    struct phold_state *state = partition->state;
    return &state->random[process - state->first];
}

/*
 * Sends one event from the process that got `cause`. A stream's count only rises, so that with the process it makes a
 * key unique. Without lookahead a delay may be 0; the key must rise all the same.
 */
static void phold_send(struct partition *partition, const struct event *cause)
{
    uint64_t process = cause->process;
    const struct phold_state *state = partition->state;
    struct random *random = phold_random(partition, process);
    uint64_t target = process;
    if (random_u64(random) < state->remote_below)
        target = (uint64_t)(((unsigned __int128)random_u64(random) * state->processes) >> 64);
    tick_t delay = state->lookahead + (tick_t)(state->mean * random_exponential(random));
    struct event event = {cause->time + delay, target, .tie = process << 32 | (uint32_t)random->count};
    if (delay == 0 && !event_is_before(cause, &event))
        event.time++;
    process_post(partition, &event);
}

static void phold_begin(struct partition *partition)
{
    const struct phold_config *config = partition->model->config;
    uint64_t end = process_block_start(partition->number + 1, config->processes, partition->count);
    for (uint64_t process = ((const struct phold_state *)partition->state)->first; process < end; process++)
        for (uint32_t i = 0; i < config->events; i++)
            phold_send(partition, &(struct event){.process = process});
}

static void phold_handle(struct partition *partition, struct event *event)
{
    struct random *random = phold_random(partition, event->process);
    process_save(partition, &random->count, sizeof random->count);
    phold_send(partition, event);
}

static void phold_commit(struct partition *partition, const struct event *event)
{
    partition->sums[SUM_EVENTS]++;
    partition->sums[SUM_REMOTE] += event->tie >> 32 != event->process;
    digest_add(&partition->digest, (const uint64_t[]){event->time, event->process, event->tie}, 3);
}

static void phold_prefetch(const struct partition *partition, const struct event *event)
{
    __builtin_prefetch(phold_random(partition, event->process), 1);
}

static void phold_results(const struct model *model, const struct model_totals *totals, struct report *report)
{
    const struct phold_config *config = model->config;
    double events = (double)totals->sums[SUM_EVENTS];
    report_count(report, "processes", config->processes);
    report_count(report, "events", totals->sums[SUM_EVENTS]);
    report_count(report, "remote_events", totals->sums[SUM_REMOTE]);
    report_number(report, "remote_share", (double)totals->sums[SUM_REMOTE] / events);
    report_number(report, "events_per_process", events / (double)config->processes);
}

static const struct result phold_reports[] = {
    RESULT("processes", COUNT, NULL, "number of processes"),
    RESULT("events", COUNT, NULL, "committed events"),
    RESULT("remote_events", COUNT, NULL, "events for another process"),
    RESULT("remote_share", NUMBER, NULL, "their share of all events"),
    RESULT("events_per_process", NUMBER, NULL, "mean number of events per process"),
    RESULT_END,
};

static const struct model_ops phold = {
    .name = "phold",
    .summary = "events that hop between processes at random: the usual benchmark",
    .options = phold_options,
    .reports = phold_reports,
    .example = "{\"type\": \"phold\", \"processes\": 1024, \"remote\": 0.25, \"lookahead\": 100, \"mean_delay\": 1000}",
    .prepare = phold_prepare,
    .owner = phold_owner,
    .build = phold_build,
    .begin = phold_begin,
    .handle = phold_handle,
    .commit = phold_commit,
    .prefetch = phold_prefetch,
    .results = phold_results,
};
REGISTER_MODEL(phold);
/* Copied by `flitwarp new`, with an example: model=$ */
