/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window in which an application is sampled, see steady.h. Of a steady state:
 * warm-up is over when latency and throughput stand still, or after a number of ticks;
 * the window is long enough when the mean latency is known well, or after a number of
 * ticks. Of an errand: it lasts as long as that.
 */
#include "flitwarp/steady.h"

#include "metrics/measurement.h"
#include "metrics/warmup.h"

#include <math.h>

const struct option window_span_options[] = {
    OPTION_TICKS_AUTO(struct window_config, warmup, "\"auto\"", 0, 1e15,
                      "before sampling begins; auto: until latency and throughput stand still"),
    OPTION_TICKS_AUTO(struct window_config, sample, "\"auto\"", 0, 1e15,
                      "sampling window; auto: until the mean latency is known to `precision`"),
    OPTION_END,
};

const struct option window_limit_options[] = {
    OPTION_F64(struct window_config, precision, "0.01", 1e-6, 1, NULL,
               "with sample auto: half width of the 95 % interval, relative to the mean latency"),
    OPTION_TICKS(struct window_config, min_sample, "5000", 1, 1e15, "with sample auto: the shortest window"),
    OPTION_TICKS(struct window_config, max_sample, "200000", 1, 1e15, "with sample auto: the longest window"),
    OPTION_TICKS(struct window_config, finish_limit, "1000000", 1, 1e15,
                 "how long to wait for sampled packets after the window"),
    OPTION_END,
};

const struct option window_options[] = {
    OPTION_ROWS_OF(window_span_options),
    OPTION_ROWS_OF(window_limit_options),
    OPTION_END,
};

const struct option errand_options[] = {
    OPTION_TICKS(struct errand_config, delay, "0", 0, 1e15, "from the start of sampling to the first message"),
    OPTION_TICKS(struct errand_config, limit, "1000000000000", 1, 1e15, "how long it may take before it is given up"),
    OPTION_END,
};

void window_prepare(struct window *window, const struct application *application, const struct window_config *config,
                    struct errors *errors)
{
    *window = (struct window){.config = *config};
    if (config->min_sample > config->max_sample)
        choice_error(errors, application->choice, "min_sample", "%llu is above max_sample (%llu)",
                     (unsigned long long)config->min_sample, (unsigned long long)config->max_sample);
    if (config->warmup == TICKS_AUTO) {
        window->warmup = arena_array(application->arena, struct warmup, 1);
        warmup_init(window->warmup, &WARMUP_RULE_DEFAULT, application->arena);
    }
}

/* What happened since the last grid point, for warm-up detection. */
static bool is_warm(struct window *window, const struct measurement *m)
{
    warmup_add(window->warmup, m->delivered_packets - window->packets, m->latency_sum - window->latency_sum,
               m->accepted_flits - window->flits);
    window->packets = m->delivered_packets;
    window->latency_sum = m->latency_sum;
    window->flits = m->accepted_flits;
    return warmup_is_over(window->warmup) || warmup_gave_up(window->warmup);
}

static bool is_precise(const struct window *window, const struct measurement *m, tick_t elapsed)
{
    if (elapsed >= window->config.max_sample)
        return true;
    if (elapsed < window->config.min_sample)
        return false;
    if (measurement_is_saturated(m))
        return true;
    struct estimate estimate = batch_means_estimate(&m->batches);
    return estimate.half_width <= window->config.precision * estimate.mean;
}

/* A signal given here changes the phase at the next grid point, so it is given one interval ahead. */
void window_check(struct window *window, struct application *application, tick_t now)
{
    const struct window_config *config = &window->config;
    const struct measurement *m = application->measurement;
    tick_t next = now + application->check_interval;
    switch (application->phase) {
    case PHASE_WARMING:
        if (application->ready)
            break;
        if (window->warmup)
            application->ready = now > application->receive_delay && is_warm(window, m); /* replies flow too */
        else
            application->ready = next >= config->warmup;
        break;
    case PHASE_GENERATING: {
        tick_t elapsed = next - application->phase_start[PHASE_GENERATING];
        application->complete =
            config->sample == TICKS_AUTO ? is_precise(window, m, elapsed) : elapsed >= config->sample;
        break;
    }
    default:
        application->done = application_is_finished(application, now, config->finish_limit);
    }
}

void errand_check(struct application *application, bool is_over, tick_t limit, tick_t now)
{
    bool is_late = now - application->phase_start[PHASE_GENERATING] >= limit;
    application->ready = true;
    application->complete = application->phase == PHASE_GENERATING && (is_over || is_late);
    application->done = application->phase == PHASE_FINISHING;
}

void errand_report(const struct application *application, struct report *report, tick_t delay, bool is_over,
                   tick_t last)
{
    tick_t first = application->phase_start[PHASE_GENERATING] + delay;
    report_number(report, "completion_time", is_over ? (double)(last - first) : NAN);
}
