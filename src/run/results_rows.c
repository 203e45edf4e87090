/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the results document holds: rows of its blocks, but for those of applications (metrics/measurement.c). And what
 * it says of a deadlock: the packets of the cycle, each with the channels that it holds and those that it wants, one of
 * which the next packet holds; the last wants one of the first.
 */
#include "run/simulation.h"

#include "metrics/report.h"

#include <stdlib.h>

static const struct result program_results[] = {
    RESULT("version", TEXT, NULL, "version of the program"),
    RESULT_END,
};

static const struct result packet_name_results[] = {
    RESULT("source", COUNT, NULL, "terminal that sent it"),
    RESULT("sequence", COUNT, NULL, "its number among the packets of that terminal"),
    RESULT_END,
};
static const struct result held_channel_results[] = {
    RESULT("from", TEXT, NULL, "where the channel begins"),
    RESULT("to", TEXT, NULL, "where the channel ends"),
    RESULT("vc", COUNT, NULL, "virtual channel"),
    RESULT_BLOCK("waits_for", BLOCK, packet_name_results, "for a wanted channel: the packet that holds it"),
    RESULT_END,
};
static const struct result stuck_packet_results[] = {
    RESULT("source", COUNT, NULL, "terminal that sent it"),
    RESULT("sequence", COUNT, NULL, "its number among the packets of that terminal"),
    RESULT("destination", COUNT, NULL, "terminal that it goes to"),
    RESULT("flits", COUNT, "flits", "size of the packet"),
    RESULT_BLOCK("holds", BLOCKS, held_channel_results, "channels that it holds, from its last flit to its first"),
    RESULT("wants_room", FLAG, NULL, "whether it has its channel and waits for a credit"),
    RESULT_BLOCK("wants", BLOCKS, held_channel_results, "channels that it waits for; any of them is enough"),
    RESULT_END,
};
static const struct result deadlock_results[] = {
    RESULT("tick", COUNT, "ticks", "when the deadlock was found"),
    RESULT("packets_in_network", COUNT, NULL, "packets in the network at that tick"),
    RESULT("stuck_buffers", COUNT, NULL, "buffers whose front packet can never move"),
    RESULT("stands_still", FLAG, NULL, "whether nothing at all moves"),
    RESULT_BLOCK("packets", BLOCKS, stuck_packet_results, "the packets of a cycle: each wants what the next holds"),
    RESULT_END,
};
static const struct result recovery_results[] = {
    RESULT("packets", COUNT, NULL, "packets that took the side path"),
    RESULT("first_tick", NUMBER, "ticks", "tick of the first recovery"),
    RESULT("last_tick", NUMBER, "ticks", "tick of the last recovery"),
    RESULT_END,
};

static const struct result sync_results[] = {
    RESULT("type", TEXT, NULL, "sequential, conservative or optimistic"),
    RESULT("threads", COUNT, NULL, "threads of each rank"),
    RESULT("ranks", COUNT, NULL, "processes"),
    RESULT("largest_rank_bytes", COUNT, "bytes", "over several ranks: memory of the one that took most"),
    RESULT("events", COUNT, NULL, "events handled, including those undone"),
    RESULT("events_per_second", NUMBER, "1/s", "committed events per second of wall-clock time"),
    RESULT("window", NUMBER, "ticks", "how far parts run before they exchange events"),
    RESULT("windows", COUNT, NULL, "number of windows"),
    RESULT("remote_events", COUNT, NULL, "events sent to another part"),
    RESULT("remote_share", NUMBER, NULL, "share of remote events among all events"),
    RESULT("waiting_share", NUMBER, NULL, "share of the threads' time spent waiting for each other"),
    RESULT("committed", COUNT, NULL, "events that count"),
    RESULT("rolled_back", COUNT, NULL, "events undone"),
    RESULT("efficiency", NUMBER, NULL, "1 - rolled_back / committed"),
    RESULT("primary_rollbacks", COUNT, NULL, "rollbacks by an event that came late"),
    RESULT("secondary_rollbacks", COUNT, NULL, "rollbacks by an event taken back"),
    RESULT("gvt_count", COUNT, NULL, "how often all agreed on the time reached (GVT)"),
    RESULT_END,
};

static const struct result device_results[] = {
    RESULT("name", TEXT, NULL, "as the device calls itself"),
    RESULT("driver", TEXT, NULL, "version of its driver"),
    RESULT("kind", TEXT, NULL, "opencl"),
    RESULT("runs", COUNT, NULL, "that it did together, this among them: times and memory are those of all"),
    RESULT("seconds", NUMBER, "s", "of the run, in which the program waited for the device"),
    RESULT("compile_seconds", NUMBER, "s", "its compiler's, before the run"),
    RESULT("memory_bytes", COUNT, "bytes", "of the device's memory"),
    RESULT_END,
};

static const struct result run_results[] = {
    RESULT("end_tick", COUNT, "ticks", "the last tick with an event"),
    RESULT("events", COUNT, NULL, "events handled by the engine"),
    RESULT("flit_hops", COUNT, NULL, "flits through routers, over the whole run"),
    RESULT("packet_hops", COUNT, NULL, "sampled packets through routers"),
    RESULT("cpu_seconds", NUMBER, "s", "CPU time of the run, without building", LABEL("CPU time")),
    RESULT("wall_seconds", NUMBER, "s", "wall-clock time of the run, without building", LABEL("time")),
    RESULT("peak_rss_bytes", COUNT, "bytes", "memory of the process, or of all ranks", LABEL("memory")),
    RESULT("restarts", COUNT, NULL, "restarts from checkpoints, if there were any"),
    RESULT("bytes_per_router", NUMBER, "bytes", "built state of the network; null over several ranks"),
    RESULT("digest", TEXT, NULL, "a hash over every sampled packet"),
    RESULT_BLOCK("sync", BLOCK, sync_results, "how it was run"),
    RESULT_BLOCK("device", BLOCK, device_results, "with simulator.device: the device that ran it"),
    RESULT_END,
};

static const struct result model_block_results[] = {
    RESULT("type", TEXT, NULL, "name of the model"),
    {.type = RESULT_TYPE_OWN, .kind = "model"},
    RESULT_END,
};

static const struct result dead_links_results[] = {
    RESULT("kind", TEXT, NULL, "class of links; null where there are no classes"),
    RESULT("dead", COUNT, NULL, "links of it without any bandwidth left"),
    RESULT("slow", COUNT, NULL, "links of it with some"),
    RESULT("all", COUNT, NULL, "links of it without failures"),
    RESULT_END,
};
static const struct result failures_results[] = {
    RESULT_BLOCK("links", BLOCKS, dead_links_results, "by class of links between routers, from the start on"),
    RESULT("routers", COUNT, NULL, "dead ones, from the start on"),
    RESULT("terminals", COUNT, NULL, "dead ones, and those whose router is dead in all planes, from the start on"),
    RESULT("pairs_cut_off", COUNT, NULL, "ordered pairs of terminals of an application without a way to each other"),
    RESULT("messages_not_sent", COUNT, NULL, "messages between these, lost where they were made"),
    RESULT("flits_not_sent", COUNT, "flits", "of these"),
    RESULT("retries", COUNT, NULL, "how often links with errors sent a flit again"),
    RESULT("lost_packets", COUNT, NULL, "with failures at a time: how often one cost a packet"),
    RESULT("lost_flits", COUNT, "flits", "of these, those that were under way and did not arrive"),
    RESULT("resent_packets", COUNT, NULL, "how often their terminals sent packets again"),
    RESULT("packets_given_up", COUNT, NULL, "lost and not sent again"),
    RESULT("lost_messages", COUNT, NULL, "messages of which packets were given up"),
    RESULT_END,
};

static const struct result utilisation_results[] = {
    RESULT("mean", NUMBER, NULL, "mean over the channels"),
    RESULT("min", NUMBER, NULL, "least used channel"),
    RESULT("p50", NUMBER, NULL, "half of the channels stay below"),
    RESULT("p90", NUMBER, NULL, "nine in ten channels stay below"),
    RESULT("max", NUMBER, NULL, "busiest channel"),
    RESULT_END,
};
static const struct result channel_results[] = {
    RESULT("count", COUNT, NULL, "channels between routers; each direction counts"),
    RESULT_BLOCK("utilisation", BLOCK, utilisation_results,
                 "share of the window's cycles in which a channel carried a flit"),
    RESULT("columns", ANY, NULL, "with per_channel: names of the columns of list"),
    RESULT("list", LISTS, NULL, "with per_channel: a row for each channel"),
    RESULT("coordinates", LISTS, NULL, "with per_channel, on grids: coordinates of each router"),
    RESULT_END,
};

const struct result results_rows[] = {
    RESULT_BLOCK("flitwarp", BLOCK, program_results, "the program"),
    RESULT("config", ANY, NULL, "all settings in effect, itself a configuration"),
    RESULT("data", ANY, NULL, "a checksum of each file that settings name, if they name any"),
    RESULT("complete", FLAG, NULL, "whether the run came to its end"),
    RESULT("outcome", TEXT, NULL, "done, deadlock, stuck or interrupted"),
    RESULT_BLOCK("deadlock", BLOCK, deadlock_results, "only if a deadlock ended the run"),
    RESULT_BLOCK("recoveries", BLOCK, recovery_results, "with network.deadlock recover"),
    RESULT_BLOCK("simulation", BLOCK, run_results, "the run as a whole"),
    RESULT_BLOCK("model", BLOCK, model_block_results, "only with a model in the configuration"),
    RESULT_BLOCK("applications", BLOCKS, application_results, "one block each, in the order of the configuration"),
    RESULT_BLOCK("levels", BLOCKS, level_results, "levels of service, if there are several"),
    RESULT_BLOCK("failures", BLOCK, failures_results, "with network.failures: what is broken, and what that costs"),
    RESULT_BLOCK("channels", BLOCK, channel_results, "channels between routers, over the sampling window"),
    RESULT_END,
};

/* ---- deadlock ---- */

static struct report *add_channel(struct report *packet, const char *list, const struct network *network,
                                  const struct waiter *waiter, uint32_t lane, bool incoming)
{
    struct channel_name name = channel_name(network, waiter->router, lane, incoming);
    struct report *channel = report_item(packet, list);
    report_text(channel, "from", name.from);
    report_text(channel, "to", name.to);
    report_count(channel, "vc", name.vc);
    return channel;
}

static void add_packet_name(struct report *block, const struct waiter *waiter)
{
    report_count(block, "source", waiter->source);
    report_count(block, "sequence", waiter->sequence);
}

static void add_stuck_packet(struct report *block, const struct deadlock *deadlock, const struct cycle_packet *packet)
{
    const struct wait_graph *graph = &deadlock->graph;
    const struct waiter *front = packet->front;
    add_packet_name(block, front);
    report_count(block, "destination", front->destination);
    report_count(block, "flits", front->size);
    report_json(block, "holds", json_array(block->arena));
    for (uint32_t i = 0; i < packet->count; i++) {
        const struct waiter *waiter = &graph->waiters[deadlock->cycle[packet->first + i]];
        add_channel(block, "holds", graph->network, waiter, waiter->lane, true);
    }
    if (front->for_credit) /* the last channel is its own, and full of others' flits */
        add_channel(block, "holds", graph->network, front, graph->wanted[front->first_wanted].lane, false);
    report_flag(block, "wants_room", front->for_credit);
    report_json(block, "wants", json_array(block->arena));
    for (uint32_t i = 0; i < front->wanted_count; i++) {
        uint32_t lane = graph->wanted[front->first_wanted + i].lane, next = wait_graph_next(graph, front, i);
        struct report *channel = add_channel(block, "wants", graph->network, front, lane, false);
        if (next == FW_NONE)
            report_json(channel, "waits_for", json_null(block->arena));
        else
            add_packet_name(report_block(channel, "waits_for"), &graph->waiters[next]);
    }
}

static void add_deadlock(struct report *block, const struct deadlock *deadlock)
{
    uint32_t count;
    struct cycle_packet *packets = deadlock_packets(deadlock, &count);
    report_count(block, "tick", deadlock->tick);
    report_count(block, "packets_in_network", deadlock->packets);
    report_count(block, "stuck_buffers", deadlock->stuck);
    report_flag(block, "stands_still", deadlock->stands_still);
    report_json(block, "packets", json_array(block->arena));
    for (uint32_t i = 0; i < count; i++)
        add_stuck_packet(report_item(block, "packets"), deadlock, &packets[i]);
    free(packets);
}

void results_add_deadlock(struct report *root, const struct workload *workload)
{
    const struct recoveries *recoveries = &workload->recoveries;
    if (workload->outcome == OUTCOME_DEADLOCK)
        add_deadlock(report_block(root, "deadlock"), &workload->deadlock);
    if (workload->network->core->config->deadlock != DEADLOCK_RECOVER)
        return;
    struct report *block = report_block(root, "recoveries");
    report_count(block, "packets", recoveries->packets);
    struct json *first = recoveries->packets ? json_number_u64(root->arena, recoveries->first) : json_null(root->arena);
    struct json *last = recoveries->packets ? json_number_u64(root->arena, recoveries->last) : json_null(root->arena);
    report_json(block, "first_tick", first);
    report_json(block, "last_tick", last);
}

/* ---- failures ---- */

/* What has failed from the start on, and what was not sent for it. */
void results_add_failures(struct report *block, const struct simulation *simulation)
{
    const struct network *network = &simulation->network;
    const struct workload *workload = &simulation->workload;
    const struct failures *failures = network->core->failures;
    const struct topology *whole = failures->topology;
    uint32_t classes = whole->channel_classes ? whole->channel_classes : 1;
    uint64_t messages = 0, flits = 0;
    for (uint32_t class = 0; class < classes; class ++) {
        const struct link_counts counts = failures_count_links(failures, &network->topology, class);
        struct report *links = report_item(block, "links");
        if (whole->channel_classes)
            report_text(links, "kind", whole->channel_class_names[class]);
        else
            report_json(links, "kind", json_null(block->arena));
        report_count(links, "dead", counts.dead);
        report_count(links, "slow", counts.slow);
        report_count(links, "all", counts.all);
    }
    for (uint32_t i = 0; i < workload->count; i++) {
        messages += workload->measurements[i].lost_messages;
        flits += workload->measurements[i].lost_flits;
    }
    report_count(block, "routers", bits_count(failures->dead_routers, words_for(whole->routers)));
    report_count(block, "terminals", network_dead_terminals(network));
    report_count(block, "pairs_cut_off", workload->cut_off_pairs);
    report_count(block, "messages_not_sent", messages);
    report_count(block, "flits_not_sent", flits);
    report_count(block, "retries", workload->retries);
    const struct loss_counts *counts = workload_loss_counts(workload);
    if (!counts)
        return;
    report_count(block, "lost_packets", counts->lost_packets);
    report_count(block, "lost_flits", counts->lost_flits);
    report_count(block, "resent_packets", counts->resent);
    report_count(block, "packets_given_up", counts->given_up);
    report_count(block, "lost_messages", counts->lost_messages);
}
