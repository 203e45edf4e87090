/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traffic matrix from a file: one line a source, one comma-separated weight a
 * destination. A message from a source goes to each destination with the
 * probability of its weight over the sum of the line; a source whose line is all
 * zero stays silent. The rate of a source does not depend on its sum: that is the
 * injection process's matter.
 */
#include "flitwarp/traffic.h"
#include "workload/numbers.h"

struct matrix_config {
    const char *file;
};

static const struct option matrix_options[] = {
    OPTION_FILE(struct matrix_config, file, REQUIRED, "CSV file of weights, a line for each source"),
    OPTION_END,
};

static bool is_square(const struct numbers *numbers, const char *path, uint32_t terminals, const struct choice *self,
                      struct errors *errors)
{
    uint32_t before = errors->count;
    if (numbers->count != terminals)
        choice_error(errors, self, "file", "%s: %u lines of weights for %u terminals", path, numbers->count, terminals);
    for (uint32_t i = 0; i < numbers->count && errors->count == before; i++)
        if (numbers->rows[i].count != terminals)
            choice_error(errors, self, "file", "%s:%u: %u weights for %u terminals", path, numbers->rows[i].line,
                         numbers->rows[i].count, terminals);
    return errors->count == before;
}

static void matrix_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                           struct errors *errors)
{
    const struct matrix_config *config = traffic->config;
    struct numbers numbers;
    if (!numbers_read(&numbers, config->file, NULL, space->arena, self, "file", errors) ||
        !is_square(&numbers, config->file, space->terminals, self, errors))
        return;
    struct weights *rows = traffic->state = arena_array(space->arena, struct weights, numbers.count);
    for (uint32_t i = 0; i < numbers.count; i++)
        weights_init(&rows[i], space->arena, numbers.rows[i].values, numbers.rows[i].count);
}

static uint32_t matrix_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct weights *rows = traffic->state;
    return weights_sum(&rows[source]) > 0 ? weights_draw(&rows[source], random) : FW_NONE;
}

static const struct traffic_ops matrix = {
    .name = "matrix",
    .summary = "weights for every source and destination, from a file",
    .options = matrix_options,
    .example = "{\"type\": \"matrix\", \"file\": \"weights.csv\"}",
    .prepare = matrix_prepare,
    .destination = matrix_destination,
};
REGISTER_TRAFFIC(matrix);
