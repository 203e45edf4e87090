/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimuRed's configuration (simured.conf). What a file leaves out has SimuRed's
 * default. docs/simured.md has the table of both sides' settings.
 */
#include "import/import.h"

#include <math.h>

/* 0 and 1, or words. */
static bool simured_is_true(struct import *import, const struct json *node, bool fallback)
{
    if (node && node->type == JSON_TEXT)
        return *import_choice(import, node, "true=1 false=", fallback ? "1" : "");
    return import_count(import, node, fallback, 0, 1);
}

static struct json *simured_as_truth(struct import *import, const struct json *node)
{
    return json_bool(import->arena, simured_is_true(import, node, false));
}

static void simured_put_network(struct import *import)
{
    static const char *const routings[] = {"dimension_order", "dimension_order", "duato", "fully_adaptive"};
    unsigned long long dimensions = import_count_at(import, "DIMENSIONS", 2, 1, 16),
                       width = import_count_at(import, "NODOSDIM", 4, 2, 65536);
    unsigned long long routing = import_count_at(import, "ROUTING", 0, 0, 3);
    bool is_torus = routing == 1, is_one_way = import_count_at(import, "NUMDIR", 2, 1, 2) == 1;
    import_set(import, "network.topology", "type=%s", is_torus ? "torus" : "mesh");
    import_put(import, "network.topology.widths", import_repeat(import, dimensions, width));
    import_set(import, "network.routing", "type=%s%s", is_torus && is_one_way ? "one_way" : routings[routing],
               is_torus ? " dateline=none" : "");
    if (is_one_way && !is_torus)
        import_note(import, import_take(import, "NUMDIR"), DECISIVE, "a mesh needs channels in both directions", NULL);
    import_set(import, "network.router", "type=simured");
    simured_is_true(import, import_take(import, "ALLVIRTEQ"), true); /* used later; a mistake in it is told here */
}

/* As many injection and ejection channels as VCs, or one, where the file does not say how many. */
static void simured_put_interface(struct import *import)
{
    unsigned long long others = simured_is_true(import, import_take(import, "ALLVIRTEQ"), true)
                                    ? import_count_at(import, "NUMVIRT", 1, 1, 64)
                                    : 1;
    unsigned long long injection = import_count_at(import, "NUMVIRTINJ", others, 1, 64);
    import_set(import, "network.router", "lane_free=behind_tail");
    import_set(import, "network.interface", "injection_channels=%llu ejection_channels=%llu injection_vcs=1", injection,
               import_count_at(import, "NUMVIRTEJE", others, 1, 64));
}

/* Cycles in which the network makes so many packets. */
static double simured_cycles_of(struct import *import, double packets, double load, double flits)
{
    double nodes = 1;
    for (const struct json *width = import_ours(import, "/network.topology.widths")->first; width; width = width->next)
        nodes *= width->number;
    return ceil(packets * flits / (nodes * load));
}

static void simured_put_blast(struct import *import)
{
    const struct json *rate = import_take(import, "PACKPROD");
    double load = import_number(import, rate, 0.1, 1e-9, 64);
    unsigned long long flits = import_count_at(import, "PACKLEN", 64, 1, 1 << 24),
                       head = import_count_at(import, "PACKHEADLEN", 0, 0, 1 << 24);
    double dummies = (double)import_count_at(import, "PACKNUMDUMMY", 0, 0, 1 << 30),
           packets = (double)import_count_at(import, "PACKNUM", 8000, 1, 1 << 30);
    uint64_t channels = (uint64_t)import_ours(import, "/network.interface.injection_channels")->number;
    import_set(import, "", "type=blast");
    import_put_load(import, load * (double)(flits + head) / (double)flits, channels, rate);
    import_set(import, "", "size.type=fixed size.flits=%llu max_packet=%llu", flits + head, flits + head);
    import_set(import, "", "warmup=%.17g sample=%.17g", simured_cycles_of(import, dummies, load, (double)flits),
               simured_cycles_of(import, packets, load, (double)flits));
}

static void simured_put_application(struct import *import)
{
    struct json *applications = import_put(import, "workload.applications", json_array(import->arena));
    const struct json *name = import_take(import, "TRACENAME");
    import->ours = json_append(applications, json_object(import->arena));
    if (!simured_is_true(import, import_take(import, "USETRACE"), false) || !name) {
        simured_put_blast(import);
        return;
    }
    import_set(import, "", "type=trace");
    import_put(import, "file", json_text(import->arena, import_path(import, name)));
    import_set(import, "", "format=simured");
}

static const struct import_row simured_rows[] = {
    {IMPORT_BY(simured_put_network, "DIMENSIONS", NULL)},
    {IMPORT_COUNT("NUMVIRT", "1", "network.router.num_vcs", 1, 64)},
    {IMPORT_COUNT("LONBUFFER", "2", "network.router.buffer_depth", 1, 32767)},
    {IMPORT_COUNT("DELFIFO", "1", "network.router.buffer_delay", 0, 10000)},
    {IMPORT_COUNT("DELCROSS", "1", "network.router.crossbar_delay", 0, 10000)},
    {IMPORT_COUNT("DELSWITCH", "1", "network.router.switching_delay", 0, 10000)},
    {IMPORT_COUNT("DELCHANNEL", "1", "network.router.channel_delay", 0, 10000)},
    {IMPORT_AS(simured_as_truth, "FORWARDING", "1", "network.router.buffer_forwarding")},
    {IMPORT_AS(simured_as_truth, "PHYSICAL", "0", "network.router.physical_channels")},
    {IMPORT_BY(simured_put_interface, "NUMVIRTINJ", NULL)},
    {IMPORT_BY(simured_put_application, "USETRACE", NULL)},
    {0},
};

static const struct import_lost simured_lost[] = {
    /* taken by the rows above, where no trace replaces them */
    {"NODOSDIM; NUMVIRTEJE; ALLVIRTEQ; NUMDIR; ROUTING; PACKNUM; PACKLEN; PACKHEADLEN; PACKPROD; "
     "PACKNUMDUMMY; TRACENAME",
     HARMLESS, NULL, NULL},
    {"SWITCH=0", DECISIVE, "router simured switches by wormhole alone",
     "network.router.type input_queued with switching virtual_cut_through"},
    {"NOREADLEN=0", HARMLESS, "lengths in a trace are read", NULL},
    {"SIMSTOPEMIT=0", HARMLESS, "a run ends when all sampled packets have arrived", NULL},
    {"SIMUVAR*; LAVARINI*; LAVARFIN*; PUNTOS*; ESCALA*", HARMLESS, "one simulation is imported, not several",
     "bin/flitwarp-sweep, see docs/simured.md"},
    {0},
};

bool import_simured(struct import *import, const char *bytes, size_t size)
{
    import->root = import_read_simured(import, bytes, size);
    if (!import->root)
        return false;
    import->rows = simured_rows;
    import->lost = simured_lost;
    import_carry(import, simured_rows, import->root, import->result);
    return import_list_rest(import);
}
