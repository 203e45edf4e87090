/* SPDX-License-Identifier: Apache-2.0 */
/* A geometric multigrid solver: V-cycles (v_cycle.h) over faces alone, each followed by a sum over all ranks. */
#include "workload/motif/v_cycle.h"

static void multigrid_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    struct v_cycle *cycle = motif->state = arena_array(motif->arena, struct v_cycle, 1);
    (void)builder;
    *cycle = v_cycle_make(motif, errors);
}

static void multigrid_program(const struct motif *motif, struct script *script)
{
    const struct v_cycle_config *config = motif->config;
    for (uint32_t i = 0; i < config->iterations; i++) {
        v_cycle_write(motif->state, script);
        if (config->allreduce)
            script_collective(script, OPERATION_ALLREDUCE, WORLD, config->allreduce);
    }
}

static const struct motif_ops multigrid = {
    .name = "multigrid",
    .summary = "V-cycles on a grid of ranks, messages and ranks fewer from level to level",
    .options = v_cycle_options,
    .config_size = sizeof(struct v_cycle_config),
    .example = "{\"type\": \"multigrid\", \"grid\": [4, 4, 4], \"points\": 32, \"iterations\": 1}",
    .prepare = multigrid_prepare,
    .program = multigrid_program,
};
REGISTER_MOTIF(multigrid);
