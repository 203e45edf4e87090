/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What the importers of single formats share. Another simulator's file becomes a
 * JSON tree, whatever it was written in. An importer takes settings out of it and
 * puts ours into another tree; what nobody took is listed at the end, so that
 * nothing gets lost in silence.
 */
#include "config/json.h"

struct import {
    struct arena *arena;
    struct errors *errors; /* why there is no result */
    struct errors *notes;  /* what was not carried over */
    const char *file;      /* as given */
    const char *output;    /* as given; NULL: standard output */
    struct json *theirs;   /* what nobody has taken yet */
    struct json *ours;
};

/* One of their settings: what it is when nobody sets it, and why it is not carried over if nobody takes it. */
struct import_row {
    const char *key;      /* its path; a * stands for any text */
    const char *fallback; /* needs no word when not carried over; NULL: there is none */
    const char *why;      /* NULL: it means nothing beside the others */
    const char *nearest;  /* in our words; NULL: nothing is near */
};

/* One word of theirs and ours for it. Tables end with a NULL word. */
struct import_name {
    const char *theirs, *ours;
};

/* The importers. False with errors; notes are no reason to fail. */
bool import_booksim(struct import *import, const char *bytes, size_t size);
bool import_simured(struct import *import, const char *bytes, size_t size);
bool import_supersim(struct import *import, const char *bytes, size_t size);

/* ---- theirs ---- */

/* Takes a setting out of a block; it still knows its path. NULL when it is absent; the block may be NULL too. */
struct json *import_take(struct json *block, const char *key);
/* The same for one that must be there; an error when it is not. */
struct json *import_need(struct import *import, struct json *block, const char *key);
/* The fallback, and an error, when the node is no such thing; the fallback alone when it is NULL. */
double import_number(struct import *import, const struct json *node, double fallback, double min, double max);
uint64_t import_count(struct import *import, const struct json *node, uint64_t fallback, uint64_t min, uint64_t max);
const char *import_word(struct import *import, const struct json *node, const char *fallback);
bool import_truth(struct import *import, const struct json *node, bool fallback);
/* A block within a block; NULL when it is absent, with an error when it is no object. The outer one may be NULL. */
struct json *import_block(struct import *import, struct json *block, const char *key);
/* Our word for theirs; an error that lists the words when it is none of them. The fallback is ours. */
const char *import_choice(struct import *import, const struct json *node, const struct import_name *names,
                          const char *fallback);
/* A copy of an array of whole numbers; empty for NULL. */
struct json *import_numbers(struct import *import, const struct json *node, uint64_t min, uint64_t max);

/* The row of a table for their word, NULL when there is none. Any rows: each begins with a word, the last with NULL. */
#define IMPORT_FIND(rows, word) import_find(rows, sizeof *(rows), word)
const void *import_find(const void *rows, size_t row_size, const char *word);
/* An error that lists the words of such a table; nothing more where the node is no text, which is said already. */
#define IMPORT_REFUSE(import, node, rows) import_refuse(import, node, rows, sizeof *(rows))
void import_refuse(struct import *import, const struct json *node, const void *rows, size_t row_size);

/* "file:line:column: path: ..." */
void import_error(struct import *import, const struct json *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same: "found a number '3', expected ..." */
void import_expected(struct import *import, const struct json *node, const char *expected);
/* Lists a setting of theirs as not carried over. The node may be NULL: nothing is listed then. */
void import_note(struct import *import, const struct json *node, const char *why, const char *nearest);
/* The row of a path; NULL when there is none. */
const struct import_row *import_find_row(const struct import_row *rows, const char *path);
/* Lists all that nobody took. Rows end with a NULL key; `whose` names the simulator. */
void import_list_rest(struct import *import, const struct json *block, const struct import_row *rows,
                      const char *whose);

/* ---- ours ---- */

/* Puts a value at a path below the block, making the objects between; returns the value. */
struct json *import_put(struct import *import, struct json *block, const char *path, struct json *value);
struct json *import_put_u64(struct import *import, struct json *block, const char *path, uint64_t value);
struct json *import_put_f64(struct import *import, struct json *block, const char *path, double value);
struct json *import_put_text(struct import *import, struct json *block, const char *path, const char *value);
/* `count` times the same number. */
struct json *import_put_row(struct import *import, struct json *block, const char *path, uint64_t count,
                            uint64_t value);
/*
 * Takes a setting out of their block and puts it into ours: by the table, or a number or truth as it is when there is
 * none. What is absent, or does not fit, stays where it is.
 */
void import_move(struct import *import, struct json *theirs, const char *key, struct json *ours, const char *our_key,
                 const struct import_name *names);
/* Flits per terminal and cycle of its channels: no more than those carry. */
void import_put_load(struct import *import, struct json *application, double load, uint64_t channels,
                     const struct json *node);
/* A size of one of several numbers of flits. */
void import_put_mix(struct import *import, struct json *size, struct json *sizes, struct json *weights);
/* A size of requests and replies, drawn together: flits of read and write requests, of read and write replies. */
void import_put_read_write(struct import *import, struct json *size, double reads, const double flits[4]);
/* Says above a value what was chosen and why. */
void import_comment(struct import *import, struct json *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A file that a setting of theirs names, as ours must name it. */
const char *import_path(struct import *import, const struct json *node);
