/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimuRed's configuration (simured.conf). What a file leaves out has SimuRed's
 * default. docs/simured.md has the table of both sides' settings.
 */
#include "import/import.h"

#include <math.h>

/* Where SimuRed reads a number, 1 is true; where it reads a word, that is "true" alone, and a number is false. */
static bool simured_is_true(struct import *import, const struct json *node, bool fallback)
{
    if (node && node->type == JSON_TEXT)
        return *import_choice(import, node, "true=1 false=", fallback ? "1" : "");
    return import_count(import, node, fallback, 0, 1);
}

static bool simured_is_word_true(struct import *import, const char *key, bool fallback)
{
    const struct json *node = import_take(import, key);
    bool is_true = simured_is_true(import, node, fallback);
    return is_true && (!node || node->type == JSON_TEXT);
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
}

static void simured_put_physical(struct import *import)
{
    import_set(import, "network.router", "physical_channels=%s",
               truth_word(simured_is_word_true(import, "PHYSICAL", false)));
}

static bool simured_has_trace(struct import *import)
{
    return simured_is_true(import, import_take(import, "USETRACE"), false);
}

/* Does SimuRed run the simulation that the file describes? Else several, with other values for some of its settings. */
static bool simured_is_single(struct import *import)
{
    return simured_is_word_true(import, "JUSTONE", false) ||
           (import_count_at(import, "SIMUVAR2", 4, 0, 4) == 0 &&
            (simured_has_trace(import) || import_count_at(import, "PUNTOS", 5, 1, 1 << 20) == 1));
}

static void simured_judge_batch(struct import *import)
{
    struct json *node = import_take(import, "JUSTONE");
    if (simured_is_single(import))
        return;
    if (!node)
        node = json_add(import->root, "JUSTONE", json_text(import->arena, "false"));
    import_note(
        import, node, DECISIVE,
        "SimuRed runs several simulations, in which SIMUVAR and SIMUVAR2 have other values; one is imported, with "
        "the values of the settings themselves",
        "bin/flitwarp-sweep, see docs/simured.md");
}

/* Where VCs are varied, channels of terminals are as many, unless the file says otherwise; else one. */
static void simured_put_interface(struct import *import)
{
    bool are_equal = simured_is_word_true(import, "ALLVIRTEQ", true) && !simured_is_single(import) &&
                     import_count_at(import, "SIMUVAR2", 4, 0, 4) == 4;
    unsigned long long others = are_equal ? import_count_at(import, "NUMVIRT", 1, 1, 64) : 1;
    unsigned long long injection = import_count_at(import, "NUMVIRTINJ", others, 1, 64),
                       ejection = import_count_at(import, "NUMVIRTEJE", others, 1, 64);
    import_set(import, "network.router", "lane_free=behind_tail order=original");
    import_set(import, "network.interface", "injection_channels=%llu ejection_channels=%llu", injection, ejection);
    if (injection > ejection)
        import_note(
            import, import_take(import, "NUMVIRTINJ"), DECISIVE,
            "SimuRed's program overruns an array with more injection than ejection channels, and may give anything",
            NULL);
}

/* Cycles in which the network makes so many packets. */
static double simured_cycles_of(struct import *import, double packets, double load, double flits)
{
    double nodes = 1;
    for (const struct json *width = import_ours(import, "/network.topology.widths")->first; width; width = width->next)
        nodes *= width->number;
    return ceil(packets * flits / (nodes * load));
}

/* A single simulation has the first load of those that would be varied, unless something else is. */
static double simured_load(struct import *import, const struct json **rate)
{
    bool is_varied = import_count_at(import, "SIMUVAR", 0, 0, 64) == 0, is_single = simured_is_single(import);
    struct json *fixed = import_look(import, "PACKPROD");
    bool is_first = is_single ? is_varied : !fixed;
    *rate = import_take(import, is_first ? "LAVARINI" : "PACKPROD");
    if (is_first)
        import_note(import, import_take(import, "PACKPROD"), HARMLESS,
                    "SimuRed takes LAVARINI as the load while SIMUVAR is 0", NULL);
    return import_number(import, *rate, is_first ? 0.1 : 0.5, 1e-9, 64);
}

static void simured_put_blast(struct import *import)
{
    const struct json *rate;
    double load = simured_load(import, &rate);
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
    if (!simured_has_trace(import)) {
        simured_put_blast(import);
        return;
    }
    import_set(import, "", "type=trace");
    import_put(import, "file", json_text(import->arena, name ? import_path(import, name) : "trace.trc"));
    import_set(import, "format", "type=simured default_flits=%llu compatible=true",
               import_count_at(import, "PACKLEN", 64, 1, 1 << 24) +
                   import_count_at(import, "PACKHEADLEN", 0, 0, 1 << 24));
    import_set(import, "", "max_packet=%d eager_limit=%.17g", 1 << 24, 1e18); /* packets, whatever their length */
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
    {IMPORT_BY(simured_put_physical, "PHYSICAL", NULL)},
    {IMPORT_BY(simured_put_interface, "NUMVIRTINJ", NULL)},
    {IMPORT_BY(simured_judge_batch, "JUSTONE", NULL)},
    {IMPORT_BY(simured_put_application, "USETRACE", NULL)},
    {0},
};

static const struct import_lost simured_lost[] = {
    /* taken by the rows above, where no trace replaces them */
    {"NODOSDIM; NUMVIRTEJE; ALLVIRTEQ; NUMDIR; ROUTING; PACKNUM; PACKLEN; PACKHEADLEN; PACKPROD; "
     "PACKNUMDUMMY; TRACENAME; SIMUVAR; SIMUVAR2; LAVARINI; PUNTOS",
     HARMLESS, NULL, NULL},
    {"SWITCH=0", HARMLESS, "SimuRed switches by wormhole, whatever this says", NULL},
    {"NOREADLEN=0", HARMLESS, "SimuRed reads the lengths in a trace, whatever this says", NULL},
    {"SIMSTOPEMIT=0", DECISIVE,
     "SimuRed stops when the last packet has left its source, and its means are without those that are on their way",
     NULL},
    {"LAVARFIN*; LAVARINI2; PUNTOS2; ESCALA*", HARMLESS, "of several simulations, of which one is imported", NULL},
    {"LANG*; FINALSTATS*; STATPOINTS*", HARMLESS, "of what SimuRed prints", NULL},
    {0},
};

bool import_simured(struct import *import, const char *bytes, size_t size)
{
    import->root = import_read_simured(import, bytes, size);
    return import_all(import, simured_rows, simured_lost);
}
