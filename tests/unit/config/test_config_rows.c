/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows and fake components that the tests of the configuration use. A box
 * holds another shape, so that choices nest; a dot has no options.
 */
#include "config/test_config_rows.h"

static const char *const modes[] = {"slow", "fast", "fastest", NULL};

static const struct option inner_rows[] = {
    OPTION_U32(struct test_inner, depth, "8", 1, 64, "flits", "depth of the inner buffer"),
    OPTION_TICKS(struct test_inner, delay, "2ns", 1, 1e6, "delay of the inner channel"), OPTION_END};

static const struct option part_rows[] = {OPTION_U32_LIST(struct test_part, places, "[]", 0, 9, NULL, "where it is"),
                                          OPTION_U32(struct test_part, weight, "1", 1, 5, "grams", "of a part"),
                                          OPTION_END};

static const struct option rows[] = {
    OPTION_SECONDS(struct test_config, tick, "1ns", 1e-15, 1, "length of a tick"),
    OPTION_BOOL(struct test_config, flag, "true", "whether it is on"),
    OPTION_U32(struct test_config, small, "4", 2, 65536, "flits", "a small count"),
    OPTION_U64(struct test_config, large, "1", 0, NO_LIMIT, NULL, "a large count"),
    OPTION_F64(struct test_config, share, "0.5", 0, 1, NULL, "share of the traffic"),
    OPTION_TEXT(struct test_config, label, "\"none\"", "a label"),
    OPTION_FILE(struct test_config, file, "null", "where to read from"),
    OPTION_ENUM(struct test_config, mode, "\"slow\"", modes, "how fast"),
    OPTION_U32_LIST(struct test_config, widths, "[8, 8]", 2, 65536, NULL, "routers along each dimension"),
    OPTION_U32_LISTS(struct test_config, sets, "[[1], [2, 3]]", 1, 64, NULL, "members of each set"),
    OPTION_F64_LIST(struct test_config, weights, "[]", -1, 1, NULL, "weight of each thing"),
    OPTION_TICKS(struct test_config, latency, "1", 1, 1e9, "time on the channel"),
    OPTION_TICKS_AUTO(struct test_config, warmup, "\"auto\"", 0, NO_LIMIT, "time before measuring"),
    OPTION_TICKS_LIST(struct test_config, latencies, "[1, 2]", 1, 1e9, "time on each channel"),
    OPTION_TICKS_F64(struct test_config, per_metre, "4.9", 0.5, 1e6, "time for a metre of cable"),
    OPTION_RATE(struct test_config, bandwidth, "\"100Gb/s\"", 1, NO_LIMIT, "of a link"),
    OPTION_BANDWIDTH(struct test_config, speed, "25", 0.5, 1e6, "of a wire"),
    OPTION_BANDWIDTH_LIST(struct test_config, speeds, "[1, 2]", 0.5, 1e6, "of each wire"),
    OPTION_BLOCK(struct test_config, inner, struct test_inner, inner_rows, "the inner part"),
    OPTION_CHOICE(struct test_config, shape, "test_shape", "\"test_dot\"", "what it looks like"),
    OPTION_CHOICE(struct test_config, extra, "test_shape", "null", "another shape, or none"),
    OPTION_CHOICES(struct test_config, shapes, "test_shape", "[]", 0, 3, "more shapes"),
    OPTION_BLOCKS(struct test_config, parts, part_rows, "places", "what it is made of"),
    OPTION_U32(struct test_config, needed, REQUIRED, 1, 9, NULL, "has no default"),
    OPTION_END};

const struct option *test_config_rows(void) { return rows; }

struct test_shape_ops {
    COMPONENT_HEAD;
};

static const struct option box_options[] = {
    OPTION_U32(struct test_box_config, sides, "4", 3, 12, "sides", "sides of the box"),
    OPTION_CHOICE(struct test_box_config, inside, "test_shape", "\"test_dot\"", "what lies in the box"), OPTION_END};

static const struct test_shape_ops test_box = {.name = "test_box",
                                               .summary = "a box that holds another shape",
                                               .options = box_options,
                                               .example = "{\"type\": \"test_box\", \"sides\": 6}"};
REGISTER_COMPONENT("test_shape", test_box);

static const struct test_shape_ops test_dot = {.name = "test_dot", .summary = "a point without options"};
REGISTER_COMPONENT("test_shape", test_dot);
