/* SPDX-License-Identifier: Apache-2.0 */
/* Text workloads of ASTRA-sim: who waits for what, who takes part in which collective, and what is refused. */
#include "traced.h"

#define SIMAI "HYBRID_TRANSFORMER_FWD_IN_BCKWD "

static void read_with(struct traced *traced, const char *settings, const char *text)
{
    traced_open_with(traced, "astrasim", settings, 0, text, strlen(text));
}

static void expect_astrasim_refused(const char *settings, const char *text, const char *message)
{
    struct traced traced;
    read_with(&traced, settings, text);
    EXPECT(traced.trace == NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&traced.errors), message);
    traced_close(&traced);
}

static void expect_compute(const struct traced *traced, uint32_t task, uint64_t ps, uint8_t cpu)
{
    EXPECT_EQ_U64(traced_task(traced, 0, task)->kind, TASK_COMPUTE);
    EXPECT_EQ_U64(traced_task(traced, 0, task)->amount, ps);
    EXPECT_EQ_U64(traced_task(traced, 0, task)->cpu, cpu);
}

static void expect_collective(const struct traced *traced, uint32_t task, enum collective_operation operation,
                              uint64_t bytes)
{
    EXPECT_EQ_U64(traced_task(traced, 0, task)->kind, TASK_COLLECTIVE);
    EXPECT_EQ_U64(traced_task(traced, 0, task)->unit, operation);
    EXPECT_EQ_U64(traced_task(traced, 0, task)->amount, bytes);
    EXPECT_EQ_U64(traced_task(traced, 0, task)->cpu, 1); /* layers compute meanwhile */
}

/* Ranks of the communicator of a task, one digit each. */
static uint64_t group_of(const struct traced *traced, uint32_t rank, uint32_t task)
{
    const struct trace_communicator *group =
        &traced->trace->communicators[traced_task(traced, rank, task)->communicator];
    uint64_t digits = 0;
    for (uint32_t i = 0; i < group->size; i++)
        digits = digits * 10 + group->ranks[i];
    return digits;
}

TEST(astrasim_data_sums_weights_beside_the_way_back_and_the_next_pass_waits)
{
    struct traced traced;
    read_with(&traced, "{\"ranks\": 4, \"passes\": 2, \"time_unit\": \"2ns\"}",
              "DATA\n2\na -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 100 4\nb -1 5 NONE 0 6 NONE 0 7 ALLREDUCE 200 0\n");
    EXPECT(traced.trace != NULL);
    EXPECT_EQ_U64(traced.trace->rank_count, 4);
    /* a, b forward; b: weights, sum, input; a: weights, sum, update; next pass: wait a, a, wait b, b */
    expect_compute(&traced, 0, 2000, 0);
    expect_compute(&traced, 1, 10000, 0);
    expect_compute(&traced, 2, 14000, 0);
    expect_collective(&traced, 3, OPERATION_ALLREDUCE, 200);
    expect_compute(&traced, 4, 12000, 0);
    expect_compute(&traced, 5, 6000, 0);
    expect_collective(&traced, 6, OPERATION_ALLREDUCE, 100);
    expect_compute(&traced, 7, 8000, 2);
    EXPECT(waits_for(&traced, 0, 3, 2, false) && waits_for(&traced, 0, 4, 2, false));
    EXPECT(waits_for(&traced, 0, 5, 4, false) && !waits_for(&traced, 0, 5, 3, false));
    EXPECT(waits_for(&traced, 0, 7, 6, false));
    EXPECT_EQ_U64(traced_task(&traced, 0, 8)->kind, TASK_JOIN);
    EXPECT(waits_for(&traced, 0, 8, 7, false) && waits_for(&traced, 0, 8, 5, false));
    expect_compute(&traced, 9, 2000, 0);
    EXPECT(waits_for(&traced, 0, 10, 3, false) && waits_for(&traced, 0, 10, 9, false));
    expect_compute(&traced, 11, 10000, 0);
    EXPECT_EQ_U64(group_of(&traced, 0, 3), 123);
    traced_close(&traced);
}

TEST(astrasim_model_waits_for_activations_at_once_and_for_gradients_after_the_weights)
{
    struct traced traced;
    read_with(
        &traced, "{\"ranks\": 4}",
        "MODEL\n2\na -1 1 ALLGATHER 8 2 ALLREDUCE 9 3 NONE 0 0\nb -1 4 ALLREDUCE 80 5 REDUCESCATTER 40 6 NONE 0 0\n");
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 4 + 4 + 2);
    expect_collective(&traced, 1, OPERATION_ALLGATHER, 8); /* what a rank gives */
    EXPECT(waits_for(&traced, 0, 2, 1, false));
    expect_collective(&traced, 5, OPERATION_REDUCE_SCATTER, 10); /* a block of four */
    EXPECT(waits_for(&traced, 0, 5, 4, false) && waits_for(&traced, 0, 6, 4, false));
    EXPECT(waits_for(&traced, 0, 7, 5, false) && waits_for(&traced, 0, 7, 6, false)); /* join */
    EXPECT(waits_for(&traced, 0, 8, 7, false));
    expect_compute(&traced, 9, 3000, 0); /* of the first layer there is no collective of the input */
    traced_close(&traced);
}

TEST(astrasim_hybrid_policies_lay_ranks_out_either_way)
{
    const char *text = "%s\n1\na -1 1 ALLTOALL 12 2 NONE 0 3 ALLREDUCE 9 0\n";
    const uint64_t model[] = {12, 14}, data[] = {25, 12};
    const char *policies[] = {"HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA"};
    for (uint32_t i = 0; i < 2; i++) {
        struct arena arena = {0};
        struct traced traced;
        read_with(&traced, i ? "{\"ranks\": 6, \"model_parallel\": 2}" : "{\"ranks\": 6, \"model_parallel\": 3}",
                  arena_format(&arena, text, policies[i]));
        EXPECT(traced.trace != NULL);
        EXPECT_EQ_U64(group_of(&traced, 1, 1), model[i]); /* 0 1 2, or 1 and 4 */
        EXPECT_EQ_U64(group_of(&traced, 2, 4), data[i]);  /* 2 and 5, or 0 1 2 */
        expect_collective(&traced, 1, OPERATION_ALLTOALL, i ? 6 : 4);
        traced_close(&traced);
        arena_release(&arena);
    }
}

/* Tensor 2, experts 2, two copies of those: ranks are tensor + 2 * (expert + 2 * copy). */
TEST(astrasim_simai_collectives_go_to_the_groups_that_they_name)
{
    struct traced traced;
    read_with(&traced, "{}",
              SIMAI "all_gpus: 8 pp_comm 7 ga: 3 ep:2 checkpoints: 0 checkpoint_initiates: 0 "
                    "model_parallel_NPU_group: 2\n2\n"
                    "a -1 1 ALLGATHER 12 1 ALLTOALL_EP 12 1 ALLREDUCE 10 0\n"
                    "b -1 0 NONE 0 1 ALLREDUCE 10 1 REDUCESCATTER_DP_EP 10 0\n");
    EXPECT(traced.trace != NULL);
    EXPECT_EQ_U64(traced.trace->rank_count, 8);
    expect_collective(&traced, 1, OPERATION_ALLGATHER, 6); /* SimAI counts the whole */
    EXPECT_EQ_U64(group_of(&traced, 3, 1), 23);            /* tensor */
    expect_collective(&traced, 3, OPERATION_ALLREDUCE, 10);
    EXPECT_EQ_U64(group_of(&traced, 3, 3), 23);
    expect_collective(&traced, 5, OPERATION_REDUCE_SCATTER, 5);
    EXPECT_EQ_U64(group_of(&traced, 3, 5), 37); /* the same expert's copies */
    expect_collective(&traced, 8, OPERATION_ALLTOALL, 6);
    EXPECT_EQ_U64(group_of(&traced, 3, 8), 13); /* the experts of a copy */
    EXPECT_EQ_U64(group_of(&traced, 3, 10), 1357);
    traced_close(&traced);
}

TEST(astrasim_stages_of_a_pipeline_share_nothing)
{
    struct traced traced;
    const char *text =
        SIMAI "model_parallel_NPU_group: 2 pp: 2 all_gpus: 8\n1\na -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 8 0\n";
    read_with(&traced, "{}", text);
    EXPECT_EQ_U64(group_of(&traced, 1, 0), 13);
    EXPECT_EQ_U64(group_of(&traced, 6, 0), 46);
    traced_close(&traced);
    read_with(&traced, "{\"pipeline_parallel\": 1, \"ranks\": 4}", text);
    EXPECT_EQ_U64(group_of(&traced, 1, 0), 13);
    EXPECT_EQ_U64(traced.trace->rank_count, 4);
    traced_close(&traced);
}

/* Forward 1 2 3 4; before layer 3 goes back, 1 and 2 go forward again; then 3 2 1 0 back. */
TEST(astrasim_layers_go_forward_again_from_a_checkpoint)
{
    struct traced traced;
    read_with(&traced, "{\"ranks\": 1}",
              SIMAI "model_parallel_NPU_group: 1 checkpoints: 2 0 1 checkpoint_initiates: 1 3\n4\n"
                    "a -1 1 NONE 0 10 NONE 0 0 NONE 0 0\nb -1 2 NONE 0 20 NONE 0 0 NONE 0 0\n"
                    "c -1 3 NONE 0 30 NONE 0 0 NONE 0 0\nd -1 4 NONE 0 40 NONE 0 0 NONE 0 0\n");
    const uint64_t times[] = {1, 2, 3, 4, 2, 3, 40, 30, 20, 10};
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 10);
    for (uint32_t i = 0; i < 10; i++)
        expect_compute(&traced, i, times[i] * 1000, 0);
    traced_close(&traced);
}

TEST(astrasim_dlrm_waits_for_the_embedding_where_it_is_needed)
{
    struct traced traced;
    const char *text = "%s 1\n3\ne -1 1 ALLTOALL 8 2 ALLTOALL 12 3 NONE 0 9\n"
                       "bottom -1 4 NONE 0 5 NONE 0 6 ALLREDUCE 16 0\ntop -1 7 NONE 0 8 NONE 0 9 ALLREDUCE 32 0\n";
    for (uint32_t is_enhanced = 0; is_enhanced < 2; is_enhanced++) {
        struct arena arena = {0};
        read_with(&traced, "{\"ranks\": 4}",
                  arena_format(&arena, text, is_enhanced ? "HYBRID_DLRM_ENHANCED" : "HYBRID_DLRM"));
        expect_collective(&traced, 1, OPERATION_ALLTOALL, 2); /* to each of four */
        EXPECT(waits_for(&traced, 0, 2, 0, false));           /* the bottom goes on */
        EXPECT(waits_for(&traced, 0, 3, 1, false) && waits_for(&traced, 0, 3, 2, false));
        expect_compute(&traced, 4, 7000, 0); /* the top has both */
        expect_compute(&traced, 5, 9000, 0);
        expect_collective(&traced, 6, OPERATION_ALLREDUCE, 32);
        expect_compute(&traced, 7, 8000, 0);
        expect_collective(&traced, 8, OPERATION_ALLTOALL, 3);
        expect_compute(&traced, 9, 6000, 0); /* the bottom's weights beside it */
        EXPECT(waits_for(&traced, 0, 9, 7, false) && !waits_for(&traced, 0, 9, 8, false));
        if (!is_enhanced)
            EXPECT(waits_for(&traced, 0, 12, 8, false) && waits_for(&traced, 0, 13, 12, false));
        expect_compute(&traced, is_enhanced ? 12 : 13, 3000, 0);
        traced_close(&traced);
        arena_release(&arena);
    }
}

TEST(astrasim_micro_begins_all_its_collectives_at_once)
{
    struct traced traced;
    read_with(&traced, "{\"ranks\": 2, \"passes\": 2}",
              "MICRO\n2\na -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 8 5\nb -1 5 NONE 0 5 NONE 0 5 ALLTOALL 8 5\n");
    EXPECT_EQ_U64(traced.trace->ranks[1].task_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_EQ_U64(traced_task(&traced, 1, i)->waits, 0);
    traced_close(&traced);
}

/* What would be left out without a word is refused. */
TEST(astrasim_collectives_that_a_policy_never_does_are_refused)
{
    expect_astrasim_refused("{}", "MICRO\n1\na -1 5 ALLREDUCE 8 5 NONE 0 5 ALLREDUCE 8 5\n",
                            "made:3: a collective for the forward pass, which MICRO never does; accepted: NONE");
    expect_astrasim_refused("{}", "DATA\n1\na -1 5 NONE 0 5 ALLREDUCE 8 5 ALLREDUCE 8 5\n",
                            "made:3: a collective for input gradients, which DATA never does; accepted: NONE");
    expect_astrasim_refused("{}", "MODEL\n1\na -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 8 5\n",
                            "made:3: a collective for weight gradients, which MODEL never does; accepted: NONE");
    expect_astrasim_refused(
        "{}", "HYBRID_DLRM 0\n2\na -1 5 ALLREDUCE 8 5 NONE 0 5 NONE 0 5\nb -1 0 NONE 0 0 NONE 0 0 NONE 0 0",
        "made:3: a collective for the forward pass of layer 0; accepted in HYBRID_DLRM: ALLTOALL");
    expect_astrasim_refused(
        "{}", "HYBRID_DLRM 0\n2\na -1 5 NONE 0 5 NONE 0 5 NONE 0 5\nb -1 0 NONE 0 0 ALLTOALL 8 0 NONE 0 0",
        "made:4: a collective for input gradients of layer 1; accepted in HYBRID_DLRM: of layer 0 alone");
    expect_astrasim_refused("{}", "DATA\n1\na -1 5 NONE 7 5 NONE 0 5 NONE 0 5\n",
                            "made:3: NONE with 7 bytes for the forward pass; accepted: 0");
}

TEST(astrasim_faults_are_named_with_their_line)
{
    expect_astrasim_refused("{}", "HYBRID_THEORY\n1\n",
                            "made:1: \"HYBRID_THEORY\" where a policy is due; accepted: MICRO");
    expect_astrasim_refused("{}", "DATA 3\n1\n", "made:1: \"3\" where the line should end");
    expect_astrasim_refused("{}", "HYBRID_DLRM\n1\n",
                            "made:1: the line ends where the number of the last bottom layer");
    expect_astrasim_refused("{}",
                            "HYBRID_DLRM 1\n2\na -1 0 NONE 0 0 NONE 0 0 NONE 0 0\na -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n",
                            "made:2: the last bottom layer is 1, of 2 layers; accepted: one that has layers behind it");
    expect_astrasim_refused("{}", "DATA\n0\n", "made:2: 0 layers in a file of 7 bytes; accepted: 1 to 0");
    expect_astrasim_refused("{}", "DATA\n99999\na -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n",
                            "made:2: 99999 layers in a file of");
    expect_astrasim_refused("{}", "DATA\n2\na -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n       ",
                            "the file ends after 1 of 2 layers");
    expect_astrasim_refused("{}", "DATA\n1\na -1 0 NONE 0 0 NONE 0 0 NONE 0 0\nb\n",
                            "made:4: a line behind the last of 1 layers");
    expect_astrasim_refused("{}", "DATA\n1\na -1 0 NONE 0 0 NONE 0 0 NONE 0\n",
                            "made:3: the line ends where the time of an update");
    expect_astrasim_refused("{}", "DATA\n1\na -1 0 NONE 0 0 NONE 0 0 NONE 0 0 7\n",
                            "made:3: \"7\" where the line should end");
    expect_astrasim_refused("{}", "DATA\n1\na -1 0 NONE 0 0 NONE 0 0 ALLTOONE 0 0\n",
                            "made:3: \"ALLTOONE\" where a collective is due; accepted: NONE, ALLREDUCE");
    expect_astrasim_refused("{}", "DATA\n1\na -1 0 NONE 0 0 NONE 0 0 ALLREDUCE_EP 0 0\n",
                            "made:3: \"ALLREDUCE_EP\" where");
    expect_astrasim_refused("{}", "DATA\n1\na -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 9223372036854775808 0\n",
                            "made:3: \"9223372036854775808\" where the bytes of a collective is due");
    expect_astrasim_refused("{}", "DATA\n1\na -1 18446744073709552 NONE 0 0 NONE 0 0 NONE 0 0\n",
                            "made:3: \"18446744073709552\" where a time to compute is due");
}

TEST(astrasim_faults_of_the_header_are_named)
{
    const char *layer = "\n1\na -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 8 0\n";
    const struct {
        const char *settings, *fields, *message;
    } faults[] = {
        {"{}", "ep: 1 ep: 2", "made:1: ep stands twice in the header"},
        {"{}", "tp: 1", "made:1: \"tp\" in the header; accepted: model_parallel_NPU_group, ep, pp, vpp"},
        {"{}", "ep:", "made:1: the line ends where ep is due"},
        {"{}", "ep: one", "made:1: \"one\" where ep is due; accepted: a whole number"},
        {"{}", "checkpoints: 2 0", "made:1: the line ends where a layer of the list is due"},
        {"{}", "checkpoints: 1 1 all_gpus: 2", "made:1: the header lists layer 1, of 1; they are counted from 0"},
        {"{}", "checkpoint_initiates: 1 0", "made:1: layer 0 lets layers go forward again, and there is no checkpoint"},
        {"{}", "all_gpus: 2", "how many ranks share the model; accepted: the setting model_parallel of format"},
        {"{}", "model_parallel_NPU_group: 2", "the file does not say how many ranks there are; accepted: the setting"},
        {"{\"ranks\": 5}", "model_parallel_NPU_group: 2",
         "5 ranks are no multiple of 2 that share the model in 1 stages"},
    };
    for (uint32_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct arena arena = {0};
        expect_astrasim_refused(faults[i].settings, arena_format(&arena, SIMAI "%s%s", faults[i].fields, layer),
                                faults[i].message);
        arena_release(&arena);
    }
    const char *expert = SIMAI "model_parallel_NPU_group: 2 all_gpus: 8\n1\na -1 0 ALLTOALL_EP 8 0 NONE 0 0 NONE 0 0\n";
    expect_astrasim_refused("{}", expert,
                            "how many ranks share experts; accepted: the setting expert_parallel of format");
    expect_astrasim_refused("{\"expert_parallel\": 3}", expert, "4 copies of the model are no multiple of 3 ranks");
    expect_astrasim_refused("{\"ranks\": 2, \"model_parallel\": 2}", "DATA\n1\na -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n",
                            "model_parallel is 2, and policy DATA has no use for it; accepted: 0");
}

TEST(astrasim_takes_the_room_that_there_is)
{
    struct traced traced;
    const char *text = "DATA\n1\na -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 8 0\n";
    traced_open_with(&traced, "astrasim", "{}", 5, text, strlen(text));
    EXPECT_EQ_U64(traced.trace->rank_count, 5);
    traced_close(&traced);
    traced_open_with(&traced, "astrasim", "{\"ranks\": 6}", 5, text, strlen(text));
    EXPECT_TEXT_CONTAINS(errors_text(&traced.errors), "made: 6 ranks, and there is room for 5");
    traced_close(&traced);
}
