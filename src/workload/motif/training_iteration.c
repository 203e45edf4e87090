/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank does for one update of the weights, see training.h and training.c. */
#include "workload/motif/training.h"

enum { FORWARD, BACKWARD }; /* tags */

/* Where a rank is in an iteration. */
struct turn {
    const struct training *training;
    struct script *script;
    uint32_t stage;
    uint64_t ready; /* gradients: bytes that wait for a bucket to be full */
    uint64_t given; /* bytes of layers that have been through so far */
};

static void sum_over_tensor(const struct turn *turn)
{
    const struct rank_groups *groups = &turn->training->tensor;
    if (groups->size > 1)
        script_collective(turn->script, OPERATION_ALLREDUCE, rank_group_of(groups, turn->script->rank),
                          turn->training->activations);
}

static void swap_with_experts(const struct turn *turn)
{
    const struct rank_groups *groups = &turn->training->expert;
    if (groups->size > 1)
        script_collective(turn->script, OPERATION_ALLTOALL, rank_group_of(groups, turn->script->rank),
                          turn->training->dispatched);
}

/* Attention, or its gradient. */
static void first_half(const struct turn *turn, double seconds)
{
    script_compute(turn->script, seconds);
    sum_over_tensor(turn);
}

/* What follows it, where tokens visit experts. */
static void second_half(const struct turn *turn, double seconds)
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

static void forward(struct turn *turn)
{
    const struct training *training = turn->training;
    uint32_t rank = turn->script->rank;
    if (turn->stage > 0)
        script_receive(turn->script, rank - training->stage_ranks, stage_bytes(turn), FORWARD);
    for (uint32_t layer = 0; layer < training->stage_layers; layer++) {
        first_half(turn, training->half_layer);
        second_half(turn, training->half_layer);
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

static void backward(struct turn *turn, bool is_last)
{
    const struct training *training = turn->training;
    uint32_t rank = turn->script->rank;
    if (turn->stage + 1 < training->config->pipeline)
        script_receive(turn->script, rank + training->stage_ranks, stage_bytes(turn), BACKWARD);
    for (uint32_t layer = 0; layer < training->stage_layers; layer++) {
        second_half(turn, 2 * training->half_layer);
        first_half(turn, 2 * training->half_layer);
        if (is_last)
            fill_buckets(turn, layer + 1);
    }
    if (turn->stage > 0)
        script_start_send(turn->script, rank - training->stage_ranks, stage_bytes(turn), BACKWARD);
}

/* 1F1B: a stage begins with as many forwards as there are stages behind it, and ends with as many backwards. */
void training_iteration(const struct training *training, struct script *script)
{
    struct turn turn = {.training = training, .script = script, .stage = script->rank / training->stage_ranks};
    uint32_t batches = training->config->micro_batches, behind = training->config->pipeline - turn.stage - 1;
    uint32_t ahead = behind < batches ? behind : batches;
    for (uint32_t i = 0; i < ahead; i++)
        forward(&turn);
    for (uint32_t i = 0; i < batches; i++) {
        if (ahead + i < batches)
            forward(&turn);
        backward(&turn, i + 1 == batches);
    }
    if (turn.ready)
        start_bucket(&turn, turn.ready);
    script_wait(script);
}
