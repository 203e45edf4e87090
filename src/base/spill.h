/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Memory for what may be larger than memory: taken piece by piece, given back as a
 * whole. What goes beyond a limit lies in a temporary file without a name ($TMPDIR,
 * or /tmp) that is mapped, so that the system can write it out when it needs the room. In a run that keeps checkpoints it
 * all lies in the heap, since the file would be gone when the run goes on.
 */
#include <stddef.h>
#include <stdint.h>

struct spill;

/* `in_memory`: bytes that stay plain memory. */
struct spill *spill_create(size_t in_memory);
/* Zeroed, aligned to 64 bytes. */
void *spill_take(struct spill *spill, size_t bytes);
/* Bytes that lie in the file. */
size_t spill_file_bytes(const struct spill *spill);
void spill_destroy(struct spill *spill);
