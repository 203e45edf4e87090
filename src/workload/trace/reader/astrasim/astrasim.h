/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Text workloads of ASTRA-sim and SimAI: what stands in the file (file.c), how ranks share it, and what each of them does. */
#include "flitwarp/collective.h"
#include "flitwarp/trace_lines.h"

struct astrasim_config {
    uint32_t ranks, passes;
    uint32_t model_parallel, expert_parallel, pipeline_parallel; /* 0: what the file says */
    double time_unit;
};

/* What a layer does, each a time to compute and a collective: on the way forward, and two on the way back. */
enum astrasim_phase { FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT, PHASES };

/* Who takes part in a collective. */
enum astrasim_group { GROUP_MODEL, GROUP_DATA, GROUP_EXPERT, GROUP_DATA_EXPERT, GROUPS };

struct astrasim_step {
    uint64_t compute; /* in units of the file */
    uint64_t bytes;
    uint8_t operation; /* enum collective_operation; OPERATIONS: none */
    uint8_t group;     /* enum astrasim_group */
};

struct astrasim_layer {
    struct astrasim_step steps[PHASES];
    uint64_t update;    /* after the collective of weight gradients, before the next pass */
    bool is_checkpoint; /* what goes into it is kept, so that layers can go forward again from here */
    bool goes_again;    /* before its way back the layers since the last checkpoint go forward again */
};

/* The order of the work, and how ranks are laid out. */
enum astrasim_shape { SHAPE_MICRO, SHAPE_DATA, SHAPE_MODEL, SHAPE_DLRM };
enum astrasim_layout { LAYOUT_ALIKE, LAYOUT_MODEL_FIRST, LAYOUT_DATA_FIRST, LAYOUT_IN_HEADER };

struct astrasim_policy {
    const char *name;
    enum astrasim_shape shape;
    enum astrasim_layout layout;
    uint32_t collectives;  /* of which phases, as bits; layers have none in the others */
    bool first_layer_too;  /* has a collective of input gradients */
    bool waits_for_pooled; /* gradients of the embedding, before it goes back */
};

/* Fields of a header, each a number; lists of layers stand behind theirs. */
enum astrasim_field {
    MODEL_PARALLEL,
    EXPERT_PARALLEL,
    PIPELINE_PARALLEL,
    VIRTUAL_STAGES,
    ACCUMULATION,
    ALL_GPUS,
    CHECKPOINTS,
    REPEATS,
    PIPELINE_BYTES,
    FIELDS,
};

/* What stands in the file, and how ranks share it. */
struct astrasim {
    struct trace_lines lines;
    const struct astrasim_config *config;
    const struct astrasim_policy *policy;
    struct astrasim_layer *layers; /* owned */
    uint32_t layer_count;
    uint32_t last_bottom_layer;              /* of DLRM */
    uint64_t fields[FIELDS];                 /* of the header; 0: not there */
    struct trace_lines checkpoints, repeats; /* lists in the header, read when the number of layers is known */
    uint64_t unit_ps;                        /* of times in the file */
    uint32_t ranks;
    bool is_used[GROUPS];              /* by collectives of layers */
    struct rank_groups groups[GROUPS]; /* of none: size 0 */
};

/* Whether a word is the name of a policy, or looks like one. */
bool astrasim_is_policy(struct word word);
/* All that stands in the file; false with errors. The layers are to be freed in either case. */
bool astrasim_read_file(struct astrasim *work, const struct trace_source *source, struct errors *errors);
