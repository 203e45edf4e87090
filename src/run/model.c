/* SPDX-License-Identifier: Apache-2.0 */
/* A model of processes: prepare, run over threads, results; see model.h. */
#include "run/model.h"

#include "base/digest.h"
#include "engine/process_run.h"
#include "workload/report.h"

#define ADD_U64(object, key, value) json_add(object, key, json_number_u64(arena, value))
#define ADD_F64(object, key, value) json_add(object, key, json_number_f64(arena, value))

bool model_prepare(struct model_run *run, struct simulation *simulation)
{
    const struct simulator_config *simulator = &simulation->config.simulator;
    const struct choice *choice = &simulation->config.model;
    run->model = (struct model){.ops = CHOICE_OPS(choice, struct model_ops),
                                .config = choice->config,
                                .choice = choice,
                                .seed = simulator->seed,
                                .tick_seconds = simulator->tick,
                                .arena = &simulation->built};
    run->settings = (struct process_settings){.sync = (enum process_sync)simulator->sync,
                                              .threads = simulator->threads,
                                              .partitions = simulator->partitions,
                                              .window = simulator->window,
                                              .check_reversal = simulator->check_reversal};
    run->model.ops->prepare(&run->model, &simulation->errors);
    const struct json *block = json_find(simulation->json, "simulator");
    return simulation->errors.count == 0 &&
           process_run_check(&run->model, &run->settings, simulation->ranks, block, &simulation->errors);
}

int model_run(struct model_run *run, struct simulation *simulation)
{
    stopwatch_start(&simulation->watch);
    process_run(&run->run);
    simulation_add_up(simulation);
    return run->run.is_complete ? EXIT_DONE : EXIT_INTERRUPTED;
}

static struct json *sync_block(struct simulation *simulation, const struct process_run *run)
{
    struct arena *arena = &simulation->setup;
    const struct process_counts *counts = &run->counts;
    struct json *sync = json_object(arena);
    json_add(sync, "type", json_text(arena, sync_name(run->settings.sync)));
    ADD_U64(sync, "threads", run->settings.threads);
    ADD_U64(sync, "ranks", run->rank_count);
    ADD_U64(sync, "events", counts->handled);
    ADD_U64(sync, "committed", counts->committed);
    ADD_U64(sync, "rolled_back", counts->rolled_back);
    ADD_F64(sync, "efficiency", 1 - (double)counts->rolled_back / (double)counts->committed);
    ADD_F64(sync, "remote_share", counts->posted ? (double)counts->posted_away / (double)counts->posted : 0);
    ADD_U64(sync, "primary_rollbacks", counts->primary);
    ADD_U64(sync, "secondary_rollbacks", counts->secondary);
    ADD_U64(sync, "gvt_count", run->meetings);
    ADD_F64(sync, "events_per_second", (double)counts->committed / simulation->wall_seconds);
    return sync;
}

struct json *model_results(const struct model_run *whole, struct simulation *simulation)
{
    struct arena *arena = &simulation->setup;
    const struct process_run *run = &whole->run;
    struct json *root = results_document(simulation);
    json_add(root, "complete", json_bool(arena, run->is_complete));
    json_add(root, "outcome", json_text(arena, run->is_complete ? "done" : "interrupted"));
    struct json *block = json_add(root, "simulation", json_object(arena));
    char digest[33];
    digest_text(&run->digest, digest);
    ADD_U64(block, "end_tick", run->totals.end_tick);
    ADD_U64(block, "events", run->totals.events);
    ADD_F64(block, "cpu_seconds", simulation->cpu_seconds);
    ADD_F64(block, "wall_seconds", simulation->wall_seconds);
    ADD_U64(block, "peak_rss_bytes", simulation->peak_bytes);
    if (simulation->restarts)
        ADD_U64(block, "restarts", simulation->restarts);
    json_add(block, "digest", json_text(arena, digest));
    json_add(block, "sync", sync_block(simulation, run));
    struct report report = {json_add(root, "model", json_object(arena)), arena};
    json_add(report.block, "type", json_text(arena, run->model->ops->name));
    run->model->ops->results(run->model, &run->totals, &report);
    struct json *applications = json_add(root, "applications", json_array(arena));
    if (run->model->ops->application) {
        struct report application = {json_append(applications, json_object(arena)), arena};
        run->model->ops->application(run->model, &run->totals, &application);
    }
    return root;
}
