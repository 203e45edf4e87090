/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The levels of service of a network. Protocol classes have VCs of their own; a level
 * is one class or several (the requests and replies of an application, say), and has
 * their VCs.
 */
#include "network/network.h"

static const char *const arbitration_names[] = {"alike", "weighted", "strict", NULL};

const struct option service_options[] = {
    OPTION_U32_LIST(struct service_config, levels, "[]", 0, MAX_LEVELS - 1, NULL,
                    "level of each protocol class, 0 the highest; empty: all are of one"),
    OPTION_ENUM(struct service_config, arbitration, "\"strict\"", arbitration_names,
                "how levels share channels and crossbars: no difference, by weights, or the higher one first",
                ONLY_WITH("levels")),
    OPTION_U32_LIST(struct service_config, weights, "[]", 1, 65535, NULL, "of each level, with weighted arbitration"),
    OPTION_BOOL(
        struct service_config, preemption, "false",
        "interrupt a packet between flits for one of a higher level, where a channel is given to whole packets"),
    OPTION_END,
};

static bool check_levels(const struct network *network, uint32_t levels, struct errors *errors)
{
    const struct service_config *c = &network->core->config->service;
    const struct json *node = network_node(network->core->config, "service");
    if (c->levels.count != network->core->config->protocol_classes)
        return node_error(errors, node, "levels", "%u levels, expected one for each of network.protocol_classes (%u)",
                          c->levels.count, network->core->config->protocol_classes);
    uint64_t used = 0;
    for (uint32_t class = 0; class < c->levels.count; class ++)
        used |= bit(c->levels.items[class]);
    if (used != bits_range(0, levels))
        return node_error(errors, node, "levels", "no protocol class is of level %u, but one is of level %u",
                          (uint32_t)lowest_bit(~used), levels - 1);
    return true;
}

/* Settings that would say nothing, or that the router does not follow. */
static bool check_arbitration(const struct network *network, uint32_t levels, struct errors *errors)
{
    const struct service_config *c = &network->core->config->service;
    const struct json *node = network_node(network->core->config, "service");
    uint32_t before = errors->count, expected = c->arbitration == LEVELS_WEIGHTED && levels > 1 ? levels : 0;
    if (c->weights.count != expected && expected)
        node_error(errors, node, "weights", "%u weights, expected one for each of %u levels", c->weights.count, levels);
    else if (c->weights.count != expected)
        node_error(errors, node, "weights", "%s; accepted: none",
                   levels > 1 ? "arbitration is not \"weighted\"" : "there is one level");
    if (c->preemption && (c->arbitration != LEVELS_STRICT || levels == 1))
        node_error(errors, node, "preemption", "needs several levels and arbitration \"strict\"");
    if (levels > 1 && c->arbitration != LEVELS_ALIKE && !network->core->router_ops->serves_levels)
        node_error(errors, node, "arbitration", "\"%s\", but router \"%s\" treats levels alike; accepted: \"alike\"",
                   arbitration_names[c->arbitration], network->core->router_ops->name);
    return errors->count == before;
}

bool service_plan(struct network *network, struct errors *errors)
{
    const struct service_config *c = &network->core->config->service;
    struct service *service = &network->service;
    uint32_t levels = 1;
    for (uint32_t class = 0; class < c->levels.count; class ++)
        levels = c->levels.items[class] < levels ? levels : c->levels.items[class] + 1;
    if ((c->levels.count && !check_levels(network, levels, errors)) || !check_arbitration(network, levels, errors))
        return false;
    bool is_told_apart = levels > 1 && c->arbitration != LEVELS_ALIKE;
    *service = (struct service){
        .levels = levels,
        .groups = is_told_apart ? levels : 1,
        .arbitration = is_told_apart ? (enum level_arbitration)c->arbitration : LEVELS_ALIKE,
        .preempts = c->preemption,
    };
    for (uint32_t level = 0; level < levels; level++)
        service->weights[level] = level < c->weights.count ? c->weights.items[level] : 1;
    uint32_t vcs = network->num_vcs / network->core->config->protocol_classes;
    for (uint32_t vc = 0; vc < network->num_vcs; vc++) {
        uint32_t class = vc / vcs, level = class < c->levels.count ? c->levels.items[class] : 0;
        service->class_level[class] = (uint8_t)level;
        service->vc_group[vc] = is_told_apart ? (uint8_t)level : 0;
        service->group_vcs[service->vc_group[vc]] |= bit(vc);
    }
    for (uint32_t group = 1; group < service->groups; group++)
        service->before[group] = service->before[group - 1] | service->group_vcs[group - 1];
    return true;
}
