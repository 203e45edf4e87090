/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * One workload over several ranks. Each runs the terminals of its own parts; phases
 * change on all of them alike, since all decide by the same numbers: those that are
 * put together here. All ranks call these together.
 */
#include "engine/tally.h"
#include "workload/workload.h"

struct workload_ranks;

struct workload_ranks *workload_ranks_create(struct workload *workload);
void workload_ranks_release(struct workload_ranks *all);

/* A grid point, before anything is counted: notes and log records go where they belong, interrupts to everybody. */
void workload_ranks_hand_over(struct workload *workload);
/* Then, with all of this rank's parts counted: counts of all ranks. */
void workload_ranks_count(struct workload *workload);
/* The end, with all of this rank's parts merged: what results print. */
void workload_ranks_merge(struct workload *workload);

/* What an application counts over all its ranks, as prepare() told by application_share_...(). Before the run: */
void shared_begin(const struct application *application);
/* At grid points, between ranks; notes what has changed, lists it, and takes over what has changed on all. */
void shared_note(const struct application *application);
void shared_tally(const struct application *application, struct tally *tally);
void shared_take(const struct application *application);
/* At the end: distributions. */
void shared_tally_samples(const struct application *application, struct tally *tally);
