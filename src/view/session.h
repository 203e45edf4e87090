/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What `flitwarp view` shows: a simulation that is stepped, and where it came from,
 * so that it can be started again with other settings.
 */
#include "base/embedded.h"
#include "base/table.h"
#include "run/simulation.h"
#include "view/layout.h"
#include "view/server.h"
#include "view/watch.h"
#include "config/json.h"

#include <signal.h>

/* Where a simulation comes from. */
struct view_source {
    const char *path;                     /* of a configuration; NULL: a scenario */
    const struct embedded_file *scenario; /* NULL: a file */
    char **overrides;
    int override_count;
};

struct viewed_run {
    struct simulation simulation;
    struct watch watch;
    struct arena arena; /* owned: layout and texts */
    struct layout layout;
    const char *title, *about;
    bool has_ended;     /* numbers are put together */
    const char *report; /* what `flitwarp run` would print of a run that cannot go on; NULL before the end */
    struct json *results;
};

struct view_session {
    bool wants_quit; /* the page has said so */
    bool opens_browser;
    const volatile sig_atomic_t *interrupted; /* borrowed */
    struct view_source base;                  /* what is shown, without the overrides of the page */
    struct viewed_run *run;                   /* owned */
    struct text documents;                    /* results to be shown: items of a JSON array */
};

/* Loads and builds; NULL, with messages, when that cannot be. Overrides are added to the source's. */
struct viewed_run *viewed_run_open(const struct view_source *source, char **overrides, int count,
                                   struct errors *errors);
void viewed_run_close(struct viewed_run *run);
/* Puts results together once the run is over. */
void viewed_run_end(struct viewed_run *run);

/* The comment that a configuration begins with: its first line, and the rest up to an empty line, joined. */
struct leading_comment {
    const char *first, *rest; /* "": none */
};
struct leading_comment leading_comment_read(const char *text, struct arena *arena);

/* ---- results: documents of `flitwarp run`, and studies of flitwarp-sweep, which are SQLite files ---- */

/* Whether a file is one of them, by what it begins with; false for anything else, configurations too. */
bool is_results_file(const char *path);
/*
 * Adds the documents of a file as items of a JSON array that is open:
 * {name, status, line, x, seed, variables, results}, where only studies have those in the middle. False with errors.
 */
bool results_gather(struct text *out, const char *path, struct errors *errors);

/* ---- api.c: what the page asks of the program, and the files that it is made of ---- */

/* A server_answer whose context is a struct view_session. */
server_answer view_answer;
/* Members of the scene, and those that tell why a run cannot go on, null where it can. */
void view_write_scene(struct text *out, struct viewed_run *run);
void view_write_end(struct text *out, const struct viewed_run *run);

/* ---- forms.c ---- */

/*
 * Forms out of option rows and the values in effect: one entry for each setting that a form can change, as items of an
 * array that is open. `path` is that of the settings, "" for all. Lists and times are text.
 */
void forms_write(struct text *out, const struct option *rows, const struct json *settings, const char *path);

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

struct recorder {
    struct watch *watch; /* borrowed */
    bool has_detail;     /* else the network is so large that no router is shown close up */
    uint64_t
        *lanes; /* in the watch's arena, by router * 2 * lanes + side and lane: hash of what was told last; 0: idle */
    struct table sent;    /* flits that were told of in this chunk */
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

/*
 * What a viewer is told of a network, as JSON: once what stays (the scene), and again
 * and again what changes (a frame). See docs/viewer_interface.md for the words.
 */

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
