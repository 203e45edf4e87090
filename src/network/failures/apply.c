/* SPDX-License-Identifier: Apache-2.0 */
/* What the settings say has failed, taken from a network that is being built: from all of it, and from each plane. */
#include "network/network.h"

static const struct json *failures_node(const struct network_config *config)
{
    return network_node(config, "failures");
}

/* By plane; NULL where nothing is dead in any. */
static const struct topology **damage_planes(const struct network *network, const struct failures *failures)
{
    const struct topology *one = &network->core->planes->one;
    const struct topology **left = arena_array(network->arena, const struct topology *, network->plane_count);
    bool is_any = false;
    for (uint32_t plane = 0; plane < network->plane_count; plane++) {
        left[plane] = failures_damage(failures, one, plane * one->routers, FOR_GOOD, network->arena);
        is_any |= left[plane] != one;
    }
    return is_any ? left : NULL;
}

bool network_damage(struct network *network, struct errors *errors)
{
    struct network_core *core = network->core;
    struct failures *failures = arena_array(network->arena, struct failures, 1);
    struct topology *whole = arena_array(network->arena, struct topology, 1);
    *whole = network->topology;
    if (!failures_resolve(failures, &core->config->failures, failures_node(core->config), whole, network->arena,
                          errors))
        return false;
    if (!failures->is_asked)
        return true;
    core->failures = failures;
    core->latencies.topology = whole;
    core->latencies.slow = failures->slow_count ? failures : NULL;
    network->topology = *failures_damage(failures, whole, 0, FOR_GOOD, network->arena);
    if (core->planes)
        core->planes->left = damage_planes(network, failures);
    return failures_check_slow(failures, &core->latencies, failures_node(core->config), errors);
}
