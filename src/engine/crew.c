/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that meet often, see crew.h. */
#include "engine/crew.h"

#include "engine/barrier.h"
#include "flitwarp/arena.h"
#include "flitwarp/error.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

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
    struct barrier barrier;
};

void crew_meet(struct crew *crew) { barrier_wait(&crew->barrier); }

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
    barrier_init(&crew->barrier, count, ranks_here);
    crew->members = memory_take(sizeof *crew->members * count);
    for (uint32_t i = 1; i < count; i++) {
        crew->members[i] = (struct member){.crew = crew, .number = i};
        NEED(!pthread_create(&crew->members[i].thread, NULL, be_member, &crew->members[i]),
             "the system refuses thread %u of %u", i + 1, count);
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
