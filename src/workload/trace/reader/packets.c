/* SPDX-License-Identifier: Apache-2.0 */
/* Packets as tasks, see flitwarp/trace_packets.h. */
#include "flitwarp/trace_packets.h"

#include <math.h>
#include <stdlib.h>

const struct option cycle_options[] = {
    OPTION_SECONDS(struct cycle_config, cycle, "\"1ns\"", 1e-12, 1, "how long a cycle of the trace is"),
    OPTION_END,
};

uint64_t cycle_ps(const void *config) { return (uint64_t)llround(((const struct cycle_config *)config)->cycle * 1e12); }

void packets_init(struct packets *packets, struct trace_builder *builder, uint32_t ranks)
{
    *packets = (struct packets){builder, memory_take(sizeof(struct packet_clock) * ranks), 0};
    for (uint32_t rank = 0; rank < ranks; rank++)
        packets->clocks[rank] = (struct packet_clock){0, FW_ANY};
    builder_set_ranks(builder, ranks);
}

void packets_release(struct packets *packets) { free(packets->clocks); }

/* Nobody posts a receive for a packet in time or too late: the send never waits for it, whatever its size. */
struct packet_tasks packets_add(struct packets *packets, uint32_t source, uint32_t destination, uint64_t bytes)
{
    struct task send = {.kind = TASK_SEND, .flags = TASK_READY, .amount = bytes, .peer = destination};
    struct task receive = {.kind = TASK_RECEIVE, .amount = bytes, .peer = source};
    send.tag = receive.tag = packets->count++;
    return (struct packet_tasks){builder_add(packets->builder, source, &send),
                                 builder_add(packets->builder, destination, &receive)};
}

uint32_t packets_tell(struct packets *packets, uint32_t from, uint32_t after, uint32_t to)
{
    if (from == to)
        return after;
    struct packet_tasks tasks = packets_add(packets, from, to, 0);
    builder_wait(packets->builder, from, tasks.send, after, false);
    return tasks.receive;
}

/* Waits for time are a chain, so that a rank has one at a time; a time before that of the last one begins another. */
void packets_wait_until(struct packets *packets, uint32_t source, uint32_t send, uint64_t time_ps)
{
    struct packet_clock *clock = &packets->clocks[source];
    if (time_ps == 0)
        return;
    bool is_later = clock->task != FW_ANY && time_ps > clock->time_ps;
    if (clock->task == FW_ANY || time_ps != clock->time_ps) {
        struct task until = {.kind = TASK_UNTIL, .amount = time_ps};
        uint32_t task = builder_add(packets->builder, source, &until);
        if (is_later)
            builder_wait(packets->builder, source, task, clock->task, false);
        *clock = (struct packet_clock){time_ps, task};
    }
    builder_wait(packets->builder, source, send, clock->task, false);
}
