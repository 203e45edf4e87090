/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * One rank's file of a DUMPI trace (see docs/formats.md): where its sections lie, and
 * its calls one after the other. The file is mapped and nothing of it is copied: a
 * call's arguments point into it and are decoded when they are asked for.
 */
#include "workload/trace/trace.h"

#include <stdint.h>

enum {
    DUMPI_CALLS = 293,    /* ids from 0; not all of them are ever written */
    DUMPI_COUNTED = 291,  /* those that the footer counts; the last is the sum of all */
    DUMPI_ARGUMENTS = 12, /* more than any call has */
};

/* Calls that the conversion looks at by their id. */
/* clang-format off */
enum dumpi_call_id {
    DUMPI_SEND = 0, DUMPI_RECV = 1, DUMPI_BSEND = 3, DUMPI_SSEND = 4, DUMPI_RSEND = 5, DUMPI_ISEND = 8,
    DUMPI_IBSEND = 9, DUMPI_ISSEND = 10, DUMPI_IRSEND = 11, DUMPI_IRECV = 12, DUMPI_WAIT = 13, DUMPI_TEST = 14,
    DUMPI_REQUEST_FREE = 15, DUMPI_WAITANY = 16, DUMPI_TESTANY = 17, DUMPI_WAITALL = 18, DUMPI_TESTALL = 19,
    DUMPI_WAITSOME = 20, DUMPI_TESTSOME = 21, DUMPI_IPROBE = 22, DUMPI_PROBE = 23, DUMPI_CANCEL = 24,
    DUMPI_SEND_INIT = 26, DUMPI_BSEND_INIT = 27, DUMPI_SSEND_INIT = 28, DUMPI_RSEND_INIT = 29, DUMPI_RECV_INIT = 30,
    DUMPI_START = 31, DUMPI_STARTALL = 32, DUMPI_SENDRECV = 33, DUMPI_SENDRECV_REPLACE = 34,
    DUMPI_TYPE_CONTIGUOUS = 35, DUMPI_TYPE_VECTOR = 36, DUMPI_TYPE_HVECTOR = 37, DUMPI_TYPE_INDEXED = 38,
    DUMPI_TYPE_HINDEXED = 39, DUMPI_TYPE_STRUCT = 40, DUMPI_BARRIER = 52, DUMPI_BCAST = 53, DUMPI_GATHER = 54,
    DUMPI_GATHERV = 55, DUMPI_SCATTER = 56, DUMPI_SCATTERV = 57, DUMPI_ALLGATHER = 58, DUMPI_ALLGATHERV = 59,
    DUMPI_ALLTOALL = 60, DUMPI_ALLTOALLV = 61, DUMPI_REDUCE = 62, DUMPI_ALLREDUCE = 65, DUMPI_REDUCE_SCATTER = 66,
    DUMPI_SCAN = 67, DUMPI_COMM_GROUP = 72, DUMPI_GROUP_UNION = 73, DUMPI_GROUP_INTERSECTION = 74,
    DUMPI_GROUP_DIFFERENCE = 75, DUMPI_GROUP_INCL = 76, DUMPI_GROUP_EXCL = 77, DUMPI_GROUP_RANGE_INCL = 78,
    DUMPI_GROUP_RANGE_EXCL = 79, DUMPI_COMM_DUP = 84, DUMPI_COMM_CREATE = 85, DUMPI_COMM_SPLIT = 86,
    DUMPI_COMM_FREE = 87, DUMPI_COMM_REMOTE_GROUP = 90, DUMPI_INTERCOMM_CREATE = 91, DUMPI_INTERCOMM_MERGE = 92, DUMPI_CART_CREATE = 99,
    DUMPI_GRAPH_CREATE = 101, DUMPI_CART_SUB = 111, DUMPI_FINALIZE = 125, DUMPI_COMM_ACCEPT = 130,
    DUMPI_COMM_CONNECT = 131, DUMPI_COMM_JOIN = 134, DUMPI_COMM_SPAWN = 135, DUMPI_COMM_SPAWN_MULTIPLE = 136,
    DUMPI_ACCUMULATE = 141, DUMPI_GET = 142, DUMPI_PUT = 143, DUMPI_WIN_COMPLETE = 144, DUMPI_WIN_CREATE = 145,
    DUMPI_WIN_FENCE = 146, DUMPI_WIN_FREE = 147, DUMPI_WIN_UNLOCK = 153,
    DUMPI_ALLTOALLW = 155, DUMPI_EXSCAN = 156, DUMPI_TYPE_DUP = 178, DUMPI_TYPE_CREATE_HINDEXED = 218,
    DUMPI_TYPE_CREATE_HVECTOR = 219, DUMPI_TYPE_CREATE_INDEXED_BLOCK = 220, DUMPI_TYPE_CREATE_RESIZED = 221,
    DUMPI_TYPE_CREATE_STRUCT = 222, DUMPI_TYPE_CREATE_SUBARRAY = 223,
    DUMPI_FILE_OPEN = 230, DUMPI_FILE_SYNC = 281,
};
/* clang-format on */

/* A function: "MPI_Send", and its arguments in the order of the file. */
struct dumpi_function {
    const char *name;
    const char *arguments; /* see dumpi_functions.c; NULL: never written */
};
extern const struct dumpi_function dumpi_functions[DUMPI_CALLS];

struct dumpi_file {
    struct trace_source source;
    const unsigned char *bytes; /* the source's */
    size_t size;
    struct errors *errors;                   /* borrowed */
    uint32_t version;                        /* 10000 * major + 100 * minor + the last part */
    uint64_t start_time;                     /* Unix seconds */
    size_t body, header, footer, type_sizes; /* offsets; 0: not there */
    uint32_t type_count;
    uint32_t bias[2]; /* seconds to add: CPU clock, wall clock */
    /* Where the reading of calls is. */
    size_t at, end;
    uint64_t last_seconds[2]; /* unwrapped */
    bool is_finalized;
};

/* What a letter of a signature means is in dumpi_functions.c. */
struct dumpi_argument {
    const char *name;
    uint32_t name_length;
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
    size_t offset;
    bool has_cpu, has_wall;
    uint64_t cpu_ns[2], wall_ns[2]; /* entered, returned */
    uint32_t argument_count;
    struct dumpi_argument arguments[DUMPI_ARGUMENTS];
};

/* Whether it is about a file: the time that it takes is no time of the network. */
static inline bool dumpi_is_about_files(const struct dumpi_call *call)
{
    return call->id >= DUMPI_FILE_OPEN && call->id <= DUMPI_FILE_SYNC;
}

/* From the entry to the return, where the file has times. */
static inline uint64_t dumpi_duration_ns(const struct dumpi_call *call)
{
    const uint64_t *times = call->has_wall ? call->wall_ns : call->cpu_ns;
    return (call->has_wall || call->has_cpu) && times[1] > times[0] ? times[1] - times[0] : 0;
}

/* Finds the sections of a file, which stays open as long. False, with an error that names the file and the offset. */
bool dumpi_read_sections(struct dumpi_file *file, const struct trace_source *source, struct errors *errors);
/* The same for a path; trace_source_close(&file->source) closes it. */
bool dumpi_open(struct dumpi_file *file, const char *path, struct errors *errors);
/* Whether a file begins as one of these does, or as one of the wrong byte order: that is told when it is opened. */
bool dumpi_has_magic(const unsigned char *head, size_t size);

/* The next call; false at the end of the stream, or with an error. */
bool dumpi_next(struct dumpi_file *file, struct dumpi_call *call);
/* Back to the first call. */
void dumpi_rewind(struct dumpi_file *file);
/* Adds "FILE: byte OFFSET: ..."; returns false. */
bool dumpi_error(const struct dumpi_file *file, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* How often a function was called, and how often it was left out of the file; 0 where the footer is not there. */
uint32_t dumpi_called(const struct dumpi_file *file, uint32_t id);
uint32_t dumpi_ignored(const struct dumpi_file *file, uint32_t id);
/* Bytes of a datatype; 0 where the file does not say. */
uint32_t dumpi_type_size(const struct dumpi_file *file, uint32_t type);

/* NULL when the call has none of this name: calls of other versions, or of ranks that are not the root. */
const struct dumpi_argument *dumpi_find(const struct dumpi_call *call, const char *name);
/* One number of an argument that is numbers; 0 when there are fewer. */
int64_t dumpi_number(const struct dumpi_argument *argument, uint32_t index);
/* The same by name; 0 where the call has none. */
int64_t dumpi_value(const struct dumpi_call *call, const char *name);
/* The status of that index in an argument of statuses. */
struct dumpi_status dumpi_status(const struct dumpi_file *file, const struct dumpi_argument *argument, uint32_t index);

/* The whole file as readable lines, as a listing of the calls with names and values of their arguments. */
bool dumpi_list(struct dumpi_file *file, FILE *out);

/* Big-endian numbers. */
static inline uint32_t dumpi_u16(const unsigned char *at) { return (uint32_t)at[0] << 8 | at[1]; }
static inline uint32_t dumpi_u32(const unsigned char *at) { return dumpi_u16(at) << 16 | dumpi_u16(at + 2); }
static inline uint64_t dumpi_u64(const unsigned char *at) { return (uint64_t)dumpi_u32(at) << 32 | dumpi_u32(at + 4); }
