/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A configuration for tests, with one row of every type, and two fake
 * components of the kind "test_shape". The fuzzer reads by the same rows.
 */
#include "flitwarp/component.h"

struct test_inner {
    uint32_t depth;
    uint64_t delay;
};

struct test_part {
    struct u32_list places;
    uint32_t weight;
};

struct test_config {
    double tick;
    bool flag;
    uint32_t small;
    uint64_t large;
    double share;
    const char *label;
    const char *file;
    uint32_t mode;
    struct u32_list widths;
    struct u32_lists sets;
    struct f64_list weights;
    uint64_t latency;
    uint64_t warmup;
    struct u64_list latencies;
    double per_metre;
    double bandwidth;
    double speed;
    struct f64_list speeds;
    struct test_inner inner;
    struct choice shape;
    struct choice extra; /* optional */
    struct choice_list shapes;
    struct block_list parts; /* of struct test_part */
    uint32_t needed;         /* required */
};

struct test_box_config {
    uint32_t sides;
    struct choice inside;
};

const struct option *test_config_rows(void);
