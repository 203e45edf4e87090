/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text workloads of ASTRA-sim 1.0 and SimAI: a policy, the number of layers, and a line a layer
 *
 *   DATA
 *   2
 *   conv1  -1  1300 NONE 0  1200 NONE 0  3200 ALLREDUCE 37632  320
 *   conv2  -1   350 NONE 0   360 NONE 0   750 ALLREDUCE 65536   75
 *
 * with a name, -1, then time to compute, collective and bytes of the forward pass, of the
 * gradients of the input and of the weights, and the time of an update. All ranks do the
 * same; who takes part in a collective follows from the policy.
 *
 * A rank computes one thing after the other; collectives are begun between them, and waited for where their result is needed:
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

static const struct option astrasim_options[] = {
    OPTION_U32(struct astrasim_config, ranks, "0", 0, 1 << 20, NULL,
               "how many; 0: all_gpus of the header, or without it as many as there is room for"),
    OPTION_U32(struct astrasim_config, passes, "1", 1, 1e6, NULL, "over all layers, forward and back"),
    OPTION_U32(struct astrasim_config, model_parallel, "0", 0, 1 << 20, "ranks",
               "that share the model, in the hybrid policies; 0: as in the header"),
    OPTION_U32(struct astrasim_config, expert_parallel, "0", 0, 1 << 20, "ranks",
               "that share experts, for collectives with _EP; 0: as in the header"),
    OPTION_U32(struct astrasim_config, pipeline_parallel, "0", 0, 1 << 20, "stages",
               "of a pipeline, which share nothing; 0: as in the header"),
    OPTION_SECONDS(struct astrasim_config, time_unit, "\"1ns\"", 1e-12, 1, "of the times in the file"),
    OPTION_END,
};

/* ---- who takes part in what ---- */

#define astrasim_error(work, format, ...)                                                                              \
    errors_add((work)->lines.errors, "%s: " format, (work)->lines.source->path, ##__VA_ARGS__)

static uint32_t set_or(uint32_t setting, uint64_t otherwise) { return setting ? setting : (uint32_t)otherwise; }

/* A setting that this policy has no use for. */
static bool expect_unset(const struct astrasim *work, const char *name, uint32_t setting)
{
    return !setting || astrasim_error(work, "%s is %u, and policy %s has no use for it; accepted: 0", name, setting,
                                      work->policy->name);
}

/* Neighbours share the model, or copies of it; then come the others, then the stages of a pipeline. */
static bool share_hybrid(struct astrasim *work)
{
    const struct astrasim_config *config = work->config;
    bool is_data_first = work->policy->layout == LAYOUT_DATA_FIRST;
    bool has_experts = work->is_used[GROUP_EXPERT] || work->is_used[GROUP_DATA_EXPERT];
    uint32_t model = set_or(config->model_parallel, work->fields[MODEL_PARALLEL]);
    uint32_t pipeline = set_or(set_or(config->pipeline_parallel, work->fields[PIPELINE_PARALLEL]), 1);
    uint32_t expert = set_or(config->expert_parallel, work->fields[EXPERT_PARALLEL]);
    if (!model || (has_experts && !expert))
        return astrasim_error(work,
                              "the header does not say how many ranks share %s; accepted: the setting %s of format",
                              model ? "experts" : "the model", model ? "expert_parallel" : "model_parallel");
    if (work->ranks % ((uint64_t)model * pipeline))
        return astrasim_error(work,
                              "%u ranks are no multiple of %u that share the model in %u stages of a pipeline; "
                              "accepted: the settings ranks, model_parallel and pipeline_parallel of format",
                              work->ranks, model, pipeline);
    uint32_t data = work->ranks / model / pipeline;
    if (has_experts && data % expert)
        return astrasim_error(work,
                              "%u copies of the model are no multiple of %u ranks that share experts; accepted: the "
                              "settings ranks and expert_parallel of format",
                              data, expert);
    work->groups[GROUP_MODEL] = (struct rank_groups){model, is_data_first ? data : 1, FW_WORLD};
    work->groups[GROUP_DATA] = (struct rank_groups){data, is_data_first ? 1 : model, FW_WORLD};
    if (has_experts) {
        work->groups[GROUP_EXPERT] = (struct rank_groups){expert, model, FW_WORLD};
        work->groups[GROUP_DATA_EXPERT] = (struct rank_groups){data / expert, model * expert, FW_WORLD};
    }
    return true;
}

/* From settings, header and the room that there is; false with errors. */
static bool share_ranks(struct astrasim *work)
{
    const struct astrasim_config *config = work->config;
    uint32_t room = work->lines.source->room, ranks = set_or(set_or(config->ranks, work->fields[ALL_GPUS]), room);
    bool is_alike = work->policy->layout == LAYOUT_ALIKE;
    if (!ranks)
        return astrasim_error(work,
                              "the file does not say how many ranks there are; accepted: the setting ranks of format");
    if (room && ranks > room)
        return astrasim_error(work,
                              "%u ranks, and there is room for %u; accepted: so many terminals (or "
                              "ranks_per_terminal), or fewer ranks by the setting ranks of format",
                              ranks, room);
    if ((is_alike && !expect_unset(work, "model_parallel", config->model_parallel)) ||
        (work->policy->layout != LAYOUT_IN_HEADER &&
         (!expect_unset(work, "expert_parallel", config->expert_parallel) ||
          !expect_unset(work, "pipeline_parallel", config->pipeline_parallel))))
        return false;
    work->ranks = ranks;
    work->groups[GROUP_MODEL] = work->groups[GROUP_DATA] = (struct rank_groups){ranks, 1, FW_WORLD};
    return is_alike || share_hybrid(work);
}

enum { CPU_LAYERS, CPU_COLLECTIVES, CPU_UPDATES }; /* each goes on beside the others */

struct program {
    const struct astrasim *work;
    struct trace_builder *builder;
    uint32_t rank;
    uint32_t last;     /* task that the next one waits for; FW_ANY: nothing */
    uint32_t *updated; /* owned: by layer, what its next forward pass waits for; FW_ANY: nothing */
};

/* ---- what each rank does: steps ---- */

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

static void astrasim_wait_for(struct program *program, uint32_t task)
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

static void astrasim_forward(struct program *program, uint32_t number)
{
    astrasim_wait_for(program, program->updated[number]);
    program->updated[number] = FW_ANY;
    compute(program, &program->work->layers[number].steps[FORWARD]);
}

static void astrasim_forward_and_wait(struct program *program, uint32_t number)
{
    astrasim_forward(program, number);
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

/* What a layer needs on its way back was not kept, except at the last checkpoint. */
static void go_again(struct program *program, uint32_t number)
{
    uint32_t from = number;
    while (!program->work->layers[from].is_checkpoint)
        from--;
    for (; from < number; from++)
        astrasim_forward_and_wait(program, from);
}

static void pass_model(struct program *program)
{
    const struct astrasim *work = program->work;
    for (uint32_t i = 0; i < work->layer_count; i++)
        astrasim_forward_and_wait(program, i);
    for (uint32_t i = work->layer_count; i-- > 0;) {
        const struct astrasim_layer *layer = &work->layers[i];
        if (layer->goes_again)
            go_again(program, i);
        compute(program, &layer->steps[INPUT_GRADIENT]);
        bool has_collective = i > 0 || work->policy->first_layer_too;
        uint32_t collective = has_collective ? astrasim_begin(program, &layer->steps[INPUT_GRADIENT]) : FW_ANY;
        compute(program, &layer->steps[WEIGHT_GRADIENT]);
        sum_weights(program, i);
        astrasim_wait_for(program, collective);
    }
}

/* Layer 0 looks up, the bottom layers compute beside it, those above need both; DATA has none of these collectives. */
static void pass_dlrm(struct program *program)
{
    const struct astrasim *work = program->work;
    const struct astrasim_layer *layers = work->layers;
    uint32_t looked_up = FW_ANY, gradients = FW_ANY;
    for (uint32_t i = 0; i < work->layer_count; i++) {
        astrasim_forward(program, i);
        if (i == 0)
            looked_up = astrasim_begin(program, &layers[0].steps[FORWARD]);
        if (i == work->last_bottom_layer)
            astrasim_wait_for(program, looked_up);
    }
    for (uint32_t i = work->layer_count; i-- > 0;) {
        if (i == 0 && work->policy->waits_for_pooled)
            astrasim_wait_for(program, gradients);
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
    [SHAPE_MICRO] = pass_micro, [SHAPE_DATA] = pass_dlrm, [SHAPE_MODEL] = pass_model, [SHAPE_DLRM] = pass_dlrm};

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

static void astrasim_program(struct astrasim *work, struct trace_builder *builder)
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

/* ---- the reader ---- */

static bool astrasim_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct astrasim work;
    bool is_good = astrasim_read_file(&work, source, errors) && share_ranks(&work);
    if (is_good)
        astrasim_program(&work, builder);
    free(work.layers);
    return is_good;
}

/* A policy alone or with its arguments, then a number alone. */
static bool astrasim_looks_like(const struct trace_source *source)
{
    struct trace_lines lines = {.source = source};
    struct word word;
    uint64_t layers;
    return lines_next(&lines) && lines_word(&lines, &word) && astrasim_is_policy(word) && lines_next(&lines) &&
           lines_word(&lines, &word) && word_number(word, UINT64_MAX, &layers) && !lines_word(&lines, &word);
}

/* Who shares what, and what is in the file and not in the trace. */
static void astrasim_describe(const struct trace_source *source, struct report *facts, struct errors *errors)
{
    static const char *const names[] = {"model", "data", "expert", "data_expert"};
    struct astrasim work;
    if (astrasim_read_file(&work, source, errors) && share_ranks(&work)) {
        const struct astrasim_step *first = &work.layers[0].steps[INPUT_GRADIENT];
        report_text(facts, "policy", work.policy->name);
        report_count(facts, "layers", work.layer_count);
        struct report *groups = report_block(facts, "group_ranks"), *missing;
        for (enum astrasim_group group = 0; group < GROUPS; group++)
            if (work.groups[group].size)
                report_count(groups, names[group], work.groups[group].size);
        missing = report_block(facts, "missing");
        if (work.policy->shape == SHAPE_MODEL && !work.policy->first_layer_too && first->operation != OPERATIONS)
            report_count(missing, "first_input_gradient_bytes", first->bytes);
        if (work.fields[PIPELINE_BYTES])
            report_count(missing, "pp_comm_bytes", work.fields[PIPELINE_BYTES]);
    }
    free(work.layers);
}

static const struct trace_reader_ops astrasim = {
    COMPONENT("astrasim", "text workloads of ASTRA-sim and SimAI: layers of a model with their times and collectives",
              astrasim_options, "{\"type\": \"astrasim\", \"ranks\": 16, \"passes\": 2}"),
    .looks_like = astrasim_looks_like,
    .read = astrasim_read,
    .describe = astrasim_describe,
};
REGISTER_TRACE_READER(astrasim);
