/* SPDX-License-Identifier: Apache-2.0 */
/* See run.h. The network is built anew for each application, by the settings at hand; only one of them runs. */
#include "run/run.h"

#include "base/interrupt.h"

#include <math.h>

/* What an application took: the communication of its slowest rank, else all of it; not a number: it has no end. */
static double time_of(const struct json *results, uint32_t application)
{
    const struct json *block = json_at(json_find(results, "applications"), application);
    const struct json *whole = json_find(block, "completion_time");
    if (!whole || whole->type != JSON_NUMBER)
        return NAN;
    const struct json *communication = json_find(block, "communication_time");
    return communication ? json_find(communication, "max")->number : whole->number;
}

/* All ranks take part; the first has the time. */
static int run_alone(const struct simulation *together, uint32_t application, double *time)
{
    struct simulation simulation;
    simulation_init(&simulation);
    simulation.json = json_copy(&simulation.setup, together->json); /* goes into results, as the other does */
    simulation.config = together->config;
    simulation.ranks = together->ranks;
    bool is_built = simulation_build(&simulation);
    errors_print(&simulation.errors, stderr);
    int status = (int)ranks_largest(together->ranks, is_built ? EXIT_DONE : EXIT_USAGE);
    if (status == EXIT_DONE) {
        simulation.workload.alone = application;
        simulation.workload.interrupt = interrupt_catch();
        status = simulation_run(&simulation, stderr);
    }
    if (status == EXIT_DONE && ranks_lead(together->ranks))
        *time = time_of(simulation_results(&simulation), application);
    simulation_release(&simulation);
    return status;
}

int baseline_add(struct simulation *together, struct json *results, bool quiet)
{
    struct arena *arena = &together->setup;
    int status = EXIT_DONE;
    for (uint32_t i = 0; i < together->workload.count; i++) {
        double time = results ? time_of(results, i) : NAN, alone = NAN;
        if (status == EXIT_DONE && ranks_largest(together->ranks, !isnan(time)))
            status = run_alone(together, i, &alone);
        if (!results)
            continue;
        struct json *block = json_at(json_find(results, "applications"), i);
        json_add(block, "alone_time", json_number_f64(arena, alone));
        json_add(block, "slowdown", json_number_f64(arena, time / alone));
        if (!quiet && time / alone > 0)
            fprintf(stderr, "%s: %.6g ticks, %.6g alone: slowdown %.4g\n", together->workload.applications[i].name,
                    time, alone, time / alone);
    }
    return status;
}
