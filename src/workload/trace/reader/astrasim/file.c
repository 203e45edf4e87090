/* SPDX-License-Identifier: Apache-2.0 */
/* Header and layers of a text workload of ASTRA-sim, see astrasim.h. */
#include "workload/trace/reader/astrasim/astrasim.h"

#include "base/text.h"

#include <stdlib.h>
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

struct file {
    struct trace_lines lines;
    struct astrasim_workload *workload;
    uint64_t most_time; /* in units of the file */
    /* The lists of layers in the header, to be read when it is known how many there are. */
    struct trace_lines checkpoints, repeats;
};

/* ---- the first line ---- */

bool astrasim_is_policy(struct word word)
{
    for (uint32_t i = 0; i < POLICIES; i++)
        if (word_is(word, policies[i].name))
            return true;
    return word.length > strlen("HYBRID_") && memcmp(word.chars, "HYBRID_", strlen("HYBRID_")) == 0;
}

static bool read_policy(struct file *file)
{
    struct word word;
    struct text known = {0};
    if (!lines_need(&file->lines, "a policy", &word))
        return false;
    for (uint32_t i = 0; i < POLICIES; i++) {
        if (word_is(word, policies[i].name))
            file->workload->policy = &policies[i];
        text_addf(&known, "%s%s", i ? ", " : "", policies[i].name);
    }
    if (!file->workload->policy)
        lines_refuse(&file->lines, word, "where a policy is due; accepted: %s", known.chars);
    text_release(&known);
    return file->workload->policy;
}

enum field { MODEL_PARALLEL, EXPERT, PIPELINE, VIRTUAL, ACCUMULATION, ALL_GPUS, CHECKPOINTS, REPEATS, PIPELINE_BYTES };
static const char *const field_names[] = {
    "model_parallel_NPU_group", "ep",      "pp", "vpp", "ga", "all_gpus", "checkpoints",
    "checkpoint_initiates",     "pp_comm", NULL};
enum { FIELDS = PIPELINE_BYTES + 1 };

/* The numbers behind it are passed over for now. */
static bool skip_list(struct file *file, uint64_t count, struct trace_lines *list)
{
    uint64_t layer;
    *list = file->lines;
    for (uint64_t i = 0; i < count; i++)
        if (!lines_number(&file->lines, "a layer of the list", UINT32_MAX, &layer))
            return false;
    list->end = file->lines.at;
    return true;
}

/* Of the others nothing is kept: layers stand in the file as often as they are done, in whatever order they were. */
static bool take_field(struct file *file, enum field field, uint64_t value)
{
    struct astrasim_workload *workload = file->workload;
    uint32_t *const numbers[FIELDS] = {[MODEL_PARALLEL] = &workload->model_parallel,
                                       [EXPERT] = &workload->expert_parallel,
                                       [PIPELINE] = &workload->pipeline_parallel,
                                       [ALL_GPUS] = &workload->ranks};
    if (numbers[field])
        *numbers[field] = (uint32_t)value;
    if (field == PIPELINE_BYTES)
        workload->pipeline_bytes = value;
    if (field == CHECKPOINTS || field == REPEATS)
        return skip_list(file, value, field == CHECKPOINTS ? &file->checkpoints : &file->repeats);
    return true;
}

/* Fields in any order, "ep: 4" or "ep:4"; any of them may be missing. */
static bool read_fields(struct file *file)
{
    struct word word;
    uint32_t seen = 0;
    while (lines_word(&file->lines, &word)) {
        const char *colon = memchr(word.chars, ':', word.length);
        size_t key_length = colon ? (size_t)(colon - word.chars) : word.length;
        uint64_t value;
        struct word key = {word.chars, key_length};
        uint32_t field = word_find(key, field_names);
        if (field == FIELDS)
            return lines_refuse(&file->lines, key,
                                "in the header; accepted: %s, ep, pp, vpp, ga, all_gpus, checkpoints, "
                                "checkpoint_initiates, pp_comm, each with a colon and a number",
                                field_names[MODEL_PARALLEL]);
        if (seen & 1u << field)
            return lines_error(&file->lines, "%s stands twice in the header", field_names[field]);
        seen |= 1u << field;
        if (key_length + 1 < word.length) /* its number stands in the same word */
            file->lines.at = colon + 1;
        uint64_t most = field == PIPELINE_BYTES ? INT64_MAX : MAX_RANKS;
        if (!lines_number(&file->lines, field_names[field], most, &value) || !take_field(file, field, value))
            return false;
    }
    return true;
}

static bool astrasim_read_header(struct file *file)
{
    uint64_t number;
    if (!lines_next(&file->lines))
        return errors_add(file->lines.errors, "%s: the file is empty", file->lines.source->path);
    if (!read_policy(file))
        return false;
    if (file->workload->policy->layout == LAYOUT_IN_HEADER)
        return read_fields(file);
    if (file->workload->policy->shape == SHAPE_DLRM) {
        if (!lines_number(&file->lines, "the number of the last bottom layer", UINT32_MAX - 2, &number))
            return false;
        file->workload->last_bottom_layer = (uint32_t)number;
    }
    return lines_end(&file->lines);
}

/* ---- layers ---- */

static bool has_suffix(struct word word, const char *name, const char *suffix)
{
    size_t length = strlen(name);
    return word.length >= length && memcmp(word.chars, name, length) == 0 &&
           word_is((struct word){word.chars + length, word.length - length}, suffix);
}

/* The word behind the time: an operation, in SimAI's files with those that take part in it. */
static bool read_operation(struct file *file, enum astrasim_phase phase, struct astrasim_step *step)
{
    struct word word;
    bool has_groups = file->workload->policy->layout == LAYOUT_IN_HEADER;
    step->operation = OPERATIONS;
    step->group = phase == WEIGHT_GRADIENT ? GROUP_DATA : GROUP_MODEL;
    if (!lines_need(&file->lines, "a collective", &word))
        return false;
    if (word_is(word, "NONE"))
        return true;
    for (uint32_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        bool is_expert = has_groups && has_suffix(word, operations[i].name, "_EP");
        bool is_data_expert = has_groups && has_suffix(word, operations[i].name, "_DP_EP");
        if (!is_expert && !is_data_expert && !word_is(word, operations[i].name))
            continue;
        step->operation = (uint8_t)operations[i].operation;
        step->group = is_expert ? GROUP_EXPERT : is_data_expert ? GROUP_DATA_EXPERT : step->group;
        return true;
    }
    return lines_refuse(&file->lines, word,
                        "where a collective is due; accepted: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL%s",
                        has_groups ? ", with _EP or _DP_EP behind them or without" : "");
}

/* Collectives that the policy has no place for would never be done. */
static bool expect_place(struct file *file, uint32_t layer, enum astrasim_phase phase, const struct astrasim_step *step)
{
    const struct astrasim_policy *policy = file->workload->policy;
    bool is_dlrm = policy->shape == SHAPE_DLRM;
    if (step->operation == OPERATIONS && step->bytes)
        return lines_error(&file->lines, "NONE with %llu bytes for %s; accepted: 0", (unsigned long long)step->bytes,
                           phase_names[phase]);
    if (step->operation == OPERATIONS)
        return true;
    if (!(policy->collectives & PHASE(phase)))
        return lines_error(&file->lines, "a collective for %s, which %s never does; accepted: NONE", phase_names[phase],
                           policy->name);
    if (is_dlrm && phase == FORWARD && (layer > 0 || step->operation != OPERATION_ALLTOALL))
        return lines_error(&file->lines, "a collective for %s of layer %u; accepted in %s: ALLTOALL, of layer 0 alone",
                           phase_names[phase], layer, policy->name);
    if (is_dlrm && phase == INPUT_GRADIENT && layer > 0)
        return lines_error(&file->lines, "a collective for %s of layer %u; accepted in %s: of layer 0 alone",
                           phase_names[phase], layer, policy->name);
    return true;
}

static bool read_step(struct file *file, uint32_t layer, enum astrasim_phase phase, struct astrasim_step *step)
{
    return lines_number(&file->lines, "a time to compute", file->most_time, &step->compute) &&
           read_operation(file, phase, step) &&
           lines_number(&file->lines, "the bytes of a collective", INT64_MAX, &step->bytes) &&
           expect_place(file, layer, phase, step);
}

static bool read_layer(struct file *file, uint32_t number, struct astrasim_layer *layer)
{
    struct word name, reserved;
    *layer = (struct astrasim_layer){0};
    if (!lines_need(&file->lines, "the name of a layer", &name) ||
        !lines_need(&file->lines, "the reserved column", &reserved))
        return false;
    for (enum astrasim_phase phase = 0; phase < PHASES; phase++)
        if (!read_step(file, number, phase, &layer->steps[phase]))
            return false;
    return lines_number(&file->lines, "the time of an update", file->most_time, &layer->update) &&
           lines_end(&file->lines);
}

static bool read_count(struct file *file)
{
    struct trace_lines *lines = &file->lines;
    uint64_t count, most = lines->source->size / SMALLEST_LAYER;
    if (!lines_next(lines))
        return lines_error(lines, "the file ends where the number of layers is due");
    if (!lines_number(lines, "the number of layers", UINT32_MAX, &count) || !lines_end(lines))
        return false;
    if (count == 0 || count > most)
        return lines_error(lines, "%llu layers in a file of %zu bytes; accepted: 1 to %llu", (unsigned long long)count,
                           lines->source->size, (unsigned long long)most);
    struct astrasim_workload *workload = file->workload;
    workload->layer_count = (uint32_t)count;
    return workload->policy->shape != SHAPE_DLRM || workload->last_bottom_layer + 1 < count ||
           lines_error(lines, "the last bottom layer is %u, of %llu layers; accepted: one that has layers behind it",
                       workload->last_bottom_layer, (unsigned long long)count);
}

static bool read_layers(struct file *file)
{
    struct trace_lines *lines = &file->lines;
    struct astrasim_workload *workload = file->workload;
    workload->layers = memory_take(sizeof *workload->layers * workload->layer_count);
    for (uint32_t i = 0; i < workload->layer_count; i++) {
        if (!lines_next(lines))
            return lines_error(lines, "the file ends after %u of %u layers", i, workload->layer_count);
        if (!read_layer(file, i, &workload->layers[i]))
            return false;
    }
    return !lines_next(lines) || lines_error(lines, "a line behind the last of %u layers", workload->layer_count);
}

/* ---- layers that go forward again ---- */

/* The next layer of a list in the header; false behind the last one, or with an error. */
static bool next_listed(struct file *file, struct trace_lines *list, struct astrasim_layer **layer)
{
    struct word word;
    uint64_t number;
    if (!lines_word(list, &word) || !word_number(word, UINT32_MAX, &number))
        return false;
    *layer = number < file->workload->layer_count ? &file->workload->layers[number] : NULL;
    if (!*layer)
        lines_error(list, "the header lists layer %llu, of %u; they are counted from 0", (unsigned long long)number,
                    file->workload->layer_count);
    return *layer;
}

static bool mark_layers(struct file *file)
{
    struct astrasim_layer *layer;
    uint32_t errors_before = file->lines.errors->count;
    bool has_checkpoint = false;
    while (next_listed(file, &file->checkpoints, &layer))
        layer->is_checkpoint = true;
    while (next_listed(file, &file->repeats, &layer))
        layer->goes_again = true;
    for (uint32_t i = 0; i < file->workload->layer_count && file->lines.errors->count == errors_before; i++) {
        has_checkpoint |= file->workload->layers[i].is_checkpoint;
        if (file->workload->layers[i].goes_again && !has_checkpoint)
            lines_error(&file->repeats, "layer %u lets layers go forward again, and there is no checkpoint before it",
                        i);
    }
    return file->lines.errors->count == errors_before;
}

/* ---- the whole ---- */

bool astrasim_workload_read(struct astrasim_workload *workload, const struct trace_source *source,
                            struct errors *errors)
{
    *workload = (struct astrasim_workload){.config = source->config};
    struct file file = {.lines = {.source = source, .errors = errors},
                        .workload = workload,
                        .most_time = UINT64_MAX / astrasim_unit_ps(workload->config)};
    return astrasim_read_header(&file) && read_count(&file) && read_layers(&file) && mark_layers(&file);
}

void astrasim_workload_release(struct astrasim_workload *workload) { free(workload->layers); }
