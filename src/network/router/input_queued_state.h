/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Layout of the input-queued routers. All routers of a network have blocks of
 * the same size in one array; the parts of a block lie at offsets that are
 * worked out once:
 *
 *   | head | sets | allocators | inputs | outputs | free_at | locks | credited | rooms | shares |
 *   rings |
 *
 * The parts that a step touches come first and together are a few cache lines.
 * Head, sets and inputs have places that the compiler knows when a set is one
 * word. Small allocators fit between sets and inputs, large ones go behind the
 * outputs. A lane's first flit lies in the lane itself, those behind it in its ring:
 * at low load the rings are never touched. Deep rings are not there: a lane has a struct
 * lane_ring, whose ring lies elsewhere and grows as it fills. A device has all rings as deep
 * as they can be.
 */
#include "flitwarp/link.h"
#include "network/allocator/round_robin.h"

#define UNLOCKED 0xffffu

/* An input lane: a queue of flits, and how far its front packet has come. */
struct input_lane {
    uint64_t wants;         /* output lanes that the packet may take, where one word holds them */
    struct flit front;      /* the first flit, while count > 0 */
    uint16_t first;         /* of the ring, free-running; the ring's size is a power of two */
    uint16_t count;         /* flits, the front one included */
    uint16_t output;        /* output lane held, LANE_IDLE or LANE_WAITS */
    uint16_t out_port;      /* of the output lane */
    struct lane_place back; /* where its credits go; never changes; with a mark, see ELSEWHERE */
};

struct output_lane {
    uint16_t credits;     /* flits that there is room for */
    uint16_t owner;       /* input lane that holds it, or NOBODY */
    uint32_t flits;       /* that have left, modulo 2^32 */
    struct lane_place to; /* where its flits go; never changes; with the same mark */
};

/* Set in the lane of a place in another part of the network, and of one that flits come to by a channel with errors. */
#define ELSEWHERE 0x80000000u

/* What does not change about a lane and is the same in every router. */
struct lane_facts {
    uint16_t port;
    uint8_t vc;
    bool at_router;   /* its channel comes from and leads to a router, not a terminal */
    uint32_t ring_at; /* offset of its ring in the block, or of its struct lane_ring */
};

#if FW_HOST
/* The ring of a lane that grows with what is in it. */
struct lane_ring {
    struct flit *flits; /* from the arena; NULL while there was no need of them */
    uint32_t size;      /* a power of two, or 0 */
};
#endif

struct router_head {
    tick_t step_at; /* when it steps next; FW_NEVER: asleep. With `due` sets, the last time if it is asleep */
    uint32_t number;
    uint32_t unused;
};

/* The sets of lanes that a router keeps, each `words` long. Head and sets of one word are one cache line. */
enum lane_set {
    SET_FRESH,    /* input lanes whose front packet is yet to be routed */
    SET_WAITING,  /* input lanes that are routed and want an output lane */
    SET_SENDABLE, /* input lanes with an output lane, a flit and a credit */
    SET_BUSY,     /* input lanes whose last stage is not over yet: those above must wait for it */
    SET_FREE,     /* output lanes that nobody holds */
    SET_USABLE,   /* output lanes that lead somewhere; never changes */
    LANE_SETS,
};

/* The memory of the routers, by router. */
struct blocks {
    FW_GLOBAL unsigned char *first;
    size_t stride;
};
/*
 * What all routers of a part of the network work with, by the program and by a device, which has a struct of its own with
 * the same names.
 */
#define INPUT_QUEUED_FACTS                                                                                             \
    uint32_t room;  /* credits of an output lane when all are back, at most; see room_of */                            \
    uint32_t depth; /* flits that an input lane can hold */                                                            \
    /* In ticks. */                                                                                                    \
    tick_t cycle, routing, vc_allocation;                                                                              \
    tick_t to_channel;         /* from the switch grant to the channel */                                              \
    tick_t credit;             /* from the switch grant to the credit's way back */                                    \
    tick_t next_packet;        /* from the switch grant of a tail to the next packet's turn */                         \
    uint64_t busy_after_grant; /* all ones, or none when a VC is allocated in no time */                               \
    uint32_t switch_rows, switch_cols;                                                                                 \
    bool vc_needs_credit; /* an output lane is given only when it has one */                                           \
    bool stores_packet;   /* a packet is routed when all of it is there */                                             \
    bool reserves_packet; /* a head moves on only when the whole packet has room */                                    \
    bool needs_room;   /* routing has escape VCs: an output lane is given only with room for the whole packet, or */   \
                       /* all that there can be, so that no packet waits for an adaptive VC alone */                   \
    bool credits_wake; /* either of them: any credit may set a packet going, not only the first */                     \
    bool ends_in_a_cycle; /* no stage is longer than a cycle, so what was busy in the last step is not in the next */  \
    bool steps_each_tick; /* no step is further away than the next tick */                                             \
    bool locks_outputs;   /* a packet that passes may have its output for itself: */                                   \
    bool keeps_outputs;   /* always, or while it has flits to send */                                                  \
    bool rings_grow;      /* see struct lane_ring */                                                                   \
    bool queues_to_send;  /* flits may leave the switch faster than a channel takes them: free_at says when it can */  \
    FW_GLOBAL tick_t *ready_at; /* by router * lanes + lane: end of the stage of a busy lane */                        \
    FW_GLOBAL uint64_t *routes; /* by router * lanes + lane, `words` each; NULL where one is enough */                 \
    struct blocks blocks;                                                                                              \
    uint32_t outputs_at, vc_state_at, switch_state_at, arbiter_state_at, arbiter_state_size, arbiters_each,            \
        arbiter_port_mask, free_at_at, locks_at, credited_at, rooms_at, shares_at, rings_at

static inline FW_GLOBAL struct router_head *block_at(struct blocks blocks, uint32_t router)
{
    return (FW_GLOBAL struct router_head *)(FW_GLOBAL void *)(blocks.first + router * blocks.stride);
}
#define PART(type, offset) ((FW_GLOBAL type *)(FW_GLOBAL void *)((FW_GLOBAL unsigned char *)head + (offset)))
#define SETS_AT sizeof(struct router_head)
#define SETS_END(words) (SETS_AT + LANE_SETS * (words) * sizeof(uint64_t))
#define ALLOCATORS_ROOM 64
#define INPUTS_AT(words) ((SETS_END(words) + ALLOCATORS_ROOM + 63) / 64 * 64)

static inline FW_GLOBAL uint64_t *lanes_in(FW_GLOBAL struct router_head *head, enum lane_set set, uint32_t words)
{
    return PART(uint64_t, SETS_AT) + set * words;
}
static inline FW_GLOBAL struct input_lane *inputs_of(FW_GLOBAL struct router_head *head, uint32_t words)
{
    return PART(struct input_lane, INPUTS_AT(words));
}
/*
 * Stages are compiled into their callers, once for each of three variants: see input_queued.c. A variant is a constant
 * wherever it is used, but for the general one's words.
 */
#define STAGE FW_INLINE

struct variant {
    bool usual;     /* in how flits go */
    bool narrow;    /* and in what there is: no sensors, output queues, rings that grow or channels of many latencies */
    uint32_t words; /* of a set of lanes */
};
#define USUAL ((struct variant){.usual = true, .narrow = true, .words = 1})
#define WIDE_WORDS 2
#define WIDE ((struct variant){.usual = true, .narrow = false, .words = WIDE_WORDS})
#define GENERAL(words_) ((struct variant){.usual = false, .narrow = false, .words = (words_)})

/* Sets of lanes: one word in the narrow variant, so that the compiler can keep it in a register. */
STAGE uint64_t *word_of(uint64_t *set, size_t lane, struct variant is)
{
    return set + (is.words == 1 ? 0 : lane / WORD_BITS);
}
STAGE void add(uint64_t *set, size_t lane, struct variant is) { *word_of(set, lane, is) |= bit(lane); }
STAGE void drop(uint64_t *set, size_t lane, struct variant is) { *word_of(set, lane, is) &= ~bit(lane); }

struct input_queued;

/* One router during a step. */
struct view {
    struct input_queued *q;
    FW_GLOBAL struct router_head *head;
    FW_GLOBAL struct input_lane *inputs;
    FW_GLOBAL struct output_lane *outputs;
    uint64_t *fresh, *waiting, *sendable, *busy, *free, *credited, *usable; /* see enum lane_set */
    FW_GLOBAL uint64_t *wants; /* of the first lane; the others follow so many words apart */
    size_t wants_apart;
#if FW_HOST
    const struct destinations *to;
    const uint8_t *channels; /* by port: the class of its channel */
    bool traces;             /* a packet's walk is told, by the general variant */
#endif
    tick_t now;
    tick_t soonest; /* when the next busy lane is not any more */
    bool moved;     /* something was granted */
};
