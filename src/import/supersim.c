/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SuperSim's configuration: reads it with all that it includes and refers to,
 * hands its blocks to those who know them, and lists the rest. docs/supersim.md
 * has the names of both sides.
 */
#include "import/import.h"

#include "base/text.h"
#include "config/json.h"
#include "config/source.h"

#include <errno.h>
#include <string.h>

#define INCLUDES_MAX 1000
#define INCLUDE_DEPTH_MAX 16

#define APPLICATION "workload.applications*."
#define CLASS "network.protocol_classes*."
#define INTERFACE "network.interface."

static const char no_log[] = "results and logs are asked for on the command line";
static const char grid_known[] = "coordinates are those of the network";

static const struct import_lost supersim_lost[] = {
    {"simulator.print_*", HARMLESS, "progress is shown on a terminal", "flitwarp run --quiet"},
    {"simulator.info_log*={\"file\": null}", HARMLESS, no_log, "\"simulation\" in the results"},
    {"simulator.no_sim=false", HARMLESS, "a run is what was asked for", "flitwarp check"},
    {"debug", HARMLESS, "components print no debug text", "flitwarp trace --packet"},
    {"metadata_handler.delay=0; metadata_handler.*", DECISIVE, "packets carry no metadata",
     "network.router.arbiter age"},
    {"network.channel_log*={\"file\": null}", HARMLESS, no_log, "flitwarp run --channel-log"},
    {"network.traffic_log*={\"file\": null}", HARMLESS, no_log, "flitwarp run --traffic-log"},
    {"network.channel_mode=fixed; network.*scalar*", DECISIVE, "channels of one kind have one latency",
     "network.channel.latency"},
    {INTERFACE "*credits*", HARMLESS, "an interface knows the buffers of its router", "network.router.buffer_depth"},
    {INTERFACE "type=standard", HARMLESS, NULL, NULL},
    {CLASS "injection.algorithm=common; " CLASS "injection.*", DECISIVE, "an interface has a queue for each VC",
     "network.interface queue_per_vc"},
    {CLASS "reduction.*", DECISIVE, "this routing offers its outputs as they come", NULL},
    {CLASS "mode=vc", DECISIVE, "congestion is seen by VC or port as the sensor says", "network.router.congestion.per"},
    {CLASS "least_common_ancestor=true", HARMLESS, "ways turn at the lowest common ancestor", NULL},
    {CLASS "routing.*", DECISIVE, "this routing has no such choice", NULL},
    {"network.router.input_queue_*", HARMLESS, "belongs to input_queue_mode tailored", "network.router.buffer_depth"},
    {"network.router.congestion*", DECISIVE, "this router has no congestion sensor", "network.router.congestion"},
    {"network.router.output_crossbar*", HARMLESS, "an input-queued router has no queues at its outputs", NULL},
    {"network.router.transfer_latency", HARMLESS, "belongs to output-queued routers",
     "network.router.crossbar_latency"},
    {"*allocator.slip_latch=true", DECISIVE, "arbiters move on when their choice is taken", NULL},
    {"*allocator.scheme=sequential", DECISIVE, "the first diagonal is the same in every cycle", NULL},
    {"*allocator.*", DECISIVE, "this allocator has no such setting", NULL},
    {"network.*_port", HARMLESS, "ports are numbered by the topology", NULL},
    {"workload.message_log*={\"file\": null}", HARMLESS, no_log, "flitwarp run --log"},
    {APPLICATION "rate_log*={\"file\": null}", HARMLESS, no_log, "flitwarp run --rate-log"},
    {APPLICATION "kill_on_saturation=false", HARMLESS, "a saturated run ends by itself",
     "\"saturated\" in the results"},
    {APPLICATION "log_during_saturation=false; " APPLICATION "max_saturation_cycles", HARMLESS,
     "a saturated run is sampled like any other", NULL},
    {APPLICATION "warmup_*", HARMLESS, "the steady state is found by other measures", "warmup auto"},
    {APPLICATION "relative_injection", DECISIVE, "all terminals of an application send alike",
     "several applications with allocation"},
    {APPLICATION "transaction_size=1; " APPLICATION "multi_destination_transactions=false", DECISIVE,
     "a transaction is one request", NULL},
    {APPLICATION "max_outstanding_transactions=0", DECISIVE, "requests do not wait for replies", NULL},
    {APPLICATION "response_protocol_class=0; " APPLICATION "request_processing_latency=0", DECISIVE,
     "there are no replies", NULL},
    {APPLICATION "traffic_pattern.dimensions", HARMLESS, grid_known, "network.topology.widths"},
    {APPLICATION "traffic_pattern.concentration", HARMLESS, grid_known, "network.topology.concentration"},
    {APPLICATION "traffic_pattern.interface_ports", HARMLESS, grid_known, "network.interface"},
    {APPLICATION "traffic_pattern.*", DECISIVE, "this pattern has no such setting", NULL},
    {APPLICATION "memory_slice", DECISIVE, "memories have no size", "block"},
    {APPLICATION "memory_accesses", DECISIVE, "memories are measured in a window", "sample"},
    {APPLICATION "exchange_messages", DECISIVE, "halos go to neighbours on a grid", "ranks and halo"},
    {APPLICATION "send_order", DECISIVE, "halos are sent neighbour by neighbour", NULL},
    {APPLICATION "process_placement", DECISIVE, "ranks are placed by the allocation", "allocation"},
    {APPLICATION "dependent_*", DECISIVE, "there are no replies, or they are as their requests", NULL},
    {0},
};

unsigned long long supersim_cycle(struct import *import, const char *clock)
{
    unsigned long long channel = import_count_at(import, "/simulator.channel_cycle_time", 1, 1, 65535);
    return import_count_at(import, arena_format(import->arena, "/simulator.%s_cycle_time", clock), channel, 1, 65535);
}

unsigned long long supersim_ticks(struct import *import, const char *path, const char *clock, uint64_t fallback)
{
    return import_count_at(import, path, fallback, 0, 1000000000) * supersim_cycle(import, clock);
}

unsigned long long supersim_ports(struct import *import)
{
    return import_count_at(import, "/network.interface_ports", 1, 1, 1u << 30);
}

unsigned long long supersim_vcs(struct import *import)
{
    unsigned long long vcs = 0;
    const struct json *classes = import_look(import, "/network.protocol_classes");
    for (const struct json *class = classes ? classes->first : NULL; class; class = class->next)
        vcs += import_count(import, json_find(class, "num_vcs"), 1, 1, 64);
    return vcs;
}

/* ---- inclusion and references ---- */

/* What stands between the marks; NULL when the text is nothing of the kind, with an error when it does not end so. */
static const char *marked(struct import *import, const struct json *node, const char *open, const char *close)
{
    if (node->type != JSON_TEXT || strncmp(node->text, open, 3) != 0)
        return NULL;
    size_t length = strlen(node->text);
    if (length >= 6 && strcmp(node->text + length - 3, close) == 0)
        return arena_format(import->arena, "%.*s", (int)(length - 6), node->text + 3);
    import_error(import, node, "found '%.60s', expected '%s' at its end", node->text, close);
    return NULL;
}

/* SuperSim looks in the folder that it runs in; beside the file is where such files mostly lie. */
static bool include(struct import *import, struct json *node, const char *name)
{
    const char *path = path_beside(import->arena, node->file, name);
    size_t size = 0;
    const char *bytes = file_read(import->arena, path, &size);
    if (!bytes && (bytes = file_read(import->arena, name, &size)))
        path = name;
    if (!bytes)
        return import_error(import, node, "cannot read '%s': %s", path, strerror(errno));
    source_note_file(import->read, import->arena, path);
    struct json *content = json_parse(import->arena, import->errors, path, bytes, size);
    if (content)
        json_replace(node, content);
    return content;
}

/* Replaces $$(file)$$ and $&(/path)&$ all over the tree; `files` counts those that were included. */
static bool expand(struct import *import, struct json *node, uint32_t *files, uint32_t depth)
{
    const char *file = marked(import, node, "$$(", ")$$"), *path = marked(import, node, "$&(", ")&$");
    if (file && (++*files > INCLUDES_MAX || depth >= INCLUDE_DEPTH_MAX))
        return import_error(import, node, "files include each other without end");
    if (file)
        return include(import, node, file) && expand(import, node, files, depth + 1);
    if (path) { /* our own form of the same; resolved with all others at the end */
        struct json *reference = json_object(import->arena);
        reference->file = node->file;
        reference->line = node->line;
        reference->column = node->column;
        json_add(reference, "$ref", json_text(import->arena, path));
        json_replace(node, reference);
        return true;
    }
    bool is_good = import->errors->count == 0;
    for (struct json *child = node->first; child && is_good; child = child->next)
        is_good = expand(import, child, files, depth);
    return is_good;
}

/* ---- the whole ---- */

static bool check_blocks(struct import *import)
{
    const struct json *root = import->root, *topology = import_look(import, "/network.topology");
    if (root->type != JSON_OBJECT)
        import_expected(import, root, "an object: a configuration of SuperSim");
    else if ((topology && topology->type == JSON_OBJECT) || import_look(import, "/network.router.type"))
        import_error(import, root, "this is a configuration of flitwarp already");
    static const char *const blocks[] = {"network", "workload", "simulator", "metadata_handler"};
    for (uint32_t i = 0; i < 4 && import->errors->count == 0; i++) {
        const struct json *block = json_find(root, blocks[i]);
        if (block ? block->type != JSON_OBJECT : i < 2)
            import_error(import, block ? block : root,
                         "expected an object '%s', as every configuration of SuperSim has", blocks[i]);
    }
    return import->errors->count == 0;
}

bool import_supersim(struct import *import, const char *bytes, size_t size)
{
    static const char *const clocks[] = {"router", "interface", "terminal"};
    import->root = json_parse(import->arena, import->errors, import->file, bytes, size);
    uint32_t files = 0;
    if (!import->root || !expand(import, import->root, &files, 0) ||
        !source_resolve(import->arena, import->errors, import->root) || !check_blocks(import))
        return false;
    import->ours = import->result;
    import_block(import, "/network.router");
    import_block(import, "/network.interface");
    for (uint32_t i = 0; i < 3; i++)
        supersim_cycle(import, clocks[i]);
    import_set(import, "simulator", "seed=%llu",
               import_count_at(import, "/simulator.random_seed", 1, 0, 9007199254740992));
    import_word(import, import_take(import, "/metadata_handler.type"), "zero");
    supersim_network(import);
    supersim_routing(import);
    supersim_router(import);
    supersim_applications(import);
    import->lost = supersim_lost;
    return import_list_rest(import);
}
