/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the text of two simulators. BookSim's is `key = value;` with // comments:
 * a value is one word, a list in braces or a call; blanks and newlines inside
 * brackets do not count. SimuRed's is lines of a KEY and a value, # for comments.
 */
#include "import/import.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct scanner {
    struct import *import;
    const char *at, *end, *line_start;
    uint32_t line;
};

static char scanner_peek(const struct scanner *scanner) { return scanner->at < scanner->end ? *scanner->at : '\0'; }

/* False, with the error "found 'x', expected ...". */
static bool scanner_refuse(const struct scanner *scanner, const char *expected)
{
    struct import *import = scanner->import;
    unsigned char byte = (unsigned char)scanner_peek(scanner);
    const char *found = arena_format(import->arena, isprint(byte) ? "'%c'" : "byte 0x%02x", byte);
    return errors_add(import->errors, "%s:%u:%u: found %s%s", import->file, scanner->line,
                      (uint32_t)(scanner->at - scanner->line_start) + 1,
                      scanner->at == scanner->end ? "the end of the file" : found, expected);
}

static void scanner_skip_blank(struct scanner *scanner)
{
    while (scanner->at < scanner->end) {
        bool is_comment = scanner->end - scanner->at > 1 && scanner->at[0] == '/' && scanner->at[1] == '/';
        while (is_comment && scanner->at < scanner->end && *scanner->at != '\n')
            scanner->at++;
        if (is_comment)
            continue;
        if (!isspace((unsigned char)*scanner->at))
            return;
        if (*scanner->at++ == '\n') {
            scanner->line++;
            scanner->line_start = scanner->at;
        }
    }
}

/* One word, a list in brackets or a call, without the blanks and comments inside brackets. */
static bool booksim_read_value(struct scanner *scanner, struct text *value)
{
    uint32_t depth = 0;
    while (scanner->at < scanner->end) {
        char byte = *scanner->at;
        if (depth == 0 && (isspace((unsigned char)byte) || byte == ';' || !byte))
            break;
        if (byte == '=' || !isprint((unsigned char)byte) || (strchr("})", byte) && depth == 0))
            return scanner_refuse(scanner, " in a value");
        const char *start = scanner->at++;
        if (byte == '"') {
            start++;
            while (scanner->at < scanner->end && *scanner->at != '"' && *scanner->at != '\n')
                scanner->at++;
        }
        text_add_bytes(value, start, (size_t)(scanner->at - start));
        if (byte == '"' && scanner_peek(scanner) != '"')
            return scanner_refuse(scanner, ", expected '\"' at the end of the text");
        scanner->at += byte == '"';
        depth += byte == '{' || byte == '(';
        depth -= byte == '}' || byte == ')';
        if (depth > 0)
            scanner_skip_blank(scanner);
    }
    if (depth > 0)
        return scanner_refuse(scanner, ", expected the bracket that closes the list");
    return value->length || scanner_refuse(scanner, ", expected a value");
}

static bool scanner_expect(struct scanner *scanner, char byte, const char *key)
{
    scanner_skip_blank(scanner);
    if (scanner_peek(scanner) != byte)
        return scanner_refuse(scanner, arena_format(scanner->import->arena, ", expected '%c' after %s '%s'", byte,
                                                    byte == '=' ? "the name" : "the value of", key));
    scanner->at++;
    scanner_skip_blank(scanner);
    return true;
}

/* The last one counts, as there. */
static void text_add_setting(struct import *import, struct json *settings, const char *key, struct json *node,
                             uint32_t line, uint32_t column)
{
    struct json *earlier = json_find(settings, key);
    json_add(settings, arena_text(import->arena, key), node);
    node->file = import->file;
    node->line = line;
    node->column = column;
    import_note(import, earlier, HARMLESS, arena_format(import->arena, "set again in line %u", line), NULL);
    if (earlier)
        json_remove(settings, earlier);
}

static bool booksim_read_setting(struct scanner *scanner, struct json *settings)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t length = strspn(scanner->at, letters);
    if (!length || isdigit((unsigned char)*scanner->at))
        return scanner_refuse(scanner, ", expected the name of a setting");
    const char *key = arena_format(scanner->import->arena, "%.*s", (int)length, scanner->at);
    scanner->at += length;
    if (!scanner_expect(scanner, '=', key))
        return false;
    uint32_t line = scanner->line, column = (uint32_t)(scanner->at - scanner->line_start) + 1;
    struct text value = {0};
    bool is_good = booksim_read_value(scanner, &value);
    struct json *node = json_text(scanner->import->arena, value.length ? value.chars : "");
    text_release(&value);
    if (!is_good || !scanner_expect(scanner, ';', key))
        return false;
    text_add_setting(scanner->import, settings, key, node, line, column);
    return true;
}

struct json *import_read_booksim(struct import *import, const char *bytes, size_t size)
{
    struct scanner scanner = {.import = import, .at = bytes, .end = bytes + size, .line_start = bytes, .line = 1};
    struct json *settings = json_object(import->arena);
    for (scanner_skip_blank(&scanner); scanner.at < scanner.end;)
        if (!booksim_read_setting(&scanner, settings))
            return NULL;
    return settings;
}

/* One line of SimuRed's: nothing, or a key and a value. */
static bool simured_read_line(struct import *import, struct json *settings, uint32_t number, const char *line)
{
    char key[64] = "", value[512] = "";
    if (!line[strspn(line, " \t\r")] || line[strspn(line, " \t\r")] == '#')
        return true;
    if (sscanf(line, "%63s %511s", key, value) != 2)
        return errors_add(import->errors, "%s:%u: found \"%s\", expected a KEY and a value", import->file, number, key);
    char *end;
    double parsed = strtod(value, &end);
    struct json *node = *end ? json_text(import->arena, value) : json_number_f64(import->arena, parsed);
    text_add_setting(import, settings, key, node, number, 1);
    return true;
}

struct json *import_read_simured(struct import *import, const char *bytes, size_t size)
{
    struct json *settings = json_object(import->arena);
    uint32_t number = 0;
    for (const char *at = bytes, *end = bytes + size; at < end; at++) {
        size_t length = strcspn(at, "\n");
        if (!simured_read_line(import, settings, ++number, arena_format(import->arena, "%.*s", (int)length, at)))
            return NULL;
        at += length;
    }
    return settings;
}
