/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimuRed's configuration (simured.conf): lines of a KEY and a value, # for
 * comments. What a file leaves out has SimuRed's default. docs/simured.md has the
 * table of both sides' settings.
 */
#include "import/import.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char no_batch[] = "one simulation is imported, not several";
static const char batch[] = "bin/flitwarp-sweep, see docs/simured.md";

/* Key, default, why it is not carried over, what comes nearest. */
static const struct import_row simured_rows[] = {
    {"SWITCH", "0", "wormhole is the only way of switching",
     "network.router.buffer_depth of a packet: virtual cut-through"},
    {"NOREADLEN", "0", "lengths in a trace are read", NULL},
    {"SIMSTOPEMIT", "0", "a run ends when all sampled packets have arrived", NULL},
    {"SIMUVAR*", NULL, no_batch, batch},
    {"LAVARINI*", NULL, no_batch, batch},
    {"LAVARFIN*", NULL, no_batch, batch},
    {"PUNTOS*", NULL, no_batch, batch},
    {"ESCALA*", NULL, no_batch, batch},
    /* carried over, or replaced by a trace */
    {"DIMENSIONS", NULL, NULL, NULL},
    {"NODOSDIM", NULL, NULL, NULL},
    {"NUMVIRT", NULL, NULL, NULL},
    {"NUMVIRTINJ", NULL, NULL, NULL},
    {"NUMVIRTEJE", NULL, NULL, NULL},
    {"ALLVIRTEQ", NULL, NULL, NULL},
    {"LONBUFFER", NULL, NULL, NULL},
    {"NUMDIR", NULL, NULL, NULL},
    {"FORWARDING", NULL, NULL, NULL},
    {"PHYSICAL", NULL, NULL, NULL},
    {"ROUTING", NULL, NULL, NULL},
    {"DELFIFO", NULL, NULL, NULL},
    {"DELCROSS", NULL, NULL, NULL},
    {"DELSWITCH", NULL, NULL, NULL},
    {"DELCHANNEL", NULL, NULL, NULL},
    {"PACKNUM", NULL, NULL, NULL},
    {"PACKLEN", NULL, NULL, NULL},
    {"PACKHEADLEN", NULL, NULL, NULL},
    {"PACKPROD", NULL, NULL, NULL},
    {"PACKNUMDUMMY", NULL, NULL, NULL},
    {"USETRACE", NULL, NULL, NULL},
    {"TRACENAME", NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

static const char *const routings[] = {"dimension_order", "dimension_order", "duato", "fully_adaptive"};

struct lines {
    struct import *import;
    uint32_t line;
};

/* One line: nothing, or a key and a value. */
static bool read_line(const struct lines *lines, struct json *settings, const char *text, size_t length)
{
    struct import *import = lines->import;
    char key[64] = "", value[512] = "";
    const char *line = arena_format(import->arena, "%.*s", (int)length, text);
    if (!line[strspn(line, " \t\r")] || line[strspn(line, " \t\r")] == '#')
        return true;
    if (sscanf(line, "%63s %511s", key, value) != 2) {
        errors_add(import->errors, "%s:%u: found \"%s\", expected a KEY and a value", import->file, lines->line, key);
        return false;
    }
    struct json *earlier = import_take(settings, key);
    char *end;
    double number = strtod(value, &end);
    struct json *node = *end ? json_text(import->arena, value) : json_number_f64(import->arena, number);
    node->file = import->file;
    node->line = lines->line;
    node->column = 1;
    json_add(settings, arena_text(import->arena, key), node);
    import_note(import, earlier, arena_format(import->arena, "set again in line %u", lines->line), NULL);
    return true;
}

static struct json *read_lines(struct import *import, const char *bytes, size_t size)
{
    struct json *settings = json_object(import->arena);
    struct lines lines = {.import = import};
    for (const char *at = bytes, *end = bytes + size; at < end; at++) {
        size_t length = strcspn(at, "\n");
        lines.line++;
        if (!read_line(&lines, settings, at, length))
            return NULL;
        at += length;
    }
    return settings;
}

static uint64_t take_count(struct import *import, const char *key, uint64_t fallback, uint64_t min, uint64_t max)
{
    return import_count(import, import_take(import->theirs, key), fallback, min, max);
}

/* 0 and 1, or words. */
static bool take_truth(struct import *import, const char *key, bool fallback)
{
    static const struct import_name words[] = {{"true", "1"}, {"false", ""}, {NULL, NULL}};
    struct json *node = import_take(import->theirs, key);
    if (node && node->type == JSON_TEXT)
        return *import_choice(import, node, words, fallback ? "1" : "");
    return import_count(import, node, fallback, 0, 1);
}

/* Nodes of the network. */
static uint64_t put_network(struct import *import)
{
    uint64_t dimensions = take_count(import, "DIMENSIONS", 2, 1, 16);
    uint64_t width = take_count(import, "NODOSDIM", 4, 2, 65536), nodes = 1;
    uint64_t routing = take_count(import, "ROUTING", 0, 0, 3);
    struct json *directions = import_take(import->theirs, "NUMDIR");
    bool is_torus = routing == 1, is_one_way = import_count(import, directions, 2, 1, 2) == 1;
    for (uint64_t d = 0; d < dimensions; d++)
        nodes *= width;
    import_put_text(import, import->ours, "network.topology.type", is_torus ? "torus" : "mesh");
    import_put_row(import, import->ours, "network.topology.widths", dimensions, width);
    import_put_text(import, import->ours, "network.routing.type",
                    is_torus && is_one_way ? "one_way" : routings[routing]);
    if (is_torus)
        import_put_text(import, import->ours, "network.routing.dateline", "none");
    if (is_one_way && !is_torus)
        import_note(import, directions, "a mesh needs channels in both directions", NULL);
    return nodes;
}

static uint64_t put_router(struct import *import)
{
    static const struct import_name delays[] = {{"DELFIFO", "buffer_delay"},
                                                {"DELCROSS", "crossbar_delay"},
                                                {"DELSWITCH", "switching_delay"},
                                                {"DELCHANNEL", "channel_delay"},
                                                {NULL, NULL}};
    struct json *router = import_put(import, import->ours, "network.router", json_object(import->arena));
    uint64_t vcs = take_count(import, "NUMVIRT", 1, 1, 64);
    uint64_t others = take_truth(import, "ALLVIRTEQ", true) ? vcs : 1; /* of injection and ejection channels */
    import_put_text(import, router, "type", "simured");
    import_put_u64(import, router, "num_vcs", vcs);
    import_put_u64(import, router, "buffer_depth", take_count(import, "LONBUFFER", 2, 1, 32767));
    for (const struct import_name *delay = delays; delay->theirs; delay++)
        import_put_u64(import, router, delay->ours, take_count(import, delay->theirs, 1, 0, 10000));
    import_put(import, router, "buffer_forwarding", json_bool(import->arena, take_truth(import, "FORWARDING", true)));
    import_put(import, router, "physical_channels", json_bool(import->arena, take_truth(import, "PHYSICAL", false)));
    import_put_text(import, router, "lane_free", "behind_tail");
    uint64_t injection = take_count(import, "NUMVIRTINJ", others, 1, 64);
    import_put_u64(import, import->ours, "network.interface.injection_channels", injection);
    import_put_u64(import, import->ours, "network.interface.ejection_channels",
                   take_count(import, "NUMVIRTEJE", others, 1, 64));
    import_put_u64(import, import->ours, "network.interface.injection_vcs", 1);
    return injection;
}

/* Cycles in which the network makes so many packets. */
static uint64_t cycles_of(double packets, double nodes, double load, double flits)
{
    return (uint64_t)ceil(packets * flits / (nodes * load));
}

static void put_blast(struct import *import, struct json *application, double nodes, uint64_t channels)
{
    struct json *rate = import_take(import->theirs, "PACKPROD");
    double load = import_number(import, rate, 0.1, 1e-9, 64);
    uint64_t flits = take_count(import, "PACKLEN", 64, 1, 1 << 24),
             head = take_count(import, "PACKHEADLEN", 0, 0, 1 << 24);
    import_put_text(import, application, "type", "blast");
    import_put_load(import, application, load * (double)(flits + head) / (double)flits, channels, rate);
    import_put_text(import, application, "size.type", "fixed");
    import_put_u64(import, application, "size.flits", flits + head);
    import_put_u64(import, application, "max_packet", flits + head);
    import_put_u64(import, application, "warmup",
                   cycles_of((double)take_count(import, "PACKNUMDUMMY", 0, 0, 1 << 30), nodes, load, (double)flits));
    import_put_u64(import, application, "sample",
                   cycles_of((double)take_count(import, "PACKNUM", 8000, 1, 1 << 30), nodes, load, (double)flits));
}

static void put_trace(struct import *import, struct json *application, const struct json *name)
{
    import_put_text(import, application, "type", "trace");
    import_put_text(import, application, "file", import_path(import, name));
    import_put_text(import, application, "format", "simured");
}

bool import_simured(struct import *import, const char *bytes, size_t size)
{
    import->theirs = read_lines(import, bytes, size);
    if (!import->theirs)
        return false;
    double nodes = (double)put_network(import);
    uint64_t channels = put_router(import);
    struct json *applications = json_array(import->arena), *application = json_object(import->arena);
    const struct json *name = import_take(import->theirs, "TRACENAME");
    json_append(applications, application);
    if (take_truth(import, "USETRACE", false) && name)
        put_trace(import, application, name);
    else
        put_blast(import, application, nodes, channels);
    import_put(import, import->ours, "workload.applications", applications);
    import_list_rest(import, import->theirs, simured_rows, "SimuRed");
    return import->errors->count == 0;
}
