/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Which routing algorithms fit which topologies: a topology is of some kinds, an
 * algorithm needs one of some, both as words; "any" fits all.
 */
#include "routed.h"

struct fitting {
    const char *json;
    const char *kinds; /* behind a colon: those alone that an algorithm is tried on */
};

#define COUNT_OF(rows) (uint32_t)(sizeof(rows) / sizeof *(rows))

static inline bool has_kind(const struct fitting *topology, const char *kinds)
{
    char words[128];
    snprintf(words, sizeof words, "%s", kinds);
    words[strcspn(words, ":")] = '\0';
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        const char *found = strstr(topology->kinds, word);
        if (strcmp(word, "any") == 0 || (found && strchr(" ", found[strlen(word)])))
            return true;
    }
    return false;
}

static inline bool is_tried(const struct fitting *topology, const struct fitting *algorithm)
{
    const char *tried = strchr(algorithm->kinds, ':');
    return !tried || has_kind(topology, tried + 1);
}

static inline bool fits(const struct fitting *topology, const struct fitting *algorithm)
{
    return has_kind(topology, algorithm->kinds) && is_tried(topology, algorithm);
}

/*
 * Makes a pair, and expects that it is refused where it does not fit. False: it was, or is not tried, or it fits but
 * takes more VCs than there are. Release it in any case.
 */
static inline bool fitting_init(struct routed *routed, const struct fitting *topology, const struct fitting *algorithm,
                                uint32_t num_vcs)
{
    *routed = (struct routed){0};
    if (!is_tried(topology, algorithm))
        return false;
    bool is_ready = routed_init(routed, topology->json, algorithm->json, num_vcs);
    if (is_ready)
        EXPECT(fits(topology, algorithm));
    else if (!strstr(errors_text(&routed->errors), "VCs on this topology")) {
        EXPECT(!fits(topology, algorithm));
        EXPECT_TEXT_CONTAINS(errors_text(&routed->errors), "needs");
    }
    return is_ready;
}
