/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * An InfiniBand fabric as its tools print it: switches, adapters and cables of
 * ibnetdiscover, and the forwarding tables of switches of dump_lfts or opensm.
 * Switches are our routers, in the order of their GUIDs; ports of adapters are our
 * terminals, in the order of the switches and ports that they hang on.
 */
#include "import/import.h"

#define FABRIC_NONE UINT32_MAX
#define FABRIC_NO_WAY 255 /* port in a table: dropped */

struct fabric_node {
    const char *id, *name;
    uint64_t guid;
    uint32_t line;
    uint32_t router;       /* number of a switch, FABRIC_NONE of an adapter */
    uint32_t lid;          /* of a switch */
    uint32_t first, count; /* ports, by number */
    bool is_switch;
};

struct fabric_port {
    const char *peer_id, *speed;
    uint32_t node, number, line;
    uint32_t peer_number;
    uint32_t peer;     /* the port at the other end */
    uint32_t lid, lmc; /* of an adapter's */
    uint32_t terminal; /* number of an adapter's */
};

struct fabric {
    struct import *import;
    const char *file; /* being read */
    uint32_t line;
    struct fabric_node *nodes;
    struct fabric_port *ports;
    uint32_t node_count, node_room, port_count, port_room;
    uint32_t router_count, terminal_count;
    uint32_t *routers;   /* nodes, by number */
    uint32_t *terminals; /* ports, by number */
    uint32_t *lids;      /* terminals, by their lids */
    uint8_t *tables;     /* by router * terminals + terminal: the port; FABRIC_NO_WAY */
    uint8_t *has_table;  /* by router */
    uint8_t *levels;     /* of service, by source * terminals + destination; FABRIC_NO_WAY: no record; NULL: not read */
    uint32_t level_count;
};

/* False with errors. */
bool fabric_read_topology(struct fabric *fabric, const char *bytes);
bool fabric_read_tables(struct fabric *fabric, const char *path);
bool fabric_read_levels(struct fabric *fabric, const char *path);
/* The next line without its end, in the arena; NULL: there is none. */
char *fabric_line(struct fabric *fabric, const char **at);
void fabric_release(struct fabric *fabric);

/* "file:line: ..."; false. */
#define fabric_error(fabric, ...) fabric_refuse(fabric, arena_format((fabric)->import->arena, __VA_ARGS__))
bool fabric_refuse(const struct fabric *fabric, const char *message);
