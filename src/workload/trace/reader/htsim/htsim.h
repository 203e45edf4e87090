/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Connection matrices of htsim: flows and triggers as they stand in the file (htsim.c), and
 * who waits for whom (triggers.c). A trigger is known by its number in the array here.
 */
#include "base/table.h"
#include "flitwarp/trace_lines.h"
#include "flitwarp/trace_packets.h"

#define NO_TRIGGER UINT32_MAX

/* The two ends of a flow that can fire a trigger. */
enum htsim_end { SEND_DONE, RECEIVE_DONE, ENDS };

struct htsim_flow {
    uint64_t line, bytes, start_ps;
    uint32_t id; /* 0: none */
    uint32_t source, destination;
    uint32_t trigger;           /* that it waits for; NO_TRIGGER: it has a time */
    uint32_t fires[ENDS];       /* or NO_TRIGGER */
    uint32_t next_waiting;      /* flow + 1, of those that wait for the same trigger, in the order of the file */
    uint32_t next_firing[ENDS]; /* a firing + 1, see htsim_trigger; the same */
    bool is_reached;
    struct packet_tasks tasks;
};

enum htsim_kind { TRIGGER_ONESHOT, TRIGGER_MULTISHOT, TRIGGER_BARRIER, TRIGGER_KINDS };

/* A firing is the flow times ENDS, and the end. */
struct htsim_trigger {
    uint64_t line;
    uint32_t id, count, kind;             /* enum htsim_kind; count: of a barrier */
    uint32_t first_waiting, first_firing; /* + 1; 0: none */
    uint32_t firings, fired;
    uint32_t next_released; /* + 1, while it is tried which flows start */
};

enum htsim_header { NODES, CONNECTIONS, TRIGGERS, FAILURES, HEADERS };

struct htsim {
    struct trace_lines lines;
    uint64_t said[HEADERS];         /* numbers of the header */
    uint32_t seen;                  /* which there are, as bits */
    struct htsim_flow *flows;       /* owned */
    struct htsim_trigger *triggers; /* owned, by id */
    uint32_t flow_count, flow_room, trigger_count, trigger_room;
    struct table ids; /* of flows and of triggers: struct htsim_id */
    /* What a trace has no place for; the first flow's priority, flows that differ from it, flows with msg. */
    uint64_t failures, priority, other_priorities, messages;
};

/* Connects flows with triggers, whose ids flows hold until then; false, with errors, where some would never start. */
bool htsim_triggers_connect(struct htsim *htsim);
/* The tasks of all nodes. */
void htsim_add_tasks(struct htsim *htsim, struct trace_builder *builder);
