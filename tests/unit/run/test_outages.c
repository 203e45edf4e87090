/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures at random times, in small networks of all kinds: of the flits that enter each arrives or is counted as lost, of the
 * packets that are made each arrives or is given up, and at the end all buffers are empty and all credits back, which every
 * run looks for by itself. Who enters and arrives is counted here, apart from what the program counts.
 */
#include "test.h"

#include "run/simulation.h"

#include "flitwarp/random.h"

#include <stdio.h>
#include <string.h>

enum { RUNS = 500 };

static struct {
    struct network_listener real;
    uint64_t entered, arrived;
} heard;

static void hear_entry(void *context, tick_t now, const struct packet *packet, struct lane_place to, uint32_t flits)
{
    heard.entered += flits;
    heard.real.enter(context, now, packet, to, flits);
}

static void hear_flits(void *context, tick_t now, const struct packet *packet, uint32_t flits)
{
    heard.arrived += flits;
    heard.real.accept(context, now, packet, flits);
}

static void hear_packet(void *context, tick_t now, uint32_t packet)
{
    heard.arrived++;
    heard.real.deliver(context, now, packet);
}

static const char *const topologies[] = {
    "{\"type\": \"torus\", \"widths\": [4, 4]}",
    "{\"type\": \"mesh\", \"widths\": [3, 3]}",
    "{\"type\": \"torus\", \"widths\": [5], \"concentration\": 2}",
    "{\"type\": \"dragonfly\", \"routers\": 4, \"global\": 1}",
    "{\"type\": \"folded_clos\", \"radix\": 4, \"levels\": 2}",
};
static const char *const routers[] = {
    "\"type\": \"input_queued\", \"buffer_depth\": 8",
    "\"type\": \"input_queued\", \"buffer_depth\": 8, \"general\": true",
    "\"type\": \"input_queued\", \"buffer_depth\": 40",
    "\"type\": \"input_queued\", \"buffer_depth\": 8, \"vc_needs_credit\": true, \"cycle\": 2",
    "\"type\": \"input_queued\", \"buffer_depth\": 8, \"crossbar_flow\": \"winner_take_all\"",
    "\"type\": \"input_queued\", \"buffer_depth\": 8, \"switching\": \"virtual_cut_through\", \"routing_latency\": 2",
    "\"type\": \"packet\", \"buffer_depth\": 8",
    "\"type\": \"packet\", \"buffer_depth\": 8, \"chunk\": 64",
};
#define ONE_OF(list) list[random_below(draw, sizeof list / sizeof *list)]

/* From some tick on, and half of them not for good. */
static void write_failure(char *text, size_t size, struct random *draw)
{
    uint32_t at = random_below(draw, 500), until = at + 1 + random_below(draw, 300);
    uint32_t count = 1 + random_below(draw, 3), seed = random_below(draw, 1000);
    if (random_below(draw, 2))
        snprintf(text, size, "{\"count\": %u, \"seed\": %u, \"at\": %u, \"until\": %u}", count, seed, at, until);
    else
        snprintf(text, size, "{\"count\": %u, \"seed\": %u, \"at\": %u}", count, seed, at + 1);
}

static void write_settings(char *text, size_t size, struct random *draw)
{
    char links[2][128], failed_router[128] = "", resends[64] = "";
    static const uint32_t sizes[] = {1, 4, 7}, latencies[] = {1, 3, 20}, reactions[] = {0, 10, 100},
                          points[] = {10, 50};
    for (uint32_t i = 0; i < 2; i++)
        write_failure(links[i], sizeof links[i], draw);
    if (!random_below(draw, 4)) {
        uint32_t at = random_below(draw, 500);
        snprintf(failed_router, sizeof failed_router,
                 "\"routers\": {\"count\": 1, \"seed\": %u, \"at\": %u, \"until\": %u},", random_below(draw, 100), at,
                 at + 200);
    }
    if (random_below(draw, 3))
        snprintf(resends, sizeof resends, "\"resend_after\": %u, \"resends\": %u,", 1 + random_below(draw, 200),
                 1 + random_below(draw, 8));
    const char *topology = ONE_OF(topologies), *router = ONE_OF(routers);
    uint32_t latency = ONE_OF(latencies), reaction = ONE_OF(reactions), flits = ONE_OF(sizes), point = ONE_OF(points);
    snprintf(
        text, size,
        "{\"simulator\": {\"seed\": %u}, \"network\": {\"topology\": %s, \"routing\": \"minimal\", \"router\": {%s, "
        "\"num_vcs\": 10}, \"channel\": {\"latency\": %u}, \"failures\": {%s %s \"reaction\": %u, \"cut_off\": "
        "\"lose\", \"links\": [%s, %s, {\"count\": 1, \"bandwidth\": 1, \"bit_error_rate\": 1e-4}]}}, \"workload\": "
        "{\"check_interval\": %u, \"applications\": [{\"type\": \"blast\", \"load\": %g, \"warmup\": 0, \"sample\": "
        "500, \"finish_limit\": 3000, \"max_packet\": %u, \"size\": {\"type\": \"fixed\", \"flits\": %u}}]}}",
        random_below(draw, 1000), topology, router, latency, failed_router, resends, reaction, links[0], links[1],
        point, 0.1 + 0.4 * random_below(draw, 3), random_below(draw, 3) ? 8 : 3, flits);
}

static uint64_t lost;

static void run_once(const char *text)
{
    static struct simulation simulation;
    simulation_init(&simulation);
    bool is_built =
        simulation_load_text(&simulation, "drawn", text, strlen(text), NULL, 0) && simulation_build(&simulation);
    if (!is_built)
        errors_print(&simulation.errors, stderr);
    EXPECT(is_built);
    heard.real = simulation.network.listener;
    heard.entered = heard.arrived = 0;
    simulation.network.listener.enter = hear_entry;
    simulation.network.listener.accept = hear_flits;
    simulation.network.listener.deliver = hear_packet;
    simulation.network.is_watched = true;
    EXPECT(is_built && simulation_run(&simulation, stderr) == EXIT_DONE);
    const struct loss_counts *counts = workload_loss_counts(&simulation.workload);
    const struct measurement *m = &simulation.workload.measurements[0];
    EXPECT(counts != NULL);
    EXPECT_EQ_U64(heard.entered, heard.arrived + counts->lost_flits);
    EXPECT_EQ_U64(m->created_packets, m->delivered_packets + m->withdrawn_packets + counts->given_up);
    lost += counts->lost_flits;
    simulation_release(&simulation);
}

TEST(no_flit_is_lost_uncounted_whenever_links_and_routers_fail)
{
    struct random draw = random_stream(1, 0, RANDOM_SETUP);
    char text[2048];
    lost = 0;
    for (uint32_t i = 0; i < RUNS; i++) {
        write_settings(text, sizeof text, &draw);
        run_once(text);
    }
    EXPECT(lost > 10 * RUNS);
}
