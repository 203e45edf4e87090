/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Failures at a time: what a network does when links and routers fail while it runs, and when they are repaired.
 *
 *   outages.c          when what happens, at grid points
 *   outage_victims.c   which packets are lost by that
 *   outage_taking.c    they are taken out of the network, with all that they hold
 *   outage_tables.c    the routing's tables follow, a while later
 *
 * All of it happens at the grid points of the workload, with all parts at rest and all flits in buffers or on channels, so
 * that it is the same for any number of parts. The first grid point from a failure on:
 *
 *   - ports at both ends of the link close: no packet takes an output lane of theirs any more
 *   - packets that have flits on it, or hold an output lane of it, are lost as a whole: they are taken out of all buffers
 *     and off all channels, and each place that their flits had taken is given back, as if they had left
 *   - others that wanted to go by it wait
 *
 * and the first that is `reaction` ticks or more behind that:
 *
 *   - the routing has tables of what is left
 *   - packets that can go no further by them are lost, those in the queues of their sources too
 *   - packets in front that wait for an output lane ask for their way again
 *
 * A router fails with all of its links, and with all that is in it or on its terminals' channels. What its terminals send it
 * then waits there, and is lost when the tables know. Credits are counted on
 * while a link is dead, which is what its ends agree on when it is repaired.
 */
#include "network/network.h"

#include "engine/ranks.h"

/* A packet that was lost, as all ranks know it. */
struct loss {
    uint64_t name;                    /* source << 32 | sequence */
    uint64_t found, received, unsent; /* its flits: taken out of the network, arrived before, and never sent */
    uint64_t heads;                   /* 1: what follows is known; while ranks tell each other */
    struct packet packet;
    struct message message; /* where it has one */
};

struct losses {
    struct loss *items; /* owned; in the order of sources and sequences */
    uint32_t count, room;
};

struct outages {
    struct network *network;         /* of this rank, its first part */
    const struct failures *failures; /* borrowed */
    tick_t *times;                   /* when something fails or is repaired, rising */
    uint32_t count;
    uint32_t happened;                /* of those, so many have */
    uint32_t known;                   /* and so many are in the tables */
    uint64_t *closed, *closed_before; /* sets of ports: router * ports + port, as the topology counts both */
    uint64_t *dead, *dead_before;     /* sets of routers */
    uint64_t *known_dead;             /* of routers, by the tables */
    uint32_t classes;                 /* of VCs, for the tables of any time */
    const struct topology *left;      /* by which the tables are made */
    struct arena tables[2];           /* those in use, and those before or to come */
    struct words victims;             /* by name, rising: of a grid point */
    struct mail mail;
};

/*
 * Before routers are built: what fails when, and whether the network can do with that. Then network->core->outages is
 * there, unless nothing fails at a time. False, with errors.
 */
bool outages_plan(struct network *network, struct errors *errors);
/* Classes of VCs that the tables of any time need; 0: nothing fails at a time. */
uint32_t outages_classes(const struct outages *outages);
void outages_release(struct outages *outages);

/* Is a router dead by the tables? */
static inline bool outages_know_dead(const struct outages *outages, uint32_t router)
{
    return outages && bits_test(outages->known_dead, router);
}

/* When something is to be done next, behind the grid point at which the last was; FW_NEVER: nothing more. */
tick_t outages_next(const struct outages *outages);
/* What is to be done at a grid point; all ranks together. Adds the packets that are lost by it. */
void outages_apply(struct outages *outages, tick_t now, struct losses *losses);

/* ---- between the files ---- */

static inline uint64_t packet_name(const struct packet *packet)
{
    return (uint64_t)packet->source << 32 | packet->sequence;
}

/* Failures that this is about: of links and routers, of which nothing is left meanwhile. */
static inline bool failure_is_at_a_time(const struct failure *failure)
{
    return failure_has_a_time(failure) && failure_is_dead(failure) && failure->of != FAILURE_OF_TERMINAL;
}

/* Have ports or routers failed at this grid point? */
static inline bool outages_closes(const uint64_t *now, const uint64_t *before, size_t place)
{
    return bits_test(now, place) && !bits_test(before, place);
}
static inline size_t outages_port(const struct outages *outages, uint32_t router, uint32_t port)
{
    return (size_t)router * outages->network->topology.ports + port;
}
/* The part of this rank that runs a router; NULL: another rank's does. */
struct network *outages_part(const struct outages *outages, uint32_t router);

/* Finds who is lost: by links and routers that have just failed; by new tables. */
void outages_find_victims(struct outages *outages);
void outages_find_strays(struct outages *outages);
/* Takes all of them out; what this rank has had of them is added. */
void outages_take_out(struct outages *outages, tick_t now, struct losses *losses);

/* Tables of what is left after so many of the times; those in front ask again, and what is cut off is withdrawn. */
void outages_change_tables(struct outages *outages, uint32_t times, tick_t now, struct losses *losses);
