/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. What every adaptive algorithm shares: reading congestion, gathering candidates
 * and offering those that the reduction finds lightest.
 */
#include "flitwarp/reduction.h"
#include "flitwarp/route_table.h"

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

double route_congestion_of_vcs(const struct route *route, enum congestion_mode mode, uint32_t router, uint32_t port,
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

/* Adds a port, whose VCs seem as congested as `values` say. */
static inline void add_port(struct candidates *candidates, const struct route *route, enum congestion_mode mode,
                            const struct candidate *like, uint32_t port, const double *values)
{
    uint32_t first_vc = routing_first_vc(route->routing, route->packet);
    struct candidate *one = &candidates->list[candidates->count];
    if (mode != CONGESTION_VC) {
        *one = *like;
        one->port = port;
        one->congestion = together(mode, values, route->routing->num_vcs, like->vcs << first_vc);
        candidates->count++;
        return;
    }
    for (uint64_t left = like->vcs; left; left &= left - 1, one++, candidates->count++) {
        *one = *like;
        one->port = port;
        one->vcs = left & -left;
        one->congestion = values[first_vc + lowest_bit(left)];
    }
}

void candidates_add_ports(struct candidates *candidates, const struct route *route,
                          FW_GLOBAL const struct adaptive_config *config, const struct candidate *first, uint32_t ports)
{
    const struct routing *routing = route->routing;
    uint32_t num_vcs = routing->num_vcs, at_once = WORD_BITS / num_vcs;
    double values[WORD_BITS];
#if FW_HOST
    uint32_t each = config->mode == CONGESTION_VC ? (uint32_t)__builtin_popcountll(first->vcs) : 1;
    FW_CHECK(candidates->count + (uint64_t)ports * each <= MAX_CANDIDATES, "more than %u candidates", MAX_CANDIDATES);
#endif
    for (uint32_t done = 0; done < ports; done += at_once) {
        uint32_t port = first->port + done, count = ports - done < at_once ? ports - done : at_once;
        read_lanes(route, route->router, (routing->local_ports + port) * num_vcs, count * num_vcs, values);
        for (uint32_t i = 0; i < count; i++)
            add_port(candidates, route, (enum congestion_mode)config->mode, first, port + i, values + i * num_vcs);
    }
}

void candidates_add(struct candidates *candidates, const struct route *route,
                    FW_GLOBAL const struct adaptive_config *config, const struct candidate *candidate)
{
    candidates_add_ports(candidates, route, config, candidate, 1);
}

/* Ports to terminals lie in front of those between routers, from which candidates count: theirs wrap around. */
void candidates_add_list(struct candidates *candidates, const struct route *route,
                         FW_GLOBAL const struct adaptive_config *config, FW_GLOBAL const uint32_t *list, uint64_t vcs)
{
    struct candidate candidate = {.vcs = vcs, .hops = (uint16_t)list[ROUTE_TABLE_DISTANCE], .is_minimal = true};
    for (uint32_t i = 0; i < list[ROUTE_TABLE_COUNT]; i++) {
        candidate.port = list[ROUTE_TABLE_PORTS + i];
        candidates_add(candidates, route, config, &candidate);
    }
}

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
    const struct reduction_ops *ops = CHOICE_OPS(reduction, struct reduction_ops);
    if (ops->weight == least_congested_weight) /* known by heart */
        return weight_if_minimal(candidate);
    return ops->weight(reduction->config, candidate);
#else
    return REDUCTION_WEIGHT(FW_AT(const void, route->routing, reduction->config), candidate);
#endif
}

/* Lists the lightest, by their places; while routes are checked, all that could be. Returns how many. */
static inline uint32_t find_lightest(const struct candidates *candidates, const struct route *route,
                                     FW_GLOBAL const struct choice *reduction, uint16_t *lightest)
{
    double least = __builtin_inf();
    uint32_t count = 0;
    for (uint32_t i = 0; i < candidates->count; i++) {
        double weight = candidate_weight(route, reduction, &candidates->list[i]);
        if (route_is_checked(route)) { /* an infinite one only while there is no other */
            bool is_first = weight < least && least == __builtin_inf();
            count = is_first ? 0 : count;
            if (weight < __builtin_inf() || least == __builtin_inf())
                lightest[count++] = (uint16_t)i;
        } else {
            count = weight < least ? 0 : count;
            lightest[count] = (uint16_t)i;
            count += weight <= least;
        }
        least = weight < least ? weight : least;
    }
    return count;
}

void candidates_offer(struct candidates *candidates, struct route *route,
                      FW_GLOBAL const struct adaptive_config *config)
{
    FW_GLOBAL const struct reduction_config *reduction =
        FW_AT(const struct reduction_config, route->routing, config->reduction.config);
    uint16_t lightest[MAX_CANDIDATES];
    uint32_t count = find_lightest(candidates, route, &config->reduction, lightest);
#if FW_HOST
    FW_CHECK(count > 0, "no candidate at router %u", route->router);
#endif
    uint32_t wanted = route_is_checked(route) ? 1 : reduction->max_outputs;
    if (wanted == 0 || wanted > count)
        wanted = count;
    for (; wanted > 0; wanted--, count--) {
        uint32_t chosen = wanted < count ? route_pick(route, count) : count - 1;
        const struct candidate *offered = &candidates->list[lightest[chosen]];
        route_add_vcs(route, offered->port, offered->vcs);
        lightest[chosen] = lightest[count - 1];
    }
}

#if FW_HOST
/* The usual question: minimal ways alone, and the one VC that is least congested. No list is made where a word holds all. */
static bool offers_least(const struct route *route, const struct adaptive_config *config, const struct candidate *first,
                         uint32_t ports)
{
    const struct reduction_config *reduction = config->reduction.config;
    return config->mode == CONGESTION_VC && reduction->max_outputs == 1 && first->is_minimal &&
           ports * route->routing->num_vcs <= WORD_BITS && !route_is_checked(route) &&
           CHOICE_OPS(&config->reduction, struct reduction_ops)->weight == least_congested_weight;
}

/* Of some lanes, a bit each from `lane` on, those that seem least congested. */
static uint64_t least_by_values(const struct route *route, uint32_t lane, uint64_t asked)
{
    double values[WORD_BITS], least = __builtin_inf();
    uint64_t lightest = 0;
    read_lanes(route, route->router, lane, WORD_BITS - (uint32_t)__builtin_clzll(asked), values);
    for (; asked; asked &= asked - 1) {
        double value = values[lowest_bit(asked)];
        if (value > least)
            continue;
        lightest = value < least ? 0 : lightest;
        lightest |= asked & -asked;
        least = value;
    }
    return lightest;
}

static void offer_least(struct route *route, const struct candidate *first, uint32_t ports)
{
    const struct routing *routing = route->routing;
    struct congestion *sensors = route->congestion;
    uint32_t num_vcs = routing->num_vcs, first_vc = routing_first_vc(routing, route->packet),
             from = (routing->local_ports + first->port) * num_vcs;
    uint64_t asked = 0, lightest = 0;
    if (first->vcs == bits_range(0, num_vcs))
        asked = bits_range(0, ports * num_vcs);
    else
        for (uint32_t lane = first_vc; lane < ports * num_vcs; lane += num_vcs)
            asked |= first->vcs << lane;
    if (sensors && sensors->ops->least)
        lightest = sensors->ops->least(sensors, route->first_router + route->router, from, asked, route->now);
    if (!lightest)
        lightest = least_by_values(route, from, asked);
    uint32_t count = (uint32_t)__builtin_popcountll(lightest);
    for (uint32_t chosen = count > 1 ? route_pick(route, count) : 0; chosen > 0; chosen--)
        lightest &= lightest - 1;
    uint32_t lane = (uint32_t)lowest_bit(lightest);
    bits_add_word(route->vcs, from + lane - first_vc, 1);
}
#endif

FW_SELDOM void offer_by_list(struct route *route, FW_GLOBAL const struct adaptive_config *config,
                             const struct candidate *first, uint32_t ports)
{
    struct candidates candidates;
    candidates.count = 0;
    candidates_add_ports(&candidates, route, config, first, ports);
    candidates_offer(&candidates, route, config);
}

void candidates_offer_ports(struct route *route, FW_GLOBAL const struct adaptive_config *config,
                            const struct candidate *first, uint32_t ports)
{
#if FW_HOST
    if (offers_least(route, config, first, ports)) {
        offer_least(route, first, ports);
        return;
    }
#endif
    offer_by_list(route, config, first, ports);
}
