/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What a routing algorithm does, as lines of a file of routes: all packets to one
 * destination are followed by all of their ways, and what is seen at each router
 * is told by as little as tells it apart.
 */
#include "base/table.h"
#include "network/graph/dependency.h"

/* A packet at a router, as far as the algorithm may go by it. */
struct followed {
    uint64_t vcs; /* that its head may be in, all alike */
    uint32_t router, waypoint, route;
    uint16_t hops;
    uint16_t port; /* that it came by */
};

/* An answer: numbers from `answers`, of choices; then of each its weight and outputs; then of each of these port and VCs. */
typedef uint64_t answer_number;

/* What was seen at a router, or a line about it. */
struct told {
    uint64_t vcs;
    uint32_t router;
    uint32_t answer; /* place in `answers` */
    uint16_t port;
    uint8_t from; /* enum route_from, of a line */
    bool is_at_node;
};

struct told_list {
    struct told *items; /* owned */
    uint32_t count, room;
};

/* What is drawn at one place: sets of output lanes, and how likely each is. */
struct drawn {
    uint64_t *sets; /* owned; by number * words */
    double *chances;
    uint32_t count, room;
};

struct followers {
    const struct routing *routing;
    struct errors *errors;
    uint32_t destination, destination_router; /* at hand */
    uint32_t *first_at, *terminals_at;        /* by router, and one more: terminals whose packets begin there */
    struct table known;                       /* of packets to this destination */
    struct followed *queue;                   /* owned */
    uint32_t queue_count, queue_room;
    struct told_list seen;
    struct told_list lines; /* by router */
    answer_number *answers; /* owned */
    uint32_t answer_count, answer_room;
    struct drawn drawn;
    uint64_t *vcs;   /* the answer to a question */
    bool is_by_flow; /* what is drawn here for a packet, the algorithm draws for a source and a destination */
};

void followers_init(struct followers *followers, const struct routing *routing, struct arena *arena,
                    struct errors *errors);
void followers_release(struct followers *followers);
/* Forgets lines and answers. */
void followers_clear(struct followers *followers);
/* Adds the lines of a destination; false with an error where lines cannot tell what the algorithm does. */
bool followers_tell(struct followers *followers, uint32_t terminal);
/* Whether two answers are one. */
bool answers_are_one(const answer_number *a, const answer_number *b);

/* ---- the file ---- */

/* False, with errors, when the name is of no such file. */
bool routes_check(const char *path, struct errors *errors);
/* False, with errors, where the routes cannot be told, or nothing can be written: *is_refused says which. */
bool routes_write(const struct routing *routing, const char *path, struct errors *errors, bool *is_refused);
