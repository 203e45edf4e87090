/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp list [KIND] [--json]: the registered components, sorted by kind and
 * name, one a line; or as a JSON array for programs.
 */
#include "cli/arguments.h"
#include "cli/cli.h"

#include "config/json.h"
#include "config/registry.h"
#include "config/suggest.h"

#include <string.h>

static void print_table(const char *kind)
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

static void print_json(struct arena *arena, const char *kind)
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

static int unknown_kind(const char *kind)
{
    struct nearest nearest = {.wanted = kind};
    for (const struct registration *at = registry_first(); at; at = registry_next_kind(at))
        nearest_try(&nearest, at->kind);
    struct text kinds = {0};
    registry_add_kinds(&kinds);
    fprintf(stderr, "flitwarp list: unknown kind '%s'", kind);
    if (nearest_word(&nearest))
        fprintf(stderr, " (did you mean '%s'?)", nearest_word(&nearest));
    fprintf(stderr, ", expected one of %s\n", kinds.length ? kinds.chars : "none");
    text_release(&kinds);
    return EXIT_USAGE;
}

struct list_request {
    bool as_json;
};

static const struct flag list_flags[] = {
    FLAG(struct list_request, as_json, "--json", "as a JSON array"),
    FLAG_END,
};

static int cli_list(int argc, char **argv)
{
    struct list_request request = {0};
    const char *kind = NULL;
    for (int i = 1; i < argc; i++) {
        if (flag_take(&list_command, &request, argc, argv, &i) == FLAG_TAKEN)
            continue;
        if (kind || argv[i][0] == '-') {
            fprintf(stderr, "flitwarp list: found '%s', expected at most one kind and --json\n", argv[i]);
            return EXIT_USAGE;
        }
        kind = argv[i];
    }
    if (kind && !registry_kind(kind))
        return unknown_kind(kind);
    struct arena arena = {0};
    if (request.as_json)
        print_json(&arena, kind);
    else
        print_table(kind);
    arena_release(&arena);
    return EXIT_DONE;
}

static void suggest_kind(struct suggestions *suggestions, int place)
{
    if (place == 0)
        suggest_kinds(suggestions);
}

const struct command list_command = {
    .name = "list",
    .words = "[KIND]",
    .summary = "registered components",
    .flags = list_flags,
    .suggest = suggest_kind,
    .call = cli_list,
};
