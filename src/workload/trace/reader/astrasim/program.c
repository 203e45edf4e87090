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

#include <stdlib.h>

enum { CPU_LAYERS, CPU_COLLECTIVES, CPU_UPDATES }; /* each goes on beside the others */

struct program {
    const struct astrasim *work;
    struct trace_builder *builder;
    uint32_t rank;
    uint32_t last;     /* task that the next one waits for; FW_ANY: nothing */
    uint32_t *updated; /* owned: by layer, what its next forward pass waits for; FW_ANY: nothing */
};

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
        program->last = astrasim_add(
            program, &(struct task){.kind = TASK_COMPUTE, .amount = step->compute * program->work->unit_ps});
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
    bool is_simai = program->work->fields[ALL_GPUS] > 0;
    bool is_whole = step->operation == OPERATION_ALLREDUCE || (step->operation == OPERATION_ALLGATHER && !is_simai);
    return is_whole ? step->bytes : (step->bytes + ranks - 1) / ranks;
}

/* Begins a collective; FW_ANY where there is none. */
static uint32_t astrasim_begin(struct program *program, const struct astrasim_step *step)
{
    const struct rank_groups *groups = &program->work->groups[step->group];
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
    compute(program, &program->work->layers[number].steps[FORWARD]);
}

static void forward_and_wait(struct program *program, uint32_t number)
{
    forward(program, number);
    uint32_t collective = astrasim_begin(program, &program->work->layers[number].steps[FORWARD]);
    program->last = collective == FW_ANY ? program->last : collective;
}

static void sum_weights(struct program *program, uint32_t number)
{
    const struct astrasim_layer *layer = &program->work->layers[number];
    uint32_t summed = astrasim_begin(program, &layer->steps[WEIGHT_GRADIENT]);
    program->updated[number] = summed;
    if (summed == FW_ANY || !layer->update)
        return;
    uint32_t update = builder_add(
        program->builder, program->rank,
        &(struct task){.kind = TASK_COMPUTE, .cpu = CPU_UPDATES, .amount = layer->update * program->work->unit_ps});
    builder_wait(program->builder, program->rank, update, summed, false);
    program->updated[number] = update;
}

/* ---- passes ---- */

static void pass_data(struct program *program)
{
    const struct astrasim_layer *layers = program->work->layers;
    uint32_t count = program->work->layer_count;
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
    while (!program->work->layers[from].is_checkpoint)
        from--;
    for (; from < number; from++)
        forward_and_wait(program, from);
}

static void pass_model(struct program *program)
{
    const struct astrasim *work = program->work;
    for (uint32_t i = 0; i < work->layer_count; i++)
        forward_and_wait(program, i);
    for (uint32_t i = work->layer_count; i-- > 0;) {
        const struct astrasim_layer *layer = &work->layers[i];
        if (layer->goes_again)
            go_again(program, i);
        compute(program, &layer->steps[INPUT_GRADIENT]);
        bool has_collective = i > 0 || work->policy->first_layer_too;
        uint32_t collective = has_collective ? astrasim_begin(program, &layer->steps[INPUT_GRADIENT]) : FW_ANY;
        compute(program, &layer->steps[WEIGHT_GRADIENT]);
        sum_weights(program, i);
        wait_for(program, collective);
    }
}

/* Layer 0 looks up, the bottom layers compute beside it, those above need both. */
static void pass_dlrm(struct program *program)
{
    const struct astrasim *work = program->work;
    const struct astrasim_layer *layers = work->layers;
    uint32_t looked_up = FW_ANY, gradients = FW_ANY;
    for (uint32_t i = 0; i < work->layer_count; i++) {
        forward(program, i);
        if (i == 0)
            looked_up = astrasim_begin(program, &layers[0].steps[FORWARD]);
        if (i == work->last_bottom_layer)
            wait_for(program, looked_up);
    }
    for (uint32_t i = work->layer_count; i-- > 0;) {
        if (i == 0 && work->policy->waits_for_pooled)
            wait_for(program, gradients);
        compute(program, &layers[i].steps[WEIGHT_GRADIENT]);
        sum_weights(program, i);
        if (i > 0)
            compute(program, &layers[i].steps[INPUT_GRADIENT]);
        if (i == work->last_bottom_layer + 1)
            gradients = astrasim_begin(program, &layers[0].steps[INPUT_GRADIENT]);
    }
}

/* All at once. */
static void pass_micro(struct program *program)
{
    for (uint32_t i = 0; i < program->work->layer_count; i++)
        astrasim_begin(program, &program->work->layers[i].steps[WEIGHT_GRADIENT]);
}

static void (*const passes[])(struct program *program) = {
    [SHAPE_MICRO] = pass_micro, [SHAPE_DATA] = pass_data, [SHAPE_MODEL] = pass_model, [SHAPE_DLRM] = pass_dlrm};

/* ---- ranks ---- */

/* Of the groups that layers name; those of all ranks are the world. */
static void make_groups(struct astrasim *work, struct trace_builder *builder)
{
    for (enum astrasim_group group = 0; group < GROUPS; group++) {
        struct rank_groups *made = &work->groups[group];
        if (work->is_used[group] && made->size < work->ranks)
            *made = rank_groups_make(builder, made->size, made->stride);
    }
}

void astrasim_program(struct astrasim *work, struct trace_builder *builder)
{
    struct program program = {.work = work, .builder = builder};
    builder_set_ranks(builder, work->ranks);
    make_groups(work, builder);
    program.updated = memory_take(sizeof *program.updated * work->layer_count);
    for (program.rank = 0; program.rank < work->ranks; program.rank++) {
        program.last = FW_ANY;
        for (uint32_t i = 0; i < work->layer_count; i++)
            program.updated[i] = FW_ANY;
        for (uint32_t i = 0; i < work->config->passes; i++)
            passes[work->policy->shape](&program);
        builder_end_rank(builder, program.rank, NULL);
    }
    free(program.updated);
}
