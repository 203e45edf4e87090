/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sharing out routers, see parts.h. Work is taken to be a router's channels.
 *
 *   blocks  routers in the order of their numbers, which is how topologies keep neighbours together. A cut may move by a
 *           sixteenth of a part to where only long channels cross it: windows between parts are as long as the shortest.
 *   metis   by the graph partitioner of Karypis and Kumar, for graphs whose numbers say nothing.
 */
#include "network/parallel/parts.h"

#include <stdlib.h>
#include <string.h>

const char *const partition_names[] = {"blocks", "metis", NULL};

enum { SLACK = 16 };

static uint64_t *weigh(const struct network *network, struct arena *scratch, uint64_t *total)
{
    uint64_t *weight = arena_array(scratch, uint64_t, network->topology.routers);
    *total = 0;
    for (uint32_t router = 0; router < network->topology.routers; router++) {
        weight[router] = 1;
        for (uint32_t port = 0; port < network->ports; port++)
            weight[router] += network_link(network, router, port)->target != FW_NONE;
        *total += weight[router];
    }
    return weight;
}

struct span {
    uint32_t latency, first, last; /* cuts that a channel crosses */
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->latency > y->latency) - (x->latency < y->latency);
}

/* By cut, in front of each router: the latency of the shortest channel across it. Short ones paint first. */
static uint32_t *shortest_across(const struct network *network, struct arena *scratch)
{
    uint32_t routers = network->topology.routers, count = 0;
    struct span *spans = arena_array(scratch, struct span, (size_t)routers * network->ports);
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t port = network->routing.local_ports; port < network->ports; port++) {
            const struct link *link = network_link(network, router, port);
            if (link->target != FW_NONE && link->target > router)
                spans[count++] = (struct span){link->latency, router + 1, link->target};
        }
    qsort(spans, count, sizeof *spans, compare_spans);
    uint32_t *across = arena_array(scratch, uint32_t, routers + 1);
    uint32_t *next = arena_array(scratch, uint32_t, routers + 2); /* the next cut that is not painted */
    for (uint32_t cut = 0; cut <= routers + 1; cut++)
        next[cut] = cut;
    for (uint32_t cut = 0; cut <= routers; cut++)
        across[cut] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t cut = spans[i].first; cut <= spans[i].last; cut++) {
            uint32_t open = cut;
            while (next[open] != open)
                open = next[open] = next[next[open]];
            cut = open;
            if (cut > spans[i].last)
                break;
            across[cut] = spans[i].latency;
            next[cut] = cut + 1;
        }
    return across;
}

static void share_blocks(const struct network *network, uint32_t parts, uint16_t *owner)
{
    struct arena scratch = {0};
    uint64_t total, before = 0;
    const uint64_t *weight = weigh(network, &scratch, &total);
    const uint32_t *across = shortest_across(network, &scratch);
    uint64_t slack = total / parts / SLACK;
    uint32_t router = 0, routers = network->topology.routers;
    for (uint32_t part = 0; part < parts; part++) {
        uint64_t ideal = (part + 1) * total / parts;
        uint32_t best = FW_NONE, at = router;
        uint64_t best_off = 0, sum = before;
        for (; at < routers && sum <= ideal + slack; at++) { /* a cut in front of `at` gives the part all up to there */
            uint64_t off = sum > ideal ? sum - ideal : ideal - sum;
            bool is_better = best == FW_NONE || (off <= slack && best_off <= slack && across[at] != across[best]
                                                     ? across[at] > across[best]
                                                     : off < best_off);
            if (at > router && is_better) {
                best = at;
                best_off = off;
            }
            sum += weight[at];
        }
        uint32_t end = part + 1 == parts ? routers : best != FW_NONE ? best : router + 1;
        uint32_t most = routers - (parts - part - 1); /* all parts after this one have a router at least */
        end = end < most ? end : most;
        for (; router < end; router++) {
            owner[router] = (uint16_t)part;
            before += weight[router];
        }
    }
    arena_release(&scratch);
}

#ifdef FLITWARP_HAVE_METIS
#include <metis.h>

/* Channels weigh more the shorter they are: a cut is to go through long ones. */
static idx_t weight_of(uint32_t latency) { return 1 + 1000 / (idx_t)(latency < 1000 ? latency : 1000); }

static bool share_by_metis(const struct network *network, uint32_t parts, uint16_t *owner, struct errors *errors)
{
    struct arena scratch = {0};
    uint64_t total;
    const uint64_t *weight = weigh(network, &scratch, &total);
    uint32_t routers = network->topology.routers;
    size_t count = 0, most = (size_t)routers * network->ports;
    idx_t *starts = arena_array(&scratch, idx_t, routers + 1), *part = arena_array(&scratch, idx_t, routers);
    idx_t *peers = arena_array(&scratch, idx_t, most), *edges = arena_array(&scratch, idx_t, most);
    idx_t *work = arena_array(&scratch, idx_t, routers);
    for (uint32_t router = 0; router < routers; router++) {
        starts[router] = (idx_t)count;
        work[router] = (idx_t)weight[router];
        for (uint32_t port = network->routing.local_ports; port < network->ports; port++) {
            const struct link *link = network_link(network, router, port);
            if (link->target != FW_NONE && link->target != router) {
                peers[count] = (idx_t)link->target;
                edges[count++] = weight_of(link->latency);
            }
        }
    }
    starts[routers] = (idx_t)count;
    idx_t options[METIS_NOPTIONS], vertices = (idx_t)routers, constraints = 1, wanted = (idx_t)parts, cut = 0;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    int status = METIS_PartGraphKway(&vertices, &constraints, starts, peers, work, NULL, edges, &wanted, NULL, NULL,
                                     options, &cut, part);
    for (uint32_t router = 0; router < routers; router++)
        owner[router] = (uint16_t)part[router];
    arena_release(&scratch);
    if (status != METIS_OK)
        errors_add(errors, "simulator.partition: METIS finds no %u parts of this network; accepted: \"blocks\"", parts);
    return status == METIS_OK;
}
#else
static bool share_by_metis(const struct network *network, uint32_t parts, uint16_t *owner, struct errors *errors)
{
    (void)network, (void)parts, (void)owner;
    errors_add(errors,
               "simulator.partition: this program was built without METIS (libmetis-dev); accepted: \"blocks\"");
    return false;
}
#endif

bool partition_routers(const struct network *network, uint32_t parts, enum partition_method method, uint16_t *owner,
                       struct errors *errors)
{
    if (method == PARTITION_METIS && parts > 1)
        return share_by_metis(network, parts, owner, errors);
    share_blocks(network, parts, owner);
    return true;
}
