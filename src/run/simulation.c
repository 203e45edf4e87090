/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program in miniature: settings become a network and a workload on an
 * engine, which runs until nothing is left to do.
 */
#include "run/simulation.h"

#include "device/lockstep.h"

#include "base/rewind.h"
#include "config/options.h"
#include "config/source.h"
#include "network/network.h"
#include "network/parallel/parts.h"

#include <string.h>
#include <unistd.h>

static const char *const sync_names[] = {"sequential", "conservative", "optimistic", NULL};

const char *sync_name(uint32_t sync) { return sync_names[sync]; }

static const struct option simulator_options[] = {
    OPTION_U64(struct simulator_config, seed, "1", 0, 9007199254740992.0, NULL, "of all random numbers"),
    OPTION_SECONDS(struct simulator_config, tick, "\"1ns\"", 1e-15, 1, "length of a tick"),
    OPTION_ENUM(
        struct simulator_config, sync, "\"sequential\"", sync_names,
        "how threads are kept in step: there is one, they wait for each other, or they undo what was too early"),
    OPTION_U32(struct simulator_config, threads, "1", 1, 256, NULL, "threads that run the simulation"),
    OPTION_ENUM(struct simulator_config, partition, "\"blocks\"", partition_names,
                "which thread runs a router of a network: neighbours by their numbers, or as METIS finds"),
    OPTION_U32(struct simulator_config, partitions, "16", 1, 4096, NULL,
               "of a thread: what optimistic runs of a model roll back as a whole"),
    OPTION_U64(struct simulator_config, window, "0", 0, 1e18, "ticks",
               "how far optimistic runs go ahead of the slowest; 0: as far as pays"),
    OPTION_BOOL(struct simulator_config, check_reversal, "false",
                "undo every event once and handle it again; optimistic, one thread"),
    OPTION_TEXT(struct simulator_config, device, "null",
                "opencl or opencl:N: the network runs on an OpenCL device, by its number in `flitwarp list device`"),
    OPTION_U32(struct simulator_config, device_team, "0", 0, 32, NULL, "work-items of a router", HIDDEN),
    OPTION_U32(struct simulator_config, device_group, "0", 0, 1024, NULL, "work-items of a group", HIDDEN),
    OPTION_U32(struct simulator_config, device_registers, "0", 0, 255, NULL, "of a work-item, at most", HIDDEN),
    OPTION_END,
};

static const struct option simulator_block[] = {
    OPTION_BLOCK(struct simulation_config, simulator, struct simulator_config, simulator_options,
                 "time, randomness and how to run"),
    OPTION_END,
};
/* With a network. */
static const struct option network_root_options[] = {
    OPTION_ROWS_OF(simulator_block),
    OPTION_BLOCK(struct simulation_config, network, struct network_config, network_options, "what carries the traffic"),
    OPTION_BLOCK(struct simulation_config, workload, struct workload_config, workload_options,
                 "what makes the traffic"),
    OPTION_END,
};
/* With a model, which has no network and no workload. */
static const struct option model_root_options[] = {
    OPTION_ROWS_OF(simulator_block),
    OPTION_CHOICE(struct simulation_config, model, "model", REQUIRED, "processes that exchange events"),
    OPTION_END,
};
const struct option simulation_options[] = {
    OPTION_ROWS_OF(network_root_options),
    OPTION_CHOICE(struct simulation_config, model, "model", "null", "processes of its own in place of a network"),
    OPTION_END,
};

void simulation_init(struct simulation *simulation)
{
    memset(simulation, 0, sizeof *simulation);
    simulation->errors.arena = &simulation->setup;
    simulation->files = json_array(&simulation->setup);
    simulation->data = json_array(&simulation->setup);
}

/* What is no JSON may be another simulator's. */
static void hint_at_import(struct simulation *simulation, const char *path)
{
    const char *end = strrchr(path, '.');
    bool has_ending = end && end[1] && !strchr(end, '/'); /* "." is a folder */
    if (has_ending && strcmp(end, ".json") != 0 && access(path, R_OK) == 0)
        errors_add(&simulation->errors,
                   "configurations of other simulators are read by `flitwarp import %s -o FILE.json`", path);
}

bool simulation_load(struct simulation *simulation, const char *path, char **overrides, int count)
{
    const struct source source = {&simulation->setup, &simulation->errors, simulation->files};
    simulation->json = source_load(&source, path, (const char *const *)overrides, (uint32_t)count);
    if (!simulation->json)
        hint_at_import(simulation, path);
    return simulation->json && simulation_read(simulation);
}

bool simulation_load_text(struct simulation *simulation, const char *name, const char *bytes, size_t size,
                          char **overrides, int count)
{
    const struct source source = {&simulation->setup, &simulation->errors, simulation->files};
    simulation->json = source_read(&source, name, bytes, size, (const char *const *)overrides, (uint32_t)count);
    return simulation->json && simulation_read(simulation);
}

bool simulation_read(struct simulation *simulation)
{
    struct config_reader reader = {
        .arena = &simulation->setup, .errors = &simulation->errors, .files = simulation->data};
    struct simulation_config *config = &simulation->config;
    const struct option *rows = json_find(simulation->json, "model") ? model_root_options : network_root_options;
    bool is_right = config_read_first(&reader, rows, "simulator", config, simulation->json);
    reader.tick_seconds = config->simulator.tick;
    if (!config_read(&reader, rows, config, simulation->json) || !is_right)
        return false;
    if (rows == network_root_options)
        channels_settle(&config->network, json_find(simulation->json, "network"), &simulation->setup,
                        &simulation->errors);
    return simulation->errors.count == 0;
}

/* Whether a network can be run as it is asked to. */
static bool simulation_check_sync(struct simulation *simulation)
{
    const struct simulator_config *simulator = &simulation->config.simulator;
    const struct json *block = json_find(simulation->json, "simulator");
    uint32_t before = simulation->errors.count;
    if (simulator->sync == SYNC_SEQUENTIAL && simulator->threads > 1)
        node_error(&simulation->errors, block, "threads",
                   "%u threads need \"sync\": \"conservative\" or \"optimistic\"; sequential runs on 1",
                   simulator->threads);
    if (simulator->sync == SYNC_SEQUENTIAL && simulation->ranks)
        node_error(&simulation->errors, block, "sync",
                   "found 'sequential' with %u ranks, expected 'conservative' or 'optimistic' (or one rank)",
                   simulation->ranks->count);
    if (simulator->check_reversal &&
        (simulator->sync != SYNC_OPTIMISTIC || simulator->threads > 1 || simulation->ranks))
        node_error(&simulation->errors, block, "check_reversal",
                   "found true, which needs \"sync\": \"optimistic\", 1 thread and 1 rank");
    return simulation->errors.count == before;
}

/* The number of the device that is asked for. */
static bool read_device(struct simulation *simulation, uint32_t *number)
{
    const char *word = simulation->config.simulator.device, *digits = word + strlen("opencl:");
    char *end = NULL;
    *number = 0;
    bool is_named = strncmp(word, "opencl:", strlen("opencl:")) == 0 && *digits >= '0' && *digits <= '9';
    unsigned long given = is_named ? strtoul(digits, &end, 10) : 0;
    *number = (uint32_t)given;
    if (strcmp(word, "opencl") == 0 || (is_named && !*end && given < UINT16_MAX))
        return true;
    return node_error(&simulation->errors, json_find(simulation->json, "simulator"), "device",
                      "found '%s', expected \"opencl\" or \"opencl:NUMBER\"", word);
}

/* The device that is asked for, if one is, and whether it can run what has been built. */
static bool find_device(struct simulation *simulation)
{
    const struct simulator_config *simulator = &simulation->config.simulator;
    uint32_t number;
    if (!simulator->device)
        return true;
    if (simulator->sync != SYNC_SEQUENTIAL || simulation->ranks)
        return node_error(&simulation->errors, json_find(simulation->json, "simulator"), "device",
                          "a device runs alone; accepted: \"sync\": \"sequential\", and one rank");
    if (!read_device(simulation, &number))
        return false;
    simulation->lockstep = lockstep_create(&simulation->network, &simulation->workload, number, simulation->batch,
                                           &simulation->built, &simulation->errors);
    if (simulation->lockstep)
        simulation->lockstep->asked =
            (struct lockstep_sharing){simulator->device_team, simulator->device_group, simulator->device_registers};
    return simulation->lockstep;
}

bool simulation_build(struct simulation *simulation)
{
    const struct simulation_config *config = &simulation->config;
    uint64_t seed = config->simulator.seed;
    if (config->model.component)
        return choice_error(&simulation->errors, &config->model, NULL,
                            "found a model, expected a network and a workload");
    if (!simulation_check_sync(simulation))
        return false;
    const struct network_split split = {.parts = config->simulator.threads,
                                        .ranks = simulation->ranks,
                                        .method = (enum partition_method)config->simulator.partition,
                                        .window = config->simulator.window,
                                        .checks_reversal = config->simulator.check_reversal,
                                        .is_for_device = config->simulator.device};
    if (config->simulator.sync ==
        SYNC_OPTIMISTIC) { /* what a run changes can be put back: it, and what holds on to it */
        simulation->rewind = simulation->built.rewind = rewind_create();
        rewind_add(simulation->rewind, &simulation->built, sizeof simulation->built);
        rewind_add(simulation->rewind, &simulation->engine, sizeof simulation->engine);
        rewind_add(simulation->rewind, &simulation->network, sizeof simulation->network);
        rewind_add(simulation->rewind, &simulation->workload, sizeof simulation->workload);
    }
    simulation->built.is_sparse = simulation->ranks; /* of all routers and terminals a rank builds its own */
    engine_init(&simulation->engine, simulation->rewind);
    if (!network_build(&simulation->network, &config->network, &simulation->engine, &simulation->built, seed, &split,
                       &simulation->errors))
        return false;
    return workload_build(&simulation->workload, &config->workload, &simulation->network, &simulation->built,
                          config->simulator.tick, seed, &simulation->errors) &&
           find_device(simulation);
}

/* Others that a device does beside it wait until it comes, or it is known that it will not. */
static void leave_batch(struct simulation *simulation)
{
    if (simulation->batch)
        lockstep_batch_leave(simulation->batch);
    simulation->batch = NULL;
}

bool simulation_make_ready(struct simulation *simulation)
{
    if (!simulation->lockstep) {
        leave_batch(simulation);
        return true;
    }
    simulation->batch = NULL;
    return lockstep_start(simulation->lockstep);
}

void simulation_make_sequential(struct simulation *simulation)
{
    struct simulator_config *simulator = &simulation->config.simulator;
    simulator->sync = SYNC_SEQUENTIAL;
    simulator->threads = 1;
    simulator->check_reversal = false;
    simulator->device = NULL;
}

int simulation_run(struct simulation *simulation, FILE *report)
{
    stopwatch_start(&simulation->watch);
    enum outcome outcome = workload_run(&simulation->workload, report);
    simulation_add_up(simulation);
    return outcome == OUTCOME_DONE ? EXIT_DONE : outcome == OUTCOME_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_SIMULATION;
}

void simulation_add_up(struct simulation *simulation)
{
    struct stopwatch *watch = &simulation->watch;
    stopwatch_note(watch);
    simulation->cpu_seconds = ranks_sum(simulation->ranks, watch->cpu);
    simulation->wall_seconds = watch->wall;
    simulation->peak_bytes = (uint64_t)ranks_sum(simulation->ranks, (double)watch->peak);
    simulation->largest_bytes = ranks_largest(simulation->ranks, watch->peak);
}

void simulation_release(struct simulation *simulation)
{
    leave_batch(simulation);
    lockstep_release(simulation->lockstep);
    if (simulation->engine.wheel) {
        workload_release(&simulation->workload);
        network_release(&simulation->network);
        engine_release(&simulation->engine);
    }
    arena_release(&simulation->built);
    rewind_release(simulation->rewind);
    arena_release(&simulation->setup);
}
