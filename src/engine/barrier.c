/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier, see barrier.h: the last to arrive opens the next round. */
#include "engine/barrier.h"

#include <sched.h>
#include <time.h>

enum {
    SPINS = 1000, /* some 20 us: longer than a window, shorter than a time slice */
    YIELDS = 32,  /* then the others do not get a core by that alone */
    NAP_NS = 20000,
};

static uint32_t cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

void barrier_init(struct barrier *barrier, uint32_t threads, uint32_t ranks_here)
{
    barrier->threads = threads;
    barrier->spins = threads * ranks_here <= cores() ? SPINS : 0;
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->round, 0);
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void barrier_wait(struct barrier *barrier)
{
    uint32_t round = atomic_load_explicit(&barrier->round, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 == barrier->threads) {
        atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&barrier->round, round + 1, memory_order_release);
        return;
    }
    for (uint32_t spins = 0; atomic_load_explicit(&barrier->round, memory_order_acquire) == round;) {
        if (spins++ < barrier->spins)
            pause_briefly();
        else if (spins < barrier->spins + YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}
