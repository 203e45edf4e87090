/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text workloads of ASTRA-sim 1.0 and SimAI: a policy, the number of layers, and a line a layer
 *
 *   DATA
 *   2
 *   conv1  -1  1300 FW_NONE 0  1200 FW_NONE 0  3200 ALLREDUCE 37632  320
 *   conv2  -1   350 FW_NONE 0   360 FW_NONE 0   750 ALLREDUCE 65536   75
 *
 * with a name, -1, then time to compute, collective and bytes of the forward pass, of the
 * gradients of the input and of the weights, and the time of an update. All ranks do the
 * same; who takes part in a collective follows from the policy.
 */
#include "workload/trace/reader/astrasim/astrasim.h"

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

static uint32_t set_or(uint32_t setting, uint32_t otherwise) { return setting ? setting : otherwise; }

/* A setting that this policy has no use for. */
static bool expect_unset(const struct astrasim_workload *workload, const char *name, uint32_t setting, const char *path,
                         struct errors *errors)
{
    if (setting)
        errors_add(errors, "%s: %s is %u, and policy %s has no use for it; accepted: 0", path, name, setting,
                   workload->policy->name);
    return !setting;
}

static bool uses_experts(const struct astrasim_workload *workload)
{
    for (uint32_t i = 0; i < workload->layer_count; i++)
        for (enum astrasim_phase phase = 0; phase < PHASES; phase++)
            if (workload->layers[i].steps[phase].group >= GROUP_EXPERT)
                return true;
    return false;
}

static bool astrasim_count_ranks(struct astrasim_ranks *ranks, const struct astrasim_workload *workload,
                                 const struct trace_source *source, struct errors *errors)
{
    ranks->count = set_or(workload->config->ranks, set_or(workload->ranks, source->room));
    if (!ranks->count)
        errors_add(errors, "%s: the file does not say how many ranks there are; accepted: the setting ranks of format",
                   source->path);
    else if (source->room && ranks->count > source->room)
        errors_add(errors,
                   "%s: %u ranks, and there is room for %u; accepted: so many terminals (or ranks_per_terminal), or "
                   "fewer ranks by the setting ranks of format",
                   source->path, ranks->count, source->room);
    return ranks->count && (!source->room || ranks->count <= source->room);
}

static void share_experts(struct astrasim_ranks *ranks, uint32_t model, uint32_t data, uint32_t expert)
{
    ranks->size[GROUP_EXPERT] = expert;
    ranks->stride[GROUP_EXPERT] = model;
    ranks->size[GROUP_DATA_EXPERT] = data / expert;
    ranks->stride[GROUP_DATA_EXPERT] = model * expert;
}

/* Neighbours share the model, or copies of it; then come the others, then the stages of a pipeline. */
static bool share_hybrid(struct astrasim_ranks *ranks, const struct astrasim_workload *workload, const char *path,
                         struct errors *errors)
{
    const struct astrasim_config *config = workload->config;
    bool is_data_first = workload->policy->layout == LAYOUT_DATA_FIRST, has_experts = uses_experts(workload);
    uint32_t model = set_or(config->model_parallel, workload->model_parallel);
    uint32_t pipeline = set_or(config->pipeline_parallel, set_or(workload->pipeline_parallel, 1));
    uint32_t expert = set_or(config->expert_parallel, workload->expert_parallel);
    if (!model || (has_experts && !expert))
        return errors_add(errors,
                          "%s: the header does not say how many ranks share %s; accepted: the setting %s of format",
                          path, model ? "experts" : "the model", model ? "expert_parallel" : "model_parallel");
    if (ranks->count % ((uint64_t)model * pipeline))
        return errors_add(errors,
                          "%s: %u ranks are no multiple of %u that share the model in %u stages of a pipeline; "
                          "accepted: the settings ranks, model_parallel and pipeline_parallel of format",
                          path, ranks->count, model, pipeline);
    uint32_t data = ranks->count / model / pipeline;
    if (has_experts && data % expert)
        return errors_add(errors,
                          "%s: %u copies of the model are no multiple of %u ranks that share experts; accepted: the "
                          "settings ranks and expert_parallel of format",
                          path, data, expert);
    ranks->size[GROUP_MODEL] = model;
    ranks->stride[GROUP_MODEL] = is_data_first ? data : 1;
    ranks->size[GROUP_DATA] = data;
    ranks->stride[GROUP_DATA] = is_data_first ? 1 : model;
    if (has_experts)
        share_experts(ranks, model, data, expert);
    return true;
}

/* From settings, header and the room that there is; false with errors. */
static bool astrasim_ranks_share(struct astrasim_ranks *ranks, const struct astrasim_workload *workload,
                                 const struct trace_source *source, struct errors *errors)
{
    const struct astrasim_config *config = workload->config;
    bool is_alike = workload->policy->layout == LAYOUT_ALIKE;
    *ranks = (struct astrasim_ranks){0};
    if (!astrasim_count_ranks(ranks, workload, source, errors) ||
        (is_alike && !expect_unset(workload, "model_parallel", config->model_parallel, source->path, errors)) ||
        (workload->policy->layout != LAYOUT_IN_HEADER &&
         (!expect_unset(workload, "expert_parallel", config->expert_parallel, source->path, errors) ||
          !expect_unset(workload, "pipeline_parallel", config->pipeline_parallel, source->path, errors))))
        return false;
    if (!is_alike)
        return share_hybrid(ranks, workload, source->path, errors);
    for (enum astrasim_group group = GROUP_MODEL; group <= GROUP_DATA; group++) {
        ranks->size[group] = ranks->count;
        ranks->stride[group] = 1;
    }
    return true;
}

/* ---- the reader ---- */

static bool astrasim_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct astrasim_workload workload;
    struct astrasim_ranks ranks;
    bool is_good =
        astrasim_workload_read(&workload, source, errors) && astrasim_ranks_share(&ranks, &workload, source, errors);
    if (is_good)
        astrasim_program(&workload, &ranks, builder);
    astrasim_workload_release(&workload);
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
    struct astrasim_workload workload;
    struct astrasim_ranks ranks;
    if (astrasim_workload_read(&workload, source, errors) && astrasim_ranks_share(&ranks, &workload, source, errors)) {
        report_text(facts, "policy", workload.policy->name);
        report_count(facts, "layers", workload.layer_count);
        struct report *groups = report_block(facts, "group_ranks");
        for (enum astrasim_group group = 0; group < GROUPS; group++)
            if (ranks.size[group])
                report_count(groups, names[group], ranks.size[group]);
        struct report *missing = report_block(facts, "missing");
        bool is_left_out = workload.policy->shape == SHAPE_MODEL && !workload.policy->first_layer_too &&
                           workload.layers[0].steps[INPUT_GRADIENT].operation != OPERATIONS;
        if (is_left_out)
            report_count(missing, "first_input_gradient_bytes", workload.layers[0].steps[INPUT_GRADIENT].bytes);
        if (workload.pipeline_bytes)
            report_count(missing, "pp_comm_bytes", workload.pipeline_bytes);
    }
    astrasim_workload_release(&workload);
}

static const struct trace_reader_ops astrasim = {
    .name = "astrasim",
    .summary = "text workloads of ASTRA-sim and SimAI: layers of a model with their times and collectives",
    .options = astrasim_options,
    .example = "{\"type\": \"astrasim\", \"ranks\": 16, \"passes\": 2}",
    .looks_like = astrasim_looks_like,
    .read = astrasim_read,
    .describe = astrasim_describe,
};
REGISTER_TRACE_READER(astrasim);
