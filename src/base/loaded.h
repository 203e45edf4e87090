/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What lies in memory as part of the program: the program itself and the shared objects that it has loaded. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded {
    const char *path; /* borrowed; "": the program itself */
    uintptr_t base;   /* what is added to the addresses in its file; 0: it can lie nowhere else */
    uintptr_t start, end;
    const void *segments; /* borrowed: their headers */
    uint32_t segment_count;
};

/* The object that holds an address; false: none does. */
bool loaded_find(const void *address, struct loaded *object);
/* Of all in it that is never written to: equal for the same build. */
uint64_t loaded_fingerprint(const struct loaded *object);
/* The object with a fingerprint. */
bool loaded_find_build(uint64_t fingerprint, struct loaded *object);
/* Whether a file is the program's own, or that of a shared object that it has loaded. */
bool loaded_has_file(const char *path);
/* The first of the names, which end with NULL, that an object takes from others; NULL: none. */
const char *loaded_uses(const struct loaded *object, const char *const *names);
