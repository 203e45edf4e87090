/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A CSV file that is written number by number, compressed with zstd on the way
 * when its name ends in .zst; "-" is standard output. The same calls give the same
 * bytes. The file appears under its name when it is closed, whole; what could not
 * be written comes out then.
 */
#include "flitwarp/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv_file;

/* NULL, with a message, when the file cannot be written. */
struct csv_file *csv_open(const char *name, struct errors *errors);
void csv_text(struct csv_file *file, const char *text);
void csv_bytes(struct csv_file *file, const char *bytes, size_t count);
/* A number and what stands behind it: a comma, or the end of the line. */
void csv_number(struct csv_file *file, uint64_t number, char behind);
/* sum / count with six decimals, rounded; nothing when the count is 0. */
void csv_ratio(struct csv_file *file, unsigned __int128 sum, uint64_t count, char behind);
/* A line of numbers, 64 at most. */
void csv_line(struct csv_file *file, const uint64_t *numbers, size_t count);

/* What is done with files as a whole: true, or false with a message where errors are not NULL. */
typedef bool csv_act(struct csv_file *file, struct errors *errors);
/* Puts the finished file in its place; false when something could not be written. Frees the file. */
csv_act csv_close;
/* Drops what was written and frees the file. */
csv_act csv_discard;
/* Leaves what was written beside its place, for another process to go on with, and frees the file. */
csv_act csv_leave;
/* Puts all that was written on the disk and closes it for a while; a compressed file ends a frame. */
csv_act csv_rest;
/* Goes on from there, perhaps in another process: false when the file is not there as it was left. */
csv_act csv_wake;
/* Whether all that was written is there, as far as is known. */
csv_act csv_is_whole;
/* To each of several files, NULL being none; false where one was false. */
bool csv_all(struct csv_file *const *files, uint32_t count, csv_act *act, struct errors *errors);

/* Whether it can rest: not what goes to standard output or into a pipe. */
bool csv_can_rest(const struct csv_file *file);
/* Whether a log may have this name: it ends in .csv or .csv.zst. */
bool csv_name_is_valid(const char *name);
