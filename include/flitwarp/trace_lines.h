/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Traces of lines of text: line by line, word by word, with errors that name the line. # begins a comment. */
#include "flitwarp/trace_reader.h"

#include <string.h>

/* Borrowed from the file, and not ended by a NUL. */
struct word {
    const char *chars;
    size_t length;
};

struct trace_lines {
    const struct trace_source *source;
    struct errors *errors;
    char separator;       /* between words; 0: blanks */
    uint64_t line;        /* the one being read, from 1 */
    size_t next;          /* offset of the one behind it */
    const char *at, *end; /* what is left of it; NULL: nothing */
};

/* The next line that holds more than a comment; false behind the last one. */
bool lines_next(struct trace_lines *lines);
/* Back to the beginning of the file. */
void lines_rewind(struct trace_lines *lines);

/* The next word of the line; false where there is none. Between separators it may be empty. */
bool lines_word(struct trace_lines *lines, struct word *word);
/* The same; false, with an error that says what is missing, where there is none. */
bool lines_need(struct trace_lines *lines, const char *what, struct word *word);
/* A whole number from 0 to `max`; false, with an error, where the next word is none. */
bool lines_number(struct trace_lines *lines, const char *what, uint64_t max, uint64_t *number);
/* False, with an error, where there is another word. */
bool lines_end(struct trace_lines *lines);

/* Inline, since texts are constants: readers ask it for every word. */
static inline bool word_is(struct word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.chars, text, word.length) == 0;
}
/* Its place in a list of texts that NULL ends; that of the NULL where it is none of them. */
uint32_t word_find(struct word word, const char *const *texts);
/* A whole number; the same behind a letter: p17, G3. */
bool word_number(struct word word, uint64_t max, uint64_t *number);
bool word_numbered(struct word word, char letter, uint64_t max, uint64_t *number);

/* Adds "FILE:LINE: ..."; and with a word before what is wrong with it, in quotes, or its beginning, if it is long. False. */
#define lines_error(lines, format, ...)                                                                                \
    errors_add((lines)->errors, "%s:%llu: " format, (lines)->source->path, (unsigned long long)(lines)->line,          \
               ##__VA_ARGS__)
#define lines_refuse(lines, word, format, ...)                                                                         \
    lines_error(lines, "\"%.*s\" " format, (int)((word).length < 40 ? (word).length : 40), (word).chars, ##__VA_ARGS__)
/* The same about another line than the one being read. */
#define lines_error_at(lines, number, ...) ((lines)->line = (number), lines_error(lines, __VA_ARGS__))
