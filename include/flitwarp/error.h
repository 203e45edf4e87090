/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Two kinds of error. What the user got wrong is gathered in a list of
 * messages, so that all of it can be shown at once. What we got wrong is a
 * FW_CHECK that stops the program, in release builds too.
 */
#include "flitwarp/arena.h"

#include <stdio.h>

struct error_message {
    struct error_message *next;
    const char *text;
};

struct errors {
    struct arena *arena;         /* borrowed: holds the messages */
    struct error_message *first; /* in the order they were found */
    struct error_message *last;
    uint32_t count;
};

/*
 * Adds one message: lower case, no full stop, "where: what was found, what is accepted"; without errors nobody wants
 * to know. Returns false, for callers to return.
 */
bool errors_add(struct errors *errors, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for callers who return an exit status, or a pointer: that. */
#define errors_end(result, ...) (errors_add(__VA_ARGS__), result)
/* Adds all messages of another list. */
void errors_add_all(struct errors *errors, const struct errors *others);
/* Prints every message on its own line. */
void errors_print(const struct errors *errors, FILE *out);
/* All messages in one text, for tests. */
const char *errors_text(const struct errors *errors);

enum exit_status {
    EXIT_DONE = 0,
    EXIT_USAGE = 1,      /* wrong usage or configuration */
    EXIT_SIMULATION = 2, /* deadlock, broken invariant */
    EXIT_IO = 3,         /* input or output failed, or the system is out of something */
    EXIT_INTERRUPTED = 130,
};

/* Stops with EXIT_SIMULATION unless the claim holds. The message says time, component and packet. */
#define FW_CHECK(claim, ...)                                                                                           \
    do {                                                                                                               \
        if (__builtin_expect(!(claim), 0))                                                                             \
            check_failed(__FILE__, __LINE__, #claim, __VA_ARGS__);                                                     \
    } while (0)

void check_failed(const char *file, int line, const char *claim, const char *format, ...)
    __attribute__((noreturn, cold, format(printf, 4, 5)));
