/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of the Omni-Path router: those of OPASim's report, section 2.3 and
 * Table 1, with its defaults, and what it leaves open. docs/omnipath.md has them side
 * by side.
 */
#include "network/router/omnipath.h"

static const char *const queue_unit_names[] = {"credits", "flits", NULL};
static const char *const candidates_names[] = {"one", "all", NULL};

#define LATENCY(field, fallback, least, help)                                                                          \
    OPTION_U32(struct omnipath_config, field, fallback, least, 10000, "cycles", help)

const struct option omnipath_options[] = {
    OPTION_U32(struct omnipath_config, ports, "null", 8, 4096, NULL,
               "ports, a multiple of 4; null: as many as the topology needs, in whole MPorts, at least 8"),
    OPTION_U32(struct omnipath_config, num_vcs, "8", 1, 64, NULL, "virtual lanes of each port"),
    OPTION_U32(struct omnipath_config, queue_size, "256", 1, 65535, NULL,
               "room of each input and output buffer, in the unit of queue_unit"),
    OPTION_ENUM(struct omnipath_config, queue_unit, "\"credits\"", queue_unit_names, "what queue_size counts"),
    OPTION_U32(struct omnipath_config, central_queue_size, "null", 1, 65535, NULL,
               "room of each central buffer, in the same unit; null: queue_size"),
    OPTION_U32(struct omnipath_config, flits_per_credit, "4", 1, 255, "flits", "that a credit stands for"),
    OPTION_U32(struct omnipath_config, exclusive_credits, "16", 1, 65535, "credits",
               "of a buffer that belong to each lane alone"),
    OPTION_U32(struct omnipath_config, max_credits, "48", 1, 65535, "credits", "of a buffer that a lane may have"),
    OPTION_TICKS(struct omnipath_config, cycle, "1", 1, 1000000, "clock of the router"),
    LATENCY(input_latency, "50", 0, "to store a flit in an input buffer"),
    LATENCY(routing_latency, "32", 0, "to route a packet's head"),
    LATENCY(mport_arbitration_latency, "8", 0, "to arbitrate for the crossbar of an MPort"),
    LATENCY(mport_crossbar_latency, "2", 1, "to cross the crossbar of an MPort"),
    LATENCY(central_arbitration_latency, "8", 0, "to arbitrate for the central crossbar"),
    LATENCY(central_crossbar_latency, "2", 1, "to cross the central crossbar"),
    LATENCY(output_latency, "50", 0, "to store a flit in an output buffer"),
    LATENCY(credit_latency, "0", 0, "to process a credit, beyond the channel's latency"),
    OPTION_U32(struct omnipath_config, mport_speedup, "3", 1, 255, "flits",
               "that a crossbar of an MPort moves from an input to a central buffer in a cycle"),
    OPTION_U32(struct omnipath_config, local_speedup, "3", 1, 255, "flits",
               "and to an output buffer of the same MPort"),
    OPTION_U32(struct omnipath_config, central_speedup, "4", 1, 255, "flits",
               "that the central crossbar moves from a central to an output buffer in a cycle"),
    OPTION_BOOL(struct omnipath_config, pipelined_arbitration, "false",
                "a buffer arbitrates for packets behind the one that crosses; else it begins when that is through"),
    OPTION_ENUM(struct omnipath_config, candidates, "\"one\"", candidates_names,
                "lanes of a buffer that take part in an allocation: the one that its arbiter names, or all"),
    OPTION_CHOICE(struct omnipath_config, allocator, "allocator", "\"round_robin\"",
                  "matches input and central buffers with central and output buffers"),
    OPTION_CHOICE(struct omnipath_config, arbiter, "arbiter", "\"round_robin\"",
                  "picks among a buffer's lanes whose packets can cross"),
    OPTION_CHOICE(struct omnipath_config, output_arbiter, "arbiter", "\"round_robin\"",
                  "picks among an output's lanes that can send"),
    OPTION_CHOICE(struct omnipath_config, congestion, "congestion", "\"buffer_occupancy\"",
                  "what adaptive routing sees of the outputs"),
    OPTION_END,
};

static uint32_t in_credits(const struct omnipath_config *c, uint32_t queue_size)
{
    return c->queue_unit == QUEUE_FLITS ? queue_size / c->flits_per_credit : queue_size;
}

static void check_room(const struct choice *self, const char *key, uint32_t queue_size, struct errors *errors)
{
    const struct omnipath_config *c = self->config;
    uint64_t own = (uint64_t)c->num_vcs * c->exclusive_credits;
    if (own > in_credits(c, queue_size))
        choice_error(errors, self, key,
                     "%u %s hold %u credits of %u flits, but %u lanes have %u each for themselves; accepted: "
                     "%llu credits or more",
                     queue_size, queue_unit_names[c->queue_unit], in_credits(c, queue_size), c->flits_per_credit,
                     c->num_vcs, c->exclusive_credits, (unsigned long long)own);
    else if ((uint64_t)in_credits(c, queue_size) * c->flits_per_credit > UINT16_MAX)
        choice_error(errors, self, key, "%u %s are %llu flits; accepted: at most %u", queue_size,
                     queue_unit_names[c->queue_unit],
                     (unsigned long long)in_credits(c, queue_size) * c->flits_per_credit, UINT16_MAX);
    else if (c->max_credits > in_credits(c, queue_size))
        choice_error(errors, self, "max_credits", "%u, but %s is %u credits; accepted: exclusive_credits (%u) to that",
                     c->max_credits, key, in_credits(c, queue_size), c->exclusive_credits);
}

static void check_settings(const struct choice *self, struct errors *errors)
{
    const struct omnipath_config *c = self->config;
    if (c->ports % MPORT_PORTS)
        choice_error(errors, self, "ports", "%u is no multiple of 4, the ports of an MPort; accepted: %u or %u, say",
                     c->ports, c->ports / MPORT_PORTS * MPORT_PORTS,
                     c->ports / MPORT_PORTS * MPORT_PORTS + MPORT_PORTS);
    if (c->max_credits < c->exclusive_credits)
        choice_error(errors, self, "max_credits", "%u is below exclusive_credits (%u)", c->max_credits,
                     c->exclusive_credits);
    check_room(self, "queue_size", c->queue_size, errors);
    if (c->central_queue_size)
        check_room(self, "central_queue_size", c->central_queue_size, errors);
}

/* What terminals need to know of the buffers that they fill. */
void omnipath_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *plan, struct errors *errors)
{
    const struct omnipath_config *c = self->config;
    (void)flit_bytes;
    check_settings(self, errors);
    plan->num_vcs = c->num_vcs;
    plan->buffer_depth =
        in_credits(c, c->queue_size) * c->flits_per_credit / c->num_vcs; /* if all lanes had the same */
    plan->reserves_packet = true;
    plan->room_exclusive = c->exclusive_credits * c->flits_per_credit;
    plan->room_maximum = c->max_credits * c->flits_per_credit;
    plan->credit_flits = c->flits_per_credit;
    /* A packet that fits a lane's own share never waits for other lanes' packets to leave a buffer. */
    plan->max_packet = plan->room_exclusive;
    plan->max_packet_key = "exclusive_credits";
}

struct shared_room_rule omnipath_rule(const struct omnipath_config *c, bool of_central)
{
    return (struct shared_room_rule){
        .vcs = c->num_vcs,
        .total = in_credits(c, of_central && c->central_queue_size ? c->central_queue_size : c->queue_size),
        .exclusive = c->exclusive_credits,
        .maximum = c->max_credits,
    };
}
