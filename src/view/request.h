/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Which requests are answered at all. A page of somebody else, open in the same
 * browser, must not reach the simulation: it does not know the token; a name that
 * it made point to 127.0.0.1 stands in Host; and it cannot send JSON without asking
 * first, which nobody answers.
 */
#include "view/server.h"

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
