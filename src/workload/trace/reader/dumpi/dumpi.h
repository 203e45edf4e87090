/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A DUMPI trace (see docs/formats.md): a file for each rank, its calls one after the other (file.c), the ranks of
 * its communicators (communicators.c), what becomes of the calls (tasks.c), and of uneven blocks (rows.c). Files are mapped
 * and nothing of them is copied: a call's arguments point into them and are decoded when they are asked for.
 */
#include "base/table.h"
#include "workload/trace/trace.h"

enum {
    DUMPI_CALLS = 293,      /* ids from 0; not all of them are ever written */
    DUMPI_COUNTED = 291,    /* those that the footer counts; the last is the sum of all */
    DUMPI_ARGUMENTS = 12,   /* more than any call has */
    DUMPI_FIRST_FILE = 230, /* the calls about files, up to: */
    DUMPI_LAST_FILE = 281,
};

/* What a call means to the replay. */
enum dumpi_meaning {
    DUMPI_NOTHING,
    DUMPI_FINALIZE,
    DUMPI_SEND, /* with flags of a task, as all that send */
    DUMPI_RECEIVE,
    DUMPI_EXCHANGE, /* both at once */
    DUMPI_PROBE,
    DUMPI_START_SEND, /* makes a request */
    DUMPI_START_RECEIVE,
    DUMPI_KEEP_SEND, /* makes a request that DUMPI_START starts, over and over */
    DUMPI_KEEP_RECEIVE,
    DUMPI_START,
    DUMPI_END, /* waits for requests, or tests them */
    DUMPI_CANCEL,
    DUMPI_FORGET,     /* frees a request */
    DUMPI_COLLECTIVE, /* with an operation */
    DUMPI_WINDOW,
    DUMPI_PUT,
    DUMPI_GET,
    DUMPI_FENCE,    /* ends an epoch, where all ranks of the window meet */
    DUMPI_COMPLETE, /* ends one at this rank alone */
    DUMPI_TYPE,
    DUMPI_GROUP, /* of a communicator */
    DUMPI_REMOTE_GROUP,
    DUMPI_GROUP_PART, /* ranks of a group, or those that are left without them */
    DUMPI_GROUP_REST,
    DUMPI_GROUP_UNION,
    DUMPI_GROUP_INTERSECTION,
    DUMPI_GROUP_DIFFERENCE,
    DUMPI_COPY, /* a communicator of the same ranks; from here on those that make one of another */
    DUMPI_CREATE,
    DUMPI_SPLIT,
    DUMPI_GRID,
    DUMPI_SUBGRID,
    DUMPI_JOIN, /* of two groups */
    DUMPI_MERGE,
    DUMPI_STRANGERS, /* a communicator with processes that are not in the trace */
    DUMPI_MEANINGS,
};

/* A function: "MPI_Send", and its arguments in the order of the file. */
struct dumpi_function {
    const char *name;
    const char *arguments; /* see functions.c; NULL: never written */
    uint8_t does;          /* enum dumpi_meaning */
    uint8_t with;
};
extern const struct dumpi_function dumpi_functions[DUMPI_CALLS];

/* What a letter of a signature means is in functions.c. */
struct dumpi_argument {
    const char *name; /* up to a comma or the end */
    char letter;
    bool is_array, is_nested; /* nested: an array of arrays */
    uint32_t count;           /* elements; 1 for a scalar */
    const unsigned char *elements;
};

struct dumpi_status {
    int32_t bytes, source, tag;
    int8_t is_cancelled, error;
};

struct dumpi_call {
    uint32_t id;
    uint32_t thread;
    const struct dumpi_function *function;
    uint32_t does; /* the function's */
    size_t offset;
    bool has_cpu, has_wall;
    uint64_t cpu_ns[2], wall_ns[2]; /* entered, returned */
    uint32_t argument_count;
    struct dumpi_argument arguments[DUMPI_ARGUMENTS];
};

/* A rank's file and the reading of it. */
struct dumpi_rank {
    struct trace_source source;
    struct errors *errors; /* borrowed */
    uint32_t number;
    uint32_t version;                /* 10000 * major + 100 * minor + the last part */
    size_t body, footer, type_sizes; /* offsets; 0: not there */
    uint32_t type_count;
    uint32_t bias[2];         /* seconds to add: CPU clock, wall clock */
    size_t at, end;           /* of the calls that are to be read */
    uint64_t last_seconds[2]; /* unwrapped */
    bool is_finalized;
    struct dumpi_call call;         /* the latest */
    struct table types;             /* that its calls have made so far, by id */
    struct dumpi_job *job;          /* borrowed; what follows is of communicators.c */
    uint32_t made_count;            /* communicators that its calls have made so far */
    struct dumpi_communicator *old; /* of which its latest call makes others, when all ranks have come; NULL: none */
};

/* ---- file.c ---- */

/* Finds the sections of a file, which stays open as long. False, with an error that names the file and the offset. */
bool dumpi_rank_open(struct dumpi_rank *rank, const struct trace_source *source, struct errors *errors);
void dumpi_rank_release(struct dumpi_rank *rank);
/* Whether a file begins as one of these does, or as one of the wrong byte order: that is told when it is opened. */
bool dumpi_has_magic(const struct trace_source *source);
/* The next call; false at the end of the stream, or with an error. */
bool dumpi_next(struct dumpi_rank *rank);
/* Back to the first call. */
void dumpi_rewind(struct dumpi_rank *rank);
/* Adds "FILE: at byte OFFSET: ..."; returns false. */
#define dumpi_error(rank, offset, format, ...)                                                                         \
    errors_add((rank)->errors, "%s: at byte %zu: " format, (rank)->source.path, (size_t)(offset), ##__VA_ARGS__)
/* The same of the latest call, with its function's name before what is wrong. */
#define dumpi_call_error(rank, format, ...)                                                                            \
    dumpi_error(rank, (rank)->call.offset, "%s: " format, (rank)->call.function->name, ##__VA_ARGS__)

/* How often a function was called, or was left out of the file; 0 where the footer is not there. */
uint32_t dumpi_called(const struct dumpi_rank *rank, uint32_t id, bool is_left_out);
/* Bytes of a datatype; 0 where the file does not say. */
uint32_t dumpi_type_size(const struct dumpi_rank *rank, uint32_t type);
/* Whether the latest call is about a file, and for how long, where the file has times: that is no time of the network. */
bool dumpi_is_about_files(const struct dumpi_rank *rank, uint64_t *ns);

/* An argument of the latest call. NULL where it has none of this name: in other versions, or at ranks that are not the root. */
const struct dumpi_argument *dumpi_find(const struct dumpi_rank *rank, const char *name);
/* The first of two names that the call has. */
const struct dumpi_argument *dumpi_find_either(const struct dumpi_rank *rank, const char *name, const char *other);
/* One number of an argument that is numbers; 0 when there are fewer, or no argument. */
int64_t dumpi_number(const struct dumpi_argument *argument, uint32_t index);
/* The same by name; 0 where the call has none. */
int64_t dumpi_value(const struct dumpi_rank *rank, const char *name);
/* The status of that index in an argument of statuses. */
struct dumpi_status dumpi_status(const struct dumpi_rank *rank, const struct dumpi_argument *argument, uint32_t index);

/* Big-endian numbers. */
static inline uint32_t dumpi_u16(const unsigned char *at) { return (uint32_t)at[0] << 8 | at[1]; }
static inline uint32_t dumpi_u32(const unsigned char *at) { return dumpi_u16(at) << 16 | dumpi_u16(at + 2); }
static inline uint64_t dumpi_u64(const unsigned char *at) { return (uint64_t)dumpi_u32(at) << 32 | dumpi_u32(at + 4); }

/* Bytes of `count` elements; false, with an error at the latest call, when count or size are not known. */
bool dumpi_bytes(struct dumpi_rank *rank, int64_t count, int64_t type, uint64_t *bytes);

/* ---- communicators.c ---- */

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

struct dumpi_job {
    uint32_t count;
    struct dumpi_rank *ranks;
    bool is_alone;                 /* a file by another name, opened by somebody else: a job of one rank */
    struct trace_builder *builder; /* borrowed, as is the next */
    struct arena *arena;
    struct dumpi_communicator *world;
    struct table handles;   /* by rank and handle: the communicator */
    struct table lasting;   /* those that no call made, by kind and rank or handle */
    struct table made;      /* by rank and number: what its calls have made, in their order */
    struct table groups;    /* by rank and handle */
    bool *is_marked;        /* by rank of the job, all false between calls */
    struct table row_calls; /* by rank, communicator and root: how many there were; see tasks.c */
    struct table rows;      /* by communicator, root and number of the call: the row + 1 */
    uint32_t *ready;        /* a stack of the ranks that can go on */
    uint32_t ready_count;
};

/* Follows all ranks, which are at their beginning again afterwards. False with errors. */
bool dumpi_communicators_find(struct dumpi_job *job);
void dumpi_communicators_release(struct dumpi_job *job);
/* For a rank that is followed again: takes note of a call that makes a communicator, if it does. */
void dumpi_communicators_follow(struct dumpi_rank *rank);
/* The communicator that an argument of the latest call names; NULL with an error. */
struct dumpi_communicator *dumpi_communicator_of(struct dumpi_rank *rank, const char *name);
/* The same, where one between two groups is an error. */
struct dumpi_communicator *dumpi_communicator_within(struct dumpi_rank *rank, const char *name);

/* ---- groups.c ---- */

/* A copy of the group that an argument names; false with an error when a call made none of this name. */
bool dumpi_group_of(struct dumpi_rank *rank, const char *name, struct dumpi_group *group);
/* Takes note of a call that makes a group, if it does. False with an error. */
bool dumpi_groups_follow(struct dumpi_rank *rank);

/* ---- tasks.c ---- */

/* The tasks of a rank's calls, to the end of its file. */
bool dumpi_convert(struct dumpi_rank *rank);
/* Keeps the row of bytes of a call whose root knows what the others need. False with an error. */
bool dumpi_row_keep(struct dumpi_rank *rank);
/* Whether the latest call is such a one: MPI_Gatherv and MPI_Scatterv. */
bool dumpi_row_is_kept(const struct dumpi_rank *rank);
/*
 * The number + 1 of the row that the root, or whoever came first, has kept; of an all-to-all a rank's own. `type`: the
 * argument that says of what its counts are. 0 with an error.
 */
uint32_t dumpi_row_find(struct dumpi_rank *rank, const struct dumpi_communicator *communicator, uint32_t root,
                        const char *type);
