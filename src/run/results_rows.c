/* SPDX-License-Identifier: Apache-2.0 */
/* What the results document holds: rows of its blocks, but for those of applications (metrics/measurement.c). */
#include "run/simulation.h"

static const struct result program_results[] = {
    RESULT("version", TEXT, NULL, "of the program"),
    RESULT_END,
};

static const struct result packet_name_results[] = {
    RESULT("source", COUNT, NULL, "terminal that sent it"),
    RESULT("sequence", COUNT, NULL, "its number there"),
    RESULT_END,
};
static const struct result held_channel_results[] = {
    RESULT("from", TEXT, NULL, "where it begins"),
    RESULT("to", TEXT, NULL, "where it ends"),
    RESULT("vc", COUNT, NULL, "virtual channel"),
    RESULT_BLOCK("waits_for", BLOCK, packet_name_results, "of a channel that is wanted: the packet that holds it"),
    RESULT_END,
};
static const struct result stuck_packet_results[] = {
    RESULT("source", COUNT, NULL, "terminal that sent it"),
    RESULT("sequence", COUNT, NULL, "its number there"),
    RESULT("destination", COUNT, NULL, "terminal that it goes to"),
    RESULT("flits", COUNT, "flits", "that it has"),
    RESULT_BLOCK("holds", BLOCKS, held_channel_results, "channels, from its last flit to its first"),
    RESULT("wants_room", FLAG, NULL, "whether it has its channel and waits for a credit of it"),
    RESULT_BLOCK("wants", BLOCKS, held_channel_results, "channels, one of which would do"),
    RESULT_END,
};
static const struct result deadlock_results[] = {
    RESULT("tick", COUNT, "ticks", "at which it was found"),
    RESULT("packets_in_network", COUNT, NULL, "then"),
    RESULT("stuck_buffers", COUNT, NULL, "whose front packet can never move"),
    RESULT("stands_still", FLAG, NULL, "whether nothing moves any more"),
    RESULT_BLOCK("packets", BLOCKS, stuck_packet_results, "a cycle: each wants what the next holds"),
    RESULT_END,
};
static const struct result recovery_results[] = {
    RESULT("packets", COUNT, NULL, "that went by the side path"),
    RESULT("first_tick", NUMBER, "ticks", "of one"),
    RESULT("last_tick", NUMBER, "ticks", "of one"),
    RESULT_END,
};

static const struct result sync_results[] = {
    RESULT("type", TEXT, NULL, "sequential, conservative or optimistic"),
    RESULT("threads", COUNT, NULL, "of a rank"),
    RESULT("ranks", COUNT, NULL, "processes"),
    RESULT("events", COUNT, NULL, "handled, those undone included"),
    RESULT("events_per_second", NUMBER, "1/s", "that count, by the time of the run"),
    RESULT("window", NUMBER, "ticks", "that parts go ahead without word of each other"),
    RESULT("windows", COUNT, NULL, "gone through"),
    RESULT("remote_events", COUNT, NULL, "sent from part to part"),
    RESULT("remote_share", NUMBER, NULL, "of all events"),
    RESULT("waiting_share", NUMBER, NULL, "of the threads' time, for each other"),
    RESULT("committed", COUNT, NULL, "events that count"),
    RESULT("rolled_back", COUNT, NULL, "events undone"),
    RESULT("efficiency", NUMBER, NULL, "1 - rolled_back / committed"),
    RESULT("primary_rollbacks", COUNT, NULL, "by an event that came late"),
    RESULT("secondary_rollbacks", COUNT, NULL, "by an event taken back"),
    RESULT("gvt_count", COUNT, NULL, "times that all agreed how far they are"),
    RESULT_END,
};

static const struct result run_results[] = {
    RESULT("end_tick", COUNT, "ticks", "the last with an event"),
    RESULT("events", COUNT, NULL, "handled by the engine"),
    RESULT("flit_hops", COUNT, NULL, "flits through routers, the whole run"),
    RESULT("packet_hops", COUNT, NULL, "sampled packets through routers"),
    RESULT("cpu_seconds", NUMBER, "s", "of the run, without building", LABEL("CPU time")),
    RESULT("wall_seconds", NUMBER, "s", "of the run, without building", LABEL("time")),
    RESULT("peak_rss_bytes", COUNT, "bytes", "memory of the process, or of all ranks", LABEL("memory")),
    RESULT("restarts", COUNT, NULL, "from checkpoints, where there were any"),
    RESULT("bytes_per_router", NUMBER, "bytes", "built state of the network"),
    RESULT("digest", TEXT, NULL, "a hash over every sampled packet"),
    RESULT_BLOCK("sync", BLOCK, sync_results, "how it was run"),
    RESULT_END,
};

static const struct result model_block_results[] = {
    RESULT("type", TEXT, NULL, "of the model"),
    {.type = RESULT_TYPE_OWN, .kind = "model"},
    RESULT_END,
};

static const struct result utilisation_results[] = {
    RESULT("mean", NUMBER, NULL, "over the channels"),
    RESULT("min", NUMBER, NULL, "of the channels"),
    RESULT("p50", NUMBER, NULL, "that half of the channels stay below"),
    RESULT("p90", NUMBER, NULL, "that nine of ten stay below"),
    RESULT("max", NUMBER, NULL, "of the channels"),
    RESULT_END,
};
static const struct result channel_results[] = {
    RESULT("count", COUNT, NULL, "channels between routers, each direction by itself"),
    RESULT_BLOCK("utilisation", BLOCK, utilisation_results,
                 "share of the window's cycles in which a channel carried a flit"),
    RESULT("columns", ANY, NULL, "with per_channel: what the rows of list hold"),
    RESULT("list", LISTS, NULL, "with per_channel: a row for each channel"),
    RESULT("coordinates", LISTS, NULL, "with per_channel, on grids: of each router"),
    RESULT_END,
};

const struct result results_rows[] = {
    RESULT_BLOCK("flitwarp", BLOCK, program_results, "the program"),
    RESULT("config", ANY, NULL, "all settings in effect, itself a configuration"),
    RESULT("complete", FLAG, NULL, "whether the run came to its end"),
    RESULT("outcome", TEXT, NULL, "done, deadlock, stuck or interrupted"),
    RESULT_BLOCK("deadlock", BLOCK, deadlock_results, "where one ended the run"),
    RESULT_BLOCK("recoveries", BLOCK, recovery_results, "with network.deadlock recover"),
    RESULT_BLOCK("simulation", BLOCK, run_results, "the run as a whole"),
    RESULT_BLOCK("model", BLOCK, model_block_results, "of a configuration with a model"),
    RESULT_BLOCK("applications", BLOCKS, application_results, "in the order of the configuration"),
    RESULT_BLOCK("levels", BLOCKS, level_results, "of service, where there are several"),
    RESULT_BLOCK("channels", BLOCK, channel_results, "between routers, over the sampling window"),
    RESULT_END,
};
