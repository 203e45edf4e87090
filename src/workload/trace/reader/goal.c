/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GOAL schedules (LogGOPSim, ATLAHS). As text: a block a rank, a statement a line.
 *
 *   num_ranks 2
 *   rank 0 {
 *   a: calc 100 cpu 1            nanoseconds
 *   b: send 8b to 1 tag 3
 *   b requires a                 begins after its end; irequires: after its beginning
 *   }
 *
 * Labels are known within their rank, from where they are set on.
 *
 * In binary (LogGOPSim's txt2bin), little endian and without padding:
 *
 *   u64 4223 | u32 ranks | u8 cpus | u8 nics | by rank: u64 start, u64 end, counted from byte 8
 *   a rank:  u32 nodes | u32 roots | u32 root[roots] | node[nodes] | u32 edge[]
 *   a node:  u32 waits | u8 type | u32 peer | u64 size | u32 tag | u8 cpu | u8 nic
 *            | u32 dependents | u32 first edge | u32 start dependents | u32 first edge
 *
 * Edges are numbers of nodes: those that wait for the end of a node, and those that
 * wait for its beginning.
 */
#include "flitwarp/trace_lines.h"

#include "base/table.h"
#include "base/text.h"
#include "flitwarp/random.h"
#include "workload/trace/reader/goal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST_RANK = 9 }; /* bytes: "rank 0 {}" */
#define DONE_EVERY ((size_t)16 << 20)
#define MOST_NANOSECONDS (UINT64_MAX / 1000)

struct goal {
    const struct trace_source *source;
    struct trace_builder *builder;
    struct errors *errors;
    const char *at, *end;
    uint64_t line;
    uint32_t rank;
    struct table labels; /* of the rank: task + 1 */
    uint64_t *lines;     /* owned: of its tasks */
    uint32_t line_room;
    size_t done; /* bytes that were said to be read */
};

#define goal_error(goal, format, ...)                                                                                  \
    errors_add((goal)->errors, "%s:%llu: " format, (goal)->source->path, (unsigned long long)(goal)->line, __VA_ARGS__)

static bool goal_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool goal_is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool stands(const struct goal *goal, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(goal->end - goal->at) >= length && memcmp(goal->at, text, length) == 0;
}

/* Over blanks and comments; lines are counted within comments, and left alone otherwise. */
static void goal_skip_blanks(struct goal *goal)
{
    while (goal->at < goal->end) {
        if (goal_is_blank(*goal->at)) {
            goal->at++;
        } else if (stands(goal, "//")) {
            while (goal->at < goal->end && *goal->at != '\n')
                goal->at++;
        } else if (stands(goal, "/*")) {
            for (goal->at += 2; goal->at < goal->end && !stands(goal, "*/"); goal->at++)
                goal->line += *goal->at == '\n';
            goal->at += goal->at < goal->end ? 2 : 0;
        } else {
            return;
        }
    }
}

static void skip_lines(struct goal *goal)
{
    for (goal_skip_blanks(goal); goal->at < goal->end && *goal->at == '\n'; goal_skip_blanks(goal)) {
        goal->at++;
        goal->line++;
    }
}

/* A run of letters, digits and underscores, or one other character; none at the end of a line. */
static struct word goal_next_word(struct goal *goal)
{
    goal_skip_blanks(goal);
    struct word word = {.chars = goal->at};
    while (goal->at < goal->end && goal_is_letter(*goal->at))
        goal->at++;
    if (goal->at == word.chars && goal->at < goal->end && *goal->at != '\n')
        goal->at++;
    word.length = (size_t)(goal->at - word.chars);
    return word;
}

/* For messages: what stands there, or that the line has ended. */
static const char *shown(const struct goal *goal, struct word word)
{
    if (word.length == 0)
        return word.chars < goal->end ? "the end of the line" : "the end of the file";
    return arena_format(goal->errors->arena, "'%.*s'", (int)(word.length < 40 ? word.length : 40), word.chars);
}

static bool goal_take(struct goal *goal, const char *text)
{
    struct word word = goal_next_word(goal);
    return word_is(word, text) || goal_error(goal, "%s where '%s' is expected", shown(goal, word), text);
}

/* Digits, with a letter behind them where `unit` says so; up to FW_ANY: also -1, which is FW_ANY. */
static bool take_number(struct goal *goal, const char *what, const char *unit, uint64_t most, uint64_t *number)
{
    goal_skip_blanks(goal);
    if (most == FW_ANY && stands(goal, "-1")) {
        goal->at += 2;
        *number = FW_ANY;
        return true;
    }
    most -= most == FW_ANY;
    struct word word = goal_next_word(goal);
    size_t digits = 0;
    while (digits < word.length && isdigit((unsigned char)word.chars[digits]))
        digits++;
    if (digits && !word_number((struct word){word.chars, digits}, most, number))
        return goal_error(goal, "%s is too large for %s; accepted: up to %llu", shown(goal, word), what,
                          (unsigned long long)most);
    return (digits && word_is((struct word){word.chars + digits, word.length - digits}, unit)) ||
           goal_error(goal, "%s where %s is expected: digits%s%s", shown(goal, word), what, *unit ? " and then " : "",
                      unit);
}

/* Short labels are their own keys; long ones are told apart by two hashes. */
static struct table_key goal_key_of(struct word label)
{
    struct table_key key = {{0, 0, 0}};
    if (label.length <= sizeof key) {
        memcpy(&key, label.chars, label.length);
        return key;
    }
    key.part[2] = UINT64_MAX - label.length;
    for (size_t i = 0; i < label.length; i++) {
        key.part[0] = random_mix(key.part[0] ^ (unsigned char)label.chars[i]);
        key.part[1] = key.part[1] * 1099511628211u + (unsigned char)label.chars[i];
    }
    return key;
}

static bool take_peer(struct goal *goal, struct task *task)
{
    bool is_send = task->kind == TASK_SEND;
    uint32_t ranks = builder_ranks(goal->builder);
    uint64_t peer;
    if (!take_number(goal, "a size in bytes", "b", UINT64_MAX, &task->amount) ||
        !goal_take(goal, is_send ? "to" : "from") || !take_number(goal, "a rank", "", FW_ANY - is_send, &peer))
        return false;
    task->peer = (uint32_t)peer;
    return peer == FW_ANY || peer < ranks ||
           goal_error(goal, "rank %u of a file of %u ranks; accepted: 0 to %u", task->peer, ranks, ranks - 1);
}

/* tag, cpu and nic up to the end of the line. */
static bool take_options(struct goal *goal, struct task *task)
{
    bool is_message = task->kind != TASK_COMPUTE;
    for (struct word word; (word = goal_next_word(goal)).length;) {
        bool is_cpu = word_is(word, "cpu"), is_tag = is_message && word_is(word, "tag");
        const char *what = is_tag ? "a tag" : is_cpu ? "the number of a cpu" : "the number of a nic";
        uint64_t number, most = !is_tag ? UINT8_MAX : FW_ANY - (task->kind == TASK_SEND);
        if (!is_cpu && !is_tag && !(is_message && word_is(word, "nic")))
            return goal_error(goal, "%s where %s or the end of the line is expected", shown(goal, word),
                              is_message ? "tag, cpu, nic" : "cpu");
        if (!take_number(goal, what, "", most, &number))
            return false;
        if (is_tag)
            task->tag = (uint32_t)number;
        else
            *(is_cpu ? &task->cpu : &task->unit) = (uint8_t)number;
    }
    return true;
}

static bool take_operation(struct goal *goal, struct word name, uint32_t *number)
{
    bool is_send = word_is(name, "send"), is_compute = word_is(name, "calc");
    struct task task = {.kind = is_send ? TASK_SEND : is_compute ? TASK_COMPUTE : TASK_RECEIVE};
    if (!is_send && !is_compute && !word_is(name, "recv"))
        return goal_error(goal, "%s where send, recv, calc or a label is expected", shown(goal, name));
    if (!(is_compute ? take_number(goal, "nanoseconds", "", MOST_NANOSECONDS, &task.amount) : take_peer(goal, &task)))
        return false;
    task.amount *= is_compute ? 1000 : 1;
    if (!take_options(goal, &task))
        return false;
    *number = builder_add(goal->builder, goal->rank, &task);
    goal->lines = memory_grow(goal->lines, *number, &goal->line_room, sizeof *goal->lines);
    goal->lines[*number] = goal->line;
    return true;
}

/* The task + 1 of a label of the rank; 0: it is not set. */
static uint32_t *goal_label(struct goal *goal, struct word label)
{
    struct table_key key = goal_key_of(label);
    return table_put(&goal->labels, &key);
}

static bool take_label(struct goal *goal, struct word label, uint32_t *task)
{
    *task = *goal_label(goal, label) - 1;
    return *task != FW_ANY ||
           goal_error(goal, "%s is no label that was set above in rank %u", shown(goal, label), goal->rank);
}

static bool set_label(struct goal *goal, struct word label)
{
    uint32_t task = 0;
    if (!isalpha((unsigned char)*label.chars))
        return goal_error(goal, "%s is no label: they begin with a letter", shown(goal, label));
    uint32_t *number = goal_label(goal, label);
    if (*number)
        return goal_error(goal, "label %s is set twice in rank %u", shown(goal, label), goal->rank);
    if (!take_operation(goal, goal_next_word(goal), &task))
        return false;
    *number = task + 1;
    return true;
}

static bool take_statement(struct goal *goal)
{
    struct word first = goal_next_word(goal);
    uint32_t task, earlier;
    struct goal after = *goal;
    struct word second = goal_next_word(&after);
    bool on_start = word_is(second, "irequires");
    if (word_is(second, ":")) {
        *goal = after;
        return set_label(goal, first);
    }
    if (!on_start && !word_is(second, "requires"))
        return take_operation(goal, first, &task);
    *goal = after;
    if (!take_label(goal, first, &task) || !take_label(goal, goal_next_word(goal), &earlier))
        return false;
    builder_wait(goal->builder, goal->rank, task, earlier, on_start);
    struct word rest = goal_next_word(goal);
    return rest.length == 0 || goal_error(goal, "%s where the end of the line is expected", shown(goal, rest));
}

static const char *goal_find_place(const void *reader, uint32_t task, struct arena *arena)
{
    return arena_format(arena, "in line %llu", (unsigned long long)((const struct goal *)reader)->lines[task]);
}

static bool take_rank(struct goal *goal)
{
    uint64_t rank;
    uint32_t ranks = builder_ranks(goal->builder);
    if (!goal_take(goal, "rank") || !take_number(goal, "the number of a rank", "", FW_ANY - 1, &rank))
        return false;
    if (rank != goal->rank)
        return goal_error(goal, "rank %llu where rank %u is expected, of ranks 0 to %u", (unsigned long long)rank,
                          goal->rank, ranks - 1);
    if (!goal_take(goal, "{"))
        return false;
    table_init(&goal->labels, sizeof(uint32_t), NULL);
    bool is_good = true;
    for (skip_lines(goal); is_good && goal->at < goal->end && *goal->at != '}'; skip_lines(goal))
        is_good = take_statement(goal);
    table_release(&goal->labels);
    if (!is_good || !goal_take(goal, "}"))
        return false;
    builder_end_rank(goal->builder, goal->rank, &(struct task_places){goal_find_place, goal});
    size_t read = (size_t)(goal->at - (const char *)goal->source->bytes);
    if (read - goal->done > DONE_EVERY)
        trace_source_done(goal->source, goal->done = read);
    return true;
}

static bool take_all(struct goal *goal)
{
    const struct trace_source *source = goal->source;
    uint64_t ranks, most = source->size / SMALLEST_RANK;
    skip_lines(goal);
    if (!goal_take(goal, "num_ranks") || !take_number(goal, "a number of ranks", "", FW_ANY - 1, &ranks))
        return false;
    if (ranks == 0 || ranks > most)
        return goal_error(goal, "%llu ranks in a file of %zu bytes; accepted: 1 to %llu", (unsigned long long)ranks,
                          source->size, (unsigned long long)most);
    builder_set_ranks(goal->builder, (uint32_t)ranks);
    for (; goal->rank < ranks; goal->rank++) {
        skip_lines(goal);
        if (goal->at == goal->end)
            return goal_error(goal, "the file ends before rank %u, of %llu", goal->rank, (unsigned long long)ranks);
        if (!take_rank(goal))
            return false;
    }
    skip_lines(goal);
    return goal->at == goal->end ||
           goal_error(goal, "%s behind the last rank, %u", shown(goal, goal_next_word(goal)), goal->rank - 1);
}

static bool goal_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct goal goal = {.source = source, .builder = builder, .errors = errors, .line = 1};
    goal.at = (const char *)source->bytes;
    goal.end = goal.at + source->size;
    bool is_good = take_all(&goal);
    free(goal.lines);
    return is_good;
}

static bool goal_looks_like(const struct trace_source *source)
{
    struct goal goal = {.at = (const char *)source->bytes};
    if (source->size == 0)
        return false;
    goal.end = goal.at + source->size;
    skip_lines(&goal);
    return stands(&goal, "num_ranks");
}

/* ---- in binary ---- */

enum { DESTROYED = 2342, HEADER = 14, RANGE = 16, NODE = 39 };

/* What is being read: a rank's part of the file. */
struct schedule {
    const struct trace_source *source;
    struct trace_builder *builder;
    struct errors *errors;
    uint32_t rank, nodes;
    size_t first_node, edges, end; /* offsets */
    uint64_t edge_count;
};

#define at_error(schedule, offset, format, ...)                                                                        \
    errors_add((schedule)->errors, "%s: at byte %zu: " format, (schedule)->source->path, (size_t)(offset), __VA_ARGS__)

static uint32_t schedule_u32_at(const struct trace_source *source, size_t offset)
{
    return (uint32_t)little_endian(source->bytes + offset, 4);
}

static bool schedule_add_node(const struct schedule *schedule, size_t at)
{
    static const uint8_t kinds[] = {
        [GOAL_SEND] = TASK_SEND, [GOAL_RECEIVE] = TASK_RECEIVE, [GOAL_COMPUTE] = TASK_COMPUTE};
    const struct trace_source *source = schedule->source;
    uint32_t type = source->bytes[at + 4], ranks = builder_ranks(schedule->builder);
    if (type < GOAL_SEND || type > GOAL_COMPUTE)
        return at_error(schedule, at + 4, "%u is no type of node; accepted: 1 (send), 2 (receive), 3 (calc)", type);
    struct task task = {
        .kind = kinds[type], .amount = little_endian(source->bytes + at + 9, 8), .cpu = source->bytes[at + 21]};
    if (type == GOAL_COMPUTE && task.amount > MOST_NANOSECONDS)
        return at_error(schedule, at + 9, "%llu nanoseconds; accepted: up to %llu", (unsigned long long)task.amount,
                        (unsigned long long)MOST_NANOSECONDS);
    task.amount *= type == GOAL_COMPUTE ? 1000 : 1;
    if (type != GOAL_COMPUTE) {
        task.peer = schedule_u32_at(source, at + 5);
        task.tag = schedule_u32_at(source, at + 17);
        task.unit = source->bytes[at + 22];
        if (task.peer >= ranks && !(type == GOAL_RECEIVE && task.peer == FW_ANY))
            return at_error(schedule, at + 5, "rank %u of a file of %u ranks; accepted: 0 to %u", task.peer, ranks,
                            ranks - 1);
        if (type == GOAL_SEND && task.tag == FW_ANY)
            return at_error(schedule, at + 17, "a send with tag %u, which means any", task.tag);
    }
    builder_add(schedule->builder, schedule->rank, &task);
    return true;
}

/* Those that wait for a node: `at` is where its number of them and the first stand. */
static bool schedule_add_waits(const struct schedule *schedule, uint32_t node, size_t at, bool on_start)
{
    const struct trace_source *source = schedule->source;
    uint64_t count = schedule_u32_at(source, at), first = schedule_u32_at(source, at + 4);
    if (count && first + count > schedule->edge_count)
        return at_error(schedule, at, "node %u has edges %llu to %llu, and rank %u has %llu", node,
                        (unsigned long long)first, (unsigned long long)(first + count - 1), schedule->rank,
                        (unsigned long long)schedule->edge_count);
    for (size_t edge = schedule->edges + 4 * first; count-- > 0; edge += 4) {
        uint32_t waits = schedule_u32_at(source, edge);
        if (waits >= schedule->nodes)
            return at_error(schedule, edge, "node %u of rank %u, which has %u", waits, schedule->rank, schedule->nodes);
        builder_wait(schedule->builder, schedule->rank, waits, node, on_start);
    }
    return true;
}

/* Finds the parts of a rank's piece of the file. */
static bool schedule_lay_out(struct schedule *schedule)
{
    const struct trace_source *source = schedule->source;
    size_t entry = HEADER + (size_t)schedule->rank * RANGE;
    uint64_t start = little_endian(source->bytes + entry, 8), end = little_endian(source->bytes + entry + 8, 8),
             size = source->size - GOAL_BASE;
    if (start > end || end > size || end - start < 8)
        return at_error(schedule, entry, "rank %u lies at %llu to %llu of %llu bytes", schedule->rank,
                        (unsigned long long)start, (unsigned long long)end, (unsigned long long)size);
    size_t at = start + GOAL_BASE;
    uint64_t roots = schedule_u32_at(source, at + 4), nodes = schedule_u32_at(source, at);
    if (8 + roots * 4 + nodes * NODE > end - start)
        return at_error(schedule, at, "%llu nodes and %llu roots in the %llu bytes of rank %u",
                        (unsigned long long)nodes, (unsigned long long)roots, (unsigned long long)(end - start),
                        schedule->rank);
    schedule->nodes = (uint32_t)nodes;
    schedule->first_node = at + 8 + roots * 4;
    schedule->edges = schedule->first_node + nodes * NODE;
    schedule->end = end + GOAL_BASE;
    schedule->edge_count = (schedule->end - schedule->edges) / 4;
    return true;
}

static const char *schedule_find_place(const void *reader, uint32_t task, struct arena *arena)
{
    return arena_format(arena, "at byte %zu", ((const struct schedule *)reader)->first_node + (size_t)task * NODE);
}

static bool schedule_read_rank(struct schedule *schedule)
{
    if (!schedule_lay_out(schedule))
        return false;
    for (uint32_t i = 0; i < schedule->nodes; i++)
        if (!schedule_add_node(schedule, schedule->first_node + (size_t)i * NODE))
            return false;
    uint64_t edges = 0;
    for (uint32_t i = 0; i < schedule->nodes; i++) {
        size_t at = schedule->first_node + (size_t)i * NODE + 23;
        edges += (uint64_t)schedule_u32_at(schedule->source, at) + schedule_u32_at(schedule->source, at + 8);
        if (edges > schedule->edge_count)
            return at_error(schedule, at, "%llu edges up to node %u, and rank %u has %llu", (unsigned long long)edges,
                            i, schedule->rank, (unsigned long long)schedule->edge_count);
        if (!schedule_add_waits(schedule, i, at, false) || !schedule_add_waits(schedule, i, at + 8, true))
            return false;
    }
    builder_end_rank(schedule->builder, schedule->rank, &(struct task_places){schedule_find_place, schedule});
    trace_source_done(schedule->source, schedule->end);
    return true;
}

static bool goal_binary_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct schedule schedule = {.source = source, .builder = builder, .errors = errors};
    uint64_t cookie = source->size >= GOAL_BASE ? little_endian(source->bytes, 8) : 0;
    if (cookie == DESTROYED)
        return at_error(&schedule, 0, "the file was marked as invalid (%u) by who wrote it", DESTROYED);
    if (cookie != GOAL_COOKIE)
        return at_error(&schedule, 0, "%llu where %u is expected%s", (unsigned long long)cookie, GOAL_COOKIE,
                        cookie == __builtin_bswap64(GOAL_COOKIE) ? ": the file is of a machine of the other byte order"
                                                                 : "");
    if (source->size < HEADER)
        return at_error(&schedule, source->size, "the file ends within its first %u bytes", HEADER);
    uint32_t ranks = schedule_u32_at(source, GOAL_BASE);
    uint64_t most = (source->size - HEADER) / (RANGE + 8);
    if (ranks == 0 || ranks > most)
        return at_error(&schedule, GOAL_BASE, "%u ranks in a file of %zu bytes; accepted: 1 to %llu", ranks,
                        source->size, (unsigned long long)most);
    builder_set_ranks(builder, ranks);
    size_t end = 0;
    for (; schedule.rank < ranks; schedule.rank++) {
        if (!schedule_read_rank(&schedule))
            return false;
        end = schedule.end > end ? schedule.end : end;
    }
    while (end < source->size && !source->bytes[end]) /* may be left of a page */
        end++;
    return end == source->size ||
           at_error(&schedule, end, "%zu bytes behind the last rank; expected the end of the file", source->size - end);
}

static bool goal_binary_looks_like(const struct trace_source *source)
{
    uint64_t cookie = source->size >= 8 ? little_endian(source->bytes, 8) : 0;
    return cookie == GOAL_COOKIE || cookie == DESTROYED || cookie == __builtin_bswap64(GOAL_COOKIE);
}

static const struct trace_reader_ops goals[] = {
    {COMPONENT("goal", "GOAL schedules as text: num_ranks, then a block a rank", NULL, NULL),
     .looks_like = goal_looks_like, .read = goal_read},
    {COMPONENT("goal_binary", "GOAL schedules in binary, as txt2bin writes them", NULL, NULL),
     .looks_like = goal_binary_looks_like, .read = goal_binary_read},
};
REGISTER_COMPONENTS("trace_reader", goals);
