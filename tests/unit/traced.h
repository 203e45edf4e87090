/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* A trace read from bytes of a test: the reader is found by them, and is the one expected. */
#include "test.h"

#include "config/json.h"
#include "workload/trace/trace.h"

#include <string.h>

struct traced {
    struct arena arena;
    struct errors errors;
    struct trace *trace; /* NULL: refused */
};

/* With settings of the reader as the text of an object, and room for so many ranks. */
static inline void traced_open_with(struct traced *traced, const char *format, const char *settings, uint32_t room,
                                    const void *bytes, size_t size)
{
    *traced = (struct traced){.trace = NULL};
    traced->errors.arena = &traced->arena;
    struct trace_format how = {.settings = json_from_word(&traced->arena, settings), .room = room};
    struct trace_source source = {.path = "made", .bytes = bytes, .size = size};
    const struct trace_reader_ops *reader = trace_reader_find(&source, "auto", &traced->errors);
    EXPECT_TEXT_EQ(reader ? reader->name : "none", format);
    if (!reader)
        return;
    struct trace_builder *builder = trace_builder_create();
    if (trace_source_set(&source, reader, &how, &traced->errors) && reader->read(&source, builder, &traced->errors))
        traced->trace = builder_finish(builder, source.path, &traced->errors);
    EXPECT((traced->trace != NULL) == (traced->errors.count == 0));
    trace_builder_destroy(builder);
}

static inline void traced_open(struct traced *traced, const char *format, const void *bytes, size_t size)
{
    traced_open_with(traced, format, "{}", 0, bytes, size);
}

static inline void traced_close(struct traced *traced)
{
    trace_destroy(traced->trace);
    arena_release(&traced->arena);
}

/* A trace that is fine as far as its format is recognised, and refused with this text. */
static inline void expect_refused(const char *format, const void *bytes, size_t size, const char *text)
{
    struct traced traced;
    traced_open(&traced, format, bytes, size);
    EXPECT(traced.trace == NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&traced.errors), text);
    traced_close(&traced);
}

static inline const struct task *traced_task(const struct traced *traced, uint32_t rank, uint32_t task)
{
    return &traced->trace->ranks[rank].tasks[task];
}

/* Whether one task of a rank waits for another, to end or to begin. */
static inline bool waits_for(const struct traced *traced, uint32_t rank, uint32_t task, uint32_t earlier, bool on_start)
{
    uint32_t count;
    const uint32_t *edges = trace_edges(&traced->trace->ranks[rank], earlier, &count);
    for (uint32_t i = 0; i < count; i++)
        if (edges[i] == (task | (on_start ? EDGE_ON_START : 0)))
            return true;
    return false;
}
