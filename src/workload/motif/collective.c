/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective operations, over and over.
 *
 *   collective  one of all ranks: what benchmarks of MPI measure. With `growth` blocks differ, the higher the rank the
 *               larger: gatherv, scatterv, allgatherv, alltoallv, and a reduce_scatter of other counts
 *   all_to_all  the transposes of a spectral code. With a grid of ranks each iteration is an all-to-all in every row,
 *               then one in every column, as the transform of a volume cut into pencils needs them; without, one among
 *               all ranks
 */
#include "flitwarp/motif.h"

struct collective_config {
    struct motif_rounds rounds;
    uint32_t operation, root;
    uint64_t bytes, growth;
};

static const struct option collective_motif_options[] = {
    OPTION_ROWS(struct collective_config, rounds, struct motif_rounds, motif_rounds_options),
    OPTION_ENUM(struct collective_config, operation, "\"allreduce\"", collective_operation_names, "what all ranks do"),
    OPTION_U32(struct collective_config, root, "0", 0, UINT32_MAX - 1, NULL, "rank that has one, or gets one"),
    OPTION_U64(struct collective_config, bytes, "1024", 0, MOTIF_MAX_BYTES, "bytes",
               "of each rank; where each rank has or gets a block of its own, of a block"),
    OPTION_U64(struct collective_config, growth, "0", 0, 1e9, "bytes",
               "that the block of a rank has more than that of the rank before"),
    OPTION_END,
};

/* Sets of operations: those with a root, and those with a block of each rank. */
#define ROOTED (1u << OPERATION_BROADCAST | 1u << OPERATION_REDUCE | 1u << OPERATION_GATHER | 1u << OPERATION_SCATTER)
#define BLOCKS                                                                                                         \
    (1u << OPERATION_GATHER | 1u << OPERATION_SCATTER | 1u << OPERATION_ALLGATHER | 1u << OPERATION_REDUCE_SCATTER |   \
     1u << OPERATION_ALLTOALL)

static uint64_t collective_block(const struct collective_config *config, uint32_t rank)
{
    return config->bytes + config->growth * rank;
}

/* The rows of counts, by rank. */
static uint32_t *make_counts(const struct motif *motif)
{
    const struct collective_config *config = motif->config;
    uint32_t ranks = motif->ranks, *rows = arena_array(motif->arena, uint32_t, ranks);
    uint64_t *counts = arena_array(motif->arena, uint64_t, 2 * (size_t)ranks);
    for (uint32_t other = 0; other < ranks; other++)
        counts[other] = collective_block(config, other);
    bool all_differ = config->operation == OPERATION_ALLTOALL; /* everybody sends a rank what is its block */
    uint32_t row = all_differ ? NO_COUNTS : builder_counts(motif->builder, counts, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        for (uint32_t other = 0; all_differ && other < ranks; other++)
            counts[ranks + other] = collective_block(config, rank);
        if (all_differ)
            row = builder_counts(motif->builder, counts, 2 * ranks);
        rows[rank] = !(ROOTED >> config->operation & 1) || rank == config->root ? row : NO_COUNTS;
    }
    return rows;
}

static void collective_prepare(struct motif *motif, struct errors *errors)
{
    const struct collective_config *config = motif->config;
    if (config->root >= motif->ranks)
        choice_error(errors, motif->choice, "root", "%u is not among %u ranks; accepted: 0 to %u", config->root,
                     motif->ranks, motif->ranks - 1);
    else if (config->root && !(ROOTED >> config->operation & 1))
        choice_error(errors, motif->choice, "root", "%s has no root; accepted: 0",
                     collective_operation_names[config->operation]);
    else if (config->growth && !(BLOCKS >> config->operation & 1))
        choice_error(errors, motif->choice, "growth", "%s has no blocks of ranks; accepted: 0",
                     collective_operation_names[config->operation]);
    else if (config->growth)
        motif->state = make_counts(motif);
}

static void collective_program(const struct motif *motif, struct script *script)
{
    const struct collective_config *config = motif->config;
    const uint32_t *rows = motif->state; /* NULL: blocks do not differ */
    for (uint32_t i = 0; i < config->rounds.iterations; i++) {
        script_compute(script, config->rounds.compute);
        if (rows)
            script_uneven(script, config->operation, FW_WORLD, config->root, collective_block(config, script->rank),
                          rows[script->rank]);
        else
            script_rooted(script, config->operation, FW_WORLD, config->root, config->bytes);
    }
}

/* ---- all_to_all ---- */

struct all_to_all_config {
    struct motif_rounds rounds;
    struct u32_list grid;
    uint64_t bytes;
};

static const struct option all_to_all_options[] = {
    OPTION_ROWS(struct all_to_all_config, rounds, struct motif_rounds, motif_rounds_options),
    OPTION_U32_LIST(struct all_to_all_config, grid, "[]", 1, 65536, NULL,
                    "ranks of a row and of a column; none: all ranks are one row"),
    OPTION_U64(struct all_to_all_config, bytes, "1024", 0, MOTIF_MAX_BYTES, "bytes", "to each other rank"),
    OPTION_END,
};

struct lines {
    struct rank_groups rows, columns;
};

static void all_to_all_prepare(struct motif *motif, struct errors *errors)
{
    const struct all_to_all_config *config = motif->config;
    struct lines *lines = motif->state = arena_array(motif->arena, struct lines, 1);
    struct halo_grid grid = {.width = {motif->ranks, 1, 1}};
    uint32_t errors_before = errors->count;
    if (config->grid.count)
        grid = motif_grid(motif, &config->grid, 2, errors);
    if (errors->count > errors_before)
        return;
    lines->rows = rank_groups_make(motif->builder, grid.width[0], 1);
    lines->columns = rank_groups_make(motif->builder, grid.width[1], grid.width[0]);
}

static void all_to_all_program(const struct motif *motif, struct script *script)
{
    const struct all_to_all_config *config = motif->config;
    const struct lines *lines = motif->state;
    uint32_t row = rank_group_of(&lines->rows, script->rank), column = rank_group_of(&lines->columns, script->rank);
    for (uint32_t i = 0; i < config->rounds.iterations; i++) {
        script_compute(script, config->rounds.compute);
        script_collective(script, OPERATION_ALLTOALL, row, config->bytes);
        if (lines->columns.size > 1)
            script_collective(script, OPERATION_ALLTOALL, column, config->bytes);
    }
}

static const struct motif_ops collectives[] = {
    {COMPONENT("collective", "one collective operation of all ranks, over and over", collective_motif_options,
               "{\"type\": \"collective\", \"operation\": \"allreduce\", \"bytes\": 1048576, \"iterations\": 2}"),
     .prepare = collective_prepare, .program = collective_program},
    {COMPONENT("all_to_all", "all ranks with all others, or in rows and columns", all_to_all_options,
               "{\"type\": \"all_to_all\", \"grid\": [8, 8], \"bytes\": 4096}"),
     .prepare = all_to_all_prepare, .program = all_to_all_program},
};
REGISTER_COMPONENTS("motif", collectives);
