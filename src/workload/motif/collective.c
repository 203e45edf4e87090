/* SPDX-License-Identifier: Apache-2.0 */
/* One collective operation of all ranks, over and over: what benchmarks of MPI measure. */
#include "workload/motif/motif.h"

struct collective_config {
    struct motif_rounds rounds;
    uint32_t operation, root;
    uint64_t bytes;
};

/* In the order of enum collective_operation: a test compares them. */
static const char *const operation_names[] = {"barrier",  "broadcast", "reduce",    "allreduce",
                                              "gather",   "scatter",   "allgather", "reduce_scatter",
                                              "alltoall", "scan",      "exscan",    NULL};

static const struct option collective_motif_options[] = {
    MOTIF_ROUNDS_OPTIONS,
    OPTION_ENUM(struct collective_config, operation, "\"allreduce\"", operation_names, "what all ranks do"),
    OPTION_U32(struct collective_config, root, "0", 0, UINT32_MAX - 1, NULL, "rank that has one, or gets one"),
    OPTION_U64(struct collective_config, bytes, "1024", 0, MOTIF_MAX_BYTES, "bytes",
               "of each rank; where each rank has or gets a block of its own, of a block"),
    OPTION_END,
};

static void collective_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    const struct collective_config *config = motif->config;
    (void)builder;
    if (config->root >= motif->ranks)
        choice_error(errors, motif->choice, "root", "%u is not among %u ranks; accepted: 0 to %u", config->root,
                     motif->ranks, motif->ranks - 1);
}

static void collective_program(const struct motif *motif, struct script *script)
{
    const struct collective_config *config = motif->config;
    for (uint32_t i = 0; i < config->rounds.iterations; i++) {
        script_compute(script, config->rounds.compute);
        script_rooted(script, config->operation, WORLD, config->root, config->bytes);
    }
}

static const struct motif_ops collective = {
    .name = "collective",
    .summary = "one collective operation of all ranks, over and over",
    .options = collective_motif_options,
    .config_size = sizeof(struct collective_config),
    .example = "{\"type\": \"collective\", \"operation\": \"allreduce\", \"bytes\": 1048576, \"iterations\": 2}",
    .prepare = collective_prepare,
    .program = collective_program,
};
REGISTER_MOTIF(collective);
