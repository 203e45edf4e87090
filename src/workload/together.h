/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * One workload over several ranks. Each runs the terminals of its own parts; phases
 * change on all of them alike, since all decide by the same numbers: those that are
 * put together here. All ranks call these together.
 */
#include "workload/workload.h"

struct together;

struct together *together_create(struct workload *workload);
void together_release(struct together *together);

/* A grid point, before anything is counted: notes and log records go where they belong, interrupts to everybody. */
void together_hand_over(struct workload *workload);
/* Then, with all of this rank's parts counted: counts of all ranks. */
void together_count(struct workload *workload);
/* The end, with all of this rank's parts merged: what results print. */
void together_merge(struct workload *workload);
