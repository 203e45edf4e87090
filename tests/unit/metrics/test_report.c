/* SPDX-License-Identifier: Apache-2.0 */
/* A table of results, as somebody would write it for a struct of their own: what follows from each row. */
#include "metrics/report.h"

#include "flitwarp/arena.h"
#include "test.h"

struct queue {
    uint64_t drops;
    struct histogram waits;
};
struct counted {
    uint64_t packets, flits;
    struct histogram latency;
    uint32_t queues;
    struct queue *by_queue;
    uint32_t ports;
    uint64_t *by_port;
    bool has_flits;
};

static const struct result queue_rows[] = {
    RESULT_SUM(struct queue, drops, "drops", NULL, "packets dropped"),
    RESULT_SAMPLES(struct queue, waits, SUMMARY, "waits", "ticks", "in the queue"),
    RESULT_END,
};
static bool has_flits(const void *record) { return ((const struct counted *)record)->has_flits; }
static const struct result counted_rows[] = {
    RESULT("share", NUMBER, NULL, "of what there is"),
    RESULT_SUM(struct counted, packets, "packets", NULL, "that came by"),
    {.type = RESULT_TYPE_OWN, .kind = "test_shape"},
    RESULT_SUM(struct counted, flits, "flits", "flits", "that came by", .is_shown = has_flits),
    RESULT_SAMPLES(struct counted, latency, SUMMARY, "latency", "ticks", "of packets"),
    RESULT_HIDDEN_ARRAY(struct counted, by_port, ports, SUMS),
    RESULT_HIDDEN_RECORDS(struct counted, by_queue, queues, struct queue, queue_rows),
    RESULT_END,
};

static struct counted *counted_create(struct arena *arena)
{
    struct counted *counted = arena_array(arena, struct counted, 1);
    counted->queues = 2;
    counted->by_queue = arena_array(arena, struct queue, 2);
    counted->ports = 3;
    counted->by_port = arena_array(arena, uint64_t, 3);
    return counted;
}

TEST(a_row_puts_what_parts_have_counted_together)
{
    struct arena arena = {0};
    struct counted *whole = counted_create(&arena), *parts[2] = {counted_create(&arena), counted_create(&arena)};
    for (uint32_t i = 0; i < 2; i++) {
        parts[i]->packets = 10 + i;
        parts[i]->by_port[2] = 7;
        parts[i]->by_queue[1].drops = 3 + i;
        histogram_add(&parts[i]->latency, 100 * (i + 1));
        histogram_add(&parts[i]->by_queue[0].waits, 5 + i);
    }
    for (uint32_t round = 0; round < 2; round++) { /* at grid points counts are put together anew */
        results_forget(counted_rows, RESULT_AT_GRID_POINTS, whole);
        for (uint32_t i = 0; i < 2; i++)
            results_merge(counted_rows, RESULT_AT_GRID_POINTS, whole, parts[i]);
    }
    EXPECT_EQ_U64(whole->packets, 21);
    EXPECT_EQ_U64(whole->by_queue[1].drops, 7);
    EXPECT_EQ_U64(histogram_count(&whole->latency), 0); /* which waits for the end, as arrays do */
    for (uint32_t i = 0; i < 2; i++)
        results_merge(counted_rows, RESULT_AT_END, whole, parts[i]);
    EXPECT_EQ_U64(whole->packets, 21);
    EXPECT_EQ_U64(whole->by_port[2], 14);
    EXPECT_EQ_U64(histogram_max(&whole->latency), 200);
    EXPECT_EQ_U64(histogram_count(&whole->by_queue[0].waits), 2);
    arena_release(&arena);
}

TEST(a_report_has_its_keys_in_the_order_of_the_rows)
{
    struct arena arena = {0};
    struct counted *counted = counted_create(&arena);
    struct report report = {.block = json_object(&arena), .arena = &arena, .rows = counted_rows};
    counted->packets = 5;
    report_count(&report, "sides", 4); /* a component's own */
    report_count(&report, "corners", 3);
    report_number(&report, "share", 0.5);
    report_finish(&report, counted);
    static const char *const keys[] = {"share", "packets", "sides", "corners", "latency"};
    const struct json *child = report.block->first;
    for (uint32_t i = 0; i < 5; i++, child = child->next)
        EXPECT_TEXT_EQ(child->key, keys[i]);
    EXPECT(!child); /* flits are not shown */
    EXPECT_TEXT_EQ(json_find(report.block, "packets")->text, "5");
    EXPECT(json_find(json_find(report.block, "latency"), "mean")->type == JSON_NULL);
    arena_release(&arena);
}
