/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What handlers have overwritten, newest last: a ring of words that is filled and
 * unwound at one end and forgotten at the other. Positions count words from the
 * beginning of the run. It grows when it is full and never shrinks.
 */
#include "flitwarp/process.h"

struct undo_log {
    uint64_t *words; /* owned; an entry is its bytes, the address, their number */
    uint64_t capacity;
    uint64_t first, next;
};

void undo_init(struct undo_log *undo);
void undo_release(struct undo_log *undo);
/* Writes back all that was saved from position `mark` on, newest first. */
void undo_to(struct undo_log *undo, uint64_t mark);
/* What lies before position `mark` is not needed any more. */
static inline void undo_forget(struct undo_log *undo, uint64_t mark) { undo->first = mark; }
