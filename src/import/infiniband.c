/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fabric as a network file, a file of routes and a configuration that names both,
 * see infiniband.h. The tables of the switches become lines of routes by node, or by
 * router where all nodes of a router fare alike.
 */
#include "import/infiniband.h"

#include "base/text.h"
#include "config/source.h"
#include "config/written.h"

#include <inttypes.h>
#include <string.h>

struct fabric_files {
    const char *network, *routes; /* beside the result; routes NULL: there are no tables */
};

/* ---- notes ---- */

#define fabric_note(fabric, kind, ...) fabric_say(fabric, kind, arena_format((fabric)->import->arena, __VA_ARGS__))
static void fabric_say(const struct fabric *fabric, enum import_kind kind, const char *what)
{
    errors_add(fabric->import->notes, "%s: %s [%s]", fabric->import->file, what,
               kind == DECISIVE ? "decisive" : "harmless");
    *fabric->import->decisive += kind == DECISIVE;
}

static void note_speeds(const struct fabric *fabric)
{
    const char *speed = fabric->ports[0].speed;
    bool is_one = true;
    for (uint32_t i = 0; i < fabric->port_count; i++)
        is_one = is_one && strcmp(fabric->ports[i].speed, speed) == 0;
    if (!is_one)
        fabric_note(fabric, DECISIVE,
                    "links of different speeds, which are alike here; nearest: network.channel.bandwidths by class");
    else if (*speed)
        fabric_note(fabric, HARMLESS, "the speed of links, %s; nearest: network.channel.bandwidth", speed);
}

static void note_rest(const struct fabric *fabric, bool has_tables)
{
    uint32_t several = 0;
    for (uint32_t terminal = 0; terminal < fabric->terminal_count; terminal++)
        several += fabric->ports[fabric->terminals[terminal]].lmc > 0;
    note_speeds(fabric);
    if (!has_tables)
        return;
    if (several)
        fabric_note(fabric, DECISIVE, "%u ports have several lids (lmc above 0); the routes are those of the first one",
                    several);
    if (fabric->levels) {
        fabric_note(fabric, HARMLESS,
                    "SL2VL tables; each service level is a lane of its own, as routing engines mean it");
        return;
    }
    fabric_note(fabric, DECISIVE,
                "the virtual lane that a packet takes; here all are in one VC, as minhop, updn, ftree and dor have it, "
                "which lash, "
                "dfsssp, nue and torus-2QoS have not; nearest: --paths with the service levels");
}

/* ---- the network ---- */

static const struct fabric_node *router_node(const struct fabric *fabric, uint32_t router)
{
    return &fabric->nodes[fabric->routers[router]];
}

/* The router behind a switch's port; FABRIC_NONE: an adapter. */
static uint32_t router_behind(const struct fabric *fabric, const struct fabric_port *port)
{
    return fabric->nodes[fabric->ports[port->peer].node].router;
}

/* A name goes into a comment, of one line. */
static void print_name(FILE *out, const char *name)
{
    for (; *name; name++)
        putc((unsigned char)*name < ' ' ? '?' : *name, out);
}

/* Each cable once, at the switch of the lower number, by its ports: the order by which "link K" counts. */
static void print_router(const struct fabric *fabric, FILE *out, uint32_t router)
{
    const struct fabric_node *node = router_node(fabric, router);
    fprintf(out, "router %u", router);
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct fabric_port *port = &fabric->ports[i];
        uint32_t behind = router_behind(fabric, port);
        if (behind == FABRIC_NONE)
            fprintf(out, " node %u", fabric->ports[port->peer].terminal);
        else if (behind > router)
            fprintf(out, " router %u", behind);
    }
    fputs("  # ", out);
    print_name(out, node->name);
    fprintf(out, ", guid 0x%016" PRIx64 "\n", node->guid);
}

static void print_network(const struct fabric *fabric, FILE *out)
{
    fprintf(out, "# network of %s: switches are routers, ports of adapters are nodes\n", fabric->import->file);
    for (uint32_t router = 0; router < fabric->router_count; router++)
        print_router(fabric, out, router);
    for (uint32_t terminal = 0; terminal < fabric->terminal_count; terminal++) {
        const struct fabric_port *port = &fabric->ports[fabric->terminals[terminal]];
        fprintf(out, "# node %u: ", terminal);
        print_name(out, fabric->nodes[port->node].name);
        fprintf(out, ", port %u", port->number);
        if (port->lid != FABRIC_NONE)
            fprintf(out, ", lid %u", port->lid);
        fputc('\n', out);
    }
}

/* ---- routes ---- */

static uint32_t port_to(const struct fabric *fabric, uint32_t router, uint32_t terminal)
{
    return fabric->tables[(size_t)router * fabric->terminal_count + terminal];
}

static const struct fabric_port *port_by_number(const struct fabric *fabric, uint32_t router, uint32_t number)
{
    const struct fabric_node *node = router_node(fabric, router);
    for (uint32_t i = node->first; i < node->first + node->count; i++)
        if (fabric->ports[i].number == number)
            return &fabric->ports[i];
    return NULL;
}

/* The links between two routers before this one, counted at the lower of them; and how many there are. */
static uint32_t link_number(const struct fabric *fabric, const struct fabric_port *port, uint32_t *links)
{
    const struct fabric_port *other = &fabric->ports[port->peer];
    uint32_t here = fabric->nodes[port->node].router, there = fabric->nodes[other->node].router, number = 0;
    const struct fabric_port *lower = here < there ? port : other;
    const struct fabric_node *node = &fabric->nodes[lower->node];
    *links = 0;
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        if (fabric->nodes[fabric->ports[fabric->ports[i].peer].node].router != (here < there ? there : here))
            continue;
        number += fabric->ports[i].number < lower->number;
        ++*links;
    }
    return number;
}

/* The port by which a packet goes on; NULL where it is dropped: one without a cable, or to an adapter. */
static const struct fabric_port *way_on(const struct fabric *fabric, uint32_t router, uint32_t terminal)
{
    const struct fabric_port *port = port_by_number(fabric, router, port_to(fabric, router, terminal));
    return port && router_behind(fabric, port) != FABRIC_NONE ? port : NULL;
}

static void print_via(const struct fabric *fabric, FILE *out, uint32_t router, const char *to, uint32_t number,
                      uint32_t terminal)
{
    const struct fabric_port *port = way_on(fabric, router, terminal);
    uint32_t links, link;
    if (!port)
        return;
    link = link_number(fabric, port, &links);
    fprintf(out, "router %u to %s %u via router %u", router, to, number, router_behind(fabric, port));
    if (links > 1)
        fprintf(out, " link %u", link);
    fputc('\n', out);
}

/* The terminals of a router are those from `first` on. */
static void print_routes_to(const struct fabric *fabric, FILE *out, uint32_t exit, uint32_t first, uint32_t end)
{
    for (uint32_t router = 0; router < fabric->router_count; router++) {
        uint32_t terminal = first, port = port_to(fabric, router, first);
        while (terminal < end && port_to(fabric, router, terminal) == port)
            terminal++;
        if (router == exit)
            continue;
        if (terminal == end)
            print_via(fabric, out, router, "router", exit, first);
        else
            for (terminal = first; terminal < end; terminal++)
                print_via(fabric, out, router, "node", terminal, terminal);
    }
}

static uint32_t fabric_exit(const struct fabric *fabric, uint32_t terminal)
{
    const struct fabric_port *port = &fabric->ports[fabric->terminals[terminal]];
    return fabric->nodes[fabric->ports[port->peer].node].router;
}

/* Terminals of a router are in a row; returns where those of the next one begin. */
static uint32_t router_end(const struct fabric *fabric, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < fabric->terminal_count && fabric_exit(fabric, end) == fabric_exit(fabric, first))
        end++;
    return end;
}

static uint32_t level_of(const struct fabric *fabric, uint32_t source, uint32_t destination)
{
    return fabric->levels[(size_t)source * fabric->terminal_count + destination];
}

/* Of the terminals of two routers: one line where all are alike. */
static void print_levels_between(const struct fabric *fabric, FILE *out, uint32_t from, uint32_t from_end, uint32_t to,
                                 uint32_t to_end)
{
    bool are_alike = true;
    for (uint32_t s = from; s < from_end; s++)
        for (uint32_t d = to; d < to_end; d++)
            are_alike = are_alike && level_of(fabric, s, d) == level_of(fabric, from, to);
    if (are_alike)
        fprintf(out, "router %u to router %u vc %u\n", fabric_exit(fabric, from), fabric_exit(fabric, to),
                level_of(fabric, from, to));
    for (uint32_t s = from; s < from_end && !are_alike; s++)
        for (uint32_t d = to; d < to_end; d++)
            fprintf(out, "node %u to node %u vc %u\n", s, d, level_of(fabric, s, d));
}

static void print_levels(const struct fabric *fabric, FILE *out)
{
    fprintf(out, "# service levels of %s\n", fabric->import->paths);
    for (uint32_t from = 0; from < fabric->terminal_count; from = router_end(fabric, from))
        for (uint32_t to = 0; to < fabric->terminal_count; to = router_end(fabric, to))
            if (from != to)
                print_levels_between(fabric, out, from, router_end(fabric, from), to, router_end(fabric, to));
}

static void print_routes(const struct fabric *fabric, FILE *out)
{
    fprintf(out, "# forwarding tables of %s\n", fabric->import->routes);
    for (uint32_t first = 0, end; first < fabric->terminal_count; first = end) {
        end = router_end(fabric, first);
        print_routes_to(fabric, out, fabric_exit(fabric, first), first, end);
    }
    if (fabric->level_count > 1)
        print_levels(fabric, out);
}

static void note_dropped(const struct fabric *fabric)
{
    uint64_t dropped = 0;
    for (uint32_t terminal = 0; terminal < fabric->terminal_count; terminal++)
        for (uint32_t router = 0; router < fabric->router_count; router++)
            dropped += router != fabric_exit(fabric, terminal) && !way_on(fabric, router, terminal);
    if (dropped)
        fabric_note(fabric, DECISIVE,
                    "%" PRIu64 " entries that drop packets; \"flitwarp check\" names the pairs without a way, which "
                    "\"unreachable\": \"allow\" accepts",
                    dropped);
}

/* At its own switch a packet goes to its adapter. */
static bool check_exits(struct fabric *fabric)
{
    for (uint32_t terminal = 0; terminal < fabric->terminal_count; terminal++) {
        const struct fabric_port *port = &fabric->ports[fabric->terminals[terminal]];
        uint32_t exit = fabric_exit(fabric, terminal), due = fabric->ports[port->peer].number;
        if (port_to(fabric, exit, terminal) != due)
            return errors_add(fabric->import->errors,
                              "%s: switch \"%s\" sends packets to lid %u by port %u, but that hangs on its port %u",
                              fabric->file, router_node(fabric, exit)->name, port->lid, port_to(fabric, exit, terminal),
                              due);
    }
    return true;
}

/* ---- files ---- */

static bool write_file(const struct fabric *fabric, const char *path,
                       void (*print)(const struct fabric *fabric, FILE *out))
{
    struct output_file file;
    if (!output_open(&file, path, fabric->import->errors))
        return false;
    print(fabric, file.stream);
    return output_commit(&file, fabric->import->errors);
}

/* Beside the result, and with its name: "fabric.json" has "fabric.network.txt" and "fabric.routes.txt". */
static bool name_files(struct fabric *fabric, struct fabric_files *files, bool has_tables)
{
    struct import *import = fabric->import;
    if (!import->output || strcmp(import->output, "-") == 0)
        return errors_add(import->errors, "%s: a fabric becomes several files; accepted: -o OUT.json", import->file);
    size_t length = strlen(import->output);
    length -= name_ends_with(import->output, ".json") ? strlen(".json") : 0;
    files->network = arena_format(import->arena, "%.*s.network.txt", (int)length, import->output);
    files->routes = has_tables ? arena_format(import->arena, "%.*s.routes.txt", (int)length, import->output) : NULL;
    const struct written_file written[] = {{"-o", files->network}, {"-o", files->routes}};
    return written_spare(written, 2, import->read, paths_are_one, import->errors);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_settings(struct import *import, const struct fabric_files *files, uint32_t lanes)
{
    import->ours = import->result;
    import_set(import, "network.topology", "type=file");
    import_put(import, "network.topology.file", json_text(import->arena, base_name(files->network)));
    import_set(import, "network.routing", "type=%s", files->routes ? "file" : "least_latency");
    if (files->routes)
        import_put(import, "network.routing.file", json_text(import->arena, base_name(files->routes)));
    else
        import_comment(import, import_ours(import, "network.routing"), "no tables were given: a shortest way each");
    import_set(import, "network.router", "type=input_queued num_vcs=%u buffer_depth=64", lanes);
    struct json *applications = import_put(import, "workload.applications", json_array(import->arena));
    import->ours = json_append(applications, json_object(import->arena));
    import_comment(import, applications, "a fabric has no workload; this is one to begin with");
    import_set(import, "", "type=blast load=0.1 traffic=uniform_random warmup=2000 sample=10000");
}

bool import_infiniband(struct import *import, const char *bytes, size_t size)
{
    struct fabric fabric = {.import = import, .file = import->file};
    struct fabric_files files = {0};
    bool has_tables = import->routes;
    (void)size;
    if (has_tables)
        source_note_file(import->read, import->arena, import->routes);
    if (import->paths)
        source_note_file(import->read, import->arena, import->paths);
    bool is_good = name_files(&fabric, &files, has_tables) && fabric_read_topology(&fabric, bytes) &&
                   (!has_tables || (fabric_read_tables(&fabric, import->routes) && check_exits(&fabric))) &&
                   (!import->paths || fabric_read_levels(&fabric, import->paths));
    if (is_good)
        note_rest(&fabric, has_tables);
    if (is_good && has_tables)
        note_dropped(&fabric);
    if (is_good && !(import->is_strict && *import->decisive)) {
        is_good = write_file(&fabric, files.network, print_network) &&
                  (!has_tables || write_file(&fabric, files.routes, print_routes));
    }
    if (is_good)
        put_settings(import, &files, fabric.levels ? fabric.level_count : 1);
    fabric_release(&fabric);
    return is_good;
}
