/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry, and what is made of it and of option rows for readers: list,
 * explain and schema.
 */
#include "test.h"
#include "config/test_config_rows.h"

#include "config/describe.h"
#include "config/options.h"
#include "config/registry.h"

#include <stdlib.h>
#include <string.h>

TEST(the_registry_is_sorted_and_finds_by_kind_and_name)
{
    for (const struct registration *at = registry_first(); at && at->next; at = at->next) {
        int kinds = strcmp(at->kind, at->next->kind);
        EXPECT(kinds < 0 || (kinds == 0 && strcmp(at->component->name, at->next->component->name) < 0));
    }
    EXPECT_TEXT_EQ(component_find("test_shape", "test_box")->name, "test_box");
    EXPECT(component_find("test_shape", "gone") == NULL);
    EXPECT(component_find("gone", "test_box") == NULL);
    EXPECT_TEXT_EQ(registry_nearest("test_shape", "tes_dot"), "test_dot");
    EXPECT(registry_nearest("test_shape", "hypercube") == NULL);
    struct arena arena = {0};
    EXPECT_TEXT_EQ(registry_names(&arena, "test_shape"), "test_box, test_dot");
    EXPECT_TEXT_CONTAINS(registry_kinds(&arena), "test_shape");
    arena_release(&arena);
}

TEST(a_name_registered_twice_is_reported)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    static const struct component twin = {.name = "twin", .summary = "x"};
    static struct registration first = REGISTRATION_("zz_test_twin", &twin);
    static struct registration second = REGISTRATION_("zz_test_twin", &twin);
    EXPECT(registry_check(&errors));
    registration_add(&first);
    EXPECT(registry_check(&errors));
    registration_add(&second);
    EXPECT(!registry_check(&errors));
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "zz_test_twin 'twin' is registered twice, by '");
    first.next = second.next; /* one of them out again: the registry itself has no use for removal */
    second.next = NULL;
    errors = (struct errors){.arena = &arena};
    EXPECT(registry_check(&errors));
    arena_release(&arena);
}

TEST(a_plugin_that_cannot_be_loaded_is_reported)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    EXPECT(!plugin_load("/nonexistent/plugin.so", &errors));
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "plugin '/nonexistent/plugin.so': cannot be loaded: ");
    EXPECT(!plugin_load("nonexistent.so", &errors));
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "./nonexistent.so: cannot open");
    arena_release(&arena);
}

/* What describe_name prints, or its message. */
static const char *explained(struct arena *arena, const char *name)
{
    struct errors errors = {.arena = arena};
    char *chars = NULL;
    size_t size;
    FILE *out = open_memstream(&chars, &size);
    bool is_good = describe_name(out, test_config_rows(), name, &errors);
    fclose(out);
    const char *text = arena_text(arena, is_good ? chars : errors_text(&errors));
    EXPECT(is_good == (errors.count == 0));
    free(chars);
    return text;
}

TEST(explain_shows_every_key_default_range_and_help)
{
    struct arena arena = {0};
    char *chars = NULL;
    size_t size;
    FILE *out = open_memstream(&chars, &size);
    describe_rows(out, test_config_rows(), &arena);
    fclose(out);
    ROWS_EACH(row, test_config_rows()) {
        EXPECT_TEXT_CONTAINS(chars, row->key);
        EXPECT_TEXT_CONTAINS(chars, row->help);
        if (row->fallback && row->type != OPTION_TYPE_BLOCK)
            EXPECT_TEXT_CONTAINS(chars, row->fallback);
    }
    EXPECT_TEXT_CONTAINS(chars, "whole number, 2 to 65536 flits");
    EXPECT_TEXT_CONTAINS(chars, "required");
    EXPECT_TEXT_CONTAINS(chars, "inner.depth");
    EXPECT_TEXT_CONTAINS(chars, "slow | fast | fastest");
    EXPECT_TEXT_CONTAINS(chars, "test_shape: test_box, test_dot");
    free(chars);
    arena_release(&arena);
}

TEST(explain_finds_components_kinds_and_blocks)
{
    struct arena arena = {0};
    EXPECT_TEXT_CONTAINS(explained(&arena, "test_box"), "test_shape test_box: a box that holds another shape\n");
    EXPECT_TEXT_CONTAINS(explained(&arena, "test_box"), "example: \"shape\": {\"type\": \"test_box\", \"sides\": 6}");
    EXPECT_TEXT_CONTAINS(explained(&arena, "test_shape/test_dot"), "no options");
    EXPECT_TEXT_CONTAINS(explained(&arena, "test_dot"), "{\"type\": \"test_dot\"}");
    EXPECT_TEXT_CONTAINS(explained(&arena, "test_shape"), "a point without options");
    EXPECT_TEXT_CONTAINS(explained(&arena, "inner"), "depth of the inner buffer");
    EXPECT_TEXT_CONTAINS(explained(&arena, "test_bxo"), "nothing is called 'test_bxo' (did you mean 'test_box'?)");
    EXPECT_TEXT_CONTAINS(explained(&arena, "test_shape/test_bxo"), "did you mean 'test_box'?");
    EXPECT_TEXT_EQ(explained(&arena, "depth"), "'depth' is a setting; explain what has it: inner\n");
    EXPECT_TEXT_EQ(explained(&arena, "sides"), "'sides' is a setting; explain what has it: test_shape/test_box\n");
    EXPECT_TEXT_CONTAINS(explained(&arena, "inner.gone"), "nothing is called 'inner.gone'");
    EXPECT_TEXT_CONTAINS(explained(&arena, "inner.depth"), "depth of the inner buffer");
    EXPECT_TEXT_CONTAINS(explained(&arena, "shape.sides"), "sides of test_box");
    EXPECT_TEXT_CONTAINS(explained(&arena, "shape.type"), "test_shape: one of\n");
    EXPECT_TEXT_CONTAINS(explained(&arena, "shape.gone"), "nothing is called 'shape.gone'");
    EXPECT_TEXT_CONTAINS(explained(&arena, "network.test_shape"), "(did you mean 'test_shape'?)");
    arena_release(&arena);
}

static void expect_pointers_to_lead_somewhere(const struct json *node, const struct json *definitions)
{
    const struct json *pointer = json_find(node, "$ref");
    if (pointer && pointer->type == JSON_TEXT) {
        EXPECT(strncmp(pointer->text, "#/$defs/", 8) == 0);
        EXPECT(json_find(definitions, pointer->text + 8) != NULL);
    }
    for (const struct json *child = node->first; child; child = child->next)
        expect_pointers_to_lead_somewhere(child, definitions);
}

TEST(the_schema_is_json_and_holds_every_key_and_component)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    char *chars = NULL;
    size_t size;
    FILE *out = open_memstream(&chars, &size);
    json_write(out, schema_create(&arena, test_config_rows()), 2);
    fclose(out);
    struct json *schema = json_parse(&arena, &errors, "schema", chars, size);
    EXPECT_TEXT_EQ(errors_text(&errors), "");
    struct json *properties = json_find(schema, "properties");
    ROWS_EACH(row, test_config_rows())
        EXPECT(json_find(properties, row->key) != NULL);
    EXPECT_TEXT_EQ(json_find(schema, "required")->first->text, "needed");
    struct json *definitions = json_find(schema, "$defs");
    EXPECT(json_find(definitions, "test_shape") != NULL);
    struct json *box = json_find(definitions, "test_shape.test_box");
    EXPECT(json_find(json_find(box, "properties"), "sides") != NULL);
    expect_pointers_to_lead_somewhere(schema, definitions);
    free(chars);
    arena_release(&arena);
}

/* What a component makes of a text; NULL when it accepts it. */
static const char *objection(struct arena *arena, const struct registration *registration, const char *text)
{
    struct errors errors = {.arena = arena};
    struct json *node = json_parse(arena, &errors, registration->component->name, text, strlen(text));
    struct config_reader reader = {.arena = arena, .errors = &errors, .tick_seconds = 1e-12};
    const struct option row = {
        .key = registration->kind, .type = OPTION_TYPE_CHOICE, .kind = registration->kind, .help = "any"};
    struct choice choice;
    return node && choice_read(&reader, &row, node, &choice) ? NULL : errors_text(&errors);
}

TEST(every_component_accepts_its_own_example_and_defaults)
{
    for (const struct registration *at = registry_first(); at; at = at->next) {
        struct arena arena = {0};
        const char *type_alone = arena_format(&arena, "{\"type\": \"%s\"}", at->component->name);
        const char *example = at->component->example ? at->component->example : type_alone;
        const char *refused = objection(&arena, at, example);
        EXPECT_TEXT_EQ(refused ? refused : "", "");
        refused = objection(&arena, at, type_alone);
        EXPECT(!refused || strstr(refused, "missing, expected ")); /* only what is required may be wrong */
        arena_release(&arena);
    }
}
