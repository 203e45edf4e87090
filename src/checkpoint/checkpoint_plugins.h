/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The program and its plugins as checkpoints see them: what the heap points into and no file holds. */
#include "flitwarp/error.h"

#include <limits.h>
#include <stdint.h>

enum { MOST_PLUGINS = 64 };

struct plugin {
    uint64_t fingerprint, base, start, end;
    char path[PATH_MAX];
};

struct plugins {
    uint32_t count;
    struct plugin list[MOST_PLUGINS];
};

/* Of this build. */
uint64_t program_fingerprint(void);
/* Those that have registered something; owned by the caller. */
struct plugins *plugins_find(void);
/* Whether this program can write and read checkpoints at all; false with errors, which begin with `asked_by`. */
bool checkpoint_is_possible(const char *asked_by, struct errors *errors);
