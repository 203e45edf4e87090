/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Text and files: a string that grows, how far two words are apart (for "did
 * you mean"), whole files read at once, and output files that appear under
 * their name only when they are complete.
 */
#include "flitwarp/error.h"

/* A growing string; {0} is empty. `chars` is NULL until something was added, NUL-terminated from then on. */
struct text {
    char *chars; /* owned */
    size_t length;
    size_t capacity;
};

void text_add(struct text *text, const char *part);
void text_add_bytes(struct text *text, const char *bytes, size_t count);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_addv(struct text *text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
/* Copies the text into the arena and empties the builder. */
char *text_keep(struct text *text, struct arena *arena);
void text_release(struct text *text);

/* A copy of its own, to be freed. */
char *text_copy(const char *text);
/* Whether something stands before the ending, and the ending behind it. */
bool name_ends_with(const char *name, const char *ending);

/* Letters to insert, remove or replace to get from one word to the other; words of over 64 bytes are far away. */
uint32_t edit_distance(const char *a, const char *b);

/* The candidate closest to a misspelt word: set .wanted, try every candidate, then ask. */
struct nearest {
    const char *wanted;
    const char *word;
    uint32_t distance;
};
void nearest_try(struct nearest *nearest, const char *candidate);
/* NULL when nothing is so close that it could have been meant. */
const char *nearest_word(const struct nearest *nearest);
/* " (did you mean 'WORD'?)", or "" without a word. */
const char *meant_hint(struct arena *arena, const char *word);
/* A list of words with one more behind it; "" is the list of none. */
const char *list_add(struct arena *arena, const char *list, const char *separator, const char *word);

/* Digits up to the first character that is none, which `text` points to then; false when there are none, or it is too much. */
bool number_read(const char **text, uint64_t most, uint64_t *number);

/* A whole file with a NUL after it; NULL with errno set when it cannot be read. */
char *file_read(struct arena *arena, const char *path, size_t *size);
/* `path` as seen from the directory that holds `file`; absolute paths stay as they are. */
const char *path_beside(struct arena *arena, const char *file, const char *path);
/* Do two names mean one regular file, or will they when it is there? */
bool paths_are_one(const char *a, const char *b);

/*
 * A file that is written without a name in the folder of its target and takes its
 * place on commit: nobody ever sees half of it, and whatever ends the program, nothing
 * is left behind. Where the file system has no files without a name, it has a temporary
 * one. What is not a regular file (a terminal, a pipe, /dev/null) is written directly;
 * "-" is standard output.
 */
struct output_file {
    FILE *stream; /* NULL: it rests */
    struct arena names;
    const char *path;
    const char *temporary; /* NULL: written directly */
    bool is_nameless;      /* there is no file by the temporary name yet */
    uint64_t length;       /* while it rests */
    int failure;           /* the first errno of output_write, or before it rested; 0: none */
};
/* Where a process writes it. */
const char *output_temporary(const char *path, uint64_t process, struct arena *arena);
bool output_open(struct output_file *output, const char *path, struct errors *errors);
/* To the stream; what fails comes out on commit, with its reason. */
void output_write(struct output_file *output, const void *bytes, size_t count);
/* False, with a message and the old file untouched, when anything could not be written. */
bool output_commit(struct output_file *output, struct errors *errors);
/*
 * Closes the stream for a while, with all that was written on the disk; and goes on from there, perhaps in another
 * process: what lies behind is cut off. False, with a message, when the file is not there any more, is too short, or
 * when another process has gone on with it and still does. Not for what is written directly.
 */
void output_rest(struct output_file *output);
bool output_wake(struct output_file *output, struct errors *errors);
/* Whether all that was written is there, as far as is known; false, with a message where errors are not NULL. */
bool output_is_whole(const struct output_file *output, struct errors *errors);
/* Leaves what was written under its temporary name, to be gone on with. */
void output_leave(struct output_file *output);
/* Drops what was written; harmless after a commit or a failed open. */
void output_discard(struct output_file *output);
