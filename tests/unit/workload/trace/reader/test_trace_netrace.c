/* SPDX-License-Identifier: Apache-2.0 */
/* Netrace's packets become sends that wait for their cycle and for the packets that list them. */
#include "shared_traces.h"
#include "traced.h"

struct made {
    unsigned char bytes[1024];
    size_t size;
};

static void put(struct made *made, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        made->bytes[made->size++] = (unsigned char)(value >> (8 * i));
}

/* Four nodes, one region. */
static void put_header(struct made *made, uint64_t packets)
{
    *made = (struct made){.size = 0};
    put(made, 0x484a5455, 4);
    put(made, 0x3f800000, 4); /* 1.0 */
    made->size += 30;         /* the benchmark's name */
    put(made, 4, 2);
    put(made, 1000, 8);
    put(made, packets, 8);
    put(made, 3, 4); /* of notes */
    put(made, 1, 4);
    made->size += 8;
    put(made, 0x006968, 3); /* "hi" */
    put(made, 0, 8);
    put(made, 1000, 8);
    put(made, packets, 8);
}

static void put_packet(struct made *made, uint64_t cycle, uint32_t id, uint32_t type, uint32_t source,
                       uint32_t destination, uint32_t dependents)
{
    put(made, cycle, 8);
    put(made, id, 4);
    put(made, 0xabcdef00, 4);
    put(made, type, 1);
    put(made, source, 1);
    put(made, destination, 1);
    put(made, 0x12, 1);
    put(made, dependents, 1);
}

enum { PACKETS_AT = 72 + 3 + 24 };

/* A request, an invalidation that it causes, and the answer that waits for both ways. */
static void put_exchange(struct made *made)
{
    put_header(made, 4);
    put_packet(made, 10, 1, 15, 0, 2, 2);
    put(made, 2, 4);
    put(made, 4, 4);
    put_packet(made, 12, 2, 27, 2, 3, 1);
    put(made, 3, 4);
    put_packet(made, 20, 3, 28, 3, 2, 1);
    put(made, 4, 4);
    put_packet(made, 30, 4, 16, 2, 0, 0);
}

static void expect_exchange(const struct traced *traced)
{
    EXPECT(traced->trace != NULL);
    EXPECT_EQ_U64(traced->trace->rank_count, 4);
    struct task_sum sends = sum_of(traced->trace, TASK_SEND);
    EXPECT_EQ_U64(sends.count, 4);
    EXPECT_EQ_U64(sends.amount, 8 + 8 + 8 + 72);
    EXPECT_EQ_U64(sends.waits, 4 + 4); /* each for its cycle; 1 -> 2, 1 -> 4, 2 -> 3, 3 -> 4 */
    /* node 2: receive 1, send 2, cycle 12, receive 3, send 4, cycle 30 */
    const struct task *tasks = traced->trace->ranks[2].tasks;
    EXPECT_EQ_U64(traced->trace->ranks[2].task_count, 6);
    EXPECT(tasks[0].kind == TASK_RECEIVE && tasks[1].kind == TASK_SEND && tasks[2].kind == TASK_UNTIL);
    EXPECT(tasks[3].kind == TASK_RECEIVE && tasks[4].kind == TASK_SEND && tasks[5].kind == TASK_UNTIL);
    EXPECT_EQ_U64(tasks[5].amount, 30 * 1000);
    EXPECT(waits_for(traced, 2, 1, 0, false) && waits_for(traced, 2, 4, 0, false) && waits_for(traced, 2, 4, 3, false));
    EXPECT(waits_for(traced, 2, 4, 5, false));
}

TEST(netrace_packets_wait_for_those_that_list_them)
{
    struct made made;
    struct traced traced;
    put_exchange(&made);
    traced_open(&traced, "netrace", made.bytes, made.size);
    expect_exchange(&traced);
    traced_close(&traced);
}

/* The bytes above, by the command bzip2. */
static const unsigned char compressed[] = {
    0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x84, 0x4d, 0x19, 0x4f, 0x00, 0x00, 0x44, 0x6f, 0x55,
    0x7e, 0x94, 0xd4, 0x1d, 0x00, 0x00, 0x80, 0x50, 0x06, 0x00, 0x00, 0x60, 0x40, 0x00, 0x00, 0x08, 0x00, 0x02, 0x00,
    0x40, 0xa0, 0x00, 0x72, 0x1a, 0x80, 0x08, 0xc0, 0x8c, 0x00, 0x12, 0x9a, 0x0a, 0x4f, 0x53, 0x43, 0x35, 0x34, 0xd1,
    0xa3, 0x4c, 0x53, 0x12, 0xdd, 0x2d, 0xde, 0xae, 0xb6, 0xb6, 0x98, 0x87, 0x54, 0x06, 0x28, 0xc2, 0x1d, 0xd0, 0x31,
    0xe9, 0x33, 0x64, 0x86, 0x29, 0x35, 0xd5, 0x20, 0xc1, 0x40, 0xf3, 0x78, 0xd2, 0x8a, 0x4b, 0xf8, 0xbb, 0x41, 0xaa,
    0x0b, 0x4a, 0x1e, 0x75, 0x72, 0x56, 0xe2, 0x7a, 0x1c, 0x81, 0x6f, 0xb6, 0x32, 0x8c, 0xe8, 0xdb, 0x03, 0x80, 0x1b,
    0x85, 0x03, 0xa2, 0xee, 0x48, 0xa7, 0x0a, 0x12, 0x10, 0x89, 0xa3, 0x29, 0xe0,
};

static bool is_without_bzip2(const struct traced *traced)
{
    return traced->errors.count && strstr(errors_text(&traced->errors), "built without");
}

TEST(netrace_cycles_are_as_long_as_the_setting_says)
{
    struct made made = {0};
    struct traced traced;
    put_exchange(&made);
    traced_open_with(&traced, "netrace", "{\"cycle\": \"625ps\"}", 0, made.bytes, made.size);
    EXPECT_EQ_U64(traced_task(&traced, 2, 5)->amount, 30 * 625);
    traced_close(&traced);
}

TEST(netrace_files_may_be_compressed)
{
    struct traced traced;
    traced_open(&traced, "netrace", compressed, sizeof compressed);
    if (!is_without_bzip2(&traced))
        expect_exchange(&traced);
    traced_close(&traced);
}

TEST(netrace_compressed_files_that_are_damaged_are_refused)
{
    struct traced traced;
    traced_open(&traced, "netrace", compressed, sizeof compressed - 20);
    if (!is_without_bzip2(&traced))
        EXPECT_TEXT_CONTAINS(errors_text(&traced.errors), "the file is cut short where");
    traced_close(&traced);
    unsigned char damaged[sizeof compressed];
    memcpy(damaged, compressed, sizeof compressed);
    damaged[sizeof damaged - 4] ^= 0xff; /* of the sum over all */
    traced_open(&traced, "netrace", damaged, sizeof damaged);
    EXPECT(traced.trace == NULL);
    if (!is_without_bzip2(&traced))
        EXPECT_TEXT_CONTAINS(errors_text(&traced.errors), "made: offset 199: the file is damaged where it should end");
    traced_close(&traced);
}

static void expect_netrace_refused(const struct made *made, const char *text)
{
    expect_refused("netrace", made->bytes, made->size, text);
}

TEST(netrace_faults_of_the_header_are_named_with_their_offset)
{
    struct made made;
    put_exchange(&made);
    made.size = 60;
    expect_netrace_refused(&made, "made: offset 60: the file ends where 12 bytes more are due");
    put_exchange(&made);
    made.bytes[6] = 0;
    expect_netrace_refused(&made, "made: offset 4: version ");
    made = (struct made){.bytes = {0x48, 0x4a, 0x54, 0x55}, .size = 8};
    expect_netrace_refused(&made, "made: offset 0: the number 0x55544a48 is that of Netrace with the bytes turned "
                                  "round; accepted: a little-endian file");
    put_exchange(&made);
    made.bytes[48] = 0;
    expect_netrace_refused(&made, "made: offset 38: 4 nodes and 0 packets");
    put_exchange(&made);
    made.bytes[59] = 0x7f; /* notes of 2 GB */
    expect_netrace_refused(&made, "the file ends where");
    put_exchange(&made);
    made.bytes[72 + 3 + 16] = 5;
    expect_netrace_refused(&made, "made: offset 91: region 0 has 5 packets, more than are left of the 4");
}

TEST(netrace_faults_of_packets_are_named_with_their_offset)
{
    struct made made;
    put_exchange(&made);
    made.size -= 1;
    expect_netrace_refused(&made, "the file ends where 1 bytes more are due");
    put_exchange(&made);
    put(&made, 7, 1);
    expect_netrace_refused(&made, "made: offset 199: the file goes on where it should end");
    put_exchange(&made);
    made.bytes[PACKETS_AT + 16] = 7;
    expect_netrace_refused(&made, "made: offset 115: there is no type 7 of packets");
    put_exchange(&made);
    made.bytes[PACKETS_AT + 18] = 4;
    expect_netrace_refused(&made, "made: offset 116: a packet from node 0 to node 4; there are nodes 0 to 3");
    put_exchange(&made);
    made.bytes[PACKETS_AT + 7] = 0xff;
    expect_netrace_refused(&made, "made: offset 99: cycle ");
}

/* Packet 2 leaves node 3 when packet 1 is at node 2: node 2 says so by an empty packet. */
TEST(netrace_packets_that_leave_from_elsewhere_are_told)
{
    struct made made;
    struct traced traced;
    put_header(&made, 2);
    put_packet(&made, 10, 1, 1, 0, 2, 1);
    put(&made, 2, 4);
    put_packet(&made, 12, 2, 2, 3, 0, 0);
    traced_open(&traced, "netrace", made.bytes, made.size);
    EXPECT(traced.trace != NULL);
    const struct task *tells = traced_task(&traced, 2, 1), *told = traced_task(&traced, 3, 2);
    EXPECT_EQ_U64(tells->kind, TASK_SEND);
    EXPECT_EQ_U64(tells->amount, 0);
    EXPECT_EQ_U64(tells->peer, 3);
    EXPECT(waits_for(&traced, 2, 1, 0, false));
    EXPECT_EQ_U64(told->kind, TASK_RECEIVE);
    EXPECT_EQ_U64(told->tag, tells->tag);
    EXPECT(waits_for(&traced, 3, 0, 2, false));
    traced_close(&traced);
}

TEST(netrace_dependencies_that_cannot_be_kept_are_refused)
{
    struct made made;
    put_header(&made, 1);
    put_packet(&made, 10, 1, 1, 0, 2, 1);
    put(&made, 1, 4);
    expect_netrace_refused(&made, "made: offset 99: packet 1 lists packet 1, which does not come behind it");
}

/*
 * By a decoder in Python of some lines: packets (those of the headers, too), bytes, and waits for cycles above 0 and
 * for packets.
 */
TEST(netrace_reads_real_files)
{
    static const struct {
        const char *name;
        uint64_t packets, bytes, waits;
    } files[] = {{"netrace/shrtex.tra.bz2", 12, 224, 11 + 9},
                 {"netrace/example.tra.bz2", 175, 4024, 174 + 136},
                 {"netrace/multiregion.tra.bz2", 22968, 830080, 22953 + 13168}};
    for (uint32_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct traced traced = {.errors.arena = &traced.arena};
        const char *path = shared_trace(&traced.arena, files[i].name);
        traced.trace = path ? trace_read(path, NULL, &traced.errors) : NULL;
        EXPECT(traced.trace || !path || is_without_bzip2(&traced));
        if (traced.trace) {
            EXPECT_EQ_U64(traced.trace->rank_count, 64);
            struct task_sum sends = sum_of(traced.trace, TASK_SEND), receives = sum_of(traced.trace, TASK_RECEIVE);
            EXPECT_EQ_U64(sends.count, files[i].packets);
            EXPECT_EQ_U64(receives.count, files[i].packets);
            EXPECT_EQ_U64(sends.amount, files[i].bytes);
            EXPECT_EQ_U64(sends.waits, files[i].waits);
        }
        traced_close(&traced);
    }
}
