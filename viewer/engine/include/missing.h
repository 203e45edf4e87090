/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What WASI's headers lack and the sources name. */
#include <stddef.h>

#define O_TMPFILE 0

int dup(int file);
char *realpath(const char *restrict path, char *restrict resolved);
void qsort_r(void *items, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *context);
void *rawmemchr(const void *memory, int byte);
long getrandom(void *bytes, size_t count, unsigned flags);
