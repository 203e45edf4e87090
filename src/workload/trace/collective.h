/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Collective operations as messages. A plan says for one rank and one step whom it
 * sends to and whom it hears from, with how many bytes and which blocks; nothing is
 * stored, so a rank in the middle of a collective is a plan and a number. Ranks are
 * those of the communicator, any number of them.
 *
 * In a step a rank sends one message at most and gets one at most, and what one rank
 * sends in step k its peer gets in its own step k. A step begins when all before it
 * have ended, that is, when their messages have left and arrived; one that `is_free`
 * begins as soon as the one before it has begun.
 *
 * Data is dealt into blocks, numbered alike at both ends: the blocks of all ranks, or
 * parts of one vector. In an all-to-all block d is what goes d ranks further on.
 * Bytes of an operation are those of struct task: the vector of each rank where there is
 * one (broadcast, reduce, allreduce, scan, exscan), otherwise each block.
 */
#include "flitwarp/option.h"
#include "flitwarp/packet.h"

#include "workload/trace/trace.h"

struct plan {
    const struct collective_algorithm *algorithm;
    uint32_t ranks, root;
    uint64_t bytes;
    const uint64_t *counts; /* borrowed: of blocks that differ, as trace_counts(); NULL: all are of `bytes` */
    uint64_t segment;       /* bytes of a piece where a vector is sent in pieces */
};

/* Blocks first, first + 1 ... going round; with a bit those alone whose number has it. */
struct block_set {
    uint32_t first, count, bit;
};

struct plan_message {
    uint32_t peer; /* FW_NONE: there is no message, and the rest is 0 */
    uint64_t bytes;
    struct block_set blocks;
};

struct plan_step {
    struct plan_message send, receive;
    bool reduces; /* what arrives is combined with what is there; otherwise it takes its place */
    bool is_free;
};

struct plan_shape {
    uint32_t steps; /* of every rank; in some it may have nothing to do */
    uint32_t blocks;
};

enum plan_flag {
    PLAN_EVEN = 1,     /* needs blocks of one size; others go by the operation's first algorithm that does not */
    PLAN_SUMS = 2,     /* `reduces` in every step; of an exchange of blocks: but the last, which hands results back */
    PLAN_FREE = 4,     /* `is_free` in every step */
    PLAN_VECTOR = 8,   /* of a tree: the vector goes, not blocks of ranks; of a ring: its parts go, round with sums
                          first; of an exchange: it goes whole in each step, not in parts */
    PLAN_UP = 16,      /* of a tree: to the root */
    PLAN_HALVES = 32,  /* of an exchange: over distances that halve, */
    PLAN_DOUBLES = 64, /* or double, or both, one after the other */
};

struct collective_algorithm {
    const char *name;
    enum collective_operation operation;
    uint32_t flags; /* of enum plan_flag */
    struct plan_shape (*shape)(const struct plan *plan);
    void (*step)(const struct plan *plan, uint32_t rank, uint32_t step, struct plan_step *out); /* `out` is empty */
};

extern const struct collective_algorithm collective_algorithms[]; /* of all operations; the last has no name */

/* Algorithm `number` of an operation, from 0 on; NULL: there are no more. */
const struct collective_algorithm *collective_algorithm(enum collective_operation operation, uint32_t number);
/* The one of a name, which exists. */
const struct collective_algorithm *collective_find(enum collective_operation operation, const char *name);

/* The algorithms that a configuration picks: numbers as above, of the operations that have a choice. */
#define COLLECTIVE_SETTINGS(type) /* by name, or by operation */                                                       \
    union {                                                                                                            \
        struct {                                                                                                       \
            type barrier, broadcast, reduce, allreduce, gather, scatter, allgather, reduce_scatter, alltoall;          \
        };                                                                                                             \
        type of[OPERATIONS];                                                                                           \
    }
struct collective_choice {
    COLLECTIVE_SETTINGS(uint32_t);
};
struct collective_sizes {
    COLLECTIVE_SETTINGS(uint64_t);
};
struct collective_settings {
    COLLECTIVE_SETTINGS(uint32_t);
    struct collective_choice large;     /* from these bytes on; 0: never */
    struct collective_sizes large_from; /* of an operation, as in struct task */
    uint64_t segment;
};
extern const struct option collective_options[];

/* `is_uneven`: blocks differ, also where this rank knows its own alone (`counts` is NULL then, `bytes` its own). */
struct plan plan_make(const struct collective_settings *settings, enum collective_operation operation, uint32_t ranks,
                      uint32_t root, uint64_t bytes, const uint64_t *counts, bool is_uneven);
/* Of a collective of a trace. */
struct plan plan_of_task(const struct collective_settings *settings, const struct trace *trace,
                         const struct task *task);
/* The number of a rank of the job in a communicator; its size: the rank is not in it. */
uint32_t communicator_place(const struct trace_communicator *communicator, uint32_t rank);
struct plan_shape plan_shape(const struct plan *plan);
struct plan_step plan_step(const struct plan *plan, uint32_t rank, uint32_t step);
