/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Buffer occupancy: how many flits are in the queues behind an output, as routing
 * sees it some ticks later.
 *
 *   count of a lane -> less what is on the wire -> over the VCs of its port
 *     -> share of capacity -> rounded -> at least the minimum -> plus the offset
 *
 * A router counts a flit as downstream from when it is sent until its credit is
 * back, so that a long channel seems congested when it is merely used: phantom
 * congestion. Flits sent a short time ago can therefore be taken off.
 *
 * With a latency of one tick or two a router counts itself, by lane or, where only ports matter, by port: what was there
 * before this tick, or the last, is seen. With any other its
 * changes go into a ring in the order of time and are added to what
 * is seen when somebody looks, or when the ring is full: constant work for each
 * change, whatever the latency. A ring with nothing old enough to be seen grows,
 * which ends when it holds as many changes as a router makes in that time.
 */
#include "network/congestion/buffer_occupancy.h"

#if FW_HOST
#include "flitwarp/arena.h"
#include "flitwarp/network.h"

#include <math.h>
#endif

/* What follows from the settings alone. */
static inline void set_what_counts(struct buffer_occupancy *sensor)
{
    sensor->counts[QUEUE_OUTPUT] = sensor->config.accounting != ACCOUNT_DOWNSTREAM;
    sensor->counts[QUEUE_DOWNSTREAM] = sensor->config.accounting != ACCOUNT_OUTPUT;
    sensor->lanes = sensor->common.ports * sensor->common.num_vcs;
    sensor->is_simple = (sensor->config.per == PER_VC || sensor->config.per == PER_PORT) &&
                        !(sensor->config.phantom_value > 0) && sensor->config.granularity == 0;
}

#if FW_HOST
/* The sensor that is asked. */
#define SENSOR(sensor, congestion) struct buffer_occupancy *sensor = (struct buffer_occupancy *)(congestion)
#else
static inline struct buffer_occupancy sensor_of(const struct congestion *congestion)
{
    struct buffer_occupancy sensor;
    sensor.common = *congestion;
    sensor.config = *(FW_GLOBAL const struct buffer_occupancy_config *)congestion->config;
    sensor.tables = congestion->tables;
    sensor.seen = (FW_GLOBAL uint32_t *)congestion->tables;
    sensor.unseen = (FW_GLOBAL struct unseen *)(congestion->tables + congestion->unseen_at);
    sensor.capacity = (FW_GLOBAL double *)(congestion->tables + congestion->capacity_at);
    set_what_counts(&sensor);
    return sensor;
}
#define SENSOR(sensor, congestion) struct buffer_occupancy of_##sensor = sensor_of(congestion), *sensor = &of_##sensor
#endif

static size_t port_number(const struct buffer_occupancy *sensor, uint32_t router, uint32_t lane)
{
    return (size_t)router * sensor->common.ports + lane / sensor->common.num_vcs;
}

static inline FW_GLOBAL struct change *change_at(const struct buffer_occupancy *sensor,
                                                 FW_GLOBAL const struct unseen *unseen, uint32_t at)
{
    return &FW_AT(struct change, sensor, unseen->ring)[at & (unseen->size - 1)];
}

#if FW_HOST
static void grow(struct buffer_occupancy *sensor, struct unseen *unseen)
{
    uint32_t size = unseen->size ? 2 * unseen->size : 64, count = unseen->end - unseen->first;
    struct change *ring = arena_array(sensor->arena, struct change, size);
    for (uint32_t i = 0; i < count; i++)
        ring[i] = *change_at(sensor, unseen, unseen->first + i);
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
    *change_at(sensor, &wire->sent, wire->sent.end++) =
        (struct change){.when = sent->when + sensor->config.latency + length, .change = sent->change};
    wire->flits += sent->change;
}

static int32_t flits_on_wire(const struct buffer_occupancy *sensor, struct wire *wire, tick_t now)
{
    struct unseen *sent = &wire->sent;
    for (; sent->first != sent->end && change_at(sensor, sent, sent->first)->when <= now; sent->first++)
        wire->flits -= change_at(sensor, sent, sent->first)->change;
    return wire->flits;
}
#endif

/* Flits of a lane that are known of. */
static inline FW_GLOBAL uint32_t *count_of(const struct buffer_occupancy *sensor, size_t number)
{
#if FW_HOST
    return &sensor->seen[number].count;
#else
    return &sensor->seen[number];
#endif
}

/* The same, less what is too young to be seen. */
static inline uint32_t seen_of(const struct buffer_occupancy *sensor, size_t number, tick_t now)
{
#if FW_HOST
    const struct counted_flits *flits = &sensor->seen[number];
    const struct counted_earlier *earlier = sensor->common.earlier;
    if (!earlier)
        return flits->when == now ? flits->before : flits->count;
    earlier += number;
    return earlier->when + 2 > now ? earlier->before : flits->when + 2 > now ? flits->before : flits->count;
#else
    return sensor->seen[number];
#endif
}

/* Of all VCs of a port. */
static inline uint32_t seen_of_port(const struct buffer_occupancy *sensor, uint32_t router, uint32_t port, tick_t now)
{
#if FW_HOST
    if (sensor->by_port)
        return seen_of(sensor, (size_t)router * sensor->common.ports + port, now);
#endif
    uint32_t num_vcs = sensor->common.num_vcs, sum = 0;
    size_t first = (size_t)router * sensor->lanes + port * num_vcs;
    for (size_t lane = first; lane < first + num_vcs; lane++)
        sum += seen_of(sensor, lane, now);
    return sum;
}

FW_SELDOM void see(struct buffer_occupancy *sensor, uint32_t router, tick_t now)
{
    FW_GLOBAL struct unseen *unseen = &sensor->unseen[router];
    size_t first = (size_t)router * sensor->lanes;
    FW_GLOBAL const struct change *ring = FW_AT(struct change, sensor, unseen->ring);
    uint32_t at = unseen->first, end = unseen->end, mask = unseen->size - 1;
    tick_t latest = now - sensor->config.latency;
    for (; at != end; at++) {
        FW_GLOBAL const struct change *oldest = &ring[at & mask];
        if (oldest->when > latest)
            break;
        *count_of(sensor, first + oldest->lane) += (uint32_t)oldest->change;
#if FW_HOST
        if (__builtin_expect(sensor->wires != NULL, 0) && oldest->is_downstream)
            enter_wire(sensor, router, oldest);
#endif
    }
    unseen->first = at;
}

/* What is old enough is seen from now on. */
static inline void catch_up(struct buffer_occupancy *sensor, uint32_t router, tick_t now)
{
#if FW_HOST
    if (!sensor->unseen)
        return;
#endif
    FW_GLOBAL const struct unseen *unseen = &sensor->unseen[router];
    if (unseen->first != unseen->end && change_at(sensor, unseen, unseen->first)->when + sensor->config.latency <= now)
        see(sensor, router, now);
}

/* The number of the next change; work-items that share a router take theirs one after the other. */
static inline uint32_t next_change(FW_GLOBAL struct unseen *unseen)
{
#if FW_HOST
    return unseen->end++;
#else
    return atomic_inc((volatile FW_GLOBAL uint *)&unseen->end);
#endif
}

static inline void add_change(const struct buffer_occupancy *sensor, FW_GLOBAL struct unseen *unseen, uint32_t lane,
                              enum queue queue, int32_t change, tick_t now)
{
    *change_at(sensor, unseen, next_change(unseen)) = (struct change){
        .when = now, .change = change, .lane = (uint16_t)lane, .is_downstream = queue == QUEUE_DOWNSTREAM};
}

#if FW_HOST
static __attribute__((noinline)) void add_to_full(struct buffer_occupancy *sensor, uint32_t router, uint32_t lane,
                                                  enum queue queue, int32_t change, tick_t now)
{
    struct unseen *unseen = &sensor->unseen[router];
    catch_up(sensor, router, now);
    if (unseen->end - unseen->first == unseen->size)
        grow(sensor, unseen);
    add_change(sensor, unseen, lane, queue, change, now);
}
#endif

/* Where routers do not count themselves. The rings of a device are large enough from the beginning. */
static void buffer_occupancy_change(struct congestion *congestion, uint32_t router, uint32_t lane, enum queue queue,
                                    int32_t change, tick_t now)
{
    SENSOR(sensor, congestion);
    FW_GLOBAL struct unseen *unseen = &sensor->unseen[router];
    if (!sensor->counts[queue])
        return;
#if FW_HOST
    if (unseen->end - unseen->first == unseen->size) {
        add_to_full(sensor, router, lane, queue, change, now);
        return;
    }
#endif
    add_change(sensor, unseen, lane, queue, change, now);
}

#if !FW_HOST
/* By one work-item of a router, before any of them reads. */
static void buffer_occupancy_catch_up(struct congestion *congestion, uint32_t router, tick_t now)
{
    SENSOR(sensor, congestion);
    catch_up(sensor, router, now);
}
#endif

#if FW_HOST
/* Lanes are counted by themselves, or are alike: nobody asks for them where that is not so. */
static inline void check_lanes(const struct buffer_occupancy *sensor)
{
    FW_CHECK(!sensor->by_port || sensor->config.per == PER_PORT, "sensors that count ports are asked for a lane");
}
#endif

/* Flits of one lane, less those on the wire. */
static double flits_of_lane(struct buffer_occupancy *sensor, uint32_t router, uint32_t lane, tick_t now)
{
    size_t number = (size_t)router * sensor->lanes + lane;
    double flits = seen_of(sensor, number, now);
#if FW_HOST
    if (sensor->wires)
        flits -= flits_on_wire(sensor, &sensor->wires[number], now) * sensor->config.phantom_value;
#else
    (void)now;
#endif
    return flits > 0 ? flits : 0;
}

/* Flits of a lane, or of its port as `per` says. */
static double flits_of(struct buffer_occupancy *sensor, uint32_t router, uint32_t lane, tick_t now)
{
    uint32_t num_vcs = sensor->common.num_vcs;
#if FW_HOST
    check_lanes(sensor);
    if (sensor->by_port)
        return (double)seen_of_port(sensor, router, lane / num_vcs, now) / num_vcs;
#endif
    double own = flits_of_lane(sensor, router, lane, now), sum = 0, smallest = __builtin_inf(), largest = 0;
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
FW_INLINE double value_of(const struct buffer_occupancy_config *c, double flits, double capacity, bool is_rounded)
{
    double value = c->normalised ? flits / capacity : flits;
    if (is_rounded && c->granularity > 0)
        value = floor(value / c->granularity + 0.5) * c->granularity;
    return (value < c->minimum ? c->minimum : value) + c->offset;
}

static double buffer_occupancy_value(struct congestion *congestion, uint32_t router, uint32_t lane, tick_t now)
{
    SENSOR(sensor, congestion);
#if FW_HOST
    catch_up(sensor, router, now);
#endif
    return value_of(&sensor->config, flits_of(sensor, router, lane, now),
                    sensor->capacity[port_number(sensor, router, lane)], true);
}

static void buffer_occupancy_values(struct congestion *congestion, uint32_t router, uint32_t lane, uint32_t count,
                                    tick_t now, double *values)
{
    SENSOR(sensor, congestion);
    if (!sensor->is_simple) {
        for (uint32_t i = 0; i < count; i++)
            values[i] = buffer_occupancy_value(congestion, router, lane + i, now);
        return;
    }
#if FW_HOST
    check_lanes(sensor);
    catch_up(sensor, router, now);
#endif
    uint32_t num_vcs = congestion->num_vcs, port = lane / num_vcs, vc = lane - port * num_vcs;
    size_t seen = (size_t)router * sensor->lanes + lane;
    FW_GLOBAL const double *capacity = &sensor->capacity[(size_t)router * congestion->ports];
    bool is_of_port = sensor->config.per == PER_PORT;
    double value = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_of_port)
            value = value_of(&sensor->config, seen_of(sensor, seen + i, now), capacity[port], false);
        else if (i == 0 || vc == 0)
            value = value_of(&sensor->config, (double)seen_of_port(sensor, router, port, now) / num_vcs, capacity[port],
                             false);
        values[i] = value;
        if (++vc == num_vcs) {
            vc = 0;
            port++;
        }
    }
}

#if FW_HOST
static __attribute__((noinline)) double total_of_values(struct congestion *congestion, uint32_t router, uint32_t port,
                                                        tick_t now)
{
    double sum = 0;
    for (uint32_t vc = 0; vc < congestion->num_vcs; vc++)
        sum += buffer_occupancy_value(congestion, router, port * congestion->num_vcs + vc, now);
    return sum;
}

static uint64_t buffer_occupancy_least(struct congestion *congestion, uint32_t router, uint32_t lane, uint64_t asked,
                                       tick_t now)
{
    SENSOR(sensor, congestion);
    if (!sensor->keeps_order)
        return 0;
    check_lanes(sensor);
    catch_up(sensor, router, now);
    size_t first = (size_t)router * sensor->lanes + lane;
    uint32_t fewest = UINT32_MAX;
    uint64_t found = 0;
    for (; asked; asked &= asked - 1) {
        uint32_t flits = seen_of(sensor, first + lowest_bit(asked), now);
        if (flits > fewest)
            continue;
        found = flits < fewest ? 0 : found;
        found |= asked & -asked;
        fewest = flits;
    }
    return found;
}

static double buffer_occupancy_total(struct congestion *congestion, uint32_t router, uint32_t port, tick_t now)
{
    SENSOR(sensor, congestion);
    if (!sensor->is_simple)
        return total_of_values(congestion, router, port, now);
    catch_up(sensor, router, now);
    uint32_t num_vcs = congestion->num_vcs;
    double capacity = sensor->capacity[(size_t)router * congestion->ports + port], sum = 0;
    if (sensor->adds_exactly)
        return value_of(&sensor->config, seen_of_port(sensor, router, port, now), capacity, false);
    if (sensor->config.per == PER_VC) {
        size_t seen = (size_t)router * sensor->lanes + port * num_vcs;
        for (uint32_t vc = 0; vc < num_vcs; vc++)
            sum += value_of(&sensor->config, seen_of(sensor, seen + vc, now), capacity, false);
        return sum;
    }
    double mean = (double)seen_of_port(sensor, router, port, now) / num_vcs,
           value = value_of(&sensor->config, mean, capacity, false);
    for (uint32_t vc = 0; vc < num_vcs; vc++)
        sum += value;
    return sum;
}

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

/* Flits that each port's lanes can hold. Whether values keep what sums and comparisons of flits say depends on these. */
static void measure_ports(struct buffer_occupancy *sensor, const struct congestion *shape)
{
    const struct buffer_occupancy_config *config = &sensor->config;
    bool are_powers = true;
    sensor->capacity = arena_array(sensor->arena, double, (size_t)shape->routers * shape->ports);
    for (size_t port = (size_t)shape->first_router * shape->ports; port < (size_t)shape->end_router * shape->ports;
         port++) {
        uint64_t flits = (uint64_t)(sensor->counts[QUEUE_OUTPUT] ? shape->depth[QUEUE_OUTPUT] : 0) +
                         (sensor->counts[QUEUE_DOWNSTREAM] ? shape->links[port].depth : 0);
        sensor->capacity[port] = (double)flits;
        are_powers &= !(flits & (flits - 1));
    }
    bool is_plain = sensor->is_simple && config->per == PER_VC && config->minimum == 0 && config->offset == 0;
    sensor->adds_exactly = is_plain && (are_powers || !config->normalised);
    sensor->keeps_order = is_plain && !config->normalised;
}

/* Who counts, and where: by port, where the VCs of a port are nothing by themselves. */
static void place_counters(struct buffer_occupancy *sensor)
{
    struct congestion *common = &sensor->common;
    struct arena *arena = sensor->arena;
    bool is_counted = common->is_counted = sensor->config.latency <= 2 && !sensor->wires;
    sensor->by_port = is_counted && (sensor->config.per == PER_PORT || (common->totals_alone && sensor->adds_exactly));
    uint16_t *counter_of = arena_array(arena, uint16_t, sensor->lanes);
    for (uint32_t lane = 0; lane < sensor->lanes; lane++)
        counter_of[lane] = (uint16_t)(sensor->by_port ? lane / common->num_vcs : lane);
    common->counter_of = counter_of;
    common->counters = sensor->by_port ? common->ports : sensor->lanes;
    sensor->seen = arena_array(arena, struct counted_flits, (size_t)common->routers * common->counters);
    if (is_counted) {
        for (enum queue queue = QUEUE_OUTPUT; queue <= QUEUE_DOWNSTREAM; queue++)
            common->counted[queue] = sensor->counts[queue] ? sensor->seen : NULL;
        if (sensor->config.latency == 2)
            common->earlier = arena_array(arena, struct counted_earlier, (size_t)common->routers * common->counters);
        return;
    }
    sensor->unseen = arena_array(arena, struct unseen, common->routers);
    for (size_t number = (size_t)common->first_router * common->counters;
         number < (size_t)common->end_router * common->counters; number++)
        sensor->seen[number].when = FW_NEVER;
}

static struct congestion *buffer_occupancy_build(const struct choice *self, const struct congestion *shape,
                                                 struct arena *arena, struct errors *errors)
{
    uint32_t before = errors->count;
    buffer_occupancy_check(self, shape, errors);
    if (errors->count > before)
        return NULL;
    struct buffer_occupancy *sensor = arena_take(arena, sizeof *sensor);
    const struct buffer_occupancy_config *config = &sensor->config;
    sensor->common = *shape;
    sensor->config = *(const struct buffer_occupancy_config *)self->config;
    sensor->arena = arena;
    set_what_counts(sensor);
    if (config->phantom_value > 0)
        sensor->wires = arena_array(arena, struct wire, (size_t)shape->routers * sensor->lanes);
    measure_ports(sensor, shape);
    place_counters(sensor);
    sensor->common.adds_up = config->accounting == ACCOUNT_BOTH && !sensor->wires;
    return &sensor->common;
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
    .least = buffer_occupancy_least,
    .total = buffer_occupancy_total,
    DEVICE_FORM_WITH(buffer_occupancy_values, .change = "buffer_occupancy_change",
                     .catch_up = "buffer_occupancy_catch_up"),
};
REGISTER_CONGESTION(buffer_occupancy);
#endif
