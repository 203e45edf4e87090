/* SPDX-License-Identifier: Apache-2.0 */
/* The lockstep engine at work, see lockstep.h. */
#include "device/lockstep.h"

#include "base/need.h"
#include "flitwarp/steady.h"
#include "network/interface/standard.h"

#include <stdlib.h>
#include <string.h>

void lockstep_need(const struct lockstep *l, bool is_good)
{
    if (is_good)
        return;
    errors_print(l->errors, stderr);
    need_failed("the device does not go on, and the run ends here");
}

static void check_fault(struct lockstep *l)
{
    uint32_t fault = l->fault;
    NEED(fault != FAULT_NO_PACKET,
         "a terminal has more than %llu packets in the network, for which there is no room on the device",
         (unsigned long long)l->facts.packets_each);
    FW_CHECK(!fault, "on the device, before tick %llu: %s", (unsigned long long)l->now,
             fault == FAULT_WINDOW ? "a window longer than was said" : source_place(&l->pack->source, fault, l->arena));
}

/* ---- ticks ---- */

static void lockstep_run(struct network_runner *runner, tick_t last)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    if (!l->has_begun) {
        l->has_begun = true;
        lockstep_begin_sources(l);
        lockstep_watch(l);
    }
    l->is_stopped = false;
    while (l->now <= last && !l->is_stopped && !lockstep_is_interrupted(l)) {
        lockstep_advance(l, lockstep_piece(l, last));
        lockstep_end_piece(l);
    }
}

static tick_t lockstep_reached(struct network_runner *runner)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    return l->now;
}

/* The next tick with events, timers among them or not; the last one that had any; and the next in which something is to be done. */
static tick_t find_next(struct lockstep *l, bool with_timers, tick_t *last, tick_t *due)
{
    uint32_t items = l->pack->counting;
    uint64_t *found = memory_take(3 * items * sizeof *found);
    tick_t next = FW_NEVER;
    lockstep_need(l, lockstep_tell_time(l) && lockstep_launch(l, KERNEL_NEXT, items, with_timers) &&
                         lockstep_read(l, BUFFER_NEXT, 0, found, 3 * items * sizeof *found));
    *last = 0;
    *due = FW_NEVER;
    for (uint32_t i = 0; i < items; i++) {
        next = found[i] < next ? found[i] : next;
        *last = found[items + i] > *last ? found[items + i] : *last;
        *due = found[2 * items + i] < *due ? found[2 * items + i] : *due;
    }
    *due = next < *due ? next : *due;
    memory_give(found);
    return next;
}

/* Asked for at every grid point, and needed where the network is empty, or draining. What comes sooner than that is `now`. */
static tick_t lockstep_next(struct network_runner *runner)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    tick_t last, next, due;
    if (!l->has_begun || (l->in_flight && l->workload->phase != PHASE_DRAINING))
        return l->now;
    next = find_next(l, true, &last, &due);
    if (next != FW_NEVER && next > l->now)
        l->now = due; /* nothing happens before */
    if (next == FW_NEVER && last > l->network->engine->now)
        l->network->engine->now = last;
    return next;
}

static bool lockstep_is_about_to_move(struct network_runner *runner)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    tick_t last, due;
    return find_next(l, false, &last, &due) != FW_NEVER;
}

/* ---- grid points ---- */

static void count(struct lockstep *l)
{
    lockstep_sum(l);
    check_fault(l);
    l->in_flight = 0;
    for (uint32_t i = 0; i < l->workload->count; i++)
        l->in_flight += l->sums[i * LOCKSTEP_SUMS + SUM_ENTERED] - l->sums[i * LOCKSTEP_SUMS + SUM_DELIVERED];
}

static void lockstep_count(struct network_runner *runner, struct network_totals *totals)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    const uint64_t *sums = &l->sums[l->workload->count * LOCKSTEP_SUMS];
    count(l);
    totals->flit_hops = sums[SUM_HOPS];
    totals->events = sums[SUM_EVENTS];
    totals->in_flight = l->in_flight;
}

/* Latencies by the moment of creation go into slots whose length depends on the latest of them. */
static void gather_bins(struct lockstep *l, uint32_t application, struct measurement *m)
{
    uint64_t bytes = l->facts.bins * sizeof(struct lockstep_bin);
    struct lockstep_bin *bins = memory_take(bytes);
    lockstep_need(l, lockstep_read(l, BUFFER_BINS, application * bytes, bins, bytes));
    m->batches = (struct batch_means){0};
    for (uint64_t moment = 0; moment < l->facts.bins; moment++)
        if (bins[moment].count)
            batch_means_add_many(&m->batches, moment, bins[moment].sum, bins[moment].count);
    memory_give(bins);
}

static bool asks_for_interval(const struct lockstep *l, uint32_t number)
{
    const struct application *application = &l->workload->applications[number];
    const struct sampling_config *sampling = application->window.sampling;
    return application->phase == PHASE_GENERATING && sampling->sample == TICKS_AUTO &&
           l->now + application->check_interval >= application->phase_start[PHASE_GENERATING] + sampling->min_sample;
}

static void gather_at_grid_point(struct lockstep *l, uint32_t number, struct measurement *m)
{
    const uint64_t *sums = &l->sums[number * LOCKSTEP_SUMS];
    m->created_packets = sums[SUM_CREATED_PACKETS];
    m->created_flits = sums[SUM_CREATED_FLITS];
    m->sampled_created = sums[SUM_SAMPLED_CREATED];
    m->delivered_packets = sums[SUM_DELIVERED];
    m->accepted_flits = sums[SUM_ACCEPTED];
    m->latency_sum = sums[SUM_LATENCY];
    m->sampled_delivered = sums[SUM_SAMPLED_DELIVERED];
    m->transactions_begun = sums[SUM_TRANSACTIONS_BEGUN];
    m->transactions_ended = sums[SUM_TRANSACTIONS_ENDED];
    if (asks_for_interval(l, number))
        gather_bins(l, number, m);
}

static void gather_histogram(const uint64_t *copies, uint32_t kind, struct histogram *histogram, uint64_t sum,
                             uint64_t least, uint64_t most)
{
    *histogram = (struct histogram){.sum = sum, .min = least, .span = most - least};
    for (uint32_t copy = 0; copy < HISTOGRAM_COPIES; copy++)
        for (uint32_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
            histogram->buckets[bucket] += copies[(copy * LOCKSTEP_HISTOGRAMS + kind) * HISTOGRAM_BUCKETS + bucket];
}

/* Adds a terminal's extremes of one kind of samples to those of others. */
static void add_extremes(uint64_t *least, uint64_t *most, uint64_t lower_one, uint64_t upper_one, bool is_first)
{
    *least = is_first || lower_one < *least ? lower_one : *least;
    *most = is_first || upper_one > *most ? upper_one : *most;
}
#define ADD_EXTREMES(what)                                                                                             \
    add_extremes(&all->least_##what, &all->most_##what, c->least_##what, c->most_##what, is_first)

static void add_packets(struct lockstep_counts *all, const struct lockstep_counts *c)
{
    bool is_first = all->sampled_delivered == 0;
    if (!c->sampled_delivered)
        return;
    ADD_EXTREMES(latency);
    ADD_EXTREMES(network);
    all->least_hops = is_first || c->least_hops < all->least_hops ? c->least_hops : all->least_hops;
    all->most_hops = c->most_hops > all->most_hops ? c->most_hops : all->most_hops;
    all->sampled_sum += c->sampled_sum;
    all->network_sum += c->network_sum;
    all->hops_sum += c->hops_sum;
    all->sampled_delivered += c->sampled_delivered;
}

static void add_messages(struct lockstep_counts *all, const struct lockstep_counts *c)
{
    bool is_first = all->sampled_messages == 0;
    if (!c->sampled_messages)
        return;
    ADD_EXTREMES(message);
    all->message_sum += c->message_sum;
    all->sampled_messages += c->sampled_messages;
    is_first = all->transactions_ended == 0;
    if (!c->transactions_ended)
        return;
    ADD_EXTREMES(transaction);
    all->transaction_sum += c->transaction_sum;
    all->transactions_ended += c->transactions_ended;
}

static void add_detours(struct lockstep_counts *all, const struct lockstep_counts *c)
{
    bool is_first = all->nonminimal == 0;
    if (!c->nonminimal)
        return;
    all->nonminimal += c->nonminimal;
    all->detours_sum += c->detours_sum;
    all->shortcuts_sum += c->shortcuts_sum;
    ADD_EXTREMES(detour);
    ADD_EXTREMES(shortcut);
}

/* Sums and extremes of all terminals. */
static struct lockstep_counts sum_counts(struct lockstep *l, uint32_t application, struct measurement *m)
{
    uint64_t terminals = l->facts.terminals, bytes = terminals * sizeof(struct lockstep_counts);
    struct lockstep_counts *counts = memory_take(bytes), all = {0};
    lockstep_need(l, lockstep_read(l, BUFFER_COUNTS, application * bytes, counts, bytes));
    for (uint64_t i = 0; i < terminals; i++) {
        l->workload->sequences[i] += (uint32_t)counts[i].created_packets;
        m->digest.lanes[0] += counts[i].digest[0];
        m->digest.lanes[1] += counts[i].digest[1];
        add_packets(&all, &counts[i]);
        add_messages(&all, &counts[i]);
        add_detours(&all, &counts[i]);
    }
    memory_give(counts);
    return all;
}

/* Where levels of service are told apart: packets of an application are all of one level. */
static void gather_level(const struct lockstep *l, uint32_t number, struct measurement *m)
{
    const struct application_config *config = l->workload->applications[number].config;
    if (!m->levels)
        return;
    struct level_count *level = &m->by_level[m->class_level[config->protocol_class]];
    level->created_flits = m->created_flits;
    level->accepted_flits = m->accepted_flits;
    level->packets = m->sampled_delivered;
    level->packet_latency = m->packet_latency;
    level->network_latency = m->network_latency;
}

static void gather_at_end(struct lockstep *l, uint32_t number, struct measurement *m)
{
    uint64_t bytes = (uint64_t)HISTOGRAM_COPIES * LOCKSTEP_HISTOGRAMS * HISTOGRAM_BUCKETS * sizeof(uint64_t);
    uint64_t *copies = memory_take(bytes);
    lockstep_need(l, lockstep_read(l, BUFFER_HISTOGRAMS, number * bytes, copies, bytes));
    const struct lockstep_counts all = sum_counts(l, number, m);
    gather_histogram(copies, HISTOGRAM_LATENCY, &m->packet_latency, all.sampled_sum, all.least_latency,
                     all.most_latency);
    gather_histogram(copies, HISTOGRAM_NETWORK, &m->network_latency, all.network_sum, all.least_network,
                     all.most_network);
    gather_histogram(copies, HISTOGRAM_HOPS, &m->hops, all.hops_sum, all.least_hops, all.most_hops);
    if (l->facts.messages_each)
        gather_histogram(copies, HISTOGRAM_MESSAGE, &m->message_latency, all.message_sum, all.least_message,
                         all.most_message);
    else
        m->message_latency = m->packet_latency; /* each is one packet */
    gather_histogram(copies, HISTOGRAM_TRANSACTION, &m->transaction_latency, all.transaction_sum, all.least_transaction,
                     all.most_transaction);
    gather_histogram(copies, HISTOGRAM_DETOURS, &m->detours, all.detours_sum, all.least_detour, all.most_detour);
    gather_histogram(copies, HISTOGRAM_SHORTCUTS, &m->shortcuts, all.shortcuts_sum, all.least_shortcut,
                     all.most_shortcut);
    m->nonminimal = all.nonminimal;
    gather_bins(l, number, m);
    lockstep_gather_series(l, number, m);
    gather_level(l, number, m);
    memory_give(copies);
}

static void lockstep_gather(struct network_runner *runner, uint32_t application, uint32_t moment)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    struct measurement *m = &l->workload->measurements[application];
    uint64_t bytes = l->facts.terminals * sizeof *m->accepted_from;
    count(l);
    if (moment == RESULT_AT_GRID_POINTS) {
        gather_at_grid_point(l, application, m);
        gather_level(l, application, m);
    } else if (moment == RESULT_AT_WINDOW_ENDS)
        lockstep_need(l, lockstep_read(l, BUFFER_ACCEPTED_FROM, application * bytes, m->accepted_from, bytes));
    else
        gather_at_end(l, application, m);
}

/* ---- those who look ---- */

static void read_packets(struct lockstep *l)
{
    uint64_t bytes = l->facts.terminals * l->facts.packets_each * sizeof(struct packet);
    if (!l->packets)
        l->packets = memory_take(bytes);
    lockstep_need(l, lockstep_read(l, BUFFER_PACKETS, 0, l->packets, bytes));
    l->network->packets.items = (unsigned char *)l->packets;
}

static void lockstep_bring(struct network_runner *runner, bool with_packets)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    const struct lockstep_facts *f = &l->facts;
    const struct interfaces *n = l->network->core->interfaces;
    lockstep_need(l, lockstep_read(l, BUFFER_BLOCKS, 0, l->blocks, f->routers * f->stride) &&
                         lockstep_read(l, BUFFER_ROUTES, 0, l->routes, lockstep_bytes(l, BUFFER_ROUTES)) &&
                         lockstep_read(l, BUFFER_OUTLET_CREDITS, 0, n->credits,
                                       f->terminals * f->outlet_lanes * sizeof(uint32_t)));
    if (with_packets)
        read_packets(l);
}

static void lockstep_withdraw(struct network_runner *runner)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    lockstep_need(l, lockstep_launch(l, KERNEL_WITHDRAW, l->facts.terminals, 0));
}

static void lockstep_drop_timers(struct network_runner *runner)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    lockstep_need(l, lockstep_launch(l, KERNEL_DROP_TIMERS, l->facts.terminals, 0));
}

/* For so many things, which are looked at once. */
static size_t items_for(uint64_t things) { return things < COUNTING_ITEMS * 16 ? things : COUNTING_ITEMS * 16; }

/* The terminals' credits are few, and looked at here. */
static bool lockstep_is_idle(struct network_runner *runner)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    const struct interfaces *n = l->network->core->interfaces;
    uint64_t is_busy = 0;
    lockstep_need(l, lockstep_fill(l, BUFFER_NEXT, 0, sizeof is_busy, 0) &&
                         lockstep_launch(l, KERNEL_IDLE, items_for(l->facts.routers * l->facts.lanes), 0) &&
                         lockstep_read(l, BUFFER_NEXT, 0, &is_busy, sizeof is_busy) &&
                         lockstep_read(l, BUFFER_OUTLET_CREDITS, 0, n->credits,
                                       l->facts.terminals * l->facts.outlet_lanes * sizeof(uint32_t)));
    if (!is_busy)
        l->network->core->interface_ops->check_idle(l->network->core->interfaces);
    return !is_busy;
}

static void lockstep_count_flits(struct network_runner *runner, uint32_t lanes, uint32_t *counts)
{
    struct lockstep *l = (struct lockstep *)(void *)runner;
    uint64_t numbers = l->facts.routers * l->facts.lanes / lanes;
    lockstep_need(l, lockstep_launch(l, KERNEL_FLITS, items_for(numbers), lanes) &&
                         lockstep_read(l, BUFFER_LANE_FLITS, 0, counts, numbers * sizeof *counts));
    lockstep_bring_lanes(l);
}

/* ---- beginning and end ---- */

struct lockstep *lockstep_create(struct network *network, struct workload *workload, uint32_t device,
                                 struct lockstep_batch *batch, struct arena *arena, struct errors *errors)
{
    if (!lockstep_check(network, workload, errors))
        return NULL;
    struct lockstep *l = arena_array(arena, struct lockstep, 1);
    *l = (struct lockstep){.runner = {.run = lockstep_run,
                                      .reached = lockstep_reached,
                                      .next = lockstep_next,
                                      .count = lockstep_count,
                                      .is_about_to_move = lockstep_is_about_to_move,
                                      .gather = lockstep_gather,
                                      .bring = lockstep_bring,
                                      .is_idle = lockstep_is_idle,
                                      .count_flits = lockstep_count_flits,
                                      .withdraw = lockstep_withdraw,
                                      .drop_timers = lockstep_drop_timers},
                           .network = network,
                           .workload = workload,
                           .errors = errors,
                           .arena = arena,
                           .batch = batch ? batch : lockstep_batch_open(1),
                           .is_alone = !batch,
                           .sums = arena_array(arena, uint64_t, workload->count * LOCKSTEP_SUMS + NETWORK_SUMS)};
    if (lockstep_open(l, device) && lockstep_plan(l))
        return l;
    lockstep_release(l);
    return NULL;
}

bool lockstep_start(struct lockstep *l)
{
    lockstep_make_settings(l);
    if (!lockstep_join(l) || !lockstep_begin(l))
        return false;
    l->network->core->runner = &l->runner;
    return true;
}

void lockstep_release(struct lockstep *l)
{
    if (!l)
        return;
    lockstep_leave(l);
    if (l->packets)
        l->network->packets.items = NULL;
    memory_give(l->packets);
    text_release(&l->settings);
    arena_release(&l->tables);
    if (l->is_alone)
        lockstep_batch_close(l->batch);
}
