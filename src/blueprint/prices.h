/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What a network costs, from the prices of its parts: see docs/formats.md. The
 * total counts every router, every link by its class, and every terminal.
 */
#include "config/json.h"

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
