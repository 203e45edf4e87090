/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every adaptive algorithm shares: reading congestion, gathering candidates
 * and offering those that the reduction finds lightest.
 */
#include "flitwarp/error.h"
#include "flitwarp/reduction.h"

const char *const congestion_mode_names[] = {"vc", "port_average", "port_minimum", "port_maximum", NULL};

static double lane_value(const struct route *route, uint32_t router, uint32_t lane)
{
    return route->congestion->ops->value(route->congestion, route->first_router + router, lane, route->now);
}

double route_congestion(const struct route *route, enum congestion_mode mode, uint32_t router, uint32_t port,
                        uint64_t vcs)
{
    if (!route->congestion)
        return 0;
    const struct routing *routing = route->routing;
    uint32_t num_vcs = routing->num_vcs, first = (routing->local_ports + port) * num_vcs;
    double least = INFINITY, most = 0, sum = 0;
    vcs = mode == CONGESTION_VC ? vcs << route->packet->protocol * routing->vcs : bits_range(0, num_vcs);
    BITS_EACH(vc, &vcs, 1) {
        double value = lane_value(route, router, first + (uint32_t)vc);
        least = value < least ? value : least;
        most = value > most ? value : most;
        sum += value;
    }
    return mode == CONGESTION_PORT_AVERAGE ? sum / num_vcs : mode == CONGESTION_PORT_MAXIMUM ? most : least;
}

void adaptive_check(const struct routing *routing, const struct choice *self, uint32_t ways, struct errors *errors)
{
    const struct adaptive_config *config = self->config;
    uint32_t classes = routing->classes ? routing->classes : 1;
    uint32_t vcs = config->mode == CONGESTION_VC ? (routing->vcs + classes - 1) / classes : 1;
    if ((uint64_t)ways * vcs > MAX_CANDIDATES)
        choice_error(errors, self, NULL,
                     "\"%s\" weighs at most %u candidates at a router, but there may be %llu; mode port_average has "
                     "fewer than vc",
                     self->component->name, MAX_CANDIDATES, (unsigned long long)ways * vcs);
}

static void add_one(struct candidates *candidates, const struct route *route, enum congestion_mode mode,
                    struct candidate candidate)
{
    CHECK(candidates->count < MAX_CANDIDATES, "more than %u candidates", MAX_CANDIDATES);
    candidate.congestion = route_congestion(route, mode, route->router, candidate.port, candidate.vcs);
    candidates->list[candidates->count++] = candidate;
}

void candidates_add(struct candidates *candidates, const struct route *route, const struct adaptive_config *config,
                    const struct candidate *candidate)
{
    struct candidate one = *candidate;
    if (config->mode != CONGESTION_VC)
        add_one(candidates, route, config->mode, one);
    else
        BITS_EACH(vc, &candidate->vcs, 1) {
            one.vcs = bit((uint32_t)vc);
            add_one(candidates, route, config->mode, one);
        }
}

/* Moves the lightest to the front; while routes are checked, all that could be. Returns how many. */
static uint32_t find_lightest(struct candidates *candidates, const struct choice *reduction, bool is_checked)
{
    const struct reduction_ops *ops = CHOICE_OPS(reduction, struct reduction_ops);
    double lightest = INFINITY;
    uint32_t count = 0;
    for (uint32_t i = 0; i < candidates->count; i++) {
        double weight = ops->weight(reduction->config, &candidates->list[i]);
        if (weight < lightest && (!is_checked || lightest == INFINITY))
            count = 0;
        if (weight <= lightest || (is_checked && weight < INFINITY))
            candidates->list[count++] = candidates->list[i];
        lightest = weight < lightest ? weight : lightest;
    }
    return count;
}

void candidates_offer(struct candidates *candidates, struct route *route, const struct adaptive_config *config)
{
    const struct reduction_config *reduction = config->reduction.config;
    bool is_checked = route_is_checked(route);
    uint32_t count = find_lightest(candidates, &config->reduction, is_checked);
    CHECK(count > 0, "no candidate at router %u", route->router);
    uint32_t wanted = is_checked ? 1 : reduction->max_outputs;
    if (wanted == 0 || wanted > count)
        wanted = count;
    for (; wanted > 0; wanted--, count--) {
        uint32_t chosen = wanted < count ? route_pick(route, count) : count - 1;
        route_add_vcs(route, candidates->list[chosen].port, candidates->list[chosen].vcs);
        candidates->list[chosen] = candidates->list[count - 1];
    }
}
