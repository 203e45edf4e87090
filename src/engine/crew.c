/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that meet often, see crew.h: the last to arrive opens the next round. */
#include "engine/crew.h"

#include "base/need.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 1000 }; /* some 20 us: longer than a window, shorter than a time slice */

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
    uint32_t spins; /* before a member sleeps */
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint round;
    atomic_uint asleep; /* members, or about to be */
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/*
 * A member that only yields its core gets it back when another program's time slice has ended, milliseconds later; who
 * sleeps is woken at once. The kernel lets no one fall asleep whose round is over.
 */
static void sleep_through(struct crew *crew, uint32_t round)
{
    atomic_fetch_add(&crew->asleep, 1);
    syscall(SYS_futex, &crew->round, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
    atomic_fetch_sub(&crew->asleep, 1);
}

static void open_next_round(struct crew *crew, uint32_t round)
{
    atomic_store_explicit(&crew->arrived, 0, memory_order_relaxed);
    atomic_store(&crew->round, round + 1);
    if (atomic_load(&crew->asleep))
        syscall(SYS_futex, &crew->round, FUTEX_WAKE_PRIVATE, crew->count, NULL, NULL, 0);
}

void crew_meet(struct crew *crew)
{
    uint32_t round = atomic_load_explicit(&crew->round, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&crew->arrived, 1, memory_order_acq_rel) + 1 == crew->count) {
        open_next_round(crew, round);
        return;
    }
    for (uint32_t spins = 0; atomic_load_explicit(&crew->round, memory_order_acquire) == round; spins++)
        if (spins < crew->spins)
            pause_briefly();
        else
            sleep_through(crew, round);
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
