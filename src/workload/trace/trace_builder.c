/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds traces, see trace.h. What is added to a rank is staged in chunks, as tasks and
 * as pairs of tasks of which one waits. When the rank has ended, its tasks are laid out
 * in a row, the pairs are sorted by the task that is waited for, and the chunks are free
 * for the next rank.
 */
#include "workload/trace/trace.h"

#include "base/spill.h"
#include "base/table.h"
#include "base/text.h"
#include "flitwarp/random.h"
#include "workload/trace/collective.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ERRORS = 10 };
#define MOST_BYTES 1000000000000000u /* of a message: it is sent in pieces, which have to fit into memory */
#define MOST_PICOSECONDS                                                                                               \
    1000000000000000000u              /* of a task: a few follow each other before 64 bits of ticks are used up */
#define IN_MEMORY ((size_t)256 << 20) /* bytes of a trace, and of what is staged, before a file is used */

/* ---- arrays that grow without moving, many of them side by side ---- */

enum { FIRST_CHUNK = 512, LAST_CLASS = 11 }; /* bytes; each class is twice the one before, up to 1 MiB */

/* Where chunks come from. */
struct chunk_store {
    struct spill *spill;        /* owned */
    void *free[LAST_CLASS + 1]; /* lists of chunks that were given back */
};

/* A list of chunks, of class 0, 1, 2 ... LAST_CLASS, and all others of that one too. */
struct chunks {
    void **items; /* owned */
    uint32_t chunk_count, room;
    uint32_t count; /* of elements, all of one size that divides FIRST_CHUNK */
};

static uint32_t chunk_class(uint32_t chunk) { return chunk < LAST_CLASS ? chunk : LAST_CLASS; }

static void *chunks_at(const struct chunks *chunks, uint32_t index, size_t element_bytes)
{
    uint64_t per_unit = FIRST_CHUNK / element_bytes, unit = index / per_unit + 1; /* units of the first chunk, from 1 */
    uint32_t class = chunk_class(63 - (uint32_t)__builtin_clzll(unit));
    uint64_t first = unit >> class << class, chunk = class + (unit >> class) - 1; /* unit of its chunk, and that one */
    return (unsigned char *)chunks->items[chunk] + (index - (first - 1) * per_unit) * element_bytes;
}

/* An element behind the last, not initialised. */
static void *chunks_add(struct chunks *chunks, struct chunk_store *store, size_t element_bytes)
{
    uint32_t class = chunk_class(chunks->chunk_count);
    uint64_t units = ((uint64_t)(chunks->chunk_count - class + 1) << class) - 1;
    if (chunks->count == units * (FIRST_CHUNK / element_bytes)) {
        void **head = &store->free[class], *chunk = *head;
        if (chunk)
            memcpy(head, chunk, sizeof *head);
        else
            chunk = spill_take(store->spill, (size_t)FIRST_CHUNK << class);
        chunks->items = memory_grow(chunks->items, chunks->chunk_count, &chunks->room, sizeof *chunks->items);
        chunks->items[chunks->chunk_count++] = chunk;
    }
    return chunks_at(chunks, chunks->count++, element_bytes);
}

/* Empties it. */
static void chunks_give(struct chunks *chunks, struct chunk_store *store)
{
    for (uint32_t i = 0; i < chunks->chunk_count; i++) {
        void **head = &store->free[chunk_class(i)];
        memcpy(chunks->items[i], head, sizeof *head);
        *head = chunks->items[i];
    }
    free(chunks->items);
    *chunks = (struct chunks){0};
}

/* ---- the builder ---- */

/* One task waits for another of its rank. */
struct wait {
    uint32_t edge; /* the task that waits, and how; see EDGE_TASK */
    uint32_t earlier;
};

struct staged {
    struct chunks tasks; /* struct task */
    struct chunks waits; /* struct wait */
    bool has_ended;
};

struct trace_builder {
    struct chunk_store store;
    struct staged *staged; /* owned, by rank */
    struct trace *trace;   /* owned */
    struct trace_rank *ranks;
    struct trace_communicator *communicators; /* owned until the trace is finished, as are the counts */
    uint32_t communicator_room;
    uint64_t *counts;
    uint32_t count_count;
    uint64_t count_room;
    struct table rows; /* of counts, by content */
    struct arena arena;
    struct errors errors; /* found so far */
};

struct trace_builder *trace_builder_create(void)
{
    struct trace_builder *builder = memory_take(sizeof *builder);
    builder->errors.arena = &builder->arena;
    builder->store.spill = spill_create(IN_MEMORY);
    builder->trace = memory_take(sizeof *builder->trace);
    builder->trace->spill = spill_create(IN_MEMORY);
    table_init(&builder->rows, sizeof(uint32_t), NULL);
    return builder;
}

void trace_builder_destroy(struct trace_builder *builder)
{
    if (!builder)
        return;
    for (uint32_t rank = 0; builder->trace && rank < builder->trace->rank_count; rank++) {
        chunks_give(&builder->staged[rank].tasks, &builder->store);
        chunks_give(&builder->staged[rank].waits, &builder->store);
    }
    trace_destroy(builder->trace);
    spill_destroy(builder->store.spill);
    table_release(&builder->rows);
    arena_release(&builder->arena);
    free(builder->staged);
    free(builder->communicators);
    free(builder->counts);
    free(builder);
}

uint32_t builder_ranks(const struct trace_builder *builder) { return builder->trace->rank_count; }

void builder_set_ranks(struct trace_builder *builder, uint32_t ranks)
{
    struct trace *trace = builder->trace;
    FW_CHECK(trace->rank_count == 0 && ranks > 0, "a trace has a number of ranks, once: %u after %u", ranks,
             trace->rank_count);
    trace->rank_count = ranks;
    trace->ranks = builder->ranks = spill_take(trace->spill, ranks * sizeof *builder->ranks);
    builder->staged = memory_take(ranks * sizeof *builder->staged);
    uint32_t *world = memory_take(ranks * sizeof *world);
    for (uint32_t i = 0; i < ranks; i++)
        world[i] = i;
    builder_communicator(builder, world, ranks);
    free(world);
}

uint32_t builder_add(struct trace_builder *builder, uint32_t rank, const struct task *task)
{
    FW_CHECK(rank < builder->trace->rank_count && !builder->staged[rank].has_ended, "rank %u takes no tasks", rank);
    struct chunks *tasks = &builder->staged[rank].tasks;
    FW_CHECK(tasks->count < EDGE_TASK, "rank %u has %u tasks already", rank, tasks->count);
    struct task *added = chunks_add(tasks, &builder->store, sizeof *task);
    *added = *task;
    added->waits = 0;
    return tasks->count - 1;
}

uint32_t builder_task_count(const struct trace_builder *builder, uint32_t rank)
{
    return builder->staged[rank].tasks.count;
}

struct task *builder_task(struct trace_builder *builder, uint32_t rank, uint32_t task)
{
    const struct chunks *tasks = &builder->staged[rank].tasks;
    FW_CHECK(task < tasks->count, "rank %u has %u tasks, not %u", rank, tasks->count, task);
    return chunks_at(tasks, task, sizeof(struct task));
}

void builder_wait(struct trace_builder *builder, uint32_t rank, uint32_t task, uint32_t earlier, bool on_start)
{
    struct staged *staged = &builder->staged[rank];
    FW_CHECK(earlier < staged->tasks.count, "rank %u has %u tasks, not %u", rank, staged->tasks.count, earlier);
    struct wait *wait = chunks_add(&staged->waits, &builder->store, sizeof *wait);
    *wait = (struct wait){.edge = task | (on_start ? EDGE_ON_START : 0), .earlier = earlier};
    builder_task(builder, rank, task)->waits++;
}

uint32_t builder_communicator(struct trace_builder *builder, const uint32_t *ranks, uint32_t size)
{
    struct trace *trace = builder->trace;
    builder->communicators = memory_grow(builder->communicators, trace->communicator_count, &builder->communicator_room,
                                         sizeof *builder->communicators);
    uint32_t *copy = spill_take(trace->spill, size * sizeof *copy);
    if (size)
        memcpy(copy, ranks, size * sizeof *copy);
    builder->communicators[trace->communicator_count] = (struct trace_communicator){.ranks = copy, .size = size};
    return trace->communicator_count++;
}

uint32_t builder_counts(struct trace_builder *builder, const uint64_t *counts, uint32_t count)
{
    struct table_key key = {{count, 0, 0}};
    for (uint32_t i = 0; i < count; i++)
        key.part[1] = random_mix(key.part[1] ^ counts[i]);
    uint32_t *row = table_put(&builder->rows, &key); /* index + 1: programs give the same counts over and over */
    if (*row && memcmp(&builder->counts[*row - 1], counts, count * sizeof *counts) == 0)
        return *row - 1;
    FW_CHECK(count < NO_COUNTS - builder->count_count, "no room for %u counts more", count);
    while (builder->count_room - builder->count_count < count) {
        builder->count_room = builder->count_room ? 2 * builder->count_room : 256;
        builder->counts = memory_resize(builder->counts, builder->count_room * sizeof *builder->counts);
    }
    if (count)
        memcpy(&builder->counts[builder->count_count], counts, count * sizeof *counts);
    *row = builder->count_count + 1;
    builder->count_count += count;
    return *row - 1;
}

/* ---- a rank has ended ---- */

static bool is_member(const struct trace_communicator *communicator, uint32_t rank)
{
    return communicator_place(communicator, rank) < communicator->size;
}

static const char *not_there(struct trace_builder *builder, const char *what)
{
    return arena_format(&builder->arena, "%s; there are ranks 0 to %u", what, builder->trace->rank_count - 1);
}

/* What is wrong with a task; NULL: nothing. */
static const char *builder_fault(struct trace_builder *builder, uint32_t rank, const struct task *task)
{
    const struct trace *trace = builder->trace;
    bool meets_others = task->kind != TASK_COMPUTE && task->kind != TASK_UNTIL && task->kind != TASK_JOIN;
    bool takes_any = task->kind == TASK_RECEIVE || task->kind == TASK_PROBE;
    if (!meets_others)
        return task->kind == TASK_JOIN || task->amount <= MOST_PICOSECONDS
                   ? NULL
                   : arena_format(&builder->arena, "more than a task can last; accepted: up to %g ns",
                                  (double)MOST_PICOSECONDS / 1e3);
    if (task->communicator >= trace->communicator_count)
        return not_there(builder, "there is no such communicator");
    if (task->peer >= trace->rank_count && !(takes_any && task->peer == FW_ANY))
        return not_there(builder, "there is no such rank");
    if (task->amount > MOST_BYTES && !takes_any)
        return arena_format(&builder->arena, "more bytes than a message can have; accepted: up to %llu",
                            (unsigned long long)MOST_BYTES);
    if (task->kind != TASK_COLLECTIVE)
        return NULL;
    if (!is_member(&builder->communicators[task->communicator], rank))
        return not_there(builder, "its rank is not in the communicator");
    return is_member(&builder->communicators[task->communicator], task->peer)
               ? NULL
               : not_there(builder, "its root is not in the communicator");
}

static void check_tasks(struct trace_builder *builder, uint32_t rank, const struct task_places *places)
{
    const struct trace_rank *done = &builder->ranks[rank];
    const struct task *checked = NULL; /* the last collective: the next one is often alike */
    for (uint32_t i = 0; i < done->task_count && builder->errors.count < MOST_ERRORS; i++) {
        const struct task *task = &done->tasks[i];
        if (task->kind == TASK_COLLECTIVE && checked && checked->communicator == task->communicator &&
            checked->peer == task->peer && task->amount <= MOST_BYTES)
            continue;
        const char *what = builder_fault(builder, rank, task);
        if (task->kind == TASK_COLLECTIVE && !what)
            checked = task;
        if (!what)
            continue;
        struct text text = {0};
        task_describe(task, i, places, &text);
        errors_add(&builder->errors, "rank %u, %s: %s", rank, text.chars, what);
        text_release(&text);
    }
}

/* Sorts the pairs by the task that is waited for, which keeps their order otherwise. */
static void make_edges(struct trace_builder *builder, const struct staged *staged, struct task *tasks,
                       struct trace_rank *rank)
{
    uint32_t *edges = spill_take(builder->trace->spill, staged->waits.count * sizeof *edges);
    uint32_t count = staged->tasks.count, first = 0;
    for (uint32_t i = 0; i <= count; i++)
        tasks[i].first_edge = 0;
    for (uint32_t i = 0; i < staged->waits.count; i++)
        tasks[((const struct wait *)chunks_at(&staged->waits, i, sizeof(struct wait)))->earlier].first_edge++;
    for (uint32_t i = 0; i <= count; i++) {
        uint32_t own = tasks[i].first_edge;
        tasks[i].first_edge = first;
        first += own;
    }
    for (uint32_t i = 0; i < staged->waits.count; i++) {
        const struct wait *wait = chunks_at(&staged->waits, i, sizeof *wait);
        edges[tasks[wait->earlier].first_edge++] = wait->edge;
    }
    for (uint32_t i = count; i-- > 0;) /* each is now where the next one begins */
        tasks[i + 1].first_edge = tasks[i].first_edge;
    tasks[0].first_edge = 0;
    rank->edges = edges;
}

void builder_end_rank(struct trace_builder *builder, uint32_t rank, const struct task_places *places)
{
    struct staged *staged = &builder->staged[rank];
    struct trace *trace = builder->trace;
    struct trace_rank *done = &builder->ranks[rank];
    FW_CHECK(!staged->has_ended, "rank %u has ended twice", rank);
    struct task *tasks = spill_take(trace->spill, (staged->tasks.count + (size_t)1) * sizeof *tasks);
    *done = (struct trace_rank){.tasks = tasks, .task_count = staged->tasks.count};
    for (uint32_t i = 0; i < staged->tasks.count; i++)
        tasks[i] = *(const struct task *)chunks_at(&staged->tasks, i, sizeof *tasks);
    make_edges(builder, staged, tasks, done);
    trace->task_count += staged->tasks.count;
    trace->edge_count += staged->waits.count;
    chunks_give(&staged->tasks, &builder->store);
    chunks_give(&staged->waits, &builder->store);
    staged->has_ended = true;
    check_tasks(builder, rank, places);
    task_order_check(done, rank, places, &builder->errors);
    if (builder->errors.count)
        return;
    task_order_number(done, trace->spill); /* its communicators exist, and it has no circles */
    for (uint32_t i = 0; i < done->collective_count; i++) {
        uint32_t task = done->collectives[i].task, ordinal = done->collectives[i].ordinal;
        struct trace_communicator *communicator = &builder->communicators[done->tasks[task].communicator];
        if (communicator->collectives <= ordinal)
            communicator->collectives = ordinal + 1;
    }
}

struct trace *builder_finish(struct trace_builder *builder, const char *where, struct errors *errors)
{
    struct trace *trace = builder->trace;
    for (uint32_t rank = 0; rank < trace->rank_count; rank++)
        if (!builder->staged[rank].has_ended)
            builder_end_rank(builder, rank, NULL);
    if (trace->rank_count == 0)
        errors_add(&builder->errors, "there are no ranks");
    for (const struct error_message *at = builder->errors.first; at; at = at->next)
        errors_add(errors, "%s: %s", where, at->text);
    if (builder->errors.count)
        return NULL;
    for (uint32_t i = 1; i < trace->communicator_count; i++)
        builder->communicators[i].first_collective =
            builder->communicators[i - 1].first_collective + builder->communicators[i - 1].collectives;
    struct trace_communicator *communicators =
        spill_take(trace->spill, trace->communicator_count * sizeof *communicators);
    memcpy(communicators, builder->communicators, trace->communicator_count * sizeof *communicators);
    uint64_t *counts = spill_take(trace->spill, builder->count_count * sizeof *counts);
    if (builder->count_count)
        memcpy(counts, builder->counts, builder->count_count * sizeof *counts);
    trace->communicators = communicators;
    trace->counts = counts;
    builder->trace = NULL;
    return trace;
}

/* ---- rows and columns of ranks, see flitwarp/collective.h ---- */

struct rank_groups rank_groups_make(struct trace_builder *builder, uint32_t size, uint32_t stride)
{
    struct rank_groups groups = {size, stride, FW_WORLD};
    uint32_t *ranks = memory_take(sizeof *ranks * size);
    for (uint32_t group = 0; group < builder_ranks(builder) / size; group++) {
        uint32_t first = group / stride * size * stride + group % stride;
        for (uint32_t i = 0; i < size; i++)
            ranks[i] = first + i * stride;
        uint32_t made = builder_communicator(builder, ranks, size);
        groups.first = group ? groups.first : made;
    }
    free(ranks);
    return groups;
}

uint32_t rank_group_of(const struct rank_groups *groups, uint32_t rank)
{
    return groups->first + rank / (groups->size * groups->stride) * groups->stride + rank % groups->stride;
}
