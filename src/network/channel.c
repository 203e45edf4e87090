/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latencies of channels. What holds for a channel between routers, the first that
 * there is of:
 *
 *   1. what the topology itself says (one that was read from a file)
 *   2. network.channel.latencies, by the topology's class of the channel
 *   3. network.channel.latency
 *
 * Where there is a plan of the machine room, the cable comes on top: its length
 * is the distance along the axes between the two routers' places. On a chip the
 * third is the latency of one terminal's width, of which a channel spans several.
 *
 * How fast a channel is can be said in two ways, which must agree where both are
 * given: a cycle, or a bandwidth, at which a flit takes flit_bytes / bandwidth.
 */
#include "network/network.h"

#include "config/json.h"
#include "network/line_file.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_LATENCY 1e9
#define MAX_CYCLE 65535
#define MIN_BANDWIDTH 1e-9 /* bytes a tick */
#define MAX_BANDWIDTH 1e9
#define CYCLE_HELP "between two flits; null: as bandwidth says, or 1"
#define BANDWIDTH_HELP "a flit of network.flit_bytes takes a cycle; null: as cycle says"
#define AXES 3
#define UNPLACED HUGE_VAL /* the coordinate of a router that the plan has not named yet */

static const struct option cable_options[] = {
    OPTION_TICKS_F64(struct cable_config, per_metre, "\"5ns\"", 0, 1e9, "of a signal along a metre of cable"),
    OPTION_FILE(struct cable_config, plan, "null", "CSV file of lines router,x,y[,z], in metres; null: no cables"),
    OPTION_END,
};

static const struct option chip_options[] = {
    OPTION_U32(struct chip_config, row, "null", 1, 65536, "routers",
               "routers in a row of the chip; null: latencies do not go by distance"),
    OPTION_U32_LIST(struct chip_config, tile, "[1, 1]", 1, 1024, "terminals",
                    "terminals of a router along a row of the chip, and across", ONLY_WITH("row")),
    OPTION_END,
};

const struct option channel_options[] = {
    OPTION_TICKS(struct channel_config, latency, "1", 1, MAX_LATENCY, "from one end to the other"),
    OPTION_TICKS(struct channel_config, cycle, "null", 1, MAX_CYCLE, CYCLE_HELP),
    OPTION_BANDWIDTH(struct channel_config, bandwidth, "null", MIN_BANDWIDTH, MAX_BANDWIDTH, BANDWIDTH_HELP),
    OPTION_TICKS_LIST(struct channel_config, latencies, "null", 1, MAX_LATENCY,
                      "instead of latency: for each of the topology's classes of channels (dimensions, levels, local "
                      "and global), or one for all"),
    OPTION_TICKS_LIST(struct channel_config, cycles, "null", 1, MAX_CYCLE, "instead of cycle: by class, as latencies"),
    OPTION_BANDWIDTH_LIST(struct channel_config, bandwidths, "null", MIN_BANDWIDTH, MAX_BANDWIDTH,
                          "instead of bandwidth: by class, as latencies"),
    OPTION_BLOCK(struct channel_config, cable, struct cable_config, cable_options, "latency by length, to be added"),
    OPTION_BLOCK(struct channel_config, chip, struct chip_config, chip_options,
                 "latency by distance on a chip: that of a channel is for each terminal's width that it spans"),
    OPTION_END,
};

const struct option terminal_channel_options[] = {
    OPTION_TICKS(struct terminal_channel_config, latency, "1", 1, MAX_LATENCY, "from one end to the other"),
    OPTION_TICKS(struct terminal_channel_config, cycle, "null", 1, MAX_CYCLE, CYCLE_HELP),
    OPTION_BANDWIDTH(struct terminal_channel_config, bandwidth, "null", MIN_BANDWIDTH, MAX_BANDWIDTH, BANDWIDTH_HELP),
    OPTION_END,
};

/* ---- cycle and bandwidth ---- */

/* Ticks that a flit takes; 0 with an error when they are not a whole number of them that a channel may have. */
static uint64_t cycle_of(const struct json *block, const char *key, const struct json *given, uint32_t flit_bytes,
                         double bandwidth, struct errors *errors)
{
    double bytes = flit_bytes, ticks = bytes / bandwidth, whole = round(ticks);
    double low = floor(ticks) < 1 ? 1 : floor(ticks), high = low + 1;
    if (ticks > MAX_CYCLE)
        return node_error(errors, block, key, "at %s a flit of %g bytes takes %.6g ticks; accepted: at most %d",
                          given->text, bytes, ticks, MAX_CYCLE);
    if (whole < 1 || fabs(ticks - whole) > 16 * DBL_EPSILON * ticks) /* what division of decimals may cost */
        return node_error(
            errors, block, key,
            "at %s a flit of %g bytes takes %.6g ticks, expected a whole number of them: %.12g bytes/tick make "
            "it %g, %.12g make it %g; a shorter simulator.tick or another network.flit_bytes may fit too",
            given->text, bytes, ticks, bytes / low, low, bytes / high, high);
    return (uint64_t)whole;
}

/* Cycles become what bandwidths make of them, also where the settings are shown; both must agree where both are given. */
static void settle_cycle(uint64_t *cycle, double bandwidth, uint32_t flit_bytes, const struct json *block,
                         struct arena *arena, struct errors *errors)
{
    struct json *shown = json_find(block, "cycle"), *given = json_find(block, "bandwidth");
    uint64_t settled = bandwidth > 0 ? cycle_of(block, "bandwidth", given, flit_bytes, bandwidth, errors)
                       : *cycle      ? *cycle
                                     : 1;
    if (*cycle && settled && *cycle != settled)
        node_error(errors, block, "cycle",
                   "%s contradicts the bandwidth beside it, %s, at which a flit of %u bytes takes %llu ticks; give one "
                   "of them",
                   shown->text, given->text, flit_bytes, (unsigned long long)settled);
    if (*cycle || !settled)
        return;
    *cycle = settled;
    json_replace(shown, json_number_u64(arena, settled));
}

/* The same for a class of channels each. */
static void settle_cycles(struct channel_config *config, uint32_t flit_bytes, const struct json *block,
                          struct arena *arena, struct errors *errors)
{
    const struct json *list = json_find(block, "bandwidths");
    uint32_t count = config->bandwidths.count, before = errors->count;
    if (!count)
        return;
    uint64_t *settled = arena_array(arena, uint64_t, count);
    struct json *shown = json_array(arena), *value = list->first;
    for (uint32_t i = 0; i < count; i++, value = value->next) {
        settled[i] = cycle_of(block, "bandwidths", value, flit_bytes, config->bandwidths.items[i], errors);
        json_append(shown, json_number_u64(arena, settled[i]));
    }
    if (errors->count > before)
        return;
    bool agrees = config->cycles.count == count;
    for (uint32_t i = 0; i < count && agrees; i++)
        agrees = config->cycles.items[i] == settled[i];
    if (config->cycles.count && !agrees)
        node_error(errors, block, "cycles", "they contradict the bandwidths beside them; give one of them");
    if (config->cycles.count)
        return;
    config->cycles = (struct u64_list){count, settled};
    json_replace(json_find(block, "cycles"), shown);
}

void channels_settle(struct network_config *config, const struct json *network, struct arena *arena,
                     struct errors *errors)
{
    const struct json *channel = json_find(network, "channel"), *terminal = json_find(network, "terminal_channel");
    settle_cycle(&config->channel.cycle, config->channel.bandwidth, config->flit_bytes, channel, arena, errors);
    settle_cycles(&config->channel, config->flit_bytes, channel, arena, errors);
    settle_cycle(&config->terminal_channel.cycle, config->terminal_channel.bandwidth, config->flit_bytes, terminal,
                 arena, errors);
}

/* ---- the plan ---- */

struct plan {
    struct line_file file;
    uint32_t routers, of_plane; /* all, and those of the first plane */
    double *places;
};

static bool place_router(void *reader, char *line)
{
    const struct plan *plan = reader;
    const char *text = line + strspn(line, " \t");
    double numbers[1 + AXES] = {0};
    if (!*text || strncmp(text, "router,", strlen("router,")) == 0) /* a header */
        return true;
    uint32_t count = line_numbers(text, numbers, 1 + AXES);
    double *place = plan->places + AXES * (size_t)(numbers[0] >= 0 && numbers[0] < plan->routers ? numbers[0] : 0);
    if (count < 3 || numbers[0] < 0 || numbers[0] != floor(numbers[0]))
        return line_error(&plan->file, "\"%s\" is no router,x,y[,z]", text);
    if (numbers[0] >= plan->routers)
        return line_error(&plan->file, "there is no router %.0f; accepted: 0 to %u", numbers[0], plan->routers - 1);
    if (*place != UNPLACED)
        return line_error(&plan->file, "router %.0f has a place already", numbers[0]);
    return memcpy(place, numbers + 1, sizeof *place * AXES);
}

/* Routers of other planes that are not named stand where those of the first do. */
static bool is_every_router_placed(const struct plan *plan)
{
    for (uint32_t router = plan->of_plane; router < plan->routers; router++)
        if (plan->places[AXES * (size_t)router] == UNPLACED)
            memcpy(plan->places + AXES * (size_t)router, plan->places + AXES * (size_t)(router % plan->of_plane),
                   AXES * sizeof *plan->places);
    for (uint32_t router = 0; router < plan->routers; router++)
        if (plan->places[AXES * (size_t)router] == UNPLACED)
            return line_file_error(&plan->file, "router %u of %u has no place", router, plan->routers);
    return true;
}

/* The longest cable that there can be must not be slower than any latency may be. */
static bool is_short_enough(const struct plan *plan, double per_metre)
{
    double length = 0;
    for (uint32_t axis = 0; axis < AXES; axis++) {
        double low = plan->places[axis], high = low;
        for (uint32_t router = 0; router < plan->routers; router++) {
            low = fmin(low, plan->places[AXES * (size_t)router + axis]);
            high = fmax(high, plan->places[AXES * (size_t)router + axis]);
        }
        length += high - low;
    }
    if (length * per_metre <= MAX_LATENCY)
        return true;
    return line_file_error(&plan->file, "a room of %g m by %g ticks a metre is more than %g ticks", length, per_metre,
                           MAX_LATENCY);
}

/* Of all planes, whichever of them are asked about. */
static const double *read_plan(const struct network_config *config, uint32_t of_plane, struct arena *arena,
                               struct errors *errors)
{
    uint32_t routers = of_plane * config->planes.count;
    struct plan plan = {.file = {.path = config->channel.cable.plan,
                                 .node = json_find(network_node(config, "channel"), "cable"),
                                 .key = "plan",
                                 .errors = errors},
                        .routers = routers,
                        .of_plane = of_plane,
                        .places = arena_array(arena, double, AXES *(size_t)routers)};
    for (size_t i = 0; i < AXES * (size_t)routers; i++)
        plan.places[i] = UNPLACED;
    bool is_good = line_file_read(&plan.file, place_router, &plan) && is_every_router_placed(&plan);
    return is_good && is_short_enough(&plan, config->channel.cable.per_metre) ? plan.places : NULL;
}

/* ---- latencies ---- */

static bool check_classes(const struct network_config *config, const char *key, uint32_t given,
                          const struct topology *topology, struct errors *errors)
{
    uint32_t classes = topology->channel_classes;
    if (given <= 1 || given == classes)
        return true;
    return node_error(
        errors, network_node(config, "channel"), key, "%u values, but \"%s\" has %u %s of channels%s%s%s%s", given,
        topology->ops->name, classes ? classes : 1, classes > 1 ? "classes" : "class", classes > 1 ? ": " : "",
        classes > 1 ? topology->channel_class_names[0] : "", classes > 1 ? (classes > 2 ? " to " : ", ") : "",
        classes > 1 ? topology->channel_class_names[classes - 1] : "");
}

static uint32_t apart(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/* Terminals' widths between two routers of a chip, along its sides; 1 where there is no chip. */
static uint32_t chip_length(const struct chip_config *chip, uint32_t a, uint32_t b)
{
    if (!chip->row)
        return 1;
    return chip->tile.items[0] * apart(a % chip->row, b % chip->row) +
           chip->tile.items[1] * apart(a / chip->row, b / chip->row);
}

/* Widths from the middle of a side to one of its places, less the first. */
static uint32_t beyond_middle(uint32_t place, uint32_t side)
{
    uint32_t middle = side / 2, steps = side % 2         ? apart(place, middle)
                                        : place < middle ? middle - place
                                                         : place - middle + 1;
    return steps ? steps - 1 : 0;
}

/* Widths between a terminal of a tile and its router in the middle of it, at least 1. */
static uint32_t tile_length(const struct chip_config *chip, uint32_t slot)
{
    uint32_t width = chip->tile.items[0], height = chip->tile.items[1];
    return 1 + beyond_middle(slot % width, width) + beyond_middle(slot / width, height);
}

static bool check_chip(const struct network_config *config, const struct topology *topology, uint32_t of_plane,
                       struct errors *errors)
{
    const struct channel_config *channel = &config->channel;
    const struct chip_config *chip = &channel->chip;
    const struct json *node = json_find(network_node(config, "channel"), "chip");
    if (!chip->row)
        return true;
    if (channel->latencies.count)
        return node_error(errors, node, NULL, "channels have latencies by class, not by distance");
    if (!tile_fits(&chip->tile, topology->concentration))
        return node_error(errors, node, "tile", TILE_EXPECTED, topology->concentration);
    if (of_plane % chip->row)
        return node_error(errors, node, "row", "%u routers do not fill rows of %u", of_plane, chip->row);
    uint64_t longest = chip_length(chip, 0, of_plane - 1) * channel->latency;
    uint64_t from_corner = tile_length(chip, 0) * config->terminal_channel.latency;
    if (longest <= MAX_LATENCY && from_corner <= MAX_LATENCY)
        return true;
    return node_error(errors, node, NULL, "the longest channel of the chip takes %" PRIu64 " ticks, more than %g",
                      longest > from_corner ? longest : from_corner, MAX_LATENCY);
}

bool channel_latencies_init(struct channel_latencies *latencies, const struct network_config *config,
                            const struct topology *topology, uint32_t of_plane, struct arena *arena,
                            struct errors *errors)
{
    *latencies = (struct channel_latencies){.topology = topology, .config = config};
    bool has_bandwidths = config->channel.bandwidths.count;
    if (!check_classes(config, "latencies", config->channel.latencies.count, topology, errors) ||
        !check_classes(config, has_bandwidths ? "bandwidths" : "cycles", config->channel.cycles.count, topology,
                       errors))
        return false;
    if (!check_chip(config, topology, of_plane, errors))
        return false;
    if (config->channel.cable.plan)
        latencies->places = read_plan(config, of_plane, arena, errors);
    return latencies->places || !config->channel.cable.plan;
}

static uint32_t cable_latency(const struct channel_latencies *latencies, uint32_t a, uint32_t b)
{
    const double *from = latencies->places + AXES * (size_t)a, *to = latencies->places + AXES * (size_t)b;
    double length = 0;
    for (uint32_t axis = 0; axis < AXES; axis++)
        length += fabs(from[axis] - to[axis]);
    double ticks = ceil(length * latencies->config->channel.cable.per_metre * (1 - 1e-12)); /* 0.1 + 0.2 is 0.3 */
    return ticks < 1 ? 1 : (uint32_t)ticks;
}

/* What a list has for a channel; it is not empty. */
static uint64_t by_class(const struct u64_list *list, const struct topology *topology, uint32_t router, uint32_t port)
{
    return list->items[list->count == 1 ? 0 : topology->ops->channel_class(topology, router, port)];
}

static const struct failure_damage *slowness(const struct channel_latencies *latencies, uint32_t router, uint32_t port)
{
    return latencies->slow ? failures_slow(latencies->slow, router, port) : NULL;
}

/* As the settings of channels have it. */
static uint32_t whole_cycle(const struct channel_latencies *latencies, uint32_t router, uint32_t port)
{
    const struct channel_config *config = &latencies->config->channel;
    return (uint32_t)(config->cycles.count ? by_class(&config->cycles, latencies->topology, router, port)
                                           : config->cycle);
}

uint32_t channel_cycle(const struct channel_latencies *latencies, uint32_t router, uint32_t port)
{
    return slow_cycle(slowness(latencies, router, port), whole_cycle(latencies, router, port));
}

bool failures_check_slow(const struct failures *failures, const struct channel_latencies *latencies,
                         const struct json *node, struct errors *errors)
{
    for (uint32_t i = 0; i < failures->slow_count; i++) {
        const struct slow_port *slow = &failures->slow[i];
        uint32_t ports = failures->topology->ports, router = (uint32_t)(slow->slot / ports),
                 port = (uint32_t)(slow->slot % ports), cycle = whole_cycle(latencies, router, port);
        double ticks = cycle / slow->damage.bandwidth;
        if (!slow_cycle_is_whole(&slow->damage, cycle) || ticks > MAX_CYCLE)
            return node_error(
                errors, node, NULL,
                "a flit takes %u ticks on the link behind port %u of router %u; at %g of its bandwidth it "
                "would take %.6g, expected a whole number of at most %d: %.6g or %.6g make one",
                cycle, port, router, slow->damage.bandwidth, ticks, MAX_CYCLE, cycle / fmin(ceil(ticks), MAX_CYCLE),
                cycle / fmin(floor(ticks), MAX_CYCLE));
    }
    return true;
}

uint32_t channel_latency(const struct channel_latencies *latencies, uint32_t router, uint32_t port, uint32_t neighbour)
{
    const struct topology *topology = latencies->topology;
    const struct channel_config *config = &latencies->config->channel;
    uint64_t latency = topology->latencies ? topology->latencies[(size_t)router * topology->ports + port] : 0;
    if (!latency && config->latencies.count)
        latency = by_class(&config->latencies, topology, router, port);
    if (!latency)
        latency = config->latency * chip_length(&config->chip, router, neighbour);
    const struct failure_damage *damage = slowness(latencies, router, port);
    latency += damage ? damage->extra_latency : 0;
    return (uint32_t)latency + (latencies->places ? cable_latency(latencies, router, neighbour) : 0);
}

uint32_t terminal_latency(const struct channel_latencies *latencies, uint32_t terminal)
{
    const struct topology *topology = latencies->topology;
    const uint32_t *own = topology->terminal_latencies;
    if (own && own[terminal])
        return own[terminal];
    const struct chip_config *chip = &latencies->config->channel.chip;
    uint32_t length = chip->row ? tile_length(chip, terminal % topology->concentration) : 1;
    return (uint32_t)latencies->config->terminal_channel.latency * length;
}
