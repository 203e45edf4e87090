/* SPDX-License-Identifier: Apache-2.0 */
/* Files that settings name, each on a small network: it is read, judged, and what is right is built and run. */
#include "fuzz.h"

#include <stdlib.h>

#define FILE_NAME "data.csv"
#define OF_APPLICATION "workload.applications.0."

static void simulate_with(const uint8_t *data, size_t size, char *override)
{
    fuzz_file(FILE_NAME, data, size);
    fuzz_simulate(fuzz_small, (char *[]){override, "network.routing=minimal", "network.router.num_vcs=4"}, 3);
}

FUZZ_TARGET(network_file)
{
    simulate_with(data, size, "network.topology={\"type\": \"file\", \"file\": \"" FILE_NAME "\"}");
}

/* Read by both forms: what is no text is no CSV either. */
FUZZ_TARGET(routes_file)
{
    fuzz_file("routes.txt", data, size);
    fuzz_file("routes.csv", data, size);
    for (int is_csv = 0; is_csv < 2; is_csv++)
        fuzz_simulate(fuzz_small,
                      (char *[]){is_csv ? "network.routing={\"type\": \"file\", \"file\": \"routes.csv\"}"
                                        : "network.routing={\"type\": \"file\", \"file\": \"routes.txt\", "
                                          "\"unreachable\": \"allow\"}",
                                 "network.topology={\"type\": \"torus\", \"widths\": [4]}", "network.router.num_vcs=2"},
                      3);
}

FUZZ_TARGET(global_file)
{
    simulate_with(data, size,
                  "network.topology={\"type\": \"dragonfly\", \"terminals\": 1, \"routers\": 2, \"global\": 2, "
                  "\"groups\": 3, \"arrangement\": \"file\", \"file\": \"" FILE_NAME "\"}");
}

FUZZ_TARGET(plan_file) { simulate_with(data, size, "network.channel.cable={\"plan\": \"" FILE_NAME "\"}"); }

FUZZ_TARGET(failures_file)
{
    simulate_with(data, size, "network.failures={\"file\": \"" FILE_NAME "\", \"cut_off\": \"lose\"}");
}

FUZZ_TARGET(matrix_file)
{
    simulate_with(data, size, OF_APPLICATION "traffic={\"type\": \"matrix\", \"file\": \"" FILE_NAME "\"}");
}

FUZZ_TARGET(size_file)
{
    simulate_with(data, size, OF_APPLICATION "size={\"type\": \"file\", \"file\": \"" FILE_NAME "\"}");
}

FUZZ_TARGET(relative_file) { simulate_with(data, size, OF_APPLICATION "relative=" FILE_NAME); }

FUZZ_TARGET(allocation_file)
{
    simulate_with(data, size, OF_APPLICATION "allocation={\"type\": \"list\", \"file\": \"" FILE_NAME "\"}");
}

/* As part of a configuration. */
FUZZ_TARGET(included_file)
{
    fuzz_file("part.json", data, size);
    fuzz_simulate("{\"$include\": \"part.json\", \"workload\": {\"check_interval\": 10}}", NULL, 0);
}
