/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chakra execution traces of machine learning (MLCommons): for each rank a file
 * PREFIX.RANK.et of protocol buffers, each behind its length, the first about the file
 * and all others nodes of a graph. Any of the files names the trace. PREFIX.groups.json
 * lists the ranks of each process group, where there are any.
 *
 * A node becomes one task, in the order of the file, and waits for the end of all nodes
 * that it depends on by control or data. What computes lasts as long as it was
 * recorded: host operations one at a time, and beside them those of the device, and
 * those that move memory. Messages and collectives wait for none of these.
 */
#include "base/table.h"
#include "base/text.h"
#include "config/json.h"
#include "workload/trace/reader/chakra/node.h"
#include "workload/trace/trace.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANKS (1u << 20)
#define ENDING ".et"
#define GROUPS_ENDING ".groups.json"
#define PS_PER_US 1000000
#define MAX_TAG INT32_MAX
enum chakra_cpu { CPU_HOST, CPU_DEVICE, CPU_MEMORY, CPU_MESSAGES };

/* By Chakra's number of the collective. comm_size is what a rank puts in: some split it among all. */
static const struct {
    enum collective_operation operation;
    bool is_split;
} collectives[] = {
    {OPERATION_ALLREDUCE, false}, {OPERATION_REDUCE, false},        {OPERATION_ALLGATHER, false},
    {OPERATION_GATHER, false},    {OPERATION_SCATTER, true},        {OPERATION_BROADCAST, false},
    {OPERATION_ALLTOALL, true},   {OPERATION_REDUCE_SCATTER, true}, {OPERATION_REDUCE_SCATTER, true},
    {OPERATION_BARRIER, false},
};
enum { COLLECTIVES = sizeof collectives / sizeof *collectives };

struct chakra_group {
    const char *name;
    uint32_t communicator, size, root; /* the first of its ranks is the root of what has none */
};

/* A node is a task of the same number. */
struct node_place {
    uint64_t id, offset;
    uint32_t first_wait;
};

struct chakra {
    struct errors *errors;
    struct trace_builder *builder;
    struct arena arena;
    const char *prefix; /* of the files of all ranks; NULL: the name has no rank, the file is all there is */
    uint32_t ranks;
    const char *groups_path;     /* where they are listed, if at all */
    struct chakra_group *groups; /* in the arena */
    uint32_t group_count;
    /* One rank's file while it is read. */
    uint32_t rank;
    struct trace_source source;
    uint64_t offset;          /* of the node at hand */
    struct node_place *nodes; /* owned */
    uint32_t count, room;
    struct table numbers;      /* of nodes + 1, by id */
    struct chakra_waits waits; /* owned */
};

#define chakra_error(chakra, format, ...)                                                                              \
    errors_add((chakra)->errors, "%s: offset %llu: " format, (chakra)->source.path,                                    \
               (unsigned long long)(chakra)->offset, __VA_ARGS__)

/* ---- the files of all ranks ---- */

/* The rank in a name that begins with the prefix and a point; MAX_RANKS: it is no such name. */
static uint32_t rank_in(const char *name, size_t prefix)
{
    char *end;
    if (strlen(name) < prefix + 2 || !isdigit((unsigned char)name[prefix + 1]))
        return MAX_RANKS;
    unsigned long rank = strtoul(name + prefix + 1, &end, 10);
    return strcmp(end, ENDING) == 0 && rank < MAX_RANKS ? (uint32_t)rank : MAX_RANKS;
}

/* How long the prefix is of PREFIX.RANK.et; 0: the name is another one. */
static size_t prefix_length(const char *name)
{
    size_t length = strlen(name);
    if (!name_ends_with(name, ENDING))
        return 0;
    for (length -= strlen(ENDING); length > 0 && isdigit((unsigned char)name[length - 1]);)
        length--;
    bool has_rank = length > 1 && name[length - 1] == '.' && rank_in(name, length - 1) < MAX_RANKS;
    return has_rank ? length - 1 : 0;
}

static bool chakra_is_beside(const char *path, const char *other)
{
    size_t prefix = prefix_length(path), same = prefix ? prefix : strlen(path);
    return strncmp(path, other, same) == 0 &&
           ((prefix && prefix_length(other) == prefix) || strcmp(other + same, GROUPS_ENDING) == 0);
}

/* One more than the highest rank that has a file. */
static uint32_t chakra_count_ranks(struct chakra *chakra)
{
    const char *slash = strrchr(chakra->prefix, '/'), *base = slash ? slash + 1 : chakra->prefix;
    const char *folder =
        arena_format(&chakra->arena, "%.*s", slash ? (int)(base - chakra->prefix) : 1, slash ? chakra->prefix : ".");
    size_t prefix = strlen(base);
    DIR *listing = opendir(folder);
    uint32_t ranks = 0;
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        if (strncmp(entry->d_name, base, prefix) != 0 || entry->d_name[prefix] != '.')
            continue;
        uint32_t rank = rank_in(entry->d_name, prefix);
        ranks = rank < MAX_RANKS && rank >= ranks ? rank + 1 : ranks;
    }
    if (listing)
        closedir(listing);
    return ranks;
}

static const char *chakra_rank_file(struct chakra *chakra, uint32_t rank)
{
    return arena_format(&chakra->arena, "%s.%u" ENDING, chakra->prefix, rank);
}

/* Finds the ranks by the names beside a file; false, with an error, where one is missing. */
static bool find_files(struct chakra *chakra, const char *path)
{
    size_t prefix = prefix_length(path);
    chakra->ranks = 1;
    chakra->groups_path = arena_format(&chakra->arena, "%.*s" GROUPS_ENDING, prefix ? (int)prefix : INT_MAX, path);
    if (!prefix)
        return true;
    chakra->prefix = arena_format(&chakra->arena, "%.*s", (int)prefix, path);
    chakra->ranks = chakra_count_ranks(chakra);
    for (uint32_t rank = 0; rank < chakra->ranks; rank++)
        if (access(chakra_rank_file(chakra, rank), F_OK) != 0)
            return errors_add(chakra->errors, "%s: there is no file of rank %u, but one of rank %u",
                              chakra_rank_file(chakra, rank), rank, chakra->ranks - 1);
    return true;
}

/* ---- process groups ---- */

static bool read_group(struct chakra *chakra, const struct json *list)
{
    bool *is_taken = arena_array(&chakra->arena, bool, chakra->ranks);
    uint32_t *members = arena_array(&chakra->arena, uint32_t, chakra->ranks), size = 0;
    for (const struct json *item = list->type == JSON_ARRAY ? list->first : NULL; item; item = item->next) {
        double rank = item->type == JSON_NUMBER ? item->number : -1;
        if (!(rank >= 0 && rank < chakra->ranks) || rank != (uint32_t)rank || is_taken[(uint32_t)rank])
            return errors_add(chakra->errors, "%s:%u: a group has ranks from 0 to %u, each once", item->file,
                              item->line, chakra->ranks - 1);
        is_taken[(uint32_t)rank] = true;
        members[size++] = (uint32_t)rank;
    }
    if (size == 0)
        return errors_add(chakra->errors, "%s:%u: %s where the ranks of a group are due; accepted: a list of them",
                          list->file, list->line, json_type_name(list->type));
    chakra->groups[chakra->group_count++] =
        (struct chakra_group){list->key, builder_communicator(chakra->builder, members, size), size, members[0]};
    return true;
}

/* Tells the builder of the groups; no file means no groups. */
static bool read_groups(struct chakra *chakra)
{
    size_t size;
    const char *path = chakra->groups_path, *text = file_read(&chakra->arena, path, &size);
    const struct json *root = text ? json_parse(&chakra->arena, chakra->errors, path, text, size) : NULL;
    if (!root)
        return !text;
    if (root->type != JSON_OBJECT)
        return errors_add(chakra->errors, "%s: %s where an object of process groups is due", path,
                          json_type_name(root->type));
    chakra->groups = arena_array(&chakra->arena, struct chakra_group, root->count);
    for (const struct json *list = root->first; list; list = list->next)
        if (!read_group(chakra, list))
            return false;
    return true;
}

/* ---- nodes as tasks ---- */

static bool need(struct chakra *chakra, const struct chakra_node *node, enum chakra_attribute attribute, uint64_t max,
                 uint64_t *value)
{
    const char *name = chakra_attribute_names[attribute];
    *value = node->attributes[attribute];
    if (!(node->has & 1u << attribute))
        return chakra_error(chakra, "node %llu has no %s", (unsigned long long)node->id, name);
    return *value <= max ||
           chakra_error(chakra, "node %llu has %s %lld; accepted: from 0 to %llu", (unsigned long long)node->id, name,
                        (long long)*value, (unsigned long long)max);
}

/* A send does not wait for its receive, which in a ring comes behind the own send of its rank. */
static bool make_message(struct chakra *chakra, const struct chakra_node *node, struct task *task)
{
    bool is_send = node->type == CHAKRA_SEND;
    uint64_t peer, tag = 0;
    if (!need(chakra, node, COMM_SIZE, INT64_MAX, &task->amount) ||
        !need(chakra, node, is_send ? COMM_DESTINATION : COMM_SOURCE, chakra->ranks - 1, &peer) ||
        (node->has & 1u << COMM_TAG && !need(chakra, node, COMM_TAG, MAX_TAG, &tag)))
        return false;
    task->kind = is_send ? TASK_SEND : TASK_RECEIVE;
    task->cpu = CPU_MESSAGES;
    task->flags = is_send ? TASK_READY : 0;
    task->peer = (uint32_t)peer;
    task->tag = (uint32_t)tag;
    return true;
}

static bool find_group(struct chakra *chakra, const struct chakra_node *node, struct chakra_group *group)
{
    size_t size = (size_t)(node->group.end - node->group.at);
    *group = (struct chakra_group){.communicator = FW_WORLD, .size = chakra->ranks};
    for (uint32_t i = 0; size && i < chakra->group_count; i++)
        if (proto_is_text(node->group, chakra->groups[i].name)) {
            *group = chakra->groups[i];
            return true;
        }
    return size == 0 ||
           chakra_error(chakra, "node %llu is of process group \"%.*s\"; accepted: one whose ranks \"%s\" lists",
                        (unsigned long long)node->id, (int)(size < 40 ? size : 40), (const char *)node->group.at,
                        chakra->groups_path);
}

static bool make_collective(struct chakra *chakra, const struct chakra_node *node, struct task *task)
{
    struct chakra_group group;
    uint64_t type, bytes = 0;
    if (!find_group(chakra, node, &group) || !need(chakra, node, COMM_TYPE, COLLECTIVES - 1, &type) ||
        (collectives[type].operation != OPERATION_BARRIER && !need(chakra, node, COMM_SIZE, INT64_MAX, &bytes)))
        return false;
    task->kind = TASK_COLLECTIVE;
    task->cpu = CPU_MESSAGES;
    task->unit = (uint8_t)collectives[type].operation;
    task->communicator = group.communicator;
    task->peer = group.root;
    task->tag = NO_COUNTS;
    task->amount = collectives[type].is_split ? (bytes + group.size - 1) / group.size : bytes;
    return true;
}

static bool make_compute(struct chakra *chakra, const struct chakra_node *node, struct task *task)
{
    task->kind = TASK_COMPUTE;
    task->cpu = node->type != CHAKRA_COMPUTE                                  ? CPU_MEMORY
                : node->has & 1u << IS_CPU_OP && !node->attributes[IS_CPU_OP] ? CPU_DEVICE
                                                                              : CPU_HOST;
    task->amount = node->duration_us * PS_PER_US;
    return node->duration_us <= UINT64_MAX / PS_PER_US ||
           chakra_error(chakra, "node %llu lasts %llu us; accepted: up to %llu", (unsigned long long)node->id,
                        (unsigned long long)node->duration_us, (unsigned long long)UINT64_MAX / PS_PER_US);
}

static bool make_task(struct chakra *chakra, const struct chakra_node *node, struct task *task)
{
    static bool (*const makers[])(struct chakra * chakra, const struct chakra_node *node, struct task *task) = {
        [CHAKRA_LOAD] = make_compute, [CHAKRA_STORE] = make_compute,   [CHAKRA_COMPUTE] = make_compute,
        [CHAKRA_SEND] = make_message, [CHAKRA_RECEIVE] = make_message, [CHAKRA_COLLECTIVE] = make_collective};
    *task = (struct task){.kind = TASK_JOIN};
    if (node->type < CHAKRA_METADATA || node->type > CHAKRA_COLLECTIVE)
        return chakra_error(chakra, "node %llu is of type %llu; accepted: from 1 to 7", (unsigned long long)node->id,
                            (unsigned long long)node->type);
    return node->type == CHAKRA_METADATA || makers[node->type](chakra, node, task);
}

/* ---- a file ---- */

/* The next message behind its length; false, with an error, where there is none. */
static bool next_message(struct chakra *chakra, struct proto *rest, struct proto *message)
{
    uint64_t size;
    const unsigned char *start = rest->at;
    chakra->offset = (uint64_t)(start - chakra->source.bytes);
    if (!proto_varint(rest, &size))
        return chakra_error(chakra, "%s where the length of a message is due", "the file ends, or has something else,");
    if (size > (size_t)(rest->end - rest->at))
        return chakra_error(chakra, "a message of %llu bytes begins, and the file ends %llu bytes behind its length",
                            (unsigned long long)size, (unsigned long long)(rest->end - rest->at));
    *message = (struct proto){rest->at, rest->at + size, false};
    rest->at += size;
    return true;
}

static bool chakra_add_node(struct chakra *chakra, struct proto *message)
{
    struct chakra_node node;
    struct task task;
    uint32_t first_wait = chakra->waits.count;
    if (!chakra_node_decode(message, &node, &chakra->waits))
        return chakra_error(chakra, "the node is broken at offset %llu",
                            (unsigned long long)(message->at - chakra->source.bytes));
    if (!make_task(chakra, &node, &task))
        return false;
    chakra->nodes = memory_grow(chakra->nodes, chakra->count, &chakra->room, sizeof *chakra->nodes);
    builder_add(chakra->builder, chakra->rank, &task);
    chakra->nodes[chakra->count++] = (struct node_place){node.id, chakra->offset, first_wait};
    return true;
}

static bool read_nodes(struct chakra *chakra)
{
    struct proto rest = {chakra->source.bytes, chakra->source.bytes + chakra->source.size, false}, message;
    if (!next_message(chakra, &rest, &message))
        return false;
    if (!chakra_is_metadata(message))
        return chakra_error(chakra, "the file begins with %s", "something else than the version of a Chakra trace");
    while (rest.at < rest.end)
        if (!next_message(chakra, &rest, &message) || !chakra_add_node(chakra, &message))
            return false;
    return true;
}

/* ---- who waits for whom ---- */

static uint32_t *chakra_number(struct chakra *chakra, uint64_t id)
{
    return table_put(&chakra->numbers, &(struct table_key){{id}});
}

static bool chakra_add_waits(struct chakra *chakra)
{
    for (uint32_t i = 0; i < chakra->count; i++) {
        uint32_t *number = chakra_number(chakra, chakra->nodes[i].id);
        chakra->offset = chakra->nodes[i].offset;
        if (*number)
            return chakra_error(chakra, "there is a node %llu already, at offset %llu",
                                (unsigned long long)chakra->nodes[i].id,
                                (unsigned long long)chakra->nodes[*number - 1].offset);
        *number = i + 1;
    }
    for (uint32_t i = 0; i < chakra->count; i++) {
        uint32_t end = i + 1 < chakra->count ? chakra->nodes[i + 1].first_wait : chakra->waits.count;
        chakra->offset = chakra->nodes[i].offset;
        for (uint32_t wait = chakra->nodes[i].first_wait; wait < end; wait++) {
            uint32_t earlier = *chakra_number(chakra, chakra->waits.ids[wait]);
            if (!earlier)
                return chakra_error(chakra, "node %llu waits for node %llu, which is not in the file",
                                    (unsigned long long)chakra->nodes[i].id,
                                    (unsigned long long)chakra->waits.ids[wait]);
            builder_wait(chakra->builder, chakra->rank, i, earlier - 1, false);
        }
    }
    return true;
}

/* ---- the whole ---- */

static const char *chakra_find_place(const void *reader, uint32_t task, struct arena *arena)
{
    const struct chakra *chakra = reader;
    return arena_format(arena, "at offset %llu of %s", (unsigned long long)chakra->nodes[task].offset,
                        chakra->source.path);
}

/* The rank's file is open. */
static bool chakra_read_rank(struct chakra *chakra)
{
    chakra->offset = 0;
    chakra->count = chakra->waits.count = 0;
    table_init(&chakra->numbers, sizeof(uint32_t), NULL);
    bool is_good = read_nodes(chakra) && chakra_add_waits(chakra);
    if (is_good)
        builder_end_rank(chakra->builder, chakra->rank, &(struct task_places){chakra_find_place, chakra});
    table_release(&chakra->numbers);
    return is_good;
}

static bool chakra_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct chakra chakra = {.errors = errors, .builder = builder, .source = *source};
    bool is_good = find_files(&chakra, source->path);
    if (is_good) {
        builder_set_ranks(builder, chakra.ranks);
        is_good = read_groups(&chakra);
    }
    for (; is_good && chakra.rank < chakra.ranks; chakra.rank++) {
        is_good =
            (!chakra.prefix || trace_source_open(&chakra.source, chakra_rank_file(&chakra, chakra.rank), errors)) &&
            chakra_read_rank(&chakra);
        if (chakra.prefix)
            trace_source_close(&chakra.source);
    }
    free(chakra.nodes);
    free(chakra.waits.ids);
    arena_release(&chakra.arena);
    return is_good;
}

/* The first message is about the file; or its name says so, and it is compressed. */
static bool chakra_looks_like(const struct trace_source *source)
{
    uint64_t length;
    if (source->size == 0)
        return false;
    struct proto rest = {source->bytes, source->bytes + source->size, false};
    return proto_varint(&rest, &length) && length <= (size_t)(rest.end - rest.at) &&
           chakra_is_metadata((struct proto){rest.at, rest.at + length, false});
}

static const struct trace_reader_ops chakra_reader = {
    .name = "chakra",
    .summary = "Chakra execution traces of machine learning, a file PREFIX.RANK.et for each rank",
    .looks_like = chakra_looks_like,
    .read = chakra_read,
    .is_beside = chakra_is_beside,
};
REGISTER_TRACE_READER(chakra_reader);
