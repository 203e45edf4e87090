/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * One simulation from configuration to results: load, build, run, results,
 * release. Two can live in one process.
 */
#include "workload/workload.h"

#include "base/machine.h"
#include "config/source.h"
#include "config/json.h"
#include "engine/process_run.h"

struct simulator_config {
    uint64_t seed;
    double tick; /* seconds */
    uint32_t sync, threads;
    uint32_t partition;  /* of a network */
    uint32_t partitions; /* of a model: of a thread, optimistic */
    uint64_t window;     /* ticks ahead of the slowest, optimistic */
    bool check_reversal;
    /* Hidden, for tests and those who measure; 0: as suits the device. */
    uint32_t device_team, device_group, device_registers;
    const char *device; /* NULL: this machine's processors */
};

struct simulation_config {
    struct simulator_config simulator;
    struct network_config network;
    struct workload_config workload;
    struct choice model; /* in place of both */
};

struct simulation {
    struct arena setup; /* configuration and names */
    struct arena built; /* network and workload */
    struct errors errors;
    struct json *json;  /* effective settings */
    struct json *files; /* that they were read from: an array of names */
    struct json *data;  /* the same that options name */
    struct json *sums;  /* of what those hold, by name; NULL: not asked for */
    struct simulation_config config;
    struct engine engine;
    struct network network;
    struct workload workload;
    struct rewind *rewind;        /* of an optimistic run: its state; else NULL */
    struct lockstep *lockstep;    /* owned: a device is to run it; NULL: none is */
    struct lockstep_batch *batch; /* borrowed: runs that a device does together, which wait for it to come; or NULL */
    struct ranks *ranks;          /* borrowed, all of which have this simulation; NULL: there is one */
    struct stopwatch watch;       /* of this rank */
    double cpu_seconds, wall_seconds; /* of the run, without building */
    uint64_t peak_bytes;              /* memory, of all ranks, */
    uint64_t largest_bytes;           /* and of the one that took most */
    uint32_t restarts;                /* from checkpoints */
};

/* All that a configuration may have. */
extern const struct option simulation_options[];
const char *sync_name(uint32_t sync);

/* An empty simulation that collects errors. */
void simulation_init(struct simulation *simulation);
/* Reads a configuration with overrides; false with errors. */
bool simulation_load(struct simulation *simulation, const char *path, char **overrides, int count);
/* Reads a configuration from a text at hand, which messages call `name`; false with errors. */
bool simulation_load_text(struct simulation *simulation, const char *name, const char *bytes, size_t size,
                          char **overrides, int count);
/* The second half of it: the settings from simulation->json, which becomes the effective ones. */
bool simulation_read(struct simulation *simulation);
/* Before building: for those who look at it in one piece. The results are the same however it runs. */
void simulation_make_sequential(struct simulation *simulation);
bool simulation_build(struct simulation *simulation);
/* What has been built is to run: where a device runs it, that makes itself ready. False with errors. */
bool simulation_make_ready(struct simulation *simulation);
/* Returns the exit status that says how the run ended. */
int simulation_run(struct simulation *simulation, FILE *report);
/* After it: what all ranks together took, by their watches. */
void simulation_add_up(struct simulation *simulation);
/* The results document; afterwards or after an interruption. */
struct json *simulation_results(struct simulation *simulation);
extern const struct result results_rows[];
/* Fills the block of what has failed. */
struct report;
void results_add_failures(struct report *block, const struct simulation *simulation);
/* Adds "deadlock" where one ended the run, "recoveries" where packets of some were taken out. */
void results_add_deadlock(struct report *root, const struct workload *workload);
/* The beginning of any results document: the program's version and the settings. */
struct report results_begin(struct simulation *simulation);
/* What networks and models have in their block "simulation" alike. */
void results_add_run(struct report *block, const struct simulation *simulation, tick_t end, uint64_t events,
                     const struct digest *digest);
/* Looks before the run whether a file could be written; an exit status. */
int results_try(const char *path, struct errors *errors);
/* To a file or, with NULL or "-", to standard output; false with errors. */
bool results_write(struct simulation *simulation, const struct json *document, const char *path);
void simulation_release(struct simulation *simulation);
