/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell is offered in the place of PATH=VALUE: keys of the rows, of the components that are picked, and words. */
#include "test.h"
#include "config/test_config_rows.h"

#include "config/describe.h"

#include <stdlib.h>
#include <string.h>

/* Expects the words, each with a line end, behind what is written so far; `config` may be NULL. */
static void expect_settings(const char *config, const char *begun, const char *words)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    char *found = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&found, &size);
    struct json *root = config ? json_parse(&arena, &errors, "config", config, strlen(config)) : NULL;
    struct suggestions suggestions = {.arena = &arena, .out = stream, .begun = begun};
    suggest_setting(&suggestions, test_config_rows(), root);
    fclose(stream);
    EXPECT_TEXT_EQ(found, words);
    free(found);
    arena_release(&arena);
}

TEST(keys_are_completed_up_to_what_follows_them)
{
    expect_settings(NULL, "wi", "widths=\n");
    expect_settings(NULL, "in", "inner.\n");
    expect_settings(NULL, "shape", "shape.\nshape=\nshapes.\n");
    expect_settings(NULL, "inner.d", "inner.depth=\ninner.delay=\n");
    expect_settings(NULL, "none", "");
    expect_settings(NULL, "none.", "");
    expect_settings(NULL, "widths.", "");
    expect_settings(NULL, "inner=", "");
}

TEST(values_are_completed_where_they_are_words)
{
    expect_settings(NULL, "mode=fast", "mode=fast\nmode=fastest\n");
    expect_settings(NULL, "flag=", "flag=true\nflag=false\n");
    expect_settings(NULL, "shape=", "shape=test_box\nshape=test_dot\n");
    expect_settings(NULL, "shape.type=test_b", "shape.type=test_box\n");
    expect_settings(NULL, "small=", "");
}

TEST(a_component_offers_its_own_keys_as_the_configuration_picks_it)
{
    static const char box[] = "{\"shape\": {\"type\": \"test_box\", \"inside\": \"test_box\"}}";
    expect_settings(NULL, "shape.", "shape.type=\n"); /* a dot, the default, has none */
    expect_settings(box, "shape.", "shape.type=\nshape.sides=\nshape.inside.\nshape.inside=\n");
    expect_settings("{\"shape\": \"test_box\"}", "shape.s", "shape.sides=\n");
    expect_settings(box, "shape.inside.s", "shape.inside.sides=\n");
    expect_settings(box, "shape.inside=test_d", "shape.inside=test_dot\n");
    expect_settings("{\"shape\": \"gone\"}", "shape.", "shape.type=\n");
    expect_settings("{\"shape\": 7, \"inner\": []}", "shape.", "shape.type=\n");
    expect_settings(NULL, "extra.", "extra.type=\n");
}

TEST(members_of_a_list_are_counted)
{
    static const char two[] = "{\"shapes\": [\"test_dot\", \"test_box\"]}";
    expect_settings(NULL, "shapes.", "shapes.0.\n");
    expect_settings(two, "shapes.", "shapes.0.\nshapes.1.\n");
    expect_settings(two, "shapes.1.s", "shapes.1.sides=\n");
    expect_settings(two, "shapes.0.s", "");
    expect_settings(two, "shapes.7.", "shapes.7.type=\n");
    expect_settings(two, "shapes.0=", "shapes.0=test_box\nshapes.0=test_dot\n");
    expect_settings(two, "shapes.x.", "");
    expect_settings("{\"shapes\": 3}", "shapes.0.", "shapes.0.type=\n");
}
