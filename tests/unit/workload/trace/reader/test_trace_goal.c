/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of GOAL schedules as text: what it makes of them, and what it refuses at which line. */
#include "sandbox.h"

#include "config/registry.h"
#include "workload/trace/trace.h"

#include <string.h>

static struct trace *read_text(const char *text, struct errors *errors)
{
    struct trace_source source = {.path = "made.goal", .bytes = (const unsigned char *)text, .size = strlen(text)};
    const struct trace_reader_ops *reader = trace_reader_find(&source, "auto", errors);
    struct trace_builder *builder = trace_builder_create();
    struct trace *trace = NULL;
    EXPECT(reader != NULL);
    if (reader) {
        EXPECT_TEXT_EQ(reader->name, "goal");
        if (trace_source_set(&source, reader, NULL, errors) && reader->read(&source, builder, errors))
            trace = builder_finish(builder, source.path, errors);
    }
    trace_builder_destroy(builder);
    return trace;
}

TEST(goal_statements_become_tasks)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct trace *trace = read_text("/* two\nranks */ num_ranks 2\n"
                                    "rank 0 { // the first\n"
                                    "a: calc 250 cpu 3\r\n"
                                    "\n"
                                    "b_2: send 1000000000000000b to 1 tag 7 cpu 1 nic 2\n"
                                    "recv 0b from -1 tag -1\n"
                                    "b_2 requires a\n"
                                    "b_2 irequires a /* and\n so */\n"
                                    "}\n"
                                    "rank 1 {}",
                                    &errors);
    EXPECT_TEXT_EQ(errors_text(&errors), "");
    if (!trace)
        return;
    EXPECT_EQ_U64(trace->rank_count, 2);
    EXPECT_EQ_U64(trace->ranks[0].task_count, 3);
    EXPECT_EQ_U64(trace->ranks[1].task_count, 0);
    const struct task *a = &trace->ranks[0].tasks[0], *b = a + 1, *c = a + 2;
    EXPECT(a->kind == TASK_COMPUTE && a->amount == 250000 && a->cpu == 3 && a->waits == 0);
    EXPECT(b->kind == TASK_SEND && b->amount == 1000000000000000 && b->peer == 1 && b->tag == 7 && b->cpu == 1);
    EXPECT(b->unit == 2 && b->waits == 2);
    EXPECT(c->kind == TASK_RECEIVE && c->amount == 0 && c->peer == FW_ANY && c->tag == FW_ANY && c->waits == 0);
    uint32_t count;
    const uint32_t *edges = trace_edges(&trace->ranks[0], 0, &count);
    EXPECT_EQ_U64(count, 2);
    EXPECT_EQ_U64(edges[0], 1);
    EXPECT_EQ_U64(edges[1], 1 | EDGE_ON_START);
    trace_destroy(trace);
    arena_release(&arena);
}

TEST(goal_tells_long_labels_apart)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct trace *trace = read_text("num_ranks 1\nrank 0 {\n"
                                    "a_label_of_more_than_24_letters_1: calc 1\n"
                                    "a_label_of_more_than_24_letters_2: calc 2\n"
                                    "a_label_of_more_than_24_letters_1 requires a_label_of_more_than_24_letters_2\n}\n",
                                    &errors);
    EXPECT(trace && trace->ranks[0].tasks[0].waits == 1 && trace->ranks[0].tasks[1].waits == 0);
    trace_destroy(trace);
    arena_release(&arena);
}

#define IN_RANK(statement) "num_ranks 2\nrank 0 {\ncalc 1\n" statement "\n}\nrank 1 {\n}\n"

TEST(goal_errors_name_the_line)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"num_ranks\n", "made.goal:1: the end of the line where a number of ranks is expected: digits"},
        {"num_ranks 0\nrank 0 {\n}\n", "made.goal:1: 0 ranks in a file of 23 bytes; accepted: 1 to 2"},
        {"num_ranks 4000000000\nrank 0 {\n}\n",
         "made.goal:1: 4000000000 ranks in a file of 32 bytes; accepted: 1 to 3"},
        {"num_ranks 2\nrank 0 {\n}\n", "made.goal:4: the file ends before rank 1, of 2"},
        {"num_ranks 2\nrank 1 {\n}\nrank 0 {\n}\n", "made.goal:2: rank 1 where rank 0 is expected, of ranks 0 to 1"},
        {"num_ranks 1\nrank 0 {\ncalc 1\n", "made.goal:4: the end of the file where '}' is expected"},
        {"num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n", "made.goal:4: 'rank' behind the last rank, 0"},
        {IN_RANK("calc"), "made.goal:4: the end of the line where nanoseconds is expected: digits"},
        {IN_RANK("calc 99999999999999999999"), "made.goal:4: '99999999999999999999' is too large for nanoseconds"},
        {IN_RANK("calc 1 nic 2"), "made.goal:4: 'nic' where cpu or the end of the line is expected"},
        {IN_RANK("calc 1 cpu 256"), "made.goal:4: '256' is too large for the number of a cpu; accepted: up to 255"},
        {IN_RANK("sleep 5"), "made.goal:4: 'sleep' where send, recv, calc or a label is expected"},
        {IN_RANK("send 5 to 1"), "made.goal:4: '5' where a size in bytes is expected: digits and then b"},
        {IN_RANK("send 5b from 1"), "made.goal:4: 'from' where 'to' is expected"},
        {IN_RANK("send 5b to 2"), "made.goal:4: rank 2 of a file of 2 ranks; accepted: 0 to 1"},
        {IN_RANK("send 5b to -1"), "made.goal:4: '-' where a rank is expected: digits"},
        {IN_RANK("send 5b to 1 tag -1"), "made.goal:4: '-' where a tag is expected: digits"},
        {IN_RANK("recv 5b from 1 tag"), "made.goal:4: the end of the line where a tag is expected: digits"},
        {IN_RANK("a requires b"), "made.goal:4: 'a' is no label that was set above in rank 0"},
        {IN_RANK("a: calc 1\na requires b"), "made.goal:5: 'b' is no label that was set above in rank 0"},
        {IN_RANK("a: calc 1\na: calc 2"), "made.goal:5: label 'a' is set twice in rank 0"},
        {IN_RANK("1a: calc 1"), "made.goal:4: '1a' is no label: they begin with a letter"},
        {IN_RANK("a: calc 1\nb: calc 1\na requires b\nb requires a"),
         "made.goal: rank 0: tasks wait for each other in a circle: task 1 (compute 1 ns) in line 4, "
         "which waits for task 2 (compute 1 ns) in line 5, which waits for the first"},
        {IN_RANK("send 1000000000000001b to 1"),
         "made.goal: rank 0, task 1 (send of 1000000000000001 bytes to rank 1, tag 0) in line 4: more bytes than a "
         "message can have; accepted: up to 1000000000000000"},
        {IN_RANK("a: calc 1\na requires a"),
         "made.goal: rank 0: tasks wait for each other in a circle: task 1 (compute 1 ns) in line 4"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct errors errors = {.arena = &arena};
        EXPECT(read_text(cases[i].text, &errors) == NULL);
        EXPECT_EQ_U64(errors.count, 1);
        EXPECT_TEXT_CONTAINS(errors_text(&errors), cases[i].expected);
        arena_release(&arena);
    }
}

TEST(packed_files_say_how_to_unpack_them)
{
    static const struct {
        const char *name, *bytes, *message;
    } files[] = {
        {"a.vef.xz",
         "\xfd"
         "7zXZ rest",
         "the file is packed; accepted: the trace in it, unpacked by: xz -dk "},
        {"a.tar.xz",
         "\xfd"
         "7zXZ rest",
         "unpacked by: tar xf "},
        {"a.goal.gz", "\x1f\x8b rest", "unpacked by: gzip -dk "},
    };
    for (uint32_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct sandbox box;
        sandbox_open(&box);
        const char *path = sandbox_write(&box, files[i].name, files[i].bytes, strlen(files[i].bytes));
        EXPECT(trace_read(path, NULL, &box.errors) == NULL);
        EXPECT_TEXT_CONTAINS(errors_text(&box.errors), files[i].message);
        sandbox_close(&box, files[i].name, NULL);
    }
}

TEST(files_of_no_known_format_are_refused)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    const struct trace_source source = {.path = "notes", .bytes = (const unsigned char *)"\x01hello", .size = 6};
    EXPECT(trace_reader_find(&source, "auto", &errors) == NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "notes: a trace of no known format; known: ");
    EXPECT(trace_reader_find(&source, "gaol", &errors) == NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "there is no trace format 'gaol'; accepted: auto, ");
    EXPECT(trace_read("/nowhere/at.all", NULL, &errors) == NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "cannot read \"/nowhere/at.all\": No such file or directory");
    EXPECT(trace_read("/tmp", NULL, &errors) == NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "/tmp: this is no regular file; accepted: the file of a trace");
    arena_release(&arena);
}
