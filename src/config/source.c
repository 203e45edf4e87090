/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading a configuration and merging what it includes. An object's own keys
 * win over those of the files it includes, and later files win over earlier
 * ones. Objects merge deeply; everything else, arrays too, is replaced whole.
 */
#include "config/source.h"

#include "config/json.h"
#include "flitwarp/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INCLUDE_DEPTH_MAX 32

/* Without links and dots, so that names compare; of a file that cannot be found as it is. */
static const char *canonical(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    const char *name = arena_text(arena, real ? real : path);
    free(real);
    return name;
}

void source_note_file(struct json *files, struct arena *arena, const char *path)
{
    if (!files)
        return;
    const char *name = canonical(arena, path);
    if (*name != '/')
        name = arena_format(arena, "%s/%s", canonical(arena, "."), name);
    for (const struct json *file = files->first; file; file = file->next)
        if (strcmp(file->text, name) == 0)
            return;
    json_append(files, json_text(arena, name));
}

/* The files being read at the moment, innermost first. */
struct reading {
    const char *file; /* canonical */
    const struct reading *outer;
    uint32_t depth;
};

static bool include_all(const struct source *source, struct json *node, const struct reading *reading);

/* Reads one file and all that it includes; `asked_by` is where it was named, NULL for the command line. */
static struct json *load_file(const struct source *source, const char *path, const struct json *asked_by,
                              const struct reading *outer)
{
    struct reading reading = {
        .file = canonical(source->arena, path), .outer = outer, .depth = outer ? outer->depth + 1 : 0};
    const struct reading *same = outer;
    while (same && strcmp(same->file, reading.file) != 0)
        same = same->outer;
    if (same || reading.depth > INCLUDE_DEPTH_MAX)
        return node_refuse(source->errors, asked_by, NULL, "'%s' includes itself, expected files that end somewhere",
                           path);
    size_t size = 0;
    errno = 0;
    const char *bytes = file_read(source->arena, path, &size);
    if (!bytes && asked_by)
        return node_refuse(source->errors, asked_by, NULL, "cannot read '%s': %s", path, strerror(errno));
    if (!bytes)
        return errors_end(NULL, source->errors, "cannot read '%s': %s", path, strerror(errno));
    source_note_file(source->files, source->arena, path);
    struct json *node = json_parse(source->arena, source->errors, arena_text(source->arena, path), bytes, size);
    return node && include_all(source, node, &reading) ? node : NULL;
}

static bool is_reference(const struct json *node) { return json_find(node, "$ref"); }

/* Moves what `into` lacks over from `from`; what both have stays as it is in `into`. */
static void merge(struct arena *arena, struct json *into, struct json *from)
{
    struct json *next;
    for (struct json *child = from->first; child; child = next) {
        next = child->next;
        struct json *own = json_find(into, child->key);
        if (!own) {
            json_add(into, child->key, child);
            continue;
        }
        if (own->type != JSON_OBJECT || is_reference(own) || is_reference(child))
            continue;
        if (child->type == JSON_OBJECT) {
            merge(arena, own, child);
        } else if (child->type == JSON_TEXT && !json_find(own, "type")) {
            /* a bare component name that the including file gives settings to */
            json_add(own, "type", json_copy(arena, child));
        }
    }
}

static bool include_one(const struct source *source, struct json *object, const struct json *name,
                        const struct reading *reading)
{
    if (name->type != JSON_TEXT)
        return node_error(source->errors, name, NULL, "found %s, expected a file name or an array of them",
                          json_type_name(name->type));
    const char *directory_of = name->file && strcmp(name->file, COMMAND_LINE) != 0 ? name->file : NULL;
    struct json *other = load_file(source, path_beside(source->arena, directory_of, name->text), name, reading);
    if (!other)
        return false;
    if (other->type != JSON_OBJECT)
        return node_error(source->errors, name, NULL, "'%s' holds %s, expected an object to merge", name->text,
                          json_type_name(other->type));
    merge(source->arena, object, other);
    return true;
}

static bool include_all(const struct source *source, struct json *node, const struct reading *reading)
{
    bool is_good = true;
    struct json *include = json_find(node, "$include");
    for (struct json *child = node->first; child; child = child->next)
        if (child != include)
            is_good &= include_all(source, child, reading);
    if (!include)
        return is_good;
    /* Since present keys win, the files of a list are merged from the last to the first. */
    bool is_list = include->type == JSON_ARRAY;
    for (uint32_t i = is_list ? include->count : 1; i-- > 0;)
        is_good &= include_one(source, node, is_list ? json_at(include, i) : include, reading);
    json_remove(node, include); /* in place until now: messages name it */
    return is_good;
}

bool source_include(const struct source *source, struct json *node) { return include_all(source, node, NULL); }

struct json *source_read_file(const struct source *source, const char *path)
{
    return load_file(source, path, NULL, NULL);
}

bool source_override_all(const struct source *source, struct json *root, const char *const *overrides, uint32_t count)
{
    bool is_good = true;
    for (uint32_t i = 0; i < count; i++)
        is_good &= source_override(source, root, overrides[i]);
    return is_good;
}

static struct json *open_root(const struct source *source, struct json *root)
{
    if (!root)
        return NULL;
    if (root->type != JSON_OBJECT)
        return node_refuse(source->errors, root, NULL, "found %s, expected an object", json_type_name(root->type));
    struct json *schema = json_find(root, "$schema"); /* for editors; says nothing about the simulation */
    if (schema)
        json_remove(root, schema);
    return root;
}

struct json *source_open(const struct source *source, const char *path)
{
    return open_root(source, source_read_file(source, path));
}

/* What follows the reading of the text. */
static struct json *finish(const struct source *source, struct json *root, const char *const *overrides, uint32_t count)
{
    bool is_good = root && source_override_all(source, root, overrides, count) &&
                   source_resolve(source->arena, source->errors, root);
    return is_good ? root : NULL;
}

struct json *source_load(const struct source *source, const char *path, const char *const *overrides,
                         uint32_t override_count)
{
    return finish(source, source_open(source, path), overrides, override_count);
}

struct json *source_read(const struct source *source, const char *name, const char *bytes, size_t size,
                         const char *const *overrides, uint32_t override_count)
{
    struct json *root = json_parse(source->arena, source->errors, arena_text(source->arena, name), bytes, size);
    struct reading reading = {.file = canonical(source->arena, name)};
    if (!root || !include_all(source, root, &reading))
        return NULL;
    return finish(source, open_root(source, root), overrides, override_count);
}
