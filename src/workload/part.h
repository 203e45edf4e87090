/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What one part of the network has of the workload: messages under way, and what is
 * counted where packets arrive. A part touches nothing of another. What needs more
 * than one (transactions, logs) is noted here and put together at grid points.
 */
#include "network/network.h"

#include "base/table.h"
#include "metrics/measurement.h"
#include "metrics/log.h"

struct workload;

/* A transaction of several requests. Those that draining cuts short are never complete. */
struct message_group {
    uint32_t messages_left; /* that have not arrived, replies included */
    tick_t last;            /* arrival so far */
};

/* A message of a transaction of several has arrived. */
struct group_note {
    uint32_t part, group; /* where the transaction began */
    tick_t arrived, started;
    uint8_t application;
    bool sampled;
    uint8_t unused[6]; /* no byte without a value: states are compared */
};

struct workload_part {
    struct workload *workload;
    struct network *network;
    struct measurement *measurements; /* by application; the workload's own where there is one part */
    struct pool messages;             /* owned */
    struct pool groups;               /* owned: struct message_group */
    struct table halves;              /* by source and number: how many packets of a message have arrived */
    struct group_note *notes;         /* owned: since the last grid point, as the records are */
    struct log_record *records;       /* owned: sampled packets for the logs */
    uint32_t note_count, note_room, record_count, record_room;
};

static inline struct message_group *part_group(const struct workload_part *part, uint32_t handle)
{
    return pool_at(&part->groups, handle, sizeof(struct message_group));
}

static inline struct message *part_message(const struct workload_part *part, uint32_t handle)
{
    return pool_at(&part->messages, handle, sizeof(struct message));
}

void part_init(struct workload_part *part, struct workload *workload, struct network *network);
void part_release(struct workload_part *part);
/* Before the run. */
void part_connect(struct workload_part *part);
/* A packet that never entered the network, by the interface's withdraw(). */
void part_withdrawn(void *part, uint32_t handle);

/* What another rank's part has noted for this one. */
void part_add_note(struct workload_part *part, const struct group_note *note);
void part_add_record(struct workload_part *part, const struct log_record *record);

/* At grid points, with all parts of this rank at rest. */
void parts_end_groups(struct workload_part *parts, uint32_t count);
void parts_write_logs(struct workload_part *parts, uint32_t count, struct run_logs *logs);
