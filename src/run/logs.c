/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logs of a run. Those of packets, messages and traffic see each sampled packet
 * (metrics/log.h); rates are summed up in the measurements and channels counted
 * by the routers, and both are written at the end.
 */
#include "run/run.h"

#include "base/text.h"

#include <string.h>

const char *const run_log_flags[] = {
    [RUN_LOG_PACKETS] = "--log",    [RUN_LOG_MESSAGES] = "--message-log", [RUN_LOG_TRAFFIC] = "--traffic-log",
    [RUN_LOG_RATES] = "--rate-log", [RUN_LOG_CHANNELS] = "--channel-log",
};

static bool names_are_good(const struct logs *logs, struct errors *errors)
{
    uint32_t before = errors->count;
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++) {
        const char *name = logs->names[i];
        if (name && !csv_name_is_valid(name))
            errors_add(errors, "%s: '%s' is no %s; accepted: names that end in .csv or .csv.zst", run_log_flags[i],
                       name, i == RUN_LOG_PACKETS ? "packet log" : "log");
    }
    return errors->count == before;
}

/* Has rates kept, in bins as --rate-interval says, or the settings; false with a message. */
static bool start_rates(const struct logs *logs, struct simulation *simulation)
{
    struct errors *errors = &simulation->errors;
    uint64_t ticks = simulation->workload.config->series_interval;
    const char *end = logs->rate_interval;
    if (!end && !ticks)
        return errors_add(errors, "--rate-log: there is no interval; give --rate-interval or workload.series_interval");
    if (end && (!number_read(&end, 1000000000000, &ticks) || *end || !ticks))
        return errors_add(errors, "--rate-interval: '%s' is no number of ticks; accepted: 1 to 1000000000000",
                          logs->rate_interval);
    workload_keep_rates(&simulation->workload, ticks);
    return true;
}

const char *logs_first(const struct logs *logs)
{
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++)
        if (logs->names[i])
            return run_log_flags[i];
    return NULL;
}

int logs_open(struct logs *logs, struct simulation *simulation)
{
    struct errors *errors = &simulation->errors;
    struct workload *workload = &simulation->workload;
    const char *const *names = logs->names;
    if (!names_are_good(logs, errors) || (names[RUN_LOG_RATES] && !start_rates(logs, simulation)))
        return EXIT_USAGE;
    if (names[RUN_LOG_CHANNELS])
        workload_count_lanes(workload);
    workload->keeps_records = names[RUN_LOG_PACKETS] || names[RUN_LOG_MESSAGES] || names[RUN_LOG_TRAFFIC];
    if (!ranks_lead(simulation->ranks))
        return EXIT_DONE;
    const struct network_core *core = simulation->network.core;
    if (!run_logs_open(&logs->run, names, core->planes, core->config->protocol_classes > 1, errors))
        return EXIT_IO;
    if (workload->keeps_records)
        workload->logs = &logs->run;
    return EXIT_DONE;
}

static void write_rates(const struct workload *workload, struct csv_file *file)
{
    csv_text(file, "application,start,terminal,offered,injected,delivered,accepted\n");
    for (uint32_t i = 0; i < workload->count; i++) {
        const struct application *application = &workload->applications[i];
        const struct bins *rates = &application->measurement->rates;
        for (uint64_t bin = 0; bin < rates->count; bin++)
            for (uint32_t n = 0; n < application->allocated.count; n++) {
                uint32_t terminal = application->allocated.items[n];
                const struct rate_bin *flits =
                    (const struct rate_bin *)(rates->bytes + bin * rates->bin_bytes) + terminal;
                csv_line(file,
                         (const uint64_t[]){i, bin * rates->interval, terminal, flits->offered, flits->injected,
                                            flits->delivered, flits->accepted},
                         7);
            }
    }
}

/* One channel; its lanes' counts at the start and the end of the window. */
static void write_channel(const char *kind, const struct network *network, size_t number, const uint32_t *const at[2],
                          uint64_t ticks, struct csv_file *file)
{
    const struct link *link = &network->links[number];
    const uint32_t *start = at[0] + number * network->num_vcs, *end = at[1] + number * network->num_vcs;
    uint32_t flits = 0; /* modulo 2^32 */
    for (uint32_t vc = 0; vc < network->num_vcs; vc++)
        flits += end[vc] - start[vc];
    const uint64_t place[] = {number / network->ports, number % network->ports, link->target, flits};
    csv_text(file, kind);
    for (uint32_t column = 0; column < 4; column++)
        csv_number(file, place[column], ',');
    csv_ratio(file, (unsigned __int128)flits * link->cycle, ticks, ',');
    for (uint32_t vc = 0; vc < network->num_vcs; vc++)
        csv_number(file, end[vc] - start[vc], vc + 1 < network->num_vcs ? ',' : '\n');
}

/* Channels of routers, over the sampling window; nothing when there was none. */
static void write_channels(const struct workload *workload, struct csv_file *file)
{
    const struct network *network = workload->network;
    const struct lane_counts *lanes = workload->lanes;
    const struct measurement *m = &workload->measurements[0];
    const uint32_t *const in[2] = {lanes->in[0], lanes->in[1]}, *const out[2] = {lanes->out[0], lanes->out[1]};
    size_t ports = (size_t)network->topology.routers * network->ports;
    uint64_t ticks = m->window_end - m->window_start;
    csv_text(file, "kind,router,port,target,flits,utilisation");
    for (uint32_t vc = 0; vc < network->num_vcs; vc++) {
        csv_text(file, vc ? "vc" : ",vc");
        csv_number(file, vc, vc + 1 < network->num_vcs ? ',' : '\n');
    }
    for (size_t i = 0; i < ports && m->window_end; i++) {
        const struct link *link = &network->links[i];
        if (link->target != FW_NONE && link->carries_out)
            write_channel(link->to_terminal ? "ejection," : "between,", network, i, out, ticks, file);
        if (link->target != FW_NONE && link->carries_in)
            write_channel("injection,", network, i, in, ticks, file);
    }
}

bool logs_commit(struct logs *logs, struct simulation *simulation)
{
    struct csv_file *const *files = logs->run.files;
    if (files[RUN_LOG_RATES])
        write_rates(&simulation->workload, files[RUN_LOG_RATES]);
    if (files[RUN_LOG_CHANNELS]) {
        network_know_links(&simulation->network);
        write_channels(&simulation->workload, files[RUN_LOG_CHANNELS]);
    }
    return run_logs_end(&logs->run, csv_close, &simulation->errors);
}

const char *logs_restless(const struct logs *logs)
{
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++)
        if (logs->run.files[i] && !csv_can_rest(logs->run.files[i]))
            return run_log_flags[i];
    return NULL;
}
