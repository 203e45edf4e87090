/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp check CONFIG [PATH=VALUE ...]: every setting, the sizes of what would
 * be built, and whether the routing can deadlock. Runs nothing.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/run_model.h"
#include "run/simulation.h"

#include "network/graph/dependency.h"

static int cli_check(int argc, char **argv)
{
    struct arguments arguments;
    if (!arguments_read(&arguments, argc, argv, &check_command, NULL, stderr))
        return EXIT_USAGE;
    struct simulation simulation;
    simulation_init(&simulation);
    int status = EXIT_USAGE;
    bool is_loaded = simulation_load(&simulation, arguments.config, arguments.overrides, arguments.override_count);
    if (is_loaded && simulation.config.model.component) {
        status = check_model(&simulation);
    } else if (is_loaded && simulation_build(&simulation)) {
        const struct network *network = &simulation.network;
        printf("settings: correct\n");
        printf("network: %u routers of %u ports, %u terminals, %u VC%s, %.1f KiB a router, %.1f MiB in all\n",
               network->topology.routers, network->ports, network->topology.terminals, network->num_vcs,
               network->num_vcs == 1 ? "" : "s", (double)network->bytes / 1024 / network->topology.routers,
               (double)simulation.built.bytes / 1024 / 1024);
        if (network->planes)
            printf(
                "planes: %u of %u routers, %u rails of each terminal; their routing is alike and is checked in one\n",
                network->plane_count, network->routing.topology->routers,
                network->plane_count * network->injection_channels);
        status = dependency_check(&network->routing, DEPENDENCY_BUDGET, stdout) ? EXIT_DONE : EXIT_SIMULATION;
    } else {
        errors_print(&simulation.errors, stderr);
    }
    simulation_release(&simulation);
    return status;
}

const struct command check_command = {
    .name = "check",
    .words = "CONFIG [PATH=VALUE ...]",
    .summary = "settings, sizes, routing deadlock; runs nothing",
    .call = cli_check,
};
