/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A trace as a GOAL schedule (docs/formats.md), rank by rank. GOAL knows sends, receives
 * and computing, so collectives become the messages of their algorithms, times since
 * the start a chain of computing on a processor of its own, and communicators tags.
 */
#include "flitwarp/error.h"

#include "base/table.h"
#include "workload/trace/collective.h"

enum goal_type { GOAL_SEND = 1, GOAL_RECEIVE = 2, GOAL_COMPUTE = 3 }; /* as binary files call them */

struct goal_node {
    uint8_t type, cpu, nic;
    uint32_t peer, tag;
    uint64_t amount; /* bytes; of computing nanoseconds */
};

/* `later` waits for `earlier` to end, or to begin. */
struct goal_edge {
    uint32_t later, earlier;
    bool on_start;
};

struct goal_rank {
    struct goal_node *nodes; /* owned */
    struct goal_edge *edges; /* owned */
    uint32_t node_count, node_room, edge_count, edge_room;
};

struct goal_schedule {
    const struct trace *trace; /* borrowed */
    const struct collective_settings *settings;
    struct table tags; /* by communicator and tag */
    uint32_t next_tag;
    uint32_t timer_cpu, max_nic;
};

/* False, with errors, when the trace has what GOAL cannot say; lossy: what can be left out, is. */
bool goal_schedule_init(struct goal_schedule *schedule, const struct trace *trace,
                        const struct collective_settings *settings, bool is_lossy, struct errors *errors);
void goal_schedule_release(struct goal_schedule *schedule);
/* The nodes and edges of a rank; the struct is used again from rank to rank, {0} at first. */
void goal_rank_make(struct goal_schedule *schedule, uint32_t rank, struct goal_rank *made);
void goal_rank_release(struct goal_rank *made);

/* Writes it as text or in binary. False, with an error, when it cannot be written. */
bool goal_write_text(struct goal_schedule *schedule, const char *path, struct errors *errors);
bool goal_write_binary(struct goal_schedule *schedule, const char *path, struct errors *errors);
