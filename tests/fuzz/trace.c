/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a trace. Each reader is a target of its own, by the name that it is
 * registered by. What a reader refuses it gives a reason for, and what it takes can be
 * walked through. Formats of several files have another target, whose parts are those.
 */
#include "fuzz.h"

#include "config/registry.h"
#include "metrics/report.h"
#include "workload/trace/trace.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_RANKS = 64, /* where a reader makes as many as there is room for */
    MOST_FILES = 4,
};

static const struct trace_reader_ops *reader;

void fuzz_trace_list(void)
{
    for (const struct registration *at = registry_kind("trace_reader"); at; at = registry_next(at))
        puts(at->component->name);
}

bool fuzz_trace_find(const char *name)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    reader = trace_reader_find(&(struct trace_source){.path = "fuzz"}, name, &errors);
    arena_release(&arena);
    return reader;
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
                FW_CHECK((first[i] & EDGE_TASK) < rank->task_count, "rank %u has no task %u", number, first[i]);
            waits += rank->tasks[task].waits;
            edges += count;
        }
        FW_CHECK(waits == edges, "rank %u: %llu waits by %llu edges", number, (unsigned long long)waits,
                 (unsigned long long)edges);
    }
}

/* What `flitwarp trace-info` shows of a file beside the trace; complaints are right, too. */
static void show(const struct trace_source *source)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    FILE *nowhere = fopen("/dev/null", "w");
    if (reader->describe)
        reader->describe(source, &(struct report){.block = json_object(&arena), .arena = &arena}, &errors);
    if (reader->list)
        reader->list(source, nowhere, &errors);
    fclose(nowhere);
    arena_release(&arena);
}

void fuzz_trace_run(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct trace_source source = {.path = "fuzz", .bytes = data, .size = size};
    struct trace_builder *builder = trace_builder_create();
    struct trace *trace = NULL;
    reader->looks_like(&source);
    FW_CHECK(trace_source_set(&source, reader, &(struct trace_format){.room = MOST_RANKS}, &errors), "%s",
             errors_text(&errors));
    if (reader->read(&source, builder, &errors))
        trace = builder_finish(builder, source.path, &errors);
    FW_CHECK(!trace == (errors.count > 0), "success and messages disagree");
    if (trace)
        walk(trace);
    show(&source);
    trace_destroy(trace);
    trace_builder_destroy(builder);
    arena_release(&arena);
}

/* Reads what lies in files by now. */
static void read_files(const char *path)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct trace *trace = trace_read(path, &(struct trace_format){.room = MOST_RANKS}, &errors);
    FW_CHECK(!trace == (errors.count > 0), "success and messages disagree");
    if (trace)
        walk(trace);
    trace_destroy(trace);
    arena_release(&arena);
}

/* The parts of an input as files by these names. */
static void write_files(const uint8_t *data, size_t size, const char *const *names)
{
    for (int i = 0; i < MOST_FILES; i++) {
        size_t length;
        char *part = fuzz_part(&data, &size, &length);
        fuzz_file(names[i], part, length);
        free(part);
    }
}

FUZZ_TARGET(dumpi_ranks)
{
    write_files(data, size, (const char *const[]){"made.meta", "made-0000.bin", "made-0001.bin", "made-0002.bin"});
    read_files("made.meta");
}

FUZZ_TARGET(chakra_ranks)
{
    write_files(data, size, (const char *const[]){"made.0.et", "made.1.et", "made.2.et", "made.groups.json"});
    read_files("made.0.et");
}

/* A schedule that is right is also replayed. */
FUZZ_TARGET(replay)
{
    fuzz_file("made.goal", data, size);
    fuzz_simulate(fuzz_small,
                  (char *[]){"workload.applications=[{\"type\": \"trace\", \"file\": \"made.goal\", \"limit\": 1000}]"},
                  1);
}
