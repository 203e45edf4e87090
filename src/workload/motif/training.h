/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The training of a transformer on one rank: its settings, what follows from them, and an iteration. */
#include "flitwarp/motif.h"

struct training_config {
    uint32_t iterations;
    uint32_t layers, hidden, sequence, micro_batch, micro_batches;
    uint64_t parameters;
    uint32_t tensor, pipeline, expert, experts_per_token;
    uint32_t value_bytes, gradient_bytes;
    uint64_t bucket;
    double flops;
};

struct training {
    const struct training_config *config;
    uint32_t stage_ranks; /* of a stage of the pipeline: the next one is so many ranks on */
    uint32_t stage_layers;
    uint64_t gradients;   /* bytes of a rank */
    uint64_t activations; /* bytes between layers, of a micro batch */
    uint64_t dispatched;  /* of them to each rank of an expert group */
    double half_layer;    /* seconds forward: attention, or what follows it; backward twice that */
    struct rank_groups tensor, data, expert;
};

/* An update of the weights: all micro batches through the rank's stage, forward and backward, and sums of gradients. */
void training_iteration(const struct training *training, struct script *script);
