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
extern const char *const knowledge_names[];
extern const char *const hop_count_names[];
extern const char *const straight_vcs_names[];

struct ugal_config {
    struct detour_config detour;
    uint32_t mode, knowledge, hop_count, detours, straight_vcs;
    double threshold, bias;
};
#define UGAL_OPTIONS                                                                                                   \
    OPTION_ENUM(struct ugal_config, knowledge, "\"local\"", knowledge_names,                                           \
                "local: congestion of the router's own outputs, times hops; global: sum of all outputs on the way"),   \
        MODE_OPTION(struct ugal_config, "\"port_average\"", NULL),                                                     \
        OPTION_F64(struct ugal_config, threshold, "0", 0, 1e9, NULL,                                                   \
                   "congestion up to which a packet goes straight without looking at detours"),                        \
        OPTION_F64(struct ugal_config, bias, "0", -1e9, 1e9, NULL, "added to the weight of a detour"),                 \
        OPTION_ENUM(struct ugal_config, hop_count, "\"absolute\"", hop_count_names,                                    \
                    "hops in a weight: all of them, or as a multiple of those of the straight way"),                   \
        OPTION_ENUM(struct ugal_config, straight_vcs, "\"both\"", straight_vcs_names,                                  \
                    "VCs of packets that go straight: those of both legs of a detour, by VC the less congested ones, " \
                    "or the second leg's; on grids and hyperx"),                                                       \
        OPTION_U32(struct ugal_config, detours, "1", 1, 16, "detours",                                                 \
                   "drawn for a packet; the lightest is compared"),                                                    \
        DETOUR_OPTIONS

struct ugal {
    struct detours detours;
    const uint32_t *neighbours; /* by router * ports + port; with global knowledge */
};

/* False, with errors added, where the topology or the settings do not fit. */
bool ugal_init(struct routing *routing, const struct choice *self, bool is_progressive, struct arena *arena,
               struct errors *errors);
/* Offers a packet's next hop, after a choice where it may make one. It need make none at its destination's router. */
void ugal_step(struct route *route, bool may_choose);
