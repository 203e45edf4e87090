/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * One rank's file of a DUMPI trace (see docs/formats.md): where its sections lie, and
 * its calls one after the other. The file is mapped and nothing of it is copied: a
 * call's arguments point into it and are decoded when they are asked for.
 */
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
};

/* A function: "MPI_Send", and its arguments in the order of the file. */
struct dumpi_function {
    const char *name;
    const char *arguments; /* see functions.c; NULL: never written */
    uint8_t does;          /* enum dumpi_meaning */
    uint8_t with;
};
extern const struct dumpi_function dumpi_functions[DUMPI_CALLS];

struct dumpi_file {
    struct trace_source source;
    const unsigned char *bytes; /* the source's */
    size_t size;
    struct errors *errors;           /* borrowed */
    uint32_t version;                /* 10000 * major + 100 * minor + the last part */
    size_t body, footer, type_sizes; /* offsets; 0: not there */
    uint32_t type_count;
    uint32_t bias[2]; /* seconds to add: CPU clock, wall clock */
    /* Where the reading of calls is. */
    size_t at, end;
    uint64_t last_seconds[2]; /* unwrapped */
    bool is_finalized;
};

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
    size_t offset;
    bool has_cpu, has_wall;
    uint64_t cpu_ns[2], wall_ns[2]; /* entered, returned */
    uint32_t argument_count;
    struct dumpi_argument arguments[DUMPI_ARGUMENTS];
};

/* Whether it is about a file: the time that it takes is no time of the network. */
static inline bool dumpi_is_about_files(const struct dumpi_call *call)
{
    return call->id >= DUMPI_FIRST_FILE && call->id <= DUMPI_LAST_FILE;
}

/* From the entry to the return, where the file has times. */
static inline uint64_t dumpi_duration_ns(const struct dumpi_call *call)
{
    const uint64_t *times = call->has_wall ? call->wall_ns : call->cpu_ns;
    return (call->has_wall || call->has_cpu) && times[1] > times[0] ? times[1] - times[0] : 0;
}

/* Finds the sections of a file, which stays open as long. False, with an error that names the file and the offset. */
bool dumpi_read_sections(struct dumpi_file *file, const struct trace_source *source, struct errors *errors);
/* Whether a file begins as one of these does, or as one of the wrong byte order: that is told when it is opened. */
bool dumpi_has_magic(const struct trace_source *source);

/* The next call; false at the end of the stream, or with an error. */
bool dumpi_next(struct dumpi_file *file, struct dumpi_call *call);
/* Back to the first call. */
void dumpi_rewind(struct dumpi_file *file);
/* Adds "FILE: at byte OFFSET: ..."; returns false. */
bool dumpi_error(const struct dumpi_file *file, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same of a call, with its function's name before what is wrong. */
#define dumpi_call_error(file, call, format, ...)                                                                      \
    dumpi_error(file, (call)->offset, "%s: " format, (call)->function->name, ##__VA_ARGS__)

/* How often a function was called, and how often it was left out of the file; 0 where the footer is not there. */
uint32_t dumpi_called(const struct dumpi_file *file, uint32_t id);
uint32_t dumpi_ignored(const struct dumpi_file *file, uint32_t id);
/* Bytes of a datatype; 0 where the file does not say. */
uint32_t dumpi_type_size(const struct dumpi_file *file, uint32_t type);

/* NULL when the call has none of this name: calls of other versions, or of ranks that are not the root. */
const struct dumpi_argument *dumpi_find(const struct dumpi_call *call, const char *name);
/* The first of two names that the call has. */
const struct dumpi_argument *dumpi_find_either(const struct dumpi_call *call, const char *name, const char *other);
/* One number of an argument that is numbers; 0 when there are fewer, or no argument. */
int64_t dumpi_number(const struct dumpi_argument *argument, uint32_t index);
/* The same by name; 0 where the call has none. */
int64_t dumpi_value(const struct dumpi_call *call, const char *name);
/* The status of that index in an argument of statuses. */
struct dumpi_status dumpi_status(const struct dumpi_file *file, const struct dumpi_argument *argument, uint32_t index);

/* The whole file as readable lines, as a listing of the calls with names and values of their arguments. */
void dumpi_list(struct dumpi_file *file, FILE *out);

/* Big-endian numbers. */
static inline uint32_t dumpi_u16(const unsigned char *at) { return (uint32_t)at[0] << 8 | at[1]; }
static inline uint32_t dumpi_u32(const unsigned char *at) { return dumpi_u16(at) << 16 | dumpi_u16(at + 2); }
static inline uint64_t dumpi_u64(const unsigned char *at) { return (uint64_t)dumpi_u32(at) << 32 | dumpi_u32(at + 4); }
