/* SPDX-License-Identifier: Apache-2.0 */
/* SimuRed's packets become sends that wait for a cycle or for a receive. */
#include "traced.h"

static void read_text(struct traced *traced, const char *text) { traced_open(traced, "simured", text, strlen(text)); }
static void expect_simured_refused(const char *text, const char *message)
{
    expect_refused("simured", text, strlen(text), message);
}

TEST(simured_lines_have_four_forms)
{
    struct traced traced;
    read_text(&traced, "# all of them\n0 0 1\n5 0 1 16\n5\t0  1 p7\n6 0 1 3 p8\n");
    EXPECT_EQ_U64(traced.trace->rank_count, 2);
    const struct trace_rank *rank = &traced.trace->ranks[1];
    EXPECT_EQ_U64(rank->task_count, 4);
    EXPECT_EQ_U64(rank->tasks[0].amount, 64 * 32); /* SimuRed's default length */
    EXPECT_EQ_U64(rank->tasks[1].amount, 16 * 32);
    EXPECT_EQ_U64(rank->tasks[2].amount, 64 * 32);
    EXPECT_EQ_U64(rank->tasks[3].amount, 3 * 32); /* which the original forgets to read */
    EXPECT_EQ_U64(traced_task(&traced, 0, 2)->kind, TASK_UNTIL);
    EXPECT_EQ_U64(traced_task(&traced, 0, 2)->amount, 5000);
    traced_close(&traced);
}

/* Packets that wait may come first, and several wait for one. */
TEST(simured_packets_wait_for_the_receive_at_their_source)
{
    struct traced traced;
    read_text(&traced, "p1 2 0 1\np1 2 1 1\n9 0 2 1 p1\n");
    EXPECT(traced.trace != NULL);
    EXPECT_EQ_U64(traced.trace->ranks[2].task_count, 3);
    EXPECT_EQ_U64(traced_task(&traced, 2, 2)->kind, TASK_RECEIVE);
    EXPECT(waits_for(&traced, 2, 0, 2, false));
    EXPECT(waits_for(&traced, 2, 1, 2, false));
    EXPECT_EQ_U64(traced_task(&traced, 2, 0)->waits, 1);
    traced_close(&traced);
}

/* Node 2 hears of p1, which arrives at node 1, by one empty packet for both that wait there; node 3 by another. */
TEST(simured_packets_that_leave_from_elsewhere_are_told)
{
    struct traced traced;
    read_text(&traced, "9 0 1 1 p1\np1 2 0 1\np1 2 1 1\np1 3 0 1\n");
    EXPECT(traced.trace != NULL);
    const struct task *told = traced_task(&traced, 2, 2), *tells = traced_task(&traced, 1, 2);
    EXPECT_EQ_U64(traced.trace->ranks[2].task_count, 3);
    EXPECT_EQ_U64(told->kind, TASK_RECEIVE);
    EXPECT_EQ_U64(told->amount, 0);
    EXPECT_EQ_U64(told->peer, 1);
    EXPECT(waits_for(&traced, 2, 0, 2, false) && waits_for(&traced, 2, 1, 2, false));
    EXPECT_EQ_U64(tells->kind, TASK_SEND);
    EXPECT_EQ_U64(tells->peer, 2);
    EXPECT_EQ_U64(tells->tag, told->tag);
    EXPECT(waits_for(&traced, 1, 2, 0, false));
    EXPECT_EQ_U64(traced_task(&traced, 1, 3)->peer, 3);
    EXPECT(waits_for(&traced, 1, 3, 0, false) && waits_for(&traced, 3, 0, 1, false));
    traced_close(&traced);
}

TEST(simured_faults_are_named_with_their_line)
{
    expect_simured_refused("0 0 1\n\n0 0\n", "made:3: the line ends where a destination is due");
    expect_simured_refused("0 0 1\nx 0 1\n", "made:2: \"x\" where a cycle or the packet to wait for is due");
    expect_simured_refused("0 0 1\np 0 1\n", "made:2: \"p\" where a cycle");
    expect_simured_refused("0 0 1\n99999999999999999 0 1\n", "\"99999999999999999\" where a cycle");
    expect_simured_refused("0 0 1\n0 0 1 0\n", "made:2: a packet of 0 flits; accepted: 1 or more");
    expect_simured_refused("0 0 1\n0 0 1 q\n", "made:2: \"q\" where the line should end; accepted: flits");
    expect_simured_refused("0 0 1\n0 0 1 5 p1 7\n", "made:2: \"7\" where the line should end");
    expect_simured_refused("0 0 1\n0 9999999 1\n", "made:2: \"9999999\" where a source is due");
}

TEST(simured_dependencies_that_cannot_be_kept_are_refused)
{
    expect_simured_refused("0 0 1 p1\np2 1 0\n", "made:2: the packet waits for p2, and no line has a packet of that");
    expect_simured_refused("0 0 1 p1\n1 0 1 p1\np1 1 0\n",
                           "made:3: the packet waits for p1, which is the name of packets in lines 1 and 2");
    expect_simured_refused("0 0 1\np2 0 1 p1\np1 1 0 p2\np2 0 3\n", "which waits for this one in turn");
}

TEST(simured_settings_say_what_the_file_leaves_open)
{
    struct traced traced;
    const char *text = "3 0 1\n0 0 1 16 p1\n";
    traced_open_with(&traced, "simured",
                     "{\"cycle\": \"2.5ns\", \"flit_bytes\": 8, \"default_flits\": 5, \"compatible\": true}", 0, text,
                     strlen(text));
    EXPECT_EQ_U64(traced_task(&traced, 0, 1)->amount, 3 * 2500); /* picoseconds */
    EXPECT_EQ_U64(traced_task(&traced, 1, 0)->amount, 5 * 8);
    EXPECT_EQ_U64(traced_task(&traced, 1, 1)->amount, 5 * 8); /* whatever its length, as in SimuRed */
    traced_close(&traced);
    traced_open_with(&traced, "simured", "{\"cycle\": \"1s\"}", 0, "18446745 0 1\n", 13);
    EXPECT_TEXT_CONTAINS(errors_text(&traced.errors), "accepted: a whole number from 0 to 18446744");
    traced_close(&traced);
}

TEST(settings_that_a_format_does_not_have_are_refused)
{
    struct traced traced;
    traced_open_with(&traced, "simured", "{\"cycles\": 1}", 0, "0 0 1\n", 6);
    EXPECT_TEXT_CONTAINS(errors_text(&traced.errors), "cycles: unknown key (did you mean 'cycle'?)");
    traced_close(&traced);
    traced_open_with(&traced, "csv", "{\"cycle\": \"1ns\"}", 0, "0,0,1,8\n", 8);
    EXPECT_TEXT_CONTAINS(errors_text(&traced.errors), "format 'csv' has no settings, and 'cycle' is given");
    traced_close(&traced);
}
