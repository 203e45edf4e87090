/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that are stepped and looked at: the same digest as without, by any steps;
 * and every flit is in one place, whichever architecture the routers have.
 */
#include "test.h"

#include "flitwarp/shown.h"
#include "network/network.h"
#include "run/simulation.h"
#include "flitwarp/digest.h"
#include "flitwarp/random.h"
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

static const char mesh[] =
    "{\"network\": {\"topology\": {\"type\": \"mesh\", \"widths\": [3, 3]}}, \"workload\": {\"check_interval\": 50, "
    "\"applications\": [{\"type\": \"blast\", \"load\": 0.4, \"size\": {\"type\": \"fixed\", \"flits\": 3}, "
    "\"warmup\": 100, \"sample\": 400}]}}";

static bool make(struct simulation *simulation, char *override)
{
    simulation_init(simulation);
    return simulation_load_text(simulation, "mesh", mesh, sizeof mesh - 1, &override, override ? 1 : 0) &&
           simulation_build(simulation);
}

static const struct watch_stop never = {.router = FW_NONE, .source = FW_NONE, .seconds = 1e9};

/* ---- every flit in one place ---- */

/* By packet handle and position: how often it was seen. */
struct census {
    const struct network *network;
    uint8_t seen[4096][3];
    uint32_t doubled;
};

static void count_flit(struct census *census, uint32_t packet, uint32_t position)
{
    EXPECT(packet < 4096 && position < 3);
    census->doubled += census->seen[packet % 4096][position % 3]++ != 0;
}

static void count_event(void *context, tick_t when, const void *event)
{
    struct census *census = context;
    const struct flit_event *flit = event;
    const struct packet *packet = network_packet(census->network, flit->flit.packet);
    uint32_t first = flit->flit.place & FLIT_POSITION;
    uint32_t flits =
        census->network->plan.transfer.chunk ? transfer_flits(&census->network->plan.transfer, packet, first) : 1;
    (void)when;
    for (uint32_t i = 0; i < flits; i++)
        count_flit(census, flit->flit.packet, first + i);
}

/*
 * Flits in buffers, in queues and on channels are those that have entered and not been received. So of each packet they are
 * those from the first that is not received up to the last, but for one packet of each terminal that still enters.
 */
static void expect_each_flit_once(struct watch *watch)
{
    static struct census census;
    const struct network *network = watch->network;
    memset(&census, 0, sizeof census);
    census.network = network;
    engine_visit(network->engine, EVENT_FLIT, count_event, &census);
    engine_visit(network->engine, EVENT_TERMINAL_FLIT, count_event, &census);
    for (uint32_t router = 0; router < network->topology.routers; router++) {
        network_show(network, router, &watch->shown);
        for (uint32_t i = 0; i < watch->shown.run_count; i++)
            for (uint32_t flit = 0; flit < watch->shown.runs[i].flits; flit++)
                count_flit(&census, watch->shown.runs[i].packet, watch->shown.runs[i].position + flit);
    }
    EXPECT_EQ_U64(census.doubled, 0);
    uint32_t there = 0, entering = 0, torn = 0;
    for (uint32_t handle = 0; handle < 4096; handle++) {
        const uint8_t *seen = census.seen[handle];
        if (!seen[0] && !seen[1] && !seen[2])
            continue;
        uint32_t received = network_packet(network, handle)->received;
        there++;
        entering += !seen[2];
        for (uint32_t i = 0; i < 3; i++)
            torn += seen[i] ? i < received : i >= received && i < 2 && seen[i + 1];
    }
    EXPECT_EQ_U64(torn, 0);
    EXPECT(entering <= network->topology.terminals);
    EXPECT(there <= network->in_network && there + network->topology.terminals >= network->in_network);
}

static void watch_whole_run(char *override)
{
    static struct simulation stepped, plain;
    static struct watch watch;
    struct random random = random_stream(7, 7, 7);
    EXPECT(make(&plain, override) && make(&stepped, override));
    EXPECT(simulation_run(&plain, stderr) == EXIT_DONE);
    watch_init(&watch, &stepped.workload);
    uint32_t steps = 0;
    for (; !stepped.workload.is_over && steps < 2000; steps++) {
        watch_run(&watch, watch.now + 1 + random_below(&random, 7), &never);
        expect_each_flit_once(&watch);
    }
    EXPECT(steps > 50 && steps < 2000);
    workload_end(&stepped.workload, stderr);
    EXPECT(stepped.workload.outcome == OUTCOME_DONE);
    EXPECT(memcmp(&stepped.workload.measurements[0].digest, &plain.workload.measurements[0].digest,
                  sizeof(struct digest)) == 0);
    EXPECT_EQ_U64(watch_count(&watch).delivered, plain.workload.measurements[0].delivered_packets);
    watch_release(&watch);
    simulation_release(&stepped);
    simulation_release(&plain);
}

TEST(stepping_an_input_queued_mesh_changes_nothing) { watch_whole_run(NULL); }
TEST(stepping_an_output_queued_mesh_changes_nothing)
{
    watch_whole_run("network.router={\"type\": \"output_queued\", \"num_vcs\": 2}");
}
TEST(stepping_an_input_output_queued_mesh_changes_nothing)
{
    watch_whole_run("network.router={\"type\": \"input_output_queued\", \"num_vcs\": 2}");
}
TEST(stepping_a_packet_mesh_changes_nothing)
{
    watch_whole_run("network.router={\"type\": \"packet\", \"num_vcs\": 2}");
}
TEST(stepping_an_omnipath_mesh_changes_nothing)
{
    watch_whole_run("network.router={\"type\": \"omnipath\", \"num_vcs\": 2}");
}
TEST(stepping_a_simured_mesh_changes_nothing)
{
    watch_whole_run("network.router={\"type\": \"simured\", \"num_vcs\": 2}");
}
TEST(stepping_a_slow_clock_changes_nothing) { watch_whole_run("network.channel.cycle=3"); }

/* A plugin's router, say. */
TEST(a_router_that_does_not_show_itself_is_seen_empty)
{
    static struct simulation simulation;
    static struct watch watch;
    EXPECT(make(&simulation, NULL));
    watch_init(&watch, &simulation.workload);
    watch_run(&watch, 200, &never);
    struct network *network = &simulation.network;
    const struct router_ops *ops = network->core->router_ops;
    struct router_ops without = *ops;
    struct waiting waiting;
    without.look = NULL;
    without.lane_flits = NULL;
    uint32_t seen = 0;
    for (uint32_t router = 0; router < network->topology.routers; router++)
        for (uint32_t lane = 0; lane < watch.shown.lanes; lane++) {
            network_show(network, router, &watch.shown);
            seen += watch.shown.inputs[lane].queue.flits;
            bool is_usable = watch.shown.outputs[lane].is_usable;
            network->core->router_ops = &without;
            network_show(network, router, &watch.shown);
            EXPECT(watch.shown.inputs[lane].state == SHOWN_IDLE && !watch.shown.inputs[lane].queue.flits);
            EXPECT(watch.shown.outputs[lane].is_usable == is_usable);
            EXPECT(!network_waits_for(network, router, lane, &waiting) && !network_lane_flits(network, router, lane));
            network->core->router_ops = ops;
        }
    EXPECT(seen > 5);
    watch_release(&watch);
    simulation_release(&simulation);
}

/* Looked at tick by tick, each flit crosses each router on its way once. */
static void expect_crossings_to_be_hops(char *override)
{
    static struct simulation simulation;
    static struct watch watch;
    EXPECT(make(&simulation, override));
    watch_init(&watch, &simulation.workload);
    struct network *network = &simulation.network;
    uint64_t crossings = 0;
    while (!simulation.workload.is_over && watch.now < 5000) {
        watch_run(&watch, watch.now + 1, &never);
        for (uint32_t router = 0; router < network->topology.routers; router++) {
            network_show(network, router, &watch.shown);
            watch_crossings(&watch, router);
            crossings += watch.crossing_count;
        }
    }
    EXPECT_EQ_U64(crossings, network_count(network).flit_hops);
    watch_release(&watch);
    simulation_release(&simulation);
}

TEST(a_flit_is_seen_to_cross_each_router_of_its_way_once) { expect_crossings_to_be_hops(NULL); }
TEST(crossings_are_seen_where_allocation_is_in_the_same_tick)
{
    expect_crossings_to_be_hops("network.router={\"type\": \"input_queued\", \"num_vcs\": 2, \"routing_latency\": 0, "
                                "\"vc_allocation_latency\": 0, \"switch_allocation_latency\": 0, "
                                "\"crossbar_latency\": 0}");
}

/* ---- stops ---- */

TEST(a_step_ends_at_the_next_event_of_a_packet_and_of_a_router)
{
    static struct simulation simulation;
    static struct watch watch;
    uint32_t handle;
    EXPECT(make(&simulation, "workload.applications.0.load=0.05"));
    watch_init(&watch, &simulation.workload);
    /* The first packet of terminal 0 that comes by. Its hops are events that the watch notes on its own. */
    struct watch_stop stop = {.router = FW_NONE, .source = 0, .sequence = 0, .seconds = 1e9};
    EXPECT(watch_run(&watch, 1000, &stop));
    tick_t entered = watch.now;
    EXPECT(entered > 0 && entered < 1000);
    while (watch.now < 1000 && !watch_path(&watch, 0, 0, &handle))
        watch_run(&watch, 1000, &stop);
    const struct watched_path *path = watch_path(&watch, 0, 0, &handle);
    EXPECT(path && path->count == 1 && path->hops[0].router == 0);
    /* A channel of latency 1 from the terminal: what was sent in the tick before `entered` arrives in the one after. */
    EXPECT(path && path->hops[0].when == entered && watch.now == entered + 1);
    stop = (struct watch_stop){.router = 4, .source = FW_NONE, .seconds = 1e9};
    tick_t before = watch.now;
    EXPECT(watch_run(&watch, 5000, &stop) && watch.now > before && watch.now < 5000);
    watch_release(&watch);
    simulation_release(&simulation);
}

TEST(windows_of_a_series_add_up_to_the_whole)
{
    static struct simulation simulation;
    static struct watch watch;
    EXPECT(make(&simulation, NULL));
    watch_init(&watch, &simulation.workload);
    watch_run(&watch, 300, &never);
    EXPECT_EQ_U64(watch.point_count, 3);
    double accepted = 0, offered = 0;
    for (uint32_t i = 0; i < watch.point_count; i++) {
        accepted += watch.points[i].accepted * 100 * 9;
        offered += watch.points[i].offered * 100 * 9;
    }
    EXPECT_NEAR(accepted, (double)watch_count(&watch).accepted, 1e-6);
    EXPECT_NEAR(offered, (double)watch_count(&watch).offered, 1e-6);
    watch_release(&watch);
    simulation_release(&simulation);
}

TEST(frames_of_a_recording_tell_every_flit_once_when_it_is_sent)
{
    static struct simulation simulation;
    static struct watch watch;
    struct recorder recorder;
    struct text out = {0};
    EXPECT(make(&simulation, NULL));
    watch_init(&watch, &simulation.workload);
    recorder_init(&recorder, &watch);
    watch_run(&watch, 150, &never);
    write_open(&out, '{');
    recorder_write(&recorder, &out);
    EXPECT(strstr(out.chars, "\"links\":[["));
    out.length = 0;
    write_open(&out, '{');
    recorder_write(&recorder, &out); /* of the same tick: nothing has changed */
    EXPECT(strstr(out.chars, "\"links\":[],"));
    EXPECT(strstr(out.chars, "\"utilisation\"") == NULL);
    recorder_begin_chunk(&recorder);
    out.length = 0;
    write_open(&out, '{');
    recorder_write(&recorder, &out);
    EXPECT(strstr(out.chars, "\"links\":[[") && strstr(out.chars, "\"utilisation\""));
    text_release(&out);
    recorder_release(&recorder);
    watch_release(&watch);
    simulation_release(&simulation);
}
