/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Readers of trace files, one component each: they recognise a file by its content
 * and tell a builder what is in it.
 */
#include "flitwarp/component.h"

#include "config/json.h"
#include "workload/trace/trace_builder.h"

/* A file, mapped; a folder has no bytes. Readers of formats of several files open the others by its path. */
struct trace_source {
    const char *path;
    const unsigned char *bytes;
    size_t size;
    bool is_mapped;
    const void *config; /* what the reader's option rows filled; NULL: it has none */
    uint32_t room;      /* for so many ranks; 0: for any number */
};

/* How a file is to be read. */
struct trace_format {
    const char *name;      /* of the reader; NULL or "auto": found by the content of the file */
    const void *config;    /* its settings; NULL: to be read from: */
    struct json *settings; /* an object, completed on the way; NULL: all are at their defaults */
    uint32_t room;         /* ranks that there is place for; 0: any number */
};

struct trace_reader_ops {
    COMPONENT_HEAD;
    /* Whether the beginning of a file is of this format; `size` bytes of it are there. At most one reader may agree. */
    bool (*looks_like)(const unsigned char *head, size_t size, const char *path);
    /* Fills the builder, or adds errors that name file and line, or file and offset. */
    bool (*read)(const struct trace_source *source, struct trace_builder *builder, struct errors *errors);
    /* Adds members to what trace-info says: calls by name, say, and "missing": what the file lacks; optional. */
    void (*describe)(const struct trace_source *source, struct json *facts, struct arena *arena, struct errors *errors);
    /* Prints what is in the file as it is, record by record; optional. */
    void (*list)(const struct trace_source *source, FILE *out, struct errors *errors);
};
#define REGISTER_TRACE_READER(ops) REGISTER_COMPONENT("trace_reader", ops)

/* Maps a file; errors say why it cannot be read. Closed by trace_source_close. */
bool trace_source_open(struct trace_source *source, const char *path, struct errors *errors);
void trace_source_close(struct trace_source *source);
/* Tells the system that what lies before `offset` will not be read again: large files are read in little memory. */
void trace_source_done(const struct trace_source *source, size_t offset);

/* The reader of that name, or for "auto" and NULL the one that recognises the file; NULL with errors. */
const struct trace_reader_ops *trace_reader_find(const struct trace_source *source, const char *name,
                                                 struct errors *errors);
/* Gives the source what its reader needs to know of the format; the arena of the errors keeps it. False with errors. */
bool trace_source_set(struct trace_source *source, const struct trace_reader_ops *reader,
                      const struct trace_format *format, struct errors *errors);
/* All of it: opens, finds the reader, reads, builds. NULL with errors. Without a format all is found or at its default. */
struct trace *trace_read(const char *path, const struct trace_format *format, struct errors *errors);
