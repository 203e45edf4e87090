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
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct parser {
    struct arena *arena;
    struct errors *errors;
    const char *file;
    const char *at;
    const char *end;
    const char *line_start;
    uint32_t line;
    uint32_t depth;
};

static struct json *parse_value(struct parser *parser);

__attribute__((format(printf, 3, 4))) static bool fail(struct parser *parser, const char *at, const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_addv(&text, format, arguments);
    va_end(arguments);
    errors_add(parser->errors, "%s:%u:%u: %s", parser->file, parser->line, (uint32_t)(at - parser->line_start + 1),
               text.chars);
    text_release(&text);
    return false;
}

static bool is_next(const struct parser *parser, char c) { return parser->at < parser->end && *parser->at == c; }

static bool accept(struct parser *parser, char c)
{
    if (!is_next(parser, c))
        return false;
    parser->at++;
    return true;
}

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* What stands at the current place, for messages. */
static const char *found(const struct parser *parser)
{
    if (parser->at == parser->end)
        return "the end of the text";
    const char *word_end = parser->at;
    while (word_end < parser->end && word_end - parser->at < 40 && is_word_char(*word_end))
        word_end++;
    if (word_end > parser->at)
        return arena_format(parser->arena, "'%.*s'", (int)(word_end - parser->at), parser->at);
    unsigned char c = (unsigned char)*parser->at;
    return isprint(c) ? arena_format(parser->arena, "'%c'", c) : arena_format(parser->arena, "byte 0x%02x", c);
}

/* Past a comment that begins here; false when it is none or has no end. */
static bool skip_comment(struct parser *parser)
{
    const char *start = parser->at;
    if (parser->end - start < 2 || (start[1] != '/' && start[1] != '*'))
        return fail(parser, start, "found '/', expected a value or a comment (// or /* */)");
    bool is_block = start[1] == '*';
    uint32_t first_line = parser->line;
    parser->at += 2;
    while (parser->at < parser->end) {
        if (!is_block && *parser->at == '\n')
            return true; /* counted by skip_blank */
        if (is_block && *parser->at == '*' && parser->end - parser->at > 1 && parser->at[1] == '/') {
            parser->at += 2;
            return true;
        }
        if (*parser->at++ == '\n') {
            parser->line++;
            parser->line_start = parser->at;
        }
    }
    if (is_block)
        return fail(parser, parser->at,
                    "found the end of the text, expected */ to close a comment that begins in line %u", first_line);
    return true;
}

static bool skip_blank(struct parser *parser)
{
    for (; parser->at < parser->end; parser->at++) {
        while (is_next(parser, '/'))
            if (!skip_comment(parser))
                return false;
        if (parser->at == parser->end || !strchr(" \t\r\n", *parser->at) || !*parser->at)
            return true;
        if (*parser->at == '\n') {
            parser->line++;
            parser->line_start = parser->at + 1;
        }
    }
    return true;
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
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

/* \uXXXX, or two of them for a character beyond the first 65536; `at` stands behind the u. */
static char *unescape_unicode(struct parser *parser, char *to)
{
    const char *start = parser->at - 2;
    int32_t code = hex4(parser->at, parser->end);
    if (code < 0)
        return fail(parser, start, "found \\u, expected four hexadecimal digits after it"), NULL;
    parser->at += 4;
    if (code >= 0xd800 && code < 0xdc00 && is_next(parser, '\\')) {
        int32_t low = parser->end - parser->at > 1 && parser->at[1] == 'u' ? hex4(parser->at + 2, parser->end) : -1;
        if (low >= 0xdc00 && low < 0xe000) {
            parser->at += 6;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        return fail(parser, start, "found \\u%04x, expected a character (not half a pair, not zero)", code), NULL;
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
                    found(parser)),
               NULL;
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
    while (!accept(parser, '"')) {
        unsigned char c = parser->at < parser->end ? (unsigned char)*parser->at : '\n';
        if (c == '\n' || c == '\r')
            return fail(parser, parser->at, "found the end of the line, expected '\"' to close a text"), NULL;
        if (c < 0x20)
            return fail(parser, parser->at, "found %s inside a text, expected it escaped", found(parser)), NULL;
        if (accept(parser, '\\')) {
            to = unescape(parser, to);
            if (!to)
                return NULL;
            continue;
        }
        int length = utf8_length((const unsigned char *)parser->at, (const unsigned char *)parser->end);
        if (!length)
            return fail(parser, parser->at, "found %s inside a text, expected UTF-8", found(parser)), NULL;
        memcpy(to, parser->at, (size_t)length);
        to += length;
        parser->at += length;
    }
    *to = '\0';
    return text;
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
        return fail(parser, start, "found '-' before %s, expected a number", found(parser)), NULL;
    if (*digits == '0' && parser->at - digits > 1)
        return fail(parser, start, "found a number with a leading zero, expected none"), NULL;
    if (accept(parser, '.') && !skip_digits(parser))
        return fail(parser, parser->at, "found %s, expected a digit after the point", found(parser)), NULL;
    if (accept(parser, 'e') || accept(parser, 'E')) {
        if (!accept(parser, '+'))
            accept(parser, '-');
        if (!skip_digits(parser))
            return fail(parser, parser->at, "found %s, expected a digit of the exponent", found(parser)), NULL;
    }
    if (parser->at < parser->end && is_word_char(*parser->at))
        return fail(parser, parser->at,
                    "found %s right behind a number, expected ',' or a closing bracket "
                    "(a value with a unit is text: \"10ns\")",
                    found(parser)),
               NULL;
    node->text = arena_format(parser->arena, "%.*s", (int)(parser->at - start), start);
    node->number = strtod(node->text, NULL);
    if (!isfinite(node->number))
        return fail(parser, start, "found %s, expected a number below 1.8e308", node->text), NULL;
    return node;
}

static struct json *parse_word(struct parser *parser)
{
    static const struct {
        const char *word;
        enum json_type type;
        bool truth;
    } words[] = {{"true", JSON_BOOL, true}, {"false", JSON_BOOL, false}, {"null", JSON_NULL, false}};
    const char *end = parser->at;
    while (end < parser->end && is_word_char(*end))
        end++;
    size_t length = (size_t)(end - parser->at);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (length != strlen(words[i].word) || memcmp(parser->at, words[i].word, length) != 0)
            continue;
        struct json *node = node_here(parser, words[i].type);
        node->truth = words[i].truth;
        parser->at = end;
        return node;
    }
    return fail(parser, parser->at,
                "found %s, expected a value: text in double quotes, a finite number, "
                "an object, an array, true, false or null",
                found(parser)),
           NULL;
}

/* Behind a value in an array or object: true when another one follows. `*is_closed` says that none does. */
static bool parse_separator(struct parser *parser, char close, bool *is_closed)
{
    *is_closed = false;
    if (!skip_blank(parser))
        return false;
    if (accept(parser, close)) {
        *is_closed = true;
        return false;
    }
    if (!accept(parser, ','))
        return fail(parser, parser->at, "found %s, expected ',' or '%c'", found(parser), close);
    if (!skip_blank(parser))
        return false;
    if (is_next(parser, close))
        return fail(parser, parser->at,
                    "found '%c' after a comma, expected another %s (no comma stands behind the last one)", close,
                    close == ']' ? "value" : "key");
    return true;
}

static struct json *parse_array(struct parser *parser)
{
    struct json *array = node_here(parser, JSON_ARRAY);
    parser->at++;
    if (!skip_blank(parser))
        return NULL;
    bool is_closed = accept(parser, ']');
    if (is_closed)
        return array;
    do {
        struct json *value = parse_value(parser);
        if (!value)
            return NULL;
        json_append(array, value);
    } while (parse_separator(parser, ']', &is_closed));
    return is_closed ? array : NULL;
}

static bool parse_member(struct parser *parser, struct json *object)
{
    const char *start = parser->at;
    if (!accept(parser, '"'))
        return fail(parser, start, "found %s, expected a key in double quotes or '}'", found(parser));
    const char *key = parse_text(parser);
    if (!key)
        return false;
    const struct json *twin = json_find(object, key);
    if (twin)
        return fail(parser, start, "found key '%s' a second time, expected it once (the first is in line %u)", key,
                    twin->line);
    if (!skip_blank(parser))
        return false;
    if (!accept(parser, ':'))
        return fail(parser, parser->at, "found %s, expected ':' after key '%s'", found(parser), key);
    if (!skip_blank(parser))
        return false;
    struct json *value = parse_value(parser);
    if (value)
        json_add(object, key, value);
    return value;
}

static struct json *parse_object(struct parser *parser)
{
    struct json *object = node_here(parser, JSON_OBJECT);
    parser->at++;
    if (!skip_blank(parser))
        return NULL;
    bool is_closed = accept(parser, '}');
    if (is_closed)
        return object;
    do {
        if (!parse_member(parser, object))
            return NULL;
    } while (parse_separator(parser, '}', &is_closed));
    return is_closed ? object : NULL;
}

static struct json *parse_value(struct parser *parser)
{
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
        return fail(parser, parser->at, "found more than %d levels of brackets, expected fewer", JSON_DEPTH_MAX), NULL;
    parser->depth++;
    struct json *node = is_next(parser, '{') ? parse_object(parser) : parse_array(parser);
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
    struct parser parser = {.arena = arena,
                            .errors = errors,
                            .file = file,
                            .at = bytes,
                            .end = bytes + size,
                            .line_start = bytes,
                            .line = line};
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) /* the mark that some editors put before UTF-8 */
        parser.at = parser.line_start = bytes + 3;
    if (!skip_blank(&parser))
        return NULL;
    struct json *node = parse_value(&parser);
    if (!node || !skip_blank(&parser))
        return NULL;
    if (parser.at < parser.end)
        fail(&parser, parser.at, "found %s behind the value, expected the end of the text", found(&parser));
    return parser.at == parser.end ? node : NULL;
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
