/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training of a transformer, from its size and how it is laid out over ranks:
 *
 *   tensor    each layer is cut over neighbouring ranks: two allreduces of activations a
 *             layer and micro batch on the way forward, two on the way back
 *   data      copies of the model see different data: gradients are summed over them in
 *             buckets, while the layers before are still on their way back
 *   expert    of those copies so many in a row hold different experts of every layer:
 *             two all-to-alls a layer and micro batch on either way
 *   pipeline  stages of layers: activations go to the next stage, gradients come back,
 *             one forward and one backward in turn (1F1B)
 *
 * A rank is tensor + data * (...) + pipeline * (...): neighbours are in one tensor group.
 */
#include "workload/motif/training.h"

static const struct option training_options[] = {
    OPTION_U32(struct training_config, iterations, "1", 1, 1e9, NULL, "updates of the weights"),
    OPTION_U32(struct training_config, layers, "24", 1, 1e6, NULL, "of the model"),
    OPTION_U32(struct training_config, hidden, "2048", 1, 1e6, NULL, "values of a token between layers"),
    OPTION_U64(struct training_config, parameters, "0", 0, 1e15, NULL,
               "of all layers; 0: 12 hidden^2 a layer. With experts: without theirs"),
    OPTION_U32(struct training_config, sequence, "2048", 1, 1e8, "tokens", "of a sequence"),
    OPTION_U32(struct training_config, micro_batch, "1", 1, 1e6, "sequences", "that go through the layers together"),
    OPTION_U32(struct training_config, micro_batches, "8", 1, 1e6, NULL, "of each copy of the model in an iteration"),
    OPTION_U32(struct training_config, tensor, "1", 1, 1e6, "ranks", "over which a layer is cut"),
    OPTION_U32(struct training_config, pipeline, "1", 1, 1e6, "stages",
               "of layers; the ranks that are left over hold copies of the model"),
    OPTION_U32(struct training_config, expert, "1", 1, 1e6, "ranks",
               "over which experts are spread; 1: there are none"),
    OPTION_U32(struct training_config, experts_per_token, "2", 1, 1024, NULL, "that a token is sent to",
               ONLY_WITH("expert")),
    OPTION_U32(struct training_config, value_bytes, "2", 1, 16, "bytes", "of an activation"),
    OPTION_U32(struct training_config, gradient_bytes, "2", 1, 16, "bytes", "of the gradient of a parameter"),
    OPTION_U64(struct training_config, bucket, "26214400", 1, MOTIF_MAX_BYTES, "bytes",
               "of gradients that are summed together"),
    OPTION_F64(struct training_config, flops, "1e14", 0, 1e20, "1/s",
               "operations of a rank in a second; 0: computing takes no time"),
    OPTION_END,
};

static void expect_divisor(const struct motif *motif, const char *key, uint32_t divisor, uint32_t number,
                           const char *what, struct errors *errors)
{
    if (number % divisor)
        choice_error(errors, motif->choice, key, "%u does not divide %u %s", divisor, number, what);
}

static void training_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    const struct training_config *config = motif->config;
    struct training *training = motif->state = arena_array(motif->arena, struct training, 1);
    uint32_t errors_before = errors->count, tensor = config->tensor, data = 0;
    expect_divisor(motif, "tensor", tensor, motif->ranks, "ranks", errors);
    if (errors->count == errors_before)
        expect_divisor(motif, "pipeline", config->pipeline, motif->ranks / tensor, "ranks left over by tensor", errors);
    expect_divisor(motif, "pipeline", config->pipeline, config->layers, "layers", errors);
    if (errors->count == errors_before) {
        data = motif->ranks / tensor / config->pipeline;
        expect_divisor(motif, "expert", config->expert, data, "copies of the model", errors);
    }
    if (errors->count > errors_before)
        return;
    double tokens = (double)config->micro_batch * config->sequence;
    uint64_t hidden = config->hidden, activations = (uint64_t)config->micro_batch * config->sequence * hidden;
    uint64_t parameters = config->parameters ? config->parameters : 12 * config->layers * hidden * hidden;
    *training = (struct training){
        .config = config,
        .stage_ranks = motif->ranks / config->pipeline,
        .stage_layers = config->layers / config->pipeline,
        .gradients = parameters / config->pipeline / tensor * config->gradient_bytes,
        .activations = activations * config->value_bytes,
        .dispatched = activations * config->value_bytes * config->experts_per_token / config->expert / tensor,
        .tensor = rank_groups_make(builder, tensor, 1),
        .data = rank_groups_make(builder, data, tensor),
        .expert = rank_groups_make(builder, config->expert, tensor),
    };
    if (config->flops > 0) /* two operations for each parameter and token */
        training->half_layer = (double)parameters / config->layers / tensor * tokens / config->flops;
}

static void training_program(const struct motif *motif, struct script *script)
{
    const struct training *training = motif->state;
    for (uint32_t i = 0; i < training->config->iterations; i++)
        training_iteration(training, script);
}

static const struct motif_ops training = {
    .name = "training",
    .summary = "a transformer on data, tensor, pipeline and expert parallel ranks",
    .options = training_options,
    .config_size = sizeof(struct training_config),
    .example = "{\"type\": \"training\", \"layers\": 8, \"hidden\": 1024, \"tensor\": 4, \"pipeline\": 4, "
               "\"expert\": 2, \"micro_batches\": 6}",
    .prepare = training_prepare,
    .program = training_program,
};
REGISTER_MOTIF(training);
