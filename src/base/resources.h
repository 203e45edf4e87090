/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the program uses of the machine. */
#include <stdint.h>

double wall_seconds(void);

/* What a run takes, over all processes that have run a part of it. Zeroed at first. */
struct stopwatch {
    double cpu, wall;             /* seconds, when it was last noted */
    uint64_t peak;                /* memory */
    double cpu_start, wall_start; /* when this process began, or noted */
};
void stopwatch_start(struct stopwatch *watch);
void stopwatch_note(struct stopwatch *watch);
