/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration from its text to some ticks of its run. Sizes are judged by the
 * settings before anything is built: a configuration of a million routers is right,
 * but no use here.
 */
#include "fuzz.h"

#include "run/simulation.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_PRODUCT = 128,  /* of all numbers of a topology or a motif: no more routers or tasks than that, or not much */
    MOST_NUMBER = 4096,  /* of any other setting that things are made by */
    MOST_INTERVAL = 100, /* ticks between two points of the grid on which phases change */
    MOST_POINTS = 20,    /* of it */
    MOST_EVENTS = 20000,
};

const char fuzz_small[] =
    "{\"network\": {\"topology\": {\"type\": \"mesh\", \"widths\": [2, 2]}, \"routing\": \"dimension_order\","
    " \"router\": {\"type\": \"input_queued\", \"num_vcs\": 2}},\n"
    " \"workload\": {\"applications\": [{\"type\": \"blast\", \"load\": 0.2, \"warmup\": 50, \"sample\": 100}],"
    " \"check_interval\": 10}}";

static double product(const struct json *node)
{
    double all = node->type == JSON_NUMBER && node->number > 1 ? node->number : 1;
    for (const struct json *child = node->first; child; child = child->next)
        all *= product(child);
    return all;
}

static bool is_small(const struct json *node)
{
    static const char *const making[] = {"topology", "motif"},
                             *const free_of_limits[] = {
                                 "latency", "latencies",         "delay",       "limit",    "finish_limit", "warmup",
                                 "sample",  "min_sample",        "max_sample",  "seed",     "eager_limit",  "bandwidth",
                                 "compute", "compute_scale",     "interval",    "segment",  "large_from",   "precision",
                                 "window",  "deadlock_interval", "collectives", "overhead", "gap"};
    for (size_t i = 0; node->key && i < sizeof making / sizeof *making; i++)
        if (strcmp(node->key, making[i]) == 0)
            return product(node) <= MOST_PRODUCT;
    for (size_t i = 0; node->key && i < sizeof free_of_limits / sizeof *free_of_limits; i++)
        if (strcmp(node->key, free_of_limits[i]) == 0)
            return true;
    if (node->type == JSON_NUMBER && node->number > MOST_NUMBER)
        return false;
    for (const struct json *child = node->first; child; child = child->next)
        if (!is_small(child))
            return false;
    return true;
}

struct patience {
    int points;
    volatile sig_atomic_t is_over;
};

static void count_points(void *context, const struct workload *workload, tick_t now)
{
    struct patience *patience = context;
    (void)now;
    patience->is_over = ++patience->points >= MOST_POINTS || workload->totals.events >= MOST_EVENTS;
}

static void run(struct simulation *simulation)
{
    struct patience patience = {0};
    FILE *report = fopen("/dev/null", "w");
    simulation->workload.progress = count_points;
    simulation->workload.progress_context = &patience;
    simulation->workload.interrupt = &patience.is_over;
    simulation_run(simulation, report);
    struct json *results = simulation_results(simulation);
    json_write(report, results, 2);
    fclose(report);
}

void fuzz_simulate(const char *config, char **overrides, int count)
{
    struct simulation simulation;
    simulation_init(&simulation);
    bool is_good = simulation_load_text(&simulation, "fuzz.json", config, strlen(config), overrides, count);
    FW_CHECK(is_good == (simulation.errors.count == 0), "success and messages disagree");
    bool is_quick = simulation.config.workload.check_interval <= MOST_INTERVAL;
    if (is_good && !simulation.config.model.component && is_quick && is_small(simulation.json)) {
        simulation_make_sequential(&simulation);
        is_good = simulation_build(&simulation);
        FW_CHECK(is_good == (simulation.errors.count == 0), "success and messages disagree");
        if (is_good)
            run(&simulation);
    }
    errors_text(&simulation.errors);
    simulation_release(&simulation);
}
