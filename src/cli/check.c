/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp check CONFIG [PATH=VALUE ...]: every setting, the sizes of what would
 * be built, and whether the routing can deadlock. Runs nothing.
 */
#include "cli/command.h"
#include "run/model.h"

#include "network/graph/dependency.h"

static int check_model(struct simulation *simulation)
{
    struct model_run run;
    if (!model_prepare(&run, simulation))
        return EXIT_USAGE;
    printf("settings: correct\n");
    printf("model: %s, %llu processes, lookahead %llu ticks\n", run.model.ops->name,
           (unsigned long long)run.model.expected_processes, (unsigned long long)run.model.lookahead);
    return EXIT_DONE;
}

static int check_network(struct simulation *simulation)
{
    if (!simulation_build(simulation))
        return EXIT_USAGE;
    const struct network *network = &simulation->network;
    printf("settings: correct\n");
    printf("network: %u routers of %u ports, %u terminals, %u VC%s, %.1f KiB a router, %.1f MiB in all\n",
           network->topology.routers, network->ports, network->topology.terminals, network->num_vcs,
           network->num_vcs == 1 ? "" : "s", (double)network->core->bytes / 1024 / network->topology.routers,
           (double)simulation->built.bytes / 1024 / 1024);
    if (network->core->planes)
        printf("planes: %u of %u routers, %u rails of each terminal; their routing is alike and is checked in one\n",
               network->plane_count, network->routing.topology->routers,
               network->plane_count * network->injection_channels);
    return dependency_check(&network->routing, DEPENDENCY_BUDGET, stdout) ? EXIT_DONE : EXIT_SIMULATION;
}

static int cli_check(struct call *call)
{
    if (!arguments_read(call))
        return EXIT_USAGE;
    struct simulation simulation;
    simulation_init(&simulation);
    int status = EXIT_USAGE;
    if (simulation_load(&simulation, call->config, call->overrides, call->override_count))
        status = simulation.config.model.component ? check_model(&simulation) : check_network(&simulation);
    errors_print(&simulation.errors, stderr);
    simulation_release(&simulation);
    return status;
}

static const struct command check_command = {
    .name = "check",
    .order = 20,
    .words = "CONFIG [PATH=VALUE ...]",
    .summary = "settings, sizes, routing deadlock; runs nothing",
    .run = cli_check,
};
REGISTER_COMMAND(check_command);
