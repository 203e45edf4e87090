/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. By nobody else: The kernels of the lockstep engine. Before it stands what the engine writes for a run:
 * ROUTE(), INJECT() and the like, the functions of the sources by their kinds, WORDS, and FACT() for numbers that do not
 * change.
 */
#include "device/lockstep_state.h"
#include "flitwarp/congestion.h"
#include "flitwarp/routing.h"
#include "metrics/histogram_index.h"
#include "metrics/packet_record.h"

#if MOVES_CHUNKS || SLOT_VC_BYTES == 8
typedef ulong slot_vcs;
#elif SLOT_VC_BYTES == 1
typedef uchar slot_vcs;
#elif SLOT_VC_BYTES == 2
typedef ushort slot_vcs;
#endif

/* All that lies in the memory of the device, of one run. */
#define MEMBER_(name, type, member, what) FW_GLOBAL type *member;
struct memory {
    LOCKSTEP_BUFFERS(MEMBER_)
    FW_GLOBAL const char *tables; /* where the program's address 0 would be */
};

#define FW_CHECK(condition)                                                                                            \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            *FAULT_OF = __LINE__;                                                                                      \
    } while (0)

struct network {
    const struct memory *memory;
    struct routing routing;
    struct congestion sensors;
    struct {
        bool reserves_packet;
        uint32_t buffer_depth;
        struct transfer transfer;
    } plan;
};

static inline FW_GLOBAL struct packet *network_packet(const struct network *network, uint32_t handle)
{
    return &network->memory->packets[handle];
}
#include "flitwarp/packet_queue.h"

static inline FW_GLOBAL const struct link *network_link(const struct network *network, uint32_t router, uint32_t port)
{
    const struct memory *m = network->memory;
    return &m->links[(size_t)router * FACT(ports) + port];
}
static inline uint32_t network_room_for(const struct network *network, uint32_t flits)
{
    (void)network;
    return flits;
}

FW_INLINE struct routing routing_of(const struct memory *m)
{
    return (struct routing){
        .tables = m->tables,
        .config = m->own_tables + FACT(routing_config_at),
        .state = FACT(routing_state_at) ? (FW_GLOBAL void *)(m->own_tables + FACT(routing_state_at)) : 0,
        .facts = m->own_tables + FACT(topology_facts_at),
        .grid = (FW_GLOBAL const struct grid *)(m->own_tables + FACT(grid_at)),
        .routers = FACT(routers),
        .seed = FACT(seed),
        .num_vcs = FACT(num_vcs),
        .vcs = FACT(routing_vcs),
        .protocol_vcs = FACT(protocol_vcs),
        .classes = FACT(classes),
        .all_escape_vcs = FACT(all_escape_vcs),
        .words = WORDS,
        .local_ports = FACT(local_ports),
        .terminal_ports = FACT(terminal_ports),
        .ejection_channels = FACT(ejection_channels),
        .terminal_slot = (FW_GLOBAL const uint16_t *)(m->own_tables + FACT(terminal_slot_at)),
        .class_vcs = (FW_GLOBAL const uint64_t *)(m->own_tables + FACT(class_vcs_at)),
        .eject_vcs = (FW_GLOBAL const uint64_t *)(m->own_tables + FACT(eject_vcs_at)),
    };
}

FW_INLINE struct network network_of(const struct memory *m)
{
    return (struct network){.memory = m,
                            .routing = routing_of(m),
                            .sensors = {.tables = m->sensors,
                                        .config = m->own_tables + FACT(congestion_config_at),
                                        .ports = FACT(ports),
                                        .num_vcs = FACT(num_vcs),
                                        .unseen_at = FACT(unseen_at),
                                        .capacity_at = FACT(capacity_at)},
                            .plan = {.reserves_packet = FACT(reserves_packet),
                                     .buffer_depth = FACT(buffer_depth),
                                     .transfer = {.chunk = FACT(chunk)}}};
}

/* ---- channels ---- */

/* Of a router's port. Where all channels are alike nobody looks for it. */
FW_INLINE tick_t latency_of(const struct network *network, uint32_t router, uint32_t port, bool at_router)
{
    const struct memory *m = network->memory; /* of no use where numbers are constants */
    (void)m;
    tick_t common = at_router ? FACT(channel_latency) : FACT(terminal_latency);
    return common ? common : network_link(network, router, port)->latency;
}

/* The place of a receiving port at a tick. Ports of terminals come behind those of routers. */
FW_INLINE size_t slot_of(const struct memory *m, tick_t when, size_t port)
{
    return (when & FACT(slot_mask)) * FACT(slot_row) + port;
}
FW_INLINE size_t router_port(const struct memory *m, uint32_t router, uint32_t port)
{
    return (size_t)router * FACT(ports) + port;
}
FW_INLINE size_t terminal_port(const struct memory *m, uint32_t terminal, uint32_t port)
{
    return (size_t)FACT(routers) * FACT(ports) + (size_t)terminal * FACT(terminal_ports) + port;
}
/* Of the far end of a router's channel, by the router's own port. */
FW_INLINE size_t far_port(const struct memory *m, struct lane_place to, bool at_router)
{
    uint32_t port = to.lane / FACT(num_vcs);
    return at_router ? router_port(m, to.target, port) : terminal_port(m, to.target, port);
}

FW_INLINE uint64_t flit_word(struct flit flit, uint32_t vc)
{
    uint32_t place = (flit.place & (FLIT_HEAD | FLIT_TAIL)) | vc << SLOT_VC_SHIFT | (flit.place & SLOT_POSITION);
    return (uint64_t)(flit.packet + 1) << 32 | place;
}
FW_INLINE void put_word(const struct memory *m, size_t port, uint64_t word, tick_t when)
{
    m->flits[slot_of(m, when, port)] = word;
}
FW_INLINE void put_flit(const struct memory *m, size_t port, uint32_t vc, struct flit flit, tick_t when)
{
    put_word(m, port, flit_word(flit, vc), when);
}
/* The only one of its tick: a port gives one place back at most. */
FW_INLINE void put_credit(const struct memory *m, size_t port, uint32_t vc, tick_t when)
{
    m->credits[slot_of(m, when, port)] = (slot_vcs)bit(vc);
}
/* What a place of a ring has, which is then empty. */
FW_INLINE uint64_t take_flit(const struct memory *m, size_t slot)
{
    uint64_t word = m->flits[slot];
    if (word)
        m->flits[slot] = 0;
    return word;
}
FW_INLINE slot_vcs take_credits(const struct memory *m, size_t slot)
{
    slot_vcs vcs = m->credits[slot];
    if (vcs)
        m->credits[slot] = 0;
    return vcs;
}

/* Where packets move whole, a place has those of each VC. More than one lane may be free at a tick, and one of them twice. */
FW_INLINE size_t credits_place(const struct memory *m, size_t slot, uint32_t vc)
{
    return MOVES_CHUNKS ? slot * FACT(num_vcs) + vc : slot;
}
FW_INLINE void put_credits(const struct memory *m, size_t port, uint32_t vc, uint32_t flits, tick_t when)
{
    m->credits[credits_place(m, slot_of(m, when, port), vc)] += SLOT_CREDITS_EVENT + flits;
}
FW_INLINE uint64_t take_credits_of(const struct memory *m, size_t slot, uint32_t vc)
{
    FW_GLOBAL slot_vcs *place = &m->credits[credits_place(m, slot, vc)];
    uint64_t word = *place;
    if (word)
        *place = 0;
    return word;
}
FW_INLINE uint32_t slot_credits(uint64_t word) { return (uint32_t)word; }
FW_INLINE uint32_t slot_events(uint64_t word) { return (uint32_t)(word >> 32); }
FW_INLINE bool has_credits(const struct memory *m, size_t slot)
{
    for (uint32_t vc = 0; vc < (MOVES_CHUNKS ? FACT(num_vcs) : 1); vc++)
        if (m->credits[credits_place(m, slot, vc)])
            return true;
    return false;
}

/* A flit that was taken, and its VC. */
FW_INLINE uint32_t slot_vc(uint64_t word) { return (uint32_t)word >> SLOT_VC_SHIFT & SLOT_VC_MASK; }
FW_INLINE struct flit slot_flit(uint64_t word)
{
    return (struct flit){.packet = (uint32_t)(word >> 32) - 1,
                         .place = (uint32_t)word & (FLIT_HEAD | FLIT_TAIL | SLOT_POSITION)};
}

/* ---- routers ---- */

/* Asks where a packet at the front of an input lane may go. */
FW_INLINE void ask_route(const struct network *network, struct route *question, uint32_t packet, uint32_t lane,
                         bool from_router, FW_GLOBAL uint64_t *wants, const uint64_t *usable, uint32_t words,
                         tick_t now)
{
    const struct memory *m = network->memory;
    uint64_t answer[WORDS];
    for (uint32_t w = 0; w < WORDS; w++)
        answer[w] = 0;
    question->packet = network_packet(network, packet);
    question->packet->hops += from_router;
    question->draws = 0;
    question->input_lane = lane;
    question->vcs = answer;
    question->now = now;
    ROUTE(question);
    if (FACT(has_protocols))
        route_move_up(question);
    uint64_t some = 0, wrong = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        some |= answer[w];
        wrong |= answer[w] & ~usable[w];
        wants[w] = answer[w];
    }
    if (!some || wrong)
        *m->fault = __LINE__;
}

/*
 * What will be needed is read ahead, so that a tick waits for memory a few times and not for one thing after the other. The sum
 * of what was read is used in a way that the compiler cannot know to change nothing, or it would leave the reading out.
 */
#define NEVER_READ 0x9e3779b97f4a7c15ul

#ifdef PACKET_ROUTER
#include "device/packet_kernel.h"
#else
#include "device/team_kernel.h"
#endif
#include "device/terminal_kernel.h"
#include "device/count_kernels.h"

/* ---- the kernels ---- */

#define ARGUMENT_(name, type, member, what) FW_GLOBAL type *member,
#define ARGUMENTS LOCKSTEP_BUFFERS(ARGUMENT_) uint first_run, uint argument
/* The runs lie one behind the other in each buffer; RUN tells which this work-item has, EACH() how far they are apart. */
#define OF_RUN_(name, type, member, what) (FW_GLOBAL type *)((FW_GLOBAL char *)member + run * EACH(member)),
#define MEMORY                                                                                                         \
    const size_t run = RUN;                                                                                            \
    const struct memory memory = {LOCKSTEP_BUFFERS(OF_RUN_)(FW_GLOBAL const char *) own_tables +                       \
                                  run * EACH(own_tables) - facts[run].tables_from};                                    \
    const struct memory *m = &memory;                                                                                  \
    (void)argument

FW_INLINE struct lockstep_phase phase_of(FW_GLOBAL const struct lockstep_clock *clock)
{
    return (struct lockstep_phase){clock->window_start, clock->window_end, clock->is_draining};
}

FW_INLINE void tick_terminal(const struct memory *m, size_t terminal, tick_t now)
{
    const struct lockstep_phase phase = phase_of(m->clock);
    if (terminal < FACT(terminals) && now <= m->clock->last)
        terminal_tick(m, (uint32_t)terminal, now, &phase);
}

/*
 * A tick of all runs, the argument's after their clocks: groups of GROUP work-items have GROUP / TEAM routers each. The first
 * groups have terminals, which take longest. Where ONE_KERNEL is not said these are a kernel of their own: PoCL goes wrong with a
 * barrier that not every group comes to; so a run whose time is over comes to them too, with routers that are not there.
 */
__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void lockstep_routers(ARGUMENTS)
{
    __local struct team teams[GROUP / TEAM];
    MEMORY;
    const tick_t now = m->clock->now + argument;
    uint32_t item = (uint32_t)get_local_id(0), group = (uint32_t)get_group_id(0);
#ifdef ONE_KERNEL
    const uint32_t terminal_groups = (uint32_t)((FACT(terminals) + GROUP - 1) / GROUP);
    if (group < terminal_groups) {
        tick_terminal(m, get_global_id(0), now);
        return;
    }
    group -= terminal_groups;
#endif
    const uint32_t router = now <= m->clock->last ? (group * GROUP + item) / TEAM : (uint32_t)FACT(routers);
    router_tick(m, &teams[item / TEAM], router, item % TEAM, now);
}

__kernel void lockstep_terminals(ARGUMENTS)
{
    MEMORY;
    tick_terminal(m, get_global_id(0), m->clock->now + argument);
}

/* Draining begins: what waits at its terminal never enters. */
__kernel void lockstep_withdraw(ARGUMENTS)
{
    MEMORY;
    if (get_global_id(0) < FACT(terminals))
        terminal_withdraw(m, (uint32_t)get_global_id(0));
}

/* Applications do nothing any more. */
__kernel void lockstep_drop_timers(ARGUMENTS)
{
    MEMORY;
    if (get_global_id(0) < FACT(terminals))
        terminal_drop_timers(m, (uint32_t)get_global_id(0));
}

/* Sums over all terminals and routers, see enum LOCKSTEP_SUMS. */
__kernel void lockstep_count(ARGUMENTS)
{
    MEMORY;
    count_all(m);
}

/* The next tick with events, timers among them if the argument says so; and the last one that had any. */
__kernel void lockstep_next(ARGUMENTS)
{
    MEMORY;
    find_next(m, m->clock->now, argument);
}

/* After draining: whether routers are idle. */
__kernel void lockstep_idle(ARGUMENTS)
{
    MEMORY;
    check_idle(m);
}

/* Flits that have left the routers, by port or lane: by every so many lanes. */
__kernel void lockstep_flits(ARGUMENTS)
{
    MEMORY;
    count_flits(m, argument);
}
