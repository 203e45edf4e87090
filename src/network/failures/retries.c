/* SPDX-License-Identifier: Apache-2.0 */
/* Channels with errors, see retries.h. */
#include "network/failures/retries.h"

#include "config/json.h"
#include "network/failures/failures.h"

#include <math.h>
#include <string.h>

struct retried {
    struct random random;
    double log_of_rest;  /* of the probability that a flit is not hit */
    uint64_t until_hit;  /* flits to be sent up to the next one that is */
    uint64_t count;      /* of those that were */
    tick_t free_at;      /* when the next flit may arrive */
    uint32_t round_trip; /* ticks */
    uint32_t cycle, lag; /* between flits on the channel, and when the router is told of a chunk: see network_lag() */
};

struct retries {
    uint32_t
        *numbers; /* by router * ports + port where flits come in, as the topology counts ports; FW_NONE: no errors */
    struct retried *channels;
    uint32_t count;
};

/* log(1 - x): for small x what is left of 1 - x is too coarse. */
static double log_of_rest(double x)
{
    double series = 0;
    if (x > 0x1p-10)
        return exact_log(1 - x);
    for (int power = 6; power >= 1; power--)
        series = series * x + 1.0 / power;
    return 0.0 - x * series;
}

/* The logarithm of the probability that none of so many bits is hit. */
static double log_of_no_hit(double bit_error_rate, uint64_t bits) { return (double)bits * log_of_rest(bit_error_rate); }

static void add_channel(struct network *network, const struct router_channel *at, double bit_error_rate)
{
    const struct topology *topology = &network->topology;
    struct retries *retries = network->retries;
    uint64_t name = (uint64_t)at->from.router * topology->ports + at->from.port;
    uint32_t cycle = channel_cycle(&network->core->latencies, at->from.router, at->from.port);
    struct retried *channel = &retries->channels[retries->count];
    *channel = (struct retried){
        .random = random_stream(network->seed, name, RANDOM_RETRY),
        .log_of_rest = log_of_no_hit(bit_error_rate, 8 * (uint64_t)network->core->config->flit_bytes),
        .round_trip = 2 * at->latency,
        .cycle = cycle,
        .lag = network->plan.transfer.chunk ? network_lag(network, at->to.router, cycle) : 0,
    };
    channel->until_hit = random_geometric(&channel->random, channel->log_of_rest);
    retries->numbers[(size_t)at->to.router * topology->ports + at->to.port] = retries->count++;
}

/* For send_flit(), which asks no more than where there are parts: routers with such channels are in none. */
static void mark_routers(struct network *network)
{
    const struct topology *topology = &network->topology;
    uint16_t *part = arena_array(network->arena, uint16_t, topology->routers);
    uint16_t *terminal_part = arena_array(network->arena, uint16_t, topology->terminals);
    if (network->router_part) {
        memcpy(part, network->router_part, topology->routers * sizeof *part);
        memcpy(terminal_part, network->terminal_part, topology->terminals * sizeof *part);
    }
    for (size_t i = 0; i < (size_t)topology->routers * topology->ports; i++)
        if (network->retries->numbers[i] != FW_NONE)
            part[i / topology->ports] = UINT16_MAX;
    network->flit_router_part = part;
    network->flit_terminal_part = terminal_part;
}

/* A channel on which nothing comes through is dead, and should be said to be. */
static bool check_rates(const struct network *network, struct errors *errors)
{
    const struct failures *failures = network->core->failures;
    const double least = exact_log(0.001);
    uint64_t bits = 8 * (uint64_t)network->core->config->flit_bytes;
    for (uint32_t i = 0; i < failures->slow_count; i++) {
        double rate = failures->slow[i].damage.bit_error_rate;
        if (rate > 0 && log_of_no_hit(rate, bits) < least)
            return node_error(errors, network_node(network->core->config, "failures"), "bit_error_rate",
                              "at %g less than one flit of %llu bits in 1000 comes through; accepted: up to %.3g", rate,
                              (unsigned long long)bits, -expm1(least / (double)bits));
    }
    return true;
}

static bool has_any(const struct failures *failures)
{
    for (uint32_t i = 0; failures && i < failures->slow_count; i++)
        if (failures->slow[i].damage.bit_error_rate > 0)
            return true;
    return false;
}

bool retries_build(struct network *network, struct errors *errors)
{
    const struct failures *failures = network->core->failures;
    if (!has_any(failures))
        return true;
    if (!check_rates(network, errors))
        return false;
    size_t ports = (size_t)network->topology.routers * network->topology.ports;
    struct retries *retries = arena_array(network->arena, struct retries, 1);
    retries->numbers = arena_array(network->arena, uint32_t, ports);
    retries->channels = arena_array(network->arena, struct retried, failures->slow_count);
    for (size_t i = 0; i < ports; i++)
        retries->numbers[i] = FW_NONE;
    network->retries = retries;
    for (struct router_channel at = {0}; network_next_channel(network, &at);) {
        const struct failure_damage *damage = failures_slow(failures, at.from.router, at.from.port);
        if (damage && damage->bit_error_rate > 0)
            add_channel(network, &at, damage->bit_error_rate);
    }
    mark_routers(network);
    return true;
}

/* The channel that a lane of a router is filled by; NULL: it has no errors. */
static struct retried *channel_to(const struct network *network, uint32_t router, uint32_t lane)
{
    uint32_t port = lane / network->num_vcs, local_ports = network->routing.local_ports;
    if (port < local_ports)
        return NULL;
    uint32_t number = network->retries->numbers[(size_t)router * network->topology.ports + port - local_ports];
    return number == FW_NONE ? NULL : &network->retries->channels[number];
}

bool network_has_errors(const struct network *network, const struct link *link)
{
    return network->retries && !link->to_terminal && link->target != FW_NONE &&
           channel_to(network, link->target, link->first_lane);
}

/* Ticks that it takes to send again those of so many flits that are hit, and those that are hit again. */
static tick_t send_again(struct retried *channel, uint64_t flits)
{
    tick_t wait = 0;
    for (; channel->until_hit <= flits; channel->count++) {
        flits -= channel->until_hit - 1;
        wait += channel->round_trip;
        channel->until_hit = random_geometric(&channel->random, channel->log_of_rest);
    }
    channel->until_hit -= flits;
    return wait;
}

tick_t network_arrival(const struct network *network, uint32_t kind, struct lane_place to, struct flit flit,
                       tick_t arrival)
{
    struct retried *channel = kind == EVENT_FLIT ? channel_to(network, to.target, to.lane) : NULL;
    uint32_t flits = 1;
    if (!channel)
        return arrival;
    if (network->plan.transfer.chunk)
        flits =
            transfer_flits(&network->plan.transfer, network_packet(network, flit.packet), flit.place & FLIT_POSITION);
    tick_t behind = (tick_t)(flits - 1) * channel->lag, first = arrival - behind;
    first = first > channel->free_at ? first : channel->free_at;
    tick_t wait = send_again(channel, flits);
    channel->free_at = first + wait + (tick_t)flits * channel->cycle;
    if (wait && network_is_traced(network, flit.packet))
        network_trace(network, network->engine->now, to.target, "retry", "flit %u comes %llu ticks later, at %llu",
                      flit.place & FLIT_POSITION, (unsigned long long)(first + wait + behind - arrival),
                      (unsigned long long)(first + wait + behind));
    return first + wait + behind;
}

uint64_t retries_count(const struct network *network)
{
    uint64_t count = 0;
    for (uint32_t i = 0; network->retries && i < network->retries->count; i++)
        count += network->retries->channels[i].count;
    return count;
}
