/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. What the lockstep engine has in the memory of a device, beside the routers' blocks, the outlets and the
 * links, which lie there as they do in the program's (input_queued_state.h or packet_state.h, standard_layout.h, link.h).
 *
 * Time goes on tick by tick. In a tick every router and every terminal is a work-item of its own: what one does to another
 * travels over a channel of at least one tick, so nothing that is read in a tick is written in it. A channel is a ring of
 * places, one a tick:
 *
 *   flits     by tick % slots, then by receiver and its port: handle and place of a flit, its VC beside the position; 0: none
 *   credits   the same, for credits that go the other way: a set of VCs, of which there is one, in as few bytes as hold it;
 *             where packets move whole, by VC: events and the flits of all of them
 *
 * The receiver empties a place as it reads it. Packets lie in the region of their source's terminal, whose handles it gives
 * out; they come back by a set of bits, a tick after the packet has arrived.
 */
#include "flitwarp/link.h"
#include "flitwarp/random.h"
#include "network/interface/standard_layout.h"

/* A flit in a place of a ring: the packet's handle and one, so that 0 is none, above; below ends, VC and position. */
#define SLOT_VC_SHIFT 24
#define SLOT_VC_MASK 63u
#define SLOT_POSITION 0xffffffu
#define SLOT_MOST_FLITS (SLOT_POSITION + 1)

/* Credits in a place of a ring, where packets move whole: how many events these were, above; below the flits of all of them. */
#define SLOT_CREDITS_EVENT 0x100000000ul

/*
 * What lies there of each run, in the order of the kernels' arguments: B(NAME, type, member, words) for each. Of runs that go on
 * together all have the same of a kind, one behind the other.
 */
/* clang-format off */
#define LOCKSTEP_BUFFERS(B)                                                                                            \
    B(FACTS, const struct lockstep_facts, facts, "numbers")                                                            \
    B(CLOCK, const struct lockstep_clock, clock, "times")                                                              \
    B(APPLICATIONS, const struct lockstep_application, applications, "applications")                                   \
    B(TABLES, const char, own_tables, "tables")                                                                        \
    B(BLOCKS, uint8_t, blocks, "routers")                                                                              \
    B(READY_AT, tick_t, ready_at, "stages")                                                                            \
    B(ROUTES, uint64_t, routes, "routes")                                                                              \
    B(LINKS, const struct link, links, "links")                                                                        \
    B(FLITS, uint64_t, flits, "flits on channels")                                                                     \
    B(CREDITS, slot_vcs, credits, "credits on channels")                                                               \
    B(STEPS, uint16_t, steps, "steps of routers") /* by tick % slots, then by router: how many are due */                \
    B(LATER, struct lockstep_later, later, "steps of terminals") /* by terminal * channels + channel */                 \
    B(SENDING, struct lockstep_sending, sending, "what channels have to do") /* by sending port, as flits */             \
    B(CHUNKS, struct lockstep_chunk, chunks, "packets that wait for channels") /* by port * places + place */           \
    B(PACKETS, struct packet, packets, "packets")                                                                      \
    B(FREE_PLACES, uint32_t, free_places, "free places of packets")                                                    \
    B(FREED, uint32_t, freed, "places of packets that have arrived")                                                   \
    B(OUTLETS, struct outlet, outlets, "outlets of terminals")                                                         \
    B(INJECTORS, struct injector, injectors, "channels of terminals")                                                  \
    B(OUTLET_CREDITS, uint32_t, outlet_credits, "credits of terminals")                                                \
    B(SOURCES, struct lockstep_source, sources, "sources of messages")                                                 \
    B(TERMINALS, struct lockstep_terminal, terminals, "terminals")                                                     \
    B(COUNTS, struct lockstep_counts, counts, "counts of terminals") /* by application * terminals + terminal */       \
    B(ROUTER_COUNTS, struct lockstep_router_counts, router_counts, "counts of routers")                                \
    /* by ((application * copies + copy) * histograms + histogram) * buckets + bucket */                               \
    B(HISTOGRAMS, uint64_t, histograms, "histograms")                                                                  \
    B(BINS, struct lockstep_bin, bins, "latencies by moment of sampling")                                              \
    B(ACCEPTED_FROM, uint64_t, accepted_from, "flits by source") /* by application * terminals + terminal */           \
    B(MESSAGES, struct lockstep_message, messages, "messages")                                                         \
    B(FREE_MESSAGES, uint32_t, free_messages, "free places of messages")                                               \
    B(FREED_MESSAGES, uint32_t, freed_messages, "places of messages that have arrived")                                \
    B(HEARD, struct lockstep_answer, heard, "messages that are heard of") /* by ring * places + place */               \
    B(HEARD_RINGS, struct lockstep_ring, heard_rings, "rings of messages") /* by (listener - 1) * terminals + terminal */ \
    B(ANSWERS, struct lockstep_answer, answers, "answers that wait") /* by terminal * places + place */                \
    B(SERIES, struct lockstep_series, series, "the time series") /* by application * bins + bin */                     \
    B(RATES, struct lockstep_rates, rates, "rates") /* by (application * bins + bin) * terminals + terminal */         \
    B(ENTERED, uint32_t, entered, "flits that enter") /* by router * lanes + lane */                                   \
    B(LOG, struct lockstep_log, log_head, "the log")                                                                  \
    B(LOG_RECORDS, struct lockstep_record, log_records, "packets for the log")                                         \
    B(SENSORS, char, sensors, "sensors of congestion") /* see struct congestion */                                     \
    /* by pair of routers, where routing may take detours and there is no grid */                                      \
    B(DISTANCES, const uint16_t, distances, "distances")                                                               \
    B(FAULT, uint32_t, fault, "faults")                                                                                \
    B(SUMS, uint64_t, sums, "sums")                                                                                    \
    B(NEXT, uint64_t, next, "next events")                                                                             \
    B(LANE_FLITS, uint32_t, lane_flits, "flits by lane")
/* clang-format on */

/* Numbers that do not change: F(name) for each. A device has them as constants of the program, or looks them up. */
/* clang-format off */
#define LOCKSTEP_FACTS(F)                                                                                              \
    F(routers) F(terminals)                                                                                            \
    F(slot_mask)        /* places of a ring, less one */                                                               \
    F(slot_row)         /* receiving ports of all routers and terminals */                                             \
    F(channel_latency)  /* of all channels between routers; 0: they differ */                                          \
    F(terminal_latency) /* of all channels of terminals; 0: they differ */                                             \
    F(packets_each)     /* of a terminal's region, a multiple of 32 */                                                 \
    F(bins)             /* of latencies by moment of the window */                                                     \
    F(measures_detours) /* packets may take more hops than they need */                                                \
    F(messages_each)    /* records of a terminal's messages, a multiple of 32; 0: packets need none */                 \
    F(listeners)        /* applications that hear of their messages, and answer them */                                \
    F(application_count)                                                                                               \
    /* of routers */                                                                                                   \
    F(ports) F(num_vcs) F(lanes) F(ring_mask) F(local_ports) F(room) F(depth) F(cycle) F(routing) F(vc_allocation)     \
    F(to_channel) F(credit) F(next_packet) F(busy_after_grant) F(vc_needs_credit) F(stores_packet) F(reserves_packet)  \
    F(needs_room) F(credits_wake) F(ends_in_a_cycle) F(steps_each_tick) F(locks_outputs) F(keeps_outputs)              \
    F(queues_to_send) F(stride) F(outputs_at) F(vc_state_at) F(switch_state_at) F(arbiter_state_at) F(arbiters_each)   \
    F(arbiter_port_mask) F(free_at_at) F(locks_at) F(credited_at) F(rings_at)                                          \
    /* of packet routers */                                                                                            \
    F(chunk)          /* flits that move at once, at most */                                                           \
    F(sending_places) /* for chunks that wait for a channel */                                                         \
    F(divides) F(by_output) F(whole_for_room) F(inputs_at) F(ports_at) F(port_stride) F(waits_at) F(owners_at)         \
    F(lines_at)                                                                                                        \
    /* of routing; its tables by their places in own_tables, 0: there is none */                                                                                                   \
    F(seed) F(routing_vcs) F(protocol_vcs) F(classes) F(terminal_ports) F(ejection_channels) F(class_vcs_at)           \
    F(eject_vcs_at) F(terminal_slot_at) F(ejection_router_at) F(routing_config_at) F(routing_state_at)                 \
    F(all_escape_vcs) F(has_protocols) F(topology_facts_at) F(grid_at)                                                 \
    /* of sensors: settings; in their memory, behind the counts */                                                     \
    F(congestion_config_at) F(unseen_at) F(capacity_at)                                                                \
    /* of interfaces */                                                                                                \
    F(channels) F(outlet_lanes) F(channel_cycle) F(all_vcs) F(injection_vcs) F(buffer_depth)                           \
    F(enters_late) /* packets are told of when more than their first flit is there */
/* clang-format on */

#define LOCKSTEP_FACT_(name) uint64_t name;
#define LOCKSTEP_EACH_(name, type, member, what) uint64_t each_##member;
struct lockstep_facts {
    LOCKSTEP_FACTS(LOCKSTEP_FACT_)
    LOCKSTEP_BUFFERS(LOCKSTEP_EACH_) /* bytes of a run in each buffer */
    /* What another process would have otherwise, or may change between two launches: it is looked up always. */
    uint64_t tables_from;                          /* the program's address of what is first in own_tables */
    uint64_t is_watched;                           /* any of what follows but the rings */
    uint64_t series_interval, series_bins;         /* 0: no series is kept */
    uint64_t rate_interval, rate_first, rate_bins; /* of bins by terminal: the first of them that there is room for */
    uint64_t log_room;                             /* records; 0: nobody asks for them */
    uint64_t counts_lanes;                         /* flits that enter are counted by lane */
    uint64_t heard_mask, answers_mask;             /* places of rings, less one */
};

/* An application: where its sources have their tables. */
struct lockstep_application {
    uint64_t injection_config_at, limits_at, traffic_config_at, traffic_state_at, size_config_at, size_state_at;
    uint64_t terminals_at; /* by rank: its terminal */
    uint64_t cycle;
    double rate, a, b;
    uint32_t ranks, size_max;
    uint32_t injection_kind, traffic_kind, size_kind; /* which of the functions that were compiled */
    uint32_t protocol;
    /* Of its messages. */
    uint64_t seed, receive_delay, reply_config_at, reply_state_at;
    uint32_t reply_max, reply_kind, reply_protocol;
    uint32_t replies_by_request;      /* their sizes follow from it */
    uint32_t plain_flits, max_packet; /* messages up to the first are a packet that needs no record */
    uint32_t listener;                /* its number among those, from 1 on; 0: it hears of nothing */
};

/* Of a run, for the launches to come; those who count need `now` alone. */
struct lockstep_clock {
    tick_t now, last; /* the tick of the first of them; that of the last in which anything is done */
    tick_t window_start, window_end;
    uint32_t is_draining, unused;
};

/* Where the window of sampling lies, as far as it is known: FW_NEVER otherwise. The same from one grid point to the next. */
struct lockstep_phase {
    tick_t window_start, window_end;
    uint32_t is_draining; /* nothing is made any more */
};

static inline bool is_in_window(const struct lockstep_phase *phase, tick_t made)
{
    return made >= phase->window_start && made < phase->window_end;
}

/* What an injection process remembers: bytes, since each has a struct of its own there. */
struct source_memory {
    unsigned char bytes[16] __attribute__((aligned(8)));
};

/*
 * The messages of a rank. What waits to be sent is not kept but made again from its random stream when its turn comes: so a
 * queue without limit takes no memory. `made` is the stream as the next message will find it; `waits` as the first of those
 * did that wait without a packet.
 */
struct lockstep_source {
    tick_t wake_at; /* of the next message; FW_NEVER: none */
    struct random made;
    struct source_memory memory;
    struct random waits;
    struct source_memory waits_memory;
    tick_t waits_at;  /* when that first one was made */
    uint64_t waiting; /* how many do */
    uint32_t rank, application;
};

/* A message of several packets, or one that is answered: see struct message. */
struct lockstep_message {
    tick_t started;
    uint32_t number, flits, packets, arrived;
    uint32_t transaction, tag;
    uint32_t is_answer;
};

/* A message that an application will hear of, then the answer to it that waits to be sent. */
struct lockstep_answer {
    tick_t due; /* when it is heard of, and answered */
    tick_t started;
    uint32_t source, number; /* of the message that it answers */
    uint32_t transaction, tag, flits;
    uint8_t application;
    fw_bool is_sampled;
    fw_bool is_answer; /* the message is one itself */
};

/* Messages that an application will hear of at a terminal, first come first. */
struct lockstep_ring {
    uint32_t first, count; /* the first one's number, which runs on */
};

/* A terminal: its sources, which are in the order of applications, and the packets of its region. */
struct lockstep_terminal {
    uint32_t first_source, sources;
    uint32_t sequence; /* of the next packet */
    uint32_t unused;
    uint32_t left; /* flits of the message whose packet is the first in the source queue: behind that */
    uint32_t first_answer, answers; /* that wait: the first one's number, and how many there are */
    uint64_t events;
    tick_t last_event;
};

/* What is counted of an application at a terminal: of messages where they are made, of packets where they arrive. */
struct lockstep_counts {
    uint64_t created_packets, created_flits, sampled_created;
    uint64_t delivered_packets, accepted_flits, latency_sum, entered;
    uint64_t sampled_delivered;
    uint64_t network_sum, sampled_sum, hops_sum;
    uint64_t digest[2];
    uint64_t least_latency, most_latency, least_network, most_network; /* of sampled packets */
    uint32_t least_hops, most_hops;
    /* Of messages of several packets and transactions; answered_flits are those of answers that were made. */
    uint64_t answered_flits, sampled_messages, message_sum, least_message, most_message;
    uint64_t transactions_begun, transactions_ended, transaction_sum, least_transaction, most_transaction;
    /* Of those on ways that are not minimal: their hops, and the hops of a minimal way. */
    uint64_t nonminimal, detours_sum, shortcuts_sum, least_detour, most_detour, least_shortcut, most_shortcut;
};

struct lockstep_router_counts {
    uint64_t flit_hops, events;
    tick_t last_event;
    tick_t sends_at; /* of a packet router: when one of its channels has something to do next */
};

/* Steps of a terminal that are due when a channel is free. */
struct lockstep_later {
    tick_t when;
    uint64_t count;
};

/* A packet, or a chunk of it, that waits until its channel is free. */
struct lockstep_chunk {
    uint64_t flit; /* as it will be in a place of a ring */
    uint32_t lane; /* that it came from, where its credits belong */
    uint32_t flits;
};

/*
 * Where packets move whole: what a channel has to do beside what is in rings already. A ring has places for as long as anything
 * is on its way, not for the time that it takes to leave.
 */
struct lockstep_sending {
    tick_t start;          /* when the first that waits begins, */
    uint32_t first, count; /* its place, and how many wait */
    uint64_t flit;         /* that is leaving, to be told of at `flit_at`; 0: none */
    tick_t flit_at, credits_at;
    uint32_t credits, credits_lane; /* flits of it whose place is free then, and where; 0: none */
};

/* Sums over all terminals and routers, by application the first of them. */
enum {
    SUM_CREATED_PACKETS,
    SUM_CREATED_FLITS,
    SUM_SAMPLED_CREATED,
    SUM_DELIVERED,
    SUM_ACCEPTED,
    SUM_LATENCY,
    SUM_ENTERED,
    SUM_SAMPLED_DELIVERED,
    SUM_TRANSACTIONS_BEGUN,
    SUM_TRANSACTIONS_ENDED,
    LOCKSTEP_SUMS
};
/* And of the network as a whole. */
enum { SUM_HOPS, SUM_EVENTS, SUM_MOST_HEARD, SUM_MOST_ANSWERS, NETWORK_SUMS };

/* Histograms of sampled packets, each in several copies, since many packets have the same latency. */
enum {
    HISTOGRAM_LATENCY,
    HISTOGRAM_NETWORK,
    HISTOGRAM_HOPS,
    HISTOGRAM_MESSAGE,
    HISTOGRAM_TRANSACTION,
    HISTOGRAM_DETOURS,
    HISTOGRAM_SHORTCUTS,
    LOCKSTEP_HISTOGRAMS
};
#define HISTOGRAM_COPIES 16

/* Latencies of packets that were made at one moment of the window. */
struct lockstep_bin {
    uint64_t sum, count;
};

/* Bins over time: struct series_bin and struct rate_bin, which the program has of them. */
struct lockstep_series {
    uint64_t latency_sum, packets_arrived, packets_created, flits_offered, flits_accepted;
};
struct lockstep_rates {
    uint32_t offered, injected, delivered, accepted;
};

/* What logs are told of a sampled packet that has arrived. */
struct lockstep_record {
    struct packet packet;
    struct lockstep_message message; /* where the packet has one */
    tick_t arrived;
};
struct lockstep_log {
    uint32_t count;
};

/* What has gone wrong: the line of the check, or one of these. */
#define FAULT_NO_PACKET 0x80000000u /* a terminal has more packets in the network than its region holds */
#define FAULT_WINDOW 0x80000001u    /* a window longer than its bins */
