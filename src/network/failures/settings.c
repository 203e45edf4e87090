/* SPDX-License-Identifier: Apache-2.0 */
/* The block network.failures. */
#include "network/failures/failures.h"

#define MAX_SEED 9007199254740992.0
#define MAX_TICK 1e18

static const struct option draw_options[] = {
    OPTION_F64(struct failure_draw, share, "0", 0, 1, NULL,
               "of all (of that kind), drawn at random and rounded to a whole number; a larger share of the same seed "
               "has those of a smaller one too"),
    OPTION_U32(struct failure_draw, count, "0", 0, FW_NONE, NULL, "so many are drawn", NOT_WITH("share")),
    OPTION_U64(struct failure_draw, seed, "1", 0, MAX_SEED, NULL, "of what is drawn: another seed, others"),
    OPTION_END,
};

static const struct option time_options[] = {
    OPTION_TICKS(struct failure_time, at, "0", 0, MAX_TICK, "from when on; 0: from the start"),
    OPTION_TICKS(struct failure_time, until, "null", 1, MAX_TICK, "until when; null: for good"),
    OPTION_END,
};

static const struct option damage_options[] = {
    OPTION_F64(struct failure_damage, bandwidth, "0", 0, 1, NULL,
               "share of it that is left; 0: none, the link is dead"),
    OPTION_TICKS(struct failure_damage, extra_latency, "0", 0, 1e9, "added to the link's", ONLY_WITH("bandwidth")),
    OPTION_F64(struct failure_damage, bit_error_rate, "0", 0, 1, NULL, "of the link", ONLY_WITH("bandwidth")),
    OPTION_END,
};

static const struct option link_options[] = {
    OPTION_U32_LISTS(struct link_failures, list, "[]", 0, FW_NONE - 1, NULL,
                     "by the routers at their ends: [a, b] is every link between the two, [a, b, n] the n-th, from 0"),
    OPTION_TEXT(
        struct link_failures, kind, "null",
        "of those that are drawn, a class of the topology's channels: local, global, level 1, dimension 0; null: "
        "any"),
    OPTION_ROWS(struct link_failures, draw, struct failure_draw, draw_options),
    OPTION_ROWS(struct link_failures, time, struct failure_time, time_options),
    OPTION_ROWS(struct link_failures, damage, struct failure_damage, damage_options),
    OPTION_END,
};

static const struct option port_options[] = {
    OPTION_U32_LISTS(struct link_failures, list, "[]", 0, FW_NONE - 1, NULL,
                     "[router, port]: the link behind that port, as the topology counts ports between routers"),
    OPTION_TEXT(struct link_failures, kind, "null", "of those that are drawn, as that of links"),
    OPTION_ROWS(struct link_failures, draw, struct failure_draw, draw_options),
    OPTION_ROWS(struct link_failures, time, struct failure_time, time_options),
    OPTION_ROWS(struct link_failures, damage, struct failure_damage, damage_options),
    OPTION_END,
};

static const struct option node_options[] = {
    OPTION_U32_LIST(struct node_failures, list, "[]", 0, FW_NONE - 1, NULL, "by their numbers"),
    OPTION_ROWS(struct node_failures, draw, struct failure_draw, draw_options),
    OPTION_ROWS(struct node_failures, time, struct failure_time, time_options),
    OPTION_END,
};

static const char *const cut_off_names[] = {"refuse", "lose", NULL};

const struct option failures_options[] = {
    OPTION_BLOCKS(struct failures_config, links, link_options, "list", "between routers, dead or slow"),
    OPTION_BLOCKS(struct failures_config, ports, port_options, "list",
                  "links by one of their ends: with a port the whole link fails"),
    OPTION_BLOCKS(struct failures_config, routers, node_options, "list",
                  "dead with all their links; their terminals neither send nor receive"),
    OPTION_BLOCKS(struct failures_config, terminals, node_options, "list", "that neither send nor receive"),
    OPTION_FILE(struct failures_config, file, "null", "failures as lines: see docs/formats.md; null: none"),
    OPTION_ENUM(
        struct failures_config, cut_off, "\"refuse\"", cut_off_names,
        "terminals that have no way to each other: the run is refused, or messages between them are counted as lost "
        "and not sent"),
    OPTION_TICKS(struct failures_config, reaction, "0", 0, MAX_TICK,
                 "from a failure or repair at a time until the routing knows of it"),
    OPTION_TICKS(struct failures_config, resend_after, "null", 1, MAX_TICK,
                 "from a packet's entry into the network until its terminal sends it again, if a failure at a time has "
                 "cost it; null: it does not"),
    OPTION_U32(struct failures_config, resends, "8", 1, 1000000, NULL, "of a packet, at most; then it is given up",
               ONLY_WITH("resend_after")),
    OPTION_END,
};
