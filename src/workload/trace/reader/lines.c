/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and words of a mapped file, see flitwarp/trace_lines.h. */
#include "flitwarp/trace_lines.h"

#include <string.h>

#define DONE_EVERY ((size_t)16 << 20)
#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* what some spreadsheets begin a file with */

static bool lines_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void lines_skip_blanks(struct trace_lines *lines)
{
    while (lines->at < lines->end && lines_is_blank(*lines->at))
        lines->at++;
}

static void take_line(struct trace_lines *lines)
{
    const struct trace_source *source = lines->source;
    size_t left = source->size - lines->next;
    lines->at = (const char *)source->bytes + lines->next;
    const char *newline = memchr(lines->at, '\n', left);
    size_t length = newline ? (size_t)(newline - lines->at) : left, mark = strlen(BYTE_ORDER_MARK);
    const char *comment = memchr(lines->at, '#', length);
    lines->end = comment ? comment : lines->at + length;
    if (lines->next == 0 && length >= mark && memcmp(lines->at, BYTE_ORDER_MARK, mark) == 0)
        lines->at += mark;
    size_t next = lines->next + length + 1;
    if (next / DONE_EVERY != lines->next / DONE_EVERY)
        trace_source_done(source, lines->next);
    lines->next = next;
    lines->line++;
}

bool lines_next(struct trace_lines *lines)
{
    while (lines->next < lines->source->size) {
        take_line(lines);
        lines_skip_blanks(lines);
        if (lines->at < lines->end)
            return true;
    }
    return false;
}

void lines_rewind(struct trace_lines *lines)
{
    lines->line = 0;
    lines->next = 0;
    lines->at = lines->end = NULL;
}

bool lines_word(struct trace_lines *lines, struct word *word)
{
    if (!lines->at)
        return false;
    lines_skip_blanks(lines);
    if (!lines->separator && lines->at == lines->end)
        return false;
    const char *end = lines->at;
    while (end < lines->end && (lines->separator ? *end != lines->separator : !lines_is_blank(*end)))
        end++;
    *word = (struct word){lines->at, (size_t)(end - lines->at)};
    while (word->length && lines_is_blank(word->chars[word->length - 1]))
        word->length--;
    lines->at = end < lines->end ? end + 1 : lines->separator ? NULL : end;
    return true;
}

uint32_t word_find(struct word word, const char *const *texts)
{
    uint32_t at = 0;
    while (texts[at] && !word_is(word, texts[at]))
        at++;
    return at;
}

bool word_number(struct word word, uint64_t max, uint64_t *number)
{
    uint64_t value = 0;
    if (!word.length)
        return false;
    for (size_t i = 0; i < word.length; i++) {
        unsigned digit = (unsigned)word.chars[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *number = value;
    return value <= max;
}

bool word_numbered(struct word word, char letter, uint64_t max, uint64_t *number)
{
    return word.length && *word.chars == letter &&
           word_number((struct word){word.chars + 1, word.length - 1}, max, number);
}

bool lines_need(struct trace_lines *lines, const char *what, struct word *word)
{
    return lines_word(lines, word) || lines_error(lines, "the line ends where %s is due", what);
}

bool lines_number(struct trace_lines *lines, const char *what, uint64_t max, uint64_t *number)
{
    struct word word;
    if (!lines_need(lines, what, &word))
        return false;
    return word_number(word, max, number) ||
           lines_refuse(lines, word, "where %s is due; accepted: a whole number from 0 to %llu", what,
                        (unsigned long long)max);
}

bool lines_end(struct trace_lines *lines)
{
    struct word word;
    return !lines_word(lines, &word) || lines_refuse(lines, word, "where the line should end");
}
