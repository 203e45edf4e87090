/* SPDX-License-Identifier: Apache-2.0 */
/* Input-queued routers on a device: what can run, and what their kernel works with. */
#include "device/lockstep.h"

#include "config/registry.h"
#include "network/router/input_queued.h"

/* The setting by which a router cannot do without matchings. */
static const char *unlike_turns(const struct input_queued *q)
{
    const struct input_queued_config *c = &q->config;
    return c->input_picks != PICKS_OUTPUT                                  ? "input_picks"
           : q->lanes > TURNS_MOST || q->ports > WORD_BITS                 ? "num_vcs"
           : q->arbiter != &round_robin_arbiter                            ? "arbiter"
           : c->vc_allocator.component != &round_robin_allocator.component ? "vc_allocator"
                                                                           : "allocator";
}

static bool check_input_queued(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct input_queued *q = network->core->routers;
    const struct input_queued_config *c = &q->config;
    if (q->shares_room)
        return choice_error(errors, self, "buffer_exclusive",
                            "VCs that share a buffer do not run on a device; accepted: its default");
    if (c->input_speedup > 1 || c->output_speedup > 1)
        return choice_error(errors, self, c->input_speedup > 1 ? "input_speedup" : "output_speedup",
                            "a speedup does not run on a device; accepted: 1");
    if (!q->takes_turns)
        return choice_error(errors, self, unlike_turns(q),
                            "runs on a device with round robin in all allocators and the arbiter alone, input_picks "
                            "'output', %u lanes and %u ports; accepted: those",
                            TURNS_MOST, WORD_BITS);
    return true;
}

static void set_facts(struct lockstep *l)
{
    struct lockstep_facts *f = &l->facts;
    const struct input_queued *q = l->network->core->routers;
#define ROUTER_FACT(name) f->name = q->name
    ROUTER_FACT(ports), ROUTER_FACT(num_vcs), ROUTER_FACT(lanes), ROUTER_FACT(ring_mask), ROUTER_FACT(room);
    ROUTER_FACT(depth), ROUTER_FACT(cycle), ROUTER_FACT(routing), ROUTER_FACT(vc_allocation), ROUTER_FACT(to_channel);
    ROUTER_FACT(credit), ROUTER_FACT(next_packet), ROUTER_FACT(busy_after_grant), ROUTER_FACT(vc_needs_credit);
    ROUTER_FACT(stores_packet), ROUTER_FACT(reserves_packet), ROUTER_FACT(needs_room), ROUTER_FACT(credits_wake);
    ROUTER_FACT(ends_in_a_cycle), ROUTER_FACT(steps_each_tick), ROUTER_FACT(locks_outputs), ROUTER_FACT(keeps_outputs);
    ROUTER_FACT(queues_to_send), ROUTER_FACT(outputs_at), ROUTER_FACT(vc_state_at), ROUTER_FACT(switch_state_at);
    ROUTER_FACT(arbiter_state_at), ROUTER_FACT(arbiters_each), ROUTER_FACT(arbiter_port_mask), ROUTER_FACT(free_at_at);
    ROUTER_FACT(locks_at), ROUTER_FACT(credited_at), ROUTER_FACT(rings_at);
    f->stride = q->blocks.stride;
    l->blocks = q->blocks.first;
    l->routes = q->routes;
    l->has_stages = !q->is_usual;
    l->lane_packets = q->depth;
}

/* Steps are in a ring of the same places: a stage ends, at the latest, at the edge behind it. */
static tick_t longest_stay(const struct network *network, const struct link *link)
{
    const struct input_queued *q = network->core->routers;
    tick_t leaves = q->to_channel > q->credit ? q->to_channel : q->credit;
    tick_t stages = q->next_packet + q->routing + q->vc_allocation + 2 * q->cycle;
    leaves = stages > leaves && !q->steps_each_tick ? stages : leaves;
    return leaves + (q->queues_to_send ? (tick_t)q->room * q->num_vcs * link->cycle + link->cycle : 0);
}

const struct lockstep_router lockstep_input_queued = {
    .name = "input_queued",
    .works_in_teams = true,
    .check = check_input_queued,
    .set_facts = set_facts,
    .longest_stay = longest_stay,
};
