/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns in which each message's destination is drawn by weights.
 *
 *   hotspot  a share of all messages goes to a few hot terminals, the rest to all terminals alike. Without `self` a source
 *            that draws itself draws again, so a hot terminal sends to the other hot ones and the rest; where there is
 *            nothing else to draw it stays silent
 *   matrix   from a file: one line a source, one comma-separated weight a destination. A message from a source goes to
 *            each destination with the probability of its weight over the sum of the line; a source whose line is all
 *            zero stays silent. The rate of a source does not depend on its sum: that is the injection process's matter
 *   mix      of patterns: for every message one of them is drawn by its weight and says where the message goes. When the
 *            drawn pattern has nothing for a source, another is drawn; a source that none has anything for stays silent
 *
 * Read by OpenCL too. The mix is not: it calls patterns by their operations.
 */
#include "flitwarp/bits.h"
#include "flitwarp/traffic.h"
#include "workload/numbers.h"
#include "workload/weights.h"

struct hotspot_config {
    struct u32_list terminals;
    struct f64_list weights;
    double share;
    fw_bool self;
};

struct hotspot_state {
    struct weights hot;
    uint32_t only; /* the terminal that all messages would go to; FW_NONE: there are several */
};

static uint32_t hotspot_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    FW_GLOBAL const struct hotspot_config *config = traffic->config;
    FW_GLOBAL const struct hotspot_state *state = traffic->state;
    FW_GLOBAL const uint32_t *hot = FW_AT(const uint32_t, traffic, config->terminals.items);
    if (state->only == source && !config->self)
        return FW_NONE;
    uint32_t destination;
    do
        destination = random_unit(random) < config->share ? hot[WEIGHTS_DRAW(traffic, &state->hot, random)]
                                                          : random_below(random, traffic->terminals);
    while (destination == source && !config->self);
    return destination;
}

/* The state is the weights of each source. */
static uint32_t matrix_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    FW_GLOBAL const struct weights *row = (FW_GLOBAL const struct weights *)traffic->state + source;
    FW_GLOBAL const double *sums = FW_AT(const double, traffic, row->sums);
    return sums[row->count - 1] > 0 ? weights_draw(sums, row->count, random) : FW_NONE;
}

#if FW_HOST
/* ---- hotspot ---- */

static const struct option hotspot_options[] = {
    OPTION_U32_LIST(struct hotspot_config, terminals, "[0]", 0, FW_NONE - 1, NULL, "the hot terminals"),
    OPTION_F64_LIST(struct hotspot_config, weights, "[]", 0, 1e9, NULL, "how hot each is; empty: all the same"),
    OPTION_F64(struct hotspot_config, share, "1", 0, 1, NULL, "fraction of the messages that go to the hot terminals"),
    OPTION_BOOL(struct hotspot_config, self, "false", "whether a terminal also sends to itself"),
    OPTION_END,
};

static uint32_t only_target(const struct hotspot_config *config, const struct weights *hot, uint32_t terminals)
{
    uint32_t only = FW_NONE;
    if (terminals == 1)
        return 0;
    if (config->share < 1)
        return FW_NONE;
    for (uint32_t i = 0; i < hot->count; i++) {
        if (weights_share(hot, i) <= 0 || config->terminals.items[i] == only)
            continue;
        if (only != FW_NONE)
            return FW_NONE;
        only = config->terminals.items[i];
    }
    return only;
}

static void hotspot_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                            struct errors *errors)
{
    const struct hotspot_config *config = traffic->config;
    struct hotspot_state *state = traffic->state = arena_array(space->arena, struct hotspot_state, 1);
    uint32_t before = errors->count;
    if (config->terminals.count == 0)
        choice_error(errors, self, "terminals", "there must be a hot terminal");
    for (uint32_t i = 0; i < config->terminals.count; i++)
        if (config->terminals.items[i] >= space->terminals)
            choice_error(errors, self, "terminals", "there is no terminal %u: the last one is %u",
                         config->terminals.items[i], space->terminals - 1);
    if (errors->count == before &&
        weights_from_option(&state->hot, space->arena, &config->weights, config->terminals.count, self, errors))
        state->only = only_target(config, &state->hot, space->terminals);
}

/* ---- matrix ---- */

struct matrix_config {
    const char *file;
};

static const struct option matrix_options[] = {
    OPTION_FILE(struct matrix_config, file, REQUIRED, "CSV file of weights, a line for each source"),
    OPTION_END,
};

static void matrix_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                           struct errors *errors)
{
    const char *path = ((const struct matrix_config *)traffic->config)->file;
    uint32_t terminals = space->terminals, before = errors->count;
    struct numbers numbers;
    if (!numbers_read(&numbers, path, NULL, space->arena, self, "file", errors))
        return;
    if (numbers.count != terminals)
        choice_error(errors, self, "file", "%s: %u lines of weights for %u terminals", path, numbers.count, terminals);
    struct weights *rows = traffic->state = arena_array(space->arena, struct weights, numbers.count);
    for (uint32_t i = 0; i < numbers.count && errors->count == before; i++) {
        const struct numbers_row *row = &numbers.rows[i];
        if (row->count != terminals)
            choice_error(errors, self, "file", "%s:%u: %u weights for %u terminals", path, row->line, row->count,
                         terminals);
        else
            weights_init(&rows[i], space->arena, row->values, row->count);
    }
}

/* ---- mix ---- */

struct mix_config {
    struct choice_list patterns;
    struct f64_list weights;
};

static const struct option mix_options[] = {
    OPTION_CHOICES(struct mix_config, patterns, "traffic", REQUIRED, 1, WORD_BITS, "the patterns to draw from"),
    OPTION_F64_LIST(struct mix_config, weights, "[]", 0, 1e9, NULL, "how often each is drawn; empty: all the same"),
    OPTION_END,
};

struct mix_state {
    struct weights weights;
    uint64_t drawn; /* set of the patterns whose weight is above 0 */
    struct traffic *patterns;
};

static void mix_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                        struct errors *errors)
{
    const struct mix_config *config = traffic->config;
    uint32_t count = config->patterns.count;
    struct mix_state *state = traffic->state = arena_array(space->arena, struct mix_state, 1);
    state->patterns = arena_array(space->arena, struct traffic, count);
    for (uint32_t i = 0; i < count; i++)
        traffic_init(&state->patterns[i], &config->patterns.items[i], space, errors);
    if (!weights_from_option(&state->weights, space->arena, &config->weights, count, self, errors))
        return;
    for (uint32_t i = 0; i < count; i++)
        if (weights_share(&state->weights, i) > 0)
            bits_add(&state->drawn, i);
}

static uint32_t mix_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    const struct mix_state *state = traffic->state;
    uint64_t left = state->drawn; /* not known to be silent */
    while (left) {
        uint32_t index = WEIGHTS_DRAW(traffic, &state->weights, random);
        if (!bits_test(&left, index))
            continue;
        const struct traffic *pattern = &state->patterns[index];
        uint32_t destination = pattern->ops->destination(pattern, source, random);
        if (destination != FW_NONE)
            return destination;
        bits_remove(&left, index);
    }
    return FW_NONE;
}

static const struct traffic_ops weighted[] = {
    {COMPONENT("hotspot", "a share of the messages to a few hot terminals, the rest uniform", hotspot_options,
               "{\"type\": \"hotspot\", \"terminals\": [0, 7], \"weights\": [3, 1], \"share\": 0.2}"),
     .prepare = hotspot_prepare, .destination = hotspot_destination, DEVICE_FORM(hotspot_destination)},
    {COMPONENT("matrix", "weights for every source and destination, from a file", matrix_options,
               "{\"type\": \"matrix\", \"file\": \"weights.csv\"}"),
     .prepare = matrix_prepare, .destination = matrix_destination, DEVICE_FORM(matrix_destination)},
    {COMPONENT("mix", "several patterns, drawn by weight for every message", mix_options,
               "{\"type\": \"mix\", \"patterns\": [\"uniform_random\", \"neighbor\"], \"weights\": [1, 3]}"),
     .prepare = mix_prepare, .destination = mix_destination},
};
REGISTER_TRAFFIC_FAMILY(weighted);
#endif
