/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PolarStar (Lakhotia, Monroe, Isham, Besta, Blach, Hoefler and Petrini 2024): the
 * star product of a polarity graph ER_q with a small graph, the supernode. Each of
 * the q^2 + q + 1 points becomes a copy of the supernode, and where points x and y
 * are joined, x below y, each vertex v of the copy at x is joined to f(v) at y. With
 * the supernodes and maps below no two routers are more than three channels apart:
 *
 *   inductive_quad   2 d + 2 vertices of d channels, d = 0 or 3 modulo 4: pairs that
 *                    f swaps. In the graph or in its image under f every vertex is
 *                    joined to all others but its partner.
 *   paley            the field of order 2 d + 1 = 1 modulo 4, of d channels: joined
 *                    where the difference is a square. f multiplies by a primitive
 *                    element, which makes squares of the others.
 *
 * Routers count point, vertex; ports are those inside the supernode, in the order of
 * vertices, then q + 1 of the points in theirs. Where a quadric would lead to itself
 * inductive_quad joins v to f(v) in its own supernode; with paley that port is unused.
 */
#include "network/topology/polarity_graph.h"
#include "network/topology/sizes.h"

enum supernode_kind { INDUCTIVE_QUAD, PALEY };
static const char *const supernode_names[] = {"inductive_quad", "paley", NULL};

struct polarstar_config {
    uint32_t q;
    uint32_t supernode;
    uint32_t supernode_degree;
    uint32_t terminals;
};

/* A supernode; its field only where it is a Paley graph. */
struct supernode {
    enum supernode_kind kind;
    uint32_t order, degree;
    struct finite_field field;
    struct router_port *peers; /* by vertex * degree + port: vertex and port */
    uint32_t *mapped, *back;   /* f and its inverse, by vertex */
};

struct polarstar {
    struct polarity_graph graph;
    struct supernode supernode;
};

static const char *const channel_names[] = {"local", "global", NULL};

static const struct option polarstar_options[] = {
    OPTION_U32(struct polarstar_config, q, "4", 2, 1024, NULL, "a prime power: there are q^2 + q + 1 supernodes"),
    OPTION_ENUM(struct polarstar_config, supernode, "\"inductive_quad\"", supernode_names,
                "what a supernode is: 2 d + 2 routers, or 2 d + 1"),
    OPTION_U32(
        struct polarstar_config, supernode_degree, "3", 0, 1008, "channels",
        "d, to others of the supernode: 0, 3, 4, 7, 8, ... (inductive_quad), or even, with 2 d + 1 a prime power "
        "(paley); to others there are q + 1"),
    OPTION_U32(struct polarstar_config, terminals, "null", 1, 1024, "terminals",
               "terminals at each router; null: a third of its channels, rounded up"),
    OPTION_END,
};

static uint32_t order_of(const struct polarstar_config *config)
{
    return 2 * config->supernode_degree + (config->supernode == PALEY ? 1 : 2);
}

static uint32_t degree_of(const struct polarstar_config *config) { return config->q + 1 + config->supernode_degree; }

static uint32_t terminal_count(const struct polarstar_config *config)
{
    return config->terminals ? config->terminals : (degree_of(config) + 2) / 3;
}

/* ---- check ---- */

static bool has_supernode(uint32_t kind, uint32_t degree)
{
    if (kind == INDUCTIVE_QUAD)
        return degree % 4 == 0 || degree % 4 == 3;
    return degree % 2 == 0 && prime_of_power(2 * degree + 1);
}

static void check_supernode(const struct choice *self, const struct polarstar_config *config, struct errors *errors)
{
    uint32_t degree = config->supernode_degree, below = degree, above = degree;
    if (has_supernode(config->supernode, degree))
        return;
    while (below && !has_supernode(config->supernode, below))
        below--;
    while (!has_supernode(config->supernode, above))
        above++;
    const char *lowest = has_supernode(config->supernode, below) ? arena_format(errors->arena, "%u and ", below) : "";
    choice_error(errors, self, "supernode_degree", "there is no %s graph of degree %u; the nearest that are: %s%u",
                 supernode_names[config->supernode], degree, lowest, above);
}

static void polarstar_check(const struct choice *self, struct errors *errors)
{
    const struct polarstar_config *config = self->config;
    uint32_t before = errors->count;
    uint64_t q = config->q, routers = (q * q + q + 1) * order_of(config);
    topology_check_prime_power(self, "q", config->q, errors);
    check_supernode(self, config, errors);
    if (errors->count == before)
        topology_check_size(self, "q", routers * terminal_count(config), routers * degree_of(config), errors);
}

/* ---- supernodes ---- */

/*
 * Of two pairs one chooses a vertex of the other, to which both of its own are joined; `vertex` tells which. An odd number of
 * pairs begins with a single one, which never chooses; the rest are fours, whose pairs count 0 to 3. In a four, 0 chooses the
 * first vertices of all others, and 1, 2 and 3 the second one of the pair after, going round. Of two fours the later chooses:
 * 0 and 1 first vertices, 2 and 3 second ones.
 */
static bool chooses(uint32_t singles, uint32_t pair, uint32_t other, uint32_t *vertex)
{
    bool is_single = pair < singles;
    uint32_t place = (pair - singles) % 4, other_place = (other - singles) % 4;
    if (is_single)
        return false;
    if (other < singles || (pair - singles) / 4 != (other - singles) / 4) {
        *vertex = place / 2;
        return pair > other;
    }
    *vertex = place != 0;
    return place == 0 || (other_place && other_place == place % 3 + 1);
}

static bool are_linked(const struct supernode *supernode, uint32_t one, uint32_t other)
{
    if (supernode->kind == PALEY)
        return supernode->field.logarithms[finite_field_subtract(&supernode->field, one, other)] % 2 == 0;
    uint32_t singles = (supernode->order / 2) % 4, vertex;
    if (one / 2 == other / 2)
        return false;
    return chooses(singles, one / 2, other / 2, &vertex)
               ? other % 2 == vertex
               : chooses(singles, other / 2, one / 2, &vertex) && one % 2 == vertex;
}

static void find_channels(struct supernode *supernode, struct arena *arena)
{
    uint32_t order = supernode->order, degree = supernode->degree;
    uint32_t *used = arena_array(arena, uint32_t, order);
    supernode->peers = arena_array(arena, struct router_port, (size_t)order * degree);
    for (uint32_t one = 0; one < order; one++)
        for (uint32_t other = one + 1; other < order; other++) {
            if (!are_linked(supernode, one, other))
                continue;
            supernode->peers[one * degree + used[one]] = (struct router_port){other, used[other]};
            supernode->peers[other * degree + used[other]++] = (struct router_port){one, used[one]++};
        }
}

static void supernode_init(struct supernode *supernode, const struct polarstar_config *config, struct arena *arena)
{
    uint32_t order = order_of(config);
    supernode->kind = config->supernode;
    supernode->order = order;
    supernode->degree = config->supernode_degree;
    supernode->mapped = arena_array(arena, uint32_t, order);
    supernode->back = arena_array(arena, uint32_t, order);
    if (supernode->kind == PALEY)
        finite_field_init(&supernode->field, order, arena);
    find_channels(supernode, arena);
    for (uint32_t vertex = 0; vertex < order; vertex++) {
        uint32_t image = supernode->kind == PALEY ? finite_field_multiply(&supernode->field, vertex,
                                                                          finite_field_power(&supernode->field, 1))
                                                  : vertex ^ 1;
        supernode->mapped[vertex] = image;
        supernode->back[image] = vertex;
    }
}

/* ---- the product ---- */

static void polarstar_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct polarstar_config *settings = config;
    struct polarstar *star = arena_array(arena, struct polarstar, 1);
    polarity_graph_init(&star->graph, settings->q, arena);
    supernode_init(&star->supernode, settings, arena);
    topology->state = star;
    topology_size(topology, star->graph.points * star->supernode.order, terminal_count(settings), degree_of(settings));
    topology->channel_classes = 2;
    topology->channel_class_names = channel_names;
}

static bool polarstar_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct polarstar *star = topology->state;
    const struct supernode *supernode = &star->supernode;
    uint32_t point = router / supernode->order, vertex = router % supernode->order;
    if (port < supernode->degree) {
        struct router_port inside = supernode->peers[vertex * supernode->degree + port];
        *peer = (struct router_port){router - vertex + inside.router, inside.port};
        return true;
    }
    uint32_t there = polarity_graph_neighbour(&star->graph, point, port - supernode->degree);
    uint32_t image = point > there ? supernode->back[vertex] : supernode->mapped[vertex];
    uint32_t back = supernode->degree + polarity_graph_port(&star->graph, there, point);
    *peer = (struct router_port){there * supernode->order + image, back};
    return there != point || supernode->kind == INDUCTIVE_QUAD;
}

static uint32_t polarstar_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct polarstar *star = topology->state;
    uint32_t degree = star->supernode.degree, point = router / star->supernode.order;
    return port >= degree && polarity_graph_neighbour(&star->graph, point, port - degree) != point;
}

static const struct topology_ops polarstar = {
    .name = "polarstar",
    .summary = "a PolarFly of small graphs, no two routers more than three channels apart",
    .options = polarstar_options,
    .example =
        "{\"type\": \"polarstar\", \"q\": 2, \"supernode\": \"paley\", \"supernode_degree\": 2, \"terminals\": 1}",
    .check = polarstar_check,
    .shape = polarstar_shape,
    .peer = polarstar_peer,
    .channel_class = polarstar_channel_class,
};
REGISTER_TOPOLOGY(polarstar);
