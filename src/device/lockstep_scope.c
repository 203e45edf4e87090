/* SPDX-License-Identifier: Apache-2.0 */
/* What the lockstep engine can run. Whatever it cannot is refused before the run, with the setting and what would do. */
#include "device/lockstep.h"

#include "config/registry.h"
#include "flitwarp/steady.h"
#include "network/interface/standard.h"

#include <string.h>

const struct lockstep_router *lockstep_router_of(const struct network *network)
{
    static const struct lockstep_router *const all[] = {&lockstep_input_queued, &lockstep_packet};
    const char *name = network->core->config->router.component->name;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

static bool check_router(const struct network *network, struct errors *errors)
{
    const struct choice *self = &network->core->config->router;
    const struct lockstep_router *router = lockstep_router_of(network);
    if (!router)
        return choice_error(errors, self, NULL, "'%s' does not run on a device; accepted: 'input_queued' or 'packet'",
                            self->component->name);
    return router->check(network, self, errors);
}

static bool check_network(const struct network *network, struct errors *errors)
{
    const struct network_config *config = network->core->config;
    if (network->service.groups > 1)
        return node_error(errors, network_node(config, "service"), "arbitration",
                          "levels of service that go before others do not run on a device; accepted: 'alike'");
    if (!check_router(network, errors) || !lockstep_check_routing(network, errors))
        return false;
    if (network->plane_count > 1)
        return node_error(errors, network_node(config, "planes"), "count",
                          "%u planes do not run on a device; accepted: 1", network->plane_count);
    if (network->core->failures && network->core->failures->count)
        return node_error(errors, network_node(config, "failures"), NULL,
                          "failures do not run on a device; accepted: none");
    if (config->deadlock == DEADLOCK_RECOVER)
        return node_error(errors, network_node(config, "topology")->parent, "deadlock",
                          "recovery does not run on a device; accepted: 'report'");
    const struct choice *interface = &config->interface;
    if (strcmp(interface->component->name, "standard") != 0)
        return choice_error(errors, interface, NULL, "'%s' does not run on a device; accepted: 'standard'",
                            interface->component->name);
    const struct interfaces *n = network->core->interfaces;
    return !n->config.feed_cycle ||
           choice_error(errors, interface, "feed_cycle", "does not run on a device; accepted: null");
}

/* What is measured of a level is that of whole applications. */
static bool check_levels(const struct workload *workload, const struct application *application, struct errors *errors)
{
    const struct application_config *config = application->config;
    const uint8_t *level = workload->network->service.class_level;
    if (!application->listens || level[config->protocol_class] == level[config->reply_protocol_class])
        return true;
    return choice_error(
        errors, application->choice, "reply_protocol_class",
        "replies of another level of service (%u) than requests (%u) do not run on a device; accepted: a "
        "class of their level",
        level[config->reply_protocol_class], level[config->protocol_class]);
}

static bool check_application(const struct workload *workload, const struct application *application,
                              struct errors *errors)
{
    const struct choice *self = application->choice;
    if (strcmp(application->ops->name, "blast") != 0)
        return choice_error(errors, self, NULL, "'%s' does not run on a device; accepted: 'blast'",
                            application->ops->name);
    const struct steady *steady = application->state;
    const struct steady_config *config = application->config;
    if (steady->messages > 1 || steady->flits)
        return choice_error(errors, self, config->gap_by_size ? "gap_by_size" : "messages_per_transaction",
                            "does not run on a device; accepted: its default");
    if (steady->injection_of)
        return choice_error(errors, self, "relative", "does not run on a device; accepted: null");
    if (application->max_message > SLOT_MOST_FLITS && config->common.max_packet > SLOT_MOST_FLITS)
        return choice_error(errors, self, "max_packet", "packets of more than %u flits do not run on a device",
                            SLOT_MOST_FLITS);
    if (steady->injection.ops->state_size > sizeof(struct source_memory))
        return choice_error(errors, &config->injection, NULL, "remembers too much for a device");
    return check_levels(workload, application, errors) &&
           lockstep_check_form(&config->traffic, "traffic pattern", errors) &&
           lockstep_check_form(&config->injection, "injection process", errors) &&
           lockstep_check_form(&config->size, "size", errors) &&
           (!config->reply.component || lockstep_check_form(&config->reply, "size", errors));
}

bool lockstep_check(const struct network *network, const struct workload *workload, struct errors *errors)
{
    uint32_t before = errors->count;
    if (!check_network(network, errors))
        return false;
    for (uint32_t i = 0; i < workload->count; i++)
        check_application(workload, &workload->applications[i], errors);
    return errors->count == before;
}
