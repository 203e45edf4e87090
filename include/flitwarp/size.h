/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Message sizes, in flits. */
#include "flitwarp/component.h"
#include "flitwarp/random.h"

struct size {
    const struct size_ops *ops;
    const void *config;
    void *state; /* made by prepare() */
};

struct size_ops {
    COMPONENT_HEAD;
    /* Reads files, builds tables, or adds errors; optional. */
    void (*prepare)(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors);
    double (*mean)(const struct size *size);
    uint32_t (*max)(const struct size *size);
    uint32_t (*draw)(const struct size *size, struct random *random);
};

#define REGISTER_SIZE(ops) REGISTER_COMPONENT("size", ops)
