/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option rows: values of every type, refusals generated from the rows, units,
 * choices, and the effective configuration.
 */
#include "test.h"
#include "config/test_config_rows.h"

#include "config/options.h"
#include "config/json.h"
#include "config/source.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    struct arena arena;
    struct errors errors;
    struct test_config config;
    struct json *root;
    const char *messages;
    bool is_good;
};

static void read_with(struct reading *reading, const char *text, const char *override)
{
    memset(reading, 0, sizeof(*reading));
    reading->errors.arena = &reading->arena;
    reading->root = source_read(&(struct source){&reading->arena, &reading->errors, NULL}, "dir/x.json", text,
                                strlen(text), &override, override ? 1 : 0);
    struct config_reader reader = {.arena = &reading->arena, .errors = &reading->errors};
    if (reading->root) {
        reading->is_good = config_read_first(&reader, test_config_rows(), "tick", &reading->config, reading->root);
        reader.tick_seconds = reading->config.tick;
        reading->is_good &= config_read(&reader, test_config_rows(), &reading->config, reading->root);
    }
    EXPECT(reading->is_good == (reading->errors.count == 0));
    reading->messages = errors_text(&reading->errors);
}

/* One more setting beside the one that is required. */
static void read_setting(struct reading *reading, const char *setting)
{
    struct text text = {0};
    text_addf(&text, "{\"needed\": 1,\n%s}", setting);
    read_with(reading, text.chars, NULL);
    text_release(&text);
}

static void done(struct reading *reading) { arena_release(&reading->arena); }

static void expect_refusal(const char *setting, const char *message)
{
    struct reading reading;
    read_setting(&reading, setting);
    EXPECT(!reading.is_good);
    EXPECT_EQ_U64(reading.errors.count, 1);
    EXPECT_TEXT_CONTAINS(reading.messages, message);
    done(&reading);
}

static const char *written(struct reading *reading, int indent)
{
    char *chars = NULL;
    size_t size;
    FILE *out = open_memstream(&chars, &size);
    json_write(out, reading->root, indent);
    fclose(out);
    const char *kept = arena_text(&reading->arena, chars);
    free(chars);
    return kept;
}

TEST(defaults_fill_what_is_not_given)
{
    struct reading r;
    read_with(&r, "{\"needed\": 3}", NULL);
    EXPECT_TEXT_EQ(r.messages, "");
    EXPECT_NEAR(r.config.tick, 1e-9, 0);
    EXPECT(r.config.flag);
    EXPECT_EQ_U64(r.config.small, 4);
    EXPECT_NEAR(r.config.share, 0.5, 0);
    EXPECT_TEXT_EQ(r.config.label, "none");
    EXPECT(r.config.file == NULL);
    EXPECT_EQ_U64(r.config.mode, 0);
    EXPECT_EQ_U64(r.config.widths.count, 2);
    EXPECT_EQ_U64(r.config.widths.items[1], 8);
    EXPECT_EQ_U64(r.config.sets.count, 2);
    EXPECT_EQ_U64(r.config.sets.items[1].count, 2);
    EXPECT_EQ_U64(r.config.sets.items[1].items[1], 3);
    EXPECT_EQ_U64(r.config.weights.count, 0);
    EXPECT_EQ_U64(r.config.latency, 1);
    EXPECT_EQ_U64(r.config.warmup, TICKS_AUTO);
    EXPECT_EQ_U64(r.config.latencies.count, 2);
    EXPECT_EQ_U64(r.config.latencies.items[1], 2);
    EXPECT_NEAR(r.config.per_metre, 4.9, 1e-12);
    EXPECT_NEAR(r.config.bandwidth, 100e9, 0);
    EXPECT_EQ_U64(r.config.inner.depth, 8);
    EXPECT_EQ_U64(r.config.inner.delay, 2);
    EXPECT_TEXT_EQ(r.config.shape.component->name, "test_dot");
    EXPECT(r.config.extra.component == NULL);
    EXPECT_EQ_U64(r.config.shapes.count, 0);
    EXPECT_EQ_U64(r.config.needed, 3);
    done(&r);
}

TEST(given_values_are_read)
{
    struct reading r;
    read_setting(&r,
                 "\"tick\": \"625ps\", \"flag\": false, \"small\": 1e3, \"large\": 18446744073709551615, "
                 "\"share\": 0.25, \"label\": \"x\", \"file\": \"t.trace\", \"mode\": \"fast\", \"widths\": [2, 3, 4], "
                 "\"weights\": [-0.5], \"latency\": \"5ns\", \"warmup\": 10, \"bandwidth\": \"12.5GB/s\", "
                 "\"latencies\": [\"2.5ns\", 7, \"625ps\"], \"per_metre\": \"1ns\", "
                 "\"inner\": {\"depth\": 64, \"delay\": \"1.25ns\"}, \"shape\": {\"type\": \"test_box\", \"sides\": 6, "
                 "\"inside\": {\"type\": \"test_box\"}}, \"shapes\": [\"test_dot\", {\"type\": \"test_box\"}]");
    EXPECT_TEXT_EQ(r.messages, "");
    EXPECT_NEAR(r.config.tick, 625e-12, 0);
    EXPECT(!r.config.flag);
    EXPECT_EQ_U64(r.config.small, 1000);
    EXPECT_EQ_U64(r.config.large, UINT64_MAX);
    EXPECT_TEXT_EQ(r.config.file, "dir/t.trace");
    EXPECT_EQ_U64(r.config.mode, 1);
    EXPECT_EQ_U64(r.config.widths.items[2], 4);
    EXPECT_NEAR(r.config.weights.items[0], -0.5, 0);
    EXPECT_EQ_U64(r.config.latency, 8);
    EXPECT_EQ_U64(r.config.warmup, 10);
    EXPECT_EQ_U64(r.config.latencies.count, 3);
    EXPECT_EQ_U64(r.config.latencies.items[0], 4);
    EXPECT_EQ_U64(r.config.latencies.items[1], 7);
    EXPECT_EQ_U64(r.config.latencies.items[2], 1);
    EXPECT_NEAR(r.config.per_metre, 1.6, 1e-12);
    EXPECT_NEAR(r.config.bandwidth, 100e9, 0);
    EXPECT_EQ_U64(r.config.inner.delay, 2);
    const struct test_box_config *box = r.config.shape.config;
    EXPECT_EQ_U64(box->sides, 6);
    EXPECT_TEXT_EQ(box->inside.component->name, "test_box");
    EXPECT_TEXT_EQ(json_path(&r.arena, box->inside.node), "shape.inside");
    EXPECT_EQ_U64(r.config.shapes.count, 2);
    EXPECT_TEXT_EQ(r.config.shapes.items[1].component->name, "test_box");
    done(&r);
}

TEST(a_file_named_on_the_command_line_is_relative_to_the_working_directory)
{
    struct reading r;
    read_with(&r, "{\"needed\": 1, \"file\": \"a\"}", "file=b");
    EXPECT_TEXT_EQ(r.config.file, "b");
    done(&r);
}

/* A value of the wrong type for every row. */
static const char *wrong_value(const struct option *row)
{
    switch (row->type) {
    case OPTION_TYPE_BOOL:
    case OPTION_TYPE_TEXT:
    case OPTION_TYPE_FILE:
    case OPTION_TYPE_ENUM:
    case OPTION_TYPE_SECONDS:
    case OPTION_TYPE_CHOICE:
        return "12";
    default:
        return "true";
    }
}

static void refuse_value(const struct option *row, const char *value, const char *part)
{
    struct reading r;
    struct text text = {0};
    text_addf(&text, "{\n\"%s\": %s%s}", row->key, value, strcmp(row->key, "needed") ? ",\n\"needed\": 1" : "");
    read_with(&r, text.chars, NULL);
    EXPECT(!r.is_good);
    EXPECT_EQ_U64(r.errors.count, 1);
    EXPECT_TEXT_CONTAINS(r.messages, arena_format(&r.arena, "dir/x.json:2: %s", row->key));
    EXPECT_TEXT_CONTAINS(r.messages, part);
    if (row->type != OPTION_TYPE_BLOCK)
        EXPECT_TEXT_CONTAINS(r.messages, row->help);
    text_release(&text);
    done(&r);
}

TEST(every_row_refuses_a_wrong_type)
{
    ROWS_EACH(row, test_config_rows()) {
        refuse_value(row, wrong_value(row), "found ");
        if (!row->fallback || strcmp(row->fallback, "null") != 0)
            refuse_value(row, "null", "found null, expected ");
    }
}

TEST(every_number_refuses_what_lies_outside_its_range)
{
    ROWS_EACH(row, test_config_rows()) {
        bool is_list = row->type == OPTION_TYPE_U32_LIST || row->type == OPTION_TYPE_F64_LIST ||
                       row->type == OPTION_TYPE_TICKS_LIST || row->type == OPTION_TYPE_BANDWIDTH_LIST;
        bool is_lists = row->type == OPTION_TYPE_U32_LISTS, is_text = row->type == OPTION_TYPE_SECONDS;
        bool is_number = row->type == OPTION_TYPE_U32 || row->type == OPTION_TYPE_U64 || row->type == OPTION_TYPE_F64 ||
                         row->type == OPTION_TYPE_TICKS || row->type == OPTION_TYPE_TICKS_AUTO ||
                         row->type == OPTION_TYPE_TICKS_F64 || row->type == OPTION_TYPE_RATE ||
                         row->type == OPTION_TYPE_BANDWIDTH;
        const char *open = is_lists ? "[[2], [" : is_list ? "[" : is_text ? "\"" : "";
        const char *close = is_lists ? "]]" : is_list ? "]" : is_text ? "s\"" : "";
        struct text low = {0}, high = {0};
        if (!is_lists && !is_list && !is_number && !is_text)
            continue;
        text_addf(&low, "%s%.15g%s", open, row->min - 1, close);
        text_addf(&high, "%s%.15g%s", open, row->max + 1, close);
        refuse_value(row, low.chars, " is below ");
        if (row->max < NO_LIMIT)
            refuse_value(row, high.chars, " is above ");
        text_release(&low);
        text_release(&high);
    }
}

TEST(messages_name_value_bound_help_and_range)
{
    struct reading r;
    read_with(&r, "{\n\"needed\": 1,\n\"widths\": [4,\n1]}", NULL);
    EXPECT_TEXT_EQ(r.messages, "dir/x.json:4: widths[1]: 1 is below 2 (routers along each dimension, 2 to 65536)\n");
    done(&r);
    expect_refusal("\"small\": \"four\"",
                   "dir/x.json:2: small: found text 'four', expected a whole number (a small count, 2 to 65536 flits)");
    expect_refusal("\"small\": 4.5", "small: found 4.5, expected a whole number (a small count");
    expect_refusal("\"small\": -3", "small: -3 is below 2");
    expect_refusal("\"large\": -1", "large: -1 is below 0 (a large count, at least 0)");
    expect_refusal("\"large\": 18446744073709551616", "large: 18446744073709551616 is above 1.844674407370955e+19");
    expect_refusal("\"large\": 1e30", "large: 1e30 is above 1.844674407370955e+19");
    expect_refusal("\"mode\": \"fats\"",
                   "mode: found 'fats' (did you mean 'fast'?), expected one of 'slow', 'fast', 'fastest'");
    expect_refusal("\"inner\": {\"depth\": 0}", "inner.depth: 0 is below 1 (depth of the inner buffer, 1 to 64 flits)");
    expect_refusal("\"inner\": \"x\"", "inner: found text, expected an object");
}

TEST(unknown_keys_name_the_nearest_and_all_that_are_accepted)
{
    expect_refusal("\"smal\": 4",
                   "dir/x.json:2: smal: unknown key (did you mean 'small'?), expected one of tick, flag, small, ");
    expect_refusal("\"zzzzzz\": 4", "zzzzzz: unknown key, expected one of tick,");
    expect_refusal("\"inner\": {\"depht\": 4}",
                   "inner.depht: unknown key (did you mean 'depth'?), expected one of depth, delay");
    expect_refusal("\"inner\": {\"depth\": 4}, \"depth\": 4",
                   "depth: unknown key (did you mean 'inner.depth'?), expected one of tick,");
    expect_refusal("\"shape\": {\"type\": \"test_dot\", \"sides\": 4}",
                   "shape.sides: unknown key, expected one of type");
    expect_refusal("\"shape\": {\"type\": \"test_box\", \"side\": 4}",
                   "shape.side: unknown key (did you mean 'sides'?), expected one of type, sides, inside");
}

TEST(a_missing_required_setting_is_named)
{
    struct reading r;
    read_with(&r, "\n{}", NULL);
    EXPECT_TEXT_EQ(r.messages, "dir/x.json:2: needed: missing, expected a whole number (has no default, 1 to 9)\n");
    done(&r);
}

TEST(all_errors_come_at_once)
{
    struct reading r;
    read_with(&r, "{\"tick\": 3, \"smal\": 1, \"share\": 2, \"latency\": \"10ns\", \"shapes\": [\"test_dto\", 4]}",
              NULL);
    EXPECT_EQ_U64(r.errors.count, 6);
    EXPECT_TEXT_CONTAINS(r.messages, "tick: found the number 3, expected a time like \"625ps\"");
    EXPECT_TEXT_CONTAINS(r.messages, "smal: unknown key");
    EXPECT_TEXT_CONTAINS(r.messages, "share: 2 is above 1");
    EXPECT_TEXT_CONTAINS(r.messages, "shapes[0].type: found 'test_dto' (did you mean 'test_dot'?)");
    EXPECT_TEXT_CONTAINS(r.messages, "shapes[1]: found a number, expected");
    EXPECT_TEXT_CONTAINS(r.messages, "needed: missing");
    done(&r);
}

TEST(times_are_whole_numbers_of_ticks)
{
    static const struct {
        const char *tick, *latency;
        uint64_t ticks;
    } good[] = {
        {"1ns", "10ns", 10}, {"1ns", "1us", 1000}, {"1ns", "0.5 us", 500}, {"1ps", "1ms", 1000000000},
        {"625ps", "5ns", 8}, {"1fs", "3ps", 3000}, {"0.1ns", "0.3ns", 3},  {"1ns", "1e3ns", 1000},
        {"3ns", "9ns", 3},   {"1s", "7s", 7},      {"7ps", "49ps", 7},     {"1ns", "1s", 1000000000},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct reading r;
        struct text text = {0};
        text_addf(&text, "{\"needed\": 1, \"tick\": \"%s\", \"latency\": \"%s\", \"inner\": {\"delay\": 1}}",
                  good[i].tick, good[i].latency);
        read_with(&r, text.chars, NULL);
        EXPECT_TEXT_EQ(r.messages, "");
        EXPECT_EQ_U64(r.config.latency, good[i].ticks);
        text_release(&text);
        done(&r);
    }
    expect_refusal("\"latency\": \"1.5ns\"", "latency: '1.5ns' is 1.5 ticks, expected a whole number of them: "
                                             "'1ns' is 1, '2ns' is 2 (time on the channel, 1 to 1000000000 ticks)");
    expect_refusal("\"tick\": \"0.5ns\", \"latency\": \"800ps\"", "'500ps' is 1, '1000ps' is 2");
    expect_refusal("\"latency\": \"10\"",
                   "latency: found text '10', expected a whole number of ticks or a time like \"10ns\"");
    expect_refusal("\"latency\": \"10 parsec\"", "found text '10 parsec'");
    expect_refusal("\"latency\": \"0x1ns\"", "found text '0x1ns'");
    expect_refusal("\"latency\": \"auto\"", "found text 'auto'");
    expect_refusal("\"latency\": \"0ns\"", "0ns is below 1");
    expect_refusal("\"warmup\": \"-1ns\"", "-1ns is below 0");
    expect_refusal("\"warmup\": \"1e300s\"", "1e300s is above");
    expect_refusal("\"warmup\": \"18446744073709551616ns\"", "is above 1.844674407370955e+19"); /* 2^64 ticks */
    expect_refusal("\"warmup\": \"nanns\"", "expected a whole number of ticks, a time like \"10ns\" or \"auto\"");
}

TEST(a_time_without_a_tick_is_refused)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct test_inner config = {0};
    static const struct option rows[] = {OPTION_TICKS(struct test_inner, delay, "1", 0, 9, "delay"), OPTION_END};
    struct json *root = json_object(&arena);
    json_add(root, "delay", json_text(&arena, "1ns"));
    EXPECT(!config_read(&(struct config_reader){.arena = &arena, .errors = &errors}, rows, &config, root));
    EXPECT_TEXT_EQ(errors_text(&errors),
                   "configuration: delay: found '1ns' where no tick is set, expected a number of ticks\n");
    arena_release(&arena);
}

TEST(rates_have_units)
{
    static const struct {
        const char *text;
        double rate;
    } good[] = {
        {"5", 5},
        {"1e9", 1e9},
        {"\"100Gb/s\"", 100e9},
        {"\"100Gbps\"", 100e9},
        {"\"1B/s\"", 8},
        {"\"2KB/s\"", 16e3},
        {"\"8 Mib/s\"", 8 * 0x1p20},
        {"\"1GiB/s\"", 8 * 0x1p30},
        {"\"0.4Tb/s\"", 0.4e12},
        {"\"7b/s\"", 7},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct reading r;
        struct text text = {0};
        text_addf(&text, "\"bandwidth\": %s", good[i].text);
        read_setting(&r, text.chars);
        EXPECT_TEXT_EQ(r.messages, "");
        EXPECT_NEAR(r.config.bandwidth, good[i].rate, 0);
        text_release(&text);
        done(&r);
    }
    expect_refusal("\"bandwidth\": \"100G\"", "found text '100G', expected a rate like \"100Gb/s\"");
    expect_refusal("\"bandwidth\": \"fast\"", "found text 'fast'");
    expect_refusal("\"bandwidth\": \"0b/s\"", "0b/s is below 1");
}

TEST(bandwidths_are_bytes_in_a_tick)
{
    static const struct {
        const char *text;
        double bytes;
    } good[] = {{"12.5", 12.5}, {"\"25GB/s\"", 25}, {"\"200Gb/s\"", 25}, {"\"8Gibps\"", 0x1p30 * 1e-9}};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct reading r;
        struct text text = {0};
        text_addf(&text, "\"speed\": %s", good[i].text);
        read_setting(&r, text.chars);
        EXPECT_TEXT_EQ(r.messages, "");
        EXPECT_NEAR(r.config.speed, good[i].bytes, 1e-12);
        text_release(&text);
        done(&r);
    }
    struct reading r;
    read_setting(&r, "\"speeds\": [\"8Gb/s\", 3, \"0.5GB/s\"]");
    EXPECT_TEXT_EQ(r.messages, "");
    EXPECT_EQ_U64(r.config.speeds.count, 3);
    EXPECT_NEAR(r.config.speeds.items[0], 1, 1e-12);
    EXPECT_NEAR(r.config.speeds.items[1], 3, 0);
    EXPECT_NEAR(r.config.speeds.items[2], 0.5, 1e-12);
    done(&r);
    expect_refusal("\"speeds\": [1, \"25G\"]", "found text '25G', expected a rate like \"25GB/s\"");
    expect_refusal("\"speed\": \"25G\"",
                   "found text '25G', expected a rate like \"25GB/s\" or a number of bytes a tick");
    expect_refusal("\"speed\": \"1b/s\"", "1b/s is below 0.5");
}

TEST(choices_refuse_what_is_not_registered)
{
    expect_refusal("\"shape\": \"test_bxo\"", "dir/x.json:2: shape.type: found 'test_bxo' (did you mean 'test_box'?), "
                                              "expected a name of kind test_shape (registered: test_box, test_dot)");
    expect_refusal("\"shape\": {\"type\": 4}", "shape.type: found a number, expected a name of kind test_shape");
    expect_refusal("\"extra\": {}", "extra.type: missing, expected a name of kind test_shape");
    expect_refusal("\"shapes\": [{}]", "shapes[0].type: missing, expected a name");
    expect_refusal("\"shapes\": [\"test_dot\", \"test_dot\", \"test_dot\", \"test_dot\"]",
                   "shapes: found 4 of them, expected");
    expect_refusal("\"shape\": {\"type\": \"test_box\", \"inside\": {\"type\": \"test_box\", \"sides\": 2}}",
                   "shape.inside.sides: 2 is below 3 (sides of the box, 3 to 12 sides)");
}

TEST(a_choice_without_type_takes_that_of_the_default)
{
    struct reading r;
    read_setting(&r, "\"shape\": {}");
    EXPECT_TEXT_EQ(r.config.shape.component->name, "test_dot");
    done(&r);
}

TEST(errors_on_the_command_line_are_placed_there)
{
    struct reading r;
    read_with(&r, "{\"needed\": 1}", "small=1");
    EXPECT_TEXT_EQ(r.messages, "command line: small: 1 is below 2 (a small count, 2 to 65536 flits)\n");
    done(&r);
    read_with(&r, "{\"needed\": 1}", "inner.dept=1");
    EXPECT_TEXT_CONTAINS(r.messages, "command line: inner.dept: unknown key (did you mean 'depth'?)");
    done(&r);
}

TEST(later_messages_are_placed_at_the_key_or_at_its_owner)
{
    struct reading r;
    read_with(&r, "{\"needed\": 1,\n\"shape\": {\"type\": \"test_box\",\n\"sides\": 5}}", NULL);
    choice_error(&r.errors, &r.config.shape, "sides", "%d is odd", 5);
    choice_error(&r.errors, &r.config.shape, "inside", "does not fit");
    choice_error(&r.errors, &r.config.shape, NULL, "is not round");
    node_error(&r.errors, r.root, "inner", "is outside");
    node_error(&r.errors, r.root, NULL, "is wrong");
    EXPECT_TEXT_EQ(errors_text(&r.errors), "dir/x.json:3: shape.sides: 5 is odd\n"
                                           "dir/x.json:2: shape.inside: does not fit\n"
                                           "dir/x.json:2: shape: is not round\n"
                                           "dir/x.json:1: inner: is outside\n"
                                           "dir/x.json:1: the configuration: is wrong\n");
    done(&r);
}

TEST(the_effective_configuration_is_complete_ordered_and_repeats_itself)
{
    struct reading r, again;
    read_with(&r, "{\"shape\": {\"sides\": 6, \"type\": \"test_box\"}, \"needed\": 2, \"shapes\": [\"test_dot\"]}",
              NULL);
    const char *effective = written(&r, 0);
    EXPECT_TEXT_EQ(
        effective,
        "{\"tick\": \"1ns\", \"flag\": true, \"small\": 4, \"large\": 1, \"share\": 0.5, \"label\": \"none\", "
        "\"file\": null, \"mode\": \"slow\", \"widths\": [8, 8], \"sets\": [[1], [2, 3]], \"weights\": [], "
        "\"latency\": 1, "
        "\"warmup\": \"auto\", \"latencies\": [1, 2], \"per_metre\": 4.9, \"bandwidth\": \"100Gb/s\", "
        "\"speed\": 25, \"speeds\": [1, 2], \"inner\": {\"depth\": 8, \"delay\": \"2ns\"}, "
        "\"shape\": {\"type\": \"test_box\", \"sides\": 6, \"inside\": {\"type\": \"test_dot\"}}, "
        "\"extra\": null, \"shapes\": [{\"type\": \"test_dot\"}], \"parts\": [], \"needed\": 2}");
    read_with(&again, effective, NULL);
    EXPECT_TEXT_EQ(again.messages, "");
    EXPECT_TEXT_EQ(written(&again, 0), effective);
    done(&again);
    done(&r);
}

/* ---- rows that include rows ---- */

struct wheel {
    uint32_t size, spokes;
};
struct axle {
    uint32_t length;
    struct wheel left, right;
};
struct cart {
    bool loaded;
    struct axle axle;
};
static const struct option wheel_rows[] = {
    OPTION_U32(struct wheel, size, "20", 1, 100, NULL, "inches"),
    OPTION_U32(struct wheel, spokes, "12", 0, 100, NULL, "of a wheel", ONLY_WITH("size")), OPTION_END};
static const struct option axle_rows[] = {
    OPTION_ROWS(struct axle, right, struct wheel, wheel_rows, OTHER_DEFAULT("size", "30")),
    OPTION_U32(struct axle, length, "7", 1, 100, NULL, "between them"), OPTION_END};
static const struct option cart_rows[] = {OPTION_BOOL(struct cart, loaded, "false", "whether it is"),
                                          OPTION_ROWS(struct cart, axle, struct axle, axle_rows, ONLY_WITH("loaded")),
                                          OPTION_END};

static const char *read_cart(struct arena *arena, const char *text, struct cart *cart)
{
    struct errors errors = {.arena = arena};
    struct config_reader reader = {.arena = arena, .errors = &errors};
    struct json *root = json_parse(arena, &errors, "cart.json", text, strlen(text));
    *cart = (struct cart){0};
    return config_read(&reader, cart_rows, cart, root) ? NULL : errors_text(&errors);
}

TEST(included_rows_fill_the_struct_that_they_are_included_for)
{
    struct arena arena = {0};
    struct cart cart;
    EXPECT(!read_cart(&arena, "{\"loaded\": true, \"spokes\": 8, \"size\": 26, \"length\": 5}", &cart));
    EXPECT(cart.loaded);
    EXPECT_EQ_U64(cart.axle.right.spokes, 8);
    EXPECT_EQ_U64(cart.axle.right.size, 26);
    EXPECT_EQ_U64(cart.axle.left.size, 0);
    EXPECT_EQ_U64(cart.axle.length, 5);
    arena_release(&arena);
}

TEST(a_row_that_includes_others_changes_a_default_and_adds_its_condition)
{
    struct arena arena = {0};
    struct cart cart;
    EXPECT(!read_cart(&arena, "{}", &cart));
    EXPECT_EQ_U64(cart.axle.right.size, 30);
    EXPECT_EQ_U64(cart.axle.right.spokes, 12);
    EXPECT_TEXT_CONTAINS(read_cart(&arena, "{\"length\": 5}", &cart), "length: has no effect without loaded");
    /* The row's own condition stands before that of the row that includes it. */
    EXPECT_TEXT_CONTAINS(read_cart(&arena, "{\"loaded\": true, \"spokes\": 8}", &cart),
                         "spokes: has no effect without size");
    EXPECT_TEXT_CONTAINS(read_cart(&arena, "{\"lenght\": 5}", &cart),
                         "did you mean 'length'?), expected one of loaded, size, spokes, length");
    arena_release(&arena);
}

/* ---- one block or several with the same rows ---- */

static const struct test_part *part_of(const struct reading *reading, uint32_t number)
{
    return (const struct test_part *)reading->config.parts.items + number;
}

TEST(blocks_are_one_object_or_a_list_of_them)
{
    struct reading r;
    read_setting(&r, "\"parts\": {\"weight\": 3}");
    EXPECT_TEXT_EQ(r.messages, "");
    EXPECT_EQ_U64(r.config.parts.count, 1);
    EXPECT_EQ_U64(part_of(&r, 0)->weight, 3);
    done(&r);
    read_setting(&r, "\"parts\": [{\"places\": [4, 5]}, {\"weight\": 2}]");
    EXPECT_TEXT_EQ(r.messages, "");
    EXPECT_EQ_U64(r.config.parts.count, 2);
    EXPECT_EQ_U64(part_of(&r, 0)->places.items[1], 5);
    EXPECT_EQ_U64(part_of(&r, 0)->weight, 1);
    EXPECT_EQ_U64(part_of(&r, 1)->places.count, 0);
    EXPECT_EQ_U64(part_of(&r, 1)->weight, 2);
    EXPECT(json_find(r.config.parts.nodes[1], "weight") != NULL);
    done(&r);
    read_setting(&r, "\"parts\": []");
    EXPECT_EQ_U64(r.config.parts.count, 0);
    done(&r);
}

TEST(a_list_of_anything_else_is_one_block_with_that_list)
{
    struct reading r;
    read_setting(&r, "\"parts\": [7, 8]");
    EXPECT_TEXT_EQ(r.messages, "");
    EXPECT_EQ_U64(r.config.parts.count, 1);
    EXPECT_EQ_U64(part_of(&r, 0)->places.count, 2);
    EXPECT_EQ_U64(part_of(&r, 0)->places.items[1], 8);
    EXPECT_TEXT_CONTAINS(written(&r, 0), "\"parts\": {\"places\": [7, 8], \"weight\": 1}");
    done(&r);
}

TEST(blocks_are_refused_with_the_one_that_is_wrong)
{
    expect_refusal("\"parts\": 7",
                   "parts: found the number 7, expected an object, or an array of them (what it is made of)");
    expect_refusal("\"parts\": [{}, {\"weight\": 9}]", "parts[1].weight: 9 is above 5");
    expect_refusal("\"parts\": {\"wait\": 9}", "parts.wait: unknown key");
    expect_refusal("\"parts\": [7, 10]", "parts.places[1]: 10 is above 9");
    expect_refusal("\"parts\": [{}, 7]", "parts[1]: found a number, expected an object");
}
