/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. Virtual output queues on a single router: a packet waits in the VC numbered
 * like its destination terminal, so that none waits behind a packet for another
 * output. At the output it takes the VC numbered like its source, so that no two
 * inputs ever want the same one and only the switch is contended for.
 */
#include "flitwarp/routing.h"

#if FW_HOST
static void voq_prepare(struct routing *routing, const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct topology *topology = routing->topology;
    (void)arena;
    if (topology->routers != 1)
        choice_error(errors, self, NULL, "\"voq\" needs one router (topology \"single_router\"), not %u",
                     topology->routers);
    routing->classes = topology->terminals;
}
#endif

static void voq_route(struct route *route)
{
    const struct routing *routing = route->routing;
    uint32_t port = routing->terminal_slot[route->packet->destination] * routing->terminal_ports;
    for (uint32_t j = 0; j < routing->ejection_channels; j++)
        bits_add(route->vcs, (port + j) * routing->num_vcs + route->packet->source);
}

static uint64_t voq_injection_vcs(const struct routing *routing, FW_GLOBAL const struct packet *packet)
{
    (void)routing;
    return bit(packet->destination);
}

#if FW_HOST
static const struct routing_ops voq = {
    .name = "voq",
    .summary = "one VC for each output: virtual output queues on a single router",
    .example = "{\"type\": \"voq\"}",
    .needs = "a VC for each terminal",
    .is_minimal = true,
    .prepare = voq_prepare,
    .route = voq_route,
    .injection_vcs = voq_injection_vcs,
    DEVICE_FORM_WITH(voq_route, .injection_vcs = "voq_injection_vcs"),
};
REGISTER_ROUTING(voq);
#endif
