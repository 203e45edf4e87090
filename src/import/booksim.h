/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * BookSim's configuration as the importer sees it: every setting has a value,
 * given or not, since those that a file leaves out are BookSim's defaults and not
 * ours. Values are text; lists and calls are taken apart by those who know what
 * they mean.
 */
#include "import/import.h"

struct booksim {
    struct import *import;
    struct json *taken; /* settings that were asked for */
};

/* Items of {a,b}, or of name(a,b); a plain value is a list of one. */
struct booksim_list {
    uint32_t count;
    const char **items;
};

/* All settings of BookSim with their defaults, and why some are not carried over. */
extern const struct import_row booksim_rows[];

/* The settings of a file as one object; NULL with one error. */
struct json *booksim_read(struct import *import, const char *bytes, size_t size);

/* The setting if the file gives it; NULL: it has its default. */
const struct json *booksim_given(struct booksim *booksim, const char *key);
/* Its value, or the default. */
const char *booksim_value(struct booksim *booksim, const char *key);
uint64_t booksim_count(struct booksim *booksim, const char *key, uint64_t min, uint64_t max);
bool booksim_is(struct booksim *booksim, const char *key, const char *value);

/* Cuts a value; `name` gets what stands before the bracket of a call, the whole of a word, or "" for a list. */
struct booksim_list booksim_split(struct arena *arena, const char *value, const char **name);
/* Item `index` of a list of one value for each class; the last one stands for those beyond. */
const char *booksim_of_class(struct booksim *booksim, const char *key, uint32_t index);
/* A number that is a setting's value or part of it; the minimum, and an error, when it is none or out of bounds. */
double booksim_number(struct booksim *booksim, const char *key, const char *text, double min, double max);
uint64_t booksim_whole(struct booksim *booksim, const char *key, const char *text, uint64_t min, uint64_t max);

/* Lists a setting, given or not, as not carried over. */
void booksim_note(struct booksim *booksim, const char *key, const char *why, const char *nearest);

void booksim_network(struct booksim *booksim);
void booksim_router(struct booksim *booksim);
void booksim_workload(struct booksim *booksim);
