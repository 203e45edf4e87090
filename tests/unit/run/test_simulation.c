/* SPDX-License-Identifier: Apache-2.0 */
/* Whole simulations in one process: they do not know of each other, and a second run is the first one again. */
#include "test.h"

#include "run/simulation.h"
#include "flitwarp/digest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char configuration[] =
    "{\"network\": {\"topology\": {\"type\": \"torus\", \"widths\": [4, 4]}}, \"workload\": {\"applications\": "
    "[{\"type\": \"blast\", \"load\": 0.3, \"warmup\": 200, \"sample\": 2000}]}}";

/* A configuration file with this content; the caller removes it. */
static void write_configuration(char *path)
{
    int file = mkstemp(path);
    EXPECT(file >= 0 && write(file, configuration, strlen(configuration)) == (ssize_t)strlen(configuration));
    close(file);
}

static bool make(struct simulation *simulation, const char *path, char *override)
{
    simulation_init(simulation);
    return simulation_load(simulation, path, &override, override ? 1 : 0) && simulation_build(simulation);
}

TEST(two_simulations_live_in_one_process)
{
    char path[] = "/tmp/flitwarp-test-XXXXXX";
    write_configuration(path);
    static struct simulation alone, first, second;
    EXPECT(make(&alone, path, NULL));
    EXPECT(simulation_run(&alone, stderr) == EXIT_DONE);
    EXPECT(make(&first, path, NULL) && make(&second, path, "simulator.seed=2"));
    /* Their ticks interleave: each is stopped in the middle while the other goes on. */
    for (uint32_t i = 0; i < 2; i++) {
        struct simulation *simulation = i ? &second : &first;
        simulation->workload.applications[0].ops->begin(&simulation->workload.applications[0]);
    }
    for (tick_t tick = 100; tick <= 1000; tick += 100) {
        engine_run(&first.engine, tick);
        engine_run(&second.engine, tick);
    }
    EXPECT(first.network.in_network > 0 && second.network.in_network > 0);
    simulation_release(&second);
    simulation_release(&first);
    EXPECT(make(&first, path, NULL));
    EXPECT(simulation_run(&first, stderr) == EXIT_DONE);
    EXPECT(memcmp(&first.workload.measurements[0].digest, &alone.workload.measurements[0].digest,
                  sizeof(struct digest)) == 0);
    simulation_release(&first);
    simulation_release(&alone);
    unlink(path);
}

/* Notes what received() is told, then passes it on. */
static const struct application_ops *heard_ops;
static struct {
    tick_t now;
    struct message message;
    uint32_t together; /* with the one before, at the same rank and tick */
    uint32_t requests, replies, wrong;
} heard;

static void hear(struct application *application, uint32_t rank, const struct message *message, tick_t now)
{
    const struct message *last = &heard.message;
    if (heard.now == now && last->destination == message->destination) {
        heard.together++;
        bool is_after =
            last->source < message->source || (last->source == message->source && last->number < message->number);
        heard.wrong += !is_after;
    }
    heard.wrong += message->packets_here != 1 || message->destination != rank || message->transaction_messages != 2;
    heard.wrong += message->initiator != application->terminals[message->is_reply ? rank : message->source];
    heard.requests += !message->is_reply;
    heard.replies += message->is_reply;
    heard.now = now;
    heard.message = *message;
    heard_ops->received(application, rank, message, now);
}

TEST(applications_hear_of_whole_messages_by_source_and_number)
{
    char path[] = "/tmp/flitwarp-test-XXXXXX";
    write_configuration(path);
    static struct simulation simulation;
    simulation_init(&simulation);
    char *overrides[] = {
        "network.topology={\"type\": \"single_router\", \"terminals\": 8}",
        "network.routing=minimal",
        "network.interface.ejection_channels=4",
        "workload.applications.0={\"type\": \"blast\", \"load\": 0.3, \"max_packet\": 2, \"size\": {\"type\": "
        "\"uniform\", "
        "\"max\": 4}, \"reply\": {\"type\": \"uniform\", \"max\": 3}, \"warmup\": 200, \"sample\": 2000}",
        "workload.applications.0.traffic={\"type\": \"hotspot\", \"terminals\": [0, 1], \"share\": 0.8}",
    };
    EXPECT(simulation_load(&simulation, path, overrides, 5) && simulation_build(&simulation));
    struct application *application = &simulation.workload.applications[0];
    struct application_ops ops = *application->ops;
    heard_ops = application->ops;
    ops.received = hear;
    application->ops = &ops;
    EXPECT(simulation_run(&simulation, stderr) == EXIT_DONE);
    EXPECT(heard.together > 20);
    EXPECT(heard.requests > 500 && heard.replies > 500);
    EXPECT_EQ_U64(heard.wrong, 0);
    EXPECT_EQ_U64(simulation.workload.parts[0].messages.taken, 0);
    simulation_release(&simulation);
    unlink(path);
}
