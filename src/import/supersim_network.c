/* SPDX-License-Identifier: Apache-2.0 */
/* SuperSim's topology, channels, interfaces and protocol classes in our words. */
#include "import/supersim.h"

#include <string.h>

struct topology_row {
    const char *theirs, *ours;
    void (*settings)(struct supersim *supersim, struct json *topology);
};

static uint64_t count(struct supersim *supersim, const char *key, uint64_t fallback)
{
    return import_count(supersim->import, import_take(supersim->network, key), fallback, 1, 1u << 30);
}

/* SuperSim counts ports at a router, of which an interface may have several; we count terminals. */
static void put_concentration(struct supersim *supersim, struct json *topology, const char *key)
{
    struct import *import = supersim->import;
    const struct json *node = import_take(supersim->network, "concentration");
    uint64_t concentration = import_count(import, node, 1, 1, 1u << 30);
    if (concentration % supersim->ports)
        import_error(import, node ? node : supersim->network,
                     "found a concentration of %llu, expected a multiple of interface_ports (%llu)",
                     (unsigned long long)concentration, (unsigned long long)supersim->ports);
    struct json *ours = import_put_u64(import, topology, key, concentration / supersim->ports);
    if (supersim->ports > 1)
        import_comment(import, ours, "%llu ports at a router, %llu of each interface",
                       (unsigned long long)concentration, (unsigned long long)supersim->ports);
}

static bool are_equal(const struct json *numbers)
{
    const struct json *item = numbers->first;
    while (item && item->number == numbers->first->number)
        item = item->next;
    return !item;
}

static void grid(struct supersim *supersim, struct json *topology)
{
    struct import *import = supersim->import;
    const struct json *widths = import_need(import, supersim->network, "dimension_widths");
    struct json *ours = import_put(import, topology, "widths", import_numbers(import, widths, 2, 65536));
    if (widths && widths->type == JSON_ARRAY && ours->count == 0)
        import_error(import, widths, "found none, expected a number of routers for each dimension");
    put_concentration(supersim, topology, "concentration");
    struct json *weights = import_numbers(import, import_take(supersim->network, "dimension_weights"), 1, 65536);
    if (weights->count && (!are_equal(weights) || weights->first->number != 1))
        import_put(import, topology, "channels", weights);
}

/* [[down, up], [down, up], [down]] from the leaves to the roots. */
static void fat_tree(struct supersim *supersim, struct json *topology)
{
    struct import *import = supersim->import;
    const struct json *levels = import_need(import, supersim->network, "down_up");
    struct json *down = import_put(import, topology, "down", json_array(import->arena));
    struct json *up = import_put(import, topology, "up", json_array(import->arena));
    if (levels && levels->type != JSON_ARRAY)
        import_expected(import, levels, "an array of [down, up]");
    for (const struct json *level = levels && levels->type == JSON_ARRAY ? levels->first : NULL; level;
         level = level->next) {
        const struct json *pair = import_numbers(import, level, 1, 65536);
        if (pair->count != (level->next ? 2 : 1))
            import_error(import, level, "found %u numbers, expected %s", pair->count,
                         level->next ? "[down, up]" : "[down] for the roots");
        else
            json_append(down, json_number_u64(import->arena, (uint64_t)pair->first->number));
        if (pair->count == 2 && level->next)
            json_append(up, json_number_u64(import->arena, (uint64_t)pair->last->number));
    }
}

static void dragonfly(struct supersim *supersim, struct json *topology)
{
    struct import *import = supersim->import;
    const struct json *local_weight = import_take(supersim->network, "local_weight");
    const struct json *global_weight = import_take(supersim->network, "global_weight");
    uint64_t groups = count(supersim, "global_width", 1), routers = count(supersim, "local_width", 1);
    uint64_t channels = (groups - 1) * import_count(import, global_weight, 1, 1, 65536);
    put_concentration(supersim, topology, "terminals");
    import_put_u64(import, topology, "routers", routers);
    struct json *global = import_put_u64(import, topology, "global", (channels + routers - 1) / routers);
    import_comment(import, global, "%llu channels out of a group of %llu routers", (unsigned long long)channels,
                   (unsigned long long)routers);
    import_put_u64(import, topology, "groups", groups);
    if (import_count(import, local_weight, 1, 1, 65536) > 1)
        import_note(import, local_weight, "there is one channel between two routers of a group", NULL);
    if (channels % routers)
        import_note(import, global_weight, "all routers have the same number of global channels",
                    "network.topology.global");
}

static void butterfly(struct supersim *supersim, struct json *topology)
{
    import_put_u64(supersim->import, topology, "radix", count(supersim, "radix", 2));
    import_put_u64(supersim->import, topology, "stages", count(supersim, "stages", 1));
}

static void parking_lot(struct supersim *supersim, struct json *topology)
{
    struct import *import = supersim->import;
    struct json *stops = import_put_u64(import, topology, "stops", count(supersim, "routers", 2));
    import_comment(import, stops,
                   "the exit is terminal 0 here, and a terminal of its own behind the last router there");
    put_concentration(supersim, topology, "concentration");
}

static void single_router(struct supersim *supersim, struct json *topology)
{
    put_concentration(supersim, topology, "terminals");
}

static void interface_only(struct supersim *supersim, struct json *topology)
{
    const struct json *interfaces = import_take(supersim->network, "num_interfaces");
    import_put_u64(supersim->import, topology, "terminals", import_count(supersim->import, interfaces, 2, 1, 4096));
    import_note(supersim->import, interfaces, "interfaces are joined by a router at least", "single_router");
}

static const struct topology_row topologies[] = {
    {"torus", "torus", grid},
    {"mesh", "mesh", grid},
    {"hyperx", "hyperx", grid},
    {"fat_tree", "folded_clos", fat_tree},
    {"dragonfly", "dragonfly", dragonfly},
    {"butterfly", "butterfly", butterfly},
    {"parking_lot", "parking_lot", parking_lot},
    {"single_router", "single_router", single_router},
    {"interface_only", "single_router", interface_only},
    {0},
};

/* ---- channels and interfaces ---- */

static const struct json *take_latency(struct supersim *supersim, struct json *block)
{
    if (block && block->type != JSON_OBJECT)
        import_expected(supersim->import, block, "an object with a latency");
    return import_take(block, "latency");
}

static uint64_t cycles_in(struct supersim *supersim, const struct json *latency)
{
    return import_count(supersim->import, latency, 1, 1, 1000000000);
}

/* Latencies of all kinds of channels between routers, in the order of our topologies' classes. */
static struct json *internal_latencies(struct supersim *supersim)
{
    static const char *const keys[] = {"internal_channel", "local_channel", "global_channel", "internal_channels"};
    struct json *latencies = json_array(supersim->import->arena);
    for (uint32_t i = 0; i < 4; i++) {
        struct json *block = json_find(supersim->network, keys[i]);
        bool is_list = block && block->type == JSON_ARRAY;
        for (struct json *one = is_list ? block->first : block; one; one = is_list ? one->next : NULL) {
            uint64_t ticks = cycles_in(supersim, take_latency(supersim, one)) * supersim->channel_cycle;
            json_append(latencies, json_number_u64(supersim->import->arena, ticks));
        }
    }
    return latencies;
}

static struct json *put_channel(struct supersim *supersim, const char *name, uint64_t cycles)
{
    struct import *import = supersim->import;
    struct json *block = import_put(import, import->ours, name, json_object(import->arena));
    struct json *latency = import_put_u64(import, block, "latency", cycles * supersim->channel_cycle);
    if (supersim->channel_cycle > 1)
        import_comment(import, latency, "%llu times channel_cycle_time", (unsigned long long)cycles);
    import_put_u64(import, block, "cycle", supersim->channel_cycle);
    return block;
}

/* Credits of an interface are its router's buffers: nothing of its own to carry over. */
static void take_credits(struct supersim *supersim)
{
    static const char *const pairs[][2] = {{"init_credits_mode", "input_queue_mode"},
                                           {"init_credits", "input_queue_depth"},
                                           {"credits_min", "input_queue_min"},
                                           {"credits_max", "input_queue_max"}};
    for (uint32_t i = 0; i < 4 && supersim->interface && supersim->router; i++) {
        const struct json *own = json_find(supersim->interface, pairs[i][0]);
        const struct json *routers = json_find(supersim->router, pairs[i][1]);
        bool is_same = own && routers && own->type == routers->type && own->number == routers->number &&
                       (own->type != JSON_TEXT || strcmp(own->text, routers->text) == 0);
        if (is_same)
            import_take(supersim->interface, pairs[i][0]);
    }
}

static void put_interface(struct supersim *supersim)
{
    struct import *import = supersim->import;
    struct json *block = import_put_text(import, import->ours, "network.interface.type", "standard")->parent;
    if (supersim->ports > 1) {
        import_put_u64(import, block, "injection_channels", supersim->ports);
        import_put_u64(import, block, "ejection_channels", supersim->ports);
    }
    const struct json *latency = import_take(import_block(import, supersim->interface, "crossbar"), "latency");
    import_put_u64(import, block, "latency", supersim_ticks(supersim, latency, supersim->interface_cycle, 0));
    take_credits(supersim);
}

void supersim_network(struct supersim *supersim)
{
    struct import *import = supersim->import;
    const struct json *node = import_need(import, supersim->network, "topology");
    const char *name = supersim->topology = import_word(import, node, "");
    supersim->ports = count(supersim, "interface_ports", 1);
    const struct topology_row *row = IMPORT_FIND(topologies, name);
    if (row)
        row->settings(supersim, import_put_text(import, import->ours, "network.topology.type", row->ours)->parent);
    else
        IMPORT_REFUSE(import, node, topologies);
    import_put_text(import, import->ours, "network.routing.type", "");
    import_put_text(import, import->ours, "network.router.type", "");
    const struct json *mode = json_find(supersim->network, "channel_mode");
    if (mode && mode->type == JSON_TEXT && strcmp(mode->text, "fixed") == 0) { /* scalars mean nothing then */
        import_take(supersim->network, "channel_scalars");
        import_take(supersim->network, "local_scalar");
        import_take(supersim->network, "global_scalar");
    }
    struct json *external = json_find(supersim->network, "external_channel");
    struct json *latencies = internal_latencies(supersim);
    struct json *channel =
        put_channel(supersim, "network.channel",
                    latencies->count ? (uint64_t)latencies->first->number / supersim->channel_cycle : 1);
    if (!are_equal(latencies)) { /* one or the other */
        json_remove(channel, json_find(channel, "latency"));
        import_put(import, channel, "latencies", latencies);
    }
    supersim->shortest = cycles_in(supersim, take_latency(supersim, external));
    put_channel(supersim, "network.terminal_channel", supersim->shortest);
    for (const struct json *one = latencies->first; one; one = one->next)
        if (one->number < (double)(supersim->shortest * supersim->channel_cycle))
            supersim->shortest = (uint64_t)one->number / supersim->channel_cycle;
    put_interface(supersim);
}
