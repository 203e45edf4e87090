/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchanges: messages that are sent and awaited all at once.
 *
 *   halo          ranks at the points of a grid of one to three dimensions compute, then send their borders to all
 *                 neighbours and wait for theirs; now and then a sum over all
 *   incast        a server asks all its clients and gets all their answers, then asks again
 *   many_to_many  every rank sends to some others and gets from as many, drawn anew in each iteration. Partners are
 *                 those at random distances in a random order of the ranks, so that nobody has two messages for one
 *                 partner, or one for itself
 */
#include "flitwarp/motif.h"

#include "flitwarp/random.h"

#include <string.h>

/* ---- halo ---- */

struct halo_config {
    struct motif_rounds rounds;
    struct u32_list grid;
    bool wraps;
    struct u32_list bytes;
    uint64_t allreduce;
};

static const struct option halo_options[] = {
    OPTION_ROWS(struct halo_config, rounds, struct motif_rounds, motif_rounds_options),
    OPTION_U32_LIST(struct halo_config, grid, "[]", 1, 65536, NULL,
                    "ranks along 1 to 3 dimensions; none: three, as even as can be"),
    OPTION_BOOL(struct halo_config, wraps, "false", "whether the first and the last along a dimension are neighbours"),
    OPTION_U32_LIST(struct halo_config, bytes, "[8192]", 0, UINT32_MAX, "bytes",
                    "of a face, of an edge, of a corner; neighbours are those that have a number"),
    OPTION_U64(struct halo_config, allreduce, "0", 0, MOTIF_MAX_BYTES, "bytes",
               "of an allreduce at the end of an iteration; 0: none"),
    OPTION_END,
};

static void halo_prepare(struct motif *motif, struct errors *errors)
{
    const struct halo_config *config = motif->config;
    struct halo_grid *grid = motif->state = arena_array(motif->arena, struct halo_grid, 1);
    *grid = motif_grid(motif, &config->grid, 3, errors);
    grid->wraps = config->wraps;
    grid->kinds = config->bytes.count;
    if (config->bytes.count == 0 || config->bytes.count > 3)
        choice_error(errors, motif->choice, "bytes", "%u numbers; accepted: 1 to 3", config->bytes.count);
}

static void halo_program(const struct motif *motif, struct script *script)
{
    const struct halo_config *config = motif->config;
    struct neighbour neighbours[MAX_NEIGHBOURS];
    uint32_t count = halo_grid_neighbours(motif->state, script->rank, neighbours);
    for (uint32_t i = 0; i < config->rounds.iterations; i++) {
        script_compute(script, config->rounds.compute);
        for (uint32_t n = 0; n < count; n++)
            script_start_receive(script, neighbours[n].rank, config->bytes.items[neighbours[n].kind - 1], 0);
        for (uint32_t n = 0; n < count; n++)
            script_start_send(script, neighbours[n].rank, config->bytes.items[neighbours[n].kind - 1], 0);
        script_wait(script);
        if (config->allreduce)
            script_collective(script, OPERATION_ALLREDUCE, FW_WORLD, config->allreduce);
    }
}

/* ---- incast ---- */

/* Of incast and many_to_many. */
struct exchange_config {
    struct motif_rounds rounds;
    uint32_t servers, partners;
    uint64_t request, bytes;
};

static const struct option incast_options[] = {
    OPTION_ROWS(struct exchange_config, rounds, struct motif_rounds, motif_rounds_options),
    OPTION_U32(struct exchange_config, servers, "1", 1, 1e9, NULL,
               "the first ranks; the others are their clients in turn"),
    OPTION_U64(struct exchange_config, request, "64", 0, MOTIF_MAX_BYTES, "bytes", "to each client"),
    OPTION_U64(struct exchange_config, bytes, "65536", 0, MOTIF_MAX_BYTES, "bytes", "of each answer"),
    OPTION_END,
};

static void incast_prepare(struct motif *motif, struct errors *errors)
{
    const struct exchange_config *config = motif->config;
    if (config->servers > motif->ranks / 2)
        choice_error(errors, motif->choice, "servers", "%u of %u ranks; accepted: 1 to %u, so that each has a client",
                     config->servers, motif->ranks, motif->ranks / 2);
}

static void incast_serve(const struct motif *motif, struct script *script)
{
    const struct exchange_config *config = motif->config;
    for (uint32_t client = script->rank + config->servers; client < motif->ranks; client += config->servers)
        script_start_receive(script, client, config->bytes, 0);
    for (uint32_t client = script->rank + config->servers; client < motif->ranks; client += config->servers)
        script_start_send(script, client, config->request, 0);
    script_wait(script);
}

static void incast_program(const struct motif *motif, struct script *script)
{
    const struct exchange_config *config = motif->config;
    uint32_t server = script->rank % config->servers;
    for (uint32_t i = 0; i < config->rounds.iterations; i++) {
        if (script->rank < config->servers) {
            script_compute(script, config->rounds.compute);
            incast_serve(motif, script);
        } else {
            script_receive(script, server, config->request, 0);
            script_send(script, server, config->bytes, 0);
        }
    }
}

/* ---- many_to_many ---- */

static const struct option many_to_many_options[] = {
    OPTION_ROWS(struct exchange_config, rounds, struct motif_rounds, motif_rounds_options),
    OPTION_U32(struct exchange_config, partners, "4", 1, 1e6, NULL, "that each rank sends to in an iteration"),
    OPTION_U64(struct exchange_config, bytes, "16384", 0, MOTIF_MAX_BYTES, "bytes", "to each partner"),
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

static void many_to_many_prepare(struct motif *motif, struct errors *errors)
{
    const struct exchange_config *config = motif->config;
    struct many_to_many *many = motif->state = arena_array(motif->arena, struct many_to_many, 1);
    struct random random = random_stream(motif->seed, 0, RANDOM_SETUP);
    uint32_t ranks = motif->ranks, partners = config->partners;
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
    const struct exchange_config *config = motif->config;
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

static const struct motif_ops exchanges[] = {
    {COMPONENT("halo", "borders exchanged with the neighbours in a grid of ranks", halo_options,
               "{\"type\": \"halo\", \"grid\": [4, 4, 4], \"bytes\": [8192, 512, 64], \"allreduce\": 8}"),
     .prepare = halo_prepare, .program = halo_program},
    {COMPONENT("incast", "all clients answer their server at once", incast_options,
               "{\"type\": \"incast\", \"servers\": 2, \"bytes\": 32768, \"iterations\": 4}"),
     .prepare = incast_prepare, .program = incast_program},
    {COMPONENT("many_to_many", "exchange with partners drawn anew each time", many_to_many_options,
               "{\"type\": \"many_to_many\", \"partners\": 8, \"bytes\": 16384}"),
     .prepare = many_to_many_prepare, .program = many_to_many_program},
};
REGISTER_COMPONENTS("motif", exchanges);
