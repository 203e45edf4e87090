/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few message sizes with weights, which may be percentages or any other numbers in
 * proportion.
 *
 *   mix   as the settings list them: short requests and long replies, say
 *   file  as measured: a CSV file of lines `flits,weight`, with or without that line itself
 *         as the first one; in any order
 */
#include "flitwarp/size.h"

#include "workload/numbers.h"
#include "workload/weights.h"

#define MAX_FLITS (1 << 30)

struct weighted_sizes {
    const uint32_t *flits;
    struct weights weights;
};

/* Mean and largest of the sizes that can be drawn. */
static void sum_up(struct size *size, struct weighted_sizes *sizes)
{
    size->state = sizes;
    for (uint32_t i = 0; i < sizes->weights.count; i++) {
        double share = weights_share(&sizes->weights, i);
        size->mean += share * sizes->flits[i];
        if (sizes->flits[i] > size->max && share > 0)
            size->max = sizes->flits[i];
    }
}

static uint32_t weighted_draw(const struct size *size, struct random *random)
{
    const struct weighted_sizes *sizes = size->state;
    return sizes->flits[weights_draw(&sizes->weights, random)];
}

struct mix_config {
    struct u32_list sizes;
    struct f64_list weights;
};

static const struct option mix_options[] = {
    OPTION_U32_LIST(struct mix_config, sizes, REQUIRED, 1, 1 << 30, "flits", "the sizes to draw from"),
    OPTION_F64_LIST(struct mix_config, weights, "[]", 0, 1e9, NULL, "how often each is drawn; empty: all the same"),
    OPTION_END,
};

static void mix_sizes_prepare(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct mix_config *config = size->config;
    if (config->sizes.count == 0) {
        choice_error(errors, self, "sizes", "there must be a size to draw");
        return;
    }
    struct weighted_sizes *sizes = arena_array(arena, struct weighted_sizes, 1);
    sizes->flits = config->sizes.items;
    if (weights_from_option(&sizes->weights, arena, &config->weights, config->sizes.count, self, errors))
        sum_up(size, sizes);
}

struct file_config {
    const char *file;
};

static const struct option file_options[] = {
    OPTION_FILE(struct file_config, file, REQUIRED, "CSV file of lines flits,weight"),
    OPTION_END,
};

/* One line into a size and its weight. */
static bool file_take_row(const struct numbers_row *row, uint32_t *flits, double *weight, const char *path,
                          const struct choice *self, struct errors *errors)
{
    if (row->count != 2)
        return choice_error(errors, self, "file", "%s:%u: %u values instead of flits,weight", path, row->line,
                            row->count);
    double size = row->values[0];
    if (size < 1 || size > MAX_FLITS || size != (uint32_t)size)
        return choice_error(errors, self, "file", "%s:%u: a size of %g is not a whole number from 1 to %d", path,
                            row->line, size, MAX_FLITS);
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
        if (!file_take_row(&numbers.rows[i], &flits[i], &weights[i], config->file, self, errors))
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
    sum_up(size, sizes);
}

static const struct size_ops weighted[] = {
    {
        .name = "mix",
        .summary = "a few sizes with weights",
        .options = mix_options,
        .example = "{\"type\": \"mix\", \"sizes\": [1, 5], \"weights\": [80, 20]}",
        .prepare = mix_sizes_prepare,
        .draw = weighted_draw,
    },
    {
        .name = "file",
        .summary = "sizes and their weights from a file",
        .options = file_options,
        .example = "{\"type\": \"file\", \"file\": \"sizes.csv\"}",
        .prepare = file_prepare,
        .draw = weighted_draw,
    },
};
REGISTER_COMPONENTS("size", weighted);
