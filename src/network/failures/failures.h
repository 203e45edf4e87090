/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Failures: which links, routers and terminals are broken, and which links are slow.
 *
 *   settings.c   the block network.failures
 *   file.c       the same from a file of lines
 *   resolve.c    both, and what is drawn, as one list of failures of this network's links, routers and terminals
 *   damage.c     a topology without what has failed: fewer channels, the same numbers of routers, ports and terminals
 */
#include "config/json.h"
#include "flitwarp/topology.h"

/* ---- settings ---- */

enum cut_off { CUT_OFF_REFUSE, CUT_OFF_LOSE };

/* Drawn ones. */
struct failure_draw {
    double share;
    uint32_t count;
    uint64_t seed;
};
/* When: `until` 0 is for good. */
struct failure_time {
    uint64_t at, until;
};
/* How. */
struct failure_damage {
    double bandwidth; /* share of it that is left; 0: dead */
    uint64_t extra_latency;
    double bit_error_rate;
};

/* Of links and ports. */
struct link_failures {
    struct u32_lists list; /* [router, router] or [router, router, n]; of ports [router, port] */
    const char *kind;      /* NULL: any */
    struct failure_draw draw;
    struct failure_time time;
    struct failure_damage damage;
};
/* Of routers and terminals. */
struct node_failures {
    struct u32_list list;
    struct failure_draw draw;
    struct failure_time time;
};

struct failures_config {
    struct block_list links, ports;       /* of struct link_failures */
    struct block_list routers, terminals; /* of struct node_failures */
    const char *file;
    uint32_t cut_off; /* enum cut_off */
    uint64_t reaction, resend_after;
    uint32_t resends;
};
extern const struct option failures_options[];

/* ---- what has failed ---- */

enum failure_of { FAILURE_OF_LINK, FAILURE_OF_ROUTER, FAILURE_OF_TERMINAL };

struct failure {
    enum failure_of of;
    uint32_t number;              /* of the router or terminal; of a link the router at one of its ends, */
    uint32_t port;                /* and the port there, between routers */
    tick_t at, until;             /* FW_NEVER: for good */
    struct failure_damage damage; /* of a link; of routers and terminals all 0: they are dead */
};

struct failures {
    const struct topology *topology; /* of all planes, without failures */
    struct failure *items;           /* owned by the arena; in the order of the settings */
    uint32_t count, room;
    enum cut_off cut_off;
    bool is_asked;                           /* the settings speak of failures, of none perhaps: a share of 0 */
    tick_t reaction;                         /* of tables to failures at a time */
    tick_t resend_after;                     /* a lost packet is sent again; 0: it is not */
    uint32_t resends;                        /* so often at most */
    uint64_t *dead_routers, *dead_terminals; /* sets, from the start on */
    struct slow_port *slow; /* from the start on: both ends of each slow link, in the order of `slot` */
    uint32_t slow_count;
};
struct slow_port {
    uint64_t slot; /* router * ports + port */
    struct failure_damage damage;
};

static inline bool failure_is_dead(const struct failure *failure) { return failure->damage.bandwidth <= 0; }

/* Of all that is listed, drawn and in the file; `node` is the block, for messages. False, with errors. */
bool failures_resolve(struct failures *failures, const struct failures_config *config, const struct json *node,
                      const struct topology *topology, struct arena *arena, struct errors *errors);

/* Does it begin or end while the network runs? */
static inline bool failure_has_a_time(const struct failure *failure)
{
    return failure->at != 0 || failure->until != FW_NEVER;
}

/* Has it failed at that tick? FOR_GOOD: from the start and for good. */
#define FOR_GOOD FW_NEVER
static inline bool failure_holds(const struct failure *failure, tick_t now)
{
    return now == FOR_GOOD ? !failure_has_a_time(failure) : failure->at <= now && now < failure->until;
}

/*
 * `of` without the channels that are dead at that tick: the whole network of failures->topology, or those of its routers from
 * `first_router` on that are one plane. `of` itself where none of its channels is dead.
 */
const struct topology *failures_damage(const struct failures *failures, const struct topology *of,
                                       uint32_t first_router, tick_t now, struct arena *arena);

/* How slow the channel behind a port is; NULL: it is not. */
const struct failure_damage *failures_slow(const struct failures *failures, uint32_t router, uint32_t port);

/* Ticks between two flits on a channel that takes `cycle` when it is not slow, and whether they are a whole number. */
uint32_t slow_cycle(const struct failure_damage *damage, uint32_t cycle);
bool slow_cycle_is_whole(const struct failure_damage *damage, uint32_t cycle);

/* ---- between resolve.c and file.c ---- */

/* What is being resolved. */
struct failures_reader {
    struct failures *failures;
    struct arena *arena;
    struct errors *errors;
};

/*
 * Adds the links that a list of numbers names, each like `failure`: [a, b], [a, b, n], or [router, port]. NULL, or what is
 * wrong with them.
 */
const char *failures_add_link(struct failures_reader *reader, const struct u32_list *ends,
                              const struct failure *failure);
const char *failures_add_port(struct failures_reader *reader, const struct u32_list *ends,
                              const struct failure *failure);
/* The same for a router or a terminal. */
const char *failures_add_node(struct failures_reader *reader, uint32_t number, const struct failure *failure);
/* False, with errors. */
bool failures_read_file(struct failures_reader *reader, const char *path, const struct json *node);
