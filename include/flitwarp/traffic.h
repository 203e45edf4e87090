/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Traffic patterns: where a terminal's next message goes. Terminals are numbered
 * 0..terminals-1 within the application. Read by OpenCL too.
 */
#include "flitwarp/component.h"
#include "flitwarp/grid.h"
#include "flitwarp/list.h"
#include "flitwarp/packet.h"
#include "flitwarp/random.h"
#include "flitwarp/topology.h"

#if FW_HOST
/* Where the application runs, for patterns that care. */
struct traffic_space {
    uint32_t terminals;
    uint32_t concentration;  /* of the grid's routers */
    const struct grid *grid; /* NULL unless the application fills a whole grid-shaped network in order */
    uint64_t seed;           /* for patterns that draw a permutation once */
    struct arena *arena;
};

struct traffic {
    const struct traffic_ops *ops;
    const void *config;
    uint32_t terminals;
    void *state; /* the pattern's own, made by prepare() */
};

struct traffic_ops {
    COMPONENT_HEAD;
    /* Looks at the space; sets state, or adds errors (not a power of two, no coordinates, ...); optional. */
    void (*prepare)(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                    struct errors *errors);
    /* The destination of the next message from `source`; FW_NONE: this source stays silent. */
    uint32_t (*destination)(const struct traffic *traffic, uint32_t source, struct random *random);
};

#define REGISTER_TRAFFIC(ops) REGISTER_COMPONENT("traffic", ops)
#define REGISTER_TRAFFIC_FAMILY(family) REGISTER_COMPONENTS("traffic", family)

/* Makes the pattern of a choice, for an application or for a pattern made of patterns. */
static inline void traffic_init(struct traffic *traffic, const struct choice *choice, const struct traffic_space *space,
                                struct errors *errors)
{
    *traffic = (struct traffic){
        .ops = CHOICE_OPS(choice, struct traffic_ops),
        .config = choice->config,
        .terminals = space->terminals,
    };
    if (traffic->ops->prepare)
        traffic->ops->prepare(traffic, choice, space, errors);
}
#else
struct traffic {
    FW_GLOBAL const void *config;
    FW_GLOBAL const void *state;
    FW_GLOBAL const char *tables; /* see FW_AT */
    uint32_t terminals;
};
#endif

/* The destination() of patterns whose state is the destinations by terminal, uint32_t each. */
static inline uint32_t traffic_listed(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    return ((FW_GLOBAL const uint32_t *)traffic->state)[source];
}
