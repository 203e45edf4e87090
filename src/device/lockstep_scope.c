/* SPDX-License-Identifier: Apache-2.0 */
/* What the lockstep engine can run. Whatever it cannot is refused before the run, with the setting and what would do. */
#include "device/lockstep.h"

#include "config/registry.h"
#include "flitwarp/steady.h"
#include "network/interface/standard.h"
#include "network/router/input_queued.h"

#include <string.h>

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

static bool check_router(const struct network *network, struct errors *errors)
{
    const struct choice *self = &network->core->config->router;
    if (strcmp(self->component->name, "input_queued") != 0)
        return choice_error(errors, self, NULL, "'%s' does not run on a device; accepted: 'input_queued'",
                            self->component->name);
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
    if (config->deadlock == DEADLOCK_RECOVER)
        return node_error(errors, network_node(config, "topology")->parent, "deadlock",
                          "recovery does not run on a device; accepted: 'report'");
    const struct choice *interface = &config->interface;
    if (strcmp(interface->component->name, "standard") != 0)
        return choice_error(errors, interface, NULL, "'%s' does not run on a device; accepted: 'standard'",
                            interface->component->name);
    const struct interfaces *n = network->core->interfaces;
    return n->is_plain || choice_error(errors, interface, "feed_cycle", "does not run on a device; accepted: null");
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
