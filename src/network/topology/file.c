/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any network, from a file that lists the links of each router: see
 * docs/formats.md and graph_file.c. Latencies that the file gives hold before
 * those of network.channel and network.terminal_channel. The file is read once
 * to judge it and once to build from it.
 */
#include "network/topology/graph_file.h"

#include "config/json.h"

struct file_config {
    const char *file;
};

static const struct option file_options[] = {
    OPTION_FILE(struct file_config, file, REQUIRED,
                "what each router is linked to: lines \"router A node T [latency] router B [latency] ...\""),
    OPTION_END,
};

static void file_shape_graph(struct topology *topology, struct graph *graph)
{
    topology->state = graph;
    topology->routers = graph->routers;
    topology->terminals = graph->terminals;
    topology->ports = graph->ports;
    topology->latencies = graph->latencies;
    topology->terminal_latencies = graph->terminal_latencies;
}

static bool file_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct graph *graph = topology->state;
    *peer = graph->peers[(size_t)router * graph->ports + port];
    return peer->router != NONE;
}

static uint32_t file_router_of(const struct topology *topology, uint32_t terminal)
{
    const struct graph *graph = topology->state;
    return graph->terminal_router[terminal];
}

static void check_connected(const struct topology *topology, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    struct search search;
    search_init(&search, topology, arena);
    search_from(&search, 0);
    for (uint32_t router = 0; router < topology->routers; router++)
        if (search.distance[router] == NONE) {
            const struct file_config *config = self->config;
            choice_error(errors, self, "file", "%s: there is no way from router 0 to router %u", config->file, router);
            return;
        }
}

static const struct topology_ops file;

static void file_check(const struct choice *self, struct errors *errors)
{
    const struct file_config *config = self->config;
    struct arena scratch = {0};
    struct graph graph;
    struct topology topology = {.ops = &file};
    if (graph_read(&graph, config->file, &scratch, self, errors)) {
        file_shape_graph(&topology, &graph);
        check_connected(&topology, self, &scratch, errors);
    }
    arena_release(&scratch);
}

static void file_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct json nowhere = {.type = JSON_NULL};
    const struct choice self = {.config = config, .node = &nowhere};
    struct errors errors = {.arena = arena};
    struct graph *graph = arena_array(arena, struct graph, 1);
    CHECK(graph_read(graph, ((const struct file_config *)config)->file, arena, &self, &errors),
          "the file of the topology has changed since it was checked");
    file_shape_graph(topology, graph);
}

static const struct topology_ops file = {
    .name = "file",
    .summary = "any network, from a list of the links of each router (BookSim's anynet)",
    .options = file_options,
    .config_size = sizeof(struct file_config),
    .example = "{\"type\": \"file\", \"file\": \"network.txt\"}",
    .check = file_check,
    .shape = file_shape,
    .peer = file_peer,
    .router_of = file_router_of,
};
REGISTER_TOPOLOGY(file);
