/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Layout of the staged routers. Its files:
 *
 *   staged.c        the stages, and what arrives
 *   staged_build.c  settings, building, looking from outside
 */
#include "flitwarp/allocator.h"
#include "flitwarp/router.h"
#include "network/router/buffer_size.h"
#include "network/router/output_stage.h"

enum staged_room { ROOM_FOR_FLIT, ROOM_FOR_PACKET };
enum staged_lock { LOCK_NONE, LOCK_PACKET, LOCK_UNTIL_IDLE };

struct staged_config {
    struct buffer_config buffer;
    uint32_t output_depth;
    uint64_t cycle;
    uint32_t routing_latency, crossbar_latency; /* cycles */
    uint32_t output_latency;                    /* cycles of the channel */
    bool stores_packet, waits_for_exit;
    uint32_t room, lock, output_room, output_hold;
    struct choice vc_allocator, allocator, output_arbiter, congestion;
};

/* What a register's flit does. */
enum register_state {
    REGISTER_EMPTY,
    REGISTER_ASKS,  /* it waits for an answer: of routing, or of an allocator */
    REGISTER_READY, /* it goes on with the next cycle */
};

/* An input lane: a queue of flits, and three registers behind it. */
struct staged_lane {
    struct flit entry, middle, exit;               /* being routed, given an output lane, given the crossbar */
    uint8_t entry_state, middle_state, exit_state; /* enum register_state */
    uint16_t held;                                 /* output lane of the packet that passes the middle; NOBODY: none */
    uint16_t output;                               /* that of the flit at the exit */
    struct lane_buffer buffer;
    uint64_t *answer, *asked; /* output lanes that the packet at the entry, and the one in the middle, may take */
    tick_t routed_at;         /* when the packet at the entry is routed */
};

struct staged_router {
    tick_t step_at; /* when it steps next; FW_NEVER: asleep */
    uint32_t number;
    uint64_t *active; /* input lanes with a flit */
    uint64_t *free;   /* output lanes that nobody holds */
    uint64_t *usable; /* output lanes that lead somewhere */
    struct staged_lane *inputs;
    uint32_t *credits; /* by output lane: flits that there is room for, in its queue where it has one */
    uint32_t *flits;   /* by output lane: that have left, modulo 2^32 */
    uint16_t *owner;   /* by output lane: the input lane that holds it, or NOBODY */
    uint16_t *lock;    /* by port: the input lane that alone may use it, or NOBODY */
    tick_t *free_at;   /* by port: when its channel can take the next flit */
    void *vc_state, *switch_state;
    struct random random;
};

struct staged {
    ROUTERS_HEAD;
    struct staged_config config;
    tick_t cycle, routing, crossbar; /* ticks */
    struct allocation vcs, ways;     /* of output lanes to packets, of the crossbar's outputs to flits */
    uint64_t *eligible;              /* scratch: input lanes that may be given the crossbar */
    struct staged_router *each;
};

event_handler staged_receive_flits, staged_receive_credits, staged_receive_room, staged_step;
