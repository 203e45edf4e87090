/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. What every adaptive algorithm shares: reading congestion, gathering candidates
 * and offering those that the reduction finds lightest.
 */
#include "flitwarp/reduction.h"

#if FW_HOST
#include "flitwarp/error.h"

const char *const congestion_mode_names[] = {
    "vc", "port_average", "port_minimum", "port_maximum", "port_total", "offered_sum", NULL};

const struct option reduction_options[] = {
    OPTION_U32(struct reduction_config, max_outputs, "1", 0, MAX_CANDIDATES, "outputs",
               "offered at most, drawn at random among equals; 0: all of them"),
    OPTION_END,
};

const struct option adaptive_options[] = {
    OPTION_ENUM(
        struct adaptive_config, mode, "\"vc\"", congestion_mode_names,
        "what counts as congestion: that of each VC, one value for all VCs of a port, or the sum of those that the "
        "packet may take"),
    OPTION_CHOICE(struct adaptive_config, reduction, "reduction", "\"least_congested\"",
                  "chooses among the candidates"),
    OPTION_END,
};

void adaptive_check(struct routing *routing, const struct choice *self, uint32_t ways, struct errors *errors)
{
    const struct adaptive_config *config = self->config;
    uint32_t classes = routing->classes ? routing->classes : 1;
    uint32_t vcs = config->mode == CONGESTION_VC ? (routing->vcs + classes - 1) / classes : 1;
    uint32_t to_terminal = routing->ejection_channels * (config->mode == CONGESTION_VC ? routing->vcs : 1);
    routing->candidates = ways * vcs > to_terminal ? ways * vcs : to_terminal;
    if ((uint64_t)ways * vcs > MAX_CANDIDATES)
        choice_error(errors, self, NULL,
                     "\"%s\" weighs at most %u candidates at a router, but there may be %llu; mode port_average has "
                     "fewer than vc",
                     self->component->name, MAX_CANDIDATES, (unsigned long long)ways * vcs);
}

#endif

/* How congested `count` lanes in a row seem; without sensors, not at all. */
static inline void read_lanes(const struct route *route, uint32_t router, uint32_t lane, uint32_t count, double *values)
{
    struct congestion *congestion = route->congestion;
    router += route->first_router;
#if FW_HOST
    if (congestion && congestion->ops->values)
        congestion->ops->values(congestion, router, lane, count, route->now, values);
    else
        for (uint32_t i = 0; i < count; i++)
            values[i] = congestion ? congestion->ops->value(congestion, router, lane + i, route->now) : 0;
#else
    CONGESTION_VALUES(congestion, router, lane, count, route->now, values);
#endif
}

/* What some VCs of a port make together; a port as a whole is all its VCs. */
static inline double together(enum congestion_mode mode, const double *values, uint32_t num_vcs, uint64_t vcs)
{
    double least = __builtin_inf(), most = 0, sum = 0;
    if (mode == CONGESTION_VC) {
        for (; vcs; vcs &= vcs - 1)
            least = values[lowest_bit(vcs)] < least ? values[lowest_bit(vcs)] : least;
        return least;
    }
    if (mode == CONGESTION_OFFERED_SUM) {
        for (; vcs; vcs &= vcs - 1)
            sum += values[lowest_bit(vcs)];
        return sum;
    }
    for (uint32_t vc = 0; vc < num_vcs; vc++) {
        least = values[vc] < least ? values[vc] : least;
        most = values[vc] > most ? values[vc] : most;
        sum += values[vc];
    }
    return mode == CONGESTION_PORT_AVERAGE   ? sum / num_vcs
           : mode == CONGESTION_PORT_MAXIMUM ? most
           : mode == CONGESTION_PORT_TOTAL   ? sum
                                             : least;
}

double route_congestion(const struct route *route, enum congestion_mode mode, uint32_t router, uint32_t port,
                        uint64_t vcs)
{
    const struct routing *routing = route->routing;
    uint32_t lane = (routing->local_ports + port) * routing->num_vcs, count = routing->num_vcs;
    double values[WORD_BITS];
    if (mode == CONGESTION_VC || mode == CONGESTION_OFFERED_SUM) { /* only from the first of them to the last */
        lane += routing_first_vc(routing, route->packet) + (uint32_t)lowest_bit(vcs);
        vcs >>= lowest_bit(vcs);
        count = WORD_BITS - (uint32_t)__builtin_clzll(vcs);
    }
    read_lanes(route, router, lane, count, values);
    return together(mode, values, count, vcs);
}

static inline void add_one(struct candidates *candidates, const struct candidate *like, uint32_t port, uint64_t vcs,
                           double congestion)
{
#if FW_HOST
    FW_CHECK(candidates->count < MAX_CANDIDATES, "more than %u candidates", MAX_CANDIDATES);
#endif
    struct candidate *one = &candidates->list[candidates->count++];
    *one = *like;
    one->port = port;
    one->vcs = vcs;
    one->congestion = congestion;
}

/* Adds a port, whose VCs seem as congested as `values` say. */
static inline void add_port(struct candidates *candidates, const struct route *route, enum congestion_mode mode,
                            const struct candidate *like, uint32_t port, const double *values)
{
    const struct routing *routing = route->routing;
    if (mode != CONGESTION_VC) {
        uint64_t vcs = like->vcs << routing_first_vc(routing, route->packet);
        add_one(candidates, like, port, like->vcs, together(mode, values, routing->num_vcs, vcs));
        return;
    }
    const double *of_protocol = values + routing_first_vc(routing, route->packet);
    for (uint64_t left = like->vcs; left; left &= left - 1)
        add_one(candidates, like, port, left & -left, of_protocol[lowest_bit(left)]);
}

void candidates_add_ports(struct candidates *candidates, const struct route *route,
                          FW_GLOBAL const struct adaptive_config *config, const struct candidate *first, uint32_t ports)
{
    const struct routing *routing = route->routing;
    uint32_t num_vcs = routing->num_vcs, at_once = WORD_BITS / num_vcs;
    double values[WORD_BITS];
    for (uint32_t done = 0; done < ports; done += at_once) {
        uint32_t port = first->port + done, count = ports - done < at_once ? ports - done : at_once;
        read_lanes(route, route->router, (routing->local_ports + port) * num_vcs, count * num_vcs, values);
        for (uint32_t i = 0; i < count; i++)
            add_port(candidates, route, config->mode, first, port + i, values + i * num_vcs);
    }
}

void candidates_add(struct candidates *candidates, const struct route *route,
                    FW_GLOBAL const struct adaptive_config *config, const struct candidate *candidate)
{
    candidates_add_ports(candidates, route, config, candidate, 1);
}

/* Ports to terminals lie in front of those between routers, from which candidates count: theirs wrap around. */
void candidates_add_terminal(struct candidates *candidates, const struct route *route,
                             FW_GLOBAL const struct adaptive_config *config)
{
    const struct routing *routing = route->routing;
    uint32_t port = routing->terminal_slot[route->packet->destination] * routing->terminal_ports;
    const struct candidate first = {
        .vcs = bits_range(0, routing->vcs), .port = port - routing->local_ports, .hops = 1, .is_minimal = true};
    candidates_add_ports(candidates, route, config, &first, routing->ejection_channels);
}

/* What the reduction says. */
static inline double candidate_weight(const struct route *route, FW_GLOBAL const struct choice *reduction,
                                      const struct candidate *candidate)
{
#if FW_HOST
    (void)route;
    return CHOICE_OPS(reduction, struct reduction_ops)->weight(reduction->config, candidate);
#else
    return REDUCTION_WEIGHT(FW_AT(const void, route->routing, reduction->config), candidate);
#endif
}

/* Moves the lightest to the front; while routes are checked, all that could be. Returns how many. */
static uint32_t find_lightest(struct candidates *candidates, const struct route *route,
                              FW_GLOBAL const struct choice *reduction, bool is_checked)
{
    double lightest = __builtin_inf();
    uint32_t count = 0;
    for (uint32_t i = 0; i < candidates->count; i++) {
        double weight = candidate_weight(route, reduction, &candidates->list[i]);
        if (weight < lightest && (!is_checked || lightest == __builtin_inf()))
            count = 0;
        if (weight <= lightest || (is_checked && weight < __builtin_inf()))
            candidates->list[count++] = candidates->list[i];
        lightest = weight < lightest ? weight : lightest;
    }
    return count;
}

void candidates_offer(struct candidates *candidates, struct route *route,
                      FW_GLOBAL const struct adaptive_config *config)
{
    FW_GLOBAL const struct reduction_config *reduction =
        FW_AT(const struct reduction_config, route->routing, config->reduction.config);
    bool is_checked = route_is_checked(route);
    uint32_t count = find_lightest(candidates, route, &config->reduction, is_checked);
#if FW_HOST
    FW_CHECK(count > 0, "no candidate at router %u", route->router);
#endif
    uint32_t wanted = is_checked ? 1 : reduction->max_outputs;
    if (wanted == 0 || wanted > count)
        wanted = count;
    for (; wanted > 0; wanted--, count--) {
        uint32_t chosen = wanted < count ? route_pick(route, count) : count - 1;
        route_add_vcs(route, candidates->list[chosen].port, candidates->list[chosen].vcs);
        candidates->list[chosen] = candidates->list[count - 1];
    }
}
