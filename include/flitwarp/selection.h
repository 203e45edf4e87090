/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Plane selection: in a network of several router planes a terminal chooses, for
 * each packet that it is given, the plane that the packet will take. The packet
 * then waits for one of the terminal's rails to that plane.
 */
#include "flitwarp/bits.h"
#include "flitwarp/component.h"
#include "flitwarp/packet.h"

#define MAX_PLANES 64 /* a set of planes is one word */

struct left_planes;
struct selection {
    const struct selection_ops *ops;
    const void *config;
    uint64_t seed;
    uint32_t planes;
    uint32_t terminals;
    uint32_t protocol_classes;
    bool needs_hops; /* ops->needs_hops, unless prepare() knows that it is the other way */
    void *state;     /* its own, made by prepare(); each terminal's is touched by one thread only */
    const struct left_planes
        *left; /* for src/network/planes.c: where failures leave some planes alone to choose among */
};

/* What is still to be sent at a terminal by its rails to one plane; and what was sent and still fills the router's buffers,
 * as far as credits say. */
struct plane_queue {
    uint32_t packets;
    uint32_t flits;
    uint32_t buffered; /* flits */
};

/* One question: which plane for this packet? */
struct plane_question {
    const struct packet *packet;
    uint64_t planes;                  /* those to choose among; never none */
    const struct plane_queue *queues; /* by plane, at the packet's source */
    const uint32_t *hops;             /* by plane: on a shortest way to the destination; NULL unless needed */
};

struct selection_ops {
    COMPONENT_HEAD;
    bool needs_hops; /* looks at question->hops */
    /* Sets selection->state and the like, or adds errors; optional. */
    void (*prepare)(struct selection *selection, const struct choice *self, struct arena *arena, struct errors *errors);
    uint32_t (*select)(const struct selection *selection, const struct plane_question *question);
};
#define REGISTER_SELECTION(ops) REGISTER_COMPONENT("selection", ops)

/* Makes a selection that a setting asks for ready; `space` has what is the same for all. False with errors. */
bool selection_init(struct selection *selection, const struct choice *choice, const struct selection *space,
                    struct arena *arena, struct errors *errors);

/* Those planes of the set that have the least value; a plane's stands `stride` numbers behind that of the one before. */
uint64_t planes_least(uint64_t planes, const uint32_t *values, uint32_t stride);
/* One plane of the set, each as likely: by packet, so that no order of events matters. */
uint32_t planes_draw(const struct selection *selection, const struct plane_question *question, uint64_t planes);
