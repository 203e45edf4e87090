/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What `flitwarp view` shows: a simulation that is stepped, and where it came from,
 * so that it can be started again with other settings.
 */
#include "base/embedded.h"
#include "run/simulation.h"
#include "view/layout.h"
#include "view/server.h"
#include "view/watch.h"
#include "view/writer.h"

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
