/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See source.h. No preprocessor: of all directives it knows `#include`, `#pragma once` and conditions on FW_HOST, which the
 * device's compiler then never sees. An `#include` below another condition is pasted all the same.
 */
#include "device/source.h"

#include <ctype.h>
#include <string.h>

enum { MOST_CONDITIONS = 32 };

/* An `#if` that is open at a line. */
struct condition {
    bool is_host; /* on FW_HOST: its lines are ours to decide, and its directives are dropped */
    bool is_kept; /* what stands behind it, as far as it is to decide */
};

struct reader {
    struct device_source *source;
    const char *file; /* borrowed */
    uint32_t line;
    struct condition conditions[MOST_CONDITIONS];
    uint32_t depth;
};

/* What stands behind `#WORD`; NULL: the line is another. */
static const char *after_directive(const char *line, const char *word)
{
    line += strspn(line, " \t");
    if (*line++ != '#')
        return NULL;
    line += strspn(line, " \t");
    size_t length = strlen(word);
    if (strncmp(line, word, length) != 0 || isalnum((unsigned char)line[length]) || line[length] == '_')
        return NULL;
    return line + length + strspn(line + length, " \t");
}

/* Whether a condition is this word alone. */
static bool is_word(const char *rest, const char *word)
{
    size_t length = strlen(word);
    return strncmp(rest, word, length) == 0 && strspn(rest + length, " \t\r") == strcspn(rest + length, "\n/");
}

static bool is_kept(const struct reader *reader)
{
    for (uint32_t i = 0; i < reader->depth; i++)
        if (!reader->conditions[i].is_kept)
            return false;
    return true;
}

static void open_condition(struct reader *reader, struct condition condition)
{
    FW_CHECK(reader->depth < MOST_CONDITIONS, "%s:%u: too many conditions", reader->file, reader->line);
    reader->conditions[reader->depth++] = condition;
}

/* Keeps the account of open conditions; whether the line is a directive of one on FW_HOST. */
static bool reads_condition(struct reader *reader, const char *line)
{
    const char *rest = after_directive(line, "if");
    if (rest && (is_word(rest, "FW_HOST") || is_word(rest, "!FW_HOST"))) {
        open_condition(reader, (struct condition){.is_host = true, .is_kept = *rest == '!'});
        return true;
    }
    if (rest || after_directive(line, "ifdef") || after_directive(line, "ifndef")) {
        open_condition(reader, (struct condition){.is_kept = true});
        return false;
    }
    bool ends = after_directive(line, "endif") != NULL;
    bool turns = after_directive(line, "else") || after_directive(line, "elif");
    if (!ends && !turns)
        return false;
    FW_CHECK(reader->depth > 0, "%s:%u: no condition is open", reader->file, reader->line);
    struct condition *last = &reader->conditions[reader->depth - 1];
    FW_CHECK(!last->is_host || !after_directive(line, "elif"), "%s:%u: #elif of FW_HOST", reader->file, reader->line);
    bool is_host = last->is_host;
    last->is_kept ^= is_host && turns;
    reader->depth -= ends;
    return is_host;
}

static bool is_pasted(const struct device_source *source, const char *name)
{
    for (uint32_t i = 0; i < source->pasted_count; i++)
        if (strcmp(source->pasted[i], name) == 0)
            return true;
    return false;
}

static void paste_file(struct device_source *source, const struct embedded_file *file)
{
    if (is_pasted(source, file->name))
        return;
    source->pasted = memory_grow(source->pasted, source->pasted_count, &source->pasted_room, sizeof *source->pasted);
    source->pasted[source->pasted_count++] = file->name;
    source_add_text(source, file->name, file->bytes);
}

/* The file that `#include "NAME"` means; NULL: it is none for the device. */
static const struct embedded_file *find_included(const struct device_source *source, const char *rest)
{
    static const char *const folders[] = {"include/", "src/"};
    char path[256];
    if (*rest++ != '"')
        return NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s%.*s", folders[i], (int)strcspn(rest, "\"\n"), rest);
        const struct embedded_file *file = embedded_find(source->files, path);
        if (file)
            return file;
    }
    return NULL;
}

static void add_line(struct reader *reader, const char *line, size_t length)
{
    struct device_source *source = reader->source;
    source->lines = memory_grow(source->lines, source->line_count, &source->line_room, sizeof *source->lines);
    source->lines[source->line_count++] = (struct source_line){reader->file, reader->line};
    text_add_bytes(&source->text, line, length);
    text_add(&source->text, "\n");
}

static void read_line(struct reader *reader, const char *line, size_t length)
{
    if (reads_condition(reader, line) || !is_kept(reader))
        return;
    const char *included = after_directive(line, "include"), *pragma = after_directive(line, "pragma");
    const struct embedded_file *file = included ? find_included(reader->source, included) : NULL;
    if (file)
        paste_file(reader->source, file);
    else if (!included && !(pragma && is_word(pragma, "once")))
        add_line(reader, line, length);
}

void source_add_text(struct device_source *source, const char *name, const char *text)
{
    struct reader reader = {.source = source, .file = name};
    while (*text) {
        size_t length = strcspn(text, "\n");
        reader.line++;
        read_line(&reader, text, length);
        text += length + (text[length] == '\n');
    }
    FW_CHECK(reader.depth == 0, "%s: a condition is still open at its end", name);
}

bool source_add_file(struct device_source *source, const char *name)
{
    const struct embedded_file *file = embedded_find(source->files, name);
    if (!file)
        return errors_add(source->errors, "device: this program has no '%s' for devices in it", name);
    paste_file(source, file);
    return true;
}

/* Behind a text in quotes, at its beginning. */
static char *skip_quoted(char *at)
{
    for (at++; *at && *at != '"'; at++)
        at += *at == '\\' && at[1];
    return *at ? at + 1 : at;
}

/* From the first comma of a call's arguments to its closing bracket all becomes blank, but for the ends of lines. */
static void cut_arguments(char *at)
{
    bool is_cut = false;
    for (uint32_t depth = 1; *at; at++) {
        if (*at == '"') {
            for (char *end = skip_quoted(at); at < end; at++)
                *at = is_cut && *at != '\n' ? ' ' : *at;
            at--;
            continue;
        }
        depth += *at == '(';
        depth -= *at == ')';
        if (!depth)
            return;
        is_cut |= depth == 1 && *at == ',';
        *at = is_cut && *at != '\n' ? ' ' : *at;
    }
}

void source_cut_messages(struct device_source *source)
{
    static const char call[] = "FW_CHECK(";
    for (char *at = source->text.chars; at && (at = strstr(at, call)); at += sizeof call - 1)
        cut_arguments(at + sizeof call - 1);
}

void source_release(struct device_source *source)
{
    text_release(&source->text);
    memory_give(source->lines);
    memory_give(source->pasted);
    *source = (struct device_source){.files = source->files, .errors = source->errors};
}

/* ---- places ---- */

const char *source_place(const struct device_source *source, uint64_t line, struct arena *arena)
{
    if (line - 1 >= source->line_count)
        return NULL;
    const struct source_line *place = &source->lines[line - 1];
    return arena_format(arena, "%s:%u", place->file, place->line);
}

/* ":LINE:" in a line of a log, with a word before it: compilers differ in how they name a text that is no file. */
static const char *find_place(const char *at, const char *end, uint64_t *line, const char **behind)
{
    for (; at < end; at++) {
        const char *digits = at + 1;
        if (*at == ':' && isdigit((unsigned char)*digits) && number_read(&digits, UINT32_MAX, line) && *digits == ':') {
            *behind = digits;
            return at;
        }
    }
    return NULL;
}

static void add_log_line(struct text *text, const struct device_source *source, const char *line, size_t length)
{
    uint64_t number;
    struct arena scratch = {0};
    const char *end = line + length, *behind, *colon = find_place(line, end, &number, &behind);
    const char *place = colon ? source_place(source, number, &scratch) : NULL;
    if (place) {
        const char *word = colon;
        while (word > line && !isspace((unsigned char)word[-1]))
            word--;
        text_add_bytes(text, line, (size_t)(word - line));
        text_add(text, place);
        line = behind;
    }
    text_add_bytes(text, line, (size_t)(end - line));
    arena_release(&scratch);
}

const char *source_log(const struct device_source *source, const char *log, uint32_t most_lines, struct arena *arena)
{
    struct text text = {0};
    log += strspn(log, "\n");
    for (uint32_t i = 0; *log; i++) {
        size_t length = strcspn(log, "\n");
        if (i == most_lines) {
            text_add(&text, "\n...");
            break;
        }
        text_add(&text, i ? "\n" : "");
        add_log_line(&text, source, log, length);
        log += length + strspn(log + length, "\n");
    }
    return text_keep(&text, arena);
}
