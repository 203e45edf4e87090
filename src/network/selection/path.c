/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plane with the shortest way to the destination, which differs where terminals
 * hang in another order. Among equals the one for which least waits at the terminal
 * (the PATH scheme of Fit Fly), and any of those where it is as little.
 */
#include "flitwarp/selection.h"

struct path_config {
    uint32_t count;
};

static const struct option path_options[] = {
    OPTION_ENUM(struct path_config, count, "\"packets\"", queue_measure_names,
                "what is counted of those that wait, for planes with ways of the same length"),
    OPTION_END,
};

static uint32_t path_select(const struct selection *selection, const struct plane_question *question)
{
    const struct path_config *config = selection->config;
    uint64_t nearest = planes_least(question->planes, question->hops, 1);
    return planes_draw(selection, question, planes_least_queued(question, nearest, (enum queue_measure)config->count));
}

static const struct selection_ops path_selection = {
    .name = "path",
    .summary = "the plane with the shortest way, of those the one for which least waits",
    .options = path_options,
    .example = "{\"type\": \"path\", \"count\": \"packets\"}",
    .needs_hops = true,
    .select = path_select,
};
REGISTER_SELECTION(path_selection);
