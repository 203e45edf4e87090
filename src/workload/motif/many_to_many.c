/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many to many: every rank sends to some others and gets from as many, drawn anew in each
 * iteration. Partners are those at random distances in a random order of the ranks, so
 * that nobody has two messages for one partner, or one for itself.
 */
#include "flitwarp/motif.h"

#include "flitwarp/random.h"

#include <string.h>

struct many_to_many_config {
    struct motif_rounds rounds;
    uint32_t partners;
    uint64_t bytes;
};

static const struct option many_to_many_options[] = {
    OPTION_ROWS(struct many_to_many_config, rounds, struct motif_rounds, motif_rounds_options),
    OPTION_U32(struct many_to_many_config, partners, "4", 1, 1e6, NULL, "that each rank sends to in an iteration"),
    OPTION_U64(struct many_to_many_config, bytes, "16384", 0, MOTIF_MAX_BYTES, "bytes", "to each partner"),
    OPTION_END,
};

struct many_to_many {
    uint32_t *order, *places; /* the ranks in an order, and each rank's place in it */
    uint32_t *distances;      /* in that order to partners, by iteration */
};

/* The numbers from `first` on. */
static uint32_t *count_from(struct arena *arena, uint32_t first, uint32_t count)
{
    uint32_t *numbers = arena_array(arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = first + i;
    return numbers;
}

static void many_to_many_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    const struct many_to_many_config *config = motif->config;
    struct many_to_many *many = motif->state = arena_array(motif->arena, struct many_to_many, 1);
    struct random random = random_stream(motif->seed, 0, RANDOM_SETUP);
    uint32_t ranks = motif->ranks, partners = config->partners;
    (void)builder;
    if (partners >= ranks) {
        choice_error(errors, motif->choice, "partners", "%u among %u ranks; accepted: 1 to one less than ranks",
                     partners, ranks);
        return;
    }
    many->order = count_from(motif->arena, 0, ranks);
    random_draw(&random, many->order, ranks, ranks);
    many->places = arena_array(motif->arena, uint32_t, ranks);
    for (uint32_t place = 0; place < ranks; place++)
        many->places[many->order[place]] = place;
    uint32_t *distances = count_from(motif->arena, 1, ranks - 1);
    many->distances = arena_array(motif->arena, uint32_t, (size_t)config->rounds.iterations * partners);
    for (uint32_t i = 0; i < config->rounds.iterations; i++) {
        random_draw(&random, distances, ranks - 1, partners);
        memcpy(many->distances + (size_t)i * partners, distances, partners * sizeof *distances);
    }
}

static void many_to_many_program(const struct motif *motif, struct script *script)
{
    const struct many_to_many_config *config = motif->config;
    const struct many_to_many *many = motif->state;
    uint32_t ranks = motif->ranks, place = many->places[script->rank];
    for (uint32_t i = 0; i < config->rounds.iterations; i++) {
        const uint32_t *distances = many->distances + (size_t)i * config->partners;
        script_compute(script, config->rounds.compute);
        for (uint32_t p = 0; p < config->partners; p++)
            script_start_receive(script, many->order[(place + ranks - distances[p]) % ranks], config->bytes, 0);
        for (uint32_t p = 0; p < config->partners; p++)
            script_start_send(script, many->order[(place + distances[p]) % ranks], config->bytes, 0);
        script_wait(script);
    }
}

static const struct motif_ops many_to_many = {
    .name = "many_to_many",
    .summary = "exchange with partners drawn anew each time",
    .options = many_to_many_options,
    .example = "{\"type\": \"many_to_many\", \"partners\": 8, \"bytes\": 16384}",
    .prepare = many_to_many_prepare,
    .program = many_to_many_program,
};
REGISTER_MOTIF(many_to_many);
