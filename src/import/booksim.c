/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BookSim's settings: the table of all of them, and how the importer asks for
 * one. What they become is in import_booksim_network.c and
 * import_booksim_workload.c; docs/booksim.md tells it.
 */
#include "import/booksim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char no_policy[] = "each VC has a buffer of its own";
static const char no_speculation[] = "VC and switch allocation follow each other";
static const char no_vc_range[] = "requests and replies share all VCs";
static const char no_subnet[] = "there is one network";
static const char no_trace[] = "flits are not watched in this way";
static const char no_batch[] = "belongs to sim_type = batch";
static const char no_print[] = "results have a form of their own";
static const char no_power[] = "power is not modelled";
static const char trace[] = "flitwarp trace --packet";
static const char series[] = "workload.series_interval and the packet log";
static const char results[] = "the results: flitwarp run --results";

/* Key, default, why it is not carried over, what comes nearest. */
const struct import_row booksim_rows[] = {
    /* network */
    {"topology", "torus", NULL, NULL},
    {"k", "8", NULL, NULL},
    {"n", "2", NULL, NULL},
    {"c", "1", NULL, NULL},
    {"x", "8", NULL, NULL},
    {"y", "8", NULL, NULL},
    {"xr", "1", NULL, NULL},
    {"yr", "1", NULL, NULL},
    {"in_ports", "5", NULL, NULL},
    {"out_ports", "5", NULL, NULL},
    {"routing_function", "none", NULL, NULL},
    {"use_noc_latency", "1", NULL, NULL},
    {"network_file", "", NULL, NULL},
    {"channel_file", "", "lengths of channels are not read from a file", "network.channel.latency"},
    {"subnets", "1", no_subnet, NULL},
    {"physical_subnetworks", "1", no_subnet, NULL},
    {"link_failures", "0", "channels do not fail", NULL},
    {"fail_seed", "0", "channels do not fail", NULL},
    {"express_channels", "0", "a mesh has channels between neighbours only", "network.topology.channels"},
    {"limit", "0", "all terminals take part", "workload.applications[].allocation"},
    /* router */
    {"router", "iq", NULL, NULL},
    {"num_vcs", "16", NULL, NULL},
    {"vc_buf_size", "8", NULL, NULL},
    {"buf_size", "-1", NULL, NULL},
    {"buffer_policy", "private", no_policy, "network.router.buffer_depth"},
    {"shared_buf_size", "0", no_policy, "network.router.buffer_depth"},
    {"private_buf*", NULL, no_policy, "network.router.buffer_depth"},
    {"feedback_*", NULL, no_policy, NULL},
    {"max_held_slots", "-1", no_policy, NULL},
    {"wait_for_tail_credit", "0", "a VC is free for the next packet when the tail has been sent", NULL},
    {"vc_busy_when_full", "0", NULL, NULL},
    {"vc_prioritize_empty", "0", "VCs are chosen whether they are empty or not", "network.router.vc_needs_credit"},
    {"vc_priority_donation", "0", "packets have no priorities", NULL},
    {"vc_shuffle_requests", "0", "requests keep their order", NULL},
    {"hold_switch_for_packet", "0", NULL, NULL},
    {"input_speedup", "1", NULL, NULL},
    {"output_speedup", "1", NULL, NULL},
    {"internal_speedup", "1", "the router's clock is not raised alone",
     "network.router.cycle below network.channel.cycle, all latencies in the finer ticks"},
    {"routing_delay", "1", NULL, NULL},
    {"vc_alloc_delay", "1", NULL, NULL},
    {"sw_alloc_delay", "1", NULL, NULL},
    {"st_prepare_delay", "0", NULL, NULL},
    {"st_final_delay", "1", NULL, NULL},
    {"credit_delay", "0", NULL, NULL},
    {"output_delay", "0", "there is no stage behind the crossbar", "network.router.crossbar_latency"},
    {"output_buffer_size", "-1", "an input-queued router has no buffers at its outputs",
     "network.router.type input_output_queued"},
    {"speculative", "0", no_speculation, "network.router.vc_allocation_latency 0"},
    {"spec_*", NULL, no_speculation, "network.router.vc_allocation_latency 0"},
    {"noq", "0", "VCs are not assigned by the next output", "network.routing voq, on a single router"},
    {"vct", "0", "belongs to the event-driven router", "network.router.switching virtual_cut_through"},
    /* allocators */
    {"vc_allocator", "islip", NULL, NULL},
    {"sw_allocator", "islip", NULL, NULL},
    {"spec_sw_allocator", "prio", no_speculation, NULL},
    {"arb_type", "round_robin", NULL, NULL},
    {"vc_alloc_arb_type", "round_robin", NULL, NULL},
    {"sw_alloc_arb_type", "round_robin", NULL, NULL},
    {"alloc_iters", "1", NULL, NULL},
    {"vc_alloc_iters", "0", NULL, NULL},
    {"sw_alloc_iters", "0", NULL, NULL},
    /* traffic */
    {"traffic", "uniform", NULL, NULL},
    {"classes", "1", NULL, NULL},
    {"class_priority", "0", "packets have no priorities", "network.router.arbiter age"},
    {"perm_seed", "0", "a permutation is drawn from the one seed", "simulator.seed"},
    {"injection_rate", "0.1", NULL, NULL},
    {"injection_rate_uses_flits", "0", NULL, NULL},
    {"packet_size", "1", NULL, NULL},
    {"packet_size_rate", "1", NULL, NULL},
    {"const_flits_per_packet", "1", NULL, NULL},
    {"injection_process", "bernoulli", NULL, NULL},
    {"burst_alpha", "0.5", NULL, NULL},
    {"burst_beta", "0.5", NULL, NULL},
    {"burst_r1", "-1", NULL, NULL},
    {"priority", "none", NULL, NULL},
    {"replies_inherit_priority", "0", "packets have no priorities", NULL},
    {"use_read_write", "0", NULL, NULL},
    {"write_fraction", "0.5", NULL, NULL},
    {"read_request_size", "1", NULL, NULL},
    {"read_reply_size", "1", NULL, NULL},
    {"write_request_size", "1", NULL, NULL},
    {"write_reply_size", "1", NULL, NULL},
    {"*_begin_vc", NULL, no_vc_range, "network.router.num_vcs"},
    {"*_end_vc", NULL, no_vc_range, "network.router.num_vcs"},
    {"*_subnet", NULL, no_subnet, NULL},
    {"batch_size", "1000", NULL, NULL},
    {"batch_count", "1", NULL, NULL},
    {"max_outstanding_requests", "0", no_batch, "a lower workload.applications[].load"},
    /* run */
    {"sim_type", "latency", NULL, NULL},
    {"warmup_periods", "3", NULL, NULL},
    {"sample_period", "1000", NULL, NULL},
    {"max_samples", "10", NULL, NULL},
    {"latency_thres", "500", "saturation is found by the backlog, not by a bound on latency",
     "\"saturated\" in the results"},
    {"stopping_thres", "0.05", NULL, NULL},
    {"acc_stopping_thres", "0.05", "the window has a fixed length", "sample auto"},
    {"warmup_thres", "0.05", "the warm-up has a fixed length", "warmup auto"},
    {"acc_warmup_thres", "0.05", "the warm-up has a fixed length", "warmup auto"},
    {"sim_count", "1", "a configuration is one run", "seeds of a sweep (docs/sweeps.md)"},
    {"seed", "0", NULL, NULL},
    {"include_queuing", "1",
     "both are in the results: packet_latency with the source queue, network_latency without it",
     "network_latency in the results"},
    {"measure_stats", "1", "all applications are measured", NULL},
    {"pair_stats", "0", no_print, "flitwarp parse LOG --matrix"},
    {"deadlock_warn_timeout", "256", "a deadlock ends the run and is reported", NULL},
    {"drain_measured_only", "0", "a run ends when all sampled packets have arrived", NULL},
    {"print_*", "0", no_print, results},
    {"viewer_trace", "0", no_trace, trace},
    {"watch_*", "", no_trace, trace},
    {"stats_out", "", no_print, results},
    {"flow_out", "0", no_print, series},
    {"*_out", "", no_print, series},
    {"sim_power", "0", no_power, NULL},
    {"power_output_file", NULL, no_power, NULL},
    {"tech_file", "", no_power, NULL},
    {"channel_width", "128", "a flit has no width in bits", NULL},
    {"channel_sweep", "0", no_power, NULL},
    {0},
};

const struct json *booksim_given(struct booksim *booksim, const char *key)
{
    struct json *node = json_find(booksim->taken, key);
    if (!node && (node = import_take(booksim->import->theirs, key)))
        json_add(booksim->taken, key, node);
    return node;
}

const char *booksim_value(struct booksim *booksim, const char *key)
{
    const struct json *given = booksim_given(booksim, key);
    if (given)
        return given->text;
    const struct import_row *row = import_find_row(booksim_rows, key);
    CHECK(row && row->fallback, "no default for %s", key);
    return row->fallback;
}

bool booksim_is(struct booksim *booksim, const char *key, const char *value)
{
    return strcmp(booksim_value(booksim, key), value) == 0;
}

/* NAN when the text is no number. */
static double read_number(const char *text)
{
    char *end;
    double number = strtod(text, &end);
    return end > text && !*end && isfinite(number) && !strpbrk(text, "xX") ? number : NAN;
}

double booksim_number(struct booksim *booksim, const char *key, const char *text, double min, double max)
{
    double number = read_number(text);
    if (number >= min && number <= max)
        return number;
    import_error(booksim->import, booksim_given(booksim, key), "found '%.60s', expected a number from %g to %g", text,
                 min, max);
    return min;
}

uint64_t booksim_whole(struct booksim *booksim, const char *key, const char *text, uint64_t min, uint64_t max)
{
    double number = read_number(text);
    if (number == floor(number) && number >= (double)min && number <= (double)max)
        return (uint64_t)number;
    import_error(booksim->import, booksim_given(booksim, key),
                 "found '%.60s', expected a whole number from %llu to %llu", text, (unsigned long long)min,
                 (unsigned long long)max);
    return min;
}

uint64_t booksim_count(struct booksim *booksim, const char *key, uint64_t min, uint64_t max)
{
    return booksim_whole(booksim, key, booksim_value(booksim, key), min, max);
}

const char *booksim_of_class(struct booksim *booksim, const char *key, uint32_t index)
{
    const char *value = booksim_value(booksim, key), *name;
    if (*value != '{')
        return value;
    struct booksim_list list = booksim_split(booksim->import->arena, value, &name);
    if (list.count)
        return list.items[index < list.count ? index : list.count - 1];
    import_error(booksim->import, booksim_given(booksim, key), "found an empty list, expected a value for each class");
    return "0";
}

void booksim_note(struct booksim *booksim, const char *key, const char *why, const char *nearest)
{
    const struct json *given = booksim_given(booksim, key);
    if (given)
        import_note(booksim->import, given, why, nearest);
    else
        errors_add(booksim->import->notes, "%s: %s = %s, BookSim's default: %s%s%s", booksim->import->file, key,
                   booksim_value(booksim, key), why, nearest ? "; nearest: " : "", nearest ? nearest : "");
}

bool import_booksim(struct import *import, const char *bytes, size_t size)
{
    import->theirs = booksim_read(import, bytes, size);
    if (!import->theirs)
        return false;
    struct booksim booksim = {import, json_object(import->arena)};
    const struct json *seed = booksim_given(&booksim, "seed");
    if (seed && strcmp(seed->text, "time") == 0)
        import_note(import, seed, "a run must be repeatable", "simulator.seed");
    else
        import_put_u64(import, import->ours, "simulator.seed", booksim_count(&booksim, "seed", 0, UINT32_MAX));
    booksim_network(&booksim);
    booksim_router(&booksim);
    booksim_workload(&booksim);
    import_list_rest(import, import->theirs, booksim_rows, "BookSim");
    return import->errors->count == 0;
}
