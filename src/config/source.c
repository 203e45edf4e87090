/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading a configuration and merging what it includes. An object's own keys
 * win over those of the files it includes, and later files win over earlier
 * ones. Objects merge deeply; everything else, arrays too, is replaced whole.
 */
#include "config/source.h"

#include "config/place.h"
#include "flitwarp/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INCLUDE_DEPTH_MAX 32

/* The files being read at the moment, innermost first. */
struct reading {
    const char *file; /* without links and dots, so that names compare */
    const struct reading *outer;
    uint32_t depth;
};

struct loader {
    struct arena *arena;
    struct errors *errors;
};

static bool include_all(const struct loader *loader, struct json *node, const struct reading *reading);

static const char *canonical(const struct loader *loader, const char *path)
{
    char *real = realpath(path, NULL);
    const char *name = arena_text(loader->arena, real ? real : path);
    free(real);
    return name;
}

static bool is_being_read(const struct reading *reading, const char *file)
{
    for (; reading; reading = reading->outer)
        if (strcmp(reading->file, file) == 0)
            return true;
    return false;
}

/* Reads one file and all that it includes; `asked_by` is where it was named, NULL for the command line. */
static struct json *load_file(const struct loader *loader, const char *path, const struct json *asked_by,
                              const struct reading *outer)
{
    struct reading reading = {.file = canonical(loader, path), .outer = outer, .depth = outer ? outer->depth + 1 : 0};
    if (is_being_read(outer, reading.file) || reading.depth > INCLUDE_DEPTH_MAX) {
        node_error(loader->errors, asked_by, NULL, "'%s' includes itself, expected files that end somewhere", path);
        return NULL;
    }
    size_t size = 0;
    errno = 0;
    const char *bytes = file_read(loader->arena, path, &size);
    if (!bytes) {
        const char *reason = strerror(errno);
        if (asked_by)
            node_error(loader->errors, asked_by, NULL, "cannot read '%s': %s", path, reason);
        else
            errors_add(loader->errors, "cannot read '%s': %s", path, reason);
        return NULL;
    }
    struct json *node = json_parse(loader->arena, loader->errors, arena_text(loader->arena, path), bytes, size);
    return node && include_all(loader, node, &reading) ? node : NULL;
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
            struct json *type = json_text(arena, child->text);
            type->file = child->file;
            type->line = child->line;
            json_add(own, "type", type);
        }
    }
}

static bool include_one(const struct loader *loader, struct json *object, const struct json *name,
                        const struct reading *reading)
{
    if (name->type != JSON_TEXT) {
        node_error(loader->errors, name, NULL, "found %s, expected a file name or an array of them",
                   json_type_name(name->type));
        return false;
    }
    const char *directory_of = name->file && strcmp(name->file, COMMAND_LINE) != 0 ? name->file : NULL;
    struct json *other = load_file(loader, path_beside(loader->arena, directory_of, name->text), name, reading);
    if (!other)
        return false;
    if (other->type != JSON_OBJECT) {
        node_error(loader->errors, name, NULL, "'%s' holds %s, expected an object to merge", name->text,
                   json_type_name(other->type));
        return false;
    }
    merge(loader->arena, object, other);
    return true;
}

/* Since present keys win, the files of a list are merged from the last to the first. */
static bool include_into(const struct loader *loader, struct json *object, const struct json *include,
                         const struct reading *reading)
{
    if (include->type != JSON_ARRAY)
        return include_one(loader, object, include, reading);
    bool is_good = true;
    for (uint32_t i = include->count; i-- > 0;)
        is_good &= include_one(loader, object, json_at(include, i), reading);
    return is_good;
}

static bool include_all(const struct loader *loader, struct json *node, const struct reading *reading)
{
    bool is_good = true;
    struct json *include = json_find(node, "$include");
    for (struct json *child = node->first; child; child = child->next)
        if (child != include)
            is_good &= include_all(loader, child, reading);
    if (!include)
        return is_good;
    is_good &= include_into(loader, node, include, reading); /* in place until now: messages name it */
    json_remove(node, include);
    return is_good;
}

bool source_include(struct arena *arena, struct errors *errors, struct json *node)
{
    return include_all(&(struct loader){arena, errors}, node, NULL);
}

struct json *source_read_file(struct arena *arena, struct errors *errors, const char *path)
{
    return load_file(&(struct loader){arena, errors}, path, NULL, NULL);
}

/* What follows the reading of the text; all overrides are tried, so that all messages come at once. */
static struct json *finish(struct arena *arena, struct errors *errors, struct json *root, const char *const *overrides,
                           uint32_t override_count)
{
    if (!root)
        return NULL;
    if (root->type != JSON_OBJECT) {
        node_error(errors, root, NULL, "found %s, expected an object", json_type_name(root->type));
        return NULL;
    }
    struct json *schema = json_find(root, "$schema"); /* for editors; says nothing about the simulation */
    if (schema)
        json_remove(root, schema);
    bool is_good = true;
    for (uint32_t i = 0; i < override_count; i++)
        is_good &= source_override(arena, errors, root, overrides[i]);
    return is_good && source_resolve(arena, errors, root) ? root : NULL;
}

struct json *source_load(struct arena *arena, struct errors *errors, const char *path, const char *const *overrides,
                         uint32_t override_count)
{
    struct json *root = source_read_file(arena, errors, path);
    return finish(arena, errors, root, overrides, override_count);
}

struct json *source_read(struct arena *arena, struct errors *errors, const char *name, const char *bytes, size_t size,
                         const char *const *overrides, uint32_t override_count)
{
    struct loader loader = {arena, errors};
    struct json *root = json_parse(arena, errors, arena_text(arena, name), bytes, size);
    struct reading reading = {.file = canonical(&loader, name)};
    if (!root || !include_all(&loader, root, &reading))
        return NULL;
    return finish(arena, errors, root, overrides, override_count);
}
