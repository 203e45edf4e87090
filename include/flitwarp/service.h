/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Levels of service. Each protocol class is of a level, and so each VC: the levels
 * share what they all need (channels, crossbars, sources) as the settings say. What
 * is between the VCs of one level stays the routers' arbiters' business.
 */
#include <stdbool.h>
#include <stdint.h>

#define MAX_LEVELS 16
#define MAX_VCS 64 /* of a port */

enum level_arbitration { LEVELS_ALIKE, LEVELS_WEIGHTED, LEVELS_STRICT };

struct service {
    uint32_t levels;                    /* that are told apart in results; at least 1 */
    uint32_t groups;                    /* that are arbitrated: levels, or 1 where they are alike */
    enum level_arbitration arbitration; /* strict: level 0 goes first, then 1, ... */
    bool preempts;                      /* a packet is interrupted for one of a level before its own */
    uint32_t weights[MAX_LEVELS];       /* by level, at least 1 */
    uint8_t class_level[MAX_VCS];       /* by protocol class */
    uint8_t vc_group[MAX_VCS];          /* by VC */
    uint64_t group_vcs[MAX_LEVELS];     /* by group: its VCs at a port */
    uint64_t before[MAX_LEVELS];        /* by group: the VCs of groups before it, where arbitration is strict */
};
