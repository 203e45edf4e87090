/* SPDX-License-Identifier: Apache-2.0 */
/* SuperSim's routers in our words: queues, arbiters and allocators, pipeline, crossbar and the congestion sensor. */
#include "import/import.h"

#include <math.h>
#include <string.h>

#define BUFFER_MAX 32768 /* flits */

/* ---- queues ---- */

/* A packet that moves as a whole must fit every buffer that there is, of which that of the shortest channel is least. */
static unsigned long long least_buffer(struct import *import, double per_latency, unsigned long long least,
                                       unsigned long long most)
{
    const struct json *latencies = import_ours(import, "/network.channel.latencies");
    const struct json *latency = latencies ? latencies->first : import_ours(import, "/network.channel.latency");
    double shortest = import_ours(import, "/network.terminal_channel.latency")->number;
    for (; latency; latency = latencies ? latency->next : NULL)
        shortest = latency->number < shortest ? latency->number : shortest;
    shortest = ceil(per_latency * shortest / (double)supersim_cycle(import, "channel"));
    const struct json *full = import_look(import, "crossbar_scheduler.full_packet");
    const struct json *whole = import_look(import, "store_and_forward");
    if (!(full && full->truth) && !(whole && whole->truth))
        return least;
    return shortest <= (double)least ? least : shortest < (double)most ? (unsigned long long)shortest : most;
}

/* So many times the cycles of the channel that fills a queue, within bounds. */
static void put_tailored_queues(struct import *import, const struct json *depth)
{
    const struct json *max = import_take(import, "input_queue_max");
    double per_latency = import_number(import, depth, 1, 0, BUFFER_MAX);
    if (per_latency <= 0)
        import_error(import, depth, "found %s, expected a number above 0", depth->text);
    unsigned long long most = import_count(import, max, BUFFER_MAX, 1, 1u << 30);
    if (most > BUFFER_MAX) {
        import_note(import, max, DECISIVE, "a buffer holds 32768 flits at most", "network.router.buffer_depth 32768");
        most = BUFFER_MAX;
    }
    unsigned long long least = import_count_at(import, "input_queue_min", 1, 0, most);
    least = least ? least : 1;
    unsigned long long smallest = least_buffer(import, per_latency, least, most);
    struct json *buffer_min = import_set(import, "", "buffer_depth=%llu buffer_per_latency=%.17g buffer_min=%llu", most,
                                         per_latency, smallest);
    if (smallest != least)
        import_comment(import, buffer_min, "that of the shortest channel: packets move as a whole, and must fit it");
}

static void put_input_queues(struct import *import)
{
    const char *mode = import_choice(import, import_take(import, "input_queue_mode"), "fixed tailored", "fixed");
    const struct json *depth = import_take(import, "input_queue_depth");
    if (strcmp(mode, "tailored") == 0)
        put_tailored_queues(import, depth);
    else
        import_set(import, "", "buffer_depth=%llu", import_count(import, depth, 8, 1, BUFFER_MAX));
}

/* Those of an output-queued router are endless where nothing is said, on both sides. */
static void put_output_queues(struct import *import)
{
    if (strcmp(import->kind, "input_queued") == 0) {
        import_count_at(import, "output_queue_depth", 1, 1, 1u << 30); /* never full: the crossbar is no faster */
        return;
    }
    const struct json *depth = import_take(import, "output_queue_depth");
    bool may_be_endless = strcmp(import->kind, "output_queued") == 0;
    if (may_be_endless && (!depth || import_is(depth, "infinite")))
        return;
    if (may_be_endless && depth->type != JSON_NUMBER) {
        import_expected(import, depth, "a number of flits or \"infinite\"");
        return;
    }
    unsigned long long flits = import_count(import, depth, 8, 1, may_be_endless ? 999999999 : BUFFER_MAX - 1);
    import_comment(import, import_set(import, "", "output_depth=%llu", flits + 1),
                   "%llu flits, and one that is next on the channel", flits);
}

/* ---- arbiters and allocators ---- */

static struct json *arbiter_of(struct import *import, const char *key);

/* A class of inputs is chosen first, then one of its inputs. */
static struct json *dual_stage(const struct import *import)
{
    struct import inner = import_within(import, import->theirs, json_object(import->arena));
    import_set(&inner, "", "type=dual_stage_class");
    unsigned long long classes = import_count_at(&inner, "classes", 64, 1, 64);
    const struct json *map = import_need(&inner, "class_map");
    struct json *class_map = import_put(&inner, "class_map", import_numbers(&inner, map, 0, classes - 1));
    if (map && map->type == JSON_ARRAY && class_map->count == 0)
        import_error(&inner, map, "found none, expected a class for each input");
    const struct json *first = import_put(&inner, "class_arbiter", arbiter_of(&inner, "stage1_arbiter"));
    import_put(&inner, "input_arbiter", arbiter_of(&inner, "stage2_arbiter"));
    const struct json *metadata = import_take(&inner, "metadata_func");
    bool compares = first->type != JSON_TEXT || import_is(first, "age");
    if (compares && strcmp(import_word(&inner, metadata, "min"), "min") != 0)
        import_note(&inner, metadata, DECISIVE, "a class is as old as its oldest packet", "min");
    return inner.ours;
}

/* Age, or what else a packet's metadata say. */
static const char *comparing(struct import *import, const struct json *type)
{
    const struct json *greater = import_take(import, "greater");
    const char *metadata = import_word(import, import_take(import, "/metadata_handler.type"), "zero");
    if (strcmp(metadata, "zero") == 0) {
        import_note(import, type, DECISIVE, "compares metadata, which are all the same", "round_robin");
        return "round_robin";
    }
    if (strcmp(metadata, "creation_timestamp") != 0)
        import_note(import, type, DECISIVE, "compares metadata that are not the age of a packet", "age");
    else if (import_truth(import, greater, false))
        import_note(import, greater, DECISIVE, "the oldest packet goes first, not the youngest", "age");
    return "age";
}

/* Our arbiter for one of theirs: its name, or a block where it has settings. */
static struct json *arbiter_of(struct import *import, const char *key)
{
    struct import inner = import_within(import, import_block(import, key), NULL);
    const struct json *type = import_take(&inner, "type");
    if (import_is(type, "dual_stage_class"))
        return dual_stage(&inner);
    if (import_is(type, "comparing"))
        return json_text(import->arena, comparing(&inner, type));
    return json_text(import->arena,
                     import_nearest(import, type, "lslp=round_robin lru=least_recently_served random random_priority",
                                    "arbiter", "round_robin"));
}

/* Resources first are outputs first here; clients are inputs. With pointers that move on success it is iSLIP. */
static void put_allocator(struct import *import, const char *path, const char *key)
{
    struct import inner = import_within(import, import_block(import, path), import->ours);
    const struct json *type = import_take(&inner, "type");
    const char *ours = import_nearest(&inner, type,
                                      "wavefront cr_separable=separable_input_first r_separable=separable_output_first "
                                      "rc_separable=separable_output_first",
                                      "allocator", "separable_output_first");
    if (strcmp(ours, "wavefront") == 0) {
        import_set(import, key, "type=wavefront");
        return;
    }
    bool is_first = import_is(type, "cr_separable"), is_one_sided = import_is(type, "r_separable");
    struct json *resource = arbiter_of(&inner, "resource_arbiter");
    struct json *client = is_one_sided ? json_copy(import->arena, resource) : arbiter_of(&inner, "client_arbiter");
    unsigned long long iterations = is_one_sided ? 1 : import_count_at(&inner, "iterations", 1, 1, 64);
    /* Its pointers move in all iterations, those of iSLIP in the first. */
    bool is_islip = iterations == 1 && import_truth_at(&inner, "slip_latch", true) && !is_first && !is_one_sided &&
                    import_is(resource, "round_robin") && import_is(client, "round_robin");
    struct json *block =
        import_set(import, key, "type=%s iterations=%llu", is_islip ? "islip" : ours, iterations)->parent;
    if (is_islip)
        return;
    json_add(block, "input_arbiter", client);
    json_add(block, "output_arbiter", resource);
}

/* ---- crossbar ---- */

static void put_room(struct import *import, const char *scheduler)
{
    struct import inner = import_within(import, import_block(import, scheduler), NULL);
    import_set(import, "", "room=%s", import_truth_at(&inner, "full_packet", false) ? "packet" : "flit");
}

void supersim_put_flow(struct import *import, const char *scheduler)
{
    struct import inner = import_within(import, import_block(import, scheduler), NULL);
    bool is_locked = import_truth_at(&inner, "packet_lock", false);
    bool unlocks = import_truth_at(&inner, "idle_unlock", false);
    put_room(import, scheduler);
    import_set(import, "", "lock=%s", !is_locked ? "none" : unlocks ? "until_idle" : "packet");
}

/* Input-queued, with or without queues at the outputs. */
static void put_pipeline(struct import *import)
{
    import_set(import, "", "waits_for_exit=%s stores_packet=%s",
               truth_word(import_truth_at(import, "vca_swa_wait", true)),
               truth_word(import_truth_at(import, "store_and_forward", false)));
    import_set(import, "", "crossbar_latency=%llu", import_count_at(import, "crossbar.latency", 1, 1, 10000));
    put_allocator(import, "vc_scheduler.allocator", "vc_allocator");
    if (strcmp(import->kind, "input_queued") == 0) {
        supersim_put_flow(import, "crossbar_scheduler");
        put_allocator(import, "crossbar_scheduler.allocator", "allocator");
    } else { /* an output is the queue of one VC, which one packet at a time holds: nobody else asks for it */
        put_room(import, "crossbar_scheduler");
        import_truth_at(import, "crossbar_scheduler.packet_lock", false);
        import_truth_at(import, "crossbar_scheduler.idle_unlock", false);
        import_take(import, "crossbar_scheduler.allocator");
    }
}

/* What picks among the queues of an output: one arbiter here, an allocator of one resource there. */
void supersim_put_arbiter(struct import *import, const char *allocator, const char *key)
{
    struct import inner = import_within(import, import_block(import, allocator), NULL);
    import_take(&inner, "type");
    import_take(&inner, "slip_latch");
    import_take(&inner, "iterations");
    import_put(import, key, arbiter_of(&inner, "resource_arbiter"));
}

/* What a VC of an output sends before others may. */
static void put_output_hold(struct import *import)
{
    struct import inner = import_within(import, import_block(import, "output_crossbar_scheduler"), NULL);
    const struct json *full = import_take(&inner, "full_packet"), *lock = import_take(&inner, "packet_lock");
    bool is_locked = import_truth(&inner, lock, false), unlocks = import_truth_at(&inner, "idle_unlock", false);
    bool is_whole = import_truth(&inner, full, false);
    import_set(import, "", "output_hold=%s", is_locked ? "packet" : "flit");
    if (strcmp(import->kind, "output_queued") != 0)
        import_set(import, "", "output_room=%s", is_whole ? "packet" : "flit");
    else if (!is_whole)
        import_note(import, full, DECISIVE, "packets leave whole", "output_hold packet");
    if (is_locked && !unlocks && !is_whole)
        import_note(import, lock, DECISIVE, "a packet that stalls lets others pass: locked, they could deadlock",
                    "output_hold packet");
}

static void put_transfer(struct import *import)
{
    static const char *const absent[] = {"crossbar", "crossbar_scheduler", "vc_scheduler", "vca_swa_wait"};
    for (uint32_t i = 0; i < 4; i++)
        import_note(import, import_take(import, absent[i]), HARMLESS, "an output-queued router has none",
                    "network.router.transfer_latency");
    import_set(import, "", "transfer_latency=%llu", import_count_at(import, "transfer_latency", 1, 1, 100000));
    supersim_put_arbiter(import, "output_crossbar_scheduler.allocator", "arbiter");
    put_output_hold(import);
    import_set(import, "", "output_latency=%llu", 1 + import_count_at(import, "output_crossbar.latency", 1, 1, 9999));
    const struct json *whole = import_take(import, "store_and_forward");
    if (!import_truth(import, whole, true))
        import_note(import, whole, DECISIVE, "an output-queued router stores packets", "store_and_forward true");
}

/* ---- congestion sensor ---- */

/* Of what has no end there is no share. */
static bool is_normalised(struct import *import, const struct json *mode, const char *account)
{
    bool is_endless = strcmp(import->kind, "output_queued") == 0 && !import_ours(import, "output_depth");
    if (strncmp(import_word(import, mode, ""), "absolute", 8) == 0)
        return false;
    if (!is_endless || strcmp(account, "downstream") == 0)
        return true;
    import_note(import, mode, DECISIVE, "output queues without an end have no share that is full",
                "network.router.congestion.normalised false");
    return false;
}

/* Flits on the channel are taken off the congestion that they seem to be. */
static void put_phantom(struct import *import)
{
    const struct json *phantom = import_take(import, "phantom");
    if (!import_truth(import, phantom, false)) { /* coefficients mean nothing then */
        import_take(import, "value_coeff");
        import_take(import, "length_coeff");
        return;
    }
    const struct json *value = import_need(import, "value_coeff"), *length = import_need(import, "length_coeff");
    if (import_is(import_ours(import, "accounting"), "output"))
        import_note(import, phantom, DECISIVE, "accounting 'output' does not count flits on the channel",
                    "network.router.congestion.accounting both");
    else
        import_set(import, "", "phantom_value=%.17g phantom_length=%.17g", import_number(import, value, 1, 0, 1000),
                   import_number(import, length, 1, 0, 1000));
}

static void put_sensor(struct import *import)
{
    static const char accounts[] = "output downstream output_and_downstream=both";
    static const char modes[] = "normalized_vc=vc normalized_port=port normalized_min=lesser normalized_max=greater "
                                "absolute_vc=vc absolute_port=port absolute_min=lesser absolute_max=greater";
    static const struct import_row rows[] = {{IMPORT_NUMBER("granularity", "0", "granularity", -1e9, 1e9)},
                                             {IMPORT_NUMBER("minimum", "0", "minimum", -1e9, 1e9)},
                                             {IMPORT_NUMBER("offset", "0", "offset", -1e9, 1e9)},
                                             {IMPORT_BY(put_phantom, "phantom", NULL)},
                                             {0}};
    struct json *sensor = import_block(import, "congestion_sensor");
    if (!sensor)
        return;
    struct import inner = import_within(import, sensor, NULL);
    const char *type = import_nearest(&inner, import_take(&inner, "algorithm"), "null_sensor=none buffer_occupancy",
                                      "sensor", "buffer_occupancy");
    import_set(import, "congestion", "type=%s", type);
    const struct json *counted = import_take(import, "congestion_mode"), *mode = import_take(&inner, "mode");
    const char *account = import_choice(import, counted, accounts, "downstream");
    const char *per = import_choice(import, mode, modes, "vc");
    if (strcmp(type, "none") == 0)
        return;
    if (strcmp(import->kind, "input_queued") == 0 && strcmp(account, "output") == 0) {
        import_note(import, counted, DECISIVE, "this router has no output queues",
                    "network.router.congestion.accounting downstream");
        account = "downstream";
    }
    bool is_share = is_normalised(import, mode, account);
    unsigned long long latency = supersim_ticks(&inner, "latency", "router", 1);
    import_set(import, "congestion", "accounting=%s per=%s normalised=%s latency=%llu", account, per,
               truth_word(is_share), latency ? latency : 1);
    import_carry(import, rows, sensor, import_ours(import, "congestion"));
}

void supersim_router(struct import *import)
{
    import->theirs = import_block(import, "/network.router");
    import->ours = import_ours(import, "/network.router");
    const struct json *node = import->theirs ? import_need(import, "architecture") : NULL;
    import->kind = import_choice(import, node, "input_queued output_queued input_output_queued", "input_queued");
    import_set(import, "", "type=%s num_vcs=%llu",
               strcmp(import->kind, "output_queued") == 0 ? "staged_output" : "staged", supersim_vcs(import));
    put_input_queues(import);
    put_output_queues(import);
    import_set(import, "", "cycle=%llu", supersim_cycle(import, "router"));
    if (strcmp(import->kind, "output_queued") == 0)
        put_transfer(import);
    else
        put_pipeline(import);
    if (strcmp(import->kind, "input_output_queued") == 0) {
        supersim_put_arbiter(import, "output_crossbar_scheduler.allocator", "output_arbiter");
        put_output_hold(import);
        import_set(import, "", "output_latency=%llu",
                   1 + import_count_at(import, "output_crossbar.latency", 1, 1, 9999));
    }
    put_sensor(import);
}
