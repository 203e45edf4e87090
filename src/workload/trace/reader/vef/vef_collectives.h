/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Collectives of VEF traces. Each rank that takes part has a line of its own, and what
 * the collective is, its root and its sizes, shows when all of them have been read.
 */
#include "base/table.h"
#include "flitwarp/trace_lines.h"

struct vef_communicator {
    uint32_t number; /* of the builder */
    uint32_t size;
};

/* One line of a collective. */
struct vef_part {
    uint64_t collective, communicator, operation, rank; /* as the file has them */
    uint64_t send_bytes, receive_bytes;
    uint64_t line;
    uint32_t task;
    uint32_t position; /* of the rank in the communicator */
    uint32_t order;    /* of the collective among those of the rank in the communicator */
};

struct vef_collectives {
    struct trace_lines *lines; /* borrowed, for errors */
    struct trace_builder *builder;
    struct arena arena;                     /* of what communicators are read into */
    struct vef_communicator *communicators; /* owned */
    uint64_t communicator_count;
    struct table members;   /* (communicator, rank) to its place there and the collectives so far */
    struct table tasks;     /* (collective, rank) to a task + 1 */
    struct vef_part *parts; /* owned */
    uint32_t count, room;
};

void vef_collectives_init(struct vef_collectives *collectives, struct trace_lines *lines, struct trace_builder *builder,
                          uint64_t communicators);
void vef_collectives_release(struct vef_collectives *collectives);

/* Reads the line of the next communicator. */
bool vef_read_communicator(struct vef_collectives *collectives, uint32_t ranks);

/* Reads a line up to where its dependency begins. */
bool vef_read_part(struct vef_collectives *collectives, struct word first, uint32_t ranks, struct vef_part *part);
/* Adds the part, whose task is known by now. */
void vef_add_part(struct vef_collectives *collectives, const struct vef_part *part);
/* The task by which a rank takes part; ANY: it does not, so far. */
uint32_t vef_collective_task(struct vef_collectives *collectives, uint64_t collective, uint32_t rank);

/* Behind the last line: gives all tasks their roots and sizes. `wanted`: how many collectives there should be. */
bool vef_collectives_finish(struct vef_collectives *collectives, uint64_t wanted);
