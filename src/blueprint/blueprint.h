/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The network of a configuration as `flitwarp topology` sees it: routers, links and
 * terminals with their classes, latencies and places, and nothing that runs; what
 * is said of it, what it costs, and the files and pictures that it is written to.
 */
#include "network/network.h"
#include "network/graph/analysis.h"
#include "run/simulation.h"

struct blueprint {
    struct simulation simulation; /* settings only */
    const char *config;           /* the file */
    struct topology topology;     /* what is left of it where something has failed */
    struct failures *failures;    /* from the start on; NULL: nothing has failed */
    struct channel_latencies latencies;
    uint32_t planes;         /* copies of the topology's routers and links, joined at the terminals only */
    uint32_t terminal_links; /* side by side between a terminal and its router, in each plane */
};

/* False, with errors in blueprint->simulation.errors, when the settings are wrong. Release that in any case. */
bool blueprint_open(struct blueprint *blueprint, const char *config, char **overrides, int override_count);

/* A link between routers, two-way. */
struct blueprint_link {
    uint64_t next; /* where the walk goes on */
    struct router_port from, to;
    uint32_t class;
    uint32_t latency, latency_back; /* ticks */
    double bandwidth;               /* bytes a second in each direction */
};
/* Goes to the next link, each once; begins with {0}. False at the end. */
bool blueprint_next(const struct blueprint *blueprint, struct blueprint_link *link);

/* Classes of links between routers; where the topology has none, all are of the class "router". */
uint32_t blueprint_classes(const struct blueprint *blueprint);
const char *blueprint_class_name(const struct blueprint *blueprint, uint32_t class);

/* Bytes a second on the channels of terminals. */
double blueprint_terminal_bandwidth(const struct blueprint *blueprint);

/* ---- cost ---- */

/* What parts cost: see docs/formats.md. The total counts every router, every link by its class, and every terminal. */
struct prices {
    const char *currency;
    double router;
    double port; /* of each port of a router in use, on top of it */
    double terminal;
    double link;              /* of any class that is not in: */
    const struct json *links; /* prices by class; NULL: none */
    bool has_link;
};

/* How many of each part there are. */
struct part_counts {
    uint64_t routers, terminals, ports;
    uint32_t classes; /* of links, those of terminals among them */
    const char **class_names;
    uint64_t *links; /* by class */
};

struct cost {
    double routers, links, terminals, total;
};

/* False, with errors, when the file is wrong. */
bool prices_read(struct prices *prices, const char *path, struct arena *arena, struct errors *errors);
/* False, with errors, when a class of links has no price. */
bool cost_find(struct cost *cost, const struct prices *prices, const struct part_counts *counts, struct errors *errors);
/* "$9,774,702", with cents where there are any. */
const char *money_text(const struct prices *prices, double amount, struct arena *arena);

/* ---- facts ---- */

struct facts {
    const struct blueprint *blueprint; /* borrowed */
    struct part_counts counts;
    uint64_t links;                /* of all classes */
    uint32_t min_radix, max_radix; /* ports of a router in use */
    struct adjacency adjacency;
    struct distances distances;
    struct disjoint_paths disjoint;
    struct bisection bisection;
    double bisection_bandwidth;  /* bytes a second, one way */
    double link_bandwidth;       /* of all links between routers, both ways */
    uint32_t islands;            /* parts that the network is in; 1 unless something has failed */
    uint32_t largest_island;     /* routers of the largest */
    double throughput;           /* bound of uniform traffic: share of the bandwidth of a terminal's links, at most 1 */
    const char *throughput_by;   /* what it follows from */
    const struct prices *prices; /* borrowed; NULL: no prices are given */
    struct cost cost;
};

/* All but the cost. */
void facts_find(struct facts *facts, const struct blueprint *blueprint, struct arena *arena);

struct json *facts_json(const struct facts *facts, struct arena *arena);
/* A table with a column for each network. */
void facts_print(const struct facts *facts, uint32_t count, struct arena *arena);

/* ---- files ---- */

/* A network as a file for other programs, in the format that the file's name ends with: see docs/formats.md. */
/* False, with an error, when there is no such format or it cannot say what this network is. */
bool export_check(const struct blueprint *blueprint, const char *path, struct errors *errors);
/* False, with errors, when the file cannot be written. */
bool export_write(const struct blueprint *blueprint, const char *path, struct errors *errors);

/* A small network as an SVG picture: routers where view/layout.h puts them, links coloured by class, a legend. */
/* False, with an error, when the name is not one of a picture or the network is too large for one. */
bool picture_check(const struct blueprint *blueprint, const char *path, bool with_terminals, struct errors *errors);
/* False, with errors, when the file cannot be written. */
bool picture_write(const struct blueprint *blueprint, const char *path, bool with_terminals, struct errors *errors);
