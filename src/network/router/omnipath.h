/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Layout of the Omni-Path routers: a struct for each router, and in it an array for each thing that it has several of.
 *
 * A router has three kinds of buffers, numbered through: one an input port, two an
 * MPort on the way to the central crossbar, one an output port.
 *
 *   | inputs 0 .. P-1 | central P .. 3P/2-1 | outputs 3P/2 .. 5P/2-1 |
 *
 * The first two kinds are sources, which send packets through a crossbar; the last
 * two are sinks, which take them. A lane is a queue of packets of one VL in a buffer:
 * lane = buffer * num_vcs + vl. Packets are whole and in a row there, so that a lane
 * needs to know which packets they are and how many flits may move on, not each flit.
 */
#include "flitwarp/allocator.h"
#include "flitwarp/congestion.h"
#include "flitwarp/router.h"
#include "network/router/lane_scheduler.h"
#include "network/router/shared_room.h"

enum { MPORT_PORTS = 4, MPORT_LINKS = 2 }; /* ports of an MPort; its links to the central crossbar */

enum queue_unit { QUEUE_CREDITS, QUEUE_FLITS };
enum candidates { CANDIDATES_ONE, CANDIDATES_ALL };

struct omnipath_config {
    uint32_t ports, num_vcs;
    uint32_t queue_size, central_queue_size, queue_unit, flits_per_credit, exclusive_credits, max_credits;
    uint64_t cycle;
    uint32_t input_latency, routing_latency, mport_arbitration_latency, mport_crossbar_latency; /* cycles */
    uint32_t central_arbitration_latency, central_crossbar_latency, output_latency, credit_latency;
    uint32_t mport_speedup, local_speedup, central_speedup; /* flits a cycle */
    bool pipelined_arbitration;
    uint32_t allocation_interval; /* cycles */
    uint32_t candidates;
    struct choice allocator, arbiter, output_arbiter, congestion;
};

struct omnipath_lane {
    uint32_t *packets; /* a ring */
    union {
        uint16_t *targets; /* of a central buffer the same: output lanes of its packets */
        uint64_t *wants;   /* of an input: the answer of routing */
    };                     /* of an output: NULL */
    tick_t ready_at;       /* of a source: since when its first packet waits for the crossbar */
    uint16_t first, count; /* of the ring, free-running */
    uint16_t routed;       /* of an input: packets whose routing is over */
    uint16_t target;       /* of a source: output lane of the first packet, or LANE_IDLE, or LANE_WAITS */
    uint32_t ready;        /* flits that may move on */
    uint32_t sent;         /* flits of the first packet that have moved on */
    uint32_t due;          /* of an input: position of the flit that comes next */
};

/* An input buffer or a central one, and its way into the crossbar. */
struct omnipath_source {
    uint64_t ready;  /* VLs whose first packet is routed and waits for the crossbar */
    void *choice;    /* its scheduler's state */
    tick_t *free_at; /* by level: when its last packet was through, no arbitration of the level begins before */
    uint16_t vl;     /* of the packet that crosses */
    uint16_t sink;   /* where that packet goes; NOBODY: none crosses */
    uint16_t speed;  /* flits a cycle, for that packet */
    uint16_t last;   /* of an input: the output lane that was chosen last */
};

/* The channel that leaves by an output port. */
struct omnipath_port {
    uint64_t stored;       /* VLs with a flit that may leave */
    tick_t free_at;        /* when the channel can take the next flit */
    struct lane_place far; /* VC 0 at the far end, of flits that leave and of credits for those that come */
    uint32_t latency, cycle;
    uint32_t kind, back_kind; /* of events at the far end: flits, and credits */
    bool is_due;              /* an EVENT_OUTPUT_STEP is under way */
    uint32_t credit_flits;    /* that a credit from there stands for */
    const struct shared_room_rule *rule;
    struct shared_room *room; /* what is taken of the input buffer at the far end, by that rule */
    void *choice;             /* the scheduler's state */
    struct random random;     /* ports step in any order */
};

/* Who takes the room of an output lane where it does not last for all that wait: one input after the other. */
struct omnipath_turn {
    uint16_t last; /* input that took some */
    uint16_t next; /* input that has a claim to it; NOBODY: none yet */
};

/* A flit that is being stored at an input, or a head that is being routed, until `at`. */
struct omnipath_timer {
    tick_t at;
    uint64_t lane;
};

/* Timers of one kind of a router, in the order in which they end: all take the same time. */
struct omnipath_timers {
    struct omnipath_timer *ring;
    uint32_t first, count, mask;
};

struct omnipath_router {
    uint32_t number;
    tick_t step_at, stepped_at; /* for when a step was posted last; when it stepped last */
    tick_t allocate_at;         /* no allocation before */
    struct omnipath_timers storing, routing;
    struct random random;
    uint64_t *asking, *busy; /* sets of sources that wait for the crossbar, that use it */
    uint64_t *open;          /* set of sinks that nobody sends to */
    uint64_t *usable;        /* set of output lanes that lead somewhere */
    struct omnipath_source *sources;
    struct omnipath_port *ports;
    struct omnipath_lane *lanes; /* by buffer * num_vcs + VL */
    struct shared_room **rooms;  /* by buffer: what is taken of it */
    struct omnipath_turn *turns; /* by output lane */
    uint32_t *lane_flits;        /* by output lane: flits that have left, modulo 2^32 */
    void *allocator;             /* its memory */
};

/* The sinks that a packet could take next, which have room for it: an output, or one or two central buffers. */
struct aims {
    uint32_t sinks[MPORT_LINKS];
    uint32_t count;
};

struct omnipath {
    ROUTERS_HEAD; /* its ports, lanes and words are those that routing sees */
    struct omnipath_config config;
    tick_t cycle, input, routing, output, credit; /* ticks */
    tick_t arbitration[2], crossbar[2];           /* by whether it is the central one */
    tick_t interval;                              /* from one allocation to the next; 0: there is one in every step */
    tick_t pipeline; /* from the central buffer on: its arbitration, where that does not keep the buffer from others */
    uint32_t all_ports;               /* in whole MPorts: some may be unused */
    uint32_t sources, sinks, buffers; /* see above; sinks begin with the first central one */
    uint32_t source_words;            /* of a set of sources */
    uint32_t storing_mask, routing_mask;
    uint32_t flits_per_credit;
    struct shared_room_rule rule[2];        /* by whether the buffer is a central one */
    struct shared_room_rule terminal_rule;  /* of what terminals take in, which they do at once: counts flits */
    struct allocation allocation;           /* of sinks to sources */
    struct lane_scheduler source_scheduler; /* of input and central buffers */
    struct lane_scheduler scheduler;        /* of output ports */
    uint64_t *offered;                      /* scratch: output lanes */
    uint64_t *vl_age;                       /* scratch: by VL, for arbiters that look at age */
    uint64_t *candidates;                   /* scratch: by source, the VLs that take part */
    struct aims *aims;                      /* scratch: by source * num_vcs + VL */
    uint64_t *same_vl;                      /* by VL, `words` each: the output lanes of that VL */
    struct omnipath_router *each;           /* by router */
};

/* A central sink is the source of the same number; outputs come behind. */
static inline bool is_central(const struct omnipath *q, uint32_t buffer)
{
    return buffer >= q->all_ports && buffer < q->sources;
}
static inline uint32_t output_buffer(const struct omnipath *q, uint32_t port) { return q->sources + port; }
static inline uint32_t sink_column(const struct omnipath *q, uint32_t buffer) { return buffer - q->all_ports; }
static inline uint32_t mport_of(const struct omnipath *q, uint32_t source)
{
    return source < q->all_ports ? source / MPORT_PORTS : (source - q->all_ports) / MPORT_LINKS;
}
static inline uint32_t first_link(const struct omnipath *q, uint32_t mport)
{
    return q->all_ports + mport * MPORT_LINKS;
}

static inline struct omnipath_lane *lane_at(const struct omnipath *q, const struct omnipath_router *r, uint32_t buffer,
                                            uint32_t vl)
{
    return &r->lanes[buffer * q->num_vcs + vl];
}

/* When the arbitration of a VL that is ready is over. */
static inline tick_t omnipath_arbitrated(const struct omnipath *q, const struct omnipath_router *r, uint32_t source,
                                         uint32_t vl)
{
    tick_t since = lane_at(q, r, source, vl)->ready_at;
    tick_t free_at = r->sources[source].free_at[q->network->service.vc_group[vl]];
    return (since > free_at ? since : free_at) + q->arbitration[is_central(q, source)];
}

/* The packet at a place of a lane, which has that many. */
static inline uint32_t packet_at(const struct omnipath *q, const struct omnipath_lane *lane, uint32_t place)
{
    return lane->packets[(lane->first + place) & q->ring_mask];
}
static inline uint32_t first_size(const struct omnipath *q, const struct omnipath_lane *lane)
{
    return network_packet(q->network, packet_at(q, lane, 0))->size;
}
/* A packet joins a lane behind those that are there or on their way. */
static inline void join_lane(const struct omnipath *q, struct omnipath_lane *lane, uint32_t packet)
{
    lane->packets[(lane->first + lane->count++) & q->ring_mask] = packet;
}

/* Credits that a packet gives back as flits [from, to) of it leave. */
static inline uint32_t credits_left(const struct omnipath *q, uint32_t from, uint32_t to, uint32_t size)
{
    uint32_t per = q->flits_per_credit;
    return (to == size ? credits_for(size, per) : to / per) - from / per;
}

/* The router steps at `when`, or at its clock's next edge. */
static inline void omnipath_wake(const struct omnipath *q, struct omnipath_router *r, tick_t when)
{
    when = next_edge(when, q->cycle);
    if (r->step_at != when && r->stepped_at != when) { /* what a step finds it does itself */
        r->step_at = when;
        network_post_step(q->engine, EVENT_ROUTER_STEP, r->number, 0, when);
    }
}

/* Some flits have crossed to a lane, or are stored in it. */
struct crossed_event {
    uint32_t router;
    uint32_t lane : 24; /* of all buffers */
    uint32_t flits : 8;
};

/* omnipath.c: a packet that may ask for the crossbar has come to the front of a source's lane: a set of its VL, or none. */
uint64_t omnipath_look_at_front(struct omnipath *q, struct omnipath_router *r, uint32_t source, uint32_t vl,
                                tick_t now);
/*
 * A source that sends nothing takes part in allocation as soon as the arbitration of these VLs is over, which have just
 * become ready or had to wait for it. Within a tick the order of calls must not matter, not even for how often it steps.
 */
void omnipath_ask(struct omnipath *q, struct omnipath_router *r, uint32_t source, uint64_t vls, tick_t now);

/* Which of several VLs of a buffer, by its scheduler. */
uint32_t omnipath_choose_vl(struct omnipath *q, const struct lane_scheduler *scheduler, const void *choice,
                            const struct omnipath_lane *lanes, uint64_t vls, struct random *random);

/* omnipath_switch.c: who crosses, and crossing. Allocation says whether anybody took part in it. */
bool omnipath_allocate(struct omnipath *q, struct omnipath_router *r, tick_t now);
void omnipath_cross(struct omnipath *q, struct omnipath_router *r, tick_t now);

/* Settings and building, in omnipath_build.c. */
extern const struct option omnipath_options[];
void omnipath_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors);
/* How lanes share a buffer. */
struct shared_room_rule omnipath_rule(const struct omnipath_config *config, bool of_central);
void omnipath_check(const struct network *network, const struct choice *self, struct errors *errors);
void omnipath_build(void *routers, const void *config);
void omnipath_share(void *routers);

uint32_t omnipath_lane_flits(const void *routers, uint32_t router, uint32_t lane);
void omnipath_look(const void *routers, uint32_t router, uint32_t lane, struct lane_look *seen,
                   struct shown_router *shown);
void omnipath_check_idle(const void *routers, uint32_t router);
