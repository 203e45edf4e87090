/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader and writer: what is read, what is refused and with which
 * message, and that documents are written the same way every time.
 */
#include "test.h"

#include "base/text.h"
#include "config/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct json *parse(struct arena *arena, struct errors *errors, const char *text)
{
    *errors = (struct errors){.arena = arena};
    return json_parse(arena, errors, "x.json", text, strlen(text));
}

static const char *written(struct arena *arena, const struct json *node, int indent)
{
    char *chars = NULL;
    size_t size;
    FILE *out = open_memstream(&chars, &size);
    json_write(out, node, indent);
    fclose(out);
    const char *kept = arena_text(arena, chars);
    free(chars);
    return kept;
}

TEST(json_keeps_values_order_and_places)
{
    struct arena arena = {0};
    struct errors errors;
    struct json *root = parse(&arena, &errors, "{\"b\": 1.50,\n \"a\": [true, null, \"x\"],\n\n  \"c\": {}}");
    EXPECT_EQ_U64(errors.count, 0);
    EXPECT_EQ_U64(root->count, 3);
    EXPECT_TEXT_EQ(root->first->key, "b");
    EXPECT_NEAR(root->first->number, 1.5, 0);
    EXPECT_TEXT_EQ(root->first->text, "1.50");
    struct json *a = json_find(root, "a");
    EXPECT_EQ_U64(a->line, 2);
    EXPECT_EQ_U64(a->column, 7);
    EXPECT(json_at(a, 0)->truth);
    EXPECT(json_at(a, 1)->type == JSON_NULL);
    EXPECT_EQ_U64(json_at(a, 2)->column, 20);
    EXPECT(json_at(a, 3) == NULL);
    EXPECT_EQ_U64(json_find(root, "c")->line, 4);
    EXPECT_TEXT_EQ(json_path(&arena, json_at(a, 2)), "a[2]");
    EXPECT(json_find(root, "z") == NULL);
    EXPECT(json_find(a, "z") == NULL);
    arena_release(&arena);
}

TEST(json_skips_comments)
{
    struct arena arena = {0};
    struct errors errors;
    struct json *root = parse(&arena, &errors, "// first\n/* a\n b */ {/**/\"a\"/* x */: // y\n 1 /* * / */}//end");
    EXPECT_TEXT_EQ(errors_text(&errors), "");
    EXPECT_EQ_U64(json_find(root, "a")->line, 4);
    EXPECT_NEAR(json_find(root, "a")->number, 1, 0);
    arena_release(&arena);
}

TEST(json_text_understands_escapes)
{
    struct arena arena = {0};
    struct errors errors;
    struct json *text =
        parse(&arena, &errors, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t \\u00e9 \\u20ac \\ud83d\\ude00 \xc3\xa9\"");
    EXPECT_TEXT_EQ(errors_text(&errors), "");
    EXPECT_TEXT_EQ(text->text, "\"\\/\b\f\n\r\t \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xc3\xa9");
    struct json *again = parse(&arena, &errors, written(&arena, text, 0));
    EXPECT_TEXT_EQ(again->text, text->text);
    EXPECT(parse(&arena, &errors, "\xef\xbb\xbf{}") != NULL);
    arena_release(&arena);
}

TEST(json_refusals_say_where_what_and_what_instead)
{
    static const struct {
        const char *text, *message;
    } refusals[] = {
        {"", "x.json:1:1: found the end of the text, expected a value"},
        {"{\"a\": 1,}", "x.json:1:9: found '}' after a comma, expected another key"},
        {"[1,\n2,\n]", "x.json:3:1: found ']' after a comma, expected another value"},
        {"[1 2]", "x.json:1:4: found '2', expected ',' or ']'"},
        {"{\"a\" 1}", "x.json:1:6: found '1', expected ':' after key 'a'"},
        {"{a: 1}", "x.json:1:2: found 'a', expected a key in double quotes or '}'"},
        {"{\"a\": 1", "x.json:1:8: found the end of the text, expected ',' or '}'"},
        {"{\n\"a\": 1,\n\"b\": 2,\n\"a\": 3}",
         "x.json:4:1: found key 'a' a second time, expected it once (the first is in line 2)"},
        {"[NaN]", "x.json:1:2: found 'NaN', expected a value: text in double quotes, a finite number"},
        {"[Infinity]", "found 'Infinity', expected a value"},
        {"[-Infinity]", "found '-' before 'Infinity', expected a number"},
        {"[1e999]", "found 1e999, expected a number below"},
        {"[01]", "found a number with a leading zero"},
        {"[1.]", "expected a digit after the point"},
        {"[1e]", "expected a digit of the exponent"},
        {"[10ns]", "x.json:1:4: found 'ns' right behind a number"},
        {"[+1]", "found '+', expected a value"},
        {"['a']", "found ''', expected a value"},
        {"[\"a]\n", "x.json:1:5: found the end of the line, expected '\"' to close a text"},
        {"[\"a\tb\"]", "found byte 0x09 inside a text, expected it escaped"},
        {"[\"\\x\"]", "x.json:1:3: found \\ before 'x', expected one of"},
        {"[\"\\u12g4\"]", "expected four hexadecimal digits"},
        {"[\"\\ud800\"]", "found \\ud800, expected a character"},
        {"[\"\\u0000\"]", "found \\u0000, expected a character"},
        {"[\"\xff\"]", "found byte 0xff inside a text, expected UTF-8"},
        {"[\"\xc0\xaf\"]", "expected UTF-8"},
        {"[\"\xed\xa0\x80\"]", "expected UTF-8"},
        {"[\"\xf0\x80\x80\x80\"]", "expected UTF-8"},
        {"{} {}", "x.json:1:4: found '{' behind the value, expected the end of the text"},
        {"[1] /* open", "expected */ to close a comment"},
        {"[1, / 2]", "found '/', expected a value or a comment"},
        {"[truth]", "found 'truth', expected a value"},
        {"[\x01]", "found byte 0x01, expected a value"},
    };
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct arena arena = {0};
        struct errors errors;
        EXPECT(parse(&arena, &errors, refusals[i].text) == NULL);
        EXPECT_EQ_U64(errors.count, 1);
        EXPECT_TEXT_CONTAINS(errors_text(&errors), refusals[i].message);
        arena_release(&arena);
    }
}

TEST(json_refuses_a_zero_byte)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    EXPECT(!json_parse(&arena, &errors, "x.json", "[1,\0 2]", 7));
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "x.json:1:4: found byte 0x00, expected a value");
    arena_release(&arena);
}

TEST(json_refuses_too_many_levels_and_takes_the_limit)
{
    struct arena arena = {0};
    struct errors errors;
    struct text deep = {0};
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        text_add(&deep, "[");
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        text_add(&deep, "]");
    EXPECT(parse(&arena, &errors, deep.chars) != NULL);
    struct text deeper = {0};
    text_addf(&deeper, "[%s]", deep.chars);
    EXPECT(parse(&arena, &errors, deeper.chars) == NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "more than 200 levels");
    text_release(&deep);
    text_release(&deeper);
    arena_release(&arena);
}

TEST(json_numbers_are_written_shortest_and_read_back_equal)
{
    static const struct {
        double number;
        const char *text;
    } numbers[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-17, "-17"},
        {1e15, "1000000000000000"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {1.0 / 3, "0.3333333333333333"},
        {1e300, "1e+300"},
        {625e-12, "6.25e-10"},
        {0.1 + 0.2, "0.30000000000000004"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct json *node = json_number_f64(&arena, numbers[i].number);
        EXPECT_TEXT_EQ(written(&arena, node, 0), numbers[i].text);
        EXPECT_NEAR(strtod(node->text, NULL), numbers[i].number, 0);
    }
    EXPECT_TEXT_EQ(written(&arena, json_number_f64(&arena, NAN), 0), "null");
    EXPECT_TEXT_EQ(written(&arena, json_number_f64(&arena, -INFINITY), 0), "null");
    EXPECT_TEXT_EQ(written(&arena, json_number_u64(&arena, UINT64_MAX), 0), "18446744073709551615");
    arena_release(&arena);
}

TEST(json_documents_are_built_and_written_with_indent)
{
    struct arena arena = {0};
    struct json *root = json_object(&arena);
    struct json *list = json_add(root, "list", json_array(&arena));
    json_append(list, json_number_u64(&arena, 8));
    json_append(list, json_number_u64(&arena, 9));
    struct json *inner = json_add(root, "inner", json_object(&arena));
    json_add(inner, "text", json_text(&arena, "a\"\\\n\x01"));
    json_add(inner, "yes", json_bool(&arena, true));
    json_append(json_add(root, "objects", json_array(&arena)), json_object(&arena));
    EXPECT_TEXT_EQ(written(&arena, root, 2),
                   "{\n  \"list\": [8, 9],\n  \"inner\": {\n    \"text\": \"a\\\"\\\\\\n\\u0001\",\n"
                   "    \"yes\": true\n  },\n  \"objects\": [\n    {}\n  ]\n}");
    EXPECT_TEXT_EQ(written(&arena, root, 0),
                   "{\"list\": [8, 9], \"inner\": {\"text\": \"a\\\"\\\\\\n\\u0001\", \"yes\": true}, "
                   "\"objects\": [{}]}");
    arena_release(&arena);
}

TEST(json_comments_stand_above_their_values_and_are_skipped_when_read)
{
    struct arena arena = {0};
    struct json *root = json_object(&arena);
    json_add(root, "a", json_number_u64(&arena, 1))->comment = "one\ntwo";
    EXPECT_TEXT_EQ(written(&arena, root, 2), "{\n  // one\n  // two\n  \"a\": 1\n}");
    EXPECT_TEXT_EQ(written(&arena, root, 0), "{\"a\": 1}");
    struct errors errors = {.arena = &arena};
    const char *text = written(&arena, root, 2);
    EXPECT(json_parse(&arena, &errors, "x", text, strlen(text)));
    arena_release(&arena);
}

TEST(json_members_can_be_removed_and_replaced)
{
    struct arena arena = {0};
    struct errors errors;
    struct json *root = parse(&arena, &errors, "{\"a\": 1, \"b\": [2, 3], \"c\": 4}");
    json_remove(root, json_find(root, "c"));
    json_remove(root, json_find(root, "a"));
    EXPECT_TEXT_EQ(written(&arena, root, 0), "{\"b\": [2, 3]}");
    json_add(root, "d", json_null(&arena));
    struct json *copy = json_copy(&arena, json_find(root, "b"));
    json_replace(json_find(root, "d"), copy);
    EXPECT_TEXT_EQ(written(&arena, root, 0), "{\"b\": [2, 3], \"d\": [2, 3]}");
    EXPECT_TEXT_EQ(json_path(&arena, json_at(json_find(root, "d"), 1)), "d[1]");
    arena_release(&arena);
}

TEST(a_word_that_is_not_json_is_text)
{
    struct arena arena = {0};
    EXPECT(json_from_word(&arena, "12")->type == JSON_NUMBER);
    EXPECT(json_from_word(&arena, "\"12\"")->type == JSON_TEXT);
    EXPECT_TEXT_EQ(json_from_word(&arena, "10ns")->text, "10ns");
    EXPECT_TEXT_EQ(json_from_word(&arena, "")->text, "");
    EXPECT(json_from_word(&arena, "[1, 2]")->first->file == NULL);
    arena_release(&arena);
}

TEST(a_text_may_begin_at_another_line)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    const char text[] = "[1,\n2";
    EXPECT(!json_parse_at(&arena, &errors, "input", 17, text, strlen(text)));
    EXPECT_TEXT_CONTAINS(errors_text(&errors), "input:18:2: ");
    arena_release(&arena);
}
