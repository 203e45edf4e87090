/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VEF traces of MPI programs (VEF3, and the older VEF and VEF2):
 *
 *     VEF3 2 3 1 1 2 0 1000          ranks, messages, communicators, collectives, lines of them, flag, ps a tick
 *     C0 0 1                         the ranks of each communicator
 *     0 0 1 64 4 100 -1              message 0 from 0 to 1 of 64 bytes, at tick 100
 *     1 1 0 8 6 20 0                 message 1, 20 ticks after 0 has been received
 *     2 0 0 0 1 0 0                  a wait for the end of the sending of 0
 *     G0 C0 2 0 8 8 2 5 1            rank 0 in collective 0, an allreduce, 5 ticks after 1 has been received
 *     G0 C0 2 1 8 8 5 9 1            rank 1, 9 ticks after 1 has been sent
 *
 * A line depends on nothing (0), on the sending (1) or reception (2) of a message, or on
 * a collective (3), which all come before it; 4 more: a message behind which its rank
 * goes on at once. What waits for the sending of such a one waits for its beginning,
 * unless it is a wait itself. The time is a delay behind that, or counts from the start.
 */
#include "flitwarp/trace_lines.h"

#include "base/table.h"

#include <math.h>
#include <stdlib.h>

#define MAX_RANKS (1u << 20)
#define SHORTEST_LINE 14 /* bytes of "0 0 0 0 0 0 -1" */
#define NON_BLOCKING 4u
#define DELAY_CPUS 15u

struct vef_config {
    double tick;
};

static const struct option vef_options[] = {
    OPTION_SECONDS(struct vef_config, tick, "\"1ns\"", 1e-12, 1,
                   "how long a tick is where the file has no clock, as those of VEF and VEF2"),
    OPTION_END,
};

enum dependency_kind { ON_NOTHING, ON_SENDING, ON_RECEPTION, ON_COLLECTIVE };

struct vef_header {
    uint64_t ranks, messages, communicators, collectives, parts, ps_per_tick;
};

/* By number; also a wait, whose task is both. */
struct vef_message {
    uint32_t source, destination;
    uint32_t send, receive;
    bool is_known, is_non_blocking;
};

struct vef_communicator {
    uint32_t number; /* of the builder */
    uint32_t size;
};

/* Each rank that takes part in a collective has a line of its own: what it is, its root and its sizes, shows behind the last. */
struct vef_part {
    uint64_t collective, communicator, operation, rank; /* as the file has them */
    uint64_t send_bytes, receive_bytes;
    uint64_t line;
    uint32_t task;
    uint32_t position; /* of the rank in the communicator */
    uint32_t order;    /* of the collective among those of the rank in the communicator */
};

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

struct vef {
    struct trace_lines lines;
    struct trace_builder *builder;
    struct vef_header header;
    struct arena arena; /* of what follows, and of the ranks of communicators */
    struct vef_message *messages;
    uint64_t message_count; /* so far */
    struct vef_communicator *communicators;
    struct table members;   /* (communicator, rank) to its place there and the collectives so far */
    struct table tasks;     /* (collective, rank) to a task + 1 */
    struct vef_part *parts; /* owned */
    uint32_t part_count, part_room;
};

struct dependency {
    enum dependency_kind kind;
    uint64_t code, time_ps;
    uint32_t task;
    bool on_start;
};

/* ---- header ---- */

static const char *const keywords[] = {"VEF3", "VEF2", "VEF", NULL};

/* Older files say no more than TRUE or FALSE as a flag, or have no clock behind it. */
static bool vef_read_header(struct vef *vef)
{
    struct trace_lines *lines = &vef->lines;
    struct vef_header *header = &vef->header;
    struct word keyword, flag, clock;
    uint64_t most = lines->source->size / SHORTEST_LINE;
    if (!lines_next(lines) || !lines_word(lines, &keyword) || !keywords[word_find(keyword, keywords)])
        return errors_add(lines->errors, "%s: the file does not begin with VEF3", lines->source->path);
    if (!lines_number(lines, "the number of ranks", MAX_RANKS, &header->ranks) ||
        !lines_number(lines, "the number of messages (a file of this size has no more than accepted)", most,
                      &header->messages) ||
        !lines_number(lines, "the number of communicators (a file of this size has no more than accepted)", most,
                      &header->communicators) ||
        !lines_number(lines, "the number of collectives", INT64_MAX, &header->collectives) ||
        !lines_number(lines, "the number of lines of collectives", INT64_MAX, &header->parts) ||
        !lines_need(lines, "a flag", &flag))
        return false;
    header->ps_per_tick = (uint64_t)llround(((const struct vef_config *)lines->source->config)->tick * 1e12);
    bool has_clock = lines_word(lines, &clock);
    if (!has_clock && word_is(keyword, "VEF3"))
        return lines_error(lines, "the line ends where the number of ps in a tick is due");
    if (has_clock && !(word_number(clock, 1000000000000, &header->ps_per_tick) && header->ps_per_tick > 0))
        return lines_refuse(lines, clock, "where the number of ps in a tick is due; accepted: from 1 to 1000000000000");
    if (has_clock && !lines_end(lines))
        return false;
    return (header->ranks && header->communicators) ||
           lines_error(lines, "%llu ranks and %llu communicators; accepted: 1 or more",
                       (unsigned long long)header->ranks, (unsigned long long)header->communicators);
}

static struct member *vef_member_of(struct vef *vef, uint64_t communicator, uint64_t rank)
{
    return table_put(&vef->members, &(struct table_key){{communicator, rank, 0}});
}

/* ---- communicators ---- */

static bool read_communicator(struct vef *vef, uint64_t number)
{
    struct trace_lines *lines = &vef->lines;
    uint32_t ranks = builder_ranks(vef->builder);
    uint64_t id, rank;
    struct word word;
    bool is_world = true;
    if (!lines_next(lines))
        return errors_add(lines->errors, "%s: the file ends where communicator C%llu is due", lines->source->path,
                          (unsigned long long)number);
    uint64_t most = (uint64_t)(lines->end - lines->at) / 2; /* a blank and a digit at least */
    uint32_t size = 0, *members = arena_array(&vef->arena, uint32_t, most < ranks ? most : ranks);
    if (!lines_word(lines, &word) || !word_numbered(word, 'C', number, &id) || id != number)
        return lines_refuse(lines, word, "where communicator C%llu is due", (unsigned long long)number);
    while (lines_word(lines, &word)) {
        struct member *member = word_number(word, ranks - 1, &rank) ? vef_member_of(vef, number, rank) : NULL;
        if (!member || member->place)
            return lines_refuse(lines, word, "where a rank of C%llu is due; accepted: ranks from 0 to %u, each once",
                                (unsigned long long)number, ranks - 1);
        is_world &= rank == size;
        members[size++] = (uint32_t)rank;
        member->place = size;
    }
    if (size == 0)
        return lines_error(lines, "C%llu has no ranks", (unsigned long long)number);
    is_world &= size == ranks;
    vef->communicators[number] =
        (struct vef_communicator){is_world ? FW_WORLD : builder_communicator(vef->builder, members, size), size};
    return true;
}

/* ---- lines of collectives ---- */

/* The task + 1 by which a rank takes part; 0: it does not, so far. */
static uint32_t *vef_collective_task(struct vef *vef, uint64_t collective, uint64_t rank)
{
    return table_put(&vef->tasks, &(struct table_key){{collective, rank}});
}

/* A line up to where its dependency begins. */
static bool read_part_head(struct vef *vef, struct word first, struct vef_part *part)
{
    struct trace_lines *lines = &vef->lines;
    struct word word;
    *part = (struct vef_part){.line = lines->line};
    if (!word_numbered(first, 'G', INT64_MAX, &part->collective))
        return lines_refuse(lines, first, "where a message's number or a collective such as G0 is due");
    if (!lines_need(lines, "a communicator", &word))
        return false;
    if (!word_numbered(word, 'C', vef->header.communicators - 1, &part->communicator))
        return lines_refuse(lines, word, "where a communicator is due; accepted: from C0 to C%llu",
                            (unsigned long long)(vef->header.communicators - 1));
    if (!lines_number(lines,
                      "an operation (0 broadcast, 1 reduce, 2 allreduce, 3 gather, 4 scatter, 5 allgather, 6 barrier, "
                      "7 alltoall)",
                      VEF_OPERATIONS - 1, &part->operation) ||
        !lines_number(lines, "a rank", vef->header.ranks - 1, &part->rank) ||
        !lines_number(lines, "a number of bytes sent", INT64_MAX, &part->send_bytes) ||
        !lines_number(lines, "a number of bytes received", INT64_MAX, &part->receive_bytes))
        return false;
    struct member *member = vef_member_of(vef, part->communicator, part->rank);
    if (!member->place || *vef_collective_task(vef, part->collective, part->rank))
        return lines_error(lines, "rank %llu takes part in G%llu, and %s", (unsigned long long)part->rank,
                           (unsigned long long)part->collective,
                           member->place ? "has done so before" : "is not in the communicator");
    part->position = member->place - 1;
    part->order = member->collectives++;
    return true;
}

/* ---- dependencies ---- */

static bool find_message(struct vef *vef, struct word word, uint32_t rank, bool is_wait, struct dependency *dependency)
{
    struct trace_lines *lines = &vef->lines;
    uint64_t id;
    if (!vef->header.messages || !word_number(word, vef->header.messages - 1, &id) || !vef->messages[id].is_known)
        return lines_refuse(lines, word, "where the message to wait for is due; accepted: one that comes before");
    const struct vef_message *message = &vef->messages[id];
    bool is_sent = dependency->kind == ON_SENDING;
    uint32_t there = is_sent ? message->source : message->destination;
    if (there != rank)
        return lines_error(lines, "rank %u waits for the %s of message %llu, which is at rank %u", rank,
                           is_sent ? "sending" : "reception", (unsigned long long)id, there);
    dependency->task = is_sent ? message->send : message->receive;
    dependency->on_start = is_sent && message->is_non_blocking && !is_wait;
    return true;
}

/* The end of a line. A message that its line ends with is a wait if it moves nothing. */
static bool read_dependency(struct vef *vef, uint32_t rank, bool is_wait, struct dependency *dependency)
{
    struct trace_lines *lines = &vef->lines;
    struct word word;
    uint64_t ps = vef->header.ps_per_tick, id;
    *dependency = (struct dependency){.task = FW_ANY};
    if (!lines_number(lines, "the kind of a dependency", 7, &dependency->code) ||
        !lines_number(lines, "a time", UINT64_MAX / ps, &dependency->time_ps) ||
        !lines_need(lines, "what it depends on", &word) || !lines_end(lines))
        return false;
    dependency->time_ps *= ps;
    dependency->kind = dependency->code & 3;
    if (dependency->kind == ON_SENDING || dependency->kind == ON_RECEPTION)
        return find_message(vef, word, rank, is_wait, dependency);
    if (dependency->kind == ON_COLLECTIVE && word_numbered(word, 'G', INT64_MAX, &id))
        dependency->task = *vef_collective_task(vef, id, rank) - 1; /* FW_ANY where that is 0 */
    return dependency->kind == ON_NOTHING || dependency->task != FW_ANY ||
           lines_refuse(
               lines, word,
               "where the collective to wait for is due; accepted: one in which rank %u takes part in a line before",
               rank);
}

/*
 * Adds the task behind its dependency and the delay. Delays are no computation, and several of a rank may pass at
 * the same time: they take cpus in turn, while messages keep the first.
 */
static uint32_t add_behind(struct vef *vef, uint32_t rank, struct dependency behind, const struct task *task)
{
    bool is_absolute = behind.kind == ON_NOTHING, has_delay = behind.time_ps;
    struct task delay = {.kind = is_absolute ? TASK_UNTIL : TASK_COMPUTE, .amount = behind.time_ps};
    delay.cpu = (uint8_t)(1 + builder_task_count(vef->builder, rank) % DELAY_CPUS);
    uint32_t number = builder_add(vef->builder, rank, has_delay ? &delay : task);
    if (behind.task != FW_ANY)
        builder_wait(vef->builder, rank, number, behind.task, behind.on_start);
    if (!has_delay || task->kind == TASK_JOIN)
        return number;
    return add_behind(vef, rank, (struct dependency){.task = number}, task);
}

/* ---- all of one collective ---- */

static int by_collective(const void *left, const void *right)
{
    const struct vef_part *a = left, *b = right;
    if (a->collective != b->collective)
        return a->collective < b->collective ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

static bool vef_agree(struct vef *vef, const struct vef_part *parts, size_t count)
{
    struct trace_lines *lines = &vef->lines;
    for (size_t i = 1; i < count; i++) {
        const char *differs = parts[i].communicator != parts->communicator ? "communicator"
                              : parts[i].operation != parts->operation     ? "operation"
                              : parts[i].order != parts->order             ? "order among those of the communicator"
                                                                           : NULL;
        if (differs)
            return lines_error_at(lines, parts[i].line, "G%llu has another %s than in line %llu",
                                  (unsigned long long)parts->collective, differs, (unsigned long long)parts->line);
    }
    uint32_t size = vef->communicators[parts->communicator].size;
    return count == size ||
           lines_error_at(lines, parts->line, "%zu ranks take part in G%llu; its communicator C%llu has %u", count,
                          (unsigned long long)parts->collective, (unsigned long long)parts->communicator, size);
}

static uint64_t vef_block_of(const struct vef_part *part, uint32_t count)
{
    uint64_t sent = part->send_bytes, received = part->receive_bytes;
    const uint64_t blocks[] = {[BLOCK_LARGER] = sent > received ? sent : received,
                               [BLOCK_SENT] = sent,
                               [BLOCK_RECEIVED] = received,
                               [BLOCK_PART_OF_SENT] = sent / count};
    return blocks[operations[part->operation].block];
}

/* The root is the first where there is none, or where nothing is moved. Its own block it keeps, and that does not count. */
static void set_tasks(struct vef *vef, const struct vef_part *parts, uint32_t count)
{
    enum vef_root kind = operations[parts->operation].root;
    enum vef_block block = operations[parts->operation].block;
    bool are_single = block == BLOCK_SENT || block == BLOCK_RECEIVED;
    uint64_t *blocks = memory_take(sizeof *blocks * count), smallest = UINT64_MAX, largest = 0;
    uint32_t root = 0;
    while (root < count && !(kind == ROOT_RECEIVES && parts[root].receive_bytes) &&
           !(kind == ROOT_SENDS && parts[root].send_bytes))
        root++;
    root = root < count ? root : 0;
    for (uint32_t i = 0; i < count; i++) {
        blocks[i] = vef_block_of(&parts[i], count);
        if (are_single && kind && i == root)
            continue;
        smallest = blocks[i] < smallest ? blocks[i] : smallest;
        largest = blocks[i] > largest ? blocks[i] : largest;
    }
    uint32_t row = are_single && smallest < largest ? builder_counts(vef->builder, blocks, count) : NO_COUNTS;
    free(blocks);
    for (uint32_t i = 0; i < count; i++) {
        struct task *task = builder_task(vef->builder, (uint32_t)parts[i].rank, parts[i].task);
        task->unit = (uint8_t)operations[parts->operation].operation;
        task->communicator = vef->communicators[parts->communicator].number;
        task->peer = (uint32_t)parts[root].rank;
        task->amount = largest;
        task->tag = row;
    }
}

static bool finish_collectives(struct vef *vef, uint64_t wanted)
{
    uint64_t found = 0;
    if (vef->part_count)
        qsort(vef->parts, vef->part_count, sizeof *vef->parts, by_collective);
    for (size_t first = 0, end; first < vef->part_count; first = end, found++) {
        const struct vef_part *parts = &vef->parts[first];
        for (end = first; end < vef->part_count && vef->parts[end].collective == parts->collective;)
            end++;
        if (!vef_agree(vef, parts, end - first))
            return false;
        set_tasks(vef, parts, (uint32_t)(end - first));
    }
    return found == wanted ||
           errors_add(vef->lines.errors, "%s: the header says %llu collectives, and there are %llu",
                      vef->lines.source->path, (unsigned long long)wanted, (unsigned long long)found);
}

/* ---- lines ---- */

static bool vef_read_message(struct vef *vef, struct word first)
{
    struct trace_lines *lines = &vef->lines;
    struct dependency dependency;
    uint64_t id, source, destination, bytes, last = vef->header.ranks - 1;
    if (!vef->header.messages || !word_number(first, vef->header.messages - 1, &id) || vef->messages[id].is_known)
        return lines_refuse(lines, first, "where a message's number is due; accepted: each below %llu once",
                            (unsigned long long)vef->header.messages);
    if (!lines_number(lines, "a source", last, &source) || !lines_number(lines, "a destination", last, &destination) ||
        !lines_number(lines, "a number of bytes", INT64_MAX, &bytes))
        return false;
    uint32_t from = (uint32_t)source, to = (uint32_t)destination;
    bool is_wait = from == to && bytes == 0;
    if (!read_dependency(vef, from, is_wait, &dependency))
        return false;
    struct vef_message message = {.source = from, .destination = to, .is_known = true};
    if (is_wait) {
        message.send = message.receive = add_behind(vef, from, dependency, &(struct task){.kind = TASK_JOIN});
    } else {
        struct task send = {.kind = TASK_SEND, .flags = TASK_READY, .amount = bytes, .peer = to, .tag = (uint32_t)id};
        struct task receive = {.kind = TASK_RECEIVE, .amount = bytes, .peer = from, .tag = (uint32_t)id};
        message.is_non_blocking = dependency.code & NON_BLOCKING;
        message.send = add_behind(vef, from, dependency, &send);
        message.receive = builder_add(vef->builder, to, &receive);
    }
    vef->messages[id] = message;
    vef->message_count++;
    return true;
}

static bool read_part(struct vef *vef, struct word first)
{
    struct vef_part part;
    struct dependency dependency;
    if (!read_part_head(vef, first, &part) || !read_dependency(vef, (uint32_t)part.rank, false, &dependency))
        return false;
    part.task = add_behind(vef, (uint32_t)part.rank, dependency, &(struct task){.kind = TASK_COLLECTIVE});
    vef->parts = memory_grow(vef->parts, vef->part_count, &vef->part_room, sizeof part);
    vef->parts[vef->part_count++] = part;
    *vef_collective_task(vef, part.collective, part.rank) = part.task + 1;
    return true;
}

static bool vef_read_lines(struct vef *vef)
{
    struct trace_lines *lines = &vef->lines;
    struct word first;
    while (lines_next(lines)) {
        lines_word(lines, &first);
        bool is_message = *first.chars >= '0' && *first.chars <= '9';
        if (!(is_message ? vef_read_message(vef, first) : read_part(vef, first)))
            return false;
    }
    if (vef->message_count == vef->header.messages && vef->part_count == vef->header.parts)
        return finish_collectives(vef, vef->header.collectives);
    return errors_add(
        lines->errors,
        "%s: the file ends after %llu messages and %u lines of collectives; its header says %llu and %llu",
        lines->source->path, (unsigned long long)vef->message_count, vef->part_count,
        (unsigned long long)vef->header.messages, (unsigned long long)vef->header.parts);
}

static bool vef_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct vef vef = {.lines = {.source = source, .errors = errors}, .builder = builder};
    if (!vef_read_header(&vef))
        return false;
    builder_set_ranks(builder, (uint32_t)vef.header.ranks);
    vef.messages = arena_array(&vef.arena, struct vef_message, vef.header.messages);
    vef.communicators = arena_array(&vef.arena, struct vef_communicator, vef.header.communicators);
    table_init(&vef.members, sizeof(struct member), NULL);
    table_init(&vef.tasks, sizeof(uint32_t), NULL);
    bool is_good = true;
    for (uint64_t i = 0; is_good && i < vef.header.communicators; i++)
        is_good = read_communicator(&vef, i);
    is_good = is_good && vef_read_lines(&vef);
    table_release(&vef.members);
    table_release(&vef.tasks);
    arena_release(&vef.arena);
    free(vef.parts);
    return is_good;
}

static bool vef_looks_like(const struct trace_source *source)
{
    struct trace_source head = {.bytes = source->bytes, .size = source->size < 256 ? source->size : 256};
    struct trace_lines lines = {.source = &head};
    struct word word;
    return lines_next(&lines) && lines_word(&lines, &word) && keywords[word_find(word, keywords)];
}

static const struct trace_reader_ops vef_reader = {
    COMPONENT("vef", "VEF traces of MPI programs: messages and collectives that wait for each other", vef_options,
              "{\"type\": \"vef\", \"tick\": \"100ns\"}"),
    .looks_like = vef_looks_like,
    .read = vef_read,
};
REGISTER_TRACE_READER(vef_reader);
