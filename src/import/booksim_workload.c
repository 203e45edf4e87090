/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BookSim's traffic classes as applications: pattern, packet sizes, rate and
 * injection process of each, and the windows that all share. A rate counts packets
 * a node and cycle there unless injection_rate_uses_flits; ours counts flits.
 */
#include "import/booksim.h"

#include <string.h>

/* One traffic class on its way to an application. */
struct class
{
    struct booksim *booksim;
    uint32_t index;
    struct json *application;
    double packets; /* a node and cycle */
};

static const char *value_of(const struct class *class, const char *key)
{
    return booksim_of_class(class->booksim, key, class->index);
}

static double number_of(const struct class *class, const char *key, double min, double max)
{
    return booksim_number(class->booksim, key, value_of(class, key), min, max);
}

/* ---- traffic ---- */

struct traffic_row {
    const char *theirs, *ours;
    bool has_self; /* our pattern leaves the source out unless told */
    const char *why;
};

static const struct traffic_row traffics[] = {
    {"uniform", "uniform_random", true, NULL},
    {"bitcomp", "bit_complement", false, NULL},
    {"transpose", "transpose", false, NULL},
    {"bitrev", "bit_reverse", false, NULL},
    {"shuffle", "shuffle", false, NULL},
    {"tornado", "tornado", false, NULL},
    {"randperm", "random_permutation", true, NULL},
    {"neighbor", "neighbor", false, "goes one further in every dimension there, to the next number here"},
    {"hotspot", "hotspot", true, NULL},
    {"diagonal", "mix", false, NULL},
    {"bad_dragon", "adversarial", false, NULL},
    {"background", "uniform_random", true, "nodes are not excluded"},
    {"asymmetric", "uniform_random", true, "no pattern of two halves"},
    {"taper64", "uniform_random", true, "no pattern that prefers the neighbourhood"},
    {"badperm_yarc", "random_permutation", true, "no worst permutation of a folded Clos"},
    {0},
};

/* hotspot({nodes},{rates}); node 0 alone when nothing is said. */
static void put_hotspot(const struct class *class, struct json *traffic, const struct booksim_list *arguments)
{
    struct booksim *booksim = class->booksim;
    struct import *import = booksim->import;
    const char *name;
    struct booksim_list nodes = booksim_split(import->arena, arguments->count ? arguments->items[0] : "0", &name);
    struct json *terminals = import_put(import, traffic, "terminals", json_array(import->arena));
    for (uint32_t i = 0; i < nodes.count; i++)
        json_append(terminals,
                    json_number_u64(import->arena, booksim_whole(booksim, "traffic", nodes.items[i], 0, 4294967294)));
    for (uint32_t i = 2; i < arguments->count; i++)
        booksim_note(booksim, "traffic", "hotspot has nodes and rates only", NULL);
    if (arguments->count < 2)
        return;
    struct booksim_list rates = booksim_split(import->arena, arguments->items[1], &name);
    struct json *weights = import_put(import, traffic, "weights", json_array(import->arena));
    for (uint32_t i = 0; i < rates.count; i++)
        json_append(weights,
                    json_number_f64(import->arena, booksim_number(booksim, "traffic", rates.items[i], 0, 1e9)));
    if (rates.count != nodes.count)
        import_error(import, booksim_given(booksim, "traffic"), "found %u rates for %u nodes, expected one each",
                     rates.count, nodes.count);
}

/* 2/3 of it to the source itself, 1/3 to the next node. */
static void put_diagonal(const struct class *class, struct json *traffic)
{
    struct import *import = class->booksim->import;
    struct json *patterns = import_put(import, traffic, "patterns", json_array(import->arena));
    json_append(patterns, json_text(import->arena, "loopback"));
    json_append(patterns, json_text(import->arena, "neighbor"));
    struct json *weights = import_put(import, traffic, "weights", json_array(import->arena));
    json_append(weights, json_number_u64(import->arena, 2));
    json_append(weights, json_number_u64(import->arena, 1));
}

/* Patterns that mean something on their own topologies only. */
static const struct traffic_row off_grid = {"tornado", "random_permutation", false,
                                            "goes along the dimensions of a mesh or torus"};
static const struct traffic_row off_dragonfly = {"bad_dragon", "uniform_random", true,
                                                 "goes to the next group of a dragonfly"};

static uint64_t radix(struct booksim *booksim) { return booksim_count(booksim, "k", 1, 65536); }

static void put_traffic(const struct class *class)
{
    struct booksim *booksim = class->booksim;
    struct import *import = booksim->import;
    const char *value = value_of(class, "traffic"), *name;
    struct booksim_list arguments = booksim_split(import->arena, value, &name);
    if (!strpbrk(value, "{("))
        arguments.count = 0; /* the word itself */
    const struct traffic_row *row = IMPORT_FIND(traffics, name);
    const char *topology = booksim_value(booksim, "topology");
    bool is_grid = strcmp(topology, "mesh") == 0 || strcmp(topology, "torus") == 0 || strcmp(topology, "cmesh") == 0;
    if (row && strcmp(name, "tornado") == 0 && !is_grid)
        row = &off_grid;
    else if (row && strcmp(name, "bad_dragon") == 0 && strcmp(topology, "dragonflynew") != 0)
        row = &off_dragonfly;
    if (!row || row->why)
        booksim_note(booksim, "traffic", row ? row->why : "no such pattern", row ? row->ours : "uniform_random");
    row = row ? row : &traffics[0];
    struct json *traffic = import_put_text(import, class->application, "traffic.type", row->ours)->parent;
    if (row->has_self)
        import_put(import, traffic, "self", json_bool(import->arena, true));
    if (strcmp(name, "hotspot") == 0)
        put_hotspot(class, traffic, &arguments);
    else if (strcmp(name, "diagonal") == 0)
        put_diagonal(class, traffic);
    else if (strcmp(row->ours, "adversarial") == 0)
        import_put_u64(import, traffic, "group", 2 * radix(booksim) * radix(booksim));
    else if (strcmp(row->ours, "tornado") == 0 && radix(booksim) % 2)
        booksim_note(booksim, "traffic", "goes floor(k/2) - 1 routers there, ceil(k/2) - 1 here; k is odd", "tornado");
    if (arguments.count && strcmp(name, "hotspot") != 0)
        booksim_note(booksim, "traffic", "the pattern's arguments are not carried over", row->ours);
}

/* ---- sizes ---- */

/* Puts a size; returns its mean. */
static double put_sizes(const struct class *class, const struct booksim_list *sizes, const struct booksim_list *rates,
                        const char *key)
{
    struct import *import = class->booksim->import;
    struct json *block = import_put(import, class->application, "size", json_object(import->arena));
    struct json *list = json_array(import->arena), *weights = json_array(import->arena);
    double sum = 0, total = 0;
    for (uint32_t i = 0; i < sizes->count; i++) {
        const char *rate = !rates->count ? "1" : rates->items[i < rates->count ? i : rates->count - 1];
        double flits = (double)booksim_whole(class->booksim, key, sizes->items[i], 1, 1u << 30);
        double weight = booksim_number(class->booksim, "packet_size_rate", rate, 0, 1e9);
        json_append(list, json_number_f64(import->arena, flits));
        json_append(weights, json_number_f64(import->arena, weight));
        sum += weight * flits;
        total += weight;
    }
    if (sizes->count > 1) {
        import_put_mix(import, block, list, weights);
        return total > 0 ? sum / total : 0;
    }
    double flits = sizes->count ? list->first->number : 0;
    import_put_text(import, block, "type", "fixed");
    import_put_f64(import, block, "flits", flits);
    return flits;
}

/* {{1,5},{2}}: the sizes of the first class are 1 and 5. */
static double put_packet_sizes(const struct class *class)
{
    struct booksim *booksim = class->booksim;
    struct arena *arena = booksim->import->arena;
    const char *name;
    const char *key = booksim_given(booksim, "packet_size") || !booksim_given(booksim, "const_flits_per_packet")
                          ? "packet_size"
                          : "const_flits_per_packet";
    struct booksim_list sizes = booksim_split(arena, value_of(class, key), &name);
    struct booksim_list rates = booksim_split(arena, value_of(class, "packet_size_rate"), &name);
    return put_sizes(class, &sizes, &rates, key);
}

/* Reads and writes. Returns the flits that a rate in flits counts: requests and replies. */
static double put_requests(const struct class *class, double *request_mean)
{
    static const char *const keys[] = {"read_request_size", "write_request_size", "read_reply_size",
                                       "write_reply_size"};
    struct import *import = class->booksim->import;
    double writes = number_of(class, "write_fraction", 0, 1), flits[4];
    for (uint32_t i = 0; i < 4; i++)
        flits[i] = (double)booksim_whole(class->booksim, keys[i], value_of(class, keys[i]), 1, 1u << 30);
    struct json *size = import_put(import, class->application, "size", json_object(import->arena));
    import_put_read_write(import, size, 1 - writes, flits);
    *request_mean = (1 - writes) * flits[0] + writes * flits[1];
    return *request_mean + (1 - writes) * flits[2] + writes * flits[3];
}

/* ---- rate and process ---- */

static void put_load(struct class *class)
{
    struct booksim *booksim = class->booksim;
    double mean, counted;
    if (strcmp(value_of(class, "use_read_write"), "0") != 0)
        counted = put_requests(class, &mean);
    else
        counted = mean = put_packet_sizes(class);
    double rate = number_of(class, "injection_rate", 0, 1e6);
    bool in_flits = !booksim_is(booksim, "injection_rate_uses_flits", "0");
    class->packets = in_flits && counted > 0 ? rate / counted : rate;
    double load = in_flits && counted == mean ? rate : class->packets * mean;
    import_put_load(booksim->import, class->application, load, 1, booksim_given(booksim, "injection_rate"));
    if (!in_flits && mean != 1)
        import_comment(booksim->import, json_find(class->application, "load"),
                       "%g packets of %g flits a node and cycle", rate, mean);
}

/* From off to on with probability alpha in a cycle, back with beta; r1 packets a cycle while on. */
static void put_injection(const struct class *class)
{
    struct booksim *booksim = class->booksim;
    struct import *import = booksim->import;
    const char *value = value_of(class, "injection_process"), *name;
    struct booksim_list arguments = booksim_split(import->arena, value, &name);
    if (strcmp(name, "on_off") != 0) {
        import_put_text(import, class->application, "injection", "bernoulli");
        if (strcmp(value, "bernoulli") != 0)
            booksim_note(booksim, "injection_process", "no such process", "bernoulli");
        return;
    }
    static const char *const keys[] = {"burst_alpha", "burst_beta", "burst_r1"};
    double numbers[3];
    for (uint32_t i = 0; i < 3; i++)
        numbers[i] = strpbrk(value, "{(") && i < arguments.count
                         ? booksim_number(booksim, "injection_process", arguments.items[i], i == 2 ? -1 : 0, 1)
                         : number_of(class, keys[i], i == 2 ? -1 : 0, 1);
    double alpha = numbers[0], beta = numbers[1], r1 = numbers[2];
    double on_rate = r1 >= 0 ? r1 : alpha > 0 ? class->packets * (alpha + beta) / alpha : 1;
    if (on_rate > 1) {
        booksim_note(booksim, "injection_process", "a node would make more than a packet a cycle while on",
                     "workload.applications[].injection.on_rate 1");
        on_rate = 1;
    }
    struct json *injection = import_put_text(import, class->application, "injection.type", "on_off")->parent;
    import_put_f64(import, injection, "burst", beta > 0 ? 1 / beta : 1e12);
    import_put_f64(import, injection, "on_rate", on_rate);
    import_comment(import, injection, "bursts of 1 / beta cycles; pauses follow from the load");
}

/* ---- windows ---- */

static void put_windows(const struct class *class)
{
    struct booksim *booksim = class->booksim;
    struct import *import = booksim->import;
    uint64_t period = booksim_count(booksim, "sample_period", 1, 1000000000);
    uint64_t warmups = booksim_count(booksim, "warmup_periods", 0, 1000000);
    uint64_t samples = booksim_count(booksim, "max_samples", 1, 1000000);
    import_put_u64(import, class->application, "warmup", warmups * period);
    struct json *sample =
        import_put_u64(import, class->application, "sample", (samples > warmups ? samples - warmups : 1) * period);
    import_comment(import, sample, "max_samples periods, less those of the warm-up");
    if (booksim_number(booksim, "stopping_thres", booksim_value(booksim, "stopping_thres"), -1e9, 1e9) == 0)
        return;
    if (booksim_given(booksim, "stopping_thres") && class->index == 0)
        booksim_note(booksim, "stopping_thres", "the window has a fixed length, BookSim's longest", "sample auto");
    import_comment(import, sample, "BookSim may stop sooner, once latencies change by less than stopping_thres");
}

/* All nodes send so many packets as fast as they can. */
static void put_batch(const struct class *class)
{
    struct booksim *booksim = class->booksim;
    struct import *import = booksim->import;
    import_put_u64(import, class->application, "messages",
                   booksim_count(booksim, "batch_size", 1, 1000000000) *
                       booksim_count(booksim, "batch_count", 1, 1000000));
    import_put_f64(import, class->application, "load", 1);
    if (class->index == 0)
        booksim_note(booksim, "sim_type", "a pulse is sent at a given load; batches follow without pause",
                     "workload.applications[].type pulse");
}

static void put_class(struct booksim *booksim, struct json *applications, uint32_t index)
{
    struct import *import = booksim->import;
    struct class class = {booksim, index, json_append(applications, json_object(import->arena)), 0};
    bool is_batch = booksim_is(booksim, "sim_type", "batch");
    import_put_text(import, class.application, "type", is_batch ? "pulse" : "blast");
    if (applications->parent && booksim_count(booksim, "classes", 1, 256) > 1)
        import_put_text(import, class.application, "name", arena_format(import->arena, "class_%u", index));
    import_put_f64(import, class.application, "load", 0);
    put_traffic(&class);
    put_load(&class);
    put_injection(&class);
    if (is_batch)
        put_batch(&class);
    else
        put_windows(&class);
}

void booksim_workload(struct booksim *booksim)
{
    static const char *const by_class[] = {"traffic", "injection_rate", "packet_size", "injection_process"};
    struct import *import = booksim->import;
    uint32_t classes = (uint32_t)booksim_count(booksim, "classes", 1, 256);
    struct json *applications = import_put(import, import->ours, "workload.applications", json_array(import->arena));
    for (uint32_t i = 0; i < classes; i++)
        put_class(booksim, applications, i);
    for (size_t i = 0; i < sizeof by_class / sizeof *by_class; i++) {
        const char *value = booksim_value(booksim, by_class[i]), *name;
        if (*value == '{' && booksim_split(import->arena, value, &name).count > classes)
            booksim_note(booksim, by_class[i], "one value for each class: those beyond `classes` are left out",
                         strcmp(by_class[i], "packet_size") == 0 ? "{{1,5}} are two sizes of one class" : NULL);
    }
    if (booksim_is(booksim, "sim_type", "throughput"))
        booksim_note(booksim, "sim_type", "sampled packets are waited for; throughput is in the results of any run",
                     "accepted_load in the results");
    else if (!booksim_is(booksim, "sim_type", "latency") && !booksim_is(booksim, "sim_type", "batch"))
        booksim_note(booksim, "sim_type", "no such run", "blast");
}
