/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The viewer: a run that is watched, what is told of it, the server that tells it, and recordings.
 *
 * A run that somebody watches: stepped tick by tick, with what a viewer wants to
 * know beyond the state of the network. It only looks: the run is the same with and
 * without it, since all it learns it reads between two ticks, from events that wait
 * and from routers' buffers.
 */
#include "flitwarp/shown.h"
#include "network/network.h"
#include "workload/workload.h"
#include "base/text.h"
#include "base/embedded.h"
#include "base/table.h"
#include "run/simulation.h"
#include "view/layout.h"
#include "config/json.h"

#include <signal.h>
#include <stdint.h>

/*
 * Numbers for the channels of a network, each direction its own: first those
 * between routers, in the order of routers and ports, then two for each port with a
 * terminal behind it: into the network (injection) and out of it (ejection).
 */
struct channels {
    uint32_t count;  /* between routers */
    uint32_t local;  /* ports with a terminal */
    uint32_t *slots; /* by channel between routers: router * ports + port that it leaves by */
    uint32_t *seats; /* by port with a terminal: router * ports + port */
    uint32_t *at;    /* by router * ports + port: a channel between routers, or the number of a seat; FW_NONE: unused */
    uint32_t *ejectors;      /* by terminal * its ports + port: router * ports + port that leads there; FW_NONE */
    uint32_t terminal_ports; /* of a terminal, in all planes */
};

/* The channel that leaves by a router's port, and the one that comes in there. */
uint32_t channel_out(const struct channels *channels, const struct network *network, uint32_t router, uint32_t port);
uint32_t channel_in(const struct channels *channels, const struct network *network, uint32_t router, uint32_t port);
/* The router's port that a channel has, which leaves there unless it is an injection channel. */
uint32_t channel_slot(const struct channels *channels, uint32_t channel);

/* A head flit came to a router. */
struct watched_hop {
    tick_t when;
    uint32_t router, lane;
};

/* The way of a packet so far. */
struct watched_path {
    uint32_t source, sequence; /* the packet; handles are used again */
    uint32_t count, capacity;
    struct watched_hop *hops; /* owned */
};

/* A packet whose last flit has arrived. */
struct watched_arrival {
    uint32_t source, sequence;
    tick_t when;
};
enum { ARRIVALS_KEPT = 4096 };

/* What happened between two points in time, a window apart. */
struct watched_point {
    tick_t time;
    uint64_t delivered;       /* packets */
    double latency;           /* mean of these, from creation; NAN: there is none */
    double accepted, offered; /* flits a terminal and cycle */
    uint64_t in_flight;       /* packets, at the end */
};

enum { POINTS_MOST = 2000 }; /* more than a chart can show: then windows become twice as long */

/* Sums since the beginning. */
struct watched_sums {
    uint64_t delivered, latency, accepted, offered;
};

/* A flit at the front of an input lane, or about to come to one that is empty. */
struct watched_front {
    uint32_t packet; /* handle; FW_NONE: there is none */
    uint32_t position;
    uint32_t output; /* lane that the input lane holds; FW_NONE: none yet */
};

/* A flit that crossed a router, from an input lane to an output lane. */
struct crossing {
    uint16_t input, output;
};

struct watch {
    struct workload *workload; /* borrowed */
    struct network *network;   /* borrowed, in one part */
    struct arena arena;        /* owned: tables of fixed size */
    tick_t now;                /* all ticks before it are over */
    tick_t cycle;              /* of the channels between routers, the clock that one sees */
    struct channels channels;
    struct shown_router shown; /* scratch */
    /* By packet handle. */
    struct watched_path *paths; /* owned */
    uint32_t path_count;
    struct watched_arrival *arrivals; /* the last ones, a ring */
    uint64_t arrival_count;
    /* Of windows. */
    tick_t window;
    struct watched_point *points; /* at most POINTS_MOST */
    uint32_t point_count;
    struct watched_sums sums;
    /* Flits that had left by each port, at two points in the past: the older is what utilisation is counted from. */
    uint32_t *port_flits[2];
    tick_t counted_at[2];
    /* By router * lanes + lane: what could leave in the last tick, which tells what has crossed in it. */
    struct watched_front *fronts;
    tick_t fronts_at;           /* the tick that they are of */
    struct crossing *crossings; /* scratch: of one router */
    uint32_t crossing_count;
};

void watch_init(struct watch *watch, struct workload *workload);
void watch_release(struct watch *watch);

/* What to stop for before the tick that was asked for. */
struct watch_stop {
    uint32_t router;           /* something about it changes; FW_NONE: nothing */
    uint32_t source, sequence; /* a flit of this packet moves; source FW_NONE: nothing */
    double seconds;            /* of work */
};

/* Runs until all ticks before `until` are over, or something to stop for. True when there is nothing left to run to. */
bool watch_run(struct watch *watch, tick_t until, const struct watch_stop *stop);

/* Flits on channels, one by one or as many as go together. */
struct watched_flit {
    tick_t arrives;
    uint32_t packet; /* handle */
    uint32_t position;
    bool at_terminal; /* that is where it goes */
    struct lane_place to;
};
typedef void watch_visit(void *context, const struct watched_flit *flit);
void watch_each_flit(const struct watch *watch, watch_visit *visit, void *context);
/* The channel that a flit is on. */
uint32_t watch_channel(const struct watch *watch, const struct watched_flit *flit);

struct watched_sums watch_count(const struct watch *watch);
/* Whether a packet is one of the last that have arrived, and when. */
bool watch_has_arrived(const struct watch *watch, uint32_t source, uint32_t sequence, tick_t *when);
/* The way of a packet in the network; NULL: it is not there. */
const struct watched_path *watch_path(const struct watch *watch, uint32_t source, uint32_t sequence, uint32_t *packet);
/* What crossed a router, which is in watch->shown, in the last tick: in watch->crossings. None after a restart. */
void watch_crossings(struct watch *watch, uint32_t router);

/*
 * ---- server.c ----
 *
 * A small HTTP server for one person on this machine: it listens on the loopback
 * interface alone, and answers nobody who does not know the token in its address.
 *
 *   http://127.0.0.1:PORT/TOKEN/PATH
 *
 * What is behind PATH others say (server_answer). Requests are judged before, by their Host, Origin, method,
 * type and size. A page of somebody else, open in the same browser, must not reach the simulation: it does not know the
 * token; a name that it made point to 127.0.0.1 stands in Host; and it cannot send JSON without asking first, which
 * nobody answers.
 */

struct request {
    const char *path;  /* behind the token: "", "app.js", "api/step" */
    const char *query; /* behind the "?", "" where there is none */
    bool is_post;
    const char *body; /* NUL-terminated */
    size_t body_size;
};

struct answer {
    int status;       /* of HTTP */
    const char *type; /* "application/json", ...; a constant */
    struct text body; /* the server releases it */
};

/* Fills an answer. */
typedef void server_answer(void *context, const struct request *request, struct answer *answer);

/* A server's work, as others see it. */
struct served {
    server_answer *answer;
    void (*begins)(void *context, const char *address);
    bool (*goes_on)(void *context); /* asked many times a second */
    void *context;
};
/*
 * Serves as long as it goes on; then refuses what is still waiting, and lets what is answered be sent. Port 0: any that
 * is free. False, with a message, when it cannot listen. Requests are answered one after the other by the thread that
 * calls this, which has a stack to build networks on; those of the server's own threads are small.
 */
bool server_run(uint32_t port, const struct served *served, struct errors *errors);

#define TOKEN_DIGITS 32
#define BODY_MOST 65536u

struct request_facts {
    const char *method;
    const char *uri;                                              /* as it came, without the query */
    const char *host, *origin, *content_type, *transfer_encoding; /* headers; NULL: not there */
    long long content_length;                                     /* -1: not said */
};

struct gate {
    char token[TOKEN_DIGITS + 1];
    _Atomic uint32_t port; /* 0: not known yet, and everybody is refused */
};

/* Fills the token with 128 bits from the system. False when it has none. */
bool gate_make_token(struct gate *gate);
/* 0, and where in the URI the path begins; or the HTTP status that refuses the request. */
int gate_judge(const struct gate *gate, const struct request_facts *facts, const char **path);

/* What stands behind the "?" of a request: KEY=VALUE&KEY=VALUE, with %XX in values. */

/* The value of a key, decoded; false when it is not there or does not fit. */
bool query_find(const struct request *request, const char *key, char *value, size_t size);
/* A number from 0 to `most`; `fallback` when it is not there. False when it is something else. */
bool query_number(const struct request *request, const char *key, uint64_t fallback, uint64_t most, uint64_t *number);
/* Numbers with commas between them; false when one is none, is above `most` or is there twice, or there are too many. */
bool query_numbers(const struct request *request, const char *key, uint64_t most, uint32_t *numbers, uint32_t room,
                   uint32_t *count);
/* "12.3": SOURCE.NUMBER, a packet's name. */
bool packet_name_read(const char *name, uint32_t *source, uint32_t *sequence);

/*
 * ---- session.c ----
 *
 * What `flitwarp view` shows: a simulation that is stepped, and where it came from,
 * so that it can be started again with other settings.
 */

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
    const char *text; /* of its configuration, as it was read */
    const char *title, *about;
    bool has_ended;     /* numbers are put together */
    const char *report; /* what `flitwarp run` would print of a run that cannot go on; NULL before the end */
    struct json *results;
};

/* trial.c: whether it could be opened beside what is there; false, with a message, where memory is short. */
typedef bool view_trial(const struct view_source *source, char **overrides, int count, struct errors *errors);
view_trial viewed_run_fits;

struct view_session {
    bool wants_quit; /* the page has said so */
    bool opens_browser;
    const volatile sig_atomic_t *interrupted; /* borrowed */
    view_trial *fits;                         /* asked before another run is opened; NULL: nobody is */
    struct view_source base;                  /* what is shown, without the overrides of the page */
    struct viewed_run *run;                   /* owned */
    struct viewed_run *beside;                /* owned: the same with other settings, to be compared; NULL: none */
    struct text documents;                    /* results to be shown: items of a JSON array */
    struct arena sent;                        /* owned: configurations and overrides that came from the page */
    char **overrides;                         /* of the page, in force */
    int override_count;
};

/* Loads and builds; NULL, with messages, when that cannot be. Overrides are added to the source's. */
struct viewed_run *viewed_run_open(const struct view_source *source, char **overrides, int count,
                                   struct errors *errors);
void viewed_run_close(struct viewed_run *run);
/* Puts results together once the run is over. */
void viewed_run_end(struct viewed_run *run);

/* A file's name without its folders. */
const char *short_name(const char *path);

/* The comment that a configuration begins with: its first line, and the rest up to an empty line, joined. */
struct leading_comment {
    const char *first, *rest; /* "": none */
};
struct leading_comment leading_comment_read(const char *text, struct arena *arena);
/* The member "tries": what the comment's lines "Try TEXT: PATH=VALUE ..." offer, which stand behind an empty one. */
void tries_write(struct text *out, const char *text);

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
 * ---- recording.c ----
 *
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
    struct table sent;    /* flits on channels that were told of */
    uint32_t since_start; /* frames of this chunk */
};

void recorder_init(struct recorder *recorder, struct watch *watch);
void recorder_release(struct recorder *recorder);
/* The next frame begins a chunk. */
void recorder_begin_chunk(struct recorder *recorder);
/* The members of a frame of what the watch sees now. */
void recorder_write(struct recorder *recorder, struct text *out);

enum { RECORDED_MOST = 100 * 1000 }; /* cycles: a file that no browser opens is of no use */

struct recording {
    struct viewed_run *run;
    uint64_t from, cycles; /* the tick to begin at, and how many cycles from there on */
    struct recorder recorder;
    struct text json, chunk;  /* owned: all of it, and frames that are not in it yet */
    const struct json *notes; /* borrowed: of the page, a list of {"tick", "text"}; NULL: none */
    uint32_t frames;
};

/* The page among the files of the program, in the form that write_page() knows; false with errors. */
bool page_check(const struct embedded_file *files, struct errors *errors);
void recording_release(struct recording *recording);
/* Whether this program can make one: false, with errors, where it was built without zlib or the page. */
bool recording_check(struct errors *errors);
/* Runs and prints the page. */
void recording_print(struct recording *recording, FILE *out);
/* The same into a file. Looks before recording whether the file can be written; false with errors. */
bool recording_write(struct recording *recording, const char *path, struct errors *errors);

/*
 * ---- scene.c ----
 *
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
