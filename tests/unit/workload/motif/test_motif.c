/* SPDX-License-Identifier: Apache-2.0 */
/* Motifs against what can be counted on paper: partners, bytes, and how long they take where messages take no time. */
#include "test.h"

#include "chosen.h"
#include "ideal_play.h"
#include "flitwarp/motif.h"

#define US 1000000 /* picoseconds */

struct made {
    struct chosen chosen;
    struct trace *trace;
    struct ideal_play play;
};

/* The trace of a motif, played; with everything met and ended. */
static struct made *make(const char *json, uint32_t ranks)
{
    static struct made made;
    made = (struct made){.chosen = CHOSEN_INIT(made.chosen)};
    struct choice choice = choose(&made.chosen, "motif", json);
    made.trace = motif_trace(&choice, ranks, 1, &made.chosen.errors);
    EXPECT_EQ_U64(made.chosen.errors.count, 0);
    made.play = ideal_play(made.trace);
    EXPECT_EQ_U64(made.play.unmatched, 0);
    EXPECT_EQ_U64(made.play.unfinished, 0);
    return &made;
}

static void release(struct made *made)
{
    arena_release(&made->play.arena);
    trace_destroy(made->trace);
    arena_release(&made->chosen.arena);
}

/* Tasks of a kind at a rank, with so many bytes; UINT64_MAX: any. */
static uint32_t count(const struct made *made, uint32_t rank, enum task_kind kind, uint64_t bytes)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < made->trace->ranks[rank].task_count; i++) {
        const struct task *task = &made->trace->ranks[rank].tasks[i];
        found += task->kind == kind && (bytes == UINT64_MAX || task->amount == bytes);
    }
    return found;
}

static uint64_t count_all(const struct made *made, enum task_kind kind, uint64_t bytes)
{
    uint64_t found = 0;
    for (uint32_t rank = 0; rank < made->trace->rank_count; rank++)
        found += count(made, rank, kind, bytes);
    return found;
}

/* Collectives of an operation at a rank, on communicators of so many ranks, and their bytes. */
static uint32_t count_collectives(const struct made *made, uint32_t rank, enum collective_operation operation,
                                  uint32_t size, uint64_t *bytes)
{
    uint32_t found = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < made->trace->ranks[rank].task_count; i++) {
        const struct task *task = &made->trace->ranks[rank].tasks[i];
        if (task->kind != TASK_COLLECTIVE || task->unit != operation ||
            made->trace->communicators[task->communicator].size != size)
            continue;
        found++;
        *bytes += task->amount;
    }
    return found;
}

TEST(every_motif_comes_to_its_end)
{
    EACH_REGISTERED(at, "motif")
    {
        struct made *made = make(at->component->example, 64); /* all examples are for 64 ranks */
        EXPECT(made->trace->task_count >= 64);
        release(made);
    }
}

TEST(every_motif_runs_on_seven_ranks_by_default)
{
    EACH_REGISTERED(at, "motif")
    {
        struct chosen chosen = CHOSEN_INIT(chosen);
        release(make(arena_format(&chosen.arena, "{\"type\": \"%s\", \"iterations\": 2}", at->component->name), 7));
        arena_release(&chosen.arena);
    }
}

TEST(halo_of_a_3d_grid_has_six_faces_inside_and_three_at_corners)
{
    struct made *made = make("{\"type\": \"halo\", \"grid\": [4, 3, 5], \"bytes\": [100], \"iterations\": 2}", 60);
    uint64_t faces = 2 * (3 * 3 * 5 + 4 * 2 * 5 + 4 * 3 * 4); /* both ways through the planes between ranks */
    EXPECT_EQ_U64(count_all(made, TASK_SEND, 100), 2 * faces);
    EXPECT_EQ_U64(count_all(made, TASK_RECEIVE, 100), 2 * faces);
    EXPECT_EQ_U64(count(made, 0, TASK_SEND, 100), 2 * 3);
    EXPECT_EQ_U64(count(made, 1 + 4 * (1 + 3 * 1), TASK_SEND, 100), 2 * 6);
    EXPECT_EQ_U64(count(made, 0, TASK_JOIN, UINT64_MAX), 2);
    release(made);
}

TEST(halo_of_faces_edges_and_corners_has_26_neighbours)
{
    struct made *made = make("{\"type\": \"halo\", \"grid\": [3, 3, 3], \"wraps\": true, \"bytes\": [900, 30, 1], "
                             "\"iterations\": 1, \"allreduce\": 8}",
                             27);
    for (uint32_t rank = 0; rank < 27; rank++) {
        EXPECT_EQ_U64(count(made, rank, TASK_SEND, 900), 6);
        EXPECT_EQ_U64(count(made, rank, TASK_SEND, 30), 12);
        EXPECT_EQ_U64(count(made, rank, TASK_SEND, 1), 8);
        EXPECT_EQ_U64(count(made, rank, TASK_COLLECTIVE, 8), 1);
    }
    release(made);
}

TEST(grids_are_made_as_even_as_ranks_allow)
{
    struct made *made = make("{\"type\": \"halo\", \"bytes\": [1], \"iterations\": 1}", 12); /* 3 x 2 x 2 */
    EXPECT_EQ_U64(count_all(made, TASK_SEND, 1), 2 * (2 * 4 + 6 + 6));
    release(made);
}

/* A wave is in the far corner after a block for each rank on the way; the next sweep from the same corner follows at once. */
TEST(sweep_takes_a_block_for_each_rank_on_the_way_and_each_block)
{
    struct made *made = make("{\"type\": \"sweep3d\", \"grid\": [4, 3], \"blocks\": 5, \"octants\": 1, "
                             "\"compute\": \"1us\", \"iterations\": 1}",
                             12);
    EXPECT_EQ_U64(made->play.end, (3 + 2 + 5) * US);
    EXPECT_EQ_U64(count(made, 5, TASK_RECEIVE, 4096), 2 * 5);
    EXPECT_EQ_U64(count(made, 0, TASK_RECEIVE, 4096), 0);
    EXPECT_EQ_U64(count(made, 11, TASK_SEND, 4096), 0);
    release(made);
    made = make("{\"type\": \"sweep3d\", \"grid\": [4, 3], \"blocks\": 5, \"octants\": 2, \"compute\": \"1us\", "
                "\"iterations\": 1}",
                12);
    EXPECT_EQ_U64(made->play.end, (3 + 2 + 2 * 5) * US);
    release(made);
}

/* From four corners every rank but those at the edges hears from each of its neighbours in half of the octants. */
TEST(eight_octants_send_as_much_each_way)
{
    struct made *made = make("{\"type\": \"sweep3d\", \"grid\": [3, 3], \"blocks\": 2, \"iterations\": 1}", 9);
    uint32_t to[9] = {0};
    for (uint32_t i = 0; i < made->trace->ranks[4].task_count; i++)
        if (made->trace->ranks[4].tasks[i].kind == TASK_SEND)
            to[made->trace->ranks[4].tasks[i].peer]++;
    for (uint32_t rank = 1; rank < 9; rank += 2)
        EXPECT_EQ_U64(to[rank], 2 * 4);
    release(made);
}

TEST(nearest_neighbours_are_on_both_sides_and_go_round)
{
    struct made *made = make(
        "{\"type\": \"nearest_neighbour\", \"reach\": 2, \"bytes\": 5, \"iterations\": 3, \"compute\": \"2us\"}", 9);
    for (uint32_t rank = 0; rank < 9; rank++)
        EXPECT_EQ_U64(count(made, rank, TASK_SEND, 5), 3 * 4);
    EXPECT_EQ_U64(made->play.end, 3 * 2 * US);
    release(made);
}

TEST(incast_clients_answer_their_own_server)
{
    struct made *made =
        make("{\"type\": \"incast\", \"servers\": 2, \"request\": 1, \"bytes\": 1000, \"iterations\": 2}", 7);
    EXPECT_EQ_U64(count(made, 0, TASK_RECEIVE, 1000), 2 * 3); /* ranks 2, 4, 6 and 3, 5: three and two clients */
    EXPECT_EQ_U64(count(made, 1, TASK_RECEIVE, 1000), 2 * 2);
    EXPECT_EQ_U64(count(made, 6, TASK_SEND, 1000), 2);
    release(made);
}

TEST(many_to_many_partners_are_different_ones_and_not_oneself)
{
    struct made *made = make("{\"type\": \"many_to_many\", \"partners\": 5, \"bytes\": 7, \"iterations\": 20}", 8);
    uint32_t drawn[8] = {0}, repeated = 0;
    for (uint32_t rank = 0; rank < 8; rank++) {
        uint32_t partners = 0, sends = 0;
        for (uint32_t i = 0; i < made->trace->ranks[rank].task_count; i++) {
            const struct task *task = &made->trace->ranks[rank].tasks[i];
            if (task->kind == TASK_JOIN)
                partners = 0;
            if (task->kind != TASK_SEND)
                continue;
            repeated += task->peer == rank || partners >> task->peer & 1;
            partners |= 1u << task->peer;
            drawn[task->peer] += rank == 0;
            sends++;
        }
        EXPECT_EQ_U64(sends, 20 * 5);
    }
    EXPECT_EQ_U64(repeated, 0);
    for (uint32_t other = 1; other < 8; other++) /* of 20 draws of 5 among 7, 14.3 on average */
        EXPECT(drawn[other] > 5 && drawn[other] < 20);
    release(made);
}

TEST(all_to_all_in_rows_and_columns_or_among_all)
{
    uint64_t bytes;
    struct made *made = make("{\"type\": \"all_to_all\", \"grid\": [3, 4], \"bytes\": 9, \"iterations\": 2}", 12);
    for (uint32_t rank = 0; rank < 12; rank++) {
        EXPECT_EQ_U64(count_collectives(made, rank, OPERATION_ALLTOALL, 3, &bytes), 2);
        EXPECT_EQ_U64(count_collectives(made, rank, OPERATION_ALLTOALL, 4, &bytes), 2);
    }
    release(made);
    made = make("{\"type\": \"all_to_all\", \"bytes\": 9, \"iterations\": 2}", 12);
    EXPECT_EQ_U64(count_collectives(made, 5, OPERATION_ALLTOALL, 12, &bytes), 2);
    EXPECT_EQ_U64(bytes, 2 * 9);
    release(made);
}

TEST(collective_motif_names_every_operation)
{
    const uint32_t rooted =
        1u << OPERATION_BROADCAST | 1u << OPERATION_REDUCE | 1u << OPERATION_GATHER | 1u << OPERATION_SCATTER;
    for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
        struct chosen chosen = CHOSEN_INIT(chosen);
        uint32_t root = rooted >> operation & 1 ? 4 : 0;
        uint64_t bytes;
        struct made *made = make(arena_format(&chosen.arena,
                                              "{\"type\": \"collective\", \"operation\": \"%s\", \"bytes\": 6, "
                                              "\"iterations\": 2, \"root\": %u}",
                                              collective_operation_name(operation), root),
                                 5);
        EXPECT_EQ_U64(count_collectives(made, 3, operation, 5, &bytes), 2);
        EXPECT_EQ_U64(bytes, 2 * 6);
        EXPECT_EQ_U64(made->trace->ranks[3].tasks[0].peer, root);
        release(made);
        arena_release(&chosen.arena);
    }
}

/* Points 4, 2, 1 on all of 4 x 4 x 4 ranks, then one point on 2 x 2 x 2 of them, then on one. */
TEST(multigrid_messages_shrink_by_four_and_ranks_by_eight)
{
    struct made *made = make("{\"type\": \"multigrid\", \"grid\": [4, 4, 4], \"points\": 4, \"value_bytes\": 10, "
                             "\"iterations\": 1}",
                             64);
    uint64_t faces = 2 * 3 * 3 * 4 * 4, coarse_faces = 2 * 3 * 1 * 2 * 2, handed = 64 - 8 + 8 - 1;
    EXPECT_EQ_U64(count_all(made, TASK_SEND, 160), 2 * faces); /* down and up */
    EXPECT_EQ_U64(count_all(made, TASK_SEND, 40), 2 * faces);
    EXPECT_EQ_U64(count_all(made, TASK_SEND, 10), 2 * faces + 2 * coarse_faces + 2 * handed);
    EXPECT_EQ_U64(count_all(made, TASK_COLLECTIVE, 8), 64);
    release(made);
}

/* On level n a rank works an eighth of the time before; all wait for the one that is left, and it works on every level. */
TEST(multigrid_takes_as_long_as_the_rank_that_works_on_all_levels)
{
    struct made *made = make("{\"type\": \"multigrid\", \"grid\": [4, 4, 4], \"points\": 1, \"iterations\": 1, "
                             "\"smooths\": 2, \"compute\": \"64us\"}",
                             64);
    EXPECT_EQ_U64(made->play.end, 2 * (2 * 64 + 2 * 8 + 1) * US);
    release(made);
}

TEST(amg_is_dense_below_its_finest_level_and_sums_three_times)
{
    uint64_t bytes;
    struct made *made = make("{\"type\": \"amg\", \"grid\": [3, 3, 3], \"wraps\": true, \"points\": 4, \"levels\": 2, "
                             "\"value_bytes\": 1, \"iterations\": 1}",
                             27);
    EXPECT_EQ_U64(count(made, 13, TASK_SEND, 16), 3 * 6); /* the product, down, up */
    EXPECT_EQ_U64(count(made, 13, TASK_SEND, 4), 6);      /* level 1: faces, edges, corners; the last level once */
    EXPECT_EQ_U64(count(made, 13, TASK_SEND, 2), 12);
    EXPECT_EQ_U64(count(made, 13, TASK_SEND, 1), 8);
    EXPECT_EQ_U64(count_collectives(made, 13, OPERATION_ALLREDUCE, 27, &bytes), 3);
    release(made);
}

/*
 * Of m micro batches and p stages the last backward ends after m + p - 1 forwards and backwards: p - 1 of them are the
 * bubble. With 12 layers of 12 * 10^2 parameters, 50 tokens and 1.2e11 operations a second, half a layer takes
 * 1200 * 50 / 1.2e11 s = 0.5 us, so a stage of 3 layers 3 us forward and 6 us backward.
 */
TEST(pipeline_has_a_bubble_of_one_pass_for_each_stage_but_one)
{
    for (uint32_t batches = 1; batches <= 9; batches += 4) {
        struct chosen chosen = CHOSEN_INIT(chosen);
        struct made *made =
            make(arena_format(&chosen.arena,
                              "{\"type\": \"training\", \"layers\": 12, \"hidden\": 10, \"sequence\": 50, "
                              "\"flops\": 1.2e11, \"pipeline\": 4, \"micro_batches\": %u}",
                              batches),
                 4);
        EXPECT_EQ_U64(made->play.end, (uint64_t)(batches + 4 - 1) * 9 * US);
        for (uint32_t stage = 0; stage < 4; stage++) /* 50 * 10 values of 2 bytes, to both sides */
            EXPECT_EQ_U64(count(made, stage, TASK_SEND, 1000), batches * (stage == 0 || stage == 3 ? 1 : 2));
        release(made);
        arena_release(&chosen.arena);
    }
}

TEST(tensor_parallel_layers_sum_activations_twice_each_way)
{
    uint64_t bytes;
    struct made *made = make("{\"type\": \"training\", \"layers\": 6, \"hidden\": 16, \"sequence\": 8, \"tensor\": 4, "
                             "\"micro_batches\": 3, \"micro_batch\": 2}",
                             4);
    EXPECT_EQ_U64(count_collectives(made, 2, OPERATION_ALLREDUCE, 4, &bytes), 6 * 3 * (2 + 2));
    EXPECT_EQ_U64(bytes, (uint64_t)6 * 3 * 4 * (2 * 8 * 16 * 2));
    release(made);
}

/* All gradients once, in buckets: 12 * 6 * 16^2 parameters of 2 bytes over two stages in pieces of 5000. */
TEST(data_parallel_copies_sum_all_gradients_once_in_buckets)
{
    uint64_t bytes, gradients = 12 * 6 * 16 * 16 * 2 / 2;
    struct made *made =
        make("{\"type\": \"training\", \"layers\": 6, \"hidden\": 16, \"sequence\": 8, \"pipeline\": 2, "
             "\"bucket\": 5000, \"micro_batches\": 3}",
             6);
    for (uint32_t rank = 0; rank < 6; rank++) {
        EXPECT_EQ_U64(count_collectives(made, rank, OPERATION_ALLREDUCE, 3, &bytes), (gradients + 4999) / 5000);
        EXPECT_EQ_U64(bytes, gradients);
    }
    release(made);
}

/* The first bucket does not wait for the end of the backward pass, and the next layer not for the bucket. */
TEST(sums_of_gradients_overlap_the_backward_pass)
{
    struct made *made = make("{\"type\": \"training\", \"layers\": 4, \"hidden\": 16, \"sequence\": 8, "
                             "\"bucket\": 6144, \"micro_batches\": 1}",
                             2);
    const struct trace_rank *rank = &made->trace->ranks[0];
    uint32_t collectives = 0;
    for (uint32_t i = 0; i < rank->task_count; i++) {
        uint32_t edges;
        const uint32_t *waiting = trace_edges(rank, i, &edges);
        if (rank->tasks[i].kind != TASK_COLLECTIVE)
            continue;
        collectives++;
        EXPECT_EQ_U64(edges, 1); /* the join at the end alone */
        EXPECT_EQ_U64(rank->tasks[waiting[0]].kind, TASK_JOIN);
    }
    EXPECT_EQ_U64(collectives, 4); /* 12 * 16^2 * 2 = 6144 bytes: a layer each */
    release(made);
}

/* To each rank of a group goes its share of the values of two experts for each token. */
TEST(expert_parallel_layers_swap_tokens_twice_each_way)
{
    uint64_t bytes;
    struct made *made = make("{\"type\": \"training\", \"layers\": 2, \"hidden\": 16, \"sequence\": 8, \"expert\": 4, "
                             "\"micro_batches\": 3}",
                             8);
    EXPECT_EQ_U64(count_collectives(made, 7, OPERATION_ALLTOALL, 4, &bytes), 2 * 3 * (2 + 2));
    EXPECT_EQ_U64(bytes, (uint64_t)2 * 3 * 4 * (8 * 16 * 2 * 2 / 4));
    release(made);
}

static void expect_refusal(const char *json, uint32_t ranks, const char *text)
{
    struct chosen chosen = CHOSEN_INIT(chosen);
    struct choice choice = choose(&chosen, "motif", json);
    EXPECT(motif_trace(&choice, ranks, 1, &chosen.errors) == NULL);
    EXPECT_EQ_U64(chosen.errors.count, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&chosen.errors), text);
    arena_release(&chosen.arena);
}

TEST(motifs_refuse_what_does_not_fit_their_ranks)
{
    expect_refusal("{\"type\": \"halo\", \"grid\": [3, 3]}", 8, "grid: a grid of 9 for 8 ranks");
    expect_refusal("{\"type\": \"sweep3d\", \"grid\": [2, 2, 2]}", 8, "grid: 3 dimensions; accepted: 1 to 2");
    expect_refusal("{\"type\": \"halo\", \"bytes\": []}", 8, "bytes: 0 numbers; accepted: 1 to 3");
    expect_refusal("{\"type\": \"all_to_all\", \"grid\": [3, 3]}", 8, "grid: a grid of 9 for 8 ranks");
    expect_refusal("{\"type\": \"collective\", \"root\": 8}", 8, "root: 8 is not among 8 ranks; accepted: 0 to 7");
    expect_refusal("{\"type\": \"collective\", \"operation\": \"scan\", \"growth\": 1}", 8,
                   "growth: scan has no blocks of ranks; accepted: 0");
    expect_refusal("{\"type\": \"nearest_neighbour\", \"reach\": 5}", 8,
                   "reach: 5 on each side of 8 ranks; accepted: 1 to 4");
    expect_refusal("{\"type\": \"incast\", \"servers\": 5}", 8, "servers: 5 of 8 ranks; accepted: 1 to 4");
    expect_refusal("{\"type\": \"many_to_many\", \"partners\": 8}", 8, "partners: 8 among 8 ranks");
    expect_refusal("{\"type\": \"multigrid\", \"levels\": 9}", 8, "levels: 9; accepted: up to 7");
    expect_refusal("{\"type\": \"training\", \"tensor\": 3}", 8, "tensor: 3 does not divide 8 ranks");
    expect_refusal("{\"type\": \"training\", \"layers\": 16, \"pipeline\": 16}", 8,
                   "pipeline: 16 does not divide 8 ranks left over by tensor");
    expect_refusal("{\"type\": \"training\", \"layers\": 9, \"pipeline\": 2}", 8,
                   "pipeline: 2 does not divide 9 layers");
    expect_refusal("{\"type\": \"training\", \"expert\": 3}", 8, "expert: 3 does not divide 8 copies of the model");
}
