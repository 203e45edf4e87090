/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of a page without a server: what `flitwarp view` answers over HTTP (src/view/api.c) is answered here by a
 * call. Texts end with a NUL.
 */
#include "view/view.h"

#include <stdlib.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

/* The page's worker is one thread, and its calls have no context to bring along. */
static struct {
    struct view_session session;
    struct answer answer;
} engine;

/* Room for a text, which belongs to the question that it becomes a part of. */
char *EXPORT(engine_room)(size_t bytes) { return memory_take(bytes); }

/* The answer, which stays up to the next question. A body makes it a POST; 0: there is none. */
const char *EXPORT(engine_ask)(char *path, char *query, char *body)
{
    const struct request request = {
        .path = path, .query = query, .is_post = body, .body = body, .body_size = body ? strlen(body) : 0};
    text_release(&engine.answer.body);
    engine.answer = (struct answer){.status = 200};
    view_answer(&engine.session, &request, &engine.answer);
    free(path);
    free(query);
    free(body);
    return engine.answer.body.chars;
}
