/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routing on a device. Topology and algorithm are prepared a second time, in the piece of memory that is copied; the
 * algorithm's text answers the routers' questions, and that of the sensors what it asks of them. A table of distances tells
 * which packets took a detour.
 */
#include "device/lockstep.h"

#include "base/text.h"
#include "config/options.h"
#include "config/registry.h"
#include "network/congestion/buffer_occupancy.h"
#include "network/routing/routing.h"

#include <string.h>

#define MOST_ROUTERS 16384u /* whose distances take half a GiB */

/* ---- what can run ---- */

bool lockstep_check_form(const struct choice *choice, const char *kind, struct errors *errors)
{
    if (component_has_device_form(choice->component))
        return true;
    return choice_error(errors, choice, NULL, "'%s' does not run on a device; accepted: a %s with a device form",
                        choice->component->name, kind);
}

/* The reduction that an algorithm chose; NULL: it has none. */
static const struct choice *reduction_of(const struct option *row, const void *config)
{
    for (; row && row->type != OPTION_TYPE_END; row++) {
        if (row->type == OPTION_TYPE_CHOICE && strcmp(row->kind, "reduction") == 0)
            return (const void *)((const char *)config + row->offset);
        const struct choice *found =
            row->type == OPTION_TYPE_ROWS ? reduction_of(row->rows, (const char *)config + row->offset) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

static const struct buffer_occupancy *occupancy_of(const struct network *network)
{
    const struct congestion *sensors = network->congestion;
    return sensors && strcmp(sensors->ops->name, "buffer_occupancy") == 0 ? (const void *)sensors : NULL;
}

/* Places for changes that a router has not seen: it makes two at each port in a tick, at most, or one for each lane. */
static uint64_t changes_of(const struct network *network)
{
    const struct buffer_occupancy *sensor = occupancy_of(network);
    uint64_t places = 64, each_tick = network->ports * (network->plan.transfer.chunk ? network->num_vcs : 2ul);
    while (sensor && places < each_tick * (sensor->config.latency + 2))
        places *= 2;
    return places;
}

static bool check_sensors(const struct network *network, struct errors *errors)
{
    const struct choice *self = network->plan.congestion;
    const struct buffer_occupancy *sensor = occupancy_of(network);
    if (!lockstep_check_form(self, "sensor", errors))
        return false;
    if (sensor && sensor->config.phantom_value > 0)
        return choice_error(errors, self, "phantom_value", "does not run on a device; accepted: 0");
    return changes_of(network) <= (uint64_t)1 << 30 ||
           choice_error(errors, self, "latency", "%llu ticks are more than a device can keep changes for",
                        (unsigned long long)sensor->config.latency);
}

bool lockstep_check_routing(const struct network *network, struct errors *errors)
{
    const struct choice *self = &network->core->config->routing;
    const struct routing *routing = &network->routing;
    const struct choice *reduction = reduction_of(self->component->options, self->config);
    if (!lockstep_check_form(self, "routing algorithm", errors))
        return false;
    if (routing->looks_afar_key)
        return choice_error(errors, self, routing->looks_afar_key,
                            "routing that reads the sensors of other routers does not run on a device");
    if (reduction && !lockstep_check_form(reduction, "reduction", errors))
        return false;
    if (!routing->ops->is_minimal && !routing->topology->grid && routing->topology->routers > MOST_ROUTERS)
        return choice_error(errors, self, NULL,
                            "'%s' may take detours, which a device counts by a table of distances of at most %u "
                            "routers; there are %u",
                            routing->ops->name, MOST_ROUTERS, routing->topology->routers);
    return !network->congestion || check_sensors(network, errors);
}

/* ---- tables ---- */

void lockstep_make_routing(struct lockstep *l, struct arena *arena)
{
    const struct network *network = l->network;
    const struct network_config *config = network->core->config;
    struct lockstep_facts *f = &l->facts;
    struct choice topology_choice = lockstep_read_again(l, &config->topology, "topology", arena);
    struct choice choice = lockstep_read_again(l, &config->routing, "routing", arena);
    struct topology topology;
    struct routing routing;
    const struct routing_ports ports = {.num_vcs = network->num_vcs,
                                        .protocol_classes = config->protocol_classes,
                                        .injection_channels = network->injection_channels,
                                        .ejection_channels = network->core->rails.ejection};
    if (!topology_init(&topology, &topology_choice, arena, l->errors) ||
        !routing_init(&routing, &choice, &topology, &ports, network->seed, arena, l->errors))
        return;
    f->seed = routing.seed;
    f->routing_vcs = routing.vcs;
    f->protocol_vcs = routing.protocol_vcs;
    f->has_protocols = config->protocol_classes > 1;
    f->classes = routing.classes;
    f->all_escape_vcs = routing.all_escape_vcs;
    f->measures_detours = !routing.ops->is_minimal;
    f->routing_config_at = lockstep_place(l, choice.config);
    f->routing_state_at = lockstep_place(l, routing.state);
    f->topology_facts_at = lockstep_place(l, topology.facts);
    f->grid_at = lockstep_place(l, topology.grid);
    f->class_vcs_at = lockstep_place(l, routing.class_vcs);
    f->eject_vcs_at = lockstep_place(l, routing.eject_vcs);
    f->terminal_slot_at = lockstep_place(l, routing.terminal_slot);
    size_t bytes = sizeof(uint32_t) * f->terminals;
    f->ejection_router_at = lockstep_place(l, memcpy(arena_take(arena, bytes), network->core->ejection_router, bytes));
    if (network->congestion)
        f->congestion_config_at =
            lockstep_place(l, lockstep_read_again(l, network->plan.congestion, "congestion", arena).config);
    uint64_t seen = f->routers * f->lanes * sizeof(uint32_t);
    f->unseen_at = (seen + 15) / 16 * 16;
    f->capacity_at = f->unseen_at + f->routers * sizeof(struct unseen);
}

/* ---- the text ---- */

void lockstep_add_routing_settings(const struct lockstep *l, struct text *text)
{
    const struct network *network = l->network;
    const struct choice *self = &network->core->config->routing;
    const struct choice *reduction = reduction_of(self->component->options, self->config);
    const struct device_form *form = &self->component->device;
    const char *family = network->routing.topology->family;
    static const char *const families[] = {"hyperx", "dragonfly"};
    text_addf(text, "#define ROUTE(question) %s(question)\n", form->function);
    text_addf(text, "#define INJECT(question) %s(question)\n", form->inject ? form->inject : "(void)");
    text_addf(text, "#define HAS_INJECTION_VCS %d\n", form->injection_vcs != NULL);
    if (form->injection_vcs)
        text_addf(text, "#define INJECTION_VCS(routing, packet) %s(routing, packet)\n", form->injection_vcs);
    else
        text_addf(text, "#define INJECTION_VCS(routing, packet) 0\n");
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        text_addf(text, "#define FAMILY_IS_%s %d\n", families[i], family && strcmp(family, families[i]) == 0);
    text_addf(text, "#define MAX_CANDIDATES %u\n", network->routing.candidates ? network->routing.candidates : 1);
    const char *none = "none_change", *nothing = "none_values";
    const struct device_form *sensors = network->congestion ? &network->plan.congestion->component->device : NULL;
    text_addf(text, "#define HAS_SENSORS %d\n", occupancy_of(network) != NULL); /* what is always 0 need not be kept */
    text_addf(text, "#define CONGESTION_CHANGE %s\n", sensors ? sensors->change : none);
    text_addf(text, "#define CONGESTION_CATCH_UP %s\n", sensors ? sensors->catch_up : "none_catch_up");
    text_addf(text, "#define CONGESTION_VALUES %s\n", sensors ? sensors->function : nothing);
    if (reduction)
        text_addf(text, "#define REDUCTION_WEIGHT %s\n", reduction->component->device.function);
    else
        text_addf(text, "#define REDUCTION_WEIGHT(config, candidate) ((void)(config), (candidate)->congestion)\n");
}

bool lockstep_add_routing(const struct lockstep *l, struct device_source *source)
{
    const struct network *network = l->network;
    const struct choice *self = &network->core->config->routing;
    const struct choice *reduction = reduction_of(self->component->options, self->config);
    return source_add_file(source, network->congestion ? network->plan.congestion->component->device.file
                                                       : "src/network/congestion/none.c") &&
           (!reduction || source_add_file(source, reduction->component->device.file)) &&
           (!network->routing.ops->is_adaptive || source_add_file(source, "src/network/routing/adaptive.c")) &&
           source_add_file(source, self->component->device.file);
}

/* ---- memory ---- */

uint64_t lockstep_sensor_bytes(const struct lockstep *l)
{
    const struct lockstep_facts *f = &l->facts;
    if (!occupancy_of(l->network))
        return 0;
    return f->capacity_at + f->routers * (f->ports * sizeof(double) + changes_of(l->network) * sizeof(struct change));
}

uint64_t lockstep_distance_bytes(const struct lockstep *l)
{
    const struct lockstep_facts *f = &l->facts;
    return f->measures_detours && !f->grid_at ? f->routers * f->routers * sizeof(uint16_t) : 0;
}

static bool fill_sensors(struct lockstep *l)
{
    const struct lockstep_facts *f = &l->facts;
    const struct buffer_occupancy *sensor = occupancy_of(l->network);
    uint64_t changes = changes_of(l->network), ports = f->routers * f->ports * sizeof(double);
    struct unseen *unseen = memory_take(f->routers * sizeof *unseen);
    for (uint64_t router = 0; router < f->routers; router++) {
        uint64_t ring_at = f->capacity_at + ports + router * changes * sizeof(struct change);
        unseen[router] = (struct unseen){.ring = (void *)(uintptr_t)ring_at, .size = (uint32_t)changes};
    }
    bool is_good = lockstep_fill(l, BUFFER_SENSORS, 0, f->unseen_at, 0) &&
                   lockstep_write(l, BUFFER_SENSORS, f->unseen_at, unseen, f->routers * sizeof *unseen) &&
                   lockstep_write(l, BUFFER_SENSORS, f->capacity_at, sensor->capacity, ports);
    memory_give(unseen);
    return is_good;
}

static bool fill_distances(struct lockstep *l)
{
    uint32_t routers = (uint32_t)l->facts.routers;
    uint16_t *row = memory_take(routers * sizeof *row);
    bool is_good = true;
    for (uint32_t from = 0; from < routers && is_good; from++) {
        for (uint32_t to = 0; to < routers; to++)
            row[to] = (uint16_t)network_distance(l->network, from, to);
        is_good =
            lockstep_write(l, BUFFER_DISTANCES, (uint64_t)from * routers * sizeof *row, row, routers * sizeof *row);
    }
    memory_give(row);
    return is_good;
}

bool lockstep_fill_routing(struct lockstep *l)
{
    return (!lockstep_sensor_bytes(l) || fill_sensors(l)) && (!lockstep_distance_bytes(l) || fill_distances(l));
}
