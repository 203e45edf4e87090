/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Sorting the events of a bucket by their keys, without moving them. */
#include "engine/process_queue.h"

/* Fills order[] with 0..count-1 in its low QUEUE_INDEX_BITS, by rising key of the events. */
void events_sort(uint64_t *order, const uint64_t *events, uint32_t words, uint32_t count);
