/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Measurements of all ranks put together, by lists of numbers (engine/tally.h). What
 * each rank has first of its own becomes that of all.
 */
#include "engine/tally.h"
#include "metrics/measurement.h"

/* At grid points: counts since the beginning, and batches, whose slots have the same length on all ranks. */
void measurement_tally_counts(struct measurement *measurement, struct tally *tally);
/* At the end, first: how long everything is that goes over time. */
void measurement_tally_lengths(struct measurement *measurement, struct tally *tally);
/* At the end, then: distributions, the digest, flits by source and what happened over time. */
void measurement_tally_rest(struct measurement *measurement, struct tally *tally);

void histogram_tally(struct histogram *histogram, struct tally *tally);
