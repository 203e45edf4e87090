/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Motifs (flitwarp/motif.h) as traces. */
#include "flitwarp/motif.h"

struct trace;

/* The trace of a motif on so many ranks; NULL with errors. */
struct trace *motif_trace(const struct choice *choice, uint32_t ranks, uint64_t seed, struct errors *errors);
