/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes of messages.
 *
 *   fixed       all the same. It draws no random numbers, so runs that differ in size alone inject at the same times to
 *               the same places
 *   mix         a few with weights, which may be percentages or any other numbers in proportion, as the settings list
 *               them: short requests and long replies, say
 *   file        the same, as measured: a CSV file of lines `flits,weight`, with or without that line itself as the
 *               first one; in any order
 *   read_write  between processors and memories: a read asks with a short message and is answered with data, a write
 *               brings the data and is answered shortly. What an application sends with these sizes is answered
 *               without a `reply` of its own
 *
 * Read by OpenCL too.
 */
#include "flitwarp/size.h"

#include "workload/numbers.h"
#include "workload/weights.h"

static uint32_t fixed_draw(const struct size *size, struct random *random)
{
    (void)random;
    return size->max;
}

struct weighted_sizes {
    FW_FAR(const uint32_t) flits;
    struct weights weights;
};

static uint32_t weighted_size_draw(const struct size *size, struct random *random)
{
    FW_GLOBAL const struct weighted_sizes *sizes = size->state;
    return FW_AT(const uint32_t, size, sizes->flits)[WEIGHTS_DRAW(size, &sizes->weights, random)];
}

struct read_write_config {
    double reads;
    uint32_t read_request, read_reply, write_request, write_reply;
};

enum { KIND_READ, KIND_WRITE };

static uint32_t read_write_draw_request(const struct size *size, struct random *random, uint32_t *kind)
{
    FW_GLOBAL const struct read_write_config *config = size->config;
    *kind = random_unit(random) < config->reads ? KIND_READ : KIND_WRITE;
    return *kind == KIND_READ ? config->read_request : config->write_request;
}

static uint32_t read_write_draw(const struct size *size, struct random *random)
{
    uint32_t kind;
    return read_write_draw_request(size, random, &kind);
}

static uint32_t read_write_reply(const struct size *size, uint32_t kind)
{
    FW_GLOBAL const struct read_write_config *config = size->config;
    return kind == KIND_READ ? config->read_reply : config->write_reply;
}

#if FW_HOST
#define MAX_FLITS (1 << 30)

struct fixed_config {
    uint32_t flits;
};

static const struct option fixed_options[] = {
    OPTION_U32(struct fixed_config, flits, "1", 1, MAX_FLITS, "flits", "size of every message"),
    OPTION_END,
};

static void fixed_prepare(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors)
{
    (void)self, (void)arena, (void)errors;
    size->mean = size->max = ((const struct fixed_config *)size->config)->flits;
}

/* ---- with weights ---- */

/* Mean and largest of the sizes that can be drawn. */
static void sum_up(struct size *size)
{
    const struct weighted_sizes *sizes = size->state;
    for (uint32_t i = 0; i < sizes->weights.count; i++) {
        double share = weights_share(&sizes->weights, i);
        size->mean += share * sizes->flits[i];
        if (sizes->flits[i] > size->max && share > 0)
            size->max = sizes->flits[i];
    }
}

struct mix_config {
    struct u32_list sizes;
    struct f64_list weights;
};

static const struct option mix_options[] = {
    OPTION_U32_LIST(struct mix_config, sizes, REQUIRED, 1, MAX_FLITS, "flits", "the sizes to draw from"),
    OPTION_F64_LIST(struct mix_config, weights, "[]", 0, 1e9, NULL, "how often each is drawn; empty: all the same"),
    OPTION_END,
};

static void mix_sizes_prepare(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct mix_config *config = size->config;
    struct weighted_sizes *sizes = size->state = arena_array(arena, struct weighted_sizes, 1);
    sizes->flits = config->sizes.items;
    if (config->sizes.count == 0)
        choice_error(errors, self, "sizes", "there must be a size to draw");
    else if (weights_from_option(&sizes->weights, arena, &config->weights, config->sizes.count, self, errors))
        sum_up(size);
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
    struct weighted_sizes *sizes = size->state = arena_array(arena, struct weighted_sizes, 1);
    struct numbers numbers;
    bool is_good = numbers_read(&numbers, config->file, "flits,weight", arena, self, "file", errors);
    uint32_t *flits = arena_array(arena, uint32_t, numbers.count);
    double *weights = arena_array(arena, double, numbers.count), sum = 0;
    for (uint32_t i = 0; i < numbers.count && is_good; i++) {
        is_good = file_take_row(&numbers.rows[i], &flits[i], &weights[i], config->file, self, errors);
        sum += weights[i];
    }
    if (is_good && !(sum > 0))
        is_good = choice_error(errors, self, "file", "%s: all weights are 0: one at least must be above", config->file);
    if (!is_good)
        return;
    sizes->flits = flits;
    weights_init(&sizes->weights, arena, weights, numbers.count);
    sum_up(size);
}

/* ---- read_write ---- */

static const struct option read_write_options[] = {
    OPTION_F64(struct read_write_config, reads, "0.5", 0, 1, NULL, "share of the requests that are reads"),
    OPTION_U32(struct read_write_config, read_request, "1", 1, MAX_FLITS, "flits", "request of a read"),
    OPTION_U32(struct read_write_config, read_reply, "5", 1, MAX_FLITS, "flits", "reply to a read"),
    OPTION_U32(struct read_write_config, write_request, "5", 1, MAX_FLITS, "flits", "request of a write"),
    OPTION_U32(struct read_write_config, write_reply, "1", 1, MAX_FLITS, "flits", "reply to a write"),
    OPTION_END,
};

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void read_write_prepare(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors)
{
    (void)self, (void)arena, (void)errors;
    const struct read_write_config *config = size->config;
    uint32_t read = larger(config->read_request, config->read_reply);
    uint32_t write = larger(config->write_request, config->write_reply);
    size->max = larger(config->reads > 0 ? read : 0, config->reads < 1 ? write : 0); /* of what can occur */
    size->mean = config->reads * config->read_request + (1 - config->reads) * config->write_request;
}

static const struct size_ops sizes[] = {
    {COMPONENT("fixed", "all messages have the same size", fixed_options, "{\"type\": \"fixed\", \"flits\": 4}"),
     .prepare = fixed_prepare, .draw = fixed_draw, DEVICE_FORM(fixed_draw)},
    {COMPONENT("mix", "a few sizes with weights", mix_options,
               "{\"type\": \"mix\", \"sizes\": [1, 5], \"weights\": [80, 20]}"),
     .prepare = mix_sizes_prepare, .draw = weighted_size_draw, DEVICE_FORM(weighted_size_draw)},
    {COMPONENT("file", "sizes and their weights from a file", file_options,
               "{\"type\": \"file\", \"file\": \"sizes.csv\"}"),
     .prepare = file_prepare, .draw = weighted_size_draw, DEVICE_FORM(weighted_size_draw)},
    {COMPONENT("read_write", "requests and replies of reads and writes", read_write_options,
               "{\"type\": \"read_write\", \"reads\": 0.7, \"read_reply\": 9, \"write_request\": 9}"),
     .prepare = read_write_prepare, .draw = read_write_draw, .draw_request = read_write_draw_request,
     .reply = read_write_reply,
     .device = {.file = __FILE__,
                .function = "read_write_draw",
                .request = "read_write_draw_request",
                .reply = "read_write_reply"}},
};
REGISTER_COMPONENTS("size", sizes);
#endif
