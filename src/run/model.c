/* SPDX-License-Identifier: Apache-2.0 */
/* A model of processes: prepare, run over threads, results; see run.h. */
#include "run/run.h"

#include "engine/process_run.h"
#include "metrics/report.h"

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

static void model_add_sync(struct report *sync, const struct simulation *simulation, const struct process_run *run)
{
    const struct process_counts *counts = &run->counts;
    report_text(sync, "type", sync_name(run->settings.sync));
    report_count(sync, "threads", run->settings.threads);
    report_count(sync, "ranks", run->rank_count);
    report_count(sync, "events", counts->handled);
    report_count(sync, "committed", counts->committed);
    report_count(sync, "rolled_back", counts->rolled_back);
    report_number(sync, "efficiency", 1 - (double)counts->rolled_back / (double)counts->committed);
    report_number(sync, "remote_share", counts->posted ? (double)counts->posted_away / (double)counts->posted : 0);
    report_count(sync, "primary_rollbacks", counts->primary);
    report_count(sync, "secondary_rollbacks", counts->secondary);
    report_count(sync, "gvt_count", run->meetings);
    report_number(sync, "events_per_second", (double)counts->committed / simulation->wall_seconds);
}

struct json *model_results(const struct model_run *whole, struct simulation *simulation)
{
    const struct process_run *run = &whole->run;
    const struct model_ops *ops = run->model->ops;
    struct report root = results_begin(simulation);
    report_flag(&root, "complete", run->is_complete);
    report_text(&root, "outcome", run->is_complete ? "done" : "interrupted");
    struct report *block = report_block(&root, "simulation");
    results_add_run(block, simulation, run->totals.end_tick, run->totals.events, &run->digest);
    model_add_sync(report_block(block, "sync"), simulation, run);
    struct report *model = report_block(&root, "model");
    report_text(model, "type", ops->name);
    model->own = ops->reports;
    ops->results(run->model, &run->totals, model);
    report_json(&root, "applications", json_array(root.arena));
    if (ops->application)
        ops->application(run->model, &run->totals, report_item(&root, "applications"));
    return root.block;
}
