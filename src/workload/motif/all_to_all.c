/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-to-all: the transposes of a spectral code. With a grid of ranks each iteration is
 * an all-to-all in every row, then one in every column, as the transform of a volume cut
 * into pencils needs them; without, one among all ranks.
 */
#include "flitwarp/motif.h"

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

static void all_to_all_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    const struct all_to_all_config *config = motif->config;
    struct lines *lines = motif->state = arena_array(motif->arena, struct lines, 1);
    struct halo_grid grid = {.width = {motif->ranks, 1, 1}};
    uint32_t errors_before = errors->count;
    if (config->grid.count)
        grid = motif_grid(motif, &config->grid, 2, errors);
    if (errors->count > errors_before)
        return;
    lines->rows = rank_groups_make(builder, grid.width[0], 1);
    lines->columns = rank_groups_make(builder, grid.width[1], grid.width[0]);
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

static const struct motif_ops all_to_all = {
    .name = "all_to_all",
    .summary = "all ranks with all others, or in rows and columns",
    .options = all_to_all_options,
    .example = "{\"type\": \"all_to_all\", \"grid\": [8, 8], \"bytes\": 4096}",
    .prepare = all_to_all_prepare,
    .program = all_to_all_program,
};
REGISTER_MOTIF(all_to_all);
