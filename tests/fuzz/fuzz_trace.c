/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as a trace. The reader is the one that the program's own
 * name ends with (fuzz_trace_csv), so that each has a target and a corpus of its own;
 * --readers lists them. What a reader refuses it gives a reason for, and what it takes
 * can be walked through.
 */
#include "config/registry.h"
#include "workload/trace/trace_reader.h"

#include <stdlib.h>
#include <string.h>

#define NAME "fuzz_trace_"
#define MOST_RANKS 64 /* where a reader makes as many as there is room for */

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct trace_reader_ops *reader;

static void list_readers(void)
{
    for (const struct registration *at = registry_kind("trace_reader"); at; at = registry_next(at))
        puts(at->component->name);
    exit(0);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    if (*count > 1 && strcmp((*arguments)[1], "--readers") == 0)
        list_readers();
    const char *name = strstr((*arguments)[0], NAME);
    reader = trace_reader_find(&(struct trace_source){.path = "fuzz"}, name ? name + strlen(NAME) : "", &errors);
    CHECK(reader, "%s", errors_text(&errors));
    return 0;
}

/* Every edge leads to a task of its rank; those that wait know for how many. */
static void walk(const struct trace *trace)
{
    for (uint32_t number = 0; number < trace->rank_count; number++) {
        const struct trace_rank *rank = &trace->ranks[number];
        uint64_t waits = 0, edges = 0;
        for (uint32_t task = 0; task < rank->task_count; task++) {
            uint32_t count;
            const uint32_t *first = trace_edges(rank, task, &count);
            for (uint32_t i = 0; i < count; i++)
                CHECK((first[i] & EDGE_TASK) < rank->task_count, "rank %u has no task %u", number, first[i]);
            waits += rank->tasks[task].waits;
            edges += count;
        }
        CHECK(waits == edges, "rank %u: %llu waits by %llu edges", number, (unsigned long long)waits,
              (unsigned long long)edges);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct trace_source source = {.path = "fuzz", .bytes = data, .size = size};
    struct trace_builder *builder = trace_builder_create();
    struct trace *trace = NULL;
    reader->looks_like(data, size, source.path);
    CHECK(trace_source_set(&source, reader, &(struct trace_format){.room = MOST_RANKS}, &errors), "%s",
          errors_text(&errors));
    if (reader->read(&source, builder, &errors))
        trace = builder_finish(builder, source.path, &errors);
    CHECK(!trace == (errors.count > 0), "success and messages disagree");
    if (trace)
        walk(trace);
    trace_destroy(trace);
    trace_builder_destroy(builder);
    arena_release(&arena);
    return 0;
}
