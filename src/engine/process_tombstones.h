/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Events that were taken back while they are still in the queue: it is not
 * searched for them, they are dropped when their turn comes. A hash table by
 * process, tie, time and serial number.
 */
#include "flitwarp/process.h"

struct tombstones {
    struct event *slots; /* owned; `partition` 0: empty, 1: taken */
    uint32_t capacity;   /* a power of two */
    uint32_t count;
};

void tombstones_init(struct tombstones *tombstones);
void tombstones_release(struct tombstones *tombstones);
void tombstones_add(struct tombstones *tombstones, const struct event *event);
/* Was this very event taken back? Then it is forgotten. */
bool tombstones_remove(struct tombstones *tombstones, const struct event *event);
