/* SPDX-License-Identifier: Apache-2.0 */
/* Messages separated by commas become sends, receives and waits for time. */
#include "traced.h"

static void read_text(struct traced *traced, const char *text) { traced_open(traced, "csv", text, strlen(text)); }
static void expect_csv_refused(const char *text, const char *message)
{
    expect_refused("csv", text, strlen(text), message);
}

static void expect_task(const struct traced *traced, uint32_t rank, uint32_t task, enum task_kind kind, uint64_t amount)
{
    EXPECT(task < traced->trace->ranks[rank].task_count);
    EXPECT_EQ_U64(traced_task(traced, rank, task)->kind, kind);
    EXPECT_EQ_U64(traced_task(traced, rank, task)->amount, amount);
}

TEST(csv_without_header_is_in_nanoseconds)
{
    struct traced traced;
    read_text(&traced, "# made by hand\n\n0,1,0,64\n1.5, 1 ,2,\t4096 # the same source\r\n2,1,2,8");
    EXPECT(traced.trace != NULL);
    EXPECT_EQ_U64(traced.trace->rank_count, 3);
    expect_task(&traced, 0, 0, TASK_RECEIVE, 64);
    expect_task(&traced, 1, 0, TASK_SEND, 64);
    expect_task(&traced, 1, 1, TASK_SEND, 4096);
    expect_task(&traced, 1, 2, TASK_UNTIL, 1500);
    expect_task(&traced, 1, 3, TASK_SEND, 8);
    expect_task(&traced, 1, 4, TASK_UNTIL, 2000);
    EXPECT_EQ_U64(traced_task(&traced, 1, 0)->waits, 0);
    EXPECT(waits_for(&traced, 1, 1, 2, false));
    EXPECT(waits_for(&traced, 1, 3, 4, false));
    EXPECT(waits_for(&traced, 1, 4, 2, false));
    EXPECT_EQ_U64(traced_task(&traced, 1, 1)->peer, 2);
    EXPECT_EQ_U64(traced_task(&traced, 2, 0)->peer, 1);
    EXPECT_EQ_U64(traced_task(&traced, 1, 1)->tag, traced_task(&traced, 2, 0)->tag);
    EXPECT(traced_task(&traced, 2, 0)->tag != traced_task(&traced, 2, 1)->tag);
    traced_close(&traced);
}

TEST(csv_header_orders_columns_and_gives_the_unit_of_time)
{
    struct traced traced;
    read_text(&traced, "bytes,dst,comment,time_us,src\n8,0,first message,2.5e-3,1\n9,0,,.0004996,1\n7,0,,1E2,1\n");
    EXPECT(traced.trace != NULL);
    expect_task(&traced, 1, 1, TASK_UNTIL, 2500);
    expect_task(&traced, 1, 3, TASK_UNTIL, 500); /* 499.6 ps, rounded */
    expect_task(&traced, 1, 5, TASK_UNTIL, 100000000);
    EXPECT_EQ_U64(traced_task(&traced, 1, 3)->waits, 0); /* earlier than the line before: not behind it */
    EXPECT(waits_for(&traced, 1, 5, 3, false));
    traced_close(&traced);
}

/* As a spreadsheet saves it: a mark of the byte order, capitals, lines that end as on Windows, and empty ones. */
TEST(csv_of_a_spreadsheet_is_read)
{
    struct traced traced;
    read_text(&traced, "\xef\xbb\xbfTime_us,Source,Destination,Bytes\r\n\r\n2,1,0,8\r\n");
    EXPECT(traced.trace != NULL);
    expect_task(&traced, 1, 0, TASK_SEND, 8);
    expect_task(&traced, 1, 1, TASK_UNTIL, 2000000);
    traced_close(&traced);
}

TEST(csv_messages_of_one_time_wait_for_the_same_task)
{
    struct traced traced;
    read_text(&traced, "time_ps,source,destination,bytes\n7,0,1,1\n7,0,1,2\n");
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 3);
    EXPECT(waits_for(&traced, 0, 0, 1, false) && waits_for(&traced, 0, 2, 1, false));
    traced_close(&traced);
}

TEST(csv_faults_are_named_with_their_line)
{
    expect_csv_refused("0,0,1,8\n0,0,1\n", "made:2: the line ends where a number of bytes is due");
    expect_csv_refused("0,0,1,8\n0,,1,8\n", "made:2: \"\" where a source is due");
    expect_csv_refused("0,0,1,8\n# x\n0,0,-1,8\n", "made:3: \"-1\" where a destination is due; accepted: a whole");
    expect_csv_refused("0,0,1,8\n0,0,1,8,9\n", "made:2: \"9\" where the line should end");
    expect_csv_refused("0,0,1,8\n-5,0,1,8\n", "made:2: \"-5\" where a time is due");
    expect_csv_refused("0,0,1,8\n1e30,0,1,8\n", "made:2: \"1e30\" where a time is due");
    expect_csv_refused("0,0,1,8\n99999999999999999999,0,1,8\n", "where a time is due");
    expect_csv_refused("0,0,1,8\n1.2.3,0,1,8\n", "\"1.2.3\" where a time is due");
    expect_csv_refused("0,0,1,8\n1e-x,0,1,8\n", "\"1e-x\" where a time is due");
    expect_csv_refused("0,0,1,8\n0,1048576,1,8\n", "\"1048576\" where a source is due");
    expect_csv_refused("time,source,destination,bytes\n", "made: 0 messages; accepted: from 1 to ");
}

TEST(csv_times_are_rounded_to_picoseconds)
{
    struct traced traced;
    read_text(&traced, "1234567e-6,0,1,8\n1234.5674,0,1,8\n"); /* ns */
    expect_task(&traced, 0, 1, TASK_UNTIL, 1235);
    expect_task(&traced, 0, 3, TASK_UNTIL, 1234567);
    traced_close(&traced);
}

TEST(csv_header_must_name_all_columns_once)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    const char *texts[] = {"time,source,bytes\n0,0,8\n", "time,source,destination,bytes,dst\n0,0,1,8,1\n"};
    const char *messages[] = {"made.csv:1: the header has 0 columns of the destination; accepted: one",
                              "made.csv:1: the header has 2 columns of the destination; accepted: one"};
    for (uint32_t i = 0; i < 2; i++) {
        struct trace_source source = {
            .path = "made.csv", .bytes = (const unsigned char *)texts[i], .size = strlen(texts[i])};
        const struct trace_reader_ops *reader = trace_reader_find(&source, "auto", &errors);
        struct trace_builder *builder = trace_builder_create();
        EXPECT(trace_source_set(&source, reader, NULL, &errors));
        EXPECT(!reader->read(&source, builder, &errors));
        trace_builder_destroy(builder);
        EXPECT_TEXT_CONTAINS(errors_text(&errors), messages[i]);
    }
    arena_release(&arena);
}
