/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read by OpenCL too. UGAL, universal globally-adaptive load balancing: at its first router a packet
 * compares the minimal way with a Valiant way and takes the one that promises the
 * shorter wait (Singh 2005). Traffic that is spread already goes straight, other
 * traffic is spread.
 *   A way weighs as much as a packet on it will wait: the congestion of its first
 * output times its hops, as if all queues on it were like the first; or, where the
 * whole network is known (UGAL-G, which no machine can build), the sum over all
 * outputs on it. The lighter way is taken, and a tie goes straight.
 *   Queues are those of whole ports by default (Kim et al. 2008), since the two
 * ways may begin, or go on, in VCs of different classes. A class that only detours
 * use is empty as long as few are made, however busy its channel is with others:
 * by VC, PAR leaves the straight way 9 times in 10 at the second router, and UGAL-G
 * finds the end of every detour free.
 *   PAR, progressive adaptive routing (Jiang, Kim and Dally 2009), is UGAL for a
 * packet that went straight and chooses again at the next router, which sees outputs
 * that the first one does not. On a dragonfly it does so at all routers of its group
 * (two behind each other in a dragonfly_2d), which see the global channel itself. What
 * that may add is one more channel, or passage through the group, with VC classes of
 * its own.
 */
#include "flitwarp/hyperx.h"
#include "flitwarp/reduction.h"
#include "network/routing/detour_hop.h"
#include "network/routing/routing.h"
#if !FW_HOST
#include "network/routing/detour.c"
#endif

enum knowledge { KNOWLEDGE_LOCAL, KNOWLEDGE_GLOBAL };
enum hop_count { HOPS_ABSOLUTE, HOPS_NORMALIZED, HOPS_IGNORED };
enum straight_vcs { STRAIGHT_IN_BOTH, STRAIGHT_IN_SECOND, STRAIGHT_TOGETHER };
enum detour_vcs { DETOUR_BY_LEG, DETOUR_IN_FIRST };

struct ugal_config {
    struct detour_config detour;
    uint32_t mode, knowledge, hop_count, detours, straight_vcs, detour_vcs, decides;
    fw_bool by_destination;
    double threshold, bias;
};

struct ugal {
    struct detours detours;
    uint32_t ways; /* enum detour_ways: how ways are compared; WAYS_OF_ANY: by the sets of lanes that they offer */
    FW_FAR(const uint32_t) neighbours; /* by router * ports + port; with global knowledge */
};

/* A way under consideration: what the packet would note when it leaves by it, and the outputs that it would be offered. */
struct way {
    uint32_t waypoint, route; /* of the packet */
    uint32_t port;            /* the only output; FW_NONE: there are several, or it need not be known */
    double weight;
    uint64_t vcs[MAX_ROUTER_WORDS]; /* of all outputs; or one word, of the only one, where all ways have one */
};

/* The output that all lanes of an answer belong to; FW_NONE: there are several. */
static inline uint32_t only_output(const struct routing *routing, const uint64_t *vcs)
{
    uint32_t output = bits_next_cyclic(vcs, routing->words, 0) / routing->num_vcs, last = routing->words - 1;
    while (!vcs[last])
        last--;
    uint32_t end = (output + 1) * routing->num_vcs, highest = last * WORD_BITS + WORD_BITS - 1;
    return highest - (uint32_t)__builtin_clzll(vcs[last]) < end ? output - routing->local_ports : FW_NONE;
}

/* The VCs of an output that an answer offers. */
static uint64_t offered_by(const struct routing *routing, const uint64_t *vcs, uint32_t output)
{
    return bits_word(vcs, (output + routing->local_ports) * routing->num_vcs, routing->num_vcs);
}

/* The congestion of the least congested outputs of an answer, which keeps these alone. It offers no terminal. */
static double keep_best(const struct route *route, uint64_t *vcs, enum congestion_mode mode, uint32_t *port)
{
    const struct routing *routing = route->routing;
    uint32_t num_vcs = routing->num_vcs, last = FW_NONE;
    uint64_t best[MAX_ROUTER_WORDS];
    double least = __builtin_inf(), value = 0;
    if (mode != CONGESTION_VC && (*port = only_output(routing, vcs)) != FW_NONE)
        return route_congestion(route, mode, route->router, *port,
                                mode == CONGESTION_OFFERED_SUM ? offered_by(routing, vcs, *port) : 0);
    BITS_EACH(lane, vcs, routing->words) {
        uint32_t output = (uint32_t)lane / num_vcs - routing->local_ports;
        if (mode == CONGESTION_VC || output != last)
            value = route_congestion(route, mode, route->router, output,
                                     mode == CONGESTION_VC ? bit((uint32_t)lane % num_vcs)
                                                           : offered_by(routing, vcs, output));
        last = output;
        if (value < least) {
            bits_clear(best, routing->words);
            least = value;
            *port = output;
        }
        if (value == least)
            bits_add(best, (uint32_t)lane);
    }
    for (uint32_t w = 0; w < routing->words; w++)
        vcs[w] = best[w];
    return least;
}

#if FW_HOST
/* All outputs from here to the destination, as the packet will choose them: its draws are keyed by packet and hop. */
static double sum_of_way(const struct route *route, const struct ugal *ugal, struct way *way, enum congestion_mode mode)
{
    uint64_t vcs[MAX_ROUTER_WORDS];
    struct packet packet = *route->packet;
    struct route next = *route;
    uint32_t port, ports = route->routing->topology->ports, words = route->routing->words;
    double sum = keep_best(route, way->vcs, mode, &port);
    next.packet = &packet;
    next.vcs = vcs;
    packet.waypoint = way->waypoint;
    packet.route = way->route;
    for (;;) {
        next.router = ugal->neighbours[(size_t)next.router * ports + port];
        next.draws = 0;
        packet.hops++;
        bits_clear(vcs, words);
        detour_step(&next, &ugal->detours);
        if (bits_next_cyclic(vcs, words, 0) < route->routing->local_ports * route->routing->num_vcs)
            return sum; /* at a terminal; being at the destination's router does not end a way, in a first leg */
        sum += keep_best(&next, vcs, mode, &port);
    }
}
#endif

/* The congestion of a way's first output, or of all where the whole network is known. What another way weighs is `known`. */
FW_INLINE double congestion_of_way(const struct route *route, FW_GLOBAL const struct ugal *ugal, struct way *way,
                                   const struct way *known)
{
    FW_GLOBAL const struct ugal_config *config = route->routing->config;
    enum congestion_mode mode = (enum congestion_mode)config->mode;
    uint32_t port;
    way->port = FW_NONE;
#if FW_HOST
    if (config->knowledge == KNOWLEDGE_GLOBAL)
        return sum_of_way(route, ugal, way, mode);
#endif
    (void)ugal;
    if (mode == CONGESTION_VC || mode == CONGESTION_OFFERED_SUM ||
        (way->port = only_output(route->routing, way->vcs)) == FW_NONE)
        return keep_best(route, way->vcs, mode, &port);
    return known && known->port == way->port ? known->weight
                                             : route_congestion(route, mode, route->router, way->port, 0);
}

/* A way whose hops all go by one output: nothing of the packet need be changed to see which. */
FW_INLINE void weigh_output(const struct route *route, FW_GLOBAL const struct ugal *ugal, uint32_t ways,
                            uint32_t waypoint, struct way *way)
{
    FW_GLOBAL const struct ugal_config *config = route->routing->config;
    struct next_hop hop = detour_hop(route, &ugal->detours, ways, waypoint, route->packet->route & ~ROUTE_OF_WAY);
    way->waypoint = waypoint;
    way->route = hop.note;
    way->port = hop.port;
    way->vcs[0] = route->routing->class_vcs[hop.class];
    way->weight = route_congestion(route, (enum congestion_mode)config->mode, route->router, hop.port, way->vcs[0]);
}

/* Going straight in the first leg's VCs: by the same output as in those of the second. */
FW_INLINE void weigh_first_leg(const struct route *route, FW_GLOBAL const struct ugal *ugal, struct way *way,
                               const struct way *straight)
{
    FW_GLOBAL const struct ugal_config *config = route->routing->config;
    enum congestion_mode mode = (enum congestion_mode)config->mode;
    way->waypoint = route->packet->destination_router;
    way->route = route->packet->route & ~ROUTE_OF_WAY;
    way->port = straight->port;
    way->vcs[0] = route->routing->class_vcs[class_of_leg(&ugal->detours, route->packet, way->route)];
    way->weight = mode == CONGESTION_OFFERED_SUM ? route_congestion(route, mode, route->router, way->port, way->vcs[0])
                                                 : straight->weight;
}

static void weigh_answer(struct route *route, FW_GLOBAL const struct ugal *ugal, uint32_t waypoint, struct way *way,
                         const struct way *known)
{
    FW_GLOBAL struct packet *packet = route->packet;
    const uint32_t waypoint_before = packet->waypoint, route_before = packet->route;
    uint64_t *vcs = route->vcs;
    bits_clear(way->vcs, route->routing->words);
    detour_start(packet, waypoint);
    route->vcs = way->vcs;
    detour_step(route, &ugal->detours);
    route->vcs = vcs;
    way->waypoint = packet->waypoint;
    way->route = packet->route;
    packet->waypoint = waypoint_before;
    packet->route = route_before;
    way->weight = congestion_of_way(route, ugal, way, known);
}

/* `straight` is known where this is the same way in the first leg's VCs. */
FW_INLINE void weigh_way(struct route *route, FW_GLOBAL const struct ugal *ugal, uint32_t ways, uint32_t waypoint,
                         struct way *way, const struct way *straight)
{
    if (ways == WAYS_OF_ANY)
        weigh_answer(route, ugal, waypoint, way, straight);
    else if (straight)
        weigh_first_leg(route, ugal, way, straight);
    else
        weigh_output(route, ugal, ways, waypoint, way);
}

/* What a way's congestion is multiplied with. */
static double hop_factor(FW_GLOBAL const struct ugal_config *config, double hops, double straight_hops)
{
    if (config->knowledge == KNOWLEDGE_GLOBAL || config->hop_count == HOPS_IGNORED)
        return 1;
    return config->hop_count == HOPS_NORMALIZED ? hops / straight_hops : hops;
}

/*
 * Going straight in the first leg's VCs is a detour by way of the destination itself. Where legs have no VCs of their
 * own that is no other way, nor is it for the first hop of a way that may be left.
 */
static bool goes_in_both(const struct route *route, FW_GLOBAL const struct detours *detours)
{
    FW_GLOBAL const struct ugal_config *config = route->routing->config;
    bool is_first_hop = detours->is_progressive && route->packet->hops == 0;
    return config->straight_vcs != STRAIGHT_IN_SECOND && detours->leg_classes && !is_first_hop;
}

/* Both straight ways as one, which weighs as much as both by a sum of VCs, else as the lighter. */
FW_INLINE void join_ways(const struct routing *routing, uint32_t words, struct way *way, const struct way *other)
{
    FW_GLOBAL const struct ugal_config *config = routing->config;
    if (config->mode == CONGESTION_OFFERED_SUM)
        way->weight += other->weight;
    for (uint32_t w = 0; w < words; w++)
        if (config->mode == CONGESTION_OFFERED_SUM || other->weight == way->weight)
            way->vcs[w] |= other->vcs[w];
        else if (other->weight < way->weight)
            way->vcs[w] = other->vcs[w];
    way->weight = config->mode != CONGESTION_OFFERED_SUM && other->weight < way->weight ? other->weight : way->weight;
    way->route |= ROUTE_EITHER;
}

/* A packet that went straight by VCs of either leg goes on in those of the leg that it was given. */
static void settle_leg(struct route *route)
{
    FW_GLOBAL struct packet *packet = route->packet;
    const struct routing *routing = route->routing;
    packet->route &= ~ROUTE_EITHER;
    uint32_t vc = route_input_vc(route);
    if (vc < routing->vcs && (routing->class_vcs[0] & bit(vc)))
        detour_start(packet, packet->destination_router);
}

/* Of a way that is not free and of detours the lightest; `other` is room for one. */
FW_INLINE const struct way *compare_detours(struct route *route, FW_GLOBAL const struct ugal *ugal, uint32_t ways,
                                            struct way *best, struct way *other)
{
    FW_GLOBAL const struct ugal_config *config = route->routing->config;
    FW_GLOBAL const struct detours *detours = &ugal->detours;
    uint32_t known_ways = ways == WAYS_OF_ANY ? detours->ways : ways;
    double straight_hops = detour_hops(route, detours, known_ways, best->waypoint);
    best->weight *= hop_factor(config, straight_hops, straight_hops);
    for (uint32_t i = 0; i < config->detours; i++) {
        uint32_t waypoint = detour_draw(route, detours);
        if (!config->by_destination && waypoint == route->packet->destination_router)
            continue;
        weigh_way(route, ugal, ways, waypoint, other, NULL);
        double hops = detour_hops(route, detours, known_ways, other->waypoint);
        other->weight = other->weight * hop_factor(config, hops, straight_hops) + config->bias;
        if (other->weight < best->weight) {
            struct way *lighter = other;
            other = best;
            best = lighter;
        }
    }
    return best;
}

/* Compiled for each kind of ways apart. */
FW_INLINE void choose_among_ways(struct route *route, FW_GLOBAL const struct ugal *ugal, uint32_t ways)
{
    FW_GLOBAL const struct ugal_config *config = route->routing->config;
    FW_GLOBAL const struct detours *detours = &ugal->detours;
    struct way room[2], *best = &room[0], *other = &room[1];
    uint32_t words = ways == WAYS_OF_ANY ? route->routing->words : 1;
    weigh_way(route, ugal, ways, detour_here(route->routing, detours, route->router), best, NULL);
    if (goes_in_both(route, detours)) {
        weigh_way(route, ugal, ways, route->packet->destination_router, other, best);
        if (config->straight_vcs == STRAIGHT_TOGETHER)
            join_ways(route->routing, words, best, other);
        else if (other->weight < best->weight || (other->weight == best->weight && route_pick(route, 2)))
            best = &room[1], other = &room[0];
    }
    bool is_free = best->weight <= config->threshold && (config->threshold > 0 || config->bias >= 0);
    const struct way *taken = is_free ? best : compare_detours(route, ugal, ways, best, other);
    route->packet->waypoint = taken->waypoint;
    route->packet->route = taken->route;
    if (ways != WAYS_OF_ANY)
        route_add_vcs(route, taken->port, taken->vcs[0]);
    for (uint32_t w = 0; ways == WAYS_OF_ANY && w < words; w++)
        route->vcs[w] |= taken->vcs[w];
}

static void choose_by_group(struct route *route, FW_GLOBAL const struct ugal *ugal)
{
    choose_among_ways(route, ugal, WAYS_BY_GROUP);
}

static void choose_on_hyperx(struct route *route, FW_GLOBAL const struct ugal *ugal)
{
    choose_among_ways(route, ugal, WAYS_ON_HYPERX);
}

FW_SELDOM void choose_of_any(struct route *route, FW_GLOBAL const struct ugal *ugal)
{
    choose_among_ways(route, ugal, WAYS_OF_ANY);
}

FW_INLINE void choose_by_weight(struct route *route, FW_GLOBAL const struct ugal *ugal)
{
    if (ugal->ways == WAYS_BY_GROUP)
        choose_by_group(route, ugal);
    else if (ugal->ways == WAYS_ON_HYPERX)
        choose_on_hyperx(route, ugal);
    else
        choose_of_any(route, ugal);
}

static void choose_any(struct route *route, FW_GLOBAL const struct ugal *ugal)
{
    FW_GLOBAL const struct detours *detours = &ugal->detours;
    uint32_t chosen = route_pick(route, goes_in_both(route, detours) ? 3 : 2);
    detour_start(route->packet, chosen == 0   ? detour_here(route->routing, detours, route->router)
                                : chosen == 1 ? detour_draw(route, detours)
                                              : route->packet->destination_router);
    detour_step(route, detours);
}

/* A packet's next hop, of a way that was chosen. */
FW_INLINE void go_on(struct route *route, FW_GLOBAL const struct detours *detours)
{
    if (route->packet->route & ROUTE_EITHER)
        settle_leg(route);
    detour_step(route, detours);
}

/* Offers a packet's next hop, after a choice where it may make one. It need make none at its destination's router. */
static void ugal_step(struct route *route, bool may_choose)
{
    FW_GLOBAL const struct ugal *ugal = route->routing->state;
    bool is_home = route->router == route->packet->destination_router;
    if (route->packet->hops > 0 && route->packet->route & ROUTE_EITHER)
        settle_leg(route);
    if (may_choose && route->packet->hops == 0)
        detour_draw_order(route, &ugal->detours);
    if (is_home && route->packet->hops == 0)
        route_eject(route);
    else if (is_home || !may_choose)
        detour_step(route, &ugal->detours);
    else if (route_is_checked(route))
        choose_any(route, ugal);
    else
        choose_by_weight(route, ugal);
}

static bool has_decided(const struct route *route)
{
    return ((FW_GLOBAL const struct ugal_config *)route->routing->config)->decides == DECIDES_AT_SOURCE;
}

/* What the first router would offer is thrown away: it is asked again. */
static void ugal_inject(struct route *route)
{
    uint64_t vcs[MAX_ROUTER_WORDS];
    bits_clear(vcs, route->routing->words);
    route->vcs = vcs;
    ugal_step(route, true);
}

static void ugal_route(struct route *route)
{
    if (route->packet->hops > 0)
        go_on(route, &((FW_GLOBAL const struct ugal *)route->routing->state)->detours);
    else
        ugal_step(route, !has_decided(route));
}

/* ---- PAR ---- */

/* At the first router, and while the packet goes straight at the second, or at all of the same group. */
static bool may_choose(const struct route *route)
{
    FW_GLOBAL const struct packet *packet = route->packet;
    bool is_straight = packet->route & ROUTE_SECOND_LEG;
    bool is_early = ROUTING_IS_ON(route->routing, dragonfly) ? globals_crossed(packet) == 0 : packet->hops == 1;
    return packet->hops == 0 ? !has_decided(route) : is_straight && is_early;
}

static void par_route(struct route *route) { ugal_step(route, may_choose(route)); }

#if FW_HOST
static const char *const knowledge_names[] = {"local", "global", NULL};
static const char *const hop_count_names[] = {"absolute", "normalized", "ignored", NULL};
static const char *const straight_vcs_names[] = {"both", "second", "together", NULL};
static const char *const detour_vcs_names[] = {"by_leg", "first", NULL};

static const struct option ugal_options[] = {
    OPTION_ENUM(struct ugal_config, knowledge, "\"local\"", knowledge_names,
                "local: congestion of the router's own outputs, times hops; global: sum of all outputs on the way"),
    OPTION_ENUM(
        struct ugal_config, mode, "\"port_average\"", congestion_mode_names,
        "what counts as congestion: that of each VC, one value for all VCs of a port, or the sum of those that the "
        "packet may take"),
    OPTION_F64(struct ugal_config, threshold, "0", 0, 1e9, NULL,
               "congestion up to which a packet goes straight without looking at detours"),
    OPTION_F64(struct ugal_config, bias, "0", -1e9, 1e9, NULL, "added to the weight of a detour"),
    OPTION_ENUM(
        struct ugal_config, hop_count, "\"absolute\"", hop_count_names,
        "hops in a weight: all of them, as a multiple of those of the straight way, or none: congestion alone decides"),
    OPTION_ENUM(struct ugal_config, straight_vcs, "\"both\"", straight_vcs_names,
                "VCs of packets that go straight: those of both legs of a detour, by VC the less congested ones; "
                "the second leg's; or those of both legs, weighed and offered together; on grids and hyperx"),
    OPTION_ENUM(struct ugal_config, detour_vcs, "\"by_leg\"", detour_vcs_names,
                "VCs of packets that go by a detour: those of each leg, or the first leg's to the end, which rules out "
                "no deadlock; on hyperx"),
    OPTION_BOOL(struct ugal_config, by_destination, "true",
                "whether a detour that is drawn by way of the destination counts: the straight way in the first leg's "
                "VCs"),
    OPTION_U32(struct ugal_config, detours, "1", 1, 16, "detours", "drawn for a packet; the lightest is compared"),
    OPTION_ROWS(struct ugal_config, detour, struct detour_config, detour_options),
    OPTION_DECIDES(struct ugal_config),
    OPTION_END,
};

static const struct routing_ops par;

/* Ways are compared by their outputs where there is one of each, and what is seen of it is one value. */
static uint32_t compared_ways(const struct routing *routing, const struct detours *detours)
{
    const struct ugal_config *config = routing->config;
    const struct hyperx *hyperx = topology_hyperx(routing->topology);
    bool is_single = true;
    for (uint32_t d = 0; hyperx && d < hyperx->dimensions; d++)
        is_single &= hyperx->channels[d] == 1;
    return is_single && config->mode != CONGESTION_VC && config->knowledge == KNOWLEDGE_LOCAL ? detours->ways
                                                                                              : WAYS_OF_ANY;
}

static void ugal_prepare(struct routing *routing, const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct ugal_config *config = self->config;
    struct ugal *ugal = arena_array(arena, struct ugal, 1);
    routing->state = ugal;
    FW_CHECK(routing->words <= MAX_ROUTER_WORDS, "%u words of lanes", routing->words);
    if (!detours_init(&ugal->detours, routing, self, routing->ops == &par, arena, errors))
        return;
    routing->classes = ugal->detours.classes;
    ugal->detours.keeps_first = config->detour_vcs == DETOUR_IN_FIRST;
    if (ugal->detours.keeps_first && (!topology_hyperx(routing->topology) || routing->ops == &par))
        choice_error(errors, self, "detour_vcs", "\"first\" is for \"ugal\" on topology \"hyperx\"; accepted: by_leg");
    ugal->ways = compared_ways(routing, &ugal->detours);
    routing->sees_ports = config->mode == CONGESTION_PORT_AVERAGE || config->mode == CONGESTION_PORT_TOTAL;
    routing->looks_afar_key = config->decides == DECIDES_AT_SOURCE ? "decides" : NULL;
    routing->inject = config->decides == DECIDES_AT_SOURCE ? ugal_inject : NULL;
    if (config->knowledge == KNOWLEDGE_GLOBAL) {
        routing->looks_afar_key = "knowledge";
        struct search search;
        search_init(&search, routing->topology, arena);
        ugal->neighbours = search.neighbours;
    }
}

static const struct routing_ops ugal = {
    .name = "ugal",
    .summary = "straight or by a detour, whichever promises the shorter wait at the first router",
    .options = ugal_options,
    .example = "{\"type\": \"ugal\", \"mode\": \"port_average\", \"bias\": 0.1}",
    .needs = DETOUR_NEEDS,
    .is_adaptive = true,
    .prepare = ugal_prepare,
    .route = ugal_route,
    DEVICE_FORM(ugal_route),
};
REGISTER_ROUTING(ugal);

static const struct routing_ops par = {
    .name = "par",
    .summary = "UGAL that chooses again at the second router",
    .options = ugal_options,
    .example = "{\"type\": \"par\", \"mode\": \"port_average\"}",
    .needs = "VCs for a hop and two legs: 4 on a dragonfly (5 by router), 3 on hyperx and grids, 6 on a torus, "
             "elsewhere one for each hop: twice the diameter and 1",
    .is_adaptive = true,
    .prepare = ugal_prepare,
    .route = par_route,
    DEVICE_FORM(par_route),
};
REGISTER_ROUTING(par);
#endif
