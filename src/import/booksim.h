/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * BookSim's configuration as the importer sees it: every setting is there, given
 * or not, since those that a file leaves out have BookSim's defaults and not ours.
 */
#include "import/import.h"

/* The setting if the file gives it; NULL: it has its default. */
const struct json *booksim_given(struct import *import, const char *key);
const char *booksim_value(struct import *import, const char *key);
bool booksim_is(struct import *import, const char *key, const char *value);
unsigned long long booksim_count(struct import *import, const char *key, uint64_t min, uint64_t max);
/* Lists a setting, given or not, as not carried over. */
void booksim_note(struct import *import, const char *key, const char *why, const char *nearest);
/*
 * Items of {a,b}, or of name(a,b), each a value of the same setting; a plain value is a list of one. The name is what
 * stands before the bracket of a call, the whole of a word, or "" for a list.
 */
struct json *booksim_split(struct import *import, const struct json *value, const char **name);
struct json *booksim_item(struct import *import, const struct json *value, const char *text);

/* The row of `classes`: all applications. */
void booksim_put_classes(struct import *import);
