/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp trace CONFIG --packet N|SOURCE.N: one packet's walk, stage by stage.
 * Stage names are the names of the functions that do the work. N counts the
 * packets of terminal 0, or of the terminal before the dot.
 */
#include "base/text.h"
#include "cli/command.h"
#include "run/simulation.h"

struct trace_request {
    const char *packet;
};

static const struct flag trace_flags[] = {
    FLAG_VALUE(struct trace_request, packet, "--packet", "N|SOURCE.N",
               "number of the packet among those of terminal 0, or of terminal SOURCE"),
    FLAG_END,
};

/* "N" or "SOURCE.N". */
static bool trace_read_packet(const char *text, uint64_t *source, uint64_t *sequence)
{
    *source = 0;
    if (!number_read(&text, FW_NONE - 1, sequence))
        return false;
    if (*text == '.') {
        *source = *sequence;
        text++;
        return number_read(&text, FW_NONE - 1, sequence) && !*text;
    }
    return !*text;
}

static void stop_when_arrived(void *context, const struct workload *workload, tick_t now)
{
    volatile sig_atomic_t *has_arrived = context;
    (void)now;
    bool is_made = workload->sequences[workload->trace_source] > workload->trace_sequence;
    *has_arrived = is_made && workload->network->traced == FW_NONE;
}

static int trace_follow(struct simulation *simulation, uint32_t source, uint32_t sequence)
{
    struct workload *workload = &simulation->workload;
    volatile sig_atomic_t has_arrived = 0;
    simulation->network.trace_out = stdout;
    simulation->network.is_watched = true;
    workload->trace_source = source;
    workload->trace_sequence = sequence;
    workload->progress = stop_when_arrived;
    workload->progress_context = (void *)&has_arrived;
    workload->interrupt = &has_arrived;
    printf("    tick  where        stage            what\n");
    enum outcome outcome = workload_run(workload, stderr);
    if (workload->sequences[source] <= sequence)
        printf("terminal %u made only %u packets\n", source, workload->sequences[source]);
    return outcome == OUTCOME_DEADLOCK || outcome == OUTCOME_STUCK ? EXIT_SIMULATION : EXIT_DONE;
}

static int cli_trace(struct call *call)
{
    const struct trace_request *request = call->request;
    if (!arguments_read(call))
        return EXIT_USAGE;
    const char *packet = request->packet;
    uint64_t source, sequence;
    if (!packet || !trace_read_packet(packet, &source, &sequence)) {
        errors_add(&call->errors, "flitwarp trace: --packet %s; accepted: a packet's number, or SOURCE.NUMBER",
                   packet ? packet : "is missing");
        return call_refuse(call);
    }
    struct simulation simulation;
    simulation_init(&simulation);
    int status = EXIT_USAGE;
    bool is_loaded = simulation_load(&simulation, call->config, call->overrides, call->override_count);
    struct simulator_config *simulator = &simulation.config.simulator; /* the same however it runs, but printed once */
    simulator->threads = 1;
    simulator->check_reversal = false;
    if (is_loaded && simulation_build(&simulation)) {
        if (source < simulation.network.topology.terminals)
            status = trace_follow(&simulation, (uint32_t)source, (uint32_t)sequence);
        else
            errors_add(&simulation.errors, "flitwarp trace: --packet %s: there is no terminal %u; accepted: 0 to %u",
                       packet, (uint32_t)source, simulation.network.topology.terminals - 1);
    }
    errors_print(&simulation.errors, stderr);
    simulation_release(&simulation);
    return status;
}

static const struct command trace_command = {
    .name = "trace",
    .order = 50,
    .words = "CONFIG --packet N|SOURCE.N [PATH=VALUE ...]",
    .summary = "one packet's walk, stage by stage",
    .flags = trace_flags,
    .request_size = sizeof(struct trace_request),
    .run = cli_trace,
};
REGISTER_COMMAND(trace_command);
