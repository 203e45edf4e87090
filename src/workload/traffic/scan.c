/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scan: a terminal's messages go to all terminals one after the other, up or down
 * by number and round again. The only pattern that remembers: each source knows
 * where its next message goes.
 */
#include "flitwarp/traffic.h"

enum scan_direction { SCAN_UP, SCAN_DOWN, SCAN_RANDOM };
static const char *const scan_directions[] = {"up", "down", "random", NULL};
enum scan_start { START_FIRST, START_RANDOM };
static const char *const scan_starts[] = {"first", "random", NULL};

struct scan_config {
    uint32_t direction, start, first;
    bool self;
};

static const struct option scan_options[] = {
    OPTION_ENUM(struct scan_config, direction, "\"up\"", scan_directions,
                "by number; random: each terminal has one of the two"),
    OPTION_ENUM(struct scan_config, start, "\"first\"", scan_starts,
                "whether all begin with `first`, or each somewhere else"),
    OPTION_U32(struct scan_config, first, "0", 0, FW_NONE - 1, NULL, "terminal to begin with",
               ONLY_WITH("start=first")),
    OPTION_BOOL(struct scan_config, self, "false", "whether a terminal also sends to itself"),
    OPTION_END,
};

/* Of one source. */
struct scanner {
    uint32_t next;
    bool is_up;
};

static void scan_prepare(struct traffic *traffic, const struct choice *self, const struct traffic_space *space,
                         struct errors *errors)
{
    const struct scan_config *config = traffic->config;
    if (config->first >= space->terminals)
        choice_error(errors, self, "first", "there is no terminal %u: the last one is %u", config->first,
                     space->terminals - 1);
    struct scanner *scanners = arena_array(space->arena, struct scanner, space->terminals);
    for (uint32_t source = 0; source < space->terminals; source++) {
        struct random random = random_stream(space->seed, source, RANDOM_SETUP);
        scanners[source] = (struct scanner){
            .next = config->start == START_RANDOM ? random_below(&random, space->terminals) : config->first,
            .is_up = config->direction == SCAN_RANDOM ? random_below(&random, 2) : config->direction == SCAN_UP,
        };
    }
    traffic->state = scanners;
}

static uint32_t scan_step(struct scanner *scanner, uint32_t terminals)
{
    uint32_t destination = scanner->next;
    scanner->next = scanner->is_up ? (destination + 1 < terminals ? destination + 1 : 0)
                                   : (destination ? destination : terminals) - 1;
    return destination;
}

static uint32_t scan_destination(const struct traffic *traffic, uint32_t source, struct random *random)
{
    (void)random;
    const struct scan_config *config = traffic->config;
    struct scanner *scanner = (struct scanner *)traffic->state + source;
    uint32_t destination = scan_step(scanner, traffic->terminals);
    if (destination != source || config->self)
        return destination;
    return traffic->terminals > 1 ? scan_step(scanner, traffic->terminals) : FW_NONE;
}

static const struct traffic_ops scan = {
    COMPONENT("scan", "to all terminals one after the other", scan_options,
              "{\"type\": \"scan\", \"direction\": \"down\", \"start\": \"random\"}"),
    .prepare = scan_prepare,
    .destination = scan_destination,
};
REGISTER_TRAFFIC(scan);
