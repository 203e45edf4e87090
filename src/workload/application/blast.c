/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blast: steady traffic, measured in its steady state. It sends from the
 * beginning; says ready when warm-up is over, complete when the sampling window
 * is long enough, and done when all sampled packets have arrived and all sampled
 * requests are answered. It keeps sending until it is killed, so that sampled
 * packets meet the same network from first to last. After the SuperSim paper's
 * application of that name.
 */
#include "flitwarp/steady.h"

#include "metrics/measurement.h"
#include "metrics/warmup.h"

struct blast_config {
    struct application_config common;
    double load;
    struct choice traffic, injection, size, reply;
    uint64_t reply_delay, warmup, sample, min_sample, max_sample, finish_limit;
    double precision;
};

static const struct option blast_options[] = {
    STEADY_OPTIONS(struct blast_config),
    OPTION_TICKS_AUTO(struct blast_config, warmup, "\"auto\"", 0, 1e15,
                      "before sampling begins; auto: until latency and throughput stand still"),
    OPTION_TICKS_AUTO(struct blast_config, sample, "\"auto\"", 0, 1e15,
                      "sampling window; auto: until the mean latency is known to `precision`"),
    OPTION_F64(struct blast_config, precision, "0.01", 1e-6, 1, NULL,
               "with sample auto: half width of the 95 % interval, relative to the mean latency"),
    OPTION_TICKS(struct blast_config, min_sample, "5000", 1, 1e15, "with sample auto: the shortest window"),
    OPTION_TICKS(struct blast_config, max_sample, "200000", 1, 1e15, "with sample auto: the longest window"),
    OPTION_TICKS(struct blast_config, finish_limit, "1000000", 1, 1e15,
                 "how long to wait for sampled packets after the window"),
    APPLICATION_OPTIONS,
    OPTION_END,
};

struct blast {
    struct steady steady;
    struct warmup warmup;
    uint64_t packets, latency_sum, flits; /* at the last grid point */
};

static void blast_prepare(struct application *application, struct errors *errors)
{
    const struct blast_config *config = application->config;
    struct blast *blast = arena_take(application->arena, sizeof *blast);
    application->state = blast;
    if (config->min_sample > config->max_sample)
        choice_error(errors, application->choice, "min_sample", "%llu is above max_sample (%llu)",
                     (unsigned long long)config->min_sample, (unsigned long long)config->max_sample);
    if (steady_prepare(&blast->steady, application, STEADY_SETTINGS(config), errors) && config->warmup == TICKS_AUTO)
        warmup_init(&blast->warmup, &WARMUP_RULE_DEFAULT, application->arena);
}

static uint32_t blast_max_message(const struct application *application)
{
    const struct blast *blast = application->state;
    return steady_max_message(&blast->steady);
}

static double blast_load(const struct application *application)
{
    return ((const struct blast_config *)application->config)->load;
}

static void blast_begin(struct application *application)
{
    struct blast *blast = application->state;
    for (uint32_t rank = 0; rank < application->ranks && !blast->steady.silent; rank++)
        application_wake_at(application, rank, steady_gap(&blast->steady, application, rank, true));
}

static void blast_wake(struct application *application, uint32_t rank, tick_t now)
{
    struct blast *blast = application->state;
    if (application->phase == PHASE_DRAINING)
        return;
    tick_t gap;
    do {
        steady_send(&blast->steady, application, rank);
        gap = steady_gap(&blast->steady, application, rank, false);
    } while (gap == 0);
    application_wake_at(application, rank, now + gap);
}

static void blast_received(struct application *application, uint32_t rank, const struct message *message, tick_t now)
{
    struct blast *blast = application->state;
    (void)rank, (void)now;
    steady_answer(&blast->steady, application, message);
}

/* What happened since the last grid point, for warm-up detection. */
static bool is_warm(struct application *application)
{
    struct blast *blast = application->state;
    const struct measurement *m = application->measurement;
    warmup_add(&blast->warmup, m->delivered_packets - blast->packets, m->latency_sum - blast->latency_sum,
               m->accepted_flits - blast->flits);
    blast->packets = m->delivered_packets;
    blast->latency_sum = m->latency_sum;
    blast->flits = m->accepted_flits;
    return warmup_is_over(&blast->warmup) || warmup_gave_up(&blast->warmup);
}

static bool is_precise(const struct application *application, tick_t elapsed)
{
    const struct blast_config *config = application->config;
    const struct measurement *m = application->measurement;
    if (elapsed >= config->max_sample)
        return true;
    if (elapsed < config->min_sample)
        return false;
    if (measurement_is_saturated(m))
        return true;
    struct estimate estimate = batch_means_estimate(&m->batches);
    return estimate.half_width <= config->precision * estimate.mean;
}

/* A signal given here changes the phase at the next grid point, so it is given one interval ahead. */
static void blast_check(struct application *application, tick_t now)
{
    const struct blast_config *config = application->config;
    tick_t next = now + application->check_interval;
    switch (application->phase) {
    case PHASE_WARMING:
        if (application->ready)
            break;
        if (config->warmup == TICKS_AUTO)
            application->ready = now > application->receive_delay && is_warm(application); /* replies flow too */
        else
            application->ready = next >= config->warmup;
        break;
    case PHASE_GENERATING: {
        tick_t elapsed = next - application->phase_start[PHASE_GENERATING];
        application->complete =
            config->sample == TICKS_AUTO ? is_precise(application, elapsed) : elapsed >= config->sample;
        break;
    }
    default:
        application->done = application_is_finished(application, now, config->finish_limit);
    }
}

static const struct application_ops blast = {
    .name = "blast",
    .summary = "steady traffic, sampled in its steady state",
    .options = blast_options,
    .config_size = sizeof(struct blast_config),
    .example = "{\"type\": \"blast\", \"load\": 0.3, \"traffic\": \"uniform_random\", \"size\": {\"type\": \"fixed\", "
               "\"flits\": 1}, \"warmup\": 2000, \"sample\": 10000}",
    .prepare = blast_prepare,
    .max_message = blast_max_message,
    .load = blast_load,
    .begin = blast_begin,
    .wake = blast_wake,
    .received = blast_received,
    .check = blast_check,
};
REGISTER_APPLICATION(blast);
