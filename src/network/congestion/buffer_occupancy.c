/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffer occupancy: how many flits are in the queues behind an output, as routing
 * sees it some ticks later.
 *
 *   count of a lane -> over the VCs of its port -> share of capacity -> rounded
 *     -> at least the minimum -> plus the offset
 *
 * A router's changes go into a ring in the order of time and are added to what
 * is seen when somebody looks, or when the ring is full: constant work for each
 * change, whatever the latency. A ring with nothing old enough to be seen grows,
 * which ends when it holds as many changes as a router makes in that time.
 */
#include "flitwarp/arena.h"
#include "flitwarp/congestion.h"

#include <math.h>

enum accounting { ACCOUNT_OUTPUT, ACCOUNT_DOWNSTREAM, ACCOUNT_BOTH };
enum per { PER_VC, PER_PORT, PER_PORT_MIN, PER_PORT_MAX };

struct buffer_occupancy_config {
    uint32_t accounting, per;
    bool normalised;
    uint64_t latency;
    double granularity, minimum, offset;
};

static const char *const accounting_names[] = {"output", "downstream", "both", NULL};
static const char *const per_names[] = {"vc", "port", "port_min", "port_max", NULL};

static const struct option buffer_occupancy_options[] = {
    OPTION_ENUM(struct buffer_occupancy_config, accounting, "\"both\"", accounting_names,
                "flits that count: in the router's output queues, in the buffers downstream, or both"),
    OPTION_ENUM(struct buffer_occupancy_config, per, "\"vc\"", per_names,
                "value of a VC: its own, or the mean, the smallest or the largest of its port"),
    OPTION_BOOL(struct buffer_occupancy_config, normalised, "true", "share of the queues' capacity, not flits"),
    OPTION_TICKS(struct buffer_occupancy_config, latency, "1", 1, 1e9, "until routing sees a change"),
    OPTION_F64(struct buffer_occupancy_config, granularity, "0", 0, 1e9, NULL,
               "values are rounded to multiples of it; 0: not rounded"),
    OPTION_F64(struct buffer_occupancy_config, minimum, "0", 0, 1e9, NULL, "values below count as this"),
    OPTION_F64(struct buffer_occupancy_config, offset, "0", -1e9, 1e9, NULL, "added to every value, last"),
    OPTION_END,
};

struct change {
    tick_t when;
    uint32_t lane;
    int32_t change;
};

/* What a router has reported and nobody can see yet. */
struct unseen {
    struct change *ring; /* of a power of two */
    uint32_t size;
    uint32_t first, count; /* free-running */
};

struct buffer_occupancy {
    struct congestion common;
    struct buffer_occupancy_config config;
    struct arena *arena; /* borrowed: rings grow in it */
    bool counts[2];      /* by enum queue */
    uint32_t lanes;
    double vc_capacity;    /* what a value of one VC is divided by */
    uint32_t *seen;        /* by router * lanes + lane: flits that routing knows of */
    struct unseen *unseen; /* by router */
};

static void check_settings(const struct choice *self, const struct congestion *shape, struct errors *errors)
{
    const struct buffer_occupancy_config *c = self->config;
    if (c->accounting == ACCOUNT_OUTPUT && !shape->depth[QUEUE_OUTPUT])
        choice_error(errors, self, "accounting",
                     "'output' counts flits in output queues, but this router has none; 'downstream' is what there is");
    if (c->accounting != ACCOUNT_DOWNSTREAM && c->normalised && shape->depth[QUEUE_OUTPUT] == ENDLESS)
        choice_error(errors, self, "normalised",
                     "output queues without an end have no share that is full; accepted: false, or accounting "
                     "'downstream'");
}

static struct congestion *buffer_occupancy_build(const struct choice *self, const struct congestion *shape,
                                                 struct arena *arena, struct errors *errors)
{
    uint32_t before = errors->count;
    check_settings(self, shape, errors);
    if (errors->count > before)
        return NULL;
    struct buffer_occupancy *sensor = arena_take(arena, sizeof *sensor);
    sensor->common = *shape;
    sensor->config = *(const struct buffer_occupancy_config *)self->config;
    sensor->arena = arena;
    sensor->counts[QUEUE_OUTPUT] = sensor->config.accounting != ACCOUNT_DOWNSTREAM;
    sensor->counts[QUEUE_DOWNSTREAM] = sensor->config.accounting != ACCOUNT_OUTPUT;
    sensor->lanes = shape->ports * shape->num_vcs;
    for (uint32_t queue = 0; queue < 2; queue++)
        sensor->vc_capacity += sensor->counts[queue] ? shape->depth[queue] : 0;
    if (!sensor->config.normalised)
        sensor->vc_capacity = 1;
    sensor->seen = arena_array(arena, uint32_t, (size_t)shape->routers * sensor->lanes);
    sensor->unseen = arena_array(arena, struct unseen, shape->routers);
    return &sensor->common;
}

/* What is old enough is seen from now on. */
static void catch_up(struct buffer_occupancy *sensor, uint32_t router, tick_t now)
{
    struct unseen *unseen = &sensor->unseen[router];
    uint32_t *seen = sensor->seen + (size_t)router * sensor->lanes;
    for (; unseen->count; unseen->count--, unseen->first++) {
        const struct change *oldest = &unseen->ring[unseen->first & (unseen->size - 1)];
        if (oldest->when + sensor->config.latency > now)
            return;
        seen[oldest->lane] += (uint32_t)oldest->change;
    }
}

static __attribute__((noinline)) void grow(struct buffer_occupancy *sensor, struct unseen *unseen)
{
    uint32_t size = unseen->size ? 2 * unseen->size : 64;
    struct change *ring = arena_array(sensor->arena, struct change, size);
    for (uint32_t i = 0; i < unseen->count; i++)
        ring[i] = unseen->ring[(unseen->first + i) & (unseen->size - 1)];
    *unseen = (struct unseen){.ring = ring, .size = size, .count = unseen->count};
}

static void buffer_occupancy_change(struct congestion *congestion, uint32_t router, uint32_t lane, enum queue queue,
                                    int32_t change, tick_t now)
{
    struct buffer_occupancy *sensor = (struct buffer_occupancy *)congestion;
    struct unseen *unseen = &sensor->unseen[router];
    if (!sensor->counts[queue])
        return;
    if (unseen->count == unseen->size) {
        catch_up(sensor, router, now);
        if (unseen->count == unseen->size)
            grow(sensor, unseen);
    }
    unseen->ring[(unseen->first + unseen->count++) & (unseen->size - 1)] =
        (struct change){.when = now, .lane = lane, .change = change};
}

/* Flits of a lane, or of its port as `per` says; the mean is left as a sum. */
static uint32_t flits_of(const struct buffer_occupancy *sensor, uint32_t router, uint32_t lane)
{
    uint32_t num_vcs = sensor->common.num_vcs;
    const uint32_t *seen = sensor->seen + (size_t)router * sensor->lanes;
    if (sensor->config.per == PER_VC)
        return seen[lane];
    uint32_t sum = 0, smallest = UINT32_MAX, largest = 0;
    for (uint32_t at = lane / num_vcs * num_vcs, end = at + num_vcs; at < end; at++) {
        sum += seen[at];
        smallest = seen[at] < smallest ? seen[at] : smallest;
        largest = seen[at] > largest ? seen[at] : largest;
    }
    return sensor->config.per == PER_PORT ? sum : sensor->config.per == PER_PORT_MIN ? smallest : largest;
}

static double buffer_occupancy_value(struct congestion *congestion, uint32_t router, uint32_t lane, tick_t now)
{
    struct buffer_occupancy *sensor = (struct buffer_occupancy *)congestion;
    const struct buffer_occupancy_config *c = &sensor->config;
    catch_up(sensor, router, now);
    double over = sensor->vc_capacity * (c->per == PER_PORT ? sensor->common.num_vcs : 1);
    double value = flits_of(sensor, router, lane) / over;
    if (c->granularity > 0)
        value = floor(value / c->granularity + 0.5) * c->granularity;
    return (value < c->minimum ? c->minimum : value) + c->offset;
}

static const struct congestion_ops buffer_occupancy = {
    .name = "buffer_occupancy",
    .summary = "flits in the queues behind an output, as known some ticks later",
    .options = buffer_occupancy_options,
    .config_size = sizeof(struct buffer_occupancy_config),
    .example = "{\"type\": \"buffer_occupancy\", \"accounting\": \"downstream\", \"per\": \"port\", \"latency\": 4}",
    .build = buffer_occupancy_build,
    .change = buffer_occupancy_change,
    .value = buffer_occupancy_value,
};
REGISTER_CONGESTION(buffer_occupancy);
