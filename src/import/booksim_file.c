/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads BookSim's text: `key = value;` with // comments. A value is one word, a
 * list in braces or a call; blanks and newlines inside brackets do not count.
 */
#include "import/booksim.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

struct scanner {
    struct import *import;
    const char *at, *end, *line_start;
    uint32_t line;
};

__attribute__((format(printf, 2, 3))) static bool fail(const struct scanner *scanner, const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_addv(&text, format, arguments);
    va_end(arguments);
    errors_add(scanner->import->errors, "%s:%u:%u: %s", scanner->import->file, scanner->line,
               (uint32_t)(scanner->at - scanner->line_start) + 1, text.chars);
    text_release(&text);
    return false;
}

static char peek(const struct scanner *scanner) { return scanner->at < scanner->end ? *scanner->at : '\0'; }

/* "'x'", or what else stands there. */
static const char *found(const struct scanner *scanner)
{
    if (scanner->at == scanner->end)
        return "the end of the file";
    unsigned char byte = (unsigned char)*scanner->at;
    return arena_format(scanner->import->arena, isprint(byte) ? "'%c'" : "byte 0x%02x", byte);
}

static void step(struct scanner *scanner)
{
    if (*scanner->at++ == '\n') {
        scanner->line++;
        scanner->line_start = scanner->at;
    }
}

static void skip_blank(struct scanner *scanner)
{
    while (scanner->at < scanner->end) {
        bool is_comment = scanner->end - scanner->at > 1 && scanner->at[0] == '/' && scanner->at[1] == '/';
        if (is_comment)
            while (scanner->at < scanner->end && *scanner->at != '\n')
                scanner->at++;
        else if (isspace((unsigned char)*scanner->at))
            step(scanner);
        else
            return;
    }
}

static bool read_key(struct scanner *scanner, const char **key)
{
    const char *start = scanner->at;
    while (isalnum((unsigned char)peek(scanner)) || peek(scanner) == '_')
        scanner->at++;
    if (scanner->at == start || isdigit((unsigned char)*start)) {
        scanner->at = start;
        return fail(scanner, "found %s, expected the name of a setting", found(scanner));
    }
    *key = arena_format(scanner->import->arena, "%.*s", (int)(scanner->at - start), start);
    return true;
}

static bool read_quoted(struct scanner *scanner, struct text *value)
{
    const char *start = ++scanner->at;
    while (scanner->at < scanner->end && *scanner->at != '"' && *scanner->at != '\n')
        scanner->at++;
    text_add_bytes(value, start, (size_t)(scanner->at - start));
    return peek(scanner) == '"' || fail(scanner, "found %s, expected '\"' at the end of the text", found(scanner));
}

/* True when the value goes on behind this byte. */
static bool read_byte(struct scanner *scanner, struct text *value, uint32_t *depth)
{
    char byte = peek(scanner);
    if (*depth == 0 && (isspace((unsigned char)byte) || strchr(";", byte)))
        return false;
    if (byte == '=' || !isprint((unsigned char)byte) || (strchr("})", byte) && *depth == 0))
        return fail(scanner, "found %s in a value", found(scanner));
    if (byte == '"')
        return read_quoted(scanner, value) && (step(scanner), true);
    *depth += byte == '{' || byte == '(';
    *depth -= byte == '}' || byte == ')';
    text_add_bytes(value, &byte, 1);
    scanner->at++;
    return true;
}

static bool read_value(struct scanner *scanner, struct text *value)
{
    uint32_t depth = 0, errors = scanner->import->errors->count;
    while (scanner->at < scanner->end && read_byte(scanner, value, &depth))
        if (depth > 0)
            skip_blank(scanner);
    if (scanner->import->errors->count > errors)
        return false;
    if (depth > 0)
        return fail(scanner, "found %s, expected the bracket that closes the list", found(scanner));
    return value->length || fail(scanner, "found %s, expected a value", found(scanner));
}

static bool expect(struct scanner *scanner, char byte, const char *key)
{
    skip_blank(scanner);
    if (peek(scanner) != byte)
        return fail(scanner, "found %s, expected '%c' after %s '%s'", found(scanner), byte,
                    byte == '=' ? "the name" : "the value of", key);
    scanner->at++;
    skip_blank(scanner);
    return true;
}

/* The last one counts, as in BookSim. */
static void add_setting(struct scanner *scanner, struct json *settings, const char *key, struct json *node)
{
    struct json *earlier = json_find(settings, key);
    json_add(settings, key, node);
    if (!earlier)
        return;
    import_note(scanner->import, earlier, arena_format(scanner->import->arena, "set again in line %u", node->line),
                NULL);
    json_remove(settings, earlier);
}

static bool read_setting(struct scanner *scanner, struct json *settings)
{
    const char *key = NULL;
    if (!read_key(scanner, &key) || !expect(scanner, '=', key))
        return false;
    uint32_t line = scanner->line, column = (uint32_t)(scanner->at - scanner->line_start) + 1;
    struct text value = {0};
    bool is_good = read_value(scanner, &value);
    struct json *node = json_text(scanner->import->arena, value.length ? value.chars : "");
    text_release(&value);
    node->file = scanner->import->file;
    node->line = line;
    node->column = column;
    if (!is_good || !expect(scanner, ';', key))
        return false;
    add_setting(scanner, settings, key, node);
    return true;
}

struct json *booksim_read(struct import *import, const char *bytes, size_t size)
{
    struct scanner scanner = {.import = import, .at = bytes, .end = bytes + size, .line_start = bytes, .line = 1};
    struct json *settings = json_object(import->arena);
    for (skip_blank(&scanner); scanner.at < scanner.end;)
        if (!read_setting(&scanner, settings))
            return NULL;
    return settings;
}

struct booksim_list booksim_split(struct arena *arena, const char *value, const char **name)
{
    size_t before = strcspn(value, "{("), length = strlen(value);
    *name = arena_format(arena, "%.*s", (int)before, value);
    struct booksim_list list = {.items = arena_array(arena, const char *, length + 1)};
    if (before == length) {
        list.items[list.count++] = value;
        return list;
    }
    const char *start = value + before + 1;
    uint32_t depth = 0;
    for (const char *at = start; *at; at++) {
        bool is_end = depth == 0 && strchr(",})", *at);
        depth += *at == '{' || *at == '(';
        depth -= depth > 0 && (*at == '}' || *at == ')');
        if (!is_end)
            continue;
        if (at > start)
            list.items[list.count++] = arena_format(arena, "%.*s", (int)(at - start), start);
        start = at + 1;
    }
    return list;
}
