/* SPDX-License-Identifier: Apache-2.0 */
/* Whole simulations in one process: they do not know of each other, and a second run is the first one again. */
#include "test.h"

#include "cli/simulation.h"
#include "metrics/digest.h"

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
    EXPECT(simulation_run(&alone, stderr) == OUTCOME_DONE);
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
    EXPECT(simulation_run(&first, stderr) == OUTCOME_DONE);
    EXPECT(memcmp(&first.workload.measurements[0].digest, &alone.workload.measurements[0].digest,
                  sizeof(struct digest)) == 0);
    simulation_release(&first);
    simulation_release(&alone);
    unlink(path);
}
