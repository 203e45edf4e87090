/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Message sizes, in flits. Read by OpenCL too. */
#include "flitwarp/component.h"
#include "flitwarp/random.h"

#if FW_HOST
struct size {
    const struct size_ops *ops;
    const void *config;
    double mean;  /* of requests, exactly: loads are turned into messages by it */
    uint32_t max; /* of requests and replies */
    void *state;  /* the component's own, made by prepare() */
};

struct size_ops {
    COMPONENT_HEAD;
    /* Sets mean and max, makes the state, or adds errors. */
    void (*prepare)(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors);
    uint32_t (*draw)(const struct size *size, struct random *random);
    /*
     * Where the size of a reply follows from its request, both of these: a request with its kind, which travels with
     * it, and the size of the reply to that kind.
     */
    uint32_t (*draw_request)(const struct size *size, struct random *random, uint32_t *kind);
    uint32_t (*reply)(const struct size *size, uint32_t kind);
};

/* Makes the size of a choice. */
static inline void size_init(struct size *size, const struct choice *choice, struct arena *arena, struct errors *errors)
{
    *size = (struct size){.ops = CHOICE_OPS(choice, struct size_ops), .config = choice->config};
    size->ops->prepare(size, choice, arena, errors);
}

#define REGISTER_SIZE(ops) REGISTER_COMPONENT("size", ops)
#else
struct size {
    FW_GLOBAL const void *config;
    FW_GLOBAL const void *state;
    FW_GLOBAL const char *tables; /* see FW_AT */
    uint32_t max;
};
#endif
