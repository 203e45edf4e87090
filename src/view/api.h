/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the viewer's page asks of the program, and the files that it is made of. */
#include "flitwarp/option.h"
#include "view/server.h"
#include "view/session.h"
#include "view/writer.h"

/* A server_answer whose context is a struct view_session. */
void view_answer(void *session, const struct request *request, struct answer *answer);

/* Members of the scene, and those that tell why a run cannot go on, null where it can. */
void view_write_scene(struct text *out, struct viewed_run *run);
void view_write_end(struct text *out, const struct viewed_run *run);

/* Forms out of option rows and the values in effect: one entry for each setting that a form can change, as items of an array that is open. Lists and times are text. */
void forms_write(struct text *out, const struct option *rows, const struct json *settings);
