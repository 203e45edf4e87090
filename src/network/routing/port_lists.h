/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Lists of ports, as tables of ways have them (flitwarp/route_table.h): count, distance, port, port, ... Equal lists are kept
 * once, so that the pool stays small: two routers that see a destination through the same ports at the same distance share
 * one.
 */
#include "flitwarp/arena.h"

struct port_lists {
    uint32_t *pool; /* the lists, one behind the other; what is found in it are places there, never 0 */
    uint32_t used, room;
    uint32_t *slots;     /* hash table of lists in the pool; 0: empty */
    uint32_t slot_count; /* a power of two */
    uint32_t list_count;
};

void port_lists_init(struct port_lists *lists);
/* Room for a list of so many ports behind the pool's end, to be filled and kept, or not. */
uint32_t *port_lists_room(struct port_lists *lists, uint32_t ports);
/* Keeps what was filled in there, unless the pool has it already; returns its place. */
uint32_t port_lists_keep(struct port_lists *lists);
/* The pool in the arena; all else is given back. */
const uint32_t *port_lists_finish(struct port_lists *lists, struct arena *arena);
