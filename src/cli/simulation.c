/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program in miniature: settings become a network and a workload on an
 * engine, which runs until nothing is left to do.
 */
#include "cli/simulation.h"

#include "cli/cli.h"
#include "config/options.h"
#include "config/source.h"
#include "network/channel.h"
#include "network/network.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char *const sync_names[] = {"sequential", NULL};

static const struct option simulator_options[] = {
    OPTION_U64(struct simulator_config, seed, "1", 0, 9007199254740992.0, NULL, "of all random numbers"),
    OPTION_SECONDS(struct simulator_config, tick, "\"1ns\"", 1e-15, 1, "length of a tick"),
    OPTION_ENUM(struct simulator_config, sync, "\"sequential\"", sync_names, "how processes are kept in step"),
    OPTION_U32(struct simulator_config, threads, "1", 1, 1, NULL, "threads that run the simulation"),
    OPTION_END,
};

static const struct option root_options[] = {
    OPTION_BLOCK(struct simulation_config, simulator, struct simulator_config, simulator_options,
                 "time and randomness"),
    OPTION_BLOCK(struct simulation_config, network, struct network_config, network_options, "what carries the traffic"),
    OPTION_BLOCK(struct simulation_config, workload, struct workload_config, workload_options,
                 "what makes the traffic"),
    OPTION_END,
};

const struct option *simulation_rows(void) { return root_options; }

void simulation_init(struct simulation *simulation)
{
    memset(simulation, 0, sizeof *simulation);
    simulation->errors.arena = &simulation->setup;
}

bool simulation_load(struct simulation *simulation, const char *path, char **overrides, int count)
{
    const struct source source = {&simulation->setup, &simulation->errors, &simulation->files};
    simulation->json = source_load(&source, path, (const char *const *)overrides, (uint32_t)count);
    return simulation->json && simulation_read(simulation);
}

bool simulation_read(struct simulation *simulation)
{
    struct config_reader reader = {
        .arena = &simulation->setup, .errors = &simulation->errors, .files = &simulation->data};
    struct simulation_config *config = &simulation->config;
    bool is_right = config_read_first(&reader, root_options, "simulator", config, simulation->json);
    reader.tick_seconds = config->simulator.tick;
    if (!config_read(&reader, root_options, config, simulation->json) || !is_right)
        return false;
    channels_settle(&config->network, json_find(simulation->json, "network"), &simulation->setup, &simulation->errors);
    return simulation->errors.count == 0;
}

bool simulation_build(struct simulation *simulation)
{
    const struct simulation_config *config = &simulation->config;
    uint64_t seed = config->simulator.seed;
    engine_init(&simulation->engine);
    if (!network_build(&simulation->network, &config->network, &simulation->engine, &simulation->built, seed,
                       &simulation->errors))
        return false;
    simulation->network_bytes = simulation->built.bytes;
    return workload_build(&simulation->workload, &config->workload, &simulation->network, &simulation->built, seed,
                          &simulation->errors);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum outcome simulation_run(struct simulation *simulation, FILE *report)
{
    double cpu = cpu_seconds(), wall = wall_seconds();
    enum outcome outcome = workload_run(&simulation->workload, report);
    simulation->cpu_seconds = cpu_seconds() - cpu;
    simulation->wall_seconds = wall_seconds() - wall;
    return outcome;
}

void simulation_release(struct simulation *simulation)
{
    if (simulation->engine.wheel) {
        workload_release(&simulation->workload);
        network_release(&simulation->network);
        engine_release(&simulation->engine);
    }
    arena_release(&simulation->built);
    arena_release(&simulation->setup);
}
