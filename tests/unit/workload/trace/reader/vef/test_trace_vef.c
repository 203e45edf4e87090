/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of VEF traces become tasks behind what they depend on. */
#include "traced.h"

static void read_text(struct traced *traced, const char *text) { traced_open(traced, "vef", text, strlen(text)); }
static void expect_vef_refused(const char *text, const char *message)
{
    expect_refused("vef", text, strlen(text), message);
}

/* The example of the reader's own description. */
TEST(vef_lines_wait_for_sendings_receptions_and_collectives)
{
    struct traced traced;
    read_text(&traced, "VEF3 2 4 1 1 2 0 1000\n"
                       "C0 0 1\n"
                       "0 0 1 64 4 100 -1\n"
                       "1 1 0 8 6 20 0\n"
                       "2 0 0 0 1 0 0\n"
                       "G0 C0 2 0 8 8 2 5 1\n"
                       "G0 C0 2 1 8 8 5 9 1\n"
                       "3 0 1 16 7 0 G0\n");
    EXPECT(traced.trace != NULL);
    enum { UNTIL, SEND, RECEIVE, WAIT, DELAY, COLLECTIVE, LAST }; /* of rank 0 */
    const struct task *tasks = traced.trace->ranks[0].tasks;
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, LAST + 1);
    EXPECT(tasks[UNTIL].kind == TASK_UNTIL && tasks[UNTIL].amount == 100000);
    EXPECT(tasks[SEND].kind == TASK_SEND && tasks[SEND].amount == 64 && tasks[SEND].peer == 1);
    EXPECT(tasks[RECEIVE].kind == TASK_RECEIVE && tasks[RECEIVE].tag == 1 && tasks[RECEIVE].waits == 0);
    EXPECT(tasks[WAIT].kind == TASK_JOIN);
    EXPECT(tasks[DELAY].kind == TASK_COMPUTE && tasks[DELAY].amount == 5000);
    EXPECT(tasks[COLLECTIVE].kind == TASK_COLLECTIVE && tasks[COLLECTIVE].unit == OPERATION_ALLREDUCE);
    EXPECT(tasks[COLLECTIVE].amount == 8 && tasks[COLLECTIVE].tag == NO_COUNTS);
    EXPECT(waits_for(&traced, 0, SEND, UNTIL, false));
    EXPECT(waits_for(&traced, 0, WAIT, SEND, false)); /* a wait is for the end */
    EXPECT(waits_for(&traced, 0, DELAY, RECEIVE, false));
    EXPECT(waits_for(&traced, 0, COLLECTIVE, DELAY, false));
    EXPECT(waits_for(&traced, 0, LAST, COLLECTIVE, false));
    /* rank 1: receive, delay, send, delay, collective, receive; it goes on when its message has begun */
    EXPECT_EQ_U64(traced.trace->ranks[1].tasks[3].amount, 9000);
    EXPECT(waits_for(&traced, 1, 1, 0, false) && waits_for(&traced, 1, 2, 1, false));
    EXPECT(waits_for(&traced, 1, 3, 2, true));
    traced_close(&traced);
}

TEST(vef_blocking_messages_of_old_files_are_waited_for_to_their_end)
{
    struct traced traced;
    read_text(&traced, "VEF 2 2 1 0 0 TRUE\nC0 0 1\n1 0 1 64 0 0 -1\n0 0 1 64 1 3 1\n");
    EXPECT(traced.trace != NULL);
    EXPECT_EQ_U64(traced_task(&traced, 0, 1)->amount, 3000); /* a tick of 1 ns where there is no clock */
    EXPECT(waits_for(&traced, 0, 1, 0, false));
    traced_close(&traced);
}

TEST(vef_ticks_of_files_without_a_clock_can_be_set)
{
    struct traced traced;
    const char *old = "VEF2 1 1 1 0 0 0\nC0 0\n0 0 0 64 0 3 -1\n", *new = "VEF3 1 1 1 0 0 0 7\nC0 0\n0 0 0 64 4 3 -1\n";
    traced_open_with(&traced, "vef", "{\"tick\": \"2us\"}", 0, old, strlen(old));
    EXPECT_EQ_U64(traced_task(&traced, 0, 0)->amount, 6000000);
    traced_close(&traced);
    traced_open_with(&traced, "vef", "{\"tick\": \"2us\"}", 0, new, strlen(new));
    EXPECT_EQ_U64(traced_task(&traced, 0, 0)->amount, 21); /* which has one */
    traced_close(&traced);
}

TEST(vef_roots_are_found_by_what_they_alone_do)
{
    struct traced traced;
    read_text(&traced, "VEF3 3 0 2 2 5 0 1\nC0 0 1 2\nC1 2 1\n"
                       "G5 C0 0 0 0 70 0 0 -1\nG5 C0 0 1 70 0 0 0 -1\nG5 C0 0 2 0 70 0 0 -1\n"
                       "G9 C1 1 1 40 0 3 0 G5\nG9 C1 1 2 40 40 3 0 G5\n");
    EXPECT_EQ_U64(traced_task(&traced, 0, 0)->unit, OPERATION_BROADCAST);
    EXPECT_EQ_U64(traced_task(&traced, 0, 0)->peer, 1);
    EXPECT_EQ_U64(traced_task(&traced, 1, 0)->amount, 70);
    EXPECT_EQ_U64(traced_task(&traced, 1, 0)->communicator, FW_WORLD);
    const struct task *reduce = traced_task(&traced, 1, 1);
    EXPECT(reduce->unit == OPERATION_REDUCE && reduce->peer == 2 && reduce->amount == 40);
    EXPECT_EQ_U64(traced.trace->communicators[reduce->communicator].ranks[0], 2);
    EXPECT(waits_for(&traced, 1, 1, 0, false));
    traced_close(&traced);
}

TEST(vef_blocks_that_differ_become_a_row_of_counts)
{
    struct traced traced;
    read_text(&traced, "VEF3 3 0 1 2 6 0 1\nC0 0 1 2\n"
                       "G0 C0 3 0 0 30 0 0 -1\nG0 C0 3 1 10 0 0 0 -1\nG0 C0 3 2 20 0 0 0 -1\n"
                       "G1 C0 7 0 12 12 3 0 G0\nG1 C0 7 1 12 12 3 0 G0\nG1 C0 7 2 12 12 3 0 G0\n");
    const struct task *gather = traced_task(&traced, 1, 0);
    EXPECT_EQ_U64(gather->unit, OPERATION_GATHER);
    EXPECT_EQ_U64(gather->peer, 0);
    const uint64_t *counts = trace_counts(traced.trace, gather);
    EXPECT(counts && counts[0] == 0 && counts[1] == 10 && counts[2] == 20);
    const struct task *alltoall = traced_task(&traced, 1, 1);
    EXPECT(alltoall->unit == OPERATION_ALLTOALL && alltoall->amount == 4 && alltoall->tag == NO_COUNTS);
    traced_close(&traced);
}

TEST(vef_faults_of_the_header_are_named)
{
    expect_vef_refused("VEF3 2 99 1 0 0 0 1000\nC0 0 1\n", "made:1: \"99\" where the number of messages");
    expect_vef_refused("VEF3 2 0 1 0 0 0\n", "made:1: the line ends where the number of ps in a tick is due");
    expect_vef_refused("VEF3 2 0 1 0 0 0 0\nC0 0 1\n",
                       "made:1: \"0\" where the number of ps in a tick is due; accepted: from 1");
    expect_vef_refused("VEF3 0 0 1 0 0 0 1\nC0\n", "made:1: 0 ranks and 1 communicators; accepted: 1 or more");
    expect_vef_refused("VEF3 2 0 2 0 0 0 1000\nC0 0 1    \n", "made: the file ends where communicator C1 is due");
    expect_vef_refused("VEF3 2 0 1 0 0 0 1\nC1 0 1\n", "made:2: \"C1\" where communicator C0 is due");
    expect_vef_refused("VEF3 2 0 1 0 0 0 1\nC0 0 2\n", "made:2: \"2\" where a rank of C0 is due");
    expect_vef_refused("VEF3 2 0 1 0 0 0 1\nC0 0 0\n",
                       "made:2: \"0\" where a rank of C0 is due; accepted: ranks from 0 "
                       "to 1, each once");
    expect_vef_refused("VEF3 2 0 1 0 0 0 1\nC0\n", "made:2: C0 has no ranks");
}

#define HEAD "VEF3 2 2 1 1 2 0 1000\nC0 0 1\n"

TEST(vef_faults_of_messages_are_named_with_their_line)
{
    expect_vef_refused(HEAD "0 0 1 64 4 0 -1\n",
                       "made: the file ends after 1 messages and 0 lines of collectives; its header says 2 and 2");
    expect_vef_refused(HEAD "2 0 1 64 4 0 -1\n", "made:3: \"2\" where a message's number is due");
    expect_vef_refused(HEAD "0 0 1 64 4 0 -1\n0 0 1 64 4 0 -1\n", "made:4: \"0\" where a message's number is due");
    expect_vef_refused(HEAD "0 0 1 64 8 0 -1\n", "made:3: \"8\" where the kind of a dependency is due");
    expect_vef_refused(HEAD "0 0 1 64 4 0\n", "made:3: the line ends where what it depends on is due");
    expect_vef_refused(HEAD "0 0 1 64 5 0 1\n1 0 1 64 4 0 -1\n", "made:3: \"1\" where the message to wait for is due; "
                                                                 "accepted: one that comes before");
    expect_vef_refused(HEAD "0 0 1 64 4 0 -1\n1 0 1 8 6 0 0\n",
                       "made:4: rank 0 waits for the reception of message 0, which is at rank 1");
    expect_vef_refused(HEAD "0 0 1 64 7 0 G0\n", "made:3: \"G0\" where the collective to wait for is due");
    expect_vef_refused(HEAD "0 0 1 64 4 99999999999999999 -1\n", "where a time is due");
}

#define COLLECTIVES "VEF3 2 0 1 1 2 0 1000\nC0 0 1\n"

TEST(vef_faults_of_collectives_are_named_with_their_line)
{
    expect_vef_refused(COLLECTIVES "x C0 2 0 8 8 0 0 -1\n", "made:3: \"x\" where a message's number or a collective");
    expect_vef_refused(COLLECTIVES "G0 C1 2 0 8 8 0 0 -1\n", "made:3: \"C1\" where a communicator is due");
    expect_vef_refused(COLLECTIVES "G0 C0 8 0 8 8 0 0 -1\n", "made:3: \"8\" where an operation (0 broadcast");
    expect_vef_refused(COLLECTIVES "G0 C0 2 0 8 8 0 0 -1\nG0 C0 2 0 8 8 0 0 -1\n",
                       "made:4: rank 0 takes part in G0, and has done so before");
    expect_vef_refused(COLLECTIVES "G0 C0 2 0 8 8 0 0 -1\nG0 C0 6 1 8 8 0 0 -1\n",
                       "made:4: G0 has another operation than in line 3");
    expect_vef_refused(COLLECTIVES "G0 C0 2 0 8 8 0 0 -1\nG1 C0 2 1 8 8 0 0 -1\n",
                       "made:3: 1 ranks take part in G0; its communicator C0 has 2");
    expect_vef_refused("VEF3 2 0 1 3 2 0 1000\nC0 0 1\nG0 C0 2 0 8 8 0 0 -1\nG0 C0 2 1 8 8 0 0 -1\n",
                       "made: the header says 3 collectives, and there are 1");
    expect_vef_refused("VEF3 2 0 1 2 4 0 1000\nC0 0 1\nG0 C0 6 0 0 0 0 0 -1\nG1 C0 6 0 0 0 3 0 G0\n"
                       "G1 C0 6 1 0 0 0 0 -1\nG0 C0 6 1 0 0 3 0 G1\n",
                       "made:6: G0 has another order among those of the communicator than in line 3");
}
