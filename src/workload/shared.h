/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What an application counts over all its ranks, as prepare() told by application_share_...(). */
#include "flitwarp/application.h"

#include "engine/tally.h"

struct shared {
    struct shared *next;
    uint32_t *count; /* one of these three */
    tick_t *latest;
    struct histogram *samples;
    uint32_t before; /* count, when all ranks last knew the same */
    uint64_t change; /* since then */
};

/* Before the run. */
void shared_begin(const struct application *application);
/* At grid points, between ranks; notes what has changed, lists it, and takes over what has changed on all. */
void shared_note(const struct application *application);
void shared_tally(const struct application *application, struct tally *tally);
void shared_take(const struct application *application);
/* At the end: distributions. */
void shared_tally_samples(const struct application *application, struct tally *tally);
