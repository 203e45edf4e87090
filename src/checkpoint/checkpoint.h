/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * When a run writes checkpoints, and where. One rank writes FILE. Of several each writes a file of its own,
 * FILE.RANK.GENERATION; when all are whole, the first rank replaces FILE, which says which generation counts, and the
 * files of the one before go. So whatever is killed when, FILE means the last checkpoint that is whole. Where FILE has a
 * {tick} in it, that is the tick of the checkpoint: all are kept then.
 */
#include "engine/ranks.h"
#include "flitwarp/packet.h"

#include <signal.h>

struct checkpoint_facts {
    uint64_t run;        /* which run it is: drawn when it begins */
    uint64_t generation; /* checkpoints of that run so far */
    uint64_t tick;
    uint64_t ranks,
        rank; /* whose heap it is, of so many; one that says `is_list` has none: it says that all are there */
    uint64_t is_list;
};

/* A part of the state that it keeps, but for what checkpoint_begin sets. */
struct checkpoint {
    const char *path;    /* NULL: none are asked for */
    uint64_t ticks;      /* from one to the next; 0: */
    double seconds;      /* of the clock on the wall */
    tick_t next_tick;    /* when the next is due */
    double next_seconds; /* in this process's time */
    struct checkpoint_facts facts;
    struct ranks *ranks;                 /* borrowed; NULL: there is one */
    const volatile sig_atomic_t *caught; /* borrowed: somebody wants the run to end */
    volatile sig_atomic_t stops;         /* it may: the last one is written */
    bool is_kept;                        /* there is one of this run, by that name */
    uint64_t process;                    /* that wrote it, by the system's number */
    int lock;                            /* on the file, in this process; -1: none */
};

/* "100000": ticks; "30s", "10min", "2h": wall time. False with an error. */
bool checkpoint_read_every(struct checkpoint *checkpoint, const char *every, struct errors *errors);
/* After a restart: removes what a process that was killed while it wrote has left. */
void checkpoint_clean(const struct checkpoint *checkpoint);
/* Before a run, in each process that runs a part of it. */
void checkpoint_begin(struct checkpoint *checkpoint);
/* Whether one is to be written, by what this rank knows. */
bool checkpoint_is_due(const struct checkpoint *checkpoint, tick_t now);
/*
 * All ranks together, with everything at rest. What goes wrong is said, and is no reason to end the run: the one before
 * stays. So it does where the logs are not whole, which a restart would go on with.
 */
void checkpoint_write(struct checkpoint *checkpoint, tick_t now, bool logs_are_whole);
/* All ranks together, after the run: removes what is needed no more, if it is over. */
void checkpoint_end(const struct checkpoint *checkpoint, bool is_over);
/* Says how to go on with a run that ended early. */
void checkpoint_tell(const struct checkpoint *checkpoint);

/* Opens what a rank is to be put back from, by the name of the file that counts for all; NULL with errors. */
struct checkpoint_file *checkpoint_open(const char *path, const struct ranks *ranks, struct errors *errors);

/* ---- file.c: all that a run is at one moment, the heap as it lies in memory (base/heap.h); see docs/formats.md ---- */

/* Whether this program can write and read checkpoints at all; false with errors, which begin with `asked_by`. */
bool checkpoint_is_possible(const char *asked_by, struct errors *errors);

/*
 * The heap as it is. In its place when it is whole, and on the disk; false, with errors and the file before it untouched, if
 * that failed. A descriptor that has the lock of the file is left in `lock`, where that is not NULL.
 */
bool checkpoint_file_write(const char *path, const struct checkpoint_facts *facts, int *lock, struct errors *errors);

/* Whether one may be put there: there is nothing, or an older one of a run that is over; false with errors. */
bool checkpoint_file_is_free(const char *path, struct errors *errors);
/* Whether a run that goes on has its lock; every run has that of its last one. */
bool checkpoint_file_is_locked(const char *path);

struct checkpoint_file;
/* NULL, with errors, for what is no whole checkpoint of this build. */
struct checkpoint_file *checkpoint_file_open(const char *path, struct checkpoint_facts *facts, struct errors *errors);
/* Loads its plugins and puts the heap back; false with errors. */
bool checkpoint_file_restore(struct checkpoint_file *file, struct errors *errors);
void checkpoint_file_close(struct checkpoint_file *file);
