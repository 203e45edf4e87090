/* SPDX-License-Identifier: Apache-2.0 */
/* Packet routers on a device: what can run, and what their kernel works with. */
#include "device/lockstep.h"

#include "flitwarp/steady.h"
#include "network/router/packet.h"

#define MOST_LANES 1024u /* of a router: whoever works on it has copies of its sets for himself */

static bool check_packet(const struct network *network, const struct choice *self, struct errors *errors)
{
    const struct packets *q = network->core->routers;
    return q->lanes <= MOST_LANES ||
           choice_error(errors, self, "num_vcs", "%u lanes of a router do not run on a device; accepted: at most %u",
                        q->lanes, MOST_LANES);
}

/* ---- the smallest that moves at once, which says how many there can be ---- */

/* Of what is cut into parts. */
static uint32_t least_part(uint32_t flits, uint32_t most)
{
    return flits < most ? flits : flits % most ? flits % most : most;
}

/* Of messages of a size, if they all have it. */
static uint32_t least_of_size(const struct size *size, uint32_t max_packet, uint32_t chunk)
{
    if (size->ops->reply || size->mean < size->max)
        return 1;
    uint32_t last = least_part(size->max, max_packet), first = size->max < max_packet ? size->max : max_packet;
    uint32_t of_last = least_part(last, chunk), of_first = least_part(first, chunk);
    return of_last < of_first ? of_last : of_first;
}

static uint32_t least_chunk(const struct lockstep *l)
{
    uint32_t chunk = l->network->plan.transfer.chunk, least = chunk;
    for (uint32_t i = 0; i < l->workload->count; i++) {
        const struct steady *steady = l->workload->applications[i].state;
        const struct steady_config *config = l->workload->applications[i].config;
        uint32_t requests = least_of_size(&steady->size, config->common.max_packet, chunk);
        uint32_t replies =
            steady->reply.ops ? least_of_size(&steady->reply, config->common.max_packet, chunk) : requests;
        least = requests < least ? requests : least;
        least = replies < least ? replies : least;
    }
    return least;
}

static void set_facts(struct lockstep *l)
{
    struct lockstep_facts *f = &l->facts;
    const struct packets *q = l->network->core->routers;
#define ROUTER_FACT(name) f->name = q->name
    ROUTER_FACT(ports), ROUTER_FACT(num_vcs), ROUTER_FACT(lanes), ROUTER_FACT(depth), ROUTER_FACT(stride);
    ROUTER_FACT(inputs_at), ROUTER_FACT(ports_at), ROUTER_FACT(port_stride), ROUTER_FACT(waits_at);
    ROUTER_FACT(owners_at), ROUTER_FACT(lines_at), ROUTER_FACT(divides), ROUTER_FACT(by_output);
    ROUTER_FACT(whole_for_room);
    f->steps_each_tick = true; /* none is posted for later */
    l->blocks = q->blocks;
    l->routes = q->wants;
    l->lane_packets = q->depth / least_chunk(l);
    f->chunk = l->network->plan.transfer.chunk;
    f->sending_places = (uint64_t)q->num_vcs * l->lane_packets;
}

/* Who waits for a channel does so outside of its ring. */
static tick_t longest_stay(const struct network *network, const struct link *link)
{
    const struct packet_config *c = network->core->config->router.config;
    tick_t credit = (tick_t)c->credit_latency * c->cycle, delay = network->plan.transfer.delay;
    (void)link;
    return credit > delay ? credit : delay;
}

const struct lockstep_router lockstep_packet = {
    .name = "packet",
    .defines = "PACKET_ROUTER",
    .check = check_packet,
    .set_facts = set_facts,
    .longest_stay = longest_stay,
};
