/* SPDX-License-Identifier: Apache-2.0 */
/* Connection matrices of htsim: flows, who tells whom that a trigger fires, and what is refused. */
#include "traced.h"

static void read_text(struct traced *traced, const char *text) { traced_open(traced, "htsim", text, strlen(text)); }

static void expect_htsim_refused(const char *text, const char *message)
{
    expect_refused("htsim", text, strlen(text), message);
}

static void expect_message(const struct traced *traced, uint32_t rank, uint32_t task, enum task_kind kind,
                           uint32_t peer, uint64_t bytes)
{
    const struct task *found = traced_task(traced, rank, task);
    EXPECT_EQ_U64(found->kind, kind);
    EXPECT_EQ_U64(found->peer, peer);
    EXPECT_EQ_U64(found->amount, bytes);
}

TEST(htsim_flows_leave_at_their_times_in_picoseconds)
{
    struct traced traced;
    read_text(&traced,
              "# two\nNodes 4\nConnections 2\n0->3 start 0 size 2000000\n3->1 size 5 start 1500 id 9 prio 2000000\n");
    EXPECT_EQ_U64(traced.trace->rank_count, 4);
    expect_message(&traced, 0, 0, TASK_SEND, 3, 2000000);
    EXPECT_EQ_U64(traced_task(&traced, 0, 0)->waits, 0);
    expect_message(&traced, 3, 0, TASK_RECEIVE, 0, 2000000);
    expect_message(&traced, 3, 1, TASK_SEND, 1, 5);
    EXPECT_EQ_U64(traced_task(&traced, 3, 2)->kind, TASK_UNTIL);
    EXPECT_EQ_U64(traced_task(&traced, 3, 2)->amount, 1500);
    EXPECT(waits_for(&traced, 3, 1, 2, false));
    traced_close(&traced);
}

/* 0 -> 1 is over when 1 has all of it. 1 goes on at once; 0 and 2 are told, 0 once for its two flows. */
TEST(htsim_oneshots_are_told_by_the_node_where_the_flow_arrives)
{
    struct traced traced;
    read_text(&traced,
              "Nodes 3\nConnections 5\nTriggers 1\n0->1 start 0 size 10 send_done_trigger 7\n1->2 trigger 7 size 20\n"
              "0->2 trigger 7 size 30\n2->0 trigger 7 size 40\n0->1 trigger 7 size 50\ntrigger id 7 oneshot\n");
    EXPECT(traced.trace != NULL);
    /* node 1: receive 10, send 20, receive 50, tell 0, tell 2 */
    EXPECT(waits_for(&traced, 1, 1, 0, false));
    expect_message(&traced, 1, 3, TASK_SEND, 0, 0);
    expect_message(&traced, 1, 4, TASK_SEND, 2, 0);
    EXPECT(waits_for(&traced, 1, 3, 0, false) && waits_for(&traced, 1, 4, 0, false));
    EXPECT_EQ_U64(traced.trace->ranks[1].task_count, 5);
    /* node 0: send 10, send 30, receive 40, send 50, told by 1 */
    expect_message(&traced, 0, 4, TASK_RECEIVE, 1, 0);
    EXPECT(waits_for(&traced, 0, 1, 4, false) && waits_for(&traced, 0, 3, 4, false));
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 5);
    traced_close(&traced);
}

/* Node 2 gathers, as its flow is the first that waits: its own flow's end it knows, that of 1 it is told. */
TEST(htsim_barriers_are_gathered_by_the_first_that_waits)
{
    struct traced traced;
    read_text(
        &traced,
        "Nodes 3\nConnections 4\nTriggers 1\ntrigger id 1 barrier count 2\n0->1 start 0 size 10 recv_done_trigger 1\n"
        "0->2 start 0 size 20 recv_done_trigger 1\n2->0 trigger 1 size 30\n1->0 trigger 1 size 40\n");
    EXPECT(traced.trace != NULL);
    /* node 2: receive 20, send 30, join, told by 1, tell 1 */
    EXPECT_EQ_U64(traced_task(&traced, 2, 2)->kind, TASK_JOIN);
    expect_message(&traced, 2, 3, TASK_RECEIVE, 1, 0);
    EXPECT(waits_for(&traced, 2, 2, 0, false) && waits_for(&traced, 2, 2, 3, false));
    EXPECT(waits_for(&traced, 2, 1, 2, false));
    expect_message(&traced, 2, 4, TASK_SEND, 1, 0);
    EXPECT(waits_for(&traced, 2, 4, 2, false));
    /* node 1: receive 10, send 40, tell 2, told by 2 */
    EXPECT(waits_for(&traced, 1, 2, 0, false) && waits_for(&traced, 1, 1, 3, false));
    traced_close(&traced);
}

/* Two fire, one each goes: whichever ends first lets the first go. */
TEST(htsim_multishots_let_one_flow_go_at_a_time)
{
    struct traced traced;
    read_text(&traced, "Nodes 4\nConnections 4\nTriggers 1\n0->1 start 0 size 10 recv_done_trigger 1\n"
                       "0->2 start 0 size 20 recv_done_trigger 1\n3->0 trigger 1 size 30\n2->0 trigger 1 size 40\n"
                       "trigger id 1 multishot\n");
    EXPECT(traced.trace != NULL);
    /* node 3: send 30, two receives from anybody; the second tells node 2 */
    expect_message(&traced, 3, 1, TASK_RECEIVE, FW_ANY, 0);
    expect_message(&traced, 3, 2, TASK_RECEIVE, FW_ANY, 0);
    expect_message(&traced, 3, 3, TASK_SEND, 2, 0);
    EXPECT_EQ_U64(traced_task(&traced, 3, 1)->tag, traced_task(&traced, 3, 2)->tag);
    EXPECT(waits_for(&traced, 3, 0, 1, false) && waits_for(&traced, 3, 3, 2, false));
    traced_close(&traced);
}

TEST(htsim_faults_are_named_with_their_line)
{
    expect_htsim_refused("Nodes 2\nNodes 3\n", "made:2: Nodes stands twice");
    expect_htsim_refused("Nodes 0\n", "made:1: 0 nodes; accepted: 1 to 1048576");
    expect_htsim_refused("Nodes 99999999\n", "made:1: \"99999999\" where Nodes is due");
    expect_htsim_refused("Nodes 2\nlink 0 1\n", "made:2: \"link\" begins a line; accepted: Nodes, Connections");
    expect_htsim_refused("Connections 1\n0->1 start 0 size 1\n", "made:2: a flow before it is said how many nodes");
    expect_htsim_refused("Nodes 2\n0->2 start 0 size 1\n",
                         "made:2: \"0->2\" where source->destination is due, of nodes 0 to 1");
    expect_htsim_refused("Nodes 2\n0-> start 0 size 1\n", "made:2: \"0->\" where source->destination is due");
    expect_htsim_refused("Nodes 2\n0->1 size 1\n",
                         "made:2: a flow with neither start nor trigger; accepted: one of them");
    expect_htsim_refused("Nodes 2\n0->1 size 1 start 1 trigger 2\n", "made:2: a flow with both start and trigger");
    expect_htsim_refused("Nodes 2\n0->1 start 1\n",
                         "made:2: a flow without a size; accepted: size with 1 byte or more");
    expect_htsim_refused("Nodes 2\n0->1 start 1 size 0\n", "made:2: a flow of 0 bytes, which to htsim has no end");
    expect_htsim_refused("Nodes 2\n0->1 start 1 size 9223372036854775808\n",
                         "made:2: \"9223372036854775808\" where a size in bytes");
    expect_htsim_refused("Nodes 2\n0->1 start 1 size\n", "made:2: the line ends where a size in bytes is due");
    expect_htsim_refused("Nodes 2\n0->1 start 1 size 1 size 2\n", "made:2: size stands twice in a flow");
    expect_htsim_refused("Nodes 2\n0->1 start 1 size 1 id 0\n", "made:2: a flow of id 0; accepted: 1 or more");
    expect_htsim_refused("Nodes 2\n0->1 begin 1\n", "made:2: \"begin\" in a flow; accepted: start, trigger, size");
    expect_htsim_refused("Nodes 2\ntrigger id 0 oneshot\n",
                         "made:2: a trigger of id 0, oneshot, with count 0; accepted: an id");
    expect_htsim_refused("Nodes 2\ntrigger id 1\n", "made:2: a trigger of id 1, with count 0; accepted");
    expect_htsim_refused("Nodes 2\ntrigger id 1 barrier\n", "made:2: a trigger of id 1, barrier, with count 0");
    expect_htsim_refused("Nodes 2\ntrigger id 1 twoshot\n",
                         "made:2: \"twoshot\" in a trigger; accepted: id, one of oneshot");
    expect_htsim_refused("Nodes 2\nConnections 2\n0->1 start 1 size 1\n",
                         "made: 1 lines where the header says Connections 2");
    expect_htsim_refused("Nodes 2\nTriggers 2\ntrigger id 1 oneshot\n",
                         "made: 1 lines where the header says Triggers 2");
    expect_htsim_refused("Connections 0\n", "made: nothing says how many nodes there are");
    expect_htsim_refused("Nodes 2\nConnections 2\n0->1 id 3 start 1 size 1\n0->1 id 3 start 1 size 1\n",
                         "made:4: there is a flow of id 3 already, in line 3");
}

TEST(htsim_flows_that_never_start_are_refused)
{
#define HEAD "Nodes 2\nConnections 2\nTriggers 1\n"
    expect_htsim_refused("Nodes 2\nConnections 1\n0->1 trigger 4 size 1\n",
                         "made:3: the flow names trigger 4, and no line says what that is");
    expect_htsim_refused(HEAD "0->1 start 0 size 1\n1->0 trigger 4 size 1\ntrigger id 4 oneshot\n",
                         "made:5: the flow waits for trigger 4, which no flow fires");
    expect_htsim_refused(HEAD "0->1 start 0 size 1\n1->0 trigger 4 size 1 recv_done_trigger 4\ntrigger id 4 oneshot\n",
                         "made:5: the flow waits for trigger 4, and flows that fire it wait for this one in turn");
    expect_htsim_refused(
        "Nodes 2\nConnections 2\nTriggers 2\n0->1 trigger 1 size 1 recv_done_trigger 2\n"
        "1->0 trigger 2 size 1 send_done_trigger 1\ntrigger id 1 oneshot\ntrigger id 2 barrier count 1\n",
        "made:4: the flow waits for trigger 1, and flows that fire it wait for this one in turn");
    expect_htsim_refused(
        "Nodes 2\nConnections 3\nTriggers 1\n0->1 start 0 size 1 recv_done_trigger 4\n1->0 trigger 4 size 1\n"
        "0->1 trigger 4 size 1\ntrigger id 4 multishot\n",
        "made:6: the flow waits for trigger 4, a multishot for one flow each of the 1 times");
    expect_htsim_refused(HEAD "0->1 start 0 size 1 send_done_trigger 4\n1->0 start 0 size 1 send_done_trigger 4\n"
                              "trigger id 4 oneshot\n",
                         "made:6: trigger 4 is a oneshot, and 2 flows fire it; accepted: one");
    expect_htsim_refused(
        HEAD "0->1 start 0 size 1 send_done_trigger 4\n1->0 trigger 4 size 1\ntrigger id 4 barrier count 2\n",
        "made:6: trigger 4 is a barrier of 2, and 1 flows fire it; accepted: as many");
    expect_htsim_refused("Nodes 2\nTriggers 2\ntrigger id 1 oneshot\ntrigger id 1 oneshot\n",
                         "made:4: there is a trigger 1 already, in line 3");
}

TEST(htsim_files_may_lose_what_a_trace_cannot_have)
{
    const char *texts[] = {
        "Nodes 2\nConnections 1\nFailures 1\n0->1 start 0 size 1\nfailure switch_type TOR switch_id 3 link_id 1\n",
        "Nodes 2\nConnections 2\n0->1 start 0 size 1 prio 1\n0->1 start 0 size 1\n",
        "Nodes 2\nConnections 1\n0->1 start 0 size 1 msg 4 of 7\n",
    };
    const char *messages[] = {"made:5: a failure of a link is the network's; accepted: a file without",
                              "made:4: a priority that differs from the first flow's cannot be carried over",
                              "made:3: msg cannot be carried over"};
    for (uint32_t i = 0; i < 3; i++) {
        struct traced traced;
        expect_htsim_refused(texts[i], messages[i]);
        traced_open_with(&traced, "htsim", "{\"lossy\": true}", 0, texts[i], strlen(texts[i]));
        EXPECT(traced.trace != NULL);
        traced_close(&traced);
    }
    struct traced apart;
    traced_open_with(&apart, "htsim", "{\"failures_apart\": true}", 0, texts[0], strlen(texts[0]));
    EXPECT(apart.trace != NULL);
    traced_close(&apart);
    expect_htsim_refused("Nodes 2\nfailure switch_type LEAF\n",
                         "made:2: \"LEAF\" where a type of switch is due; accepted: TOR, AGG, CORE");
    expect_htsim_refused("Nodes 2\nfailure link 3\n", "made:2: \"link\" in a failure; accepted: switch_type");
}
