/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pulse: a disturbance. It stays silent until sampling begins, waits a while,
 * sends a fixed number of messages from each rank, and is complete when all are
 * made. Beside a blast it shows how the network takes a sudden burst. After the
 * SuperSim paper's application of that name.
 */
#include "flitwarp/steady.h"

struct pulse_config {
    struct steady_config steady;
    uint64_t delay, finish_limit;
    uint32_t messages;
};

static const struct option pulse_options[] = {
    OPTION_ROWS(struct pulse_config, steady, struct steady_config, steady_options),
    OPTION_U32(struct pulse_config, messages, "100", 1, 1e9, NULL, "messages from each terminal"),
    OPTION_TICKS(struct pulse_config, delay, "0", 0, 1e15, "from the start of sampling to the pulse"),
    OPTION_TICKS(struct pulse_config, finish_limit, "1000000", 1, 1e15,
                 "how long to wait for sampled packets after the window"),
    OPTION_ROWS(struct pulse_config, steady.common, struct application_config, application_options),
    OPTION_END,
};

struct pulse {
    struct steady steady;
    uint32_t *left;      /* by rank: transactions to send, usually of one message */
    uint32_t ranks_left; /* with some left, of all */
};

static void pulse_prepare(struct application *application, struct errors *errors)
{
    const struct pulse_config *config = application->config;
    struct pulse *pulse = application->state = arena_take(application->arena, sizeof *pulse);
    pulse->left = arena_array(application->arena, uint32_t, application->ranks);
    if (config->messages % config->steady.messages_per_transaction)
        choice_error(errors, application->choice, "messages", "%u are no whole number of transactions of %u",
                     config->messages, config->steady.messages_per_transaction);
    if (steady_prepare(&pulse->steady, application, errors) && pulse->steady.silent)
        choice_error(errors, application->choice, "load", "0 makes no pulse; accepted: above 0");
    for (uint32_t rank = 0; rank < application->ranks; rank++)
        if (!steady_is_silent(&pulse->steady, rank)) {
            pulse->left[rank] = config->messages / config->steady.messages_per_transaction;
            pulse->ranks_left++;
        }
    application_share_count(application, &pulse->ranks_left);
}

static void pulse_phase_changed(struct application *application, tick_t now)
{
    const struct pulse_config *config = application->config;
    struct pulse *pulse = application->state;
    for (uint32_t rank = 0; application->phase == PHASE_GENERATING && rank < application->ranks; rank++)
        if (pulse->left[rank])
            application_wake_at(application, rank,
                                now + config->delay + steady_gap(&pulse->steady, application, rank, true));
}

static void pulse_wake(struct application *application, uint32_t rank, tick_t now)
{
    struct pulse *pulse = application->state;
    tick_t gap = 0;
    while (gap == 0 && pulse->left[rank]) {
        steady_send(&pulse->steady, application, rank);
        pulse->left[rank]--;
        gap = steady_gap(&pulse->steady, application, rank, false);
    }
    if (pulse->left[rank])
        application_wake_at(application, rank, now + gap);
    else
        application_count(application, &pulse->ranks_left, -1);
}

static void pulse_received(struct application *application, uint32_t rank, const struct message *message, tick_t now)
{
    struct pulse *pulse = application->state;
    (void)rank, (void)now;
    steady_answer(&pulse->steady, application, message);
}

static void pulse_check(struct application *application, tick_t now)
{
    const struct pulse_config *config = application->config;
    const struct pulse *pulse = application->state;
    application->ready = true;
    application->complete = pulse->ranks_left == 0;
    if (application->phase == PHASE_FINISHING)
        application->done = application_is_finished(application, now, config->finish_limit);
}

static const struct application_ops pulse = {
    .name = "pulse",
    .summary = "a burst of messages in the middle of another application's sampling",
    .options = pulse_options,
    .example = "{\"type\": \"pulse\", \"load\": 0.8, \"messages\": 200, \"delay\": 2000}",
    .prepare = pulse_prepare,
    .phase_changed = pulse_phase_changed,
    .wake = pulse_wake,
    .received = pulse_received,
    .check = pulse_check,
};
REGISTER_APPLICATION(pulse);
/* Copied by `flitwarp new`, with an example: workload.applications.0=$ */
