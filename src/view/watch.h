/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A run that somebody watches: stepped tick by tick, with what a viewer wants to
 * know beyond the state of the network. It only looks: the run is the same with and
 * without it, since all it learns it reads between two ticks, from events that wait
 * and from routers' buffers.
 */
#include "flitwarp/shown.h"
#include "network/network.h"
#include "workload/workload.h"

/*
 * Numbers for the channels of a network, each direction its own: first those
 * between routers, in the order of routers and ports, then two for each port with a
 * terminal behind it: into the network (injection) and out of it (ejection).
 */
struct channels {
    uint32_t count;  /* between routers */
    uint32_t local;  /* ports with a terminal */
    uint32_t *slots; /* by channel between routers: router * ports + port that it leaves by */
    uint32_t *seats; /* by port with a terminal: router * ports + port */
    uint32_t *at;    /* by router * ports + port: a channel between routers, or the number of a seat; FW_NONE: unused */
    uint32_t *ejectors;      /* by terminal * its ports + port: router * ports + port that leads there; FW_NONE */
    uint32_t terminal_ports; /* of a terminal, in all planes */
};

/* The channel that leaves by a router's port, and the one that comes in there. */
uint32_t channel_out(const struct channels *channels, const struct network *network, uint32_t router, uint32_t port);
uint32_t channel_in(const struct channels *channels, const struct network *network, uint32_t router, uint32_t port);
/* The router's port that a channel has, which leaves there unless it is an injection channel. */
uint32_t channel_slot(const struct channels *channels, uint32_t channel);

/* A head flit came to a router. */
struct watched_hop {
    tick_t when;
    uint32_t router, lane;
};

/* The way of a packet so far. */
struct watched_path {
    uint32_t source, sequence; /* the packet; handles are used again */
    uint32_t count, capacity;
    struct watched_hop *hops; /* owned */
};

/* A packet whose last flit has arrived. */
struct watched_arrival {
    uint32_t source, sequence;
    tick_t when;
};
enum { ARRIVALS_KEPT = 4096 };

/* What happened between two points in time, a window apart. */
struct watched_point {
    tick_t time;
    uint64_t delivered;       /* packets */
    double latency;           /* mean of these, from creation; NAN: there is none */
    double accepted, offered; /* flits a terminal and cycle */
    uint64_t in_flight;       /* packets, at the end */
};

enum { POINTS_MOST = 2000 }; /* more than a chart can show: then windows become twice as long */

/* Sums since the beginning. */
struct watched_sums {
    uint64_t delivered, latency, accepted, offered;
};

/* A flit at the front of an input lane, or about to come to one that is empty. */
struct watched_front {
    uint32_t packet; /* handle; FW_NONE: there is none */
    uint32_t position;
    uint32_t output; /* lane that the input lane holds; FW_NONE: none yet */
};

/* A flit that crossed a router, from an input lane to an output lane. */
struct crossing {
    uint16_t input, output;
};

struct watch {
    struct workload *workload; /* borrowed */
    struct network *network;   /* borrowed, in one part */
    struct arena arena;        /* owned: tables of fixed size */
    tick_t now;                /* all ticks before it are over */
    tick_t cycle;              /* of the channels between routers, the clock that one sees */
    struct channels channels;
    struct shown_router shown; /* scratch */
    /* By packet handle. */
    struct watched_path *paths; /* owned */
    uint32_t path_count;
    struct watched_arrival *arrivals; /* the last ones, a ring */
    uint64_t arrival_count;
    /* Of windows. */
    tick_t window;
    struct watched_point *points; /* at most POINTS_MOST */
    uint32_t point_count;
    struct watched_sums sums;
    /* Flits that had left by each port, at two points in the past: the older is what utilisation is counted from. */
    uint32_t *port_flits[2];
    tick_t counted_at[2];
    /* By router * lanes + lane: what could leave in the last tick, which tells what has crossed in it. */
    struct watched_front *fronts;
    tick_t fronts_at;           /* the tick that they are of */
    struct crossing *crossings; /* scratch: of one router */
    uint32_t crossing_count;
};

void watch_init(struct watch *watch, struct workload *workload);
void watch_release(struct watch *watch);

/* What to stop for before the tick that was asked for. */
struct watch_stop {
    uint32_t router;           /* something about it changes; FW_NONE: nothing */
    uint32_t source, sequence; /* a flit of this packet moves; source FW_NONE: nothing */
    double seconds;            /* of work */
};

/* Runs until all ticks before `until` are over, or something to stop for. True when there is nothing left to run to. */
bool watch_run(struct watch *watch, tick_t until, const struct watch_stop *stop);

/* Flits on channels, one by one or as many as go together. */
struct watched_flit {
    tick_t arrives;
    uint32_t packet; /* handle */
    uint32_t position;
    bool at_terminal; /* that is where it goes */
    struct lane_place to;
};
typedef void watch_visit(void *context, const struct watched_flit *flit);
void watch_each_flit(const struct watch *watch, watch_visit *visit, void *context);
/* The channel that a flit is on. */
uint32_t watch_channel(const struct watch *watch, const struct watched_flit *flit);

struct watched_sums watch_count(const struct watch *watch);
/* Whether a packet is one of the last that have arrived, and when. */
bool watch_has_arrived(const struct watch *watch, uint32_t source, uint32_t sequence, tick_t *when);
/* The way of a packet in the network; NULL: it is not there. */
const struct watched_path *watch_path(const struct watch *watch, uint32_t source, uint32_t sequence, uint32_t *packet);
/* What crossed a router, which is in watch->shown, in the last tick: in watch->crossings. None after a restart. */
void watch_crossings(struct watch *watch, uint32_t router);
