/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers of networks: GraphML and DOT for programs that know graphs, CSV of links
 * for those that know tables, and the form that topology `file` reads. Routers are
 * called r0, r1, ... and terminals t0, t1, ...
 */
#include "blueprint/blueprint.h"

#include "base/text.h"
#include "network/positions.h"

#include <string.h>

struct exporting {
    const struct blueprint *blueprint;
    const uint32_t *groups; /* by router; NULL: there are none */
    FILE *out;
};

/* Where a router stands, each as text; empty where it is not known. */
struct place_texts {
    char coordinates[MAX_DIMENSIONS * 12], group[16], level[16];
};

static struct place_texts export_place(const struct exporting *exporting, uint32_t router)
{
    const struct blueprint *blueprint = exporting->blueprint;
    struct place_texts texts = {0};
    size_t length = 0;
    for (uint32_t d = 0; d < topology_dimensions(&blueprint->topology); d++)
        length += (size_t)snprintf(texts.coordinates + length, sizeof texts.coordinates - length, "%s%u", d ? " " : "",
                                   topology_coordinate(&blueprint->topology, router, d));
    if (exporting->groups)
        snprintf(texts.group, sizeof texts.group, "%u", exporting->groups[router]);
    if (topology_level(&blueprint->topology, router) != FW_NONE)
        snprintf(texts.level, sizeof texts.level, "%u", topology_level(&blueprint->topology, router));
    return texts;
}

/* One row of any format: a link between two routers, or a terminal and a router. */
struct exported_link {
    char from[16], to[16];
    uint32_t from_router, to_router; /* from_router FW_NONE: a terminal */
    const char *class;
    uint32_t latency, latency_back;
    double bandwidth;
};
typedef void link_writer(const struct exporting *exporting, const struct exported_link *link);

static void write_terminal_links(const struct exporting *exporting, link_writer *write)
{
    const struct blueprint *blueprint = exporting->blueprint;
    const struct topology *topology = &blueprint->topology;
    double bandwidth = blueprint_terminal_bandwidth(blueprint);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        uint32_t latency = terminal_latency(&blueprint->latencies, terminal);
        uint32_t ends[] = {topology_router_of(topology, terminal), topology_ejects_at(topology, terminal)};
        for (uint32_t i = 0; i < (topology->ops->ejects_at ? 2 : 1) * blueprint->terminal_links; i++) {
            struct exported_link link = {.from_router = FW_NONE,
                                         .to_router = ends[i / blueprint->terminal_links],
                                         .class = "terminal",
                                         .latency = latency,
                                         .latency_back = latency,
                                         .bandwidth = bandwidth};
            snprintf(link.from, sizeof link.from, "t%u", terminal);
            snprintf(link.to, sizeof link.to, "r%u", link.to_router);
            write(exporting, &link);
        }
    }
}

static void export_links(const struct exporting *exporting, link_writer *write)
{
    for (struct blueprint_link at = {0}; blueprint_next(exporting->blueprint, &at);) {
        struct exported_link link = {.from_router = at.from.router,
                                     .to_router = at.to.router,
                                     .class = blueprint_class_name(exporting->blueprint, at.class),
                                     .latency = at.latency,
                                     .latency_back = at.latency_back,
                                     .bandwidth = at.bandwidth};
        snprintf(link.from, sizeof link.from, "r%u", at.from.router);
        snprintf(link.to, sizeof link.to, "r%u", at.to.router);
        write(exporting, &link);
    }
    write_terminal_links(exporting, write);
}

/* ---- GraphML ---- */

static void xml_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
        if (entity)
            fputs(entity, out);
        else
            fputc(*text, out);
    }
}

static void xml_data(FILE *out, const char *key, const char *text)
{
    if (!*text)
        return;
    fprintf(out, "<data key=\"%s\">", key);
    xml_text(out, text);
    fputs("</data>", out);
}

static void graphml_link(const struct exporting *exporting, const struct exported_link *link)
{
    fprintf(exporting->out, "    <edge source=\"%s\" target=\"%s\">", link->from, link->to);
    xml_data(exporting->out, "class", link->class);
    fprintf(exporting->out,
            "<data key=\"latency\">%u</data><data key=\"latency_back\">%u</data>"
            "<data key=\"bandwidth\">%.17g</data></edge>\n",
            link->latency, link->latency_back, link->bandwidth);
}

static void write_graphml(const struct exporting *exporting)
{
    static const struct {
        const char *name, *of, *type;
    } keys[] = {{"kind", "node", "string"},      {"coordinates", "node", "string"}, {"group", "node", "int"},
                {"level", "node", "int"},        {"class", "edge", "string"},       {"latency", "edge", "int"},
                {"latency_back", "edge", "int"}, {"bandwidth", "edge", "double"}};
    const struct topology *topology = &exporting->blueprint->topology;
    FILE *out = exporting->out;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
          out);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        fprintf(out, "  <key id=\"%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>\n", keys[i].name, keys[i].of,
                keys[i].name, keys[i].type);
    fputs("  <graph id=\"network\" edgedefault=\"undirected\">\n", out);
    for (uint32_t router = 0; router < topology->routers; router++) {
        struct place_texts place = export_place(exporting, router);
        fprintf(out, "    <node id=\"r%u\"><data key=\"kind\">router</data>", router);
        xml_data(out, "coordinates", place.coordinates);
        xml_data(out, "group", place.group);
        xml_data(out, "level", place.level);
        fputs("</node>\n", out);
    }
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        fprintf(out, "    <node id=\"t%u\"><data key=\"kind\">terminal</data></node>\n", terminal);
    export_links(exporting, graphml_link);
    fputs("  </graph>\n</graphml>\n", out);
}

/* ---- DOT ---- */

static void dot_attribute(FILE *out, const char *key, const char *text)
{
    if (*text)
        fprintf(out, ", %s=\"%s\"", key, text);
}

static void dot_link(const struct exporting *exporting, const struct exported_link *link)
{
    fprintf(exporting->out, "  %s -- %s [class=\"%s\", latency=%u, latency_back=%u, bandwidth=%.17g];\n", link->from,
            link->to, link->class, link->latency, link->latency_back, link->bandwidth);
}

static void write_dot(const struct exporting *exporting)
{
    const struct topology *topology = &exporting->blueprint->topology;
    FILE *out = exporting->out;
    fputs("graph network {\n", out);
    for (uint32_t router = 0; router < topology->routers; router++) {
        struct place_texts place = export_place(exporting, router);
        fprintf(out, "  r%u [kind=router, shape=box", router);
        dot_attribute(out, "coordinates", place.coordinates);
        dot_attribute(out, "group_number", place.group); /* "group" means something to Graphviz */
        dot_attribute(out, "level", place.level);
        fputs("];\n", out);
    }
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        fprintf(out, "  t%u [kind=terminal, shape=point];\n", terminal);
    export_links(exporting, dot_link);
    fputs("}\n", out);
}

/* ---- CSV ---- */

static void csv_place(const struct exporting *exporting, uint32_t router)
{
    struct place_texts place = {0};
    if (router != FW_NONE)
        place = export_place(exporting, router);
    fprintf(exporting->out, ",%s,%s,%s", place.coordinates, place.group, place.level);
}

static void csv_link(const struct exporting *exporting, const struct exported_link *link)
{
    fprintf(exporting->out, "%s,%s,%s,%u,%u,%.17g", link->from, link->to, link->class, link->latency,
            link->latency_back, link->bandwidth);
    csv_place(exporting, link->from_router);
    csv_place(exporting, link->to_router);
    fputc('\n', exporting->out);
}

static void write_csv(const struct exporting *exporting)
{
    fputs("from,to,class,latency,latency_back,bandwidth,from_coordinates,from_group,from_level,to_coordinates,to_group,"
          "to_level\n",
          exporting->out);
    export_links(exporting, csv_link);
}

/* ---- what topology `file` reads ---- */

static void write_file(const struct exporting *exporting)
{
    const struct blueprint *blueprint = exporting->blueprint;
    const struct topology *topology = &blueprint->topology;
    FILE *out = exporting->out;
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

/* ---- the choice ---- */

static const struct {
    const char *ending;
    void (*write)(const struct exporting *exporting);
} formats[] = {{".graphml", write_graphml}, {".dot", write_dot}, {".csv", write_csv}, {".txt", write_file}};
#define FORMATS (sizeof formats / sizeof *formats)

static size_t export_format(const char *path)
{
    size_t format = 0;
    while (format < FORMATS && !name_ends_with(path, formats[format].ending))
        format++;
    return format;
}

bool export_check(const struct blueprint *blueprint, const char *path, struct errors *errors)
{
    size_t format = export_format(path);
    if (format == FORMATS)
        return errors_add(errors, "--export: found '%s', accepted: a name that ends with .graphml, .dot, .csv or .txt",
                          path);
    if (formats[format].write == write_file && blueprint->topology.ops->ejects_at) {
        errors_add(errors,
                   "--export: packets of \"%s\" leave at another router than they enter, which '%s' cannot say; "
                   "accepted: .graphml, .dot, .csv",
                   blueprint->topology.ops->name, path);
        return false;
    }
    return true;
}

bool export_write(const struct blueprint *blueprint, const char *path, struct errors *errors)
{
    struct output_file file;
    struct arena scratch = {0};
    if (!output_open(&file, path, errors))
        return false;
    struct exporting exporting = {
        .blueprint = blueprint, .groups = topology_groups(&blueprint->topology, &scratch), .out = file.stream};
    formats[export_format(path)].write(&exporting);
    arena_release(&scratch);
    return output_commit(&file, errors);
}
