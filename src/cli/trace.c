/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp trace CONFIG --packet N|SOURCE.N: one packet's walk, stage by stage.
 * Stage names are the names of the functions that do the work. N counts the
 * packets of terminal 0, or of the terminal before the dot.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "run/simulation.h"

#include <stdlib.h>

struct trace_request {
    const char *packet;
};

static const struct flag trace_flags[] = {
    FLAG_VALUE(struct trace_request, packet, "--packet", "N|SOURCE.N",
               "number of the packet among those of terminal 0, or of terminal SOURCE"),
    FLAG_END,
};

static bool read_packet(const char *text, uint32_t *source, uint32_t *sequence)
{
    char *end;
    unsigned long first = strtoul(text, &end, 10);
    bool is_number = end != text && text[0] != '-' && first < NONE;
    *source = 0;
    *sequence = (uint32_t)first;
    if (is_number && *end == '.') {
        const char *rest = end + 1;
        *source = (uint32_t)first;
        first = strtoul(rest, &end, 10);
        is_number = end != rest && rest[0] != '-' && first < NONE;
        *sequence = (uint32_t)first;
    }
    return is_number && *end == 0;
}

static void stop_when_arrived(void *context, const struct workload *workload, tick_t now)
{
    volatile sig_atomic_t *has_arrived = context;
    (void)now;
    bool is_made = workload->sequences[workload->trace_source] > workload->trace_sequence;
    *has_arrived = is_made && workload->network->traced == NONE;
}

static int cli_trace(int argc, char **argv)
{
    struct trace_request request = {0};
    struct arguments arguments;
    if (!arguments_read(&arguments, argc, argv, &trace_command, &request, stderr))
        return EXIT_USAGE;
    const char *packet = request.packet;
    uint32_t source, sequence;
    if (!packet || !read_packet(packet, &source, &sequence)) {
        fprintf(stderr, "flitwarp trace: --packet %s; accepted: a packet's number, or SOURCE.NUMBER\n",
                packet ? packet : "is missing");
        command_usage(stderr, &trace_command);
        return EXIT_USAGE;
    }
    struct simulation simulation;
    simulation_init(&simulation);
    int status = EXIT_USAGE;
    bool is_loaded = simulation_load(&simulation, arguments.config, arguments.overrides, arguments.override_count);
    struct simulator_config *simulator = &simulation.config.simulator; /* the same however it runs, but printed once */
    simulator->threads = 1;
    simulator->check_reversal = false;
    if (is_loaded && simulation_build(&simulation)) {
        if (source >= simulation.network.topology.terminals) {
            fprintf(stderr, "flitwarp trace: --packet %s: there is no terminal %u; accepted: 0 to %u\n", packet, source,
                    simulation.network.topology.terminals - 1);
        } else {
            simulation.network.trace_out = stdout;
            simulation.network.is_watched = true;
            simulation.workload.trace_source = source;
            simulation.workload.trace_sequence = sequence;
            volatile sig_atomic_t has_arrived = 0;
            simulation.workload.progress = stop_when_arrived;
            simulation.workload.progress_context = (void *)&has_arrived;
            simulation.workload.interrupt = &has_arrived;
            printf("    tick  where        stage            what\n");
            enum outcome outcome = workload_run(&simulation.workload, stderr);
            status = outcome == OUTCOME_DEADLOCK || outcome == OUTCOME_STUCK ? EXIT_SIMULATION : EXIT_DONE;
            if (simulation.workload.sequences[source] <= sequence)
                printf("terminal %u made only %u packets\n", source, simulation.workload.sequences[source]);
        }
    } else {
        errors_print(&simulation.errors, stderr);
    }
    simulation_release(&simulation);
    return status;
}

const struct command trace_command = {
    .name = "trace",
    .words = "CONFIG --packet N|SOURCE.N [PATH=VALUE ...]",
    .summary = "one packet's walk, stage by stage",
    .flags = trace_flags,
    .call = cli_trace,
};
