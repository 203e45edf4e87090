/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A file with all that a run is at one moment: the heap as it lies in memory (base/heap.h),
 * and what has to be known to put it back. docs/formats.md describes it. Whoever reads one has checked
 * every byte of it before anything of it counts.
 */
#include "flitwarp/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether this program can write and read checkpoints at all; false with errors, which begin with `asked_by`. */
bool checkpoint_is_possible(const char *asked_by, struct errors *errors);

struct checkpoint_facts {
    uint64_t run;        /* which run it is: drawn when it begins */
    uint64_t generation; /* checkpoints of that run so far */
    uint64_t tick;
    uint64_t ranks,
        rank; /* whose heap it is, of so many; one that says `is_list` has none: it says that all are there */
    uint64_t is_list;
};

/* The heap as it is. In its place when it is whole, and on the disk; false, with errors and the file before it untouched, if that failed. */
bool checkpoint_file_write(const char *path, const struct checkpoint_facts *facts, struct errors *errors);

/* Whether one may be put there: there is nothing, or an older one that it replaces; false with errors. */
bool checkpoint_file_is_free(const char *path, struct errors *errors);

struct checkpoint_file;
/* NULL, with errors, for what is no whole checkpoint of this build. */
struct checkpoint_file *checkpoint_file_open(const char *path, struct checkpoint_facts *facts, struct errors *errors);
/* Loads its plugins and puts the heap back; false with errors. */
bool checkpoint_file_restore(struct checkpoint_file *file, struct errors *errors);
void checkpoint_file_close(struct checkpoint_file *file);
