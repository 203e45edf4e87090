/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A small HTTP server for one person on this machine: it listens on the loopback
 * interface alone, and answers nobody who does not know the token in its address.
 *
 *   http://127.0.0.1:PORT/TOKEN/PATH
 *
 * What is behind PATH others say (server_answer). Requests are judged before: by their
 * Host, Origin, method, type and size. See request.h for the rules.
 */
#include "base/text.h"

#include <stdint.h>

struct server; /* server.c */

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

/* Fills an answer; called by server_work alone. */
typedef void server_answer(void *context, const struct request *request, struct answer *answer);

/* Port 0: any that is free. NULL, with a message, when it cannot listen. */
struct server *server_start(uint32_t port, server_answer *answer, void *context, struct errors *errors);
/* Its address; valid until it is stopped. */
const char *server_address(const struct server *server);
/*
 * Answers the next request, or waits some milliseconds for one in vain. Requests are answered one after the other by the
 * thread that calls this, which has a stack to build networks on; those of the server's own threads are small.
 */
void server_work(struct server *server, uint32_t milliseconds);
/* Refuses what is still waiting, and lets what is answered be sent. */
void server_stop(struct server *server);
