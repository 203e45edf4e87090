/* SPDX-License-Identifier: Apache-2.0 */
/* SuperSim's topology, channels and interfaces in our words. */
#include "import/supersim.h"

#include <string.h>

static unsigned long long network_count(struct import *import, const char *key, uint64_t fallback)
{
    return import_count(import, import_take(import, key), fallback, 1, 1u << 30);
}

/* SuperSim counts ports at a router, of which an interface may have several; we count terminals. */
static void put_concentration(struct import *import, const char *key)
{
    const struct json *node = import_take(import, "concentration");
    unsigned long long concentration = import_count(import, node, 1, 1, 1u << 30), ports = supersim_ports(import);
    if (concentration % ports)
        import_error(import, node ? node : import->theirs,
                     "found a concentration of %llu, expected a multiple of interface_ports (%llu)", concentration,
                     ports);
    struct json *ours = import_set(import, "network.topology", "%s=%llu", key, concentration / ports);
    if (ports > 1)
        import_comment(import, ours, "%llu ports at a router, %llu of each interface", concentration, ports);
}

static bool are_equal(const struct json *numbers)
{
    const struct json *item = numbers->first;
    while (item && item->number == numbers->first->number)
        item = item->next;
    return !item;
}

static void put_grid(struct import *import)
{
    const struct json *widths = import_need(import, "dimension_widths");
    struct json *ours = import_put(import, "network.topology.widths", import_numbers(import, widths, 2, 65536));
    if (widths && widths->type == JSON_ARRAY && ours->count == 0)
        import_error(import, widths, "found none, expected a number of routers for each dimension");
    put_concentration(import, "concentration");
    struct json *weights = import_numbers(import, import_take(import, "dimension_weights"), 1, 65536);
    if (weights->count && (!are_equal(weights) || weights->first->number != 1))
        import_put(import, "network.topology.channels", weights);
}

/* [[down, up], [down, up], [down]] from the leaves to the roots. */
static void put_fat_tree(struct import *import)
{
    const struct json *levels = import_need(import, "down_up");
    struct json *down = import_put(import, "network.topology.down", json_array(import->arena));
    struct json *up = import_put(import, "network.topology.up", json_array(import->arena));
    if (levels && levels->type != JSON_ARRAY)
        import_expected(import, levels, "an array of [down, up]");
    bool is_array = levels && levels->type == JSON_ARRAY;
    for (const struct json *level = is_array ? levels->first : NULL; level; level = level->next) {
        const struct json *pair = import_numbers(import, level, 1, 65536);
        if (pair->count != (level->next ? 2 : 1))
            import_error(import, level, "found %u numbers, expected %s", pair->count,
                         level->next ? "[down, up]" : "[down] for the roots");
        else
            json_append(down, json_number_f64(import->arena, pair->first->number));
        if (pair->count == 2 && level->next)
            json_append(up, json_number_f64(import->arena, pair->last->number));
    }
}

static void put_dragonfly(struct import *import)
{
    const struct json *local_weight = import_take(import, "local_weight");
    const struct json *global_weight = import_take(import, "global_weight");
    unsigned long long groups = network_count(import, "global_width", 1),
                       routers = network_count(import, "local_width", 1);
    unsigned long long channels = (groups - 1) * import_count(import, global_weight, 1, 1, 65536);
    put_concentration(import, "terminals");
    struct json *global =
        import_set(import, "network.topology", "routers=%llu global=%llu", routers, (channels + routers - 1) / routers);
    import_comment(import, global, "%llu channels out of a group of %llu routers", channels, routers);
    import_set(import, "network.topology", "groups=%llu", groups);
    if (import_count(import, local_weight, 1, 1, 65536) > 1)
        import_note(import, local_weight, "there is one channel between two routers of a group", NULL);
    if (channels % routers)
        import_note(import, global_weight, "all routers have the same number of global channels",
                    "network.topology.global");
}

static void put_butterfly(struct import *import)
{
    unsigned long long radix = network_count(import, "radix", 2);
    import_set(import, "network.topology", "radix=%llu stages=%llu", radix, network_count(import, "stages", 1));
}

static void put_parking_lot(struct import *import)
{
    struct json *stops = import_set(import, "network.topology", "stops=%llu", network_count(import, "routers", 2));
    import_comment(import, stops,
                   "the exit is terminal 0 here, and a terminal of its own behind the last router there");
    put_concentration(import, "concentration");
}

static void put_single_router(struct import *import) { put_concentration(import, "terminals"); }

static void put_interface_only(struct import *import)
{
    const struct json *interfaces = import_take(import, "num_interfaces");
    import_set(import, "network.topology", "terminals=%llu", import_count(import, interfaces, 2, 1, 4096));
    import_note(import, interfaces, "interfaces are joined by a router at least", "single_router");
}

static const struct topology_row {
    const char *theirs, *ours;
    void (*put)(struct import *import);
} topologies[] = {
    {"torus", "torus", put_grid},
    {"mesh", "mesh", put_grid},
    {"hyperx", "hyperx", put_grid},
    {"fat_tree", "folded_clos", put_fat_tree},
    {"dragonfly", "dragonfly", put_dragonfly},
    {"butterfly", "butterfly", put_butterfly},
    {"parking_lot", "parking_lot", put_parking_lot},
    {"single_router", "single_router", put_single_router},
    {"interface_only", "single_router", put_interface_only},
    {0},
};

/* ---- channels and interfaces ---- */

static unsigned long long channel_cycles(struct import *import, struct json *block)
{
    if (block && block->type != JSON_OBJECT)
        import_expected(import, block, "an object with a latency");
    return import_count(import, import_take_in(block, "latency"), 1, 1, 1000000000);
}

/* Latencies of all kinds of channels between routers, in the order of our topologies' classes. */
static struct json *internal_latencies(struct import *import, uint64_t cycle)
{
    static const char *const keys[] = {"internal_channel", "local_channel", "global_channel", "internal_channels"};
    struct json *latencies = json_array(import->arena);
    for (uint32_t i = 0; i < 4; i++) {
        struct json *block = import_look(import, keys[i]);
        bool is_list = block && block->type == JSON_ARRAY;
        for (struct json *one = is_list ? block->first : block; one; one = is_list ? one->next : NULL)
            json_append(latencies, json_number_u64(import->arena, channel_cycles(import, one) * cycle));
    }
    return latencies;
}

static struct json *put_channel(struct import *import, const char *path, uint64_t ticks, unsigned long long cycle)
{
    unsigned long long cycles = ticks / cycle;
    struct json *latency = import_set(import, path, "latency=%llu", cycles * cycle);
    if (cycle > 1)
        import_comment(import, latency, "%llu times channel_cycle_time", cycles);
    return import_set(import, path, "cycle=%llu", cycle)->parent;
}

static void put_channels(struct import *import)
{
    unsigned long long cycle = supersim_cycle(import, "/simulator.channel_cycle_time");
    if (import_is(import_look(import, "channel_mode"), "fixed")) { /* scalars mean nothing then */
        import_take(import, "channel_scalars");
        import_take(import, "local_scalar");
        import_take(import, "global_scalar");
    }
    struct json *latencies = internal_latencies(import, cycle);
    struct json *channel =
        put_channel(import, "network.channel", latencies->count ? (uint64_t)latencies->first->number : cycle, cycle);
    if (!are_equal(latencies)) { /* one or the other */
        json_remove(channel, json_find(channel, "latency"));
        json_add(channel, "latencies", latencies);
    }
    struct json *external = import_look(import, "external_channel");
    put_channel(import, "network.terminal_channel", channel_cycles(import, external) * cycle, cycle);
}

/* Credits of an interface are its router's buffers: nothing of its own to carry over. */
static void take_credits(struct import *import)
{
    static const struct import_name pairs[] = {
        {"/network.interface.init_credits_mode", "/network.router.input_queue_mode"},
        {"/network.interface.init_credits", "/network.router.input_queue_depth"},
        {"/network.interface.credits_min", "/network.router.input_queue_min"},
        {"/network.interface.credits_max", "/network.router.input_queue_max"},
        {0}};
    for (const struct import_name *pair = pairs; pair->theirs; pair++) {
        const struct json *own = import_look(import, pair->theirs), *routers = import_look(import, pair->ours);
        if (own && routers && json_is_equal(own, routers))
            import_take(import, pair->theirs);
    }
}

static void put_interface(struct import *import)
{
    unsigned long long ports = supersim_ports(import);
    import_set(import, "network.interface", "type=standard");
    if (ports > 1)
        import_set(import, "network.interface", "injection_channels=%llu ejection_channels=%llu", ports, ports);
    const struct json *latency = import_take(import, "interface.crossbar.latency");
    import_set(import, "network.interface", "latency=%llu",
               supersim_ticks(import, latency, "/simulator.interface_cycle_time", 0));
    take_credits(import);
}

void supersim_network(struct import *import)
{
    import->theirs = json_find(import->root, "network");
    const struct json *node = import_need(import, "topology");
    const struct topology_row *row = IMPORT_FIND(topologies, import_word(import, node, ""));
    supersim_ports(import);
    if (row) {
        import_set(import, "network.topology", "type=%s", row->ours);
        row->put(import);
    } else {
        IMPORT_REFUSE(import, node, topologies);
    }
    import_set(import, "network", "routing.type= router.type=");
    put_channels(import);
    put_interface(import);
}
