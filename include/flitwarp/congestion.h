/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Congestion: what routers know of the queues behind their outputs, and what of
 * it routing sees. A router reports every change of its two counts of each output
 * lane: flits in its own output queue, and flits in the buffer downstream. A
 * sensor turns counts into values. Values may be late and coarse: adaptive
 * routing sees them, never the truth.
 *
 * Changes of one tick are seen in a later one, so that the order of work within
 * a tick cannot matter. From tick to tick a router's changes and questions come in
 * the order of time.
 */
#include "flitwarp/packet.h"

#if FW_HOST
#include "flitwarp/component.h"
#endif

struct link;

enum queue { QUEUE_OUTPUT, QUEUE_DOWNSTREAM };
#define ENDLESS UINT32_MAX

#if FW_HOST
/* Flits of some queues, as far as they count: now, and before the last tick in which they changed. */
struct counted_flits {
    tick_t when; /* that tick; FW_NEVER: who keeps this does not tell them apart */
    uint32_t before, count;
};

/* The same of the tick of changes before that one. */
struct counted_earlier {
    tick_t when;
    uint32_t before;
};

/* All sensors of a network; the first member of a sensor's own struct. */
struct congestion {
    const struct congestion_ops *ops;
    const void *config;
    uint32_t routers, ports, num_vcs; /* a lane is port * num_vcs + vc */
    uint32_t depth[2]; /* flits that a lane's queues can hold, by enum queue; 0: there is none, ENDLESS: any number */
    uint32_t first_router, end_router; /* those that are built: of others there are no links */
    const struct link *links;          /* by router * ports + port: of each channel latency and depth downstream */
    bool totals_alone;                 /* nobody asks for lanes: total() is all that is called */
    bool adds_up;    /* a lane's queues are counted together: a flit that goes from one to the other is nothing new */
    bool is_counted; /* by whoever reports a change; or else the sensor is told of each */
    /* Then by enum queue, and router * counters + counter_of[lane]. NULL: changes of this queue do not matter. */
    struct counted_flits *counted[2];
    struct counted_earlier *earlier; /* by the same; NULL: nobody looks so far back */
    const uint16_t *counter_of;      /* by lane */
    uint32_t counters;               /* of a router */
};

struct congestion_ops {
    COMPONENT_HEAD;
    /* Makes the sensors of a network, or adds errors; `shape` is filled, and copied. */
    struct congestion *(*build)(const struct choice *self, const struct congestion *shape, struct arena *arena,
                                struct errors *errors);
    /* A lane's queue has `change` more flits from `now` on. Called by congestion_change() alone, where nothing is_counted. */
    void (*change)(struct congestion *congestion, uint32_t router, uint32_t lane, enum queue queue, int32_t change,
                   tick_t now);
    /* How congested a lane seems: 0 is free. */
    double (*value)(struct congestion *congestion, uint32_t router, uint32_t lane, tick_t now);
    /* The same of `count` lanes in a row, for those who look at many; NULL: each is asked for by itself. */
    void (*values)(struct congestion *congestion, uint32_t router, uint32_t lane, uint32_t count, tick_t now,
                   double *values);
    /* Those of some lanes, of which `asked` has a bit each from `lane` on, that are the least congested. 0: the sensor cannot
       tell but by values; NULL: it never can. */
    uint64_t (*least)(struct congestion *congestion, uint32_t router, uint32_t lane, uint64_t asked, tick_t now);
    /* Their sum over all VCs of a port, added up in this order; NULL: it is made of values. */
    double (*total)(struct congestion *congestion, uint32_t router, uint32_t port, tick_t now);
};
/* Tells the sensors, where there are any. */
static inline void congestion_change(struct congestion *congestion, uint32_t router, uint32_t lane, enum queue queue,
                                     int32_t change, tick_t now)
{
    if (!congestion)
        return;
    struct counted_flits *counted = congestion->counted[queue];
    if (!counted) {
        if (!congestion->is_counted)
            congestion->ops->change(congestion, router, lane, queue, change, now);
        return;
    }
    size_t number = (size_t)router * congestion->counters + congestion->counter_of[lane];
    counted += number;
    if (counted->when != now) {
        if (congestion->earlier)
            congestion->earlier[number] = (struct counted_earlier){.when = counted->when, .before = counted->before};
        counted->when = now;
        counted->before = counted->count;
    }
    counted->count += (uint32_t)change;
}

/* Tells them of a flit that leaves the output queue of a lane for the buffer downstream. */
static inline void congestion_move(struct congestion *congestion, uint32_t router, uint32_t lane, tick_t now)
{
    if (congestion && !congestion->adds_up) {
        congestion_change(congestion, router, lane, QUEUE_OUTPUT, -1, now);
        congestion_change(congestion, router, lane, QUEUE_DOWNSTREAM, 1, now);
    }
}

/* The row of a router's config struct with the field congestion, which its plan() names. */
#define CONGESTION_OPTION(config_type) CONGESTION_OPTION_WITH(config_type, NULL)
#define CONGESTION_OPTION_WITH(config_type, condition)                                                                 \
    OPTION_CHOICE(config_type, congestion, "congestion", "\"buffer_occupancy\"",                                       \
                  "what adaptive routing sees of the outputs", ONLY_WITH(condition))

#define REGISTER_CONGESTION(ops) REGISTER_COMPONENT("congestion", ops)
#else
/* On a device: where all that sensors remember lies, and what they are; a sensor makes its own struct of that. */
struct congestion {
    FW_GLOBAL char *tables; /* see FW_AT() */
    FW_GLOBAL const void *config;
    uint32_t ports, num_vcs;
    uint64_t unseen_at, capacity_at; /* behind the counts */
};
#endif
