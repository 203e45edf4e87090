/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements of two parts of a network, merged, against one that saw everything. */
#include "metrics/measurement.h"

#include "flitwarp/arena.h"
#include "flitwarp/random.h"
#include "test.h"

#include <string.h>

enum { TERMINALS = 8, INTERVAL = 100 };

static const uint8_t class_level[] = {0, 1, 1};

static struct measurement *make(struct arena *arena)
{
    struct measurement *m = arena_array(arena, struct measurement, 1);
    measurement_init(m, arena, TERMINALS, INTERVAL);
    measurement_keep_rates(m, INTERVAL, NULL);
    measurement_keep_levels(m, 2, class_level, arena);
    return m;
}

static void see(struct measurement *m, const struct packet *packet, tick_t now)
{
    m->created_packets++;
    m->created_flits += packet->size;
    m->accepted_flits += packet->size;
    m->accepted_from[packet->source] += packet->size;
    m->delivered_packets++;
    m->latency_sum += now - packet->created;
    measurement_watch_created(m, packet->created, packet->source, 1, packet->size, packet->protocol);
    measurement_watch_flits(m, now, packet, packet->size);
    measurement_watch_packet(m, now, packet);
    measurement_add(m, packet, now, packet->created, packet->hops / 2, true);
}

TEST(parts_of_a_measurement_merge_to_the_whole)
{
    struct arena arena = {0};
    struct measurement *whole = make(&arena), *parts[2] = {make(&arena), make(&arena)}, *sum = make(&arena);
    struct random random = random_stream(7, 0, RANDOM_PLUGIN);
    for (uint32_t i = 0; i < 5000; i++) {
        struct packet packet = {.created = random_below(&random, 100000),
                                .source = random_below(&random, TERMINALS),
                                .destination = random_below(&random, TERMINALS),
                                .size = 1 + random_below(&random, 9),
                                .sequence = i,
                                .hops = (uint16_t)random_below(&random, 12),
                                .sampled = true,
                                .protocol = random_below(&random, 3) & 3u};
        packet.injected = packet.created + random_below(&random, 50);
        tick_t now = packet.injected + random_below(&random, 3000);
        see(whole, &packet, now);
        see(parts[random_below(&random, 2)], &packet, now);
    }
    for (uint32_t round = 0; round < 2; round++) { /* counted at one grid point, and at the next */
        results_forget(application_results, RESULT_AT_GRID_POINTS, sum);
        results_forget(application_results, RESULT_AT_WINDOW_ENDS, sum);
        for (uint32_t i = 0; i < 2; i++) {
            results_merge(application_results, RESULT_AT_GRID_POINTS, sum, parts[i]);
            results_merge(application_results, RESULT_AT_WINDOW_ENDS, sum, parts[i]);
        }
    }
    for (uint32_t i = 0; i < 2; i++)
        results_merge(application_results, RESULT_AT_END, sum, parts[i]);
    EXPECT_EQ_U64(sum->created_flits, whole->created_flits);
    uint64_t packets = 0, flits = 0;
    for (uint32_t level = 0; level < 2; level++) {
        const struct level_count *a = &sum->by_level[level], *b = &whole->by_level[level];
        EXPECT_EQ_U64(a->packets, b->packets);
        EXPECT_EQ_U64(a->created_flits, b->created_flits);
        EXPECT_EQ_U64(a->accepted_flits, b->accepted_flits);
        EXPECT(memcmp(&a->packet_latency, &b->packet_latency, sizeof a->packet_latency) == 0);
        EXPECT(memcmp(&a->network_latency, &b->network_latency, sizeof a->network_latency) == 0);
        packets += a->packets;
        flits += a->accepted_flits;
    }
    EXPECT_EQ_U64(packets, 5000);
    EXPECT_EQ_U64(flits, whole->accepted_flits);
    EXPECT_NEAR((double)sum->by_level[1].packets, 2.0 / 3 * 5000, 150); /* two classes of three */
    EXPECT_EQ_U64(sum->accepted_flits, whole->accepted_flits);
    EXPECT_EQ_U64(sum->sampled_delivered, 5000);
    EXPECT_EQ_U64(sum->nonminimal, whole->nonminimal);
    EXPECT(memcmp(sum->accepted_from, whole->accepted_from, sizeof(uint64_t) * TERMINALS) == 0);
    EXPECT(memcmp(&sum->digest, &whole->digest, sizeof sum->digest) == 0);
    EXPECT(memcmp(&sum->packet_latency, &whole->packet_latency, sizeof(struct histogram)) == 0);
    EXPECT(memcmp(&sum->detours, &whole->detours, sizeof(struct histogram)) == 0);
    struct estimate a = batch_means_estimate(&sum->batches), b = batch_means_estimate(&whole->batches);
    EXPECT(a.mean == b.mean && a.half_width == b.half_width);
    EXPECT_EQ_U64(sum->series.count, whole->series.count);
    EXPECT(memcmp(sum->series.bytes, whole->series.bytes, sizeof(struct series_bin) * sum->series.count) == 0);
    EXPECT_EQ_U64(sum->rates.count, whole->rates.count);
    EXPECT(memcmp(sum->rates.bytes, whole->rates.bytes, sizeof(struct rate_bin) * TERMINALS * sum->rates.count) == 0);
    measurement_release(whole);
    measurement_release(parts[0]);
    measurement_release(parts[1]);
    measurement_release(sum);
    arena_release(&arena);
}
