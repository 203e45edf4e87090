/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of VEF traces, see vef_collectives.h. */
#include "workload/trace/reader/vef/vef_collectives.h"

#include <stdlib.h>

struct member {
    uint32_t place; /* + 1 */
    uint32_t collectives;
};

/* What a block is: sizes of blocks that are sent or received one by one may differ between ranks. */
enum vef_block { BLOCK_NONE, BLOCK_LARGER, BLOCK_SENT, BLOCK_RECEIVED, BLOCK_PART_OF_SENT };
/* The root is the one that does what no other does. */
enum vef_root { ROOT_NONE, ROOT_SENDS, ROOT_RECEIVES };

/* By VEF's number of the operation. */
static const struct {
    enum collective_operation operation;
    enum vef_block block;
    enum vef_root root;
} operations[] = {
    {OPERATION_BROADCAST, BLOCK_LARGER, ROOT_SENDS}, {OPERATION_REDUCE, BLOCK_LARGER, ROOT_RECEIVES},
    {OPERATION_ALLREDUCE, BLOCK_LARGER, ROOT_NONE},  {OPERATION_GATHER, BLOCK_SENT, ROOT_RECEIVES},
    {OPERATION_SCATTER, BLOCK_RECEIVED, ROOT_SENDS}, {OPERATION_ALLGATHER, BLOCK_SENT, ROOT_NONE},
    {OPERATION_BARRIER, BLOCK_NONE, ROOT_NONE},      {OPERATION_ALLTOALL, BLOCK_PART_OF_SENT, ROOT_NONE},
};
enum { VEF_OPERATIONS = sizeof operations / sizeof *operations };

void vef_collectives_init(struct vef_collectives *collectives, struct trace_lines *lines, struct trace_builder *builder,
                          uint64_t communicators)
{
    *collectives = (struct vef_collectives){.lines = lines, .builder = builder};
    collectives->communicators = memory_take(sizeof *collectives->communicators * communicators);
    table_init(&collectives->members, sizeof(struct member), NULL);
    table_init(&collectives->tasks, sizeof(uint32_t), NULL);
}

void vef_collectives_release(struct vef_collectives *collectives)
{
    table_release(&collectives->members);
    table_release(&collectives->tasks);
    arena_release(&collectives->arena);
    free(collectives->communicators);
    free(collectives->parts);
}

static struct member *member_of(struct vef_collectives *collectives, uint64_t communicator, uint64_t rank)
{
    return table_put(&collectives->members, &(struct table_key){{communicator, rank, 0}});
}

/* ---- communicators ---- */

bool vef_read_communicator(struct vef_collectives *collectives, uint32_t ranks)
{
    struct trace_lines *lines = collectives->lines;
    uint64_t number = collectives->communicator_count, id, rank;
    struct word word;
    bool is_world = true;
    uint32_t size = 0, room = (uint32_t)((lines->end - lines->at) / 2); /* a blank and a digit at least */
    uint32_t *members = arena_array(&collectives->arena, uint32_t, room);
    if (!lines_word(lines, &word) || !word_numbered(word, 'C', number, &id) || id != number)
        return lines_error(lines, WORD_FORMAT " where communicator C%llu is due", WORD_ARGUMENTS(word),
                           (unsigned long long)number);
    while (lines_word(lines, &word)) {
        struct member *member = word_number(word, ranks - 1, &rank) ? member_of(collectives, number, rank) : NULL;
        if (!member || member->place)
            return lines_error(lines,
                               WORD_FORMAT " where a rank of C%llu is due; accepted: ranks from 0 to %u, each once",
                               WORD_ARGUMENTS(word), (unsigned long long)number, ranks - 1);
        is_world &= rank == size;
        members[size++] = (uint32_t)rank;
        member->place = size;
    }
    if (size == 0)
        return lines_error(lines, "C%llu has no ranks", (unsigned long long)number);
    is_world &= size == ranks;
    collectives->communicators[number] =
        (struct vef_communicator){is_world ? WORLD : builder_communicator(collectives->builder, members, size), size};
    collectives->communicator_count++;
    return true;
}

/* ---- lines ---- */

bool vef_read_part(struct vef_collectives *collectives, struct word first, uint32_t ranks, struct vef_part *part)
{
    struct trace_lines *lines = collectives->lines;
    struct word word;
    *part = (struct vef_part){.line = lines->line};
    if (!word_numbered(first, 'G', INT64_MAX, &part->collective))
        return lines_error(lines, WORD_FORMAT " where a message's number or a collective such as G0 is due",
                           WORD_ARGUMENTS(first));
    if (!lines_need(lines, "a communicator", &word))
        return false;
    if (!word_numbered(word, 'C', collectives->communicator_count - 1, &part->communicator))
        return lines_error(lines, WORD_FORMAT " where a communicator is due; accepted: from C0 to C%llu",
                           WORD_ARGUMENTS(word), (unsigned long long)(collectives->communicator_count - 1));
    if (!lines_number(lines,
                      "an operation (0 broadcast, 1 reduce, 2 allreduce, 3 gather, 4 scatter, 5 allgather, 6 barrier, "
                      "7 alltoall)",
                      VEF_OPERATIONS - 1, &part->operation) ||
        !lines_number(lines, "a rank", ranks - 1, &part->rank) ||
        !lines_number(lines, "a number of bytes sent", INT64_MAX, &part->send_bytes) ||
        !lines_number(lines, "a number of bytes received", INT64_MAX, &part->receive_bytes))
        return false;
    struct member *member = member_of(collectives, part->communicator, part->rank);
    if (!member->place || vef_collective_task(collectives, part->collective, (uint32_t)part->rank) != ANY)
        return lines_error(lines, "rank %llu takes part in G%llu, and %s", (unsigned long long)part->rank,
                           (unsigned long long)part->collective,
                           member->place ? "has done so before" : "is not in the communicator");
    part->position = member->place - 1;
    part->order = member->collectives++;
    return true;
}

void vef_add_part(struct vef_collectives *collectives, const struct vef_part *part)
{
    collectives->parts = memory_grow(collectives->parts, collectives->count, &collectives->room, sizeof *part);
    collectives->parts[collectives->count++] = *part;
    uint32_t *task = table_put(&collectives->tasks, &(struct table_key){{part->collective, part->rank, 0}});
    *task = part->task + 1;
}

uint32_t vef_collective_task(struct vef_collectives *collectives, uint64_t collective, uint32_t rank)
{
    struct table_key key = {{collective, rank, 0}};
    uint32_t *task = table_put(&collectives->tasks, &key);
    if (*task)
        return *task - 1;
    table_remove(&collectives->tasks, &key);
    return ANY;
}

/* ---- all of one collective ---- */

static int by_collective(const void *left, const void *right)
{
    const struct vef_part *a = left, *b = right;
    if (a->collective != b->collective)
        return a->collective < b->collective ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

static bool agree(struct vef_collectives *collectives, const struct vef_part *parts, size_t count)
{
    struct trace_lines *lines = collectives->lines;
    for (size_t i = 1; i < count; i++) {
        const char *differs = parts[i].communicator != parts->communicator ? "communicator"
                              : parts[i].operation != parts->operation     ? "operation"
                              : parts[i].order != parts->order             ? "order among those of the communicator"
                                                                           : NULL;
        if (!differs)
            continue;
        lines->line = parts[i].line;
        return lines_error(lines, "G%llu has another %s than in line %llu", (unsigned long long)parts->collective,
                           differs, (unsigned long long)parts->line);
    }
    const struct vef_communicator *communicator = &collectives->communicators[parts->communicator];
    if (count == communicator->size)
        return true;
    lines->line = parts->line;
    return lines_error(lines, "%zu ranks take part in G%llu; its communicator C%llu has %u", count,
                       (unsigned long long)parts->collective, (unsigned long long)parts->communicator,
                       communicator->size);
}

/* The first where there is none, or where nothing is moved. */
static uint32_t root_of(const struct vef_part *parts, uint32_t count)
{
    enum vef_root root = operations[parts->operation].root;
    for (uint32_t i = 0; i < count; i++)
        if ((root == ROOT_RECEIVES && parts[i].receive_bytes) || (root == ROOT_SENDS && parts[i].send_bytes))
            return i;
    return 0;
}

static uint64_t block_of(const struct vef_part *part, uint32_t count)
{
    switch (operations[part->operation].block) {
    case BLOCK_LARGER:
        return part->send_bytes > part->receive_bytes ? part->send_bytes : part->receive_bytes;
    case BLOCK_SENT:
        return part->send_bytes;
    case BLOCK_RECEIVED:
        return part->receive_bytes;
    case BLOCK_PART_OF_SENT:
        return part->send_bytes / count;
    default:
        return 0;
    }
}

/* The largest block; NO_COUNTS or the row of blocks that differ. A root keeps its own, which does not count. */
static uint32_t find_blocks(struct vef_collectives *collectives, const struct vef_part *parts, uint32_t count,
                            uint32_t root, uint64_t *largest)
{
    enum vef_block block = operations[parts->operation].block;
    uint64_t *blocks = memory_take(sizeof *blocks * count), smallest = UINT64_MAX;
    bool are_single = block == BLOCK_SENT || block == BLOCK_RECEIVED;
    *largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        blocks[i] = block_of(&parts[i], count);
        if (are_single && operations[parts->operation].root && i == root)
            continue;
        smallest = blocks[i] < smallest ? blocks[i] : smallest;
        *largest = blocks[i] > *largest ? blocks[i] : *largest;
    }
    uint32_t row = are_single && smallest < *largest ? builder_counts(collectives->builder, blocks, count) : NO_COUNTS;
    free(blocks);
    return row;
}

static void set_tasks(struct vef_collectives *collectives, const struct vef_part *parts, uint32_t count)
{
    uint64_t largest;
    uint32_t root = root_of(parts, count), row = find_blocks(collectives, parts, count, root, &largest);
    for (uint32_t i = 0; i < count; i++) {
        struct task *task = builder_task(collectives->builder, (uint32_t)parts[i].rank, parts[i].task);
        task->unit = (uint8_t)operations[parts->operation].operation;
        task->communicator = collectives->communicators[parts->communicator].number;
        task->peer = (uint32_t)parts[root].rank;
        task->amount = largest;
        task->tag = row;
    }
}

bool vef_collectives_finish(struct vef_collectives *collectives, uint64_t wanted)
{
    uint64_t found = 0;
    if (collectives->count)
        qsort(collectives->parts, collectives->count, sizeof *collectives->parts, by_collective);
    for (size_t first = 0, end; first < collectives->count; first = end, found++) {
        const struct vef_part *parts = &collectives->parts[first];
        for (end = first; end < collectives->count && collectives->parts[end].collective == parts->collective;)
            end++;
        if (!agree(collectives, parts, end - first))
            return false;
        set_tasks(collectives, parts, (uint32_t)(end - first));
    }
    return found == wanted ||
           errors_add(collectives->lines->errors, "%s: the header says %llu collectives, and there are %llu",
                      collectives->lines->source->path, (unsigned long long)wanted, (unsigned long long)found);
}
