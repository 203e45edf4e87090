/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The simured routers in SimuRed's own order: `order` original. Its program knows no routers that step, but one list of all
 * packets: in each cycle it walks along that list, the packet that left its source queue first at its head, and moves all
 * flits of a packet, the head first, before it looks at the next one. What a flit leaves is free at once for whatever comes
 * later in the walk. So this is no router beside others but the whole network in one piece, for one thread; it is there to
 * give SimuRed's results to the tick, where the other order gives them closely and on any number of threads.
 *
 *   input buffer [last slot: crosspoint] -> output buffer [last slot: channel] -> input buffer ... -> ejection buffer
 *
 * Buffers are slots of a flit each, numbered through. A slot has an owner, from a packet's head until its tail has left,
 * also while it is empty. A packet needs no list of its flits: they are found from the first one backwards.
 */
#include "network/router/simured.h"

/*
 * The numbers that rand() of the GNU C library gives after srand(): an additive feedback generator (Knuth, The Art of Computer
 * Programming 2, 3.2.2) of 31 words, r[i] = r[i-3] + r[i-31], begun by a multiplicative one. SimuRed draws all its choices
 * from it, so who draws the same ones in the same order makes the same choices.
 */
enum { GNU_WORDS = 31, GNU_LAG = 3, GNU_SKIPPED = 10 * GNU_WORDS };

struct gnu_random {
    uint32_t words[GNU_WORDS];
    uint32_t oldest;
};

static inline uint32_t gnu_random_next(struct gnu_random *random)
{
    uint32_t at = random->oldest;
    random->words[at] += random->words[(at + GNU_WORDS - GNU_LAG) % GNU_WORDS];
    random->oldest = (at + 1) % GNU_WORDS;
    return random->words[at] >> 1;
}

static inline struct gnu_random gnu_random_begin(uint32_t seed)
{
    struct gnu_random random = {.words = {seed ? seed : 1}, .oldest = GNU_LAG};
    for (uint32_t i = 1; i < GNU_WORDS; i++) {
        int64_t next = 16807 * (int64_t)(int32_t)random.words[i - 1] % 2147483647;
        random.words[i] = (uint32_t)(next < 0 ? next + 2147483647 : next);
    }
    for (uint32_t i = 0; i < GNU_SKIPPED; i++)
        gnu_random_next(&random);
    return random;
}

#define NO_SLOT UINT32_MAX

struct slot {
    uint32_t owner;  /* packet; FW_NONE: none */
    uint32_t buffer; /* that it belongs to */
    int32_t elapsed; /* visits since a flit came here; heads begin below 0 at a crosspoint */
    bool is_busy;
    bool is_last; /* of its buffer */
};

enum walk_routing { WALK_MESH, WALK_TORUS, WALK_ONE_WAY, WALK_DUATO, WALK_FULLY_ADAPTIVE, WALK_NONE };

enum stage { PLAIN, CROSSPOINT, CHANNEL, EJECTION, STAGES };

struct walk_buffer {
    uint32_t next;    /* behind its last slot: NO_SLOT: a terminal, or no output has been given yet */
    uint32_t prev;    /* before its first slot: NO_SLOT: a terminal, or an output buffer that nobody holds */
    uint32_t place;   /* router * lanes + lane */
    enum stage stage; /* of its last slot */
};

/* A packet on the list. */
struct mover {
    uint32_t packet;
    uint32_t size;            /* flits, of which so many have left their source and arrived */
    uint32_t sent, delivered; /* those between are in slots */
    uint32_t front, entry;    /* slots: of the first flit that has not arrived; where its flits enter */
};

struct walk {
    struct gnu_random random;
    uint32_t length; /* slots of a buffer */
    bool forwards, shares;
    int32_t delay[STAGES], switching; /* cycles */
    uint32_t injection, ejection;     /* channels of a terminal */
    uint32_t patience;                /* cycles without a move after which there will be none */
    enum walk_routing routing;
    const struct grid *grid;
    const uint16_t *coordinates; /* by router * dimensions + dimension */
    struct slot *slots;
    struct walk_buffer *buffers; /* by place * 2 + is_output */
    tick_t *handed_at;           /* by place: when its VC got the turn; FW_NEVER: before, or used since */
    uint16_t *turn;              /* by router * ports + port */
    uint32_t *flits;             /* by place: that have left by the output lane, modulo 2^32 */
    struct mover *movers;        /* the list */
    uint32_t count;
    uint32_t *waiting; /* by router: packets on the list that have not begun to enter */
    uint64_t *sources; /* a set of routers whose terminals have packets that are not on the list */
    uint64_t *wants;   /* scratch, of those who look: a set of output lanes */
    uint32_t made;     /* packets since the last walk */
    uint32_t stood;    /* cycles since a flit moved */
    tick_t walk_at;    /* the next walk; FW_NEVER: asleep */
};

static inline uint32_t first_slot(const struct walk *walk, uint32_t place, bool is_output)
{
    return (place * 2 + is_output) * walk->length;
}

static inline uint32_t last_slot(const struct walk *walk, uint32_t place, bool is_output)
{
    return first_slot(walk, place, is_output) + walk->length - 1;
}

/* The slot behind, across a channel or a router too. */
static inline uint32_t walk_prev(const struct walk *walk, uint32_t at)
{
    uint32_t buffer = walk->slots[at].buffer;
    return at == buffer * walk->length ? walk->buffers[buffer].prev : at - 1;
}

/* May a flit of a packet enter a slot? */
static inline bool slot_has_room(const struct slot *slot, uint32_t packet)
{
    return !slot->is_busy && (slot->owner == FW_NONE || slot->owner == packet);
}

/* The output that a packet at a router gets now, by its first slot; NO_SLOT: all that it may take are held. */
uint32_t walk_route(const struct simured *q, uint32_t router, uint32_t destination);
/* All output lanes that it may be given, at this router, now or later. */
void walk_note_outputs(const struct simured *q, uint32_t router, uint32_t destination, uint64_t *outputs);

/* Judges the rest of the network, and builds; in simured_walk_build.c. */
void walk_check(const struct network *network, const struct choice *self, struct errors *errors);
void walk_build(struct simured *q, const struct simured_config *config);
void walk_look(const struct simured *q, uint32_t router, uint32_t lane, struct lane_look *seen,
               struct shown_router *shown);

/* Terminals have made packets. */
void walk_hear(const struct simured *q, const struct step_event *events, uint32_t count, tick_t now);
/* A cycle. */
event_handler simured_walk;
