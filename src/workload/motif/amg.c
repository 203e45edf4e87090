/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conjugate gradients with an algebraic multigrid preconditioner. An iteration is a product
 * with the matrix (borders of level 0), a dot product, a V-cycle, and two dot products
 * more. Coarse matrices are denser than the one that they come from: below level 0 a
 * rank exchanges over edges and corners too, many small messages where the work is least.
 */
#include "workload/motif/v_cycle.h"

static void amg_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    struct v_cycle *cycle = motif->state = arena_array(motif->arena, struct v_cycle, 1);
    (void)builder;
    *cycle = v_cycle_make(motif, errors);
    cycle->dense_from = 1;
}

static void dot_product(const struct v_cycle_config *config, struct script *script)
{
    if (config->allreduce)
        script_collective(script, OPERATION_ALLREDUCE, WORLD, config->allreduce);
}

static void amg_program(const struct motif *motif, struct script *script)
{
    const struct v_cycle_config *config = motif->config;
    for (uint32_t i = 0; i < config->iterations; i++) {
        v_cycle_exchange(motif->state, script, 0);
        script_compute(script, config->compute);
        dot_product(config, script);
        v_cycle_write(motif->state, script);
        dot_product(config, script);
        dot_product(config, script);
    }
}

static const struct motif_ops amg = {
    .name = "amg",
    .summary = "conjugate gradients with algebraic multigrid: V-cycles that grow denser, and dot products",
    .options = v_cycle_options,
    .config_size = sizeof(struct v_cycle_config),
    .example = "{\"type\": \"amg\", \"grid\": [4, 4, 4], \"points\": 16, \"iterations\": 1}",
    .prepare = amg_prepare,
    .program = amg_program,
};
REGISTER_MOTIF(amg);
