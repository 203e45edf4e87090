/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The output side of routers with output queues: a queue for each output lane,
 * credits for the buffers downstream, and a scheduler for each port that picks one
 * of its virtual channels for every flit that the channel takes (lane_scheduler.h).
 *
 *   output_put            a flit takes its place in a queue and begins to cross
 *   output_receive_queued it has crossed: it may leave
 *   output_receive_credits  there is room downstream
 *   output_step           a port whose channel is free sends
 *
 * A place is taken when a flit begins to cross and given back when it leaves: the
 * router's input side hears of that a tick later, by EVENT_ROOM. A port with
 * something to send has exactly one EVENT_OUTPUT_STEP under way. By then all that
 * arrives in a tick is there, so that ports may step in any order.
 */
#include "flitwarp/congestion.h"
#include "flitwarp/router.h"
#include "network/router/lane_scheduler.h"
#include "network/router/shared_room.h"

extern const char *const output_hold_names[];

/* How long a VC keeps the channel: the row of a config struct with the field output_hold. */
#define OUTPUT_HOLD_OPTION(config_type) OUTPUT_HOLD_OPTION_WITH(config_type, NULL)
#define OUTPUT_HOLD_OPTION_WITH(config_type, condition)                                                                \
    OPTION_ENUM(config_type, output_hold, "\"flit\"", output_hold_names,                                               \
                "what a virtual channel sends by an output before others may: a flit, or a packet while it can go on", \
                ONLY_WITH(condition))

/* When congestion sensors hear that a flit is no longer in its queue, but downstream. */
enum output_sensed {
    SENSED_AT_CHOICE,
    SENSED_DOWNSTREAM_LATER, /* out of the queue at once, downstream a tick later: it waits to be chosen elsewhere */
    SENSED_LATER,            /* both a tick later */
};

#define BLOCK_FLITS 7
/* Flits of one queue, a cache line of them. */
struct flit_block {
    struct flit flits[BLOCK_FLITS];
    struct flit_block *next;
};

/* An output lane. Those that cross are behind those that have crossed. */
struct output_queue {
    struct flit_block *first, *last; /* an empty queue keeps the block that it had last */
    uint32_t count;                  /* places taken */
    uint32_t ready;                  /* flits that have crossed */
    uint32_t flits;                  /* that have left, modulo 2^32 */
    uint16_t credits;                /* flits that there is room for downstream */
    uint8_t front, end;              /* in the first block: the first flit; in the last: behind the last */
};

struct output_port {
    uint64_t sendable;    /* set of VCs with a flit that has crossed and room for it downstream */
    tick_t free_at;       /* when the channel can take the next flit */
    struct lane_place to; /* VC 0 at the far end */
    uint32_t latency, cycle;
    uint32_t kind; /* of the event at the far end */
    uint32_t unused;
};

struct output_stage {
    struct network *network;
    struct engine *engine;
    struct congestion *congestion; /* NULL: nobody looks */
    uint32_t ports, num_vcs, lanes;
    uint32_t depth;        /* flits of a queue, or ENDLESS */
    uint32_t delay_cycles; /* from the choice among VCs to the channel */
    bool reports_all;      /* every place that is given back; else only those of full queues */
    bool reserves_packet;  /* a head leaves only when the whole packet has room downstream */
    enum output_sensed sensed;
    bool fetches_ahead;
    bool is_usual; /* one level of service, flits that take turns, no shared buffers: compiled apart */
    struct lane_scheduler scheduler;
    unsigned char *choices; /* by router * ports + port: the scheduler's state */
    unsigned char *rooms;  /* by router * ports + port: the buffer behind it, where VCs share that; NULL: they do not */
    uint64_t *vc_age;      /* scratch: by VC, for arbiters that look at age */
    struct random *random; /* by router * ports + port */
    uint16_t *port_of;     /* by lane */
    struct output_queue *queues;      /* by router * lanes + lane */
    struct output_port *output_ports; /* by router * ports + port */
    struct flit_block *free;          /* more come from the network's arena */
    uint32_t next_blocks;             /* that will be taken from it at once */
};

struct output_stage_config {
    const struct choice *arbiter;
    struct congestion *congestion;
    uint32_t depth;
    uint32_t delay_cycles; /* of the channel, from the choice among VCs to the channel */
    bool reports_all, reserves_packet;
    enum output_sensed sensed;
    bool holds; /* a packet keeps the channel */
};
struct output_stage *output_stage_build(struct network *network, const struct output_stage_config *config);
/* The same queues, as a part of the network works with them. */
struct output_stage *output_stage_share(const struct output_stage *stage, struct network *part);

event_handler output_receive_queued, output_step;
/* With reports_all: sensors hear what is due a tick after the choice. For each EVENT_ROOM, by the router that gets it. */
static inline void output_sense_left(const struct output_stage *stage, struct lane_place at, tick_t now)
{
    if (stage->sensed == SENSED_DOWNSTREAM_LATER)
        congestion_change(stage->congestion, at.target, at.lane, QUEUE_DOWNSTREAM, 1, now);
    else if (stage->sensed == SENSED_LATER)
        congestion_move(stage->congestion, at.target, at.lane, now);
}
void output_receive_credits(struct output_stage *stage, tick_t now, const struct credit_event *event, uint32_t count);
uint32_t output_lane_flits(const void *routers, uint32_t router, uint32_t lane);
/* What a router's look() says of an output lane that has a queue. */
void output_look(const struct output_stage *stage, uint32_t router, uint32_t lane, struct lane_look *seen,
                 struct shown_router *shown);

/* A flit takes a place in the queue of a lane and will have crossed at `when`. */
void output_put(struct output_stage *stage, uint32_t router, uint32_t lane, struct flit flit, tick_t now, tick_t when);
/* Parts of that: the queue is longer than its blocks; a flit has crossed at once. */
void output_add_block(struct output_stage *stage, struct output_queue *queue);
void output_crossed(struct output_stage *stage, uint32_t router, uint32_t lane, tick_t now);

static inline struct output_queue *output_queue_at(const struct output_stage *stage, uint32_t router, uint32_t lane)
{
    return &stage->queues[(size_t)router * stage->lanes + lane];
}

/* Where the events of flits go that have crossed at a tick, for those who put many; NULL: engine_post() finds it. */
static inline struct event_list *output_crossing(const struct output_stage *stage, tick_t when)
{
    return when - stage->engine->now < WHEEL_SLOTS ? engine_list(stage->engine, EVENT_QUEUED, when) : NULL;
}

/* output_put() for those who put many. Returns the queue. */
FW_INLINE const struct output_queue *put_flit(struct output_stage *stage, uint32_t router, uint32_t lane,
                                              struct flit flit, tick_t now, tick_t when, struct event_list *crossing)
{
    struct output_queue *queue = output_queue_at(stage, router, lane);
    FW_CHECK(queue->count < stage->depth, "tick %llu router %u output lane %u: packet %u overruns the queue",
             (unsigned long long)now, router, lane, flit.packet);
    if (!queue->last || queue->end == BLOCK_FLITS)
        output_add_block(stage, queue);
    queue->last->flits[queue->end++] = flit;
    queue->count++;
    congestion_change(stage->congestion, router, lane, QUEUE_OUTPUT, 1, now);
    if (when == now) {
        output_crossed(stage, router, lane, now);
        return queue;
    }
    struct credit_event *event = crossing ? engine_list_post(stage->engine, crossing, sizeof *event)
                                          : engine_post(stage->engine, EVENT_QUEUED, when, sizeof *event);
    *event = (struct credit_event){.to = {.target = router, .lane = lane}};
    return queue;
}

/* The buffer behind a port, where VCs share it. */
static inline struct shared_room *room_at(const struct output_stage *stage, uint32_t router, uint32_t port)
{
    size_t number = (size_t)router * stage->ports + port;
    return (struct shared_room *)(void *)(stage->rooms + number * shared_room_bytes(stage->num_vcs));
}

/*
 * Is there room in a lane's queue and in the buffer downstream for all of a packet, or are both empty? Then it will leave
 * its input without waiting for any other packet, or has none before it: what escape VCs ask of a router. Of a buffer
 * that VCs share only a VC's own part is sure.
 */
static inline bool output_has_room(const struct output_stage *stage, uint32_t router, uint32_t lane, uint32_t size)
{
    const struct output_queue *queue = output_queue_at(stage, router, lane);
    uint32_t port = stage->port_of[lane], credits = queue->credits,
             most = network_link(stage->network, router, port)->depth;
    if (stage->rooms) {
        uint32_t taken = room_at(stage, router, port)->taken[lane - port * stage->num_vcs];
        most = stage->network->plan.room_exclusive;
        credits = taken < most ? most - taken : 0;
    }
    uint64_t all = (uint64_t)stage->depth + most;
    /* What is in the queue will take some of the places downstream, or stays where it is. */
    return (uint64_t)stage->depth - queue->count + credits >= (size < all ? size : all);
}
