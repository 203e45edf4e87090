/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Halo exchange: ranks at the points of a grid of one to three dimensions compute, then
 * send their borders to all neighbours at once and wait for theirs; now and then a sum
 * over all.
 */
#include "flitwarp/motif.h"

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

static void halo_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    const struct halo_config *config = motif->config;
    struct halo_grid *grid = motif->state = arena_array(motif->arena, struct halo_grid, 1);
    (void)builder;
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

static const struct motif_ops halo = {
    .name = "halo",
    .summary = "borders exchanged with the neighbours in a grid of ranks",
    .options = halo_options,
    .example = "{\"type\": \"halo\", \"grid\": [4, 4, 4], \"bytes\": [8192, 512, 64], \"allreduce\": 8}",
    .prepare = halo_prepare,
    .program = halo_program,
};
REGISTER_MOTIF(halo);
