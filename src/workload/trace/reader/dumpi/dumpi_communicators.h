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
#include "workload/trace/reader/dumpi/dumpi_groups.h"
#include "workload/trace/reader/dumpi/dumpi_ranks.h"
#include "workload/trace/reader/dumpi/dumpi_rows.h"

/* Handles of communicators that are the same everywhere. */
enum { HANDLE_NULL = 1, HANDLE_WORLD = 2, HANDLE_SELF = 3 };

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

/* What a rank's calls have made, in their order; NULL: the rank is not in it. */
struct dumpi_made {
    struct dumpi_communicator **list; /* owned */
    uint32_t count, room;
    uint32_t next; /* to be taken up when the rank is followed again */
};

struct dumpi_communicators {
    struct dumpi_ranks *ranks; /* borrowed, as are the next two */
    struct trace_builder *builder;
    struct arena *arena;
    struct table handles; /* by rank and handle: the communicator */
    struct table lasting; /* those that no call made, by kind and rank or handle */
    struct dumpi_groups groups;
    struct dumpi_rows rows;
    struct dumpi_communicator *world;
    struct dumpi_made *made;  /* by rank */
    struct dumpi_call *waits; /* by rank: the call where it waits for others */
};

/* Follows all ranks, which are at their beginning again afterwards. To be released in any case. */
bool dumpi_communicators_find(struct dumpi_communicators *communicators, struct dumpi_ranks *ranks,
                              struct trace_builder *builder, struct arena *arena);
void dumpi_communicators_release(struct dumpi_communicators *communicators);

/* For a rank that is followed again: takes note of a call that makes a communicator, if it does. */
void dumpi_communicators_follow(struct dumpi_communicators *communicators, uint32_t rank,
                                const struct dumpi_call *call);
/* The communicator that a call's argument names; NULL with an error. */
const struct dumpi_communicator *dumpi_communicator_of(struct dumpi_communicators *communicators, uint32_t rank,
                                                       const struct dumpi_call *call, const char *name);
/* The same, where one between two groups is an error. */
const struct dumpi_communicator *dumpi_communicator_within(struct dumpi_communicators *communicators, uint32_t rank,
                                                           const struct dumpi_call *call, const char *name);

/* For dumpi_making.c: all ranks of the old communicator wait; for the same call. False with an error. */
bool dumpi_communicators_are_one_call(const struct dumpi_communicators *communicators,
                                      const struct dumpi_communicator *old);
/* They go on with new ones. */
bool dumpi_communicators_make(struct dumpi_communicators *communicators, struct dumpi_communicator *old);
struct dumpi_communicator *dumpi_communicator_add(struct dumpi_communicators *communicators, const uint32_t *ranks,
                                                  uint32_t size);
void dumpi_made_add(struct dumpi_made *made, struct dumpi_communicator *communicator);
/* For dumpi_intercommunicators.c: a group waits, all of it; the one that it is to be joined with, if that waits too. */
struct dumpi_communicator *dumpi_other_group(struct dumpi_communicators *communicators,
                                             const struct dumpi_communicator *group, struct dumpi_communicator **old);
void dumpi_join_groups(struct dumpi_communicators *communicators, struct dumpi_communicator *one,
                       struct dumpi_communicator *other);
/* What a rank's handle stands for; until the next call. */
struct dumpi_communicator **dumpi_handle(struct dumpi_communicators *communicators, uint64_t rank, int64_t handle);
