/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A recording: the page, the scene and frames in one HTML file that plays without a
 * server. Frames come in chunks, each a JSON array that is packed by gzip and written
 * in base64: a browser unpacks one when it gets there.
 *
 *   {"kind": "recording", scene ..., "frames": N, "chunk": M, "chunks": ["H4sI...", ...], "series": {...}}
 *
 * Frames of a recording: as few words as will do, since there are thousands of them.
 * The first frame of a chunk tells all, those behind it what is new:
 *
 *   {now, phase, outcome, over, in_flight, delivered,
 *    links:  [channel, vc, packet, flit, size, arrives(, count)], flits that were sent since the last frame; each
 *            is on its way up to the tick at which it arrives
 *    detail: [router, inputs, outputs, crossbar], where something has changed
 *              inputs:  [lane, state, holds, [wants], [packet, position, size, count, ...]]
 *              outputs: [lane, credits, holder, [packet, position, size, count, ...]]
 *              crossbar: [input port, output port, vc, ...], of this frame alone
 *    utilisation: now and then; occupancy: where there is no detail}
 *
 * A state is a number from 0, idle, to 3, active; -1 stands for nobody held and nothing holding.
 */
#include "view/scene.h"
#include "view/session.h"

struct recorder {
    struct watch *watch; /* borrowed */
    bool has_detail;     /* else the network is so large that no router is shown close up */
    uint64_t
        *lanes; /* in the watch's arena, by router * 2 * lanes + side and lane: hash of what was told last; 0: idle */
    uint64_t *sent; /* owned, sorted: hashes of the flits that were on channels */
    uint32_t sent_count;
    uint32_t since_start; /* frames of this chunk */
};

void recorder_init(struct recorder *recorder, struct watch *watch);
void recorder_release(struct recorder *recorder);
/* The next frame begins a chunk. */
void recorder_begin_chunk(struct recorder *recorder);
/* The members of a frame of what the watch sees now. */
void recorder_write(struct recorder *recorder, struct text *out);

struct recording {
    struct viewed_run *run;
    uint64_t from, cycles; /* the tick to begin at, and how many cycles from there on */
    struct recorder recorder;
    struct text json, chunk; /* owned: all of it, and frames that are not in it yet */
    uint32_t frames;
};

/* Whether this program can make one: false, with errors, where it was built without zlib or the page. */
bool recording_check(struct errors *errors);
/* Runs and writes the page. Looks before recording whether the file can be written; false with errors. */
bool recording_write(struct recording *recording, const char *path, struct errors *errors);
