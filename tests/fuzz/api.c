/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes through the viewer's gate: requests one after the other to a session that
 * shows a small network. A line "GET api/frame?routers=1" is a request, or "POST
 * api/step {"cycles": 3}" with its body. Whatever comes, the answer is JSON.
 */
#include "fuzz.h"

#include "view/view.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_REQUESTS = 16 };

/* A run would take its time, and settings its memory. */
static bool is_quick(const char *body)
{
    return strspn(body, " ") == 0 && !strstr(body, "overrides") && !strstr(body, "scenario") && !strstr(body, "until");
}

static void ask(struct view_session *session, char *line)
{
    const char *method = strsep(&line, " "), *target = strsep(&line, " "), *body = line ? line : "";
    if (!target || !is_quick(body))
        return;
    char *query = strchr(target, '?');
    if (query)
        *query++ = '\0';
    struct answer answer = {.status = 200, .type = "application/json"};
    const struct request request = {.path = target,
                                    .query = query ? query : "",
                                    .is_post = strcmp(method, "POST") == 0,
                                    .body = body,
                                    .body_size = strlen(body)};
    view_answer(session, &request, &answer);
    if (strcmp(answer.type, "application/json") == 0) {
        struct arena arena = {0};
        struct errors errors = {.arena = &arena};
        FW_CHECK(json_parse(&arena, &errors, "answer", answer.body.chars, answer.body.length), "no JSON: %s",
                 errors_text(&errors));
        arena_release(&arena);
    }
    text_release(&answer.body);
}

FUZZ_TARGET(api)
{
    size_t length;
    char *lines[MOST_REQUESTS], *text = fuzz_part(&data, &size, &length);
    int count = fuzz_lines(text, lines, MOST_REQUESTS);
    struct view_session session = {.base = {.path = "small.json"}};
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    fuzz_file("small.json", fuzz_small, strlen(fuzz_small));
    session.run = viewed_run_open(&session.base, NULL, 0, &errors);
    FW_CHECK(session.run, "%s", errors_text(&errors));
    for (int i = 0; i < count; i++)
        ask(&session, lines[i]);
    viewed_run_close(session.run);
    arena_release(&arena);
    free(text);
}
