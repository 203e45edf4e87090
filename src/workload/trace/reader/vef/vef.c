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
#include "flitwarp/option.h"

#include "workload/trace/reader/vef/vef_collectives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

struct vef {
    struct trace_lines lines;
    struct trace_builder *builder;
    struct vef_header header;
    struct vef_message *messages; /* owned */
    uint64_t message_count;       /* so far */
    struct vef_collectives collectives;
};

struct dependency {
    enum dependency_kind kind;
    uint64_t code, time_ps;
    uint32_t task;
    bool on_start;
};

/* ---- header ---- */

static bool is_keyword(struct word word)
{
    return word_is(word, "VEF3") || word_is(word, "VEF2") || word_is(word, "VEF");
}

/* Older files say no more than TRUE or FALSE here, or have no clock behind it. */
static bool read_flag_and_clock(struct trace_lines *lines, bool needs_clock, uint64_t *ps_per_tick)
{
    const struct vef_config *config = lines->source->config;
    struct word flag, clock;
    *ps_per_tick = (uint64_t)llround(config->tick * 1e12);
    if (!lines_need(lines, "a flag", &flag))
        return false;
    if (!lines_word(lines, &clock)) {
        if (needs_clock)
            lines_error(lines, "the line ends where %s is due", "the number of ps in a tick");
        return !needs_clock;
    }
    if (word_number(clock, 1000000000000, ps_per_tick) && *ps_per_tick > 0)
        return lines_end(lines);
    return lines_error(lines, WORD_FORMAT " where the number of ps in a tick is due; accepted: from 1 to 1000000000000",
                       WORD_ARGUMENTS(clock));
}

static bool read_header(struct vef *vef)
{
    struct trace_lines *lines = &vef->lines;
    struct vef_header *header = &vef->header;
    struct word keyword;
    uint64_t most = lines->source->size / SHORTEST_LINE;
    if (!lines_next(lines) || !lines_word(lines, &keyword) || !is_keyword(keyword))
        return errors_add(lines->errors, "%s: the file does not begin with VEF3", lines->source->path);
    if (!lines_number(lines, "the number of ranks", MAX_RANKS, &header->ranks) ||
        !lines_number(lines, "the number of messages (a file of this size has no more than accepted)", most,
                      &header->messages) ||
        !lines_number(lines, "the number of communicators (a file of this size has no more than accepted)", most,
                      &header->communicators) ||
        !lines_number(lines, "the number of collectives", INT64_MAX, &header->collectives) ||
        !lines_number(lines, "the number of lines of collectives", INT64_MAX, &header->parts) ||
        !read_flag_and_clock(lines, word_is(keyword, "VEF3"), &header->ps_per_tick))
        return false;
    if (header->ranks == 0 || header->communicators == 0)
        lines_error(lines, "%llu ranks and %llu communicators; accepted: 1 or more", (unsigned long long)header->ranks,
                    (unsigned long long)header->communicators);
    return header->ranks && header->communicators;
}

/* ---- dependencies ---- */

static bool find_message(struct vef *vef, struct word word, uint32_t rank, bool is_wait, struct dependency *dependency)
{
    struct trace_lines *lines = &vef->lines;
    uint64_t id;
    if (!vef->header.messages || !word_number(word, vef->header.messages - 1, &id) || !vef->messages[id].is_known)
        return lines_error(lines, WORD_FORMAT " where the message to wait for is due; accepted: one that comes before",
                           WORD_ARGUMENTS(word));
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

static bool find_collective(struct vef *vef, struct word word, uint32_t rank, struct dependency *dependency)
{
    uint64_t id;
    dependency->task =
        word_numbered(word, 'G', INT64_MAX, &id) ? vef_collective_task(&vef->collectives, id, rank) : ANY;
    return dependency->task != ANY ||
           lines_error(&vef->lines,
                       WORD_FORMAT
                       " where the collective to wait for is due; accepted: one in which rank %u takes part in a "
                       "line before",
                       WORD_ARGUMENTS(word), rank);
}

/* The end of a line. A message that its line ends with is a wait if it moves nothing. */
static bool read_dependency(struct vef *vef, uint32_t rank, bool is_wait, struct dependency *dependency)
{
    struct trace_lines *lines = &vef->lines;
    struct word word;
    uint64_t ps = vef->header.ps_per_tick;
    *dependency = (struct dependency){.task = ANY};
    if (!lines_number(lines, "the kind of a dependency", 7, &dependency->code) ||
        !lines_number(lines, "a time", UINT64_MAX / ps, &dependency->time_ps) ||
        !lines_need(lines, "what it depends on", &word) || !lines_end(lines))
        return false;
    dependency->time_ps *= ps;
    dependency->kind = dependency->code & 3;
    switch (dependency->kind) {
    case ON_NOTHING:
        return true;
    case ON_COLLECTIVE:
        return find_collective(vef, word, rank, dependency);
    default:
        return find_message(vef, word, rank, is_wait, dependency);
    }
}

/*
 * Adds the task behind its dependency and the delay. Delays are no computation, and several of a rank may pass at
 * the same time: they take cpus in turn, while messages keep the first.
 */
static uint32_t add_behind(struct vef *vef, uint32_t rank, const struct dependency *dependency, const struct task *task)
{
    struct dependency behind = *dependency;
    if (dependency->time_ps) {
        bool is_absolute = dependency->kind == ON_NOTHING;
        struct task delay = {.kind = is_absolute ? TASK_UNTIL : TASK_COMPUTE, .amount = dependency->time_ps};
        delay.cpu = (uint8_t)(1 + builder_task_count(vef->builder, rank) % DELAY_CPUS);
        uint32_t number = builder_add(vef->builder, rank, &delay);
        if (dependency->task != ANY)
            builder_wait(vef->builder, rank, number, dependency->task, dependency->on_start);
        if (task->kind == TASK_JOIN)
            return number;
        behind = (struct dependency){.task = number};
    }
    uint32_t number = builder_add(vef->builder, rank, task);
    if (behind.task != ANY)
        builder_wait(vef->builder, rank, number, behind.task, behind.on_start);
    return number;
}

/* ---- lines ---- */

static bool read_message(struct vef *vef, struct word first)
{
    struct trace_lines *lines = &vef->lines;
    struct dependency dependency;
    uint64_t id, source, destination, bytes, last = vef->header.ranks - 1;
    if (!vef->header.messages || !word_number(first, vef->header.messages - 1, &id) || vef->messages[id].is_known)
        return lines_error(lines, WORD_FORMAT " where a message's number is due; accepted: each below %llu once",
                           WORD_ARGUMENTS(first), (unsigned long long)vef->header.messages);
    if (!lines_number(lines, "a source", last, &source) || !lines_number(lines, "a destination", last, &destination) ||
        !lines_number(lines, "a number of bytes", INT64_MAX, &bytes))
        return false;
    uint32_t from = (uint32_t)source, to = (uint32_t)destination;
    bool is_wait = from == to && bytes == 0;
    if (!read_dependency(vef, from, is_wait, &dependency))
        return false;
    struct vef_message message = {.source = from, .destination = to, .is_known = true};
    if (is_wait) {
        message.send = message.receive = add_behind(vef, from, &dependency, &(struct task){.kind = TASK_JOIN});
    } else {
        struct task send = {.kind = TASK_SEND, .flags = TASK_READY, .amount = bytes, .peer = to, .tag = (uint32_t)id};
        struct task receive = {.kind = TASK_RECEIVE, .amount = bytes, .peer = from, .tag = (uint32_t)id};
        message.is_non_blocking = dependency.code & NON_BLOCKING;
        message.send = add_behind(vef, from, &dependency, &send);
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
    if (!vef_read_part(&vef->collectives, first, (uint32_t)vef->header.ranks, &part) ||
        !read_dependency(vef, (uint32_t)part.rank, false, &dependency))
        return false;
    part.task = add_behind(vef, (uint32_t)part.rank, &dependency, &(struct task){.kind = TASK_COLLECTIVE});
    vef_add_part(&vef->collectives, &part);
    return true;
}

static bool read_lines(struct vef *vef)
{
    struct trace_lines *lines = &vef->lines;
    struct word first;
    while (lines_next(lines)) {
        lines_word(lines, &first);
        bool is_message = *first.chars >= '0' && *first.chars <= '9';
        if (!(is_message ? read_message(vef, first) : read_part(vef, first)))
            return false;
    }
    if (vef->message_count == vef->header.messages && vef->collectives.count == vef->header.parts)
        return vef_collectives_finish(&vef->collectives, vef->header.collectives);
    return errors_add(
        lines->errors,
        "%s: the file ends after %llu messages and %u lines of collectives; its header says %llu and %llu",
        lines->source->path, (unsigned long long)vef->message_count, vef->collectives.count,
        (unsigned long long)vef->header.messages, (unsigned long long)vef->header.parts);
}

static bool read_communicators(struct vef *vef)
{
    for (uint64_t i = 0; i < vef->header.communicators; i++) {
        if (!lines_next(&vef->lines))
            return errors_add(vef->lines.errors, "%s: the file ends where communicator C%llu is due",
                              vef->lines.source->path, (unsigned long long)i);
        if (!vef_read_communicator(&vef->collectives, (uint32_t)vef->header.ranks))
            return false;
    }
    return true;
}

static bool vef_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct vef vef = {.lines = {.source = source, .errors = errors}, .builder = builder};
    if (!read_header(&vef))
        return false;
    builder_set_ranks(builder, (uint32_t)vef.header.ranks);
    vef_collectives_init(&vef.collectives, &vef.lines, builder, vef.header.communicators);
    vef.messages = memory_take(sizeof *vef.messages * vef.header.messages);
    memset(vef.messages, 0, sizeof *vef.messages * vef.header.messages);
    bool is_good = read_communicators(&vef) && read_lines(&vef);
    vef_collectives_release(&vef.collectives);
    free(vef.messages);
    return is_good;
}

static bool vef_looks_like(const struct trace_source *source)
{
    struct trace_source head = {.bytes = source->bytes, .size = source->size < 256 ? source->size : 256};
    struct trace_lines lines = {.source = &head};
    struct word word;
    return lines_next(&lines) && lines_word(&lines, &word) && is_keyword(word);
}

static const struct trace_reader_ops vef_reader = {
    .name = "vef",
    .summary = "VEF traces of MPI programs: messages and collectives that wait for each other",
    .options = vef_options,
    .config_size = sizeof(struct vef_config),
    .example = "{\"type\": \"vef\", \"tick\": \"100ns\"}",
    .looks_like = vef_looks_like,
    .read = vef_read,
};
REGISTER_TRACE_READER(vef_reader);
