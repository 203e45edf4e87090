/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that meet often, see crew.h. */
#include "engine/crew.h"

#include "flitwarp/arena.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPINS = 2000 }; /* some microseconds: a window of a few thousand events */

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
    uint32_t spins; /* before giving the processor away */
    bool ends;
    alignas(64) atomic_uint waiting; /* members at the meeting point */
    alignas(64) atomic_uint meetings;
};

/* Tells the processor that this is a spin. */
static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void crew_meet(struct crew *crew)
{
    uint32_t meeting = atomic_load_explicit(&crew->meetings, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&crew->waiting, 1, memory_order_acq_rel) + 1 == crew->count) {
        atomic_store_explicit(&crew->waiting, 0, memory_order_relaxed);
        atomic_store_explicit(&crew->meetings, meeting + 1, memory_order_release);
        return;
    }
    for (uint32_t spin = 0; atomic_load_explicit(&crew->meetings, memory_order_acquire) == meeting; spin++)
        if (spin >= crew->spins)
            sched_yield();
        else
            relax();
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

struct crew *crew_start(uint32_t count, crew_work *work, void *context)
{
    struct crew *crew = memory_take_aligned(sizeof *crew);
    *crew = (struct crew){.work = work, .context = context, .count = count};
    crew->spins = (long)count <= sysconf(_SC_NPROCESSORS_ONLN) ? SPINS : 0;
    crew->members = memory_take(sizeof *crew->members * count);
    for (uint32_t i = 1; i < count; i++) {
        crew->members[i] = (struct member){.crew = crew, .number = i};
        if (pthread_create(&crew->members[i].thread, NULL, be_member, &crew->members[i])) {
            fprintf(stderr, "flitwarp: the system refuses thread %u of %u\n", i + 1, count);
            exit(3);
        }
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
