/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tornado: on a grid every message goes ceil(k/2) - 1 routers up in each
 * dimension (or in the first alone), going round, to the same slot at that
 * router. In a ring nearly half way round, all in one direction: minimal routing
 * leaves the other direction idle and reaches 1 / (ceil(k/2) - 1) at most.
 */
#include "flitwarp/traffic.h"

enum tornado_dimensions { DIMENSIONS_ALL, DIMENSIONS_FIRST };
static const char *const tornado_dimensions_words[] = {"all", "first", NULL};

struct tornado_config {
    uint32_t dimensions;
};

static const struct option tornado_options[] = {
    OPTION_ENUM(struct tornado_config, dimensions, "\"all\"", tornado_dimensions_words,
                "the dimensions in which a message moves"),
    OPTION_END,
};

struct tornado_state {
    uint32_t dimensions; /* that move */
    uint32_t width[MAX_DIMENSIONS];
    uint32_t concentration;
};

static void tornado_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                            struct errors *errors)
{
    if (!space->grid) {
        choice_error(errors, self, NULL,
                     "tornado needs coordinates: an application on all terminals, in order, of a torus or mesh");
        return;
    }
    const struct tornado_config *config = traffic->config;
    struct tornado_state *state = arena_array(space->arena, struct tornado_state, 1);
    traffic->state = state;
    state->dimensions = config->dimensions == DIMENSIONS_FIRST ? 1 : space->grid->dimensions;
    state->concentration = space->concentration;
    for (uint32_t d = 0; d < state->dimensions; d++)
        state->width[d] = space->grid->width[d];
}

static uint32_t tornado_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    const struct tornado_state *state = traffic->state;
    uint32_t destination = source % state->concentration;
    uint32_t rest = source / state->concentration, scale = state->concentration;
    for (uint32_t d = 0; d < state->dimensions; d++) {
        uint32_t width = state->width[d];
        uint32_t moved = (rest % width + (width + 1) / 2 - 1) % width;
        destination += moved * scale;
        rest /= width;
        scale *= width;
    }
    return destination + rest * scale;
}

static const struct traffic_ops tornado = {
    .name = "tornado",
    .summary = "nearly half way round a grid in every dimension",
    .options = tornado_options,
    .config_size = sizeof(struct tornado_config),
    .example = "{\"type\": \"tornado\", \"dimensions\": \"first\"}",
    .prepare = tornado_prepare,
    .destination = tornado_destination,
};
REGISTER_TRAFFIC(tornado);
