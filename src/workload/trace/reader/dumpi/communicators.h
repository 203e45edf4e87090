/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Which ranks of the job a communicator of a DUMPI trace has. A rank's file has only
 * what that rank gave: its colour and key, its group. So all ranks are followed at
 * once, each up to the next call that makes a communicator, until all ranks of the old
 * one have come to theirs. Handles are numbers of one rank and are given again after
 * MPI_Comm_free; what a call made is therefore kept by call, for when the ranks are
 * followed a second time.
 */
#include "workload/trace/reader/dumpi/ranks.h"

/* Handles of communicators that are the same everywhere. */
enum { HANDLE_NULL = 1, HANDLE_WORLD = 2, HANDLE_SELF = 3 };

/* Each rank makes its own groups, out of those that it has. */
struct dumpi_group {
    const uint32_t *ranks; /* of the job, in the order of the group; borrowed */
    uint32_t size;
};

struct dumpi_communicator {
    uint32_t number; /* the builder's */
    uint32_t size;
    const uint32_t *ranks;  /* of the job */
    uint32_t dimensions;    /* of a Cartesian one; 0: it is none */
    const uint32_t *widths; /* by dimension */
    uint32_t waiting;       /* ranks that have come to a call that makes another of it */
    bool is_with_strangers; /* it joins processes that are not in the trace */
    /* Of one between two groups, as one of them sees it: `ranks` are the others'. */
    struct dumpi_communicator *joint; /* all of both; NULL: it is none */
    struct dumpi_group own;
};

struct dumpi_communicators {
    struct dumpi_ranks *ranks; /* borrowed, as are the next two */
    struct trace_builder *builder;
    struct arena *arena;
    struct dumpi_communicator *world;
    struct table handles;            /* by rank and handle: the communicator */
    struct table lasting;            /* those that no call made, by kind and rank or handle */
    struct table made;               /* by rank and number: what its calls have made, in their order */
    uint32_t *made_count;            /* by rank: so far */
    struct table groups;             /* by rank and handle */
    bool *is_marked;                 /* by rank of the job, all false between calls */
    struct table row_calls;          /* by rank, communicator and root: how many there were; see collectives.c */
    struct table rows;               /* by communicator, root and number of the call: the row + 1 */
    struct dumpi_call *waits;        /* by rank: the call where it waits for others, and: */
    struct dumpi_communicator **old; /* the communicator whose ranks it waits for; NULL: none */
    uint32_t *ready;                 /* a stack of the ranks that can go on */
    uint32_t ready_count;
};

/* Follows all ranks, which are at their beginning again afterwards. To be released in any case. */
bool dumpi_communicators_find(struct dumpi_communicators *communicators, struct dumpi_ranks *ranks,
                              struct trace_builder *builder, struct arena *arena);
void dumpi_communicators_release(struct dumpi_communicators *communicators);

/* For a rank that is followed again: takes note of a call that makes a communicator, if it does. */
void dumpi_communicators_follow(struct dumpi_communicators *communicators, uint32_t rank,
                                const struct dumpi_call *call);
/* The communicator that a call's argument names; NULL with an error. */
struct dumpi_communicator *dumpi_communicator_of(struct dumpi_communicators *communicators, uint32_t rank,
                                                 const struct dumpi_call *call, const char *name);
/* The same, where one between two groups is an error. */
struct dumpi_communicator *dumpi_communicator_within(struct dumpi_communicators *communicators, uint32_t rank,
                                                     const struct dumpi_call *call, const char *name);

/* ---- making.c ---- */

struct dumpi_communicator *dumpi_communicator_add(struct dumpi_communicators *communicators, const uint32_t *ranks,
                                                  uint32_t size);
/* All ranks of a communicator wait, and go on with new ones, or for a while wait on. False with an error. */
bool dumpi_communicators_make(struct dumpi_communicators *communicators, struct dumpi_communicator *old);
/* A rank gets a communicator by its call. */
void dumpi_communicator_give(struct dumpi_communicators *communicators, uint32_t rank,
                             struct dumpi_communicator *given);

/* ---- groups.c ---- */

/* A copy of the group that an argument names; false with an error when a call made none of this name. */
bool dumpi_group_of(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call,
                    const char *name, struct dumpi_group *group);
/* Takes note of a call that makes a group, if it does. False with an error. */
bool dumpi_groups_follow(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call);

/* ---- collectives.c ---- */

/* Keeps the row of bytes of a call whose root knows what the others need. False with an error. */
bool dumpi_row_keep(struct dumpi_communicators *communicators, uint32_t rank, const struct dumpi_call *call);
/* Whether it is such a call: MPI_Gatherv and MPI_Scatterv. */
bool dumpi_row_is_kept(const struct dumpi_call *call);
