/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What a viewer is told of a network, as JSON: once what stays (the scene), and again
 * and again what changes (a frame). See docs/viewer_interface.md for the words.
 */
#include "view/layout.h"
#include "view/watch.h"
#include "view/writer.h"

/* Members of an object that is open: topology, layout, names, channels, terminals and router. */
void scene_write(struct text *out, const struct watch *watch, const struct layout *layout);

/* The members of a frame, with some routers in full; and the first of them alone: time, phase, outcome and counts. */
void frame_write(struct text *out, struct watch *watch, const uint32_t *routers, uint32_t count);
void counts_write(struct text *out, const struct watch *watch);
void occupancy_write(struct text *out, struct watch *watch);
void utilisation_write(struct text *out, const struct watch *watch);
/* A flit as an array, [channel, vc, packet, position, size, ...]: the beginning, and the end with how many go together. */
void flit_write(struct text *out, const struct watch *watch, const struct watched_flit *flit);
void flit_write_end(struct text *out, const struct watch *watch, const struct watched_flit *flit);
/* Of the router that the watch shows: flits of a queue, [packet, position, size, count], and what crosses it, [input port,
 * output port, vc]; as lists, or one behind the other. */
void queue_write(struct text *out, const struct watch *watch, const struct shown_queue *queue, bool are_lists);
void crossings_write(struct text *out, const struct watch *watch, bool are_lists);
/* One router in full, as an object. */
void router_write(struct text *out, struct watch *watch, uint32_t router);
/* Members about a packet: its ends, its way so far, what it waits for. False when it is not in the network. */
bool packet_write(struct text *out, struct watch *watch, uint32_t source, uint32_t sequence);
/* The members of a series: one array each, from a point on. */
void series_write(struct text *out, const struct watch *watch, uint64_t from);
