/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* A component from JSON text, as a configuration would choose it, for the tests of single components. */
#include "config/options.h"
#include "config/registry.h"

#include <string.h>

/* Memory and messages of one test; begin with CHOSEN_INIT, end with arena_release(&chosen.arena). */
struct chosen {
    struct arena arena;
    struct errors errors;
};
#define CHOSEN_INIT(name)                                                                                              \
    {                                                                                                                  \
        .errors = {.arena = &(name).arena }                                                                            \
    }

static inline struct choice choose(struct chosen *chosen, const char *kind, const char *json)
{
    struct option row = {.key = "component", .type = OPTION_TYPE_CHOICE, .kind = kind};
    struct config_reader reader = {.arena = &chosen->arena, .errors = &chosen->errors, .tick_seconds = 1e-9};
    struct choice choice = {0};
    struct json *node = json_parse(&chosen->arena, &chosen->errors, "test", json, strlen(json));
    if (node)
        choice_read(&reader, &row, node, &choice);
    FW_CHECK(choice.component, "no %s from %s", kind, json);
    return choice;
}

/* With its default settings. */
static inline struct choice choose_default(struct chosen *chosen, const struct registration *registration)
{
    return choose(chosen, registration->kind,
                  arena_format(&chosen->arena, "{\"type\": \"%s\"}", registration->component->name));
}

#define EACH_REGISTERED(at, kind) for (const struct registration *at = registry_kind(kind); at; at = registry_next(at))
