/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers of networks: GraphML and DOT for programs that know graphs, CSV of links
 * for those that know tables, and the form that topology `file` reads. Routers are
 * called r0, r1, ... and terminals t0, t1, ... Classes of links are plain words.
 */
#include "blueprint/blueprint.h"

#include "base/text.h"
#include "network/graph/analysis.h"

#include <string.h>

/* A list of nodes and links: what is printed of each. NULL: nothing. */
static const struct graph_format {
    const char *ending;
    const char *head, *tail;
    const char *router, *coordinates, *group, *level, *router_end; /* its number, then what is known of its place */
    const char *terminal;
    const char *link;       /* both ends, class, latency there and back, bandwidth */
    const char *link_place; /* of each of its ends: coordinates, group, level; a line ends behind them */
} formats[] = {
    {
        .ending = ".graphml",
        .head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
                "  <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n"
                "  <key id=\"coordinates\" for=\"node\" attr.name=\"coordinates\" attr.type=\"string\"/>\n"
                "  <key id=\"group\" for=\"node\" attr.name=\"group\" attr.type=\"int\"/>\n"
                "  <key id=\"level\" for=\"node\" attr.name=\"level\" attr.type=\"int\"/>\n"
                "  <key id=\"class\" for=\"edge\" attr.name=\"class\" attr.type=\"string\"/>\n"
                "  <key id=\"latency\" for=\"edge\" attr.name=\"latency\" attr.type=\"int\"/>\n"
                "  <key id=\"latency_back\" for=\"edge\" attr.name=\"latency_back\" attr.type=\"int\"/>\n"
                "  <key id=\"bandwidth\" for=\"edge\" attr.name=\"bandwidth\" attr.type=\"double\"/>\n"
                "  <graph id=\"network\" edgedefault=\"undirected\">\n",
        .router = "    <node id=\"r%u\"><data key=\"kind\">router</data>",
        .coordinates = "<data key=\"coordinates\">%s</data>",
        .group = "<data key=\"group\">%s</data>",
        .level = "<data key=\"level\">%s</data>",
        .router_end = "</node>\n",
        .terminal = "    <node id=\"t%u\"><data key=\"kind\">terminal</data></node>\n",
        .link = "    <edge source=\"%s\" target=\"%s\"><data key=\"class\">%s</data><data key=\"latency\">%u</data>"
                "<data key=\"latency_back\">%u</data><data key=\"bandwidth\">%.17g</data></edge>\n",
        .tail = "  </graph>\n</graphml>\n",
    },
    {
        .ending = ".dot",
        .head = "graph network {\n",
        .router = "  r%u [kind=router, shape=box",
        .coordinates = ", coordinates=\"%s\"",
        .group = ", group_number=\"%s\"", /* "group" means something to Graphviz */
        .level = ", level=\"%s\"",
        .router_end = "];\n",
        .terminal = "  t%u [kind=terminal, shape=point];\n",
        .link = "  %s -- %s [class=\"%s\", latency=%u, latency_back=%u, bandwidth=%.17g];\n",
        .tail = "}\n",
    },
    {
        .ending = ".csv",
        .head = "from,to,class,latency,latency_back,bandwidth,from_coordinates,from_group,from_level,to_coordinates,"
                "to_group,to_level\n",
        .link = "%s,%s,%s,%u,%u,%.17g",
        .link_place = ",%s,%s,%s",
        .tail = "",
    },
};
#define FORMATS (sizeof formats / sizeof *formats)
static const char file_ending[] = ".txt"; /* of what topology `file` reads */

struct exporting {
    const struct blueprint *blueprint;
    const struct graph_format *format;
    const uint32_t *groups; /* by router; NULL: there are none */
    FILE *out;
};

/* Where a router stands, each as text; empty where it is not known. */
struct place_texts {
    char coordinates[MAX_DIMENSIONS * 12], group[16], level[16];
};

/* The router FW_NONE, of a terminal, stands nowhere. */
static struct place_texts export_place(const struct exporting *exporting, uint32_t router)
{
    const struct topology *topology = &exporting->blueprint->topology;
    struct place_texts texts = {0};
    size_t length = 0;
    if (router == FW_NONE)
        return texts;
    for (uint32_t d = 0; d < topology_dimensions(topology); d++)
        length += (size_t)snprintf(texts.coordinates + length, sizeof texts.coordinates - length, "%s%u", d ? " " : "",
                                   topology_coordinate(topology, router, d));
    if (exporting->groups)
        snprintf(texts.group, sizeof texts.group, "%u", exporting->groups[router]);
    if (topology_level(topology, router) != FW_NONE)
        snprintf(texts.level, sizeof texts.level, "%u", topology_level(topology, router));
    return texts;
}

static void export_router(const struct exporting *exporting, uint32_t router)
{
    const struct graph_format *format = exporting->format;
    struct place_texts place = export_place(exporting, router);
    const char *const facts[][2] = {
        {format->coordinates, place.coordinates}, {format->group, place.group}, {format->level, place.level}};
    fprintf(exporting->out, format->router, router);
    for (uint32_t i = 0; i < 3; i++)
        if (*facts[i][1])
            fprintf(exporting->out, facts[i][0], facts[i][1]);
    fputs(format->router_end, exporting->out);
}

/* From a router, or from a terminal where `from` is FW_NONE. */
static void export_link(const struct exporting *exporting, uint32_t terminal, const struct blueprint_link *link,
                        const char *class)
{
    char from[16], to[16];
    bool is_terminal = link->from.router == FW_NONE;
    snprintf(from, sizeof from, is_terminal ? "t%u" : "r%u", is_terminal ? terminal : link->from.router);
    snprintf(to, sizeof to, "r%u", link->to.router);
    fprintf(exporting->out, exporting->format->link, from, to, class, link->latency, link->latency_back,
            link->bandwidth);
    if (!exporting->format->link_place)
        return;
    const uint32_t ends[] = {link->from.router, link->to.router};
    for (uint32_t i = 0; i < 2; i++) {
        struct place_texts place = export_place(exporting, ends[i]);
        fprintf(exporting->out, exporting->format->link_place, place.coordinates, place.group, place.level);
    }
    fputc('\n', exporting->out);
}

static void export_terminal_links(const struct exporting *exporting)
{
    const struct blueprint *blueprint = exporting->blueprint;
    const struct topology *topology = &blueprint->topology;
    double bandwidth = blueprint_terminal_bandwidth(blueprint);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        uint32_t latency = terminal_latency(&blueprint->latencies, terminal);
        uint32_t ends[] = {topology_router_of(topology, terminal), topology_ejects_at(topology, terminal)};
        for (uint32_t i = 0; i < (topology->ops->ejects_at ? 2 : 1) * blueprint->terminal_links; i++) {
            const struct blueprint_link link = {.from.router = FW_NONE,
                                                .to.router = ends[i / blueprint->terminal_links],
                                                .latency = latency,
                                                .latency_back = latency,
                                                .bandwidth = bandwidth};
            export_link(exporting, terminal, &link, "terminal");
        }
    }
}

static void export_graph(const struct exporting *exporting)
{
    const struct blueprint *blueprint = exporting->blueprint;
    const struct graph_format *format = exporting->format;
    fputs(format->head, exporting->out);
    for (uint32_t router = 0; format->router && router < blueprint->topology.routers; router++)
        export_router(exporting, router);
    for (uint32_t terminal = 0; format->terminal && terminal < blueprint->topology.terminals; terminal++)
        fprintf(exporting->out, format->terminal, terminal);
    for (struct blueprint_link link = {0}; blueprint_next(blueprint, &link);)
        export_link(exporting, FW_NONE, &link, blueprint_class_name(blueprint, link.class));
    export_terminal_links(exporting);
    fputs(format->tail, exporting->out);
}

/* What topology `file` reads. */
static void export_file(const struct blueprint *blueprint, FILE *out)
{
    const struct topology *topology = &blueprint->topology;
    fprintf(out, "# %s, for {\"type\": \"file\"}; latencies in ticks\n", topology->ops->name);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        fprintf(out, "node %u router %u %u\n", terminal, topology_router_of(topology, terminal),
                terminal_latency(&blueprint->latencies, terminal));
    for (uint32_t router = 0; router < topology->routers; router++) {
        fprintf(out, "router %u", router);
        for (uint32_t port = 0; port < topology->ports; port++) {
            struct router_port peer;
            if (topology->ops->peer(topology, router, port, &peer))
                fprintf(out, " router %u %u", peer.router,
                        channel_latency(&blueprint->latencies, router, port, peer.router));
        }
        fputc('\n', out);
    }
}

/* NULL: the name ends with none of them. */
static const struct graph_format *format_of(const char *path)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (name_ends_with(path, formats[i].ending))
            return &formats[i];
    return NULL;
}

bool export_check(const struct blueprint *blueprint, const char *path, struct errors *errors)
{
    if (format_of(path))
        return true;
    if (!name_ends_with(path, file_ending))
        return errors_add(errors, "--export: found '%s', accepted: a name that ends with .graphml, .dot, .csv or .txt",
                          path);
    return !blueprint->topology.ops->ejects_at ||
           errors_add(errors,
                      "--export: packets of \"%s\" leave at another router than they enter, which '%s' cannot say; "
                      "accepted: .graphml, .dot, .csv",
                      blueprint->topology.ops->name, path);
}

bool export_write(const struct blueprint *blueprint, const char *path, struct errors *errors)
{
    struct output_file file;
    struct arena scratch = {0};
    if (!output_open(&file, path, errors))
        return false;
    struct exporting exporting = {.blueprint = blueprint,
                                  .format = format_of(path),
                                  .groups = topology_groups(&blueprint->topology, &scratch),
                                  .out = file.stream};
    if (exporting.format)
        export_graph(&exporting);
    else
        export_file(blueprint, file.stream);
    arena_release(&scratch);
    return output_commit(&file, errors);
}
