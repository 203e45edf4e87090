/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recursive-descent JSON reader. We have our own because messages about
 * settings need the line of every value, and because configurations carry
 * comments. It stops at the first error: what follows a syntax error is
 * guesswork. Newlines occur between tokens only (text cannot span lines), so
 * skip_blank is the one place that counts lines.
 */
#include "config/json.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct arena *arena;
    struct errors *errors;
    const char *file;
    const char *at; /* the end, once anything was wrong */
    const char *end;
    const char *line_start;
    uint32_t line;
    uint32_t depth;
    bool has_failed;
};

static struct json *parse_value(struct parser *parser);

/* Only the first error counts. Returns NULL, or false. */
#define fail(parser, place, ...) parser_fail(parser, place, arena_format((parser)->arena, __VA_ARGS__))
static void *parser_fail(struct parser *parser, const char *place, const char *message)
{
    if (!parser->has_failed)
        errors_add(parser->errors, "%s:%u:%u: %s", parser->file, parser->line,
                   (uint32_t)(place - parser->line_start + 1), message);
    parser->has_failed = true;
    parser->at = parser->end;
    return NULL;
}

static bool is_next(const struct parser *parser, char c) { return parser->at < parser->end && *parser->at == c; }

static bool accept(struct parser *parser, char c)
{
    if (!is_next(parser, c))
        return false;
    parser->at++;
    return true;
}

/* Characters of the word that stands here. */
static int word_length(const struct parser *parser)
{
    const char *end = parser->at;
    while (end < parser->end && (isalnum((unsigned char)*end) || *end == '_' || *end == '$'))
        end++;
    return (int)(end - parser->at);
}

/* What stands at the current place, for messages. */
static const char *found(const struct parser *parser)
{
    if (parser->at == parser->end)
        return "the end of the text";
    int length = word_length(parser);
    if (length)
        return arena_format(parser->arena, "'%.*s'", length < 40 ? length : 40, parser->at);
    unsigned char c = (unsigned char)*parser->at;
    return isprint(c) ? arena_format(parser->arena, "'%c'", c) : arena_format(parser->arena, "byte 0x%02x", c);
}

static void skip_char(struct parser *parser)
{
    if (*parser->at++ == '\n') {
        parser->line++;
        parser->line_start = parser->at;
    }
}

/* Past a comment that begins here. */
static void skip_comment(struct parser *parser)
{
    char kind = parser->end - parser->at > 1 ? parser->at[1] : 0;
    uint32_t first_line = parser->line;
    if (kind != '/' && kind != '*') {
        fail(parser, parser->at, "found '/', expected a value or a comment (// or /* */)");
        return;
    }
    for (parser->at += 2; parser->at < parser->end; skip_char(parser)) {
        if (kind == '/' && *parser->at == '\n')
            return;
        if (kind == '*' && *parser->at == '*' && parser->end - parser->at > 1 && parser->at[1] == '/') {
            parser->at += 2;
            return;
        }
    }
    if (kind == '*')
        fail(parser, parser->at, "found the end of the text, expected */ to close a comment that begins in line %u",
             first_line);
}

static void skip_blank(struct parser *parser)
{
    while (parser->at < parser->end) {
        if (*parser->at == '/')
            skip_comment(parser);
        else if (*parser->at && strchr(" \t\r\n", *parser->at))
            skip_char(parser);
        else
            return;
    }
}

static struct json *node_here(struct parser *parser, enum json_type type)
{
    struct json *node = arena_take(parser->arena, sizeof(*node));
    node->type = type;
    node->file = parser->file;
    node->line = parser->line;
    node->column = (uint32_t)(parser->at - parser->line_start + 1);
    return node;
}

/* Four hexadecimal digits at `at`; -1 when there are none. */
static int32_t hex4(const char *at, const char *end)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        if (at + i >= end || !isxdigit((unsigned char)at[i]))
            return -1;
        int c = tolower((unsigned char)at[i]);
        value = value * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return value;
}

static char *put_utf8(char *to, uint32_t code)
{
    static const unsigned char marks[] = {0, 0xc0, 0xe0, 0xf0};
    uint32_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes behind the first */
    *to++ = (char)(marks[more] | code >> 6 * more);
    while (more--)
        *to++ = (char)(0x80 | (code >> 6 * more & 63));
    return to;
}

/* \uXXXX, or two of them for a character beyond the first 65536; `at` stands behind the u. */
static char *unescape_unicode(struct parser *parser, char *to)
{
    const char *start = parser->at - 2;
    int32_t code = hex4(parser->at, parser->end);
    if (code < 0)
        return fail(parser, start, "found \\u, expected four hexadecimal digits after it");
    parser->at += 4;
    if (code >= 0xd800 && code < 0xdc00 && is_next(parser, '\\')) {
        int32_t low = parser->end - parser->at > 1 && parser->at[1] == 'u' ? hex4(parser->at + 2, parser->end) : -1;
        if (low >= 0xdc00 && low < 0xe000) {
            parser->at += 6;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        return fail(parser, start, "found \\u%04x, expected a character (not half a pair, not zero)", code);
    return put_utf8(to, (uint32_t)code);
}

static char *unescape(struct parser *parser, char *to)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *letter = parser->at < parser->end && *parser->at ? strchr(letters, *parser->at) : NULL;
    if (accept(parser, 'u'))
        return unescape_unicode(parser, to);
    if (!letter)
        return fail(parser, parser->at - 1, "found \\ before %s, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u",
                    found(parser));
    parser->at++;
    *to++ = meant[letter - letters];
    return to;
}

/* Bytes of the UTF-8 character at `at`; 0 when it is malformed. */
static int utf8_length(const unsigned char *at, const unsigned char *end)
{
    int length = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf5 ? 4 : 0;
    if (end - at < length)
        return 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    bool is_overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool is_outside = (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf4 && at[1] >= 0x90);
    return length > 1 && (is_overlong || is_outside) ? 0 : length;
}

static size_t quoted_length(const struct parser *parser)
{
    const char *at = parser->at;
    while (at < parser->end && *at != '"' && *at != '\n')
        at += *at == '\\' && parser->end - at > 1 ? 2 : 1;
    return (size_t)(at - parser->at);
}

/* Text in quotes; `at` stands behind the first one. Unescaped text is never longer than what was written. */
static const char *parse_text(struct parser *parser)
{
    char *text = arena_take(parser->arena, quoted_length(parser) + 1), *to = text;
    while (to && !accept(parser, '"')) {
        unsigned char c = parser->at < parser->end ? (unsigned char)*parser->at : '\n';
        if (c == '\n' || c == '\r')
            return fail(parser, parser->at, "found the end of the line, expected '\"' to close a text");
        if (c < 0x20)
            return fail(parser, parser->at, "found %s inside a text, expected it escaped", found(parser));
        if (accept(parser, '\\')) {
            to = unescape(parser, to);
            continue;
        }
        int length = utf8_length((const unsigned char *)parser->at, (const unsigned char *)parser->end);
        if (!length)
            return fail(parser, parser->at, "found %s inside a text, expected UTF-8", found(parser));
        memcpy(to, parser->at, (size_t)length);
        to += length;
        parser->at += length;
    }
    return to ? text : NULL;
}

static bool skip_digits(struct parser *parser)
{
    const char *start = parser->at;
    while (parser->at < parser->end && isdigit((unsigned char)*parser->at))
        parser->at++;
    return parser->at > start;
}

static struct json *parse_number(struct parser *parser)
{
    struct json *node = node_here(parser, JSON_NUMBER);
    const char *start = parser->at;
    accept(parser, '-');
    const char *digits = parser->at;
    if (!skip_digits(parser))
        return fail(parser, start, "found '-' before %s, expected a number", found(parser));
    if (*digits == '0' && parser->at - digits > 1)
        return fail(parser, start, "found a number with a leading zero, expected none");
    if (accept(parser, '.') && !skip_digits(parser))
        return fail(parser, parser->at, "found %s, expected a digit after the point", found(parser));
    if (accept(parser, 'e') || accept(parser, 'E')) {
        if (!accept(parser, '+'))
            accept(parser, '-');
        if (!skip_digits(parser))
            return fail(parser, parser->at, "found %s, expected a digit of the exponent", found(parser));
    }
    if (word_length(parser))
        return fail(parser, parser->at,
                    "found %s right behind a number, expected ',' or a closing bracket "
                    "(a value with a unit is text: \"10ns\")",
                    found(parser));
    node->text = arena_format(parser->arena, "%.*s", (int)(parser->at - start), start);
    node->number = strtod(node->text, NULL);
    if (!isfinite(node->number))
        return fail(parser, start, "found %s, expected a number below 1.8e308", node->text);
    return node;
}

static struct json *parse_word(struct parser *parser)
{
    static const char *const words[] = {"null", "false", "true"};
    size_t length = (size_t)word_length(parser);
    for (uint32_t i = 0; i < 3; i++) {
        if (length != strlen(words[i]) || memcmp(parser->at, words[i], length) != 0)
            continue;
        struct json *node = node_here(parser, i ? JSON_BOOL : JSON_NULL);
        node->truth = i == 2;
        parser->at += length;
        return node;
    }
    return fail(parser, parser->at,
                "found %s, expected a value: text in double quotes, a finite number, "
                "an object, an array, true, false or null",
                found(parser));
}

/* Behind a value in an array or object that is not the last one. */
static bool parse_separator(struct parser *parser, char close)
{
    if (!accept(parser, ','))
        return fail(parser, parser->at, "found %s, expected ',' or '%c'", found(parser), close);
    skip_blank(parser);
    if (is_next(parser, close))
        return fail(parser, parser->at,
                    "found '%c' after a comma, expected another %s (no comma stands behind the last one)", close,
                    close == ']' ? "value" : "key");
    return true;
}

static const char *parse_key(struct parser *parser, const struct json *object)
{
    const char *start = parser->at;
    if (!accept(parser, '"'))
        return fail(parser, start, "found %s, expected a key in double quotes or '}'", found(parser));
    const char *key = parse_text(parser);
    if (!key)
        return NULL;
    const struct json *twin = json_find(object, key);
    if (twin)
        return fail(parser, start, "found key '%s' a second time, expected it once (the first is in line %u)", key,
                    twin->line);
    skip_blank(parser);
    if (!accept(parser, ':'))
        return fail(parser, parser->at, "found %s, expected ':' after key '%s'", found(parser), key);
    return key;
}

/* An array or object, whose bracket stands here. */
static struct json *parse_children(struct parser *parser, enum json_type type, char close)
{
    struct json *parent = node_here(parser, type);
    parser->at++;
    skip_blank(parser);
    while (!accept(parser, close)) {
        if (parent->count && !parse_separator(parser, close))
            return NULL;
        const char *key = type == JSON_OBJECT ? parse_key(parser, parent) : NULL;
        struct json *value = parse_value(parser);
        if (!value)
            return NULL;
        json_add(parent, key, value);
        skip_blank(parser);
    }
    return parent;
}

static struct json *parse_value(struct parser *parser)
{
    skip_blank(parser);
    if (is_next(parser, '"')) {
        struct json *node = node_here(parser, JSON_TEXT);
        parser->at++;
        node->text = parse_text(parser);
        return node->text ? node : NULL;
    }
    if (parser->at < parser->end && (*parser->at == '-' || isdigit((unsigned char)*parser->at)))
        return parse_number(parser);
    if (!is_next(parser, '{') && !is_next(parser, '['))
        return parse_word(parser);
    if (parser->depth == JSON_DEPTH_MAX)
        return fail(parser, parser->at, "found more than %d levels of brackets, expected fewer", JSON_DEPTH_MAX);
    parser->depth++;
    struct json *node =
        is_next(parser, '{') ? parse_children(parser, JSON_OBJECT, '}') : parse_children(parser, JSON_ARRAY, ']');
    parser->depth--;
    return node;
}

struct json *json_parse(struct arena *arena, struct errors *errors, const char *file, const char *bytes, size_t size)
{
    return json_parse_at(arena, errors, file, 1, bytes, size);
}

struct json *json_parse_at(struct arena *arena, struct errors *errors, const char *file, uint32_t line,
                           const char *bytes, size_t size)
{
    struct parser parser = {arena, errors, file, bytes, bytes + size, .line = line};
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) /* the mark that some editors put before UTF-8 */
        parser.at += 3;
    parser.line_start = parser.at;
    struct json *node = parse_value(&parser);
    skip_blank(&parser);
    if (parser.at < parser.end)
        fail(&parser, parser.at, "found %s behind the value, expected the end of the text", found(&parser));
    return parser.has_failed ? NULL : node;
}

struct json *json_from_word(struct arena *arena, const char *word)
{
    struct errors ignored = {.arena = arena};
    struct json *node = json_parse(arena, &ignored, NULL, word, strlen(word));
    if (!node)
        return json_text(arena, word);
    json_place_all(node, NULL);
    return node;
}
