/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A small HTTP server for one person on this machine: it listens on the loopback
 * interface alone, and answers nobody who does not know the token in its address.
 *
 *   http://127.0.0.1:PORT/TOKEN/PATH
 *
 * What is behind PATH others say (server_answer). Requests are judged before (request.c), by their Host, Origin, method,
 * type and size. A page of somebody else, open in the same browser, must not reach the simulation: it does not know the
 * token; a name that it made point to 127.0.0.1 stands in Host; and it cannot send JSON without asking first, which
 * nobody answers.
 */
#include "base/text.h"

#include <stdint.h>

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

/* ---- request.c ---- */

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
