/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Traces of packets as tasks. A packet is a send at its source and a receive at its
 * destination, which is there from the beginning and takes this packet alone: its tag
 * is the packet's number. A packet that leaves at a given time waits for a TASK_UNTIL,
 * one that answers another waits for that one's receive, where it leaves from the same rank,
 * and otherwise until that rank has told its own.
 */
#include "flitwarp/trace_reader.h"

#define MAX_PACKETS (RANK_MAX_TASKS / 3) /* three tasks each, should all be of one rank */
#define MAX_PACKET_RANKS (1u << 20)

/* Traces count cycles without saying how long one is. The first member of their config structs. */
struct cycle_config {
    double cycle;
};
extern const struct option cycle_options[];
uint64_t cycle_ps(const void *config);

struct packet_clock {
    uint64_t time_ps;
    uint32_t task; /* the latest TASK_UNTIL; FW_ANY: none yet */
};

struct packets {
    struct trace_builder *builder;
    struct packet_clock *clocks; /* owned: by rank */
    uint32_t count;
};

struct packet_tasks {
    uint32_t send, receive; /* of the source and of the destination */
};

void packets_init(struct packets *packets, struct trace_builder *builder, uint32_t ranks);
void packets_release(struct packets *packets);

struct packet_tasks packets_add(struct packets *packets, uint32_t source, uint32_t destination, uint64_t bytes);
/*
 * Another rank hears, by an empty packet, that a task of this one has ended; what waits for that there waits for the
 * task returned. To the same rank nothing needs to be told, and that task is `after` itself.
 */
uint32_t packets_tell(struct packets *packets, uint32_t from, uint32_t after, uint32_t to);
/* The send leaves at that time at the earliest. */
void packets_wait_until(struct packets *packets, uint32_t source, uint32_t send, uint64_t time_ps);
