/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Routes from a file, see docs/formats.md: what a line says becomes an entry, found by where a packet is (or begins)
 * and where it goes. An entry has choices, of which one is drawn by weight for each packet; a choice is a set of
 * output VCs that are all offered at once. Equal sets are kept once, so that memory grows with the lines of the file
 * alone.
 *   A path, all of a packet's way, is a row of such sets, the last of which leads to the destination itself. Lanes are
 * the VCs that a pair's packets keep to on the way that tables give them.
 */
#include "flitwarp/routing.h"
#include "network/line_file.h"

#define ROUTE_LANES 0x80000000u /* in a choice of a pair: lanes, by their place, in place of a path */
#define ROUTE_PORT_NODE 0xffff  /* stands for the channels to the packet's destination */
#define ROUTE_PORT_ANY 0xffff   /* of those by which a packet may have come */

/* What an entry is found by: bit 0, a router is the destination, else a node; bit 1, a path; bit 2, from a router. */
enum route_kind {
    ROUTE_KIND_TO_ROUTER = 1,
    ROUTE_KIND_PATH = 2,
    ROUTE_KIND_FROM_ROUTER = 4,
    ROUTE_KIND_TABLE = ROUTE_KIND_FROM_ROUTER, /* a packet at that router */
};
#define ROUTE_PATH_KINDS 0xccu /* as bits of struct routes' kinds */

struct route_output {
    uint64_t vcs;
    uint16_t port; /* between routers, or ROUTE_PORT_NODE */
    bool is_last;  /* of its set */
};

/* Where a packet has to come from; in the order in which they are tried, the closest first. */
enum route_from { FROM_PORT_AND_VC, FROM_PORT, FROM_VC_OR_NODE, FROM_ANYWHERE };

struct route_entry {
    uint64_t from_vcs;     /* that its head may be in */
    uint32_t at;           /* router or node */
    uint32_t destination;  /* node or router */
    uint32_t first, count; /* choices */
    uint32_t line;
    uint16_t from_port; /* ROUTE_PORT_ANY: any */
    uint8_t kind;
    uint8_t from;    /* enum route_from */
    bool is_at_node; /* it has come from no router yet */
};

struct routes {
    const struct route_entry *entries; /* those of one place and destination together, as they are tried */
    const uint32_t *slots;             /* hash table of the first of those: index + 1; 0: empty */
    const struct weighted *choices;    /* the first of a set of outputs; of a path its first step */
    const struct route_output *outputs;
    const uint32_t *steps; /* of paths: sets */
    const uint64_t *lanes; /* VCs */
    uint32_t entry_count, slot_mask;
    uint32_t kinds;      /* bit by kind: there are such entries */
    bool leads_to_nodes; /* some lines say by which VCs a packet reaches its node */
    const char *file;
};

/* ---- reading ---- */

/* One choice of a line, before lines are put in order. */
struct route_raw {
    struct route_entry entry; /* without choices */
    uint32_t outputs;         /* the first of a set; of a path its first step */
    uint32_t weight;
    uint32_t group;  /* rows with the same number are offered together; FW_NONE: it has none */
    uint32_t number; /* in the file */
};

struct route_reader {
    struct line_file file;
    const struct routing *routing;
    bool is_csv;
    struct route_raw *raws;
    uint32_t raw_count, raw_room;
    struct route_output *outputs;
    uint32_t output_count, output_room;
    uint32_t *sets; /* hash table of sets: index of the first output + 1 */
    uint32_t set_count, set_slots;
    uint32_t *steps;
    uint32_t step_count, step_room;
    uint64_t *lanes;
    uint32_t lane_count, lane_room;
    struct route_output *wanted; /* the set that is being read */
    uint32_t wanted_count, wanted_room;
    uint64_t escape_vcs;
    struct route_columns { /* of CSV: the place of each column in a row; FW_NONE: it is not there */
        uint32_t count;    /* 0: the first row is still to come */
        uint32_t router, from, to, choice, weight, port, via, vc, source, path;
    } columns;
};

/* Reads a file. False, with errors that name file and line. */
bool route_file_read(struct route_reader *reader);
/* A line in words; empty ones are well. */
bool route_text_line(void *reader, char *text);
/* A row of CSV, the first of which names the columns. */
bool route_csv_line(void *reader, char *text);
void route_reader_release(struct route_reader *reader);

/* Adds an output to the set that is being read; those of one port become one. */
void route_want(struct route_reader *reader, uint16_t port, uint64_t vcs);
/* Ends the set, and returns its number: the same for equal ones. */
uint32_t route_keep_wanted(struct route_reader *reader);
/* Puts what was read in order. NULL with errors where lines contradict each other. */
const struct routes *routes_build(struct route_reader *reader, struct arena *arena);

/* ---- ways ---- */

/*
 * Goes from every node to every other by all choices. False, with errors, where a packet can go in a circle, and
 * unless they may, where pairs have no way.
 */
bool routes_check_ways(const struct routes *routes, struct route_reader *reader, bool may_lack);

/* Is this entry for a packet whose head is here? One that comes from a node is in no port. */
static inline bool route_entry_fits(const struct route_entry *entry, bool is_at_node, uint32_t port, uint32_t vc)
{
    if (entry->from == FROM_ANYWHERE)
        return true;
    if (is_at_node || entry->is_at_node)
        return is_at_node && entry->is_at_node;
    return (entry->from_port == ROUTE_PORT_ANY || entry->from_port == port) && entry->from_vcs >> vc & 1;
}

/* The entry of a packet at a router: one to its node before one to its router. NULL: there is none. */
const struct route_entry *routes_entry_at(const struct routes *routes, uint32_t router, uint32_t destination,
                                          uint32_t destination_router, bool is_at_node, uint32_t port, uint32_t vc);
/* That of its whole path, where it has one. */
const struct route_entry *routes_path(const struct routes *routes, uint32_t source, uint32_t source_router,
                                      uint32_t destination, uint32_t destination_router);
