/* SPDX-License-Identifier: Apache-2.0 */
/* Header and layers of a text workload of ASTRA-sim, see astrasim.h. */
#include "workload/trace/reader/astrasim/astrasim.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define SMALLEST_LAYER 24 /* bytes: twelve columns */
#define MAX_RANKS (1u << 20)
#define PHASE(phase) (1u << (phase))
#define ALL_PHASES (PHASE(FORWARD) | PHASE(INPUT_GRADIENT) | PHASE(WEIGHT_GRADIENT))

static const struct astrasim_policy policies[] = {
    {"MICRO", SHAPE_MICRO, LAYOUT_ALIKE, PHASE(WEIGHT_GRADIENT), false, false},
    {"DATA", SHAPE_DATA, LAYOUT_ALIKE, PHASE(WEIGHT_GRADIENT), false, false},
    {"MODEL", SHAPE_MODEL, LAYOUT_ALIKE, PHASE(FORWARD) | PHASE(INPUT_GRADIENT), false, false},
    {"HYBRID_DATA_MODEL", SHAPE_MODEL, LAYOUT_MODEL_FIRST, ALL_PHASES, false, false},
    {"HYBRID_MODEL_DATA", SHAPE_MODEL, LAYOUT_DATA_FIRST, ALL_PHASES, false, false},
    {"HYBRID_TRANSFORMER", SHAPE_MODEL, LAYOUT_IN_HEADER, ALL_PHASES, true, false},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", SHAPE_MODEL, LAYOUT_IN_HEADER, ALL_PHASES, true, false},
    {"HYBRID_DLRM", SHAPE_DLRM, LAYOUT_ALIKE, ALL_PHASES, true, true},
    {"HYBRID_DLRM_ENHANCED", SHAPE_DLRM, LAYOUT_ALIKE, ALL_PHASES, true, false},
};
enum { POLICIES = sizeof policies / sizeof *policies };

static const struct {
    const char *name;
    enum collective_operation operation;
} operations[] = {{"ALLREDUCE", OPERATION_ALLREDUCE},
                  {"ALLGATHER", OPERATION_ALLGATHER},
                  {"REDUCESCATTER", OPERATION_REDUCE_SCATTER},
                  {"ALLTOALL", OPERATION_ALLTOALL}};

static const char *const phase_names[] = {"the forward pass", "input gradients", "weight gradients"};

/* ---- the first line ---- */

static const struct astrasim_policy *policy_find(struct word word)
{
    uint32_t i = 0;
    while (i < POLICIES && !word_is(word, policies[i].name))
        i++;
    return i < POLICIES ? &policies[i] : NULL;
}

bool astrasim_is_policy(struct word word)
{
    return policy_find(word) ||
           (word.length > strlen("HYBRID_") && memcmp(word.chars, "HYBRID_", strlen("HYBRID_")) == 0);
}

static bool read_policy(struct astrasim *work)
{
    struct word word;
    const char *known = "";
    if (!lines_need(&work->lines, "a policy", &word))
        return false;
    for (uint32_t i = 0; i < POLICIES; i++)
        known = list_add(work->lines.errors->arena, known, ", ", policies[i].name);
    work->policy = policy_find(word);
    return work->policy || lines_refuse(&work->lines, word, "where a policy is due; accepted: %s", known);
}

/* Of some of these nothing comes: layers stand in the file as often as they are done, in whatever order they were. */
static const char *const field_names[] = {
    "model_parallel_NPU_group", "ep",      "pp", "vpp", "ga", "all_gpus", "checkpoints",
    "checkpoint_initiates",     "pp_comm", NULL};

/* A list of layers is passed over for now. */
static bool pass_list(struct astrasim *work, uint64_t layers, struct trace_lines *list)
{
    uint64_t layer;
    *list = work->lines;
    for (uint64_t i = 0; i < layers; i++)
        if (!lines_number(&work->lines, "a layer of the list", UINT32_MAX, &layer))
            return false;
    list->end = work->lines.at;
    return true;
}

/* Fields in any order, "ep: 4" or "ep:4"; any of them may be missing. */
static bool read_fields(struct astrasim *work)
{
    struct word word;
    uint32_t seen = 0;
    while (lines_word(&work->lines, &word)) {
        const char *colon = memchr(word.chars, ':', word.length);
        size_t key_length = colon ? (size_t)(colon - word.chars) : word.length;
        struct word key = {word.chars, key_length};
        uint32_t field = word_find(key, field_names);
        if (field == FIELDS)
            return lines_refuse(&work->lines, key,
                                "in the header; accepted: %s, ep, pp, vpp, ga, all_gpus, checkpoints, "
                                "checkpoint_initiates, pp_comm, each with a colon and a number",
                                field_names[MODEL_PARALLEL]);
        if (seen & 1u << field)
            return lines_error(&work->lines, "%s stands twice in the header", field_names[field]);
        seen |= 1u << field;
        if (key_length + 1 < word.length) /* its number stands in the same word */
            work->lines.at = colon + 1;
        uint64_t most = field == PIPELINE_BYTES ? INT64_MAX : MAX_RANKS;
        struct trace_lines *list = field == CHECKPOINTS ? &work->checkpoints : field == REPEATS ? &work->repeats : NULL;
        if (!lines_number(&work->lines, field_names[field], most, &work->fields[field]) ||
            (list && !pass_list(work, work->fields[field], list)))
            return false;
    }
    return true;
}

static bool astrasim_read_header(struct astrasim *work)
{
    uint64_t number;
    if (!lines_next(&work->lines))
        return errors_add(work->lines.errors, "%s: the file is empty", work->lines.source->path);
    if (!read_policy(work))
        return false;
    if (work->policy->layout == LAYOUT_IN_HEADER)
        return read_fields(work);
    if (work->policy->shape == SHAPE_DLRM) {
        if (!lines_number(&work->lines, "the number of the last bottom layer", UINT32_MAX - 2, &number))
            return false;
        work->last_bottom_layer = (uint32_t)number;
    }
    return lines_end(&work->lines);
}

/* ---- layers ---- */

/* The word behind the time: an operation, in SimAI's files with those that take part in it. */
static bool read_operation(struct astrasim *work, enum astrasim_phase phase, struct astrasim_step *step)
{
    struct word word;
    bool has_groups = work->policy->layout == LAYOUT_IN_HEADER;
    step->operation = OPERATIONS;
    step->group = phase == WEIGHT_GRADIENT ? GROUP_DATA : GROUP_MODEL;
    if (!lines_need(&work->lines, "a collective", &word))
        return false;
    if (word_is(word, "NONE"))
        return true;
    for (uint32_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        size_t length = strlen(operations[i].name);
        if (word.length < length || memcmp(word.chars, operations[i].name, length) != 0)
            continue;
        struct word suffix = {word.chars + length, word.length - length};
        bool is_expert = has_groups && word_is(suffix, "_EP"), is_data_expert = has_groups && word_is(suffix, "_DP_EP");
        if (suffix.length && !is_expert && !is_data_expert)
            continue;
        step->operation = (uint8_t)operations[i].operation;
        step->group = is_expert ? GROUP_EXPERT : is_data_expert ? GROUP_DATA_EXPERT : step->group;
        work->is_used[step->group] = true;
        return true;
    }
    return lines_refuse(&work->lines, word,
                        "where a collective is due; accepted: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL%s",
                        has_groups ? ", with _EP or _DP_EP behind them or without" : "");
}

/* Collectives that the policy has no place for would never be done. */
static bool expect_place(struct astrasim *work, uint32_t layer, enum astrasim_phase phase,
                         const struct astrasim_step *step)
{
    const struct astrasim_policy *policy = work->policy;
    bool is_dlrm = policy->shape == SHAPE_DLRM;
    if (step->operation == OPERATIONS && step->bytes)
        return lines_error(&work->lines, "NONE with %llu bytes for %s; accepted: 0", (unsigned long long)step->bytes,
                           phase_names[phase]);
    if (step->operation == OPERATIONS)
        return true;
    if (!(policy->collectives & PHASE(phase)))
        return lines_error(&work->lines, "a collective for %s, which %s never does; accepted: NONE", phase_names[phase],
                           policy->name);
    if (is_dlrm && phase == FORWARD && (layer > 0 || step->operation != OPERATION_ALLTOALL))
        return lines_error(&work->lines, "a collective for %s of layer %u; accepted in %s: ALLTOALL, of layer 0 alone",
                           phase_names[phase], layer, policy->name);
    if (is_dlrm && phase == INPUT_GRADIENT && layer > 0)
        return lines_error(&work->lines, "a collective for %s of layer %u; accepted in %s: of layer 0 alone",
                           phase_names[phase], layer, policy->name);
    return true;
}

static bool read_layer(struct astrasim *work, uint32_t number, struct astrasim_layer *layer)
{
    struct trace_lines *lines = &work->lines;
    uint64_t most_time = UINT64_MAX / work->unit_ps;
    struct word name, reserved;
    *layer = (struct astrasim_layer){0};
    if (!lines_need(lines, "the name of a layer", &name) || !lines_need(lines, "the reserved column", &reserved))
        return false;
    for (enum astrasim_phase phase = 0; phase < PHASES; phase++) {
        struct astrasim_step *step = &layer->steps[phase];
        if (!lines_number(lines, "a time to compute", most_time, &step->compute) ||
            !read_operation(work, phase, step) ||
            !lines_number(lines, "the bytes of a collective", INT64_MAX, &step->bytes) ||
            !expect_place(work, number, phase, step))
            return false;
    }
    return lines_number(lines, "the time of an update", most_time, &layer->update) && lines_end(lines);
}

static bool read_layers(struct astrasim *work)
{
    struct trace_lines *lines = &work->lines;
    uint64_t count, most = lines->source->size / SMALLEST_LAYER;
    if (!lines_next(lines))
        return lines_error(lines, "the file ends where the number of layers is due");
    if (!lines_number(lines, "the number of layers", UINT32_MAX, &count) || !lines_end(lines))
        return false;
    if (count == 0 || count > most)
        return lines_error(lines, "%llu layers in a file of %zu bytes; accepted: 1 to %llu", (unsigned long long)count,
                           lines->source->size, (unsigned long long)most);
    if (work->policy->shape == SHAPE_DLRM && work->last_bottom_layer + 1 >= count)
        return lines_error(lines,
                           "the last bottom layer is %u, of %llu layers; accepted: one that has layers behind it",
                           work->last_bottom_layer, (unsigned long long)count);
    work->layer_count = (uint32_t)count;
    work->layers = memory_take(sizeof *work->layers * work->layer_count);
    for (uint32_t i = 0; i < work->layer_count; i++) {
        if (!lines_next(lines))
            return lines_error(lines, "the file ends after %u of %u layers", i, work->layer_count);
        if (!read_layer(work, i, &work->layers[i]))
            return false;
    }
    return !lines_next(lines) || lines_error(lines, "a line behind the last of %u layers", work->layer_count);
}

/* ---- layers that go forward again ---- */

/* The next layer of a list in the header; false behind the last one, or with an error. */
static bool next_listed(struct astrasim *work, struct trace_lines *list, struct astrasim_layer **layer)
{
    struct word word;
    uint64_t number;
    if (!lines_word(list, &word) || !word_number(word, UINT32_MAX, &number))
        return false;
    *layer = number < work->layer_count ? &work->layers[number] : NULL;
    if (!*layer)
        lines_error(list, "the header lists layer %llu, of %u; they are counted from 0", (unsigned long long)number,
                    work->layer_count);
    return *layer;
}

static bool mark_layers(struct astrasim *work)
{
    struct astrasim_layer *layer;
    uint32_t errors_before = work->lines.errors->count;
    bool has_checkpoint = false;
    while (next_listed(work, &work->checkpoints, &layer))
        layer->is_checkpoint = true;
    while (next_listed(work, &work->repeats, &layer))
        layer->goes_again = true;
    for (uint32_t i = 0; i < work->layer_count && work->lines.errors->count == errors_before; i++) {
        has_checkpoint |= work->layers[i].is_checkpoint;
        if (work->layers[i].goes_again && !has_checkpoint)
            lines_error(&work->repeats, "layer %u lets layers go forward again, and there is no checkpoint before it",
                        i);
    }
    return work->lines.errors->count == errors_before;
}

/* ---- the whole ---- */

bool astrasim_read_file(struct astrasim *work, const struct trace_source *source, struct errors *errors)
{
    *work = (struct astrasim){.lines = {.source = source, .errors = errors}, .config = source->config};
    work->unit_ps = (uint64_t)llround(work->config->time_unit * 1e12);
    return astrasim_read_header(work) && read_layers(work) && mark_layers(work);
}
