/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The machine: its signals, and what the program uses of it. Ctrl-C and SIGTERM: most commands end at once, since nothing that they have written so far has a name yet; a run ends
 * early, with what was measured so far, and at once by a second signal.
 */
#include <signal.h>
#include <stdint.h>

/* From now on signals end the program, with the status that is promised. */
void interrupt_end(void);
/* From now on the first signal sets what is returned. */
volatile sig_atomic_t *interrupt_catch(void);

double wall_seconds(void);
/* Bytes that this program could have at most. */
double machine_memory(void);
/* Bytes that it has now. */
uint64_t memory_in_use(void);

/* What a run takes, over all processes that have run a part of it. Zeroed at first. */
struct stopwatch {
    double cpu, wall;             /* seconds, when it was last noted */
    uint64_t peak;                /* memory */
    double cpu_start, wall_start; /* when this process began, or noted */
};
void stopwatch_start(struct stopwatch *watch);
void stopwatch_note(struct stopwatch *watch);
