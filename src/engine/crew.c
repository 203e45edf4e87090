/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that meet often, see crew.h: the last to arrive opens the next round. */
#include "engine/crew.h"

#include "base/need.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SPINS = 1000, /* some 20 us: longer than a window, shorter than a time slice */
    YIELDS = 32,  /* then the others do not get a core by that alone */
    NAP_NS = 20000,
};

struct member {
    struct crew *crew;
    uint32_t number;
    pthread_t thread;
};

struct crew {
    crew_work *work;
    void *context;
    struct member *members; /* owned */
    uint32_t count;
    bool ends;
    uint32_t spins; /* before the core is given away */
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint round;
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void crew_meet(struct crew *crew)
{
    uint32_t round = atomic_load_explicit(&crew->round, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&crew->arrived, 1, memory_order_acq_rel) + 1 == crew->count) {
        atomic_store_explicit(&crew->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&crew->round, round + 1, memory_order_release);
        return;
    }
    for (uint32_t spins = 0; atomic_load_explicit(&crew->round, memory_order_acquire) == round;) {
        if (spins++ < crew->spins)
            pause_briefly();
        else if (spins < crew->spins + YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

static void *be_member(void *argument)
{
    const struct member *member = argument;
    struct crew *crew = member->crew;
    for (;;) {
        crew_meet(crew);
        if (crew->ends)
            return NULL;
        crew->work(crew->context, member->number);
        crew_meet(crew);
    }
}

struct crew *crew_start(uint32_t count, uint32_t ranks_here, crew_work *work, void *context)
{
    struct crew *crew = memory_take_aligned(sizeof *crew);
    *crew = (struct crew){.work = work, .context = context, .count = count};
    cpu_set_t set;
    uint32_t cores = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
    crew->spins = count * ranks_here <= cores ? SPINS : 0;
    crew->members = memory_take(sizeof *crew->members * count);
    for (uint32_t i = 1; i < count; i++) {
        crew->members[i] = (struct member){.crew = crew, .number = i};
        int reason = pthread_create(&crew->members[i].thread, NULL, be_member, &crew->members[i]);
        NEED(reason == 0, "the system refuses thread %u of %u: %s", i + 1, count, strerror(reason));
    }
    return crew;
}

void crew_run(struct crew *crew)
{
    crew_meet(crew);
    crew->work(crew->context, 0);
    crew_meet(crew);
}

void crew_end(struct crew *crew)
{
    crew->ends = true;
    crew_meet(crew);
    for (uint32_t i = 1; i < crew->count; i++)
        pthread_join(crew->members[i].thread, NULL);
    free(crew->members);
    free(crew);
}
