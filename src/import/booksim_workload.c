/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BookSim's traffic classes as applications: packet sizes, rate and injection
 * process of each, and the windows that all share; patterns are in booksim_traffic.c. A rate counts packets
 * a node and cycle there unless injection_rate_uses_flits; ours counts flits.
 */
#include "import/import.h"

#include <math.h>
#include <string.h>

/* The item of a class in a list of one value for each; the last one stands for those beyond. */
const struct json *booksim_value_of(struct import *import, const char *key, uint32_t class)
{
    const struct json *value = import_take(import, key);
    const char *name;
    if (*value->text != '{')
        return value;
    const struct json *list = booksim_split(import, value, &name);
    if (list->count)
        return json_at(list, class < list->count ? class : list->count - 1);
    import_error(import, value, "found an empty list, expected a value for each class");
    return booksim_item(import, value, "0");
}

static double booksim_number_of(struct import *import, const char *key, uint32_t class, double min, double max)
{
    return import_number(import, booksim_value_of(import, key, class), min, min, max);
}

/* ---- sizes ---- */

/* {{1,5},{2}}: the sizes of the first class are 1 and 5. Returns their mean. */
static double booksim_put_packet_sizes(struct import *import, uint32_t class)
{
    const char *name, *older = "const_flits_per_packet";
    const char *key = booksim_given(import, "packet_size") || !booksim_given(import, older) ? "packet_size" : older;
    const struct json *sizes = booksim_split(import, booksim_value_of(import, key, class), &name);
    const struct json *rates = booksim_split(import, booksim_value_of(import, "packet_size_rate", class), &name);
    struct json *list = json_array(import->arena), *weights = json_array(import->arena);
    const struct json *rate = rates->first;
    for (const struct json *size = sizes->first; size; size = size->next) {
        json_append(list, json_number_u64(import->arena, import_count(import, size, 1, 1, 1u << 30)));
        json_append(weights, json_number_f64(import->arena, import_number(import, rate, 1, 0, 1e9)));
        rate = rate && rate->next ? rate->next : rate;
    }
    if (list->count > 1)
        return import_put_mix(import, "size", list, weights, 0);
    double flits = list->count ? list->first->number : 0;
    import_set(import, "size", "type=fixed flits=%.17g", flits);
    return flits;
}

/* Reads and writes. Returns the flits that a rate in flits counts: requests and replies. */
static double booksim_put_requests(struct import *import, uint32_t class, double *request_mean)
{
    static const char *const keys[] = {"read_request_size", "write_request_size", "read_reply_size",
                                       "write_reply_size"};
    double writes = booksim_number_of(import, "write_fraction", class, 0, 1), flits[4];
    for (uint32_t i = 0; i < 4; i++)
        flits[i] = (double)import_count(import, booksim_value_of(import, keys[i], class), 1, 1, 1u << 30);
    import_put_read_write(import, 1 - writes, flits);
    *request_mean = (1 - writes) * flits[0] + writes * flits[1];
    return floor((flits[0] + flits[1] + flits[2] + flits[3]) / 2);
}

static bool booksim_has_vcs(struct import *import, const char *kind, unsigned long long first, unsigned long long last)
{
    static const char *const transfers[] = {"read", "write"};
    bool has = true;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t is_end = 0; is_end < 2; is_end++) {
            const char *key = arena_format(import->arena, "/%s_%s_%s_vc", transfers[i], kind, is_end ? "end" : "begin");
            has &= import_count(import, import_take(import, key), 0, 0, 63) == (is_end ? last : first);
        }
    return has;
}

/* Halves of the VCs for requests and replies are two protocol classes; a source sends replies first. */
static void booksim_put_vcs(struct import *import)
{
    unsigned long long vcs = import_count(import, import_take(import, "/num_vcs"), 1, 1, 64), half = vcs / 2;
    bool are_halves = vcs % 2 == 0 && booksim_has_vcs(import, "request", 0, half - 1) &&
                      booksim_has_vcs(import, "reply", half, vcs - 1);
    if (are_halves) {
        import_set(import, "/network", "protocol_classes=2");
        import_set(import, "/network.interface", "answers=1");
        import_set(import, "", "reply_protocol_class=1");
        if (booksim_is(import, "priority", "sequence"))
            booksim_note(import, "priority", DECISIVE,
                         "BookSim numbers a packet when it begins to leave, replies so before requests that wait",
                         "age");
        if (booksim_is(import, "topology", "dragonflynew")) /* its functions know nothing of such halves */
            import_set(import, "/network.routing", "shared_vcs=true");
        return;
    }
    import_note(import, import_take(import, "/use_read_write"), DECISIVE,
                "requests and replies have neither half of the VCs each", "network.protocol_classes");
}

/* ---- rate and process ---- */

/* Returns the packets of a node and cycle. */
static double booksim_put_load(struct import *import, uint32_t class)
{
    double mean, counted;
    if (strcmp(booksim_value_of(import, "use_read_write", class)->text, "0") != 0)
        counted = (booksim_put_vcs(import), booksim_put_requests(import, class, &mean));
    else
        counted = mean = booksim_put_packet_sizes(import, class);
    double rate = booksim_number_of(import, "injection_rate", class, 0, 1e6);
    bool in_flits = !booksim_is(import, "injection_rate_uses_flits", "0");
    double packets = in_flits && counted > 0 ? rate / counted : rate;
    double load = in_flits && counted == mean ? rate : packets * mean;
    import_put_load(import, load, 1, booksim_given(import, "injection_rate"));
    if (!in_flits && mean != 1)
        import_comment(import, import_ours(import, "load"), "%g packets of %g flits a node and cycle", rate, mean);
    return packets;
}

/* From off to on with probability alpha in a cycle, back with beta; r1 packets a cycle while on. */
static void booksim_put_injection(struct import *import, uint32_t class, double packets)
{
    static const char *const keys[] = {"burst_alpha", "burst_beta", "burst_r1"};
    const struct json *value = booksim_value_of(import, "injection_process", class);
    const char *name;
    const struct json *arguments = booksim_split(import, value, &name);
    if (strcmp(name, "on_off") != 0) {
        import_set(import, "", "injection=bernoulli");
        if (strcmp(value->text, "bernoulli") != 0)
            booksim_note(import, "injection_process", DECISIVE, "no such process", "bernoulli");
        return;
    }
    double numbers[3];
    for (uint32_t i = 0; i < 3; i++) {
        const struct json *argument = strpbrk(value->text, "{(") ? json_at(arguments, i) : NULL;
        double min = i == 2 ? -1 : 0;
        numbers[i] = import_number(import, argument ? argument : booksim_value_of(import, keys[i], class), min, min, 1);
    }
    double alpha = numbers[0], beta = numbers[1], r1 = numbers[2];
    double on_rate = r1 >= 0 ? r1 : alpha > 0 ? packets * (alpha + beta) / alpha : 1;
    /* No more than a packet a cycle while on, and what burst_r1 gives takes the place of the rate. */
    on_rate = on_rate > 1 ? 1 : on_rate;
    double made = alpha > 0 ? on_rate * alpha / (alpha + beta) : packets;
    if (packets > 0 && fabs(made - packets) > 1e-9 * packets)
        import_comment(import,
                       import_set(import, "", "load=%.17g", import_ours(import, "load")->number * made / packets),
                       "on_off: %g packets a node and cycle", made);
    struct json *last =
        import_set(import, "injection", "type=on_off burst=%.17g on_rate=%.17g", beta > 0 ? 1 / beta : 1e12, on_rate);
    import_comment(import, last->parent, "bursts of 1 / beta cycles; pauses follow from the load");
}

/* ---- windows ---- */

static void booksim_put_windows(struct import *import, uint32_t class)
{
    unsigned long long period = booksim_count(import, "sample_period", 1, 1000000000);
    unsigned long long warmups = booksim_count(import, "warmup_periods", 0, 1000000);
    unsigned long long samples = booksim_count(import, "max_samples", 1, 1000000);
    struct json *sample = import_set(import, "", "warmup=%llu sample=%llu", warmups * period,
                                     (samples > warmups ? samples - warmups : 1) * period);
    import_comment(import, sample, "max_samples periods, less those of the warm-up");
    if (booksim_is(import, "sim_type", "latency"))
        import_set(import, "", "wait_when_saturated=true");
    const struct json *threshold = import_take(import, "/stopping_thres");
    if (import_number(import, threshold, -1e9, -1e9, 1e9) == 0)
        return;
    if (threshold->file && class == 0)
        import_note(import, threshold, HARMLESS, "the window has a fixed length, BookSim's longest", "sample auto");
    import_comment(import, sample, "BookSim may stop sooner, once latencies change by less than stopping_thres");
}

static void booksim_put_class(struct import *import, uint32_t class, unsigned long long classes)
{
    bool is_batch = booksim_is(import, "sim_type", "batch");
    import_set(import, "", "type=%s", is_batch ? "pulse" : "blast");
    if (classes > 1)
        import_set(import, "", "name=class_%u", class);
    import_set(import, "", "load=0");
    booksim_put_traffic(import, class);
    booksim_put_injection(import, class, booksim_put_load(import, class));
    if (!is_batch) {
        booksim_put_windows(import, class);
        return;
    }
    /* All nodes send so many packets as fast as they can. */
    import_set(import, "", "messages=%llu load=1",
               booksim_count(import, "batch_size", 1, 1000000000) * booksim_count(import, "batch_count", 1, 1000000));
    if (class == 0)
        booksim_note(import, "sim_type", DECISIVE, "a pulse is sent at a given load; batches follow without pause",
                     "workload.applications[].type pulse");
}

void booksim_put_classes(struct import *import)
{
    static const char *const by_class[] = {"traffic", "injection_rate", "packet_size", "injection_process"};
    unsigned long long classes = booksim_count(import, "classes", 1, 256);
    struct json *applications = import_put(import, "workload.applications", json_array(import->arena));
    if (classes > 1)
        import_set(import, "/network.interface", "classes=%llu", classes);
    for (uint32_t i = 0; i < classes; i++) {
        import->ours = json_append(applications, json_object(import->arena));
        booksim_put_class(import, i, classes);
    }
    for (size_t i = 0; i < sizeof by_class / sizeof *by_class; i++) {
        const char *name;
        const struct json *value = import_take(import, by_class[i]);
        if (*value->text == '{' && booksim_split(import, value, &name)->count > classes)
            import_note(import, value, DECISIVE, "one value for each class: those beyond `classes` are left out",
                        strcmp(by_class[i], "packet_size") == 0 ? "{{1,5}} are two sizes of one class" : NULL);
    }
    if (booksim_is(import, "sim_type", "throughput"))
        booksim_note(import, "sim_type", HARMLESS,
                     "sampled packets are waited for; throughput is in the results of any run",
                     "accepted_load in the results");
    else if (!booksim_is(import, "sim_type", "latency") && !booksim_is(import, "sim_type", "batch"))
        booksim_note(import, "sim_type", DECISIVE, "no such run", "blast");
}
