/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A barrier for threads that meet every few microseconds: it spins for a while
 * and then gives its core away, at once where there are more threads than cores.
 */
#include <stdatomic.h>
#include <stdint.h>

struct barrier {
    uint32_t threads;
    uint32_t spins; /* before the core is given away */
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint round;
};

/* So many ranks share the cores of this one. */
void barrier_init(struct barrier *barrier, uint32_t threads, uint32_t ranks_here);
/* Returns when all threads have called it; what each did before is seen by all. */
void barrier_wait(struct barrier *barrier);
