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

struct blast_config {
    struct steady_config steady;
    struct sampling_config sampling;
};

static const struct option blast_options[] = {
    OPTION_ROWS(struct blast_config, steady, struct steady_config, steady_options),
    OPTION_ROWS(struct blast_config, sampling, struct sampling_config, sampling_options),
    OPTION_ROWS(struct blast_config, steady.common, struct application_config, application_options),
    OPTION_END,
};

static void blast_prepare(struct application *application, struct errors *errors)
{
    const struct blast_config *config = application->config;
    struct steady *steady = application->state = arena_array(application->arena, struct steady, 1);
    sampling_prepare(application, &config->sampling, errors);
    steady_prepare(steady, application, errors);
}

static void blast_begin(struct application *application)
{
    struct steady *steady = application->state;
    for (uint32_t rank = 0; rank < application->ranks; rank++)
        if (application_is_here(application, rank) && !steady_is_silent(steady, rank))
            application_wake_at(application, rank, steady_gap(steady, application, rank, true));
}

static void blast_wake(struct application *application, uint32_t rank, tick_t now)
{
    struct steady *steady = application->state;
    if (application->phase == PHASE_DRAINING)
        return;
    tick_t gap;
    do {
        steady_send(steady, application, rank);
        gap = steady_gap(steady, application, rank, false);
    } while (gap == 0);
    application_wake_at(application, rank, now + gap);
}

static void blast_received(struct application *application, uint32_t rank, const struct message *message, tick_t now)
{
    struct steady *steady = application->state;
    (void)rank, (void)now;
    steady_answer(steady, application, message);
}

static const struct application_ops blast = {
    COMPONENT("blast", "steady traffic, sampled in its steady state", blast_options,
              "{\"type\": \"blast\", \"load\": 0.3, \"traffic\": \"uniform_random\", \"size\": {\"type\": \"fixed\", "
              "\"flits\": 1}, \"warmup\": 2000, \"sample\": 10000}"),
    .device = {.file = "src/device/terminal_kernel.h"},
    .prepare = blast_prepare,
    .begin = blast_begin,
    .wake = blast_wake,
    .received = blast_received,
    .check = window_check,
};
REGISTER_APPLICATION(blast);
