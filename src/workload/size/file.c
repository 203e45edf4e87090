/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Message sizes as measured: a CSV file of lines `flits,weight`, with or without
 * that line itself as the first one. Sizes may stand in any order.
 */
#include "workload/numbers.h"
#include "workload/sizes.h"

#define MAX_FLITS (1 << 30)

struct file_config {
    const char *file;
};

static const struct option file_options[] = {
    OPTION_FILE(struct file_config, file, REQUIRED, "CSV file of lines flits,weight"),
    OPTION_END,
};

/* One line into a size and its weight. */
static bool take_row(const struct numbers_row *row, uint32_t *flits, double *weight, const char *path,
                     const struct choice *self, struct errors *errors)
{
    if (row->count != 2) {
        choice_error(errors, self, "file", "%s:%u: %u values instead of flits,weight", path, row->line, row->count);
        return false;
    }
    double size = row->values[0];
    if (size < 1 || size > MAX_FLITS || size != (uint32_t)size) {
        choice_error(errors, self, "file", "%s:%u: a size of %g is not a whole number from 1 to %d", path, row->line,
                     size, MAX_FLITS);
        return false;
    }
    *flits = (uint32_t)size;
    *weight = row->values[1];
    return true;
}

static void file_prepare(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct file_config *config = size->config;
    struct numbers numbers;
    if (!numbers_read(&numbers, config->file, "flits,weight", arena, self, "file", errors))
        return;
    uint32_t *flits = arena_array(arena, uint32_t, numbers.count);
    double *weights = arena_array(arena, double, numbers.count), sum = 0;
    for (uint32_t i = 0; i < numbers.count; i++) {
        if (!take_row(&numbers.rows[i], &flits[i], &weights[i], config->file, self, errors))
            return;
        sum += weights[i];
    }
    if (!(sum > 0)) {
        choice_error(errors, self, "file", "%s: all weights are 0: one at least must be above", config->file);
        return;
    }
    struct weighted_sizes *sizes = arena_array(arena, struct weighted_sizes, 1);
    sizes->flits = flits;
    weights_init(&sizes->weights, arena, weights, numbers.count);
    size->state = sizes;
}

static const struct size_ops file = {
    .name = "file",
    .summary = "sizes and their weights from a file",
    .options = file_options,
    .config_size = sizeof(struct file_config),
    .example = "{\"type\": \"file\", \"file\": \"sizes.csv\"}",
    .prepare = file_prepare,
    .mean = weighted_sizes_mean,
    .max = weighted_sizes_max,
    .draw = weighted_sizes_draw,
};
REGISTER_SIZE(file);
