/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GOAL schedules in binary (LogGOPSim's txt2bin), little endian and without padding:
 *
 *   u64 4223 | u32 ranks | u8 cpus | u8 nics | by rank: u64 start, u64 end, counted from byte 8
 *   a rank:  u32 nodes | u32 roots | u32 root[roots] | node[nodes] | u32 edge[]
 *   a node:  u32 waits | u8 type | u32 peer | u64 size | u32 tag | u8 cpu | u8 nic
 *            | u32 dependents | u32 first edge | u32 start dependents | u32 first edge
 *
 * Edges are numbers of nodes: those that wait for the end of a node, and those that
 * wait for its beginning.
 */
#include "base/text.h"
#include "workload/trace/trace.h"

#include <string.h>

enum { COOKIE = 4223, DESTROYED = 2342, BASE = 8, HEADER = 14, RANGE = 16, NODE = 39 };
enum node_type { NODE_SEND = 1, NODE_RECEIVE = 2, NODE_COMPUTE = 3 };
#define MOST_NANOSECONDS (UINT64_MAX / 1000)

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
        [NODE_SEND] = TASK_SEND, [NODE_RECEIVE] = TASK_RECEIVE, [NODE_COMPUTE] = TASK_COMPUTE};
    const struct trace_source *source = schedule->source;
    uint32_t type = source->bytes[at + 4], ranks = builder_ranks(schedule->builder);
    if (type < NODE_SEND || type > NODE_COMPUTE)
        return at_error(schedule, at + 4, "%u is no type of node; accepted: 1 (send), 2 (receive), 3 (calc)", type);
    struct task task = {
        .kind = kinds[type], .amount = little_endian(source->bytes + at + 9, 8), .cpu = source->bytes[at + 21]};
    if (type == NODE_COMPUTE && task.amount > MOST_NANOSECONDS)
        return at_error(schedule, at + 9, "%llu nanoseconds; accepted: up to %llu", (unsigned long long)task.amount,
                        (unsigned long long)MOST_NANOSECONDS);
    task.amount *= type == NODE_COMPUTE ? 1000 : 1;
    if (type != NODE_COMPUTE) {
        task.peer = schedule_u32_at(source, at + 5);
        task.tag = schedule_u32_at(source, at + 17);
        task.unit = source->bytes[at + 22];
        if (task.peer >= ranks && !(type == NODE_RECEIVE && task.peer == FW_ANY))
            return at_error(schedule, at + 5, "rank %u of a file of %u ranks; accepted: 0 to %u", task.peer, ranks,
                            ranks - 1);
        if (type == NODE_SEND && task.tag == FW_ANY)
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
             size = source->size - BASE;
    if (start > end || end > size || end - start < 8)
        return at_error(schedule, entry, "rank %u lies at %llu to %llu of %llu bytes", schedule->rank,
                        (unsigned long long)start, (unsigned long long)end, (unsigned long long)size);
    size_t at = start + BASE;
    uint64_t roots = schedule_u32_at(source, at + 4), nodes = schedule_u32_at(source, at);
    if (8 + roots * 4 + nodes * NODE > end - start)
        return at_error(schedule, at, "%llu nodes and %llu roots in the %llu bytes of rank %u",
                        (unsigned long long)nodes, (unsigned long long)roots, (unsigned long long)(end - start),
                        schedule->rank);
    schedule->nodes = (uint32_t)nodes;
    schedule->first_node = at + 8 + roots * 4;
    schedule->edges = schedule->first_node + nodes * NODE;
    schedule->end = end + BASE;
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
    uint64_t cookie = source->size >= BASE ? little_endian(source->bytes, 8) : 0;
    if (cookie == DESTROYED)
        return at_error(&schedule, 0, "the file was marked as invalid (%u) by who wrote it", DESTROYED);
    if (cookie != COOKIE)
        return at_error(&schedule, 0, "%llu where %u is expected%s", (unsigned long long)cookie, COOKIE,
                        cookie == __builtin_bswap64(COOKIE) ? ": the file is of a machine of the other byte order"
                                                            : "");
    if (source->size < HEADER)
        return at_error(&schedule, source->size, "the file ends within its first %u bytes", HEADER);
    uint32_t ranks = schedule_u32_at(source, BASE);
    uint64_t most = (source->size - HEADER) / (RANGE + 8);
    if (ranks == 0 || ranks > most)
        return at_error(&schedule, BASE, "%u ranks in a file of %zu bytes; accepted: 1 to %llu", ranks, source->size,
                        (unsigned long long)most);
    builder_set_ranks(builder, ranks);
    for (; schedule.rank < ranks; schedule.rank++)
        if (!schedule_read_rank(&schedule))
            return false;
    return true;
}

static bool goal_binary_looks_like(const struct trace_source *source)
{
    uint64_t cookie = source->size >= 8 ? little_endian(source->bytes, 8) : 0;
    return cookie == COOKIE || cookie == DESTROYED || cookie == __builtin_bswap64(COOKIE);
}

static const struct trace_reader_ops goal_binary = {
    .name = "goal_binary",
    .summary = "GOAL schedules in binary, as txt2bin writes them",
    .looks_like = goal_binary_looks_like,
    .read = goal_binary_read,
};
REGISTER_TRACE_READER(goal_binary);
