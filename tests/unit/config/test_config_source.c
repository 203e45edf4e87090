/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a configuration comes from: includes, overrides and references, each
 * with what it does and what it refuses.
 */
#include "test.h"

#include "base/text.h"
#include "config/json.h"
#include "config/source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A directory of files that a test writes and that vanishes afterwards. */
struct scene {
    struct arena arena;
    struct errors errors;
    char directory[64];
    const char *files[8];
    uint32_t count;
};

static void scene_open(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    scene->errors.arena = &scene->arena;
    if (!mkdtemp(strcpy(scene->directory, "/tmp/flitwarp_cfg_XXXXXX")))
        abort();
}

static const char *scene_file(struct scene *scene, const char *name, const char *text)
{
    const char *path = arena_format(&scene->arena, "%s/%s", scene->directory, name);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    return scene->files[scene->count++] = path;
}

static void scene_close(struct scene *scene)
{
    for (uint32_t i = 0; i < scene->count; i++)
        unlink(scene->files[i]);
    rmdir(scene->directory);
    arena_release(&scene->arena);
}

static const char *written(struct scene *scene, const struct json *node)
{
    char *chars = NULL;
    size_t size;
    if (!node)
        return errors_text(&scene->errors);
    FILE *out = open_memstream(&chars, &size);
    json_write(out, node, 0);
    fclose(out);
    const char *kept = arena_text(&scene->arena, chars);
    free(chars);
    return kept;
}

/* What the text becomes with up to two overrides, as one line; the messages when it is refused. */
static const char *outcome(struct scene *scene, const char *text, const char *first, const char *second)
{
    const char *overrides[] = {first, second};
    uint32_t count = first ? second ? 2 : 1 : 0;
    scene->errors = (struct errors){.arena = &scene->arena};
    struct json *root = source_read(&(struct source){&scene->arena, &scene->errors, NULL}, "x.json", text, strlen(text),
                                    overrides, count);
    EXPECT((root == NULL) == (scene->errors.count > 0));
    return written(scene, root);
}

TEST(an_included_file_fills_in_what_is_missing)
{
    struct scene scene;
    scene_open(&scene);
    scene_file(&scene, "base.json", "{\"a\": 1, \"list\": [1, 2], \"o\": {\"x\": 1, \"y\": 2}, \"r\": \"iq\"}");
    const char *main_file =
        scene_file(&scene, "main.json",
                   "{\"$include\": \"base.json\", \"list\": [3], \"o\": {\"y\": 5}, \"b\": 2, \"r\": {\"vcs\": 4}}");
    struct json *root = source_load(&(struct source){&scene.arena, &scene.errors, NULL}, main_file, NULL, 0);
    EXPECT_TEXT_EQ(written(&scene, root), "{\"list\": [3], \"o\": {\"y\": 5, \"x\": 1}, \"b\": 2, "
                                          "\"r\": {\"vcs\": 4, \"type\": \"iq\"}, \"a\": 1}");
    EXPECT_TEXT_CONTAINS(json_file(json_find(root, "a")), "base.json");
    scene_close(&scene);
}

TEST(later_includes_win_over_earlier_ones_and_nest_anywhere)
{
    struct scene scene;
    scene_open(&scene);
    scene_file(&scene, "one.json", "{\"a\": 1, \"b\": 1}");
    scene_file(&scene, "two.json", "{\"b\": 2, \"$include\": \"three.json\"}");
    scene_file(&scene, "three.json", "{\"b\": 3, \"c\": 3}");
    const char *main_file = scene_file(&scene, "main.json", "{\"in\": [{\"$include\": [\"one.json\", \"two.json\"]}]}");
    struct json *root = source_load(&(struct source){&scene.arena, &scene.errors, NULL}, main_file, NULL, 0);
    EXPECT_TEXT_EQ(written(&scene, root), "{\"in\": [{\"b\": 2, \"c\": 3, \"a\": 1}]}");
    scene_close(&scene);
}

TEST(the_files_of_a_configuration_are_listed_once_by_absolute_names)
{
    struct scene scene;
    scene_open(&scene);
    const char *part = scene_file(&scene, "part.json", "{\"a\": 1}");
    const char *more = scene_file(&scene, "more.json", "{\"b\": 2}");
    const char *main_file = scene_file(
        &scene, "main.json", "{\"$include\": \"part.json\", \"o\": {\"$include\": \"./part.json\"}, \"a\": 3}");
    const char *override = arena_format(&scene.arena, "c=file=%s", more);
    struct json *files = json_array(&scene.arena);
    EXPECT(source_load(&(struct source){&scene.arena, &scene.errors, files}, main_file, &override, 1));
    EXPECT_EQ_U64(files->count, 3);
    EXPECT(files->count == 3 && strcmp(json_at(files, 0)->text, main_file) == 0);
    EXPECT(files->count == 3 && strcmp(json_at(files, 1)->text, part) == 0);
    EXPECT(files->count == 3 && strcmp(json_at(files, 2)->text, more) == 0);
    source_note_file(files, &scene.arena, "no_such_file");
    source_note_file(files, &scene.arena, "no_such_file");
    EXPECT_EQ_U64(files->count, 4);
    EXPECT(files->last->text[0] == '/');
    EXPECT_TEXT_CONTAINS(files->last->text, "/no_such_file");
    scene_close(&scene);
}

TEST(a_cyclic_include_is_refused)
{
    struct scene scene;
    scene_open(&scene);
    scene_file(&scene, "b.json", "{\n\"deep\": {\"$include\": \"./a.json\"}}");
    const char *main_file = scene_file(&scene, "a.json", "{\"$include\": \"b.json\"}");
    EXPECT(!source_load(&(struct source){&scene.arena, &scene.errors, NULL}, main_file, NULL, 0));
    EXPECT_TEXT_CONTAINS(errors_text(&scene.errors), "b.json:2: deep.$include: ");
    EXPECT_TEXT_CONTAINS(errors_text(&scene.errors), "includes itself");
    scene_close(&scene);
}

TEST(missing_and_wrong_includes_are_refused_with_their_place)
{
    struct scene scene;
    scene_open(&scene);
    scene_file(&scene, "list.json", "[1]");
    scene_file(&scene, "broken.json", "{\"a\":\n 1,}");
    const char *main_file =
        scene_file(&scene, "main.json",
                   "{\"a\": {\n\"$include\": \"gone.json\"}, \"b\": {\"$include\": 3},\n"
                   "\"c\": {\"$include\": \"list.json\"}, \"d\": {\"$include\": [\"broken.json\"]}}");
    EXPECT(!source_load(&(struct source){&scene.arena, &scene.errors, NULL}, main_file, NULL, 0));
    const char *text = errors_text(&scene.errors);
    EXPECT_TEXT_CONTAINS(text, "main.json:2: a.$include: cannot read '");
    EXPECT_TEXT_CONTAINS(text, "gone.json': No such file or directory");
    EXPECT_TEXT_CONTAINS(text, "b.$include: found a number, expected a file name or an array of them");
    EXPECT_TEXT_CONTAINS(text, "main.json:3: c.$include: 'list.json' holds an array, expected an object to merge");
    EXPECT_TEXT_CONTAINS(text, "broken.json:2:4: found '}' after a comma");
    EXPECT_EQ_U64(scene.errors.count, 4);
    EXPECT(!source_load(&(struct source){&scene.arena, &scene.errors, NULL}, "/nonexistent/x.json", NULL, 0));
    EXPECT_TEXT_CONTAINS(errors_text(&scene.errors), "cannot read '/nonexistent/x.json': No such file");
    scene_close(&scene);
}

TEST(the_root_is_an_object_and_schema_is_dropped)
{
    struct scene scene;
    scene_open(&scene);
    EXPECT_TEXT_CONTAINS(outcome(&scene, "\n[1]", NULL, NULL),
                         "x.json:2: the configuration: found an array, expected an object");
    EXPECT_TEXT_EQ(outcome(&scene, "{\"$schema\": \"s.json\", \"a\": 1}", NULL, NULL), "{\"a\": 1}");
    scene_close(&scene);
}

TEST(overrides_take_every_form_of_path)
{
    static const struct {
        const char *override, *expected;
    } cases[] = {
        {"o.x=4", "{\"o\": {\"x\": 4}, \"l\": [{\"y\": 2}, 3]}"},
        {"/o/x=4", "{\"o\": {\"x\": 4}, \"l\": [{\"y\": 2}, 3]}"},
        {"o/x=4", "{\"o\": {\"x\": 4}, \"l\": [{\"y\": 2}, 3]}"},
        {"l.0.y=4", "{\"o\": {\"x\": 1}, \"l\": [{\"y\": 4}, 3]}"},
        {"l[0].y=4", "{\"o\": {\"x\": 1}, \"l\": [{\"y\": 4}, 3]}"},
        {"/l/1=4", "{\"o\": {\"x\": 1}, \"l\": [{\"y\": 2}, 4]}"},
        {"n.m.k=4", "{\"o\": {\"x\": 1}, \"l\": [{\"y\": 2}, 3], \"n\": {\"m\": {\"k\": 4}}}"},
        {"/a.b/c~1d~0=4", "{\"o\": {\"x\": 1}, \"l\": [{\"y\": 2}, 3], \"a.b\": {\"c/d~\": 4}}"},
        {"o=5", "{\"o\": 5, \"l\": [{\"y\": 2}, 3]}"},
    };
    struct scene scene;
    scene_open(&scene);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        EXPECT_TEXT_EQ(outcome(&scene, "{\"o\": {\"x\": 1}, \"l\": [{\"y\": 2}, 3]}", cases[i].override, NULL),
                       cases[i].expected);
    scene_close(&scene);
}

TEST(overrides_take_every_form_of_value)
{
    static const struct {
        const char *override, *expected;
    } cases[] = {
        {"a=4", "4"},
        {"a=1.50", "1.50"},
        {"a=true", "true"},
        {"a=null", "null"},
        {"a=[4, 4]", "[4, 4]"},
        {"a={\"b\": 1}", "{\"b\": 1}"},
        {"a=\"x\"", "\"x\""},
        {"a=torus", "\"torus\""},
        {"a=10ns", "\"10ns\""},
        {"a=", "\"\""},
        {"a=x=y", "\"x=y\""},
        {"a=uint=4", "4"},
        {"a=int=-4", "-4"},
        {"a=float=0.25", "0.25"},
        {"a=string=4", "\"4\""},
        {"a=bool=true", "true"},
        {"a=bool=0", "false"},
        {"a=ref=/o/x", "1"},
        {"a=ref=o.x", "1"},
        {"a=string=", "\"\""},
    };
    struct scene scene;
    scene_open(&scene);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        EXPECT_TEXT_EQ(outcome(&scene, "{\"o\": {\"x\": 1}}", cases[i].override, NULL),
                       arena_format(&scene.arena, "{\"o\": {\"x\": 1}, \"a\": %s}", cases[i].expected));
    scene_close(&scene);
}

TEST(an_override_can_be_the_content_of_a_file)
{
    struct scene scene;
    scene_open(&scene);
    const char *file = scene_file(&scene, "part.json", "{\"b\": [1]}");
    EXPECT_TEXT_EQ(outcome(&scene, "{}", arena_format(&scene.arena, "a=file=%s", file), NULL), "{\"a\": {\"b\": [1]}}");
    EXPECT_TEXT_EQ(outcome(&scene, "{}", arena_format(&scene.arena, "a={\"$include\": \"%s\"}", file), NULL),
                   "{\"a\": {\"b\": [1]}}");
    EXPECT_TEXT_CONTAINS(outcome(&scene, "{}", "a.b=file=/nonexistent", NULL),
                         "command line: a.b: cannot read '/nonexistent': No such file");
    scene_close(&scene);
}

TEST(an_override_into_a_bare_name_keeps_it_as_the_type)
{
    struct scene scene;
    scene_open(&scene);
    EXPECT_TEXT_EQ(outcome(&scene, "{\"router\": \"iq\"}", "router.vcs=4", "router.depth=2"),
                   "{\"router\": {\"type\": \"iq\", \"vcs\": 4, \"depth\": 2}}");
    scene_close(&scene);
}

TEST(wrong_overrides_are_refused)
{
    static const struct {
        const char *override, *message;
    } cases[] = {
        {"novalue", "command line: found 'novalue', expected PATH=VALUE"},
        {"=4", "command line: found '=4', expected PATH=VALUE"},
        {"a..b=4", "command line: a..b: expected keys separated by single dots"},
        {".a=4", "command line: .a: expected keys"},
        {"l[0=4", "command line: l[0: expected keys separated by single dots, numbers in brackets"},
        {"l0]=4", "command line: l0]: expected keys"},
        {"l[0]]=4", "command line: l[0]]: expected keys"},
        {"l]0=4", "command line: l]0: expected keys"},
        {"l[.0]=4", "command line: l[.0]: expected keys"},
        {"a.=4", "command line: a.: expected keys"},
        {"l.2=4", "command line: l.2: no element '2', accepted are 0 to 1"},
        {"l[9].x=4", "command line: l[9].x: no element '9', accepted are 0 to 1"},
        {"l.x=4", "command line: l.x: no element 'x', accepted are 0 to 1"},
        {"l.99999999999999999999=4", "accepted are 0 to 1"},
        {"e.0=4", "command line: e.0: no element '0': the array is empty"},
        {"o.x.y=4", "command line: o.x.y: 'o.x' is a number, expected an object to hold 'y'"},
        {"o.x=[1", "command line: o.x: value:1:3: found the end of the text, expected ',' or ']'"},
        {"o.x=uint=-1", "command line: o.x: found '-1', expected a whole number from 0"},
        {"o.x=uint=1.5", "found '1.5', expected a whole number from 0"},
        {"o.x=int=x", "found 'x', expected a whole number"},
        {"o.x=float=x", "found 'x', expected a number"},
        {"o.x=bool=2", "found '2', expected true, false, 1 or 0"},
        {"o.x=ref=/gone", "command line: o.x.$ref: no setting '/gone'"},
        {"r.y=4", "command line: r.y: 'r' is a reference"},
    };
    struct scene scene;
    scene_open(&scene);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        EXPECT_TEXT_CONTAINS(outcome(&scene, "{\"o\": {\"x\": 1}, \"l\": [1, 2], \"e\": [], \"r\": {\"$ref\": \"o\"}}",
                                     cases[i].override, NULL),
                             cases[i].message);
    EXPECT_EQ_U64((outcome(&scene, "{}", "x", "y"), scene.errors.count), 2); /* all of them at once */
    scene_close(&scene);
}

TEST(references_copy_other_settings_after_overrides)
{
    struct scene scene;
    scene_open(&scene);
    EXPECT_TEXT_EQ(
        outcome(&scene, "{\"a\": {\"$ref\": \"/b/x\"}, \"b\": {\"x\": [1, {\"$ref\": \"c\"}]}, \"c\": 2}", "c=7", NULL),
        "{\"a\": [1, 7], \"b\": {\"x\": [1, 7]}, \"c\": 7}");
    EXPECT_TEXT_EQ(outcome(&scene,
                           "{\"a\": {\"$ref\": \"b.x[1]\"}, \"b\": {\"$ref\": \"#/c\"}, \"c\": {\"x\": [1, 2]}}", NULL,
                           NULL),
                   "{\"a\": 2, \"b\": {\"x\": [1, 2]}, \"c\": {\"x\": [1, 2]}}");
    scene_close(&scene);
}

TEST(wrong_references_are_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"a\":\n {\"$ref\": \"/b\"}}", "x.json:2: a.$ref: no setting '/b': there is no 'b' in the configuration"},
        {"{\"a\": {\"$ref\": \"/b/2\"}, \"b\": [1]}", "a.$ref: no setting '/b/2': there is no '2' in 'b'"},
        {"{\"a\": {\"$ref\": \"/b/x\"}, \"b\": 3}", "there is no 'x' in 'b'"},
        {"{\"a\": {\"$ref\": 3}}", "a.$ref: expected the path of another setting"},
        {"{\"a\": {\"$ref\": \"\"}}", "a.$ref: expected the path of another setting"},
        {"{\"a\": {\"$ref\": \"b\", \"x\": 1}, \"b\": 1}", "a: found other keys beside '$ref'"},
        {"{\"a\": {\"$ref\": \"a\"}}", "a: the reference leads back here"},
        {"{\"a\": {\"$ref\": \"a/$ref\"}}", "a: the reference leads back here"},
        {"{\"a\": {\"b\": {\"$ref\": \"a\"}}}", "a.b: the reference leads back here"},
        {"{\"a\": {\"$ref\": \"b\"}, \"b\": {\"$ref\": \"a\"}}", "b: the reference leads back here"},
        {"{\"a\": [{\"$ref\": \"b\"}], \"b\": [{\"$ref\": \"c\"}], \"c\": [{\"$ref\": \"a\"}]}", "leads back here"},
    };
    struct scene scene;
    scene_open(&scene);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        EXPECT_TEXT_CONTAINS(outcome(&scene, cases[i].text, NULL, NULL), cases[i].message);
        EXPECT_EQ_U64(scene.errors.count, 1);
    }
    EXPECT_EQ_U64(
        (outcome(&scene, "{\"a\": {\"$ref\": \"x\"}, \"b\": {\"$ref\": \"y\"}}", NULL, NULL), scene.errors.count), 2);
    scene_close(&scene);
}

TEST(references_cannot_blow_up_the_configuration)
{
    struct scene scene;
    scene_open(&scene);
    struct text text = {0};
    text_add(&text, "{\"a0\": 1");
    for (int i = 1; i < 40; i++)
        text_addf(&text, ", \"a%d\": [{\"$ref\": \"a%d\"}, {\"$ref\": \"a%d\"}]", i, i - 1, i - 1);
    text_add(&text, "}");
    EXPECT_TEXT_CONTAINS(outcome(&scene, text.chars, NULL, NULL), "too large or too deep");
    text_release(&text);
    scene_close(&scene);
}
