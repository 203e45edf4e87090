/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What the importers share. Another simulator's file becomes a JSON tree,
 * whatever it was written in. An importer is tables of rows, one for each setting
 * of theirs: what it becomes here, or why it is not carried over. Rows are walked
 * in their order, which is that of the result; what a row takes is marked, and
 * what nobody took is listed at the end, so that nothing gets lost in silence.
 *
 * Paths begin in the two blocks at hand, theirs and ours; with a / before them, in the whole files.
 */
#include "config/json.h"

/* What a setting that is not carried over means for the results. */
enum import_kind {
    DECISIVE, /* they differ */
    HARMLESS, /* they do not */
};

struct import {
    struct arena *arena;
    struct errors *errors;          /* why there is no result */
    struct errors *notes;           /* what was not carried over */
    uint32_t *decisive;             /* how many notes are of that kind */
    const char *file;               /* as given */
    const char *output;             /* as given; NULL: standard output */
    bool is_strict;                 /* nothing is written where anything decisive is not carried over */
    const char *routes, *paths;     /* files beside it, of forwarding tables and path records; NULL: none is given */
    struct json *read;              /* an array of the files that were read */
    const char *whose;              /* "BookSim" */
    bool is_text;                   /* their values are words without types */
    struct json *root, *result;     /* theirs and ours, whole */
    struct json *theirs, *ours;     /* blocks at hand; theirs may be NULL */
    struct json *beside;            /* settings may stand in this block of theirs too; NULL: there is none */
    const char *kind;               /* of what is at hand, where rows are for one of several */
    const struct import_row *row;   /* at hand */
    const struct import_row *rows;  /* of all settings, where there is such a table; NULL: none */
    const struct import_lost *lost; /* of those that are not carried over */
};

/* One setting of theirs that is carried over. Tables end with a NULL key. */
struct import_row {
    const char *of;       /* the kinds that have it, a list; NULL: all */
    const char *key;      /* its path */
    const char *fallback; /* its value when absent; NULL: there is none */
    /* How it is carried over: as one value, or by a function that does what there is to do. */
    struct json *(*as)(struct import *import, const struct json *node);
    void (*put)(struct import *import);
    const char *ours; /* path of the value */
    double min, max;
    const char *words;         /* theirs and ours for them: "ascend=up random" */
    const char *comment;       /* what is said above the value; NULL: nothing */
    const char *why, *nearest; /* what is noted of the setting where it is given; NULL: nothing */
    enum import_kind kind;     /* of that note */
};

/* Settings of theirs that are listed as not carried over where nobody took them. Tables end with NULL keys. */
struct import_lost {
    const char *keys; /* "path=value; path": a * stands for any text, the value needs no word */
    enum import_kind kind;
    const char *why;     /* NULL: rows take them where they mean something */
    const char *nearest; /* in our words; NULL: nothing is near */
};

/* What stands between the braces of a row: a function that puts, a value, a number within bounds. */
#define IMPORT_BY(function, theirs, absent) .key = theirs, .fallback = absent, .put = function
#define IMPORT_AS(function, theirs, absent, path) .key = theirs, .fallback = absent, .as = function, .ours = path
#define IMPORT_COUNT(theirs, absent, path, least, most)                                                                \
    IMPORT_AS(import_as_count, theirs, absent, path), .min = least, .max = most
#define IMPORT_NUMBER(theirs, absent, path, least, most)                                                               \
    IMPORT_AS(import_as_number, theirs, absent, path), .min = least, .max = most
#define IMPORT_NEAREST(theirs, absent, path, list) IMPORT_AS(import_as_nearest, theirs, absent, path), .words = list
#define IMPORT_SAME(function, theirs, path) IMPORT_BY(function, theirs, NULL), .ours = path
#define IMPORT_WORDS(function, theirs, path, list) IMPORT_SAME(function, theirs, path), .words = list

/* The importers. False with errors; notes are no reason to fail. */
bool import_booksim(struct import *import, const char *bytes, size_t size);
bool import_simured(struct import *import, const char *bytes, size_t size);
bool import_supersim(struct import *import, const char *bytes, size_t size);
bool import_infiniband(struct import *import, const char *bytes, size_t size);
/* BookSim's `key = value;` and SimuRed's `KEY value`, as one object; NULL with an error. */
struct json *import_read_booksim(struct import *import, const char *bytes, size_t size);
struct json *import_read_simured(struct import *import, const char *bytes, size_t size);

/* Walks a table with these blocks at hand. */
void import_carry(struct import *import, const struct import_row *rows, struct json *theirs, struct json *ours);
/* Lists all that nobody took; false when there are errors. */
bool import_list_rest(struct import *import);
/* All of it, by rows of all settings, with the values of those that a file of words leaves out; false when there are errors. */
bool import_all(struct import *import, const struct import_row *rows, const struct import_lost *lost);
/* Rows' `as`: a number within bounds, a file that a setting names. */
struct json *import_as_count(struct import *import, const struct json *node);
struct json *import_as_number(struct import *import, const struct json *node);
struct json *import_as_path(struct import *import, const struct json *node);
/* Rows' `as`: by words, the first where it is none of them, and that is noted: "no such" setting. */
struct json *import_as_nearest(struct import *import, const struct json *node);
/* Rows' `put`: by words, or a number or truth as it is when there are none. What does not fit is not taken. */
void import_put_same(struct import *import);

/* ---- theirs: the fallback, with an error when there is another thing than expected ---- */

/* Marks a setting as taken. NULL when it is absent. */
struct json *import_take(struct import *import, const char *path);
/* The same without a mark, and without a word where a block on the way is none. */
struct json *import_look(struct import *import, const char *path);
/* An error when it is absent. */
struct json *import_need(struct import *import, const char *key);
/* A block, which is not marked. */
struct json *import_block(struct import *import, const char *path);
/* A copy of the importer at work that has other blocks at hand. */
struct import import_within(const struct import *import, struct json *theirs, struct json *ours);
double import_number(struct import *import, const struct json *node, double fallback, double min, double max);
unsigned long long import_count(struct import *import, const struct json *node, uint64_t fallback, uint64_t min,
                                uint64_t max);
const char *import_word(struct import *import, const struct json *node, const char *fallback);
bool import_truth(struct import *import, const struct json *node, bool fallback);
bool import_is(const struct json *node, const char *word);
/* What is at a path, which is taken. */
double import_number_at(struct import *import, const char *path, double fallback, double min, double max);
unsigned long long import_count_at(struct import *import, const char *path, uint64_t fallback, uint64_t min,
                                   uint64_t max);
bool import_truth_at(struct import *import, const char *path, bool fallback);
/* Our word for theirs; NULL: the list has none. */
const char *import_ours_for(struct import *import, const char *words, const char *word);
/* The same of a setting; an error that lists the words when it is none of them. The fallback is ours. */
const char *import_choice(struct import *import, const struct json *node, const char *words, const char *fallback);
/* The same; "no such ..." is noted when it is none of them, and the fallback stands for it. */
const char *import_nearest(struct import *import, const struct json *node, const char *words, const char *what,
                           const char *fallback);
/* Whether a list of words with blanks between, in which a * stands for any text, has this one. */
bool import_lists(const char *list, const char *word);
/* The first item of an array, with an error where it is none; NULL for NULL. */
const struct json *import_items(struct import *import, const struct json *array, const char *expected);
/* A copy of an array of whole numbers; empty for NULL. */
struct json *import_numbers(struct import *import, const struct json *node, uint64_t min, uint64_t max);
/* A file that a setting of theirs names, as ours must name it. */
const char *import_path(struct import *import, const struct json *node);

/* The row of a table for their word, NULL when there is none. Any rows: each begins with a word, the last with NULL. */
#define IMPORT_FIND(rows, word) import_find(rows, sizeof *(rows), word)
const void *import_find(const void *rows, size_t row_size, const char *word);
/* The same for a setting; an error that lists the words of the table when it is none of them. */
#define IMPORT_CHOOSE(import, node, rows) import_choose(import, node, rows, sizeof *(rows))
const void *import_choose(struct import *import, const struct json *node, const void *rows, size_t row_size);

/* Messages are formats and what they take. "file:line:column: path: ..."; false. */
#define import_error(import, node, ...) import_refuse(import, node, arena_format((import)->arena, __VA_ARGS__))
bool import_refuse(struct import *import, const struct json *node, const char *message);
/* "found a number '3', expected ..." */
#define import_expected(import, node, ...) import_found(import, node, arena_format((import)->arena, __VA_ARGS__))
void import_found(struct import *import, const struct json *node, const char *expected);
/* Lists a setting of theirs as not carried over; nothing for NULL. */
void import_note(struct import *import, const struct json *node, enum import_kind kind, const char *why,
                 const char *nearest);

/* ---- ours ---- */

/* Puts a value at a path, making the objects between; returns it. */
struct json *import_put(struct import *import, const char *path, struct json *value);
/* Puts `key=value key=value ...` into the block at a path, which may be "": numbers, truths, [lists] and words. */
#define import_set(import, path, ...) import_set_words(import, path, arena_format((import)->arena, __VA_ARGS__))
struct json *import_set_words(struct import *import, const char *path, char *words);
/* What is there; NULL: nothing. */
struct json *import_ours(struct import *import, const char *path);
/* `count` times the same number. */
struct json *import_repeat(struct import *import, uint64_t count, uint64_t value);
/* Flits per terminal and cycle of its channels: no more than those carry. */
void import_put_load(struct import *import, double load, uint64_t channels, const struct json *node);
/* A size of one of several numbers of flits; returns their mean, weighted, or the fallback without weight. */
double import_put_mix(struct import *import, const char *path, struct json *sizes, struct json *weights,
                      double fallback);
/* A size of requests and replies, drawn together: flits of read and write requests, of read and write replies. */
void import_put_read_write(struct import *import, double reads, const double flits[4]);
/* Says above a value what was chosen and why. */
#define import_comment(import, node, ...) import_say(import, node, arena_format((import)->arena, __VA_ARGS__))
void import_say(struct import *import, struct json *node, char *comment);

/* ---- BookSim: every setting is there, given or not, since those that a file leaves out have BookSim's defaults ---- */

/* The setting if the file gives it; NULL: it has its default. */
const struct json *booksim_given(struct import *import, const char *key);
const char *booksim_value(struct import *import, const char *key);
bool booksim_is(struct import *import, const char *key, const char *value);
unsigned long long booksim_count(struct import *import, const char *key, uint64_t min, uint64_t max);
/* Lists a setting, given or not, as not carried over. */
void booksim_note(struct import *import, const char *key, enum import_kind kind, const char *why, const char *nearest);
/*
 * Items of {a,b}, or of name(a,b), each a value of the same setting; a plain value is a list of one. The name is what
 * stands before the bracket of a call, the whole of a word, or "" for a list.
 */
struct json *booksim_split(struct import *import, const struct json *value, const char **name);
struct json *booksim_item(struct import *import, const struct json *value, const char *text);

#define BOOKSIM_DIMENSIONS 16 /* at most */

/* Networks, and the numbers of nodes on a chip, where applications are there already. */
void booksim_put_cmesh(struct import *import);
void booksim_put_flatfly(struct import *import);
void booksim_put_tree(struct import *import);
void booksim_put_dragonfly(struct import *import);
void booksim_put_anynet(struct import *import);
unsigned long long booksim_file_nodes(struct import *import);
void booksim_put_tiles(struct import *import);

/* The row of `classes`: all applications. */
void booksim_put_classes(struct import *import);
/* The item of a class in a list of one value for each; the last one stands for those beyond. */
const struct json *booksim_value_of(struct import *import, const char *key, uint32_t class);
void booksim_put_traffic(struct import *import, uint32_t class);

/*
 * ---- SuperSim: its times are cycles of four clocks, which are given in ticks; ours are ticks, and cycles of the router
 * inside routers ----
 */

/* Ticks of a clock: channel, router, interface, terminal. */
unsigned long long supersim_cycle(struct import *import, const char *clock);
/* A latency in cycles of a clock; `fallback` when it is absent. */
unsigned long long supersim_ticks(struct import *import, const char *path, const char *clock, uint64_t fallback);
/* Ports of an interface. */
unsigned long long supersim_ports(struct import *import);
/* VCs of all protocol classes. */
unsigned long long supersim_vcs(struct import *import);

/* What a scheduler of a crossbar lets a packet have: `room` and `lock`. */
void supersim_put_flow(struct import *import, const char *scheduler);
/* The arbiter of an allocator that has one thing to give. */
void supersim_put_arbiter(struct import *import, const char *allocator, const char *key);

void supersim_network(struct import *import);
void supersim_routing(struct import *import);
void supersim_router(struct import *import);
void supersim_applications(struct import *import);
