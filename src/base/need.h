/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What ends the program for the system's sake. */
#include "flitwarp/error.h"

/* Stops with EXIT_IO unless the system gave what was asked for: memory, a thread. */
#define NEED(claim, ...)                                                                                               \
    do {                                                                                                               \
        if (__builtin_expect(!(claim), 0))                                                                             \
            need_failed(__VA_ARGS__);                                                                                  \
    } while (0)

/* Ends the program at once, and the other ranks where there are any. */
void check_end(int status) __attribute__((noreturn));
void need_failed(const char *format, ...) __attribute__((noreturn, cold, format(printf, 1, 2)));
