/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each rank does in a text workload of ASTRA-sim, see astrasim.h. A rank computes one
 * thing after the other; collectives are begun between them, and waited for where their
 * result is needed:
 *
 *   DATA      forward: F F F          back, from the last layer: W [w] I  W [w] I  W [w]
 *   MODEL     forward: F f F f F f    back: I [i] W i  I [i] W i  I W
 *   DLRM      forward: F [f] F F f F  back: W [w] I  W [w] I [i]  W [w] I  i W
 *
 * F, I, W: computes the forward pass, gradients of the input, of the weights. [f]: begins the
 * collective that belongs to it, f: waits for it. Weights of a layer that are summed over
 * ranks are updated beside all that, and waited for by the layer's next forward pass.
 */
#include "workload/trace/reader/astrasim/astrasim.h"

#include "flitwarp/rank_groups.h"

#include <math.h>
#include <stdlib.h>

enum { CPU_LAYERS, CPU_COLLECTIVES, CPU_UPDATES }; /* each goes on beside the others */

struct program {
    const struct astrasim_workload *workload;
    struct trace_builder *builder;
    struct rank_groups groups[GROUPS];
    uint64_t unit_ps;
    uint32_t rank;
    uint32_t last;     /* task that the next one waits for; FW_ANY: nothing */
    uint32_t *updated; /* owned: by layer, what its next forward pass waits for; FW_ANY: nothing */
};

uint64_t astrasim_unit_ps(const struct astrasim_config *config) { return (uint64_t)llround(config->time_unit * 1e12); }

/* ---- steps ---- */

/* Behind what was done so far; whether the next waits for it is the caller's to say. */
static uint32_t astrasim_add(struct program *program, const struct task *task)
{
    uint32_t added = builder_add(program->builder, program->rank, task);
    if (program->last != FW_ANY)
        builder_wait(program->builder, program->rank, added, program->last, false);
    return added;
}

static void compute(struct program *program, const struct astrasim_step *step)
{
    if (step->compute)
        program->last =
            astrasim_add(program, &(struct task){.kind = TASK_COMPUTE, .amount = step->compute * program->unit_ps});
}

static void wait_for(struct program *program, uint32_t task)
{
    if (task == FW_ANY)
        return;
    uint32_t join = astrasim_add(program, &(struct task){.kind = TASK_JOIN});
    builder_wait(program->builder, program->rank, join, task, false);
    program->last = join;
}

/* Bytes of the file are those that a rank has before; where SimAI gathers, those that it has afterwards. */
static uint64_t amount_of(const struct program *program, const struct astrasim_step *step, uint32_t ranks)
{
    bool is_simai = program->workload->ranks > 0;
    bool is_whole = step->operation == OPERATION_ALLREDUCE || (step->operation == OPERATION_ALLGATHER && !is_simai);
    return is_whole ? step->bytes : (step->bytes + ranks - 1) / ranks;
}

/* Begins a collective; FW_ANY where there is none. */
static uint32_t astrasim_begin(struct program *program, const struct astrasim_step *step)
{
    const struct rank_groups *groups = &program->groups[step->group];
    if (step->operation == OPERATIONS)
        return FW_ANY;
    return astrasim_add(program, &(struct task){.kind = TASK_COLLECTIVE,
                                                .unit = step->operation,
                                                .cpu = CPU_COLLECTIVES,
                                                .communicator = rank_group_of(groups, program->rank),
                                                .peer = program->rank,
                                                .amount = amount_of(program, step, groups->size),
                                                .tag = NO_COUNTS});
}

/* ---- layers ---- */

static void forward(struct program *program, uint32_t number)
{
    wait_for(program, program->updated[number]);
    program->updated[number] = FW_ANY;
    compute(program, &program->workload->layers[number].steps[FORWARD]);
}

static void forward_and_wait(struct program *program, uint32_t number)
{
    forward(program, number);
    uint32_t collective = astrasim_begin(program, &program->workload->layers[number].steps[FORWARD]);
    program->last = collective == FW_ANY ? program->last : collective;
}

static void sum_weights(struct program *program, uint32_t number)
{
    const struct astrasim_layer *layer = &program->workload->layers[number];
    uint32_t summed = astrasim_begin(program, &layer->steps[WEIGHT_GRADIENT]);
    program->updated[number] = summed;
    if (summed == FW_ANY || !layer->update)
        return;
    uint32_t update = builder_add(
        program->builder, program->rank,
        &(struct task){.kind = TASK_COMPUTE, .cpu = CPU_UPDATES, .amount = layer->update * program->unit_ps});
    builder_wait(program->builder, program->rank, update, summed, false);
    program->updated[number] = update;
}

/* ---- passes ---- */

static void pass_data(struct program *program)
{
    const struct astrasim_layer *layers = program->workload->layers;
    uint32_t count = program->workload->layer_count;
    for (uint32_t i = 0; i < count; i++)
        forward(program, i);
    for (uint32_t i = count; i-- > 0;) {
        compute(program, &layers[i].steps[WEIGHT_GRADIENT]);
        sum_weights(program, i);
        if (i > 0)
            compute(program, &layers[i].steps[INPUT_GRADIENT]);
    }
}

/* What a layer needs on its way back was not kept, except at the last checkpoint. */
static void go_again(struct program *program, uint32_t number)
{
    uint32_t from = number;
    while (!program->workload->layers[from].is_checkpoint)
        from--;
    for (; from < number; from++)
        forward_and_wait(program, from);
}

static void pass_model(struct program *program)
{
    const struct astrasim_workload *workload = program->workload;
    for (uint32_t i = 0; i < workload->layer_count; i++)
        forward_and_wait(program, i);
    for (uint32_t i = workload->layer_count; i-- > 0;) {
        const struct astrasim_layer *layer = &workload->layers[i];
        if (layer->goes_again)
            go_again(program, i);
        compute(program, &layer->steps[INPUT_GRADIENT]);
        bool has_collective = i > 0 || workload->policy->first_layer_too;
        uint32_t collective = has_collective ? astrasim_begin(program, &layer->steps[INPUT_GRADIENT]) : FW_ANY;
        compute(program, &layer->steps[WEIGHT_GRADIENT]);
        sum_weights(program, i);
        wait_for(program, collective);
    }
}

/* Layer 0 looks up, the bottom layers compute beside it, those above need both. */
static void pass_dlrm(struct program *program)
{
    const struct astrasim_workload *workload = program->workload;
    const struct astrasim_layer *layers = workload->layers;
    uint32_t looked_up = FW_ANY, gradients = FW_ANY;
    for (uint32_t i = 0; i < workload->layer_count; i++) {
        forward(program, i);
        if (i == 0)
            looked_up = astrasim_begin(program, &layers[0].steps[FORWARD]);
        if (i == workload->last_bottom_layer)
            wait_for(program, looked_up);
    }
    for (uint32_t i = workload->layer_count; i-- > 0;) {
        if (i == 0 && workload->policy->waits_for_pooled)
            wait_for(program, gradients);
        compute(program, &layers[i].steps[WEIGHT_GRADIENT]);
        sum_weights(program, i);
        if (i > 0)
            compute(program, &layers[i].steps[INPUT_GRADIENT]);
        if (i == workload->last_bottom_layer + 1)
            gradients = astrasim_begin(program, &layers[0].steps[INPUT_GRADIENT]);
    }
}

/* All at once. */
static void pass_micro(struct program *program)
{
    for (uint32_t i = 0; i < program->workload->layer_count; i++)
        astrasim_begin(program, &program->workload->layers[i].steps[WEIGHT_GRADIENT]);
}

static void (*const passes[])(struct program *program) = {
    [SHAPE_MICRO] = pass_micro, [SHAPE_DATA] = pass_data, [SHAPE_MODEL] = pass_model, [SHAPE_DLRM] = pass_dlrm};

/* ---- ranks ---- */

/* Of the groups that layers name; those of all ranks are the world. */
static void make_groups(struct program *program, const struct astrasim_ranks *ranks)
{
    const struct astrasim_workload *workload = program->workload;
    bool is_used[GROUPS] = {false};
    for (uint32_t i = 0; i < workload->layer_count; i++)
        for (enum astrasim_phase phase = 0; phase < PHASES; phase++)
            if (workload->layers[i].steps[phase].operation != OPERATIONS)
                is_used[workload->layers[i].steps[phase].group] = true;
    for (enum astrasim_group group = 0; group < GROUPS; group++) {
        program->groups[group] = (struct rank_groups){ranks->size[group], ranks->stride[group], FW_WORLD};
        if (is_used[group] && ranks->size[group] < ranks->count)
            program->groups[group] = rank_groups_make(program->builder, ranks->size[group], ranks->stride[group]);
    }
}

void astrasim_program(const struct astrasim_workload *workload, const struct astrasim_ranks *ranks,
                      struct trace_builder *builder)
{
    struct program program = {.workload = workload, .builder = builder, .unit_ps = astrasim_unit_ps(workload->config)};
    builder_set_ranks(builder, ranks->count);
    make_groups(&program, ranks);
    program.updated = memory_take(sizeof *program.updated * workload->layer_count);
    for (program.rank = 0; program.rank < ranks->count; program.rank++) {
        program.last = FW_ANY;
        for (uint32_t i = 0; i < workload->layer_count; i++)
            program.updated[i] = FW_ANY;
        for (uint32_t i = 0; i < workload->config->passes; i++)
            passes[workload->policy->shape](&program);
        builder_end_rank(builder, program.rank, NULL);
    }
    free(program.updated);
}
