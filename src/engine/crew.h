/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Threads that work side by side and meet every few microseconds. The caller is
 * member 0; the others sleep at the meeting point between two calls of crew_run.
 * Who meets spins for a while and then sleeps, at once where there are more members
 * than cores.
 */
#include <stdbool.h>
#include <stdint.h>

struct crew;

typedef void crew_work(void *context, uint32_t member);

/*
 * Starts members 1 to count - 1; ends the program when the system refuses a thread. So many ranks share the
 * cores of this one and have a crew each.
 */
struct crew *crew_start(uint32_t count, uint32_t ranks_here, crew_work *work, void *context);
/* All members do their work once, this thread member 0's. */
void crew_run(struct crew *crew);
/* Returns when all members have called it; what they wrote before is then seen by all. */
void crew_meet(struct crew *crew);
void crew_end(struct crew *crew);
