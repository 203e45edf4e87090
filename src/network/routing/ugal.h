/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The choice between going straight and a detour drawn at random, made at a
 * router from what it sees of the queues: UGAL makes it once, PAR may make it
 * again after the first hop.
 *   Queues are those of whole ports by default (Kim et al. 2008), since the two
 * ways may begin, or go on, in VCs of different classes. A class that only detours
 * use is empty as long as few are made, however busy its channel is with others:
 * by VC, PAR leaves the straight way 9 times in 10 at the second router, and UGAL-G
 * finds the end of every detour free.
 */
#include "flitwarp/reduction.h"
#include "network/routing/detour.h"

enum knowledge { KNOWLEDGE_LOCAL, KNOWLEDGE_GLOBAL };
enum hop_count { HOPS_ABSOLUTE, HOPS_NORMALIZED };
enum straight_vcs { STRAIGHT_IN_BOTH, STRAIGHT_IN_SECOND };

struct ugal_config {
    struct detour_config detour;
    uint32_t mode, knowledge, hop_count, detours, straight_vcs;
    double threshold, bias;
};
extern const struct option ugal_options[];

struct ugal {
    struct detours detours;
    const uint32_t *neighbours; /* by router * ports + port; with global knowledge */
};

/* False, with errors added, where the topology or the settings do not fit. */
bool ugal_init(struct routing *routing, const struct choice *self, bool is_progressive, struct arena *arena,
               struct errors *errors);
/* Offers a packet's next hop, after a choice where it may make one. It need make none at its destination's router. */
void ugal_step(struct route *route, bool may_choose);
