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
#include "base/text.h"
#include "config/json.h"
#include "workload/trace/reader/chakra/node.h"
#include "workload/trace/trace.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANKS (1u << 20)
#define ENDING ".et"
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

struct chakra_files {
    const char *path;   /* the one that was named */
    const char *prefix; /* NULL: the name has no rank, the file is all there is */
    uint32_t ranks;
};

struct chakra_group {
    const char *name;
    uint32_t communicator, size, root; /* the first of its ranks is the root of what has none */
};

struct chakra_groups {
    const char *path;           /* where they are listed, if at all */
    struct chakra_group *items; /* in the arena */
    uint32_t count;
};

struct node_place {
    uint64_t id, offset;
    uint32_t task, first_wait;
};

/* One rank's file while it is read. */
struct chakra {
    struct trace_source source;
    struct errors *errors;
    struct trace_builder *builder;
    const struct chakra_groups *groups;
    uint32_t rank, ranks;
    uint64_t offset;                   /* of the node at hand */
    struct node_place *nodes, *sorted; /* owned; by task, by id */
    uint32_t count, room;
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

/* One more than the highest rank that has a file. */
static uint32_t chakra_count_ranks(const struct chakra_files *files, struct arena *arena)
{
    const char *slash = strrchr(files->prefix, '/'), *base = slash ? slash + 1 : files->prefix;
    const char *folder =
        arena_format(arena, "%.*s", slash ? (int)(base - files->prefix) : 1, slash ? files->prefix : ".");
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

static const char *chakra_rank_file(const struct chakra_files *files, uint32_t rank, struct arena *arena)
{
    return files->prefix ? arena_format(arena, "%s.%u" ENDING, files->prefix, rank) : files->path;
}

/* Finds the ranks by the names beside a file; false, with an error, where one is missing. */
static bool find_files(struct chakra_files *files, const char *path, struct arena *arena, struct errors *errors)
{
    size_t prefix = prefix_length(path);
    *files = (struct chakra_files){.path = path, .ranks = 1};
    if (!prefix)
        return true;
    files->prefix = arena_format(arena, "%.*s", (int)prefix, path);
    files->ranks = chakra_count_ranks(files, arena);
    for (uint32_t rank = 0; rank < files->ranks; rank++)
        if (access(chakra_rank_file(files, rank, arena), F_OK) != 0)
            return errors_add(errors, "%s: there is no file of rank %u, but one of rank %u",
                              chakra_rank_file(files, rank, arena), rank, files->ranks - 1);
    return true;
}

/* ---- process groups ---- */

static bool read_group(struct chakra_group *group, const struct json *list, uint32_t ranks,
                       struct trace_builder *builder, struct arena *arena, struct errors *errors)
{
    bool *is_taken = arena_array(arena, bool, ranks);
    uint32_t *members = arena_array(arena, uint32_t, ranks), size = 0;
    for (const struct json *item = list->type == JSON_ARRAY ? list->first : NULL; item; item = item->next) {
        double rank = item->type == JSON_NUMBER ? item->number : -1;
        if (!(rank >= 0 && rank < ranks) || rank != (uint32_t)rank || is_taken[(uint32_t)rank])
            return errors_add(errors, "%s:%u: a group has ranks from 0 to %u, each once", item->file, item->line,
                              ranks - 1);
        is_taken[(uint32_t)rank] = true;
        members[size++] = (uint32_t)rank;
    }
    if (size == 0)
        return errors_add(errors, "%s:%u: %s where the ranks of a group are due; accepted: a list of them", list->file,
                          list->line, json_type_name(list->type));
    *group = (struct chakra_group){list->key, builder_communicator(builder, members, size), size, members[0]};
    return true;
}

/* Tells the builder of the groups; no file means no groups. */
static bool read_groups(struct chakra_groups *groups, const struct chakra_files *files, struct trace_builder *builder,
                        struct arena *arena, struct errors *errors)
{
    *groups = (struct chakra_groups){
        .path = arena_format(arena, "%s.groups.json", files->prefix ? files->prefix : files->path)};
    size_t size;
    const char *text = file_read(arena, groups->path, &size);
    if (!text)
        return true;
    const struct json *root = json_parse(arena, errors, groups->path, text, size);
    if (!root || root->type != JSON_OBJECT) {
        if (root)
            errors_add(errors, "%s: %s where an object of process groups is due", groups->path,
                       json_type_name(root->type));
        return false;
    }
    groups->items = arena_array(arena, struct chakra_group, root->count);
    for (const struct json *list = root->first; list; list = list->next)
        if (!read_group(&groups->items[groups->count++], list, files->ranks, builder, arena, errors))
            return false;
    return true;
}

/* ---- nodes as tasks ---- */

static bool need(struct chakra *chakra, const struct chakra_node *node, enum chakra_attribute attribute,
                 const char *name, uint64_t max, uint64_t *value)
{
    bool has = node->has & 1u << attribute;
    *value = node->attributes[attribute];
    if (has && *value <= max)
        return true;
    if (has)
        chakra_error(chakra, "node %llu has %s %lld; accepted: from 0 to %llu", (unsigned long long)node->id, name,
                     (long long)*value, (unsigned long long)max);
    else
        chakra_error(chakra, "node %llu has no %s", (unsigned long long)node->id, name);
    return false;
}

/* A send does not wait for its receive, which in a ring comes behind the own send of its rank. */
static bool make_message(struct chakra *chakra, const struct chakra_node *node, struct task *task)
{
    bool is_send = node->type == CHAKRA_SEND;
    uint64_t peer, bytes, tag = 0;
    task->kind = is_send ? TASK_SEND : TASK_RECEIVE;
    task->cpu = CPU_MESSAGES;
    task->flags = is_send ? TASK_READY : 0;
    if (!need(chakra, node, COMM_SIZE, "comm_size", INT64_MAX, &bytes) ||
        !need(chakra, node, is_send ? COMM_DESTINATION : COMM_SOURCE, is_send ? "comm_dst" : "comm_src",
              chakra->ranks - 1, &peer) ||
        (node->has & 1u << COMM_TAG && !need(chakra, node, COMM_TAG, "comm_tag", MAX_TAG, &tag)))
        return false;
    task->amount = bytes;
    task->peer = (uint32_t)peer;
    task->tag = (uint32_t)tag;
    return true;
}

static bool find_group(struct chakra *chakra, const struct chakra_node *node, struct chakra_group *group)
{
    const struct chakra_groups *groups = chakra->groups;
    size_t size = (size_t)(node->group.end - node->group.at);
    *group = (struct chakra_group){.communicator = FW_WORLD, .size = chakra->ranks};
    for (uint32_t i = 0; size && i < groups->count; i++)
        if (strlen(groups->items[i].name) == size && memcmp(groups->items[i].name, node->group.at, size) == 0) {
            *group = groups->items[i];
            return true;
        }
    return size == 0 ||
           chakra_error(chakra, "node %llu is of process group \"%.*s\"; accepted: one whose ranks \"%s\" lists",
                        (unsigned long long)node->id, (int)(size < 40 ? size : 40), (const char *)node->group.at,
                        groups->path);
}

static bool make_collective(struct chakra *chakra, const struct chakra_node *node, struct task *task)
{
    struct chakra_group group;
    uint64_t type, bytes = 0;
    if (!find_group(chakra, node, &group) || !need(chakra, node, COMM_TYPE, "comm_type", COLLECTIVES - 1, &type) ||
        (collectives[type].operation != OPERATION_BARRIER &&
         !need(chakra, node, COMM_SIZE, "comm_size", INT64_MAX, &bytes)))
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
    *task = (struct task){.kind = TASK_JOIN};
    switch (node->type) {
    case CHAKRA_METADATA:
        return true;
    case CHAKRA_LOAD:
    case CHAKRA_STORE:
    case CHAKRA_COMPUTE:
        return make_compute(chakra, node, task);
    case CHAKRA_SEND:
    case CHAKRA_RECEIVE:
        return make_message(chakra, node, task);
    case CHAKRA_COLLECTIVE:
        return make_collective(chakra, node, task);
    default:
        return chakra_error(chakra, "node %llu is of type %llu; accepted: from 1 to 7", (unsigned long long)node->id,
                            (unsigned long long)node->type);
    }
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
    uint32_t number = builder_add(chakra->builder, chakra->rank, &task);
    chakra->nodes[chakra->count++] = (struct node_place){node.id, chakra->offset, number, first_wait};
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

static int chakra_by_id(const void *left, const void *right)
{
    const struct node_place *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->task < b->task ? -1 : a->task > b->task;
}

static int chakra_to_id(const void *id, const void *node)
{
    uint64_t wanted = *(const uint64_t *)id, found = ((const struct node_place *)node)->id;
    return wanted < found ? -1 : wanted > found;
}

static bool sort_nodes(struct chakra *chakra)
{
    chakra->sorted = memory_take(sizeof *chakra->sorted * chakra->count);
    memcpy(chakra->sorted, chakra->nodes, sizeof *chakra->sorted * chakra->count);
    qsort(chakra->sorted, chakra->count, sizeof *chakra->sorted, chakra_by_id);
    for (uint32_t i = 1; i < chakra->count; i++)
        if (chakra->sorted[i].id == chakra->sorted[i - 1].id) {
            chakra->offset = chakra->sorted[i].offset;
            return chakra_error(chakra, "there is a node %llu already, at offset %llu",
                                (unsigned long long)chakra->sorted[i].id,
                                (unsigned long long)chakra->sorted[i - 1].offset);
        }
    return true;
}

static bool chakra_add_waits(struct chakra *chakra)
{
    for (uint32_t i = 0; i < chakra->count; i++) {
        uint32_t end = i + 1 < chakra->count ? chakra->nodes[i + 1].first_wait : chakra->waits.count;
        for (uint32_t wait = chakra->nodes[i].first_wait; wait < end; wait++) {
            const struct node_place *earlier =
                bsearch(&chakra->waits.ids[wait], chakra->sorted, chakra->count, sizeof *chakra->sorted, chakra_to_id);
            chakra->offset = chakra->nodes[i].offset;
            if (!earlier)
                return chakra_error(chakra, "node %llu waits for node %llu, which is not in the file",
                                    (unsigned long long)chakra->nodes[i].id,
                                    (unsigned long long)chakra->waits.ids[wait]);
            builder_wait(chakra->builder, chakra->rank, chakra->nodes[i].task, earlier->task, false);
        }
    }
    return true;
}

/* ---- the whole ---- */

static bool is_gzip(const unsigned char *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static const char *chakra_find_place(const void *reader, uint32_t task, struct arena *arena)
{
    const struct chakra *chakra = reader;
    return arena_format(arena, "at offset %llu of %s", (unsigned long long)chakra->nodes[task].offset,
                        chakra->source.path);
}

static bool chakra_read_rank(struct chakra *chakra)
{
    if (is_gzip(chakra->source.bytes, chakra->source.size))
        return chakra_error(chakra, "the file is compressed by gzip; accepted: %s", "the file after gunzip");
    bool is_good = read_nodes(chakra) && (chakra->count == 0 || (sort_nodes(chakra) && chakra_add_waits(chakra)));
    if (is_good)
        builder_end_rank(chakra->builder, chakra->rank, &(struct task_places){chakra_find_place, chakra});
    free(chakra->nodes);
    free(chakra->sorted);
    free(chakra->waits.ids);
    return is_good;
}

static bool chakra_read_all(const struct trace_source *source, const struct chakra_files *files,
                            struct trace_builder *builder, struct arena *arena, struct errors *errors)
{
    struct chakra_groups groups;
    bool is_good = read_groups(&groups, files, builder, arena, errors);
    for (uint32_t rank = 0; rank < files->ranks && is_good; rank++) {
        struct chakra chakra = {.source = *source, .errors = errors, .builder = builder, .groups = &groups};
        chakra.rank = rank;
        chakra.ranks = files->ranks;
        bool is_other = files->prefix;
        is_good = (!is_other || trace_source_open(&chakra.source, chakra_rank_file(files, rank, arena), errors)) &&
                  chakra_read_rank(&chakra);
        if (is_other)
            trace_source_close(&chakra.source);
    }
    return is_good;
}

static bool chakra_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct arena arena = {0};
    struct chakra_files files;
    bool is_good = find_files(&files, source->path, &arena, errors);
    if (is_good) {
        builder_set_ranks(builder, files.ranks);
        is_good = chakra_read_all(source, &files, builder, &arena, errors);
    }
    arena_release(&arena);
    return is_good;
}

/* The first message is about the file; or its name says so, and it is compressed. */
static bool chakra_looks_like(const struct trace_source *source)
{
    uint64_t length;
    if (source->size == 0)
        return false;
    if (is_gzip(source->bytes, source->size))
        return name_ends_with(source->path, ".et") || name_ends_with(source->path, ".et.gz");
    struct proto rest = {source->bytes, source->bytes + source->size, false};
    return proto_varint(&rest, &length) && length <= (size_t)(rest.end - rest.at) &&
           chakra_is_metadata((struct proto){rest.at, rest.at + length, false});
}

static const struct trace_reader_ops chakra_reader = {
    .name = "chakra",
    .summary = "Chakra execution traces of machine learning, a file PREFIX.RANK.et for each rank",
    .looks_like = chakra_looks_like,
    .read = chakra_read,
};
REGISTER_TRACE_READER(chakra_reader);
