/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ranks of an application count together. Threads change one number;
 * processes change one each, and their changes are added up at grid points, where
 * check() looks. That nothing is counted that was not shared is checked always: on
 * one rank it would work, and be wrong on two.
 */
#include "workload/shared.h"

#include "metrics/measurement_ranks.h"
#include "workload/workload.h"

#include <sched.h>

static void share(struct application *application, struct shared what)
{
    struct shared *shared = arena_array(application->arena, struct shared, 1);
    *shared = what;
    shared->next = application->shared;
    application->shared = shared;
}

void application_share_count(struct application *application, uint32_t *count)
{
    share(application, (struct shared){.count = count});
}

void application_share_latest(struct application *application, tick_t *latest)
{
    share(application, (struct shared){.latest = latest});
}

void application_share_samples(struct application *application, struct histogram *histogram)
{
    share(application, (struct shared){.samples = histogram});
}

static void check_shared(const struct application *application, const void *what)
{
    const struct shared *shared = application->shared;
    while (shared && shared->count != what && (const void *)shared->latest != what && shared->samples != what)
        shared = shared->next;
    CHECK(shared, "application '%s' changes what prepare() did not share", application->ops->name);
}

void application_count(struct application *application, uint32_t *count, int32_t change)
{
    check_shared(application, count);
    __atomic_fetch_add(count, (uint32_t)change, __ATOMIC_RELAXED);
}

void application_note_latest(struct application *application, tick_t *latest, tick_t now)
{
    check_shared(application, latest);
    tick_t before = __atomic_load_n(latest, __ATOMIC_RELAXED);
    while (now > before && !__atomic_compare_exchange_n(latest, &before, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

void application_sample(struct application *application, struct histogram *histogram, uint64_t value)
{
    bool *is_locked = &application->workload->is_locked;
    check_shared(application, histogram);
    while (__atomic_test_and_set(is_locked, __ATOMIC_ACQUIRE))
        sched_yield();
    histogram_add(histogram, value);
    __atomic_clear(is_locked, __ATOMIC_RELEASE);
}

void shared_begin(const struct application *application)
{
    for (struct shared *shared = application->shared; shared; shared = shared->next)
        shared->before = shared->count ? *shared->count : 0;
}

void shared_note(const struct application *application)
{
    for (struct shared *shared = application->shared; shared; shared = shared->next)
        shared->change = shared->count ? *shared->count - shared->before : 0;
}

void shared_tally(const struct application *application, struct tally *tally)
{
    for (struct shared *shared = application->shared; shared; shared = shared->next) {
        if (shared->count)
            tally_sum(tally, &shared->change);
        if (shared->latest)
            tally_largest(tally, shared->latest);
    }
}

void shared_take(const struct application *application)
{
    for (struct shared *shared = application->shared; shared; shared = shared->next)
        if (shared->count)
            *shared->count = shared->before += (uint32_t)shared->change;
}

void shared_tally_samples(const struct application *application, struct tally *tally)
{
    for (struct shared *shared = application->shared; shared; shared = shared->next)
        if (shared->samples)
            histogram_tally(shared->samples, tally);
}
