/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp list [KIND] [--json]: the registered components, sorted by kind and
 * name, one a line; or as a JSON array for programs.
 */
#include "cli/command.h"

#include "config/json.h"
#include "config/registry.h"
#include "config/suggest.h"

#include <string.h>

static void list_print_table(const char *kind)
{
    int kind_width = 0, name_width = 0;
    for (const struct registration *at = registry_first(); at; at = at->next) {
        int kind_length = (int)strlen(at->kind), name_length = (int)strlen(at->component->name);
        kind_width = kind_length > kind_width ? kind_length : kind_width;
        name_width = name_length > name_width ? name_length : name_width;
    }
    for (const struct registration *at = registry_first(); at; at = at->next)
        if (!kind || strcmp(at->kind, kind) == 0)
            printf("%-*s  %-*s  %s\n", kind_width, at->kind, name_width, at->component->name, at->component->summary);
}

static void list_print_json(struct arena *arena, const char *kind)
{
    struct json *list = json_array(arena);
    for (const struct registration *at = registry_first(); at; at = at->next) {
        if (kind && strcmp(at->kind, kind) != 0)
            continue;
        struct json *entry = json_append(list, json_object(arena));
        json_add(entry, "kind", json_text(arena, at->kind));
        json_add(entry, "name", json_text(arena, at->component->name));
        json_add(entry, "summary", json_text(arena, at->component->summary));
    }
    json_write(stdout, list, 2);
    putchar('\n');
}

static void list_add_unknown(struct errors *errors, const char *kind)
{
    struct nearest nearest = {.wanted = kind};
    for (const struct registration *at = registry_first(); at; at = registry_next_kind(at))
        nearest_try(&nearest, at->kind);
    errors_add(errors, "flitwarp list: unknown kind '%s'%s, expected one of %s", kind,
               meant_hint(errors->arena, nearest_word(&nearest)), registry_kinds(errors->arena));
}

struct list_request {
    bool as_json;
};

static const struct flag list_flags[] = {
    FLAG(struct list_request, as_json, "--json", "as a JSON array"),
    FLAG_END,
};

static int cli_list(struct call *call)
{
    const struct list_request *request = call->request;
    const char *kind = NULL;
    for (int i = 1; i < call->argc && !call->errors.count; i++) {
        const char *word = call->argv[i];
        if (flag_take(call, &i) == FLAG_TAKEN)
            continue;
        if (kind || word[0] == '-')
            errors_add(&call->errors, "flitwarp list: found '%s', expected at most one kind and --json", word);
        kind = word;
    }
    if (!call->errors.count && kind && !registry_kind(kind))
        list_add_unknown(&call->errors, kind);
    if (call->errors.count)
        return EXIT_USAGE;
    if (request->as_json)
        list_print_json(&call->arena, kind);
    else
        list_print_table(kind);
    return EXIT_DONE;
}

static void list_suggest(struct suggestions *suggestions, int place)
{
    if (place == 0)
        suggest_kinds(suggestions);
}

static const struct command list_command = {
    .name = "list",
    .order = 90,
    .words = "[KIND]",
    .summary = "registered components",
    .flags = list_flags,
    .request_size = sizeof(struct list_request),
    .suggest = list_suggest,
    .run = cli_list,
};
REGISTER_COMMAND(list_command);
