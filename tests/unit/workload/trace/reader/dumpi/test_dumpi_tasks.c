/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a DUMPI file as tasks: requests whose ids come again, statuses that narrow wildcards, time between calls. */
#include "dumpi_bytes.h"
#include "traced.h"

enum {
    SEND = 0,
    RECV = 1,
    ISEND = 8,
    IRECV = 12,
    WAIT = 13,
    TEST_CALL = 14,
    WAITANY = 16,
    WAITALL = 18,
    SEND_INIT = 26
};
enum { START = 31, REQUEST_FREE = 15, CANCEL = 24 };

/* Messages of a rank to itself, of one byte: peer 0, tag 7, unless said otherwise. */
static void put_message(struct dumpi_bytes *out, uint32_t id, uint32_t at_ns, int64_t peer, int64_t tag,
                        int64_t request)
{
    put_call(out, id, at_ns);
    PUT(out, 4, 1, 2, 5, 4, peer, 4, tag, 2, 2);
    if (id != SEND && id != RECV)
        put(out, 4, (uint64_t)request);
    if (id == RECV)
        put(out, 4, 0); /* no status */
}

static void put_status(struct dumpi_bytes *out, int64_t source, int64_t tag, int64_t cancelled)
{
    PUT(out, 4, 1, 4, source, 1, cancelled, 1, 0, 4, tag);
}

static void opened(struct traced *traced, struct dumpi_bytes *bytes)
{
    put_end(bytes, 13, 0, 0, 7);
    traced_open(traced, "dumpi", bytes->bytes, bytes->size);
    EXPECT_TEXT_EQ(errors_text(&traced->errors), "");
}

TEST(dumpi_time_between_calls_is_computed)
{
    struct dumpi_bytes bytes = {.size = 0};
    struct traced traced;
    put_start(&bytes);
    put_message(&bytes, ISEND, 1000, 0, 7, 9); /* back at 1100 */
    put_message(&bytes, RECV, 1500, 0, 7, 0);
    opened(&traced, &bytes);
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 3);
    EXPECT(traced_task(&traced, 0, 0)->kind == TASK_SEND);
    EXPECT(traced_task(&traced, 0, 1)->kind == TASK_COMPUTE);
    EXPECT_EQ_U64(traced_task(&traced, 0, 1)->amount, 400000);
    EXPECT(traced_task(&traced, 0, 2)->kind == TASK_RECEIVE && waits_for(&traced, 0, 2, 1, false));
    EXPECT_EQ_U64(traced_task(&traced, 0, 2)->waits, 1); /* the send goes on meanwhile */
    traced_close(&traced);
}

/* Calls that follow at once: no tasks of computing between them. */
TEST(dumpi_an_id_may_be_outstanding_several_times)
{
    struct dumpi_bytes bytes = {.size = 0};
    struct traced traced;
    put_start(&bytes);
    put_message(&bytes, IRECV, 1000, 0, 7, 3);
    put_message(&bytes, ISEND, 1100, 0, 7, 4);
    put_message(&bytes, ISEND, 1200, 0, 8, 4);
    put_call(&bytes, WAITALL, 1300);
    PUT(&bytes, 4, 3, 4, 3, 4, 3, 4, 4, 4, 4, 4, 0);
    put_message(&bytes, RECV, 1400, 0, 8, 0);
    opened(&traced, &bytes);
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 5);
    EXPECT(traced_task(&traced, 0, 3)->kind == TASK_JOIN);
    for (uint32_t task = 0; task < 3; task++)
        EXPECT(waits_for(&traced, 0, 3, task, false));
    EXPECT_EQ_U64(traced_task(&traced, 0, 3)->waits, 3);
    EXPECT(waits_for(&traced, 0, 4, 3, false));
    traced_close(&traced);
}

TEST(dumpi_a_receive_whose_id_comes_again_has_ended_unseen)
{
    struct dumpi_bytes bytes = {.size = 0};
    struct traced traced;
    put_start(&bytes);
    put_message(&bytes, IRECV, 1000, 0, 7, 3);
    put_message(&bytes, IRECV, 1100, 0, 8, 3);
    put_call(&bytes, WAIT, 1200);
    PUT(&bytes, 4, 3, 4, 0);
    opened(&traced, &bytes);
    EXPECT(traced_task(&traced, 0, 2)->kind == TASK_JOIN && traced_task(&traced, 0, 2)->waits == 1);
    EXPECT(waits_for(&traced, 0, 2, 1, false));
    traced_close(&traced);
}

TEST(dumpi_persistent_requests_start_again_and_again)
{
    struct dumpi_bytes bytes = {.size = 0};
    struct traced traced;
    put_start(&bytes);
    put_message(&bytes, SEND_INIT, 1000, 0, 7, 3);
    for (uint32_t i = 0; i < 2; i++) {
        put_call(&bytes, START, 1100 + 200 * i);
        PUT(&bytes, 4, 3);
        put_call(&bytes, WAIT, 1200 + 200 * i);
        PUT(&bytes, 4, 3, 4, 0);
    }
    put_call(&bytes, REQUEST_FREE, 1500);
    PUT(&bytes, 4, 3);
    opened(&traced, &bytes);
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 4);
    for (uint32_t task = 0; task < 4; task++)
        EXPECT(traced_task(&traced, 0, task)->kind == (task % 2 ? TASK_JOIN : TASK_SEND));
    EXPECT(waits_for(&traced, 0, 3, 2, false) && waits_for(&traced, 0, 2, 1, false));
    traced_close(&traced);
}

TEST(dumpi_a_status_says_which_message_a_wildcard_got)
{
    struct dumpi_bytes bytes = {.size = 0};
    struct traced traced;
    put_start(&bytes);
    put_message(&bytes, IRECV, 1000, -1, -1, 3); /* from anybody */
    put_message(&bytes, IRECV, 1100, -1, 9, 5);  /* from nobody, as its status will say */
    put_message(&bytes, IRECV, 1200, -1, -1, 6); /* cancelled */
    put_message(&bytes, ISEND, 1300, -2, 7, 4);  /* to nobody */
    put_call(&bytes, CANCEL, 1400);
    PUT(&bytes, 4, 6);
    put_call(&bytes, WAITALL, 1500);
    PUT(&bytes, 4, 4, 4, 4, 4, 3, 4, 4, 4, 5, 4, 6, 4, 4);
    put_status(&bytes, 0, 55, 0);
    put_status(&bytes, 1 << 20, 1, 0); /* of a send: rubbish */
    put_status(&bytes, -1, -1, 0);
    put_status(&bytes, 0, 0, 1);
    opened(&traced, &bytes);
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 4);
    EXPECT(traced_task(&traced, 0, 0)->peer == 0 && traced_task(&traced, 0, 0)->tag == 55);
    EXPECT(traced_task(&traced, 0, 1)->kind == TASK_JOIN && traced_task(&traced, 0, 2)->kind == TASK_JOIN);
    EXPECT_EQ_U64(traced_task(&traced, 0, 3)->waits, 3);
    traced_close(&traced);
}

TEST(dumpi_tests_that_fail_are_nothing_and_waits_for_one_are_for_one)
{
    struct dumpi_bytes bytes = {.size = 0};
    struct traced traced;
    put_start(&bytes);
    put_message(&bytes, IRECV, 1000, 0, 1, 3);
    put_message(&bytes, IRECV, 1100, 0, 2, 4);
    put_call(&bytes, TEST_CALL, 1200);
    PUT(&bytes, 4, 3, 4, 0, 4, 0); /* flag 0 */
    put_call(&bytes, WAITANY, 1300);
    PUT(&bytes, 4, 2, 4, 2, 4, 3, 4, 4, 4, 1, 4, 0); /* the second */
    put_call(&bytes, TEST_CALL, 1400);
    PUT(&bytes, 4, 3, 4, 1, 4, 0); /* flag 1 */
    opened(&traced, &bytes);
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 4);
    EXPECT(waits_for(&traced, 0, 2, 1, false) && traced_task(&traced, 0, 2)->waits == 1);
    EXPECT(waits_for(&traced, 0, 3, 0, false) && waits_for(&traced, 0, 3, 2, false));
    traced_close(&traced);
}

TEST(dumpi_sizes_of_datatypes_follow_the_calls)
{
    struct dumpi_bytes bytes = {.size = 0};
    struct traced traced;
    put_start(&bytes);
    put_call(&bytes, 35, 1000); /* Type_contiguous: 10 doubles under id 28, which the table at the end has as 64 */
    PUT(&bytes, 4, 10, 2, 14, 2, 28);
    put_call(&bytes, SEND, 1100);
    PUT(&bytes, 4, 3, 2, 28, 4, 0, 4, 7, 2, 2);
    put_call(&bytes, 36, 1200); /* Type_vector: 8 blocks of 2 ints */
    PUT(&bytes, 4, 8, 4, 2, 4, 4, 2, 9, 2, 28);
    put_call(&bytes, SEND, 1300);
    PUT(&bytes, 4, 3, 2, 28, 4, 0, 4, 7, 2, 2);
    opened(&traced, &bytes);
    EXPECT_EQ_U64(traced_task(&traced, 0, 0)->amount, 240);
    EXPECT_EQ_U64(traced_task(&traced, 0, 1)->amount, 192);
    traced_close(&traced);
}

static void put_send(struct dumpi_bytes *out, uint32_t at_ns, int64_t count, int64_t type)
{
    put_call(out, SEND, at_ns);
    PUT(out, 4, count, 2, type, 4, 0, 4, 7, 2, 2);
}

/* Each makes datatype 28 anew, of doubles (14: 8 bytes) or ints (9: 4 bytes), and three of it are sent. */
TEST(dumpi_every_way_to_make_a_datatype_has_its_size)
{
    static const struct {
        uint32_t id;
        uint64_t bytes; /* of three */
        int64_t arguments[40];
    } ways[] = {
        {37, 3 * 4 * 6, {4, 2, 4, 3, 4, 100, 2, 9, 2, 28}},                         /* hvector: 2 blocks of 3 ints */
        {38, 3 * 4 * 7, {4, 2, 4, 2, 4, 3, 4, 4, 4, 2, 4, 0, 4, 10, 2, 9, 2, 28}},  /* indexed: 3 and 4 ints */
        {39, 3 * 8 * 3, {4, 2, 4, 2, 4, 1, 4, 2, 4, 2, 4, 0, 4, 80, 2, 14, 2, 28}}, /* hindexed: 1 and 2 doubles */
        {40, 3 * 28, {4, 2, 4, 2, 4, 2, 4, 3, 4, 2, 4, 0, 4, 16, 4, 2, 2, 14, 2, 9, 2, 28}}, /* 2 doubles, 3 ints */
        {178, 3 * 4, {2, 9, 2, 28}},                                                         /* dup */
        {218, 3 * 8 * 5, {4, 1, 4, 1, 4, 5, 4, 1, 4, 0, 2, 14, 2, 28}},      /* create_hindexed: 5 doubles */
        {219, 3 * 4 * 6, {4, 2, 4, 3, 4, 100, 2, 9, 2, 28}},                 /* create_hvector */
        {220, 3 * 4 * 6, {4, 3, 4, 2, 4, 3, 4, 0, 4, 4, 4, 8, 2, 9, 2, 28}}, /* create_indexed_block: 3 of 2 ints */
        {221, 3 * 8, {2, 14, 4, 0, 4, 64, 2, 28}},                           /* create_resized: gaps are not sent */
        {222, 3 * 12, {4, 2, 4, 2, 4, 1, 4, 1, 4, 2, 4, 0, 4, 8, 4, 2, 2, 14, 2, 9, 2, 28}}, /* a double, an int */
        {223, 3 * 8 * 6, {4, 2, 4, 2, 4, 8, 4, 8, 4, 2, 4, 2, 4, 3, 4, 2, 4, 0, 4, 0, 1, 1, 2, 14, 2, 28}}, /* 2 x 3 */
    };
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct dumpi_bytes bytes = {.size = 0};
        struct traced traced;
        put_start(&bytes);
        put_call(&bytes, ways[i].id, 1000);
        put_numbers(&bytes, ways[i].arguments);
        put_send(&bytes, 1100, 3, 28);
        opened(&traced, &bytes);
        EXPECT_EQ_U64(traced_task(&traced, 0, 0)->amount, ways[i].bytes);
        traced_close(&traced);
    }
}

static void refused(struct dumpi_bytes *bytes, const char *text)
{
    put_end(bytes, 13, 0, 0, 7);
    expect_refused("dumpi", bytes->bytes, bytes->size, text);
}

TEST(dumpi_sizes_that_cannot_be_are_refused)
{
    struct dumpi_bytes negative = {.size = 0}, large = {.size = 0};
    put_start(&negative);
    put_call(&negative, 38, 1000); /* indexed, under an id that the table does not have */
    PUT(&negative, 4, 1, 4, 1, 4, -3, 4, 1, 4, 0, 2, 9, 2, 40);
    put_send(&negative, 1100, 3, 40);
    refused(&negative, "MPI_Send: the size of datatype 40 is not known");
    put_start(&large);
    put_call(&large, 35, 1000); /* contiguous: 2^30 doubles */
    PUT(&large, 4, 1 << 30, 2, 14, 2, 40);
    put_send(&large, 1100, 1 << 20, 40);
    refused(&large, "MPI_Send: 1048576 elements of 8589934592 bytes are too much");
}

TEST(dumpi_datatypes_made_of_unknown_ones_are_unknown)
{
    struct dumpi_bytes row = {.size = 0}, both = {.size = 0};
    put_start(&row);
    put_call(&row, 35, 1000); /* contiguous: 10 of a type that nobody has made */
    PUT(&row, 4, 10, 2, 50, 2, 40);
    put_send(&row, 1100, 3, 40);
    refused(&row, "MPI_Send: the size of datatype 40 is not known");
    put_start(&both);
    put_call(&both, 40, 1000); /* struct: 2 doubles and 3 of it */
    PUT(&both, 4, 2, 4, 2, 4, 2, 4, 3, 4, 2, 4, 0, 4, 16, 4, 2, 2, 14, 2, 50, 2, 40);
    put_send(&both, 1100, 3, 40);
    refused(&both, "MPI_Send: the size of datatype 40 is not known");
}

TEST(dumpi_requests_that_cannot_be_are_refused)
{
    struct dumpi_bytes null = {.size = 0}, plain = {.size = 0};
    put_start(&null);
    put_message(&null, ISEND, 1000, 0, 7, 1);
    refused(&null, "MPI_Isend: it gives MPI_REQUEST_NULL");
    put_start(&plain);
    put_message(&plain, IRECV, 1000, 0, 7, 3);
    put_call(&plain, START, 1100);
    PUT(&plain, 4, 3);
    refused(&plain, "MPI_Start: request 3 was not made to be started");
}
