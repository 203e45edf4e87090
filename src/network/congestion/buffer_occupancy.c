/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffer occupancy: how many flits are in the queues behind an output, as routing
 * sees it some ticks later.
 *
 *   count of a lane -> less what is on the wire -> over the VCs of its port
 *     -> share of capacity -> rounded -> at least the minimum -> plus the offset
 *
 * A router counts a flit as downstream from when it is sent until its credit is
 * back, so that a long channel seems congested when it is merely used: phantom
 * congestion. Flits sent a short time ago can therefore be taken off.
 *
 * A router's changes go into a ring in the order of time and are added to what
 * is seen when somebody looks, or when the ring is full: constant work for each
 * change, whatever the latency. A ring with nothing old enough to be seen grows,
 * which ends when it holds as many changes as a router makes in that time.
 */
#include "flitwarp/arena.h"
#include "flitwarp/congestion.h"
#include "flitwarp/network.h"

#include <math.h>

enum accounting { ACCOUNT_OUTPUT, ACCOUNT_DOWNSTREAM, ACCOUNT_BOTH };
enum per { PER_VC, PER_PORT, PER_PORT_MIN, PER_PORT_MAX, PER_LESSER, PER_GREATER };

struct buffer_occupancy_config {
    uint32_t accounting, per;
    bool normalised;
    uint64_t latency;
    double granularity, minimum, offset;
    double phantom_value, phantom_length;
};

static const char *const accounting_names[] = {"output", "downstream", "both", NULL};
static const char *const per_names[] = {"vc", "port", "port_min", "port_max", "lesser", "greater", NULL};

static const struct option buffer_occupancy_options[] = {
    OPTION_ENUM(struct buffer_occupancy_config, accounting, "\"both\"", accounting_names,
                "flits that count: in the router's output queues, in the buffers downstream, or both"),
    OPTION_ENUM(
        struct buffer_occupancy_config, per, "\"vc\"", per_names,
        "value of a VC: its own; the mean, the smallest or the largest of its port; or the lesser or the greater "
        "of its own and the mean"),
    OPTION_BOOL(struct buffer_occupancy_config, normalised, "true", "share of the queues' capacity, not flits"),
    OPTION_TICKS(struct buffer_occupancy_config, latency, "1", 1, 1e9, "until routing sees a change"),
    OPTION_F64(struct buffer_occupancy_config, granularity, "0", 0, 1e9, NULL,
               "values are rounded to multiples of it; 0: not rounded"),
    OPTION_F64(struct buffer_occupancy_config, minimum, "0", 0, 1e9, NULL, "values below count as this"),
    OPTION_F64(struct buffer_occupancy_config, offset, "0", -1e9, 1e9, NULL, "added to every value, last"),
    OPTION_F64(struct buffer_occupancy_config, phantom_value, "0", 0, 1e3, NULL,
               "taken off for each flit that counts as on the channel; 1: it is no congestion at all"),
    OPTION_F64(struct buffer_occupancy_config, phantom_length, "1", 0, 1e3, NULL,
               "how long a flit counts as on the channel, in latencies of that; 2: until its credit could be back",
               ONLY_WITH("phantom_value")),
    OPTION_END,
};

struct change {
    tick_t when;
    int32_t change;
    uint16_t lane; /* routers have fewer than 2^16 */
    bool is_downstream;
};

/* What a router has reported and nobody can see yet; or what was sent by a lane, each with when it is off the channel. */
struct unseen {
    struct change *ring; /* of a power of two */
    uint32_t size;
    uint32_t first, end; /* free-running */
};

struct wire {
    struct unseen sent;
    int32_t flits;
};

struct buffer_occupancy {
    struct congestion common;
    struct buffer_occupancy_config config;
    struct arena *arena; /* borrowed: rings grow in it */
    bool counts[2];      /* by enum queue */
    bool is_simple;      /* a lane's value is what is seen of it, or the mean of its port, and not rounded */
    uint32_t lanes;
    uint32_t *seen;        /* by router * lanes + lane: flits that routing knows of */
    struct unseen *unseen; /* by router */
    struct wire *wires;    /* by router * lanes + lane: flits that count as on the channel; NULL: none do */
    double *capacity;      /* by router * ports + port: flits that a lane's queues can hold, as far as they count */
};

static void buffer_occupancy_check(const struct choice *self, const struct congestion *shape, struct errors *errors)
{
    const struct buffer_occupancy_config *c = self->config;
    if (c->accounting == ACCOUNT_OUTPUT && !shape->depth[QUEUE_OUTPUT])
        choice_error(errors, self, "accounting",
                     "'output' counts flits in output queues, but this router has none; 'downstream' is what there is");
    if (c->accounting != ACCOUNT_DOWNSTREAM && c->normalised && shape->depth[QUEUE_OUTPUT] == ENDLESS)
        choice_error(errors, self, "normalised",
                     "output queues without an end have no share that is full; accepted: false, or accounting "
                     "'downstream'");
    if (c->accounting == ACCOUNT_OUTPUT && c->phantom_value > 0)
        choice_error(errors, self, "phantom_value",
                     "%g is above 0, but accounting 'output' does not count flits on the channel", c->phantom_value);
}

static struct congestion *buffer_occupancy_build(const struct choice *self, const struct congestion *shape,
                                                 struct arena *arena, struct errors *errors)
{
    uint32_t before = errors->count;
    buffer_occupancy_check(self, shape, errors);
    if (errors->count > before)
        return NULL;
    struct buffer_occupancy *sensor = arena_take(arena, sizeof *sensor);
    sensor->common = *shape;
    sensor->config = *(const struct buffer_occupancy_config *)self->config;
    sensor->arena = arena;
    sensor->counts[QUEUE_OUTPUT] = sensor->config.accounting != ACCOUNT_DOWNSTREAM;
    sensor->counts[QUEUE_DOWNSTREAM] = sensor->config.accounting != ACCOUNT_OUTPUT;
    sensor->lanes = shape->ports * shape->num_vcs;
    if (sensor->config.phantom_value > 0)
        sensor->wires = arena_array(arena, struct wire, (size_t)shape->routers * sensor->lanes);
    sensor->seen = arena_array(arena, uint32_t, (size_t)shape->routers * sensor->lanes);
    sensor->unseen = arena_array(arena, struct unseen, shape->routers);
    sensor->is_simple = (sensor->config.per == PER_VC || sensor->config.per == PER_PORT) && !sensor->wires &&
                        sensor->config.granularity == 0;
    sensor->common.adds_up = sensor->config.accounting == ACCOUNT_BOTH && !sensor->wires;
    size_t ports = (size_t)shape->routers * shape->ports;
    sensor->capacity = arena_array(arena, double, ports);
    for (size_t port = 0; port < ports; port++)
        sensor->capacity[port] = (sensor->counts[QUEUE_OUTPUT] ? shape->depth[QUEUE_OUTPUT] : 0) +
                                 (double)(sensor->counts[QUEUE_DOWNSTREAM] ? shape->links[port].depth : 0);
    return &sensor->common;
}

static size_t port_number(const struct buffer_occupancy *sensor, uint32_t router, uint32_t lane)
{
    return (size_t)router * sensor->common.ports + lane / sensor->common.num_vcs;
}

static inline struct change *change_at(const struct unseen *unseen, uint32_t at)
{
    return &unseen->ring[at & (unseen->size - 1)];
}

static void grow(struct buffer_occupancy *sensor, struct unseen *unseen)
{
    uint32_t size = unseen->size ? 2 * unseen->size : 64, count = unseen->end - unseen->first;
    struct change *ring = arena_array(sensor->arena, struct change, size);
    for (uint32_t i = 0; i < count; i++)
        ring[i] = *change_at(unseen, unseen->first + i);
    *unseen = (struct unseen){.ring = ring, .size = size, .end = count};
}

/* Flits that are seen to have been sent are on the channel for some time from then on. */
static void enter_wire(struct buffer_occupancy *sensor, uint32_t router, const struct change *sent)
{
    const struct link *link = &sensor->common.links[port_number(sensor, router, sent->lane)];
    struct wire *wire = &sensor->wires[(size_t)router * sensor->lanes + sent->lane];
    tick_t length = (tick_t)(link->latency * sensor->config.phantom_length);
    if (sent->change <= 0)
        return;
    if (wire->sent.end - wire->sent.first == wire->sent.size)
        grow(sensor, &wire->sent);
    *change_at(&wire->sent, wire->sent.end++) =
        (struct change){.when = sent->when + sensor->config.latency + length, .change = sent->change};
    wire->flits += sent->change;
}

static int32_t flits_on_wire(struct wire *wire, tick_t now)
{
    struct unseen *sent = &wire->sent;
    for (; sent->first != sent->end && change_at(sent, sent->first)->when <= now; sent->first++)
        wire->flits -= change_at(sent, sent->first)->change;
    return wire->flits;
}

static __attribute__((noinline)) void see(struct buffer_occupancy *sensor, uint32_t router, tick_t now)
{
    struct unseen *unseen = &sensor->unseen[router];
    uint32_t *seen = sensor->seen + (size_t)router * sensor->lanes, at = unseen->first;
    tick_t latest = now - sensor->config.latency;
    for (; at != unseen->end; at++) {
        const struct change *oldest = change_at(unseen, at);
        if (oldest->when > latest)
            break;
        seen[oldest->lane] += (uint32_t)oldest->change;
        if (__builtin_expect(sensor->wires != NULL, 0) && oldest->is_downstream)
            enter_wire(sensor, router, oldest);
    }
    unseen->first = at;
}

/* What is old enough is seen from now on. */
static inline void catch_up(struct buffer_occupancy *sensor, uint32_t router, tick_t now)
{
    const struct unseen *unseen = &sensor->unseen[router];
    if (unseen->first != unseen->end && change_at(unseen, unseen->first)->when + sensor->config.latency <= now)
        see(sensor, router, now);
}

static inline void add_change(struct unseen *unseen, uint32_t lane, enum queue queue, int32_t change, tick_t now)
{
    *change_at(unseen, unseen->end++) = (struct change){
        .when = now, .change = change, .lane = (uint16_t)lane, .is_downstream = queue == QUEUE_DOWNSTREAM};
}

static __attribute__((noinline)) void add_to_full(struct buffer_occupancy *sensor, uint32_t router, uint32_t lane,
                                                  enum queue queue, int32_t change, tick_t now)
{
    struct unseen *unseen = &sensor->unseen[router];
    catch_up(sensor, router, now);
    if (unseen->end - unseen->first == unseen->size)
        grow(sensor, unseen);
    add_change(unseen, lane, queue, change, now);
}

static void buffer_occupancy_change(struct congestion *congestion, uint32_t router, uint32_t lane, enum queue queue,
                                    int32_t change, tick_t now)
{
    struct buffer_occupancy *sensor = (struct buffer_occupancy *)congestion;
    struct unseen *unseen = &sensor->unseen[router];
    if (!sensor->counts[queue])
        return;
    if (unseen->end - unseen->first == unseen->size)
        add_to_full(sensor, router, lane, queue, change, now);
    else
        add_change(unseen, lane, queue, change, now);
}

/* Flits of one lane, less those on the wire. */
static double flits_of_lane(struct buffer_occupancy *sensor, uint32_t router, uint32_t lane, tick_t now)
{
    size_t number = (size_t)router * sensor->lanes + lane;
    double flits = sensor->seen[number];
    if (sensor->wires)
        flits -= flits_on_wire(&sensor->wires[number], now) * sensor->config.phantom_value;
    return flits > 0 ? flits : 0;
}

/* Flits of a lane, or of its port as `per` says. */
static double flits_of(struct buffer_occupancy *sensor, uint32_t router, uint32_t lane, tick_t now)
{
    uint32_t num_vcs = sensor->common.num_vcs;
    double own = flits_of_lane(sensor, router, lane, now), sum = 0, smallest = INFINITY, largest = 0;
    if (sensor->config.per == PER_VC)
        return own;
    for (uint32_t at = lane / num_vcs * num_vcs, end = at + num_vcs; at < end; at++) {
        double flits = flits_of_lane(sensor, router, at, now);
        sum += flits;
        smallest = flits < smallest ? flits : smallest;
        largest = flits > largest ? flits : largest;
    }
    double mean = sum / num_vcs;
    return sensor->config.per == PER_PORT_MIN   ? smallest
           : sensor->config.per == PER_PORT_MAX ? largest
           : sensor->config.per == PER_LESSER   ? fmin(own, mean)
           : sensor->config.per == PER_GREATER  ? fmax(own, mean)
                                                : mean;
}

/* What a lane is seen to hold, as a value. Settings that leave it alone are the compiler's to skip where it knows them. */
static inline __attribute__((always_inline)) double value_of(const struct buffer_occupancy_config *c, double flits,
                                                             double capacity, bool is_rounded)
{
    double value = c->normalised ? flits / capacity : flits;
    if (is_rounded && c->granularity > 0)
        value = floor(value / c->granularity + 0.5) * c->granularity;
    return (value < c->minimum ? c->minimum : value) + c->offset;
}

static double buffer_occupancy_value(struct congestion *congestion, uint32_t router, uint32_t lane, tick_t now)
{
    struct buffer_occupancy *sensor = (struct buffer_occupancy *)congestion;
    catch_up(sensor, router, now);
    return value_of(&sensor->config, flits_of(sensor, router, lane, now),
                    sensor->capacity[port_number(sensor, router, lane)], true);
}

/* The mean of the VCs of a port, from what is seen of them. */
static double mean_of(const uint32_t *seen, uint32_t num_vcs)
{
    double sum = 0;
    for (uint32_t vc = 0; vc < num_vcs; vc++)
        sum += seen[vc];
    return sum / num_vcs;
}

static void buffer_occupancy_values(struct congestion *congestion, uint32_t router, uint32_t lane, uint32_t count,
                                    tick_t now, double *values)
{
    struct buffer_occupancy *sensor = (struct buffer_occupancy *)congestion;
    if (!sensor->is_simple) {
        for (uint32_t i = 0; i < count; i++)
            values[i] = buffer_occupancy_value(congestion, router, lane + i, now);
        return;
    }
    catch_up(sensor, router, now);
    uint32_t num_vcs = congestion->num_vcs, port = lane / num_vcs, vc = lane - port * num_vcs;
    const uint32_t *seen = sensor->seen + (size_t)router * sensor->lanes + port * num_vcs;
    const double *capacity = &sensor->capacity[(size_t)router * congestion->ports + port];
    for (const double *end = values + count; values < end; seen += num_vcs, capacity++, vc = 0) {
        double mean =
            sensor->config.per == PER_PORT ? value_of(&sensor->config, mean_of(seen, num_vcs), *capacity, false) : 0;
        for (; vc < num_vcs && values < end; vc++)
            *values++ = sensor->config.per == PER_PORT ? mean : value_of(&sensor->config, seen[vc], *capacity, false);
    }
}

static const struct congestion_ops buffer_occupancy = {
    .name = "buffer_occupancy",
    .summary = "flits in the queues behind an output, as known some ticks later",
    .options = buffer_occupancy_options,
    .example = "{\"type\": \"buffer_occupancy\", \"accounting\": \"downstream\", \"per\": \"port\", \"latency\": 4}",
    .build = buffer_occupancy_build,
    .change = buffer_occupancy_change,
    .value = buffer_occupancy_value,
    .values = buffer_occupancy_values,
};
REGISTER_CONGESTION(buffer_occupancy);
