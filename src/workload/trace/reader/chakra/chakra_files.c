/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a Chakra execution trace, see chakra_files.h. */
#include "workload/trace/reader/chakra/chakra_files.h"

#include "base/text.h"
#include "config/json.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANKS (1u << 20)
#define ENDING ".et"

/* ---- ranks ---- */

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
static uint32_t count_ranks(const struct chakra_files *files, struct arena *arena)
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

const char *chakra_file(const struct chakra_files *files, uint32_t rank, struct arena *arena)
{
    return files->prefix ? arena_format(arena, "%s.%u" ENDING, files->prefix, rank) : files->path;
}

bool chakra_files_find(struct chakra_files *files, const char *path, struct arena *arena, struct errors *errors)
{
    size_t prefix = prefix_length(path);
    *files = (struct chakra_files){.path = path, .ranks = 1};
    if (!prefix)
        return true;
    files->prefix = arena_format(arena, "%.*s", (int)prefix, path);
    files->ranks = count_ranks(files, arena);
    for (uint32_t rank = 0; rank < files->ranks; rank++)
        if (access(chakra_file(files, rank, arena), F_OK) != 0)
            return errors_add(errors, "%s: there is no file of rank %u, but one of rank %u",
                              chakra_file(files, rank, arena), rank, files->ranks - 1);
    return true;
}

/* ---- groups ---- */

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

bool chakra_groups_read(struct chakra_groups *groups, const struct chakra_files *files, struct trace_builder *builder,
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

const struct chakra_group *chakra_group_find(const struct chakra_groups *groups, const unsigned char *name, size_t size)
{
    for (uint32_t i = 0; i < groups->count; i++)
        if (strlen(groups->items[i].name) == size && memcmp(groups->items[i].name, name, size) == 0)
            return &groups->items[i];
    return NULL;
}
