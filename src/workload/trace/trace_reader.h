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

/* The reader of that name, or for "auto" the one that recognises the file; NULL with errors. */
const struct trace_reader_ops *trace_reader_find(const struct trace_source *source, const char *format,
                                                 struct errors *errors);
/* All of it: opens, finds the reader, reads, builds. NULL with errors. */
struct trace *trace_read(const char *path, const char *format, struct errors *errors);
