/* SPDX-License-Identifier: Apache-2.0 */
/* What builders make of tasks, and what they refuse. */
#include "test.h"

#include "workload/trace/trace.h"

#include <stdlib.h>

static struct trace_builder *of_ranks(uint32_t ranks)
{
    struct trace_builder *builder = trace_builder_create();
    builder_set_ranks(builder, ranks);
    return builder;
}

static uint32_t add(struct trace_builder *builder, uint32_t rank, enum task_kind kind, uint32_t peer)
{
    return builder_add(builder, rank, &(struct task){.kind = (uint8_t)kind, .peer = peer, .amount = 8});
}

/* The only error that finishing gives. */
static void expect_refusal(struct trace_builder *builder, const char *text)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    EXPECT(builder_finish(builder, "made.goal", &errors) == NULL);
    EXPECT_EQ_U64(errors.count, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&errors), text);
    trace_builder_destroy(builder);
    arena_release(&arena);
}

TEST(builder_sorts_those_that_wait_by_what_they_wait_for)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct trace_builder *builder = of_ranks(3);
    uint32_t a = add(builder, 1, TASK_COMPUTE, 0), b = add(builder, 1, TASK_SEND, 2), c = add(builder, 1, TASK_JOIN, 0);
    builder_wait(builder, 1, c, b, true);
    builder_wait(builder, 1, b, a, false);
    builder_wait(builder, 1, c, a, false);
    struct trace *trace = builder_finish(builder, "made", &errors);
    trace_builder_destroy(builder);
    const struct trace_rank *rank = &trace->ranks[1];
    uint32_t count;
    const uint32_t *edges = trace_edges(rank, a, &count);
    EXPECT_EQ_U64(count, 2);
    EXPECT_EQ_U64(edges[0], b);
    EXPECT_EQ_U64(edges[1], c);
    edges = trace_edges(rank, b, &count);
    EXPECT_EQ_U64(count, 1);
    EXPECT_EQ_U64(edges[0], c | EDGE_ON_START);
    trace_edges(rank, c, &count);
    EXPECT_EQ_U64(count, 0);
    EXPECT_EQ_U64(rank->tasks[c].waits, 2);
    EXPECT_EQ_U64(trace->ranks[0].task_count, 0);
    EXPECT_EQ_U64(trace->communicators[FW_WORLD].size, 3);
    trace_destroy(trace);
    arena_release(&arena);
}

TEST(builder_keeps_many_tasks_of_many_ranks_in_any_order)
{
    enum { RANKS = 3, TASKS = 200000 };
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct trace_builder *builder = of_ranks(RANKS);
    for (uint32_t i = 0; i < TASKS; i++)
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            uint32_t task =
                builder_add(builder, rank, &(struct task){.kind = TASK_COMPUTE, .amount = i * RANKS + rank});
            if (i)
                builder_wait(builder, rank, task, i - 1, false);
        }
    builder_end_rank(builder, 2, NULL);
    struct trace *trace = builder_finish(builder, "made", &errors);
    trace_builder_destroy(builder);
    EXPECT_EQ_U64(trace->task_count, RANKS * TASKS);
    uint32_t wrong = 0, count;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        for (uint32_t i = 0; i + 1 < TASKS; i++)
            wrong += trace->ranks[rank].tasks[i].amount != i * RANKS + rank ||
                     *trace_edges(&trace->ranks[rank], i, &count) != i + 1 || count != 1;
    EXPECT_EQ_U64(wrong, 0);
    trace_destroy(trace);
    arena_release(&arena);
}

/*
 * Rank 0 has them as the program says, in two communicators; the first of rank 1 waits for the second, of another
 * communicator, and that for the third, so that the program can only mean third, second, first.
 */
TEST(builder_numbers_collectives_in_the_order_of_the_program)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct trace_builder *builder = of_ranks(2);
    uint32_t pair = builder_communicator(builder, (const uint32_t[]){1, 0}, 2);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t i = 0; i < 3; i++) {
            struct task task = {.kind = TASK_COLLECTIVE, .tag = NO_COUNTS, .communicator = i == 1 ? pair : FW_WORLD};
            EXPECT_EQ_U64(builder_add(builder, rank, &task), i);
        }
    builder_wait(builder, 1, 0, 1, false);
    builder_wait(builder, 1, 1, 2, false);
    struct trace *trace = builder_finish(builder, "made", &errors);
    trace_builder_destroy(builder);
    static const uint32_t expected[2][3] = {{0, 2, 1}, {1, 2, 0}}; /* those of the pair come behind the world's two */
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t i = 0; i < 3; i++)
            EXPECT_EQ_U64(trace_collective_number(trace, rank, i), expected[rank][i]);
    trace_destroy(trace);
    arena_release(&arena);
}

TEST(builder_names_the_tasks_of_a_circle)
{
    struct trace_builder *builder = of_ranks(1);
    for (uint32_t i = 0; i < 4; i++)
        add(builder, 0, TASK_COMPUTE, 0);
    builder_wait(builder, 0, 1, 0, false);
    builder_wait(builder, 0, 2, 1, false);
    builder_wait(builder, 0, 1, 2, true);
    builder_wait(builder, 0, 3, 2, false);
    expect_refusal(builder, "made.goal: rank 0: tasks wait for each other in a circle: task 1 (compute 0.008 ns), "
                            "which waits for task 2 (compute 0.008 ns), which waits for the first");
}

TEST(builder_lets_a_task_wait_for_a_later_one)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct trace_builder *builder = of_ranks(1);
    add(builder, 0, TASK_COMPUTE, 0);
    add(builder, 0, TASK_COMPUTE, 0);
    builder_wait(builder, 0, 0, 1, false);
    struct trace *trace = builder_finish(builder, "made", &errors);
    EXPECT(trace != NULL);
    trace_destroy(trace);
    trace_builder_destroy(builder);
    arena_release(&arena);
}

TEST(builder_refuses_peers_that_are_not_there)
{
    struct trace_builder *builder = of_ranks(4);
    add(builder, 2, TASK_SEND, 4);
    expect_refusal(builder,
                   "made.goal: rank 2, task 0 (send of 8 bytes to rank 4, tag 0): there is no such rank; there "
                   "are ranks 0 to 3");
    builder = of_ranks(4);
    add(builder, 2, TASK_SEND, FW_ANY);
    expect_refusal(builder, "send of 8 bytes to any rank, tag 0): there is no such rank");
    builder = of_ranks(4);
    uint32_t pair = builder_communicator(builder, (const uint32_t[]){3, 1}, 2);
    builder_add(builder, 0, &(struct task){.kind = TASK_COLLECTIVE, .peer = 3, .communicator = pair});
    expect_refusal(builder, "its rank is not in the communicator");
    builder = of_ranks(4);
    builder_add(builder, 0, &(struct task){.kind = TASK_COLLECTIVE, .communicator = 1}); /* 0: all ranks */
    expect_refusal(builder, "there is no such communicator");
    builder = of_ranks(4);
    uint32_t nobody = builder_communicator(builder, NULL, 0);
    builder_add(builder, 0, &(struct task){.kind = TASK_COLLECTIVE, .communicator = nobody});
    expect_refusal(builder, "its rank is not in the communicator");
    expect_refusal(trace_builder_create(), "there are no ranks");
}

/* Picoseconds become ticks by way of a double, and add up. */
TEST(builder_refuses_times_beyond_all_runs)
{
    static const enum task_kind kinds[] = {TASK_COMPUTE, TASK_UNTIL};
    for (uint32_t i = 0; i < 2; i++) {
        struct trace_builder *builder = of_ranks(1);
        builder_add(builder, 0, &(struct task){.kind = (uint8_t)kinds[i], .amount = 1000000000000000000});
        builder_add(builder, 0, &(struct task){.kind = (uint8_t)kinds[i], .amount = 1000000000000000001});
        expect_refusal(builder, "1e+15 ns): more than a task can last; accepted: up to 1e+15 ns");
    }
}

TEST(builder_keeps_equal_rows_of_counts_once)
{
    struct trace_builder *builder = of_ranks(2);
    uint32_t a = builder_counts(builder, (const uint64_t[]){1, 2}, 2);
    uint32_t b = builder_counts(builder, (const uint64_t[]){2, 1}, 2);
    EXPECT(a != b);
    EXPECT_EQ_U64(builder_counts(builder, (const uint64_t[]){1, 2}, 2), a);
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct trace *trace = builder_finish(builder, "made", &errors);
    EXPECT_EQ_U64(trace->counts[b], 2);
    trace_destroy(trace);
    trace_builder_destroy(builder);
    arena_release(&arena);
}
