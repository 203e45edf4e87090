/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that a device does together, see run.h. Each has a thread of its own, which builds it, decides at its grid points and
 * writes its files, as if it ran alone; the device's engine lets them meet (device/lockstep_pack.c). They are built a few at
 * a time, and when this machine's memory has no room for another the rest waits until these have ended.
 */
#include "run/run.h"

#include "base/need.h"
#include "device/lockstep.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEMORY_SHARE 0.8 /* of this machine's memory, for all that is built */

struct one {
    struct run_request request;
    pthread_t thread;
    uint32_t number;
    int status;
    bool is_built; /* or never will be */
};

/* As a line of JSON on standard output, for programs; and what it said, for people, on standard error. */
static void tell_end(const struct run_many *many, const struct one *one, const char *said)
{
    struct text line = {0};
    write_format(&line, "{'run':%u,'status':%d", one->number, one->status);
    write_text_at(&line, "results", one->request.results);
    write_text_at(&line, "said", said);
    write_close(&line, '}');
    if (many->tells) {
        printf("%s\n", line.chars);
        fflush(stdout);
    }
    text_release(&line);
    if (*said)
        fprintf(stderr, "%s: %s", one->request.results, said);
}

void many_note_built(const struct run_request *request)
{
    struct run_many *many = request->many;
    struct one *one = request->one;
    if (one->is_built)
        return;
    pthread_mutex_lock(&many->lock);
    one->is_built = true;
    many->building--;
    pthread_cond_signal(&many->built);
    pthread_mutex_unlock(&many->lock);
}

static void *run_one(void *context)
{
    struct one *one = context;
    struct run_many *many = one->request.many;
    char *said = NULL;
    size_t length;
    one->request.said = open_memstream(&said, &length);
    NEED(one->request.said, "no memory for what a run says");
    one->status = run_whole(&one->request);
    fclose(one->request.said);
    many_note_built(&one->request);
    pthread_mutex_lock(&many->lock);
    many->ended++;
    many_clear_progress(many);
    tell_end(many, one, said);
    pthread_mutex_unlock(&many->lock);
    free(said);
    return NULL;
}

/* Waits until another run may be built. False: there is no room for it beside those that are. */
static bool wait_for_turn(struct run_many *many, uint32_t started, uint32_t at_once)
{
    pthread_mutex_lock(&many->lock);
    while (many->building >= at_once)
        pthread_cond_wait(&many->built, &many->lock);
    bool has_room = true;
    if (started) {
        double in_use = (double)memory_in_use(), each = (in_use - many->empty_bytes) / started;
        has_room = in_use + each * (many->building + 1) < MEMORY_SHARE * machine_memory();
    }
    many->building += has_room;
    pthread_mutex_unlock(&many->lock);
    return has_room;
}

static void start(struct one *one)
{
    int reason = pthread_create(&one->thread, NULL, run_one, one);
    NEED(reason == 0, "no thread for run %u: %s", one->number, strerror(reason));
}

/* As many as there is room for, to their end; how many those were. */
static uint32_t run_group(struct run_many *many, struct one *all, uint32_t count)
{
    uint32_t started = 0, at_once = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    many->batch = lockstep_batch_open(count);
    many->empty_bytes = (double)memory_in_use();
    while (started < count && wait_for_turn(many, started, at_once))
        start(&all[started++]);
    for (uint32_t i = started; i < count; i++)
        lockstep_batch_leave(many->batch);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(all[i].thread, NULL);
    lockstep_batch_close(many->batch);
    return started;
}

/* Each run may have its files open. */
static void allow_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int run_many(struct run_many *many, const struct run_request *requests)
{
    struct one *all = memory_take(sizeof *all * many->count);
    const volatile sig_atomic_t *interrupt = interrupt_catch();
    int status = EXIT_DONE;
    allow_files();
    pthread_mutex_init(&many->lock, NULL);
    pthread_cond_init(&many->built, NULL);
    many_start_progress(many);
    for (uint32_t i = 0; i < many->count; i++) {
        all[i] = (struct one){.request = requests[i], .number = i};
        all[i].request.many = many;
        all[i].request.one = &all[i];
    }
    for (uint32_t done = 0; done < many->count && !*interrupt;)
        done += run_group(many, &all[done], many->count - done);
    for (uint32_t i = 0; i < many->count; i++)
        status = all[i].status > status ? all[i].status : status;
    pthread_cond_destroy(&many->built);
    pthread_mutex_destroy(&many->lock);
    memory_give(all);
    return *interrupt ? EXIT_INTERRUPTED : status;
}
