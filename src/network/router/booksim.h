/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Layout of BookSim's router. Its files:
 *
 *   booksim.c           the stages, and what arrives
 *   booksim_ahead.c     VCs by the output behind a channel
 *   booksim_priority.c  who is served before others
 *   booksim_build.c     settings, building, looking from outside
 *   booksim_usual*.c    the same stages for the usual settings, by sets of lanes
 *   booksim_room.h      the buffers behind a channel, which the interface of the same name counts too
 */
#include "flitwarp/allocator.h"
#include "flitwarp/congestion.h"
#include "flitwarp/router.h"
#include "network/router/booksim_room.h"

enum booksim_priority {
    PRIORITY_NONE,
    PRIORITY_CLASS,
    PRIORITY_AGE,
    PRIORITY_NETWORK_AGE,
    PRIORITY_LOCAL_AGE,
    PRIORITY_QUEUE_LENGTH,
    PRIORITY_HOPS,
    PRIORITY_SEQUENCE,
};
enum booksim_speculation { SPECULATES_NOT, SPECULATES_ON_CREDIT, SPECULATES_ON_VC, SPECULATES_ALWAYS };
enum booksim_vc_freed { BEHIND_TAIL, WHEN_EMPTY };

struct booksim_config {
    uint32_t num_vcs, buffer_depth, buffer_exclusive, buffer_maximum;
    double steps;                                               /* in a cycle */
    uint64_t cycle;                                             /* ticks */
    uint32_t routing_latency, crossbar_latency, credit_latency; /* cycles */
    uint32_t input_speedup, output_speedup, output_depth;
    uint32_t speculation, vc_freed, priority;
    struct u32_list class_priority;
    bool holds_switch, vc_needs_credit, empty_vcs_first, shuffled, vcs_by_next_output;
    bool general; /* hidden, for a test that compares: not the usual variant */
    struct choice vc_allocator, allocator, congestion;
};

/* How far the packet at the front of an input lane has come. */
enum booksim_stage { STAGE_IDLE, STAGE_ROUTING, STAGE_ASKS_VC, STAGE_HAS_VC };

struct booksim_lane {
    struct lane_buffer buffer;
    uint64_t *wants;  /* output lanes that the packet may take */
    tick_t *came;     /* by place in the ring: when the flit did; NULL unless priorities go by that */
    uint64_t *ahead;  /* by place: where the head there may go; NULL unless that was asked before it came */
    uint16_t arrived; /* flits, since the last step */
    uint16_t output;  /* output lane that the packet has */
    uint16_t grant;   /* in this step: an output lane, or an output of the switch; NO_GRANT: none */
    uint8_t stage;    /* enum booksim_stage */
    uint16_t hops;    /* of the packet, when its head came to the front: that may be far ahead by now */
};

/* Who waits for a stage, in the order in which they came to it; the first `begun` are in it. */
struct stage_list {
    uint32_t count, begun;
    tick_t end; /* of the stage, where it takes several cycles */
    union {
        uint16_t *lanes;
        struct crossing {
            struct flit flit;
            uint32_t output; /* lane */
        } * flits;           /* on their way through the switch */
    };
};

/* BookSim's numbers of ports by ours, as inputs and as outputs, and ours by its: it counts those to
   terminals in front, behind the others on a mesh or torus with one at each router, and none that are not used, but for
   those at the edges of a mesh; those to routers by their numbers, where it builds them so. */
struct booksim_ports {
    uint16_t *in_number, *out_number, *in_port, *out_port;
    uint32_t in_count, out_count;
};

struct booksim_router {
    tick_t step_at; /* when it steps next; FW_NEVER: asleep */
    uint32_t number;
    struct booksim_ports ports;
    uint64_t *arrived; /* input lanes to which a flit has come in this cycle, as BookSim numbers them */
    uint64_t *usable;  /* output lanes that lead somewhere */
    struct booksim_lane *inputs;
    unsigned char *rooms;                                   /* by output port: struct booksim_room */
    uint16_t *owner;                                        /* by output lane: the input lane that has it, or NOBODY */
    uint32_t *flits;                                        /* by output lane: that have left, modulo 2^32 */
    struct stage_list routing, vc, held, waiting, crossing; /* the last but one for the switch */
    tick_t *free_at;               /* by output port: when its channel can take the next flit */
    tick_t *credit_at;             /* by input port: when its channel took the last credit, */
    tick_t *credit_of;             /* and the step that this was of */
    uint16_t *turn;                /* by input of the switch: the VC that goes first */
    uint16_t *held_lane, *held_by; /* by input of the switch: the lane that has it; by output: that input, or NOBODY */
    void *vc_state, *switch_state;
    struct random random;
};

struct booksim {
    ROUTERS_HEAD;
    struct booksim_config config;
    struct booksim_rule rule;
    uint32_t rows, columns; /* of the switch */
    uint32_t most_crossing; /* flits in it at once */
    bool asks_ahead;        /* routing is adaptive and takes no time: what it sees is what it was when a head came */
    bool is_ranked;         /* requests for the switch have ranks */
    struct allocation vcs, ways; /* of output lanes to packets, of ways through the switch to flits */
    uint16_t *asker;             /* scratch, by row * columns + column: the lane that asks */
    struct booksim_router *each;
    bool is_usual;
    struct booksim_usual *usual; /* in place of `each` */
};

static inline struct booksim_room *booksim_room_of(const struct booksim *q, const struct booksim_router *r,
                                                   uint32_t port)
{
    return (struct booksim_room *)(void *)(r->rooms + port * booksim_room_bytes(q->num_vcs));
}

/* The packet at the front of a lane. */
static inline struct packet *booksim_front(const struct booksim *q, const struct booksim_lane *lane)
{
    return network_packet(q->network, lane_buffer_front(&lane->buffer, q->ring_mask).packet);
}

/* What the router and the terminals before it know of a buffer. */
struct booksim_rule booksim_rule_of(const struct booksim_config *config);

/* How soon a packet is served before others, by what does not change on its way; 0 where that decides nothing. */
int64_t booksim_rank_at_source(const struct booksim_config *config, const struct packet *packet);
/* The same of the front of a lane, by all that counts. */
int64_t booksim_rank_of(const struct booksim *q, const struct booksim_lane *lane);

/*
 * Of the VCs of a channel that a packet may take, those for the output that it takes behind it, at a router, where it
 * would go on by the lane `ahead`.
 */
uint64_t booksim_vcs_for_output(const struct booksim *q, uint64_t vcs, uint32_t router, uint32_t ahead);
/*
 * Asks routing where a packet would go on from a router, without its knowing: the first of these output lanes. It comes
 * there by a VC; FW_NONE: from its terminal.
 */
uint32_t booksim_look_ahead(const struct network *network, const struct route *question, uint32_t packet,
                            uint32_t router, uint32_t vc, uint64_t *answer);
/* Leaves of the output lanes that the packet at the front of a lane may take those for its next output. */
void booksim_keep_vcs_for_output(struct booksim *q, struct booksim_router *r, struct booksim_lane *lane);

/* Of a router: see struct booksim_ports. */
struct booksim_ports booksim_number_ports(const struct booksim *q, uint32_t router, struct arena *arena);

/* The usual variant; see booksim_usual.c. */
void booksim_usual_build(struct booksim *q);
void booksim_usual_share(struct booksim *q);
event_handler booksim_usual_receive_flits, booksim_usual_receive_credits, booksim_usual_step;
uint32_t booksim_usual_lane_flits(const struct booksim *q, uint32_t router, uint32_t lane);
void booksim_usual_look(const struct booksim *q, uint32_t router, uint32_t lane, struct lane_look *seen,
                        struct shown_router *shown);

event_handler booksim_receive_flits, booksim_receive_credits, booksim_step;
