/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plane for which least waits at the terminal itself, those on their way into
 * the network included (the CONGESTION scheme of Fit Fly). Any of those where it is
 * as little.
 */
#include "flitwarp/selection.h"

struct congestion_config {
    uint32_t count;
};

static const struct option congestion_options[] = {
    OPTION_ENUM(struct congestion_config, count, "\"packets\"", queue_measure_names,
                "what is counted of those that wait"),
    OPTION_END,
};

static uint32_t congestion_select(const struct selection *selection, const struct plane_question *question)
{
    const struct congestion_config *config = selection->config;
    return planes_draw(selection, question,
                       planes_least_queued(question, question->planes, (enum queue_measure)config->count));
}

static const struct selection_ops congestion_selection = {
    .name = "congestion",
    .summary = "the plane for which least waits at the terminal",
    .options = congestion_options,
    .example = "{\"type\": \"congestion\", \"count\": \"flits\"}",
    .select = congestion_select,
};
REGISTER_SELECTION(congestion_selection);
