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

static void expect_divisor(const struct motif *motif, const char *key, uint32_t divisor, uint32_t number,
                           const char *what, struct errors *errors)
{
    if (number % divisor)
        choice_error(errors, motif->choice, key, "%u does not divide %u %s", divisor, number, what);
}

static void training_prepare(struct motif *motif, struct errors *errors)
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
        .tensor = rank_groups_make(motif->builder, tensor, 1),
        .data = rank_groups_make(motif->builder, data, tensor),
        .expert = rank_groups_make(motif->builder, config->expert, tensor),
    };
    if (config->flops > 0) /* two operations for each parameter and token */
        training->half_layer = (double)parameters / config->layers / tensor * tokens / config->flops;
}

/* ---- an iteration on one rank ---- */

enum { FORWARD, BACKWARD }; /* tags */

/* Where a rank is in an iteration. */
struct turn {
    const struct training *training;
    struct script *script;
    uint32_t stage;
    uint64_t ready; /* gradients: bytes that wait for a bucket to be full */
    uint64_t given; /* bytes of layers that have been through so far */
};

/* An operation of the rank's group, where that has others. */
static void training_collective(const struct turn *turn, enum collective_operation operation,
                                const struct rank_groups *groups, uint64_t bytes)
{
    if (groups->size > 1)
        script_collective(turn->script, operation, rank_group_of(groups, turn->script->rank), bytes);
}

static void sum_over_tensor(const struct turn *turn)
{
    training_collective(turn, OPERATION_ALLREDUCE, &turn->training->tensor, turn->training->activations);
}

static void swap_with_experts(const struct turn *turn)
{
    training_collective(turn, OPERATION_ALLTOALL, &turn->training->expert, turn->training->dispatched);
}

/* Attention, or its gradient. */
static void training_first_half(const struct turn *turn, double seconds)
{
    script_compute(turn->script, seconds);
    sum_over_tensor(turn);
}

/* What follows it, where tokens visit experts. */
static void training_second_half(const struct turn *turn, double seconds)
{
    swap_with_experts(turn);
    script_compute(turn->script, seconds);
    swap_with_experts(turn);
    sum_over_tensor(turn);
}

/* Every rank of a tensor group has all activations and hands on its share. */
static uint64_t stage_bytes(const struct turn *turn)
{
    return turn->training->activations / turn->training->config->tensor;
}

static void training_forward(struct turn *turn)
{
    const struct training *training = turn->training;
    uint32_t rank = turn->script->rank;
    if (turn->stage > 0)
        script_receive(turn->script, rank - training->stage_ranks, stage_bytes(turn), FORWARD);
    for (uint32_t layer = 0; layer < training->stage_layers; layer++) {
        training_first_half(turn, training->half_layer);
        training_second_half(turn, training->half_layer);
    }
    if (turn->stage + 1 < training->config->pipeline)
        script_start_send(turn->script, rank + training->stage_ranks, stage_bytes(turn), FORWARD);
}

static void start_bucket(const struct turn *turn, uint64_t bytes)
{
    const struct rank_groups *groups = &turn->training->data;
    if (groups->size > 1)
        script_start_collective(turn->script, OPERATION_ALLREDUCE, rank_group_of(groups, turn->script->rank), bytes);
}

/* The gradients of a layer are there: sums of full buckets begin. */
static void fill_buckets(struct turn *turn, uint32_t layers_done)
{
    const struct training *training = turn->training;
    uint64_t given = training->gradients / training->stage_layers * layers_done;
    if (layers_done == training->stage_layers)
        given = training->gradients;
    turn->ready += given - turn->given;
    turn->given = given;
    for (; turn->ready >= training->config->bucket; turn->ready -= training->config->bucket)
        start_bucket(turn, training->config->bucket);
}

static void training_backward(struct turn *turn, bool is_last)
{
    const struct training *training = turn->training;
    uint32_t rank = turn->script->rank;
    if (turn->stage + 1 < training->config->pipeline)
        script_receive(turn->script, rank + training->stage_ranks, stage_bytes(turn), BACKWARD);
    for (uint32_t layer = 0; layer < training->stage_layers; layer++) {
        training_second_half(turn, 2 * training->half_layer);
        training_first_half(turn, 2 * training->half_layer);
        if (is_last)
            fill_buckets(turn, layer + 1);
    }
    if (turn->stage > 0)
        script_start_send(turn->script, rank - training->stage_ranks, stage_bytes(turn), BACKWARD);
}

/*
 * An update of the weights: all micro batches through the rank's stage, forward and backward, and sums of gradients. 1F1B: a
 * stage begins with as many forwards as there are stages behind it, and ends with as many backwards.
 */
static void training_iteration(const struct training *training, struct script *script)
{
    struct turn turn = {.training = training, .script = script, .stage = script->rank / training->stage_ranks};
    uint32_t batches = training->config->micro_batches, behind = training->config->pipeline - turn.stage - 1;
    uint32_t ahead = behind < batches ? behind : batches;
    for (uint32_t i = 0; i < ahead; i++)
        training_forward(&turn);
    for (uint32_t i = 0; i < batches; i++) {
        if (ahead + i < batches)
            training_forward(&turn);
        training_backward(&turn, i + 1 == batches);
    }
    if (turn.ready)
        start_bucket(&turn, turn.ready);
    script_wait(script);
}

static void training_program(const struct motif *motif, struct script *script)
{
    const struct training *training = motif->state;
    for (uint32_t i = 0; i < training->config->iterations; i++)
        training_iteration(training, script);
}

static const struct motif_ops training = {
    COMPONENT("training", "a transformer on data, tensor, pipeline and expert parallel ranks", training_options,
              "{\"type\": \"training\", \"layers\": 8, \"hidden\": 1024, \"tensor\": 4, \"pipeline\": 4, "
              "\"expert\": 2, \"micro_batches\": 6}"),
    .prepare = training_prepare,
    .program = training_program,
};
REGISTER_MOTIF(training);
