/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of Chakra execution traces become tasks; files of ranks belong together. */
#include "sandbox.h"
#include "shared_traces.h"
#include "traced.h"

struct made {
    unsigned char bytes[1024];
    size_t size;
};

static void put_varint(struct made *made, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        made->bytes[made->size++] = (unsigned char)(value | 0x80);
    made->bytes[made->size++] = (unsigned char)value;
}

static void put_number(struct made *made, uint32_t field, uint64_t value)
{
    put_varint(made, field << 3);
    put_varint(made, value);
}

static void put_bytes(struct made *made, uint32_t field, const void *bytes, size_t size)
{
    put_varint(made, field << 3 | 2);
    put_varint(made, size);
    memcpy(made->bytes + made->size, bytes, size);
    made->size += size;
}

static void put_text(struct made *made, uint32_t field, const char *text)
{
    put_bytes(made, field, text, strlen(text));
}

/* `field` is that of the kind of number. */
static void put_attribute(struct made *made, const char *name, uint32_t field, uint64_t value)
{
    struct made attribute = {.size = 0};
    put_text(&attribute, 1, name);
    put_number(&attribute, field, value);
    put_bytes(made, 10, attribute.bytes, attribute.size);
}

/* A message behind its length. */
static void put_message(struct made *made, const struct made *message)
{
    put_varint(made, message->size);
    memcpy(made->bytes + made->size, message->bytes, message->size);
    made->size += message->size;
}

static void begin(struct made *made)
{
    struct made metadata = {.size = 0};
    *made = (struct made){.size = 0};
    put_text(&metadata, 1, "0.0.4");
    put_message(made, &metadata);
}

static struct made node_of(uint64_t id, uint64_t type)
{
    struct made node = {.size = 0};
    if (id)
        put_number(&node, 1, id);
    put_text(&node, 2, "some name");
    put_number(&node, 3, type);
    return node;
}

static struct made collective_node(uint64_t id, uint64_t type, uint64_t bytes)
{
    struct made node = node_of(id, 7);
    put_attribute(&node, "comm_type", 9, type);
    put_attribute(&node, "comm_size", 13, bytes); /* another kind of number than that of the type */
    return node;
}

TEST(chakra_nodes_wait_for_control_and_data)
{
    struct made made, node;
    begin(&made);
    node = node_of(0, 4); /* computes 7 us; a node that waits for one behind it */
    put_number(&node, 7, 7);
    put_number(&node, 4, 300); /* a list that is not in one piece */
    put_message(&made, &node);
    node = node_of(5, 4);
    put_bytes(&node, 5, "\x00\xac\x02", 3); /* 0 and 300 */
    put_attribute(&node, "is_cpu_op", 27, 0);
    put_message(&made, &node);
    node = node_of(300, 1);
    put_message(&made, &node);
    struct traced traced;
    traced_open(&traced, "chakra", made.bytes, made.size);
    EXPECT(traced.trace != NULL);
    const struct task *tasks = traced.trace->ranks[0].tasks;
    EXPECT_EQ_U64(traced.trace->ranks[0].task_count, 3);
    EXPECT(tasks[0].kind == TASK_COMPUTE && tasks[0].amount == 7000000 && tasks[0].cpu == 0);
    EXPECT(tasks[1].kind == TASK_COMPUTE && tasks[1].amount == 0 && tasks[1].cpu == 1);
    EXPECT(tasks[2].kind == TASK_JOIN && tasks[2].waits == 0);
    EXPECT(waits_for(&traced, 0, 0, 2, false) && waits_for(&traced, 0, 1, 0, false) &&
           waits_for(&traced, 0, 1, 2, false));
    traced_close(&traced);
}

/* Two ranks, a message between them and a reduce-scatter of both in a group that names them the other way round. */
static void write_pair(struct sandbox *box)
{
    struct made made, node;
    begin(&made);
    node = node_of(1, 5);
    put_attribute(&node, "comm_size", 9, 100);
    put_attribute(&node, "comm_dst", 7, 1);
    put_attribute(&node, "comm_tag", 15, 6); /* with the sign below: 3 */
    put_message(&made, &node);
    node = collective_node(2, 7, 4096);
    put_text(&node, 10, "\x0a\x07pg_name\xea\x01\x02no"); /* field 29, a text */
    put_message(&made, &node);
    sandbox_write(box, "pair.0.et", made.bytes, made.size);
    begin(&made);
    node = node_of(1, 6);
    put_attribute(&node, "comm_size", 9, 100);
    put_attribute(&node, "comm_src", 7, 0);
    put_attribute(&node, "comm_tag", 7, 3);
    put_message(&made, &node);
    sandbox_write(box, "pair.1.et", made.bytes, made.size);
}

TEST(chakra_files_of_all_ranks_are_read)
{
    struct sandbox box;
    sandbox_open(&box);
    write_pair(&box);
    sandbox_write(&box, "pair.groups.json", "{\"no\": [1, 0]}", 14);
    struct trace *trace = trace_read(path_in(&box, "pair.1.et"), NULL, &box.errors);
    EXPECT(trace != NULL);
    if (trace) {
        const struct task *send = &trace->ranks[0].tasks[0], *receive = &trace->ranks[1].tasks[0];
        EXPECT(send->kind == TASK_SEND && send->peer == 1 && send->tag == 3 && send->amount == 100);
        EXPECT(receive->kind == TASK_RECEIVE && receive->peer == 0 && receive->tag == 3);
        const struct task *collective = &trace->ranks[0].tasks[1];
        EXPECT(collective->unit == OPERATION_REDUCE_SCATTER && collective->amount == 2048);
        EXPECT(collective->tag == NO_COUNTS && collective->peer == 1);
        EXPECT_EQ_U64(trace->communicators[collective->communicator].ranks[0], 1);
    }
    trace_destroy(trace);
    unlink(path_in(&box, "pair.groups.json"));
    sandbox_close(&box, "pair.0.et", "pair.1.et");
}

TEST(chakra_files_that_are_missing_are_named)
{
    struct sandbox box;
    sandbox_open(&box);
    write_pair(&box);
    EXPECT(trace_read(path_in(&box, "pair.1.et"), NULL, &box.errors) == NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&box.errors), "is of process group \"no\"; accepted: one whose ranks \"/tmp/");
    EXPECT_TEXT_CONTAINS(errors_text(&box.errors), "pair.groups.json\" lists");
    sandbox_write(&box, "pair.0.et", "", 0);
    EXPECT(trace_read(path_in(&box, "pair.1.et"), NULL, &box.errors) == NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&box.errors), "pair.0.et: the file is empty; accepted: the file of a trace");
    unlink(path_in(&box, "pair.0.et"));
    EXPECT(trace_read(path_in(&box, "pair.1.et"), NULL, &box.errors) == NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&box.errors), "pair.0.et: there is no file of rank 0, but one of rank 1");
    sandbox_close(&box, "pair.1.et", NULL);
}

static void expect_chakra_refused(const struct made *made, const char *text)
{
    expect_refused("chakra", made->bytes, made->size, text);
}

static void expect_node_refused(const struct made *node, const char *text)
{
    struct made made;
    begin(&made);
    put_message(&made, node);
    expect_chakra_refused(&made, text);
}

TEST(chakra_faults_of_nodes_are_named_with_their_offset)
{
    struct made node = node_of(3, 9);
    expect_node_refused(&node, "made: offset 8: node 3 is of type 9; accepted: from 1 to 7");
    node = node_of(3, 7);
    expect_node_refused(&node, "made: offset 8: node 3 has no comm_type");
    node = collective_node(3, 10, 8);
    expect_node_refused(&node, "node 3 has comm_type 10; accepted: from 0 to 9");
    node = node_of(3, 5);
    put_attribute(&node, "comm_size", 9, 8);
    put_attribute(&node, "comm_dst", 7, UINT64_MAX);
    expect_node_refused(&node, "made: offset 8: node 3 has comm_dst -1; accepted: from 0 to 0");
    node = node_of(3, 4);
    put_number(&node, 5, 4);
    expect_node_refused(&node, "made: offset 8: node 3 waits for node 4, which is not in the file");
    node = node_of(3, 4);
    put_number(&node, 5, 3);
    expect_node_refused(&node, "wait for each other in a circle: task 0 (compute 0 ns) at offset 8 of made");
    node = node_of(3, 4);
    put_number(&node, 7, UINT64_MAX);
    expect_node_refused(&node, "node 3 lasts 18446744073709551615 us; accepted: up to");
    node = node_of(3, 4);
    node.bytes[node.size++] = 0x0b; /* a group, which has been out of use for long */
    expect_node_refused(&node, "made: offset 8: the node is broken at offset 24");
}

TEST(chakra_faults_of_files_are_named_with_their_offset)
{
    struct made made, node = node_of(3, 4);
    begin(&made);
    put_message(&made, &node);
    put_message(&made, &node);
    expect_chakra_refused(&made, "made: offset 24: there is a node 3 already, at offset 8");
    made.size -= 1;
    expect_chakra_refused(&made, "made: offset 24: a message of 15 bytes begins, and the file ends 14 bytes behind");
    made.size = 24;
    made.bytes[made.size++] = 0xff;
    expect_chakra_refused(&made,
                          "made: offset 24: the file ends, or has something else, where the length of a message");
}

/* What the description of these files says of them, and a decoder in Python of some lines. */
TEST(chakra_reads_real_files)
{
    struct traced traced = {.errors.arena = &traced.arena};
    const char *path = shared_trace(&traced.arena, "chakra/all_reduce_8npus_1MB/all_reduce.0.et");
    traced.trace = path ? trace_read(path, NULL, &traced.errors) : NULL;
    EXPECT(traced.trace || !path);
    if (traced.trace) {
        EXPECT_EQ_U64(traced.trace->rank_count, 8);
        EXPECT_EQ_U64(traced.trace->task_count, 8);
        EXPECT_EQ_U64(sum_of(traced.trace, TASK_COLLECTIVE).amount, 8 << 20);
    }
    trace_destroy(traced.trace);
    path = shared_trace(&traced.arena, "chakra/custom_ring_allreduce_8npus_1MB/custom_allreduce.3.et");
    traced.trace = path ? trace_read(path, NULL, &traced.errors) : NULL;
    EXPECT(traced.trace || !path);
    if (traced.trace) { /* 14 steps of a ring, an eighth of 1 MiB each, and 7 times 7 us of computation */
        struct task_sum sends = sum_of(traced.trace, TASK_SEND), receives = sum_of(traced.trace, TASK_RECEIVE);
        struct task_sum computes = sum_of(traced.trace, TASK_COMPUTE);
        EXPECT_EQ_U64(traced.trace->rank_count, 8);
        EXPECT(sends.count == 8 * 14 && sends.amount == 8 * 14 * 131072);
        EXPECT(receives.count == 8 * 14 && receives.amount == 8 * 14 * 131072);
        EXPECT(computes.count == 8 * 7 && computes.amount == 392000000);
        EXPECT_EQ_U64(traced.trace->edge_count, 272);
    }
    traced_close(&traced);
}
