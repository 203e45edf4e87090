/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SpectralFly (Aksoy, Roca, Young and others 2021): the Ramanujan graphs X^{p,q} of
 * Lubotzky, Phillips and Sarnak (1988), whose second eigenvalue is as small as that of
 * a large graph of its degree can be, so that no part is badly joined to the rest.
 *   p and q are odd primes. Routers are the 2x2 matrices modulo q of determinant not
 * 0, where a matrix and its multiples are the same: the group PGL(2, q) with q^3 - q
 * elements, or, where p is a square modulo q, those whose determinant is a square:
 * PSL(2, q), half as many. From each router p + 1 channels lead to its products with
 *
 *     [  a0 + a1 x + a3 y     -a1 y + a2 + a3 x ]      x^2 + y^2 + 1 = 0 modulo q
 *     [ -a1 y - a2 + a3 x      a0 - a1 x - a3 y ]      a0^2 + a1^2 + a2^2 + a3^2 = p
 *
 * where a0 is odd and positive and the others are even (p = 1 modulo 4), or a0 is
 * even, not negative, and the others are odd (p = 3), of which with a0 = 0 one of a
 * and -a. The way back from (a0, a1, a2, a3) is (a0, -a1, -a2, -a3), or itself with
 * a0 = 0. For 4 p < q^2 all these are different (Davidoff, Sarnak and Valette 2003).
 *
 * A router's number comes of its matrix with lower row (0, 1) or (1, t), by that row,
 * the logarithm of the determinant, and the upper left entry, or right one with (0, 1).
 */
#include "base/finite_field.h"
#include "network/topology/sizes.h"

struct spectralfly_config {
    uint32_t p, q;
    uint32_t terminals;
};

struct matrix {
    uint32_t a, b, c, d; /* upper row, lower row */
};

struct squares {
    int64_t root[4]; /* a0, a1, a2, a3 */
};

struct spectralfly {
    struct finite_field field;
    uint32_t step;             /* of the determinants' logarithms: 2 where all are squares */
    struct matrix *generators; /* by port */
    uint32_t *back;            /* by port: that of the way back */
};

static const struct option spectralfly_options[] = {
    OPTION_U32(struct spectralfly_config, p, "11", 3, 65536, NULL, "an odd prime: routers have p + 1 channels"),
    OPTION_U32(struct spectralfly_config, q, "7", 3, 1291, NULL,
               "another one, with q^2 above 4 p: there are q^3 - q routers, or half as many if p is a square modulo q"),
    OPTION_U32(struct spectralfly_config, terminals, "null", 1, 1024, "terminals",
               "terminals at each router; null: a third of its channels, rounded up"),
    OPTION_END,
};

static bool is_odd_prime(uint32_t number) { return number % 2 && prime_of_power(number) == number; }

static bool is_square(uint32_t p, uint32_t q)
{
    for (uint32_t root = 1; root < q; root++)
        if (root * root % q == p % q)
            return true;
    return false;
}

static uint32_t terminal_count(const struct spectralfly_config *config)
{
    return config->terminals ? config->terminals : (config->p + 3) / 3;
}

/* ---- check ---- */

static bool check_odd_prime(const struct choice *self, const char *key, uint32_t number, struct errors *errors)
{
    uint32_t below = number, above = number;
    if (is_odd_prime(number))
        return true;
    while (!is_odd_prime(below))
        below--;
    while (!is_odd_prime(above))
        above++;
    choice_error(errors, self, key, "%u is no odd prime; the nearest that are: %u and %u", number, below, above);
    return false;
}

static void check_pair(const struct choice *self, uint32_t p, uint32_t q, struct errors *errors)
{
    uint32_t most = (q * q - 1) / 4, least = q;
    while (most > 2 && (!is_odd_prime(most) || most == q))
        most--;
    while (!is_odd_prime(least) || least == p || (uint64_t)least * least < 4 * (uint64_t)p)
        least++;
    if (p == q)
        choice_error(errors, self, "q", "p and q are both %u; accepted: two different odd primes", p);
    else if ((uint64_t)q * q < 4 * (uint64_t)p && most > 2)
        choice_error(errors, self, "q",
                     "q^2 is not above 4 p with p %u and q %u; accepted: q from %u on, or p up to %u", p, q, least,
                     most);
    else if ((uint64_t)q * q < 4 * (uint64_t)p)
        choice_error(errors, self, "q", "q^2 is not above 4 p with p %u and q %u; accepted: q from %u on", p, q, least);
}

static void spectralfly_check(const struct choice *self, struct errors *errors)
{
    const struct spectralfly_config *config = self->config;
    uint32_t before = errors->count;
    uint64_t q = config->q, routers = (q * q * q - q) / (is_square(config->p, config->q) ? 2 : 1);
    if (!check_odd_prime(self, "p", config->p, errors) || !check_odd_prime(self, "q", config->q, errors))
        return;
    check_pair(self, config->p, config->q, errors);
    if (errors->count == before)
        topology_check_size(self, "q", routers * terminal_count(config), routers * (config->p + 1), errors);
}

/* ---- numbers and matrices ---- */

static struct matrix matrix_of(const struct spectralfly *fly, uint32_t router)
{
    const struct finite_field *field = &fly->field;
    uint32_t q = field->order, logarithms = (q - 1) / fly->step;
    uint32_t entry = router % q, row = router / q / logarithms;
    uint32_t determinant = finite_field_power(field, router / q % logarithms * fly->step);
    if (row == 0)
        return (struct matrix){determinant, entry, 0, 1};
    uint32_t product = finite_field_multiply(field, entry, row - 1);
    return (struct matrix){entry, finite_field_subtract(field, product, determinant), 1, row - 1};
}

static uint32_t router_of(const struct spectralfly *fly, struct matrix m)
{
    const struct finite_field *field = &fly->field;
    uint32_t row = 0, scale = m.c ? m.c : m.d, entry, determinant;
    if (m.c) {
        uint32_t upper_right = finite_field_divide(field, m.b, scale), last = finite_field_divide(field, m.d, scale);
        row = 1 + last;
        entry = finite_field_divide(field, m.a, scale);
        determinant = finite_field_subtract(field, finite_field_multiply(field, entry, last), upper_right);
    } else {
        entry = finite_field_divide(field, m.b, scale);
        determinant = finite_field_divide(field, m.a, scale);
    }
    uint32_t q = field->order, logarithms = (q - 1) / fly->step;
    return (row * logarithms + field->logarithms[determinant] / fly->step) * q + entry;
}

/* a * b + c * d */
static uint32_t entry_of(const struct finite_field *field, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return finite_field_add(field, finite_field_multiply(field, a, b), finite_field_multiply(field, c, d));
}

static struct matrix matrix_product(const struct finite_field *field, struct matrix m, struct matrix n)
{
    return (struct matrix){entry_of(field, m.a, n.a, m.b, n.c), entry_of(field, m.a, n.b, m.b, n.d),
                           entry_of(field, m.c, n.a, m.d, n.c), entry_of(field, m.c, n.b, m.d, n.d)};
}

/* ---- generators ---- */

static uint32_t modulo(int64_t number, uint32_t q) { return (uint32_t)((number % q + q) % q); }

/* x and y with x^2 + y^2 + 1 = 0 modulo q. */
static void find_root(uint32_t q, int64_t root[2])
{
    for (root[0] = 0;; root[0]++)
        for (root[1] = 0; root[1] < q; root[1]++)
            if ((root[0] * root[0] + root[1] * root[1] + 1) % q == 0)
                return;
}

static struct matrix generator_of(const struct squares *squares, const int64_t root[2], uint32_t q)
{
    const int64_t *a = squares->root, x = root[0], y = root[1];
    return (struct matrix){modulo(a[0] + a[1] * x + a[3] * y, q), modulo(-a[1] * y + a[2] + a[3] * x, q),
                           modulo(-a[1] * y - a[2] + a[3] * x, q), modulo(a[0] - a[1] * x - a[3] * y, q)};
}

/* Of those with the sum p: odd and even as they have to be. */
static bool is_wanted(uint32_t p, int64_t b, int64_t c, int64_t d)
{
    if (p % 4 == 3)
        return b % 2 && c % 2 && d % 2;
    return b % 2 == 0 && c % 2 == 0 && d % 2 == 0;
}

/* Writes p as a sum of four squares in all ways that are wanted, in rising order; returns how many there are. */
static uint32_t find_squares(uint32_t p, struct squares *found)
{
    int64_t most = 0;
    uint32_t count = 0;
    while (most * most < p)
        most++;
    for (int64_t a = p % 4 == 3 ? 0 : 1; a < most; a += 2)
        for (int64_t b = a == 0 ? 1 : -most; b < most; b++)
            for (int64_t c = -most; c < most; c++)
                for (int64_t d = -most; d < most; d++)
                    if (a * a + b * b + c * c + d * d == p && is_wanted(p, b, c, d)) {
                        FW_CHECK(count <= p, "%u is a sum of four squares in more than %u ways", p, p + 1);
                        found[count++] = (struct squares){{a, b, c, d}};
                    }
    return count;
}

/* The way back: with a0 = 0 its own, else the one where the other three have the other sign. */
static bool is_way_back(const struct squares *there, const struct squares *back)
{
    const int64_t *a = there->root, *b = back->root;
    int64_t sign = a[0] == 0 ? 1 : -1;
    return a[0] == b[0] && a[1] == sign * b[1] && a[2] == sign * b[2] && a[3] == sign * b[3];
}

static void find_generators(struct spectralfly *fly, uint32_t p, struct arena *arena)
{
    struct arena scratch = {0};
    struct squares *squares = arena_array(&scratch, struct squares, p + 1);
    uint32_t count = find_squares(p, squares), q = fly->field.order;
    int64_t root[2];
    FW_CHECK(count == p + 1, "%u is a sum of four squares in %u ways, not %u", p, count, p + 1);
    find_root(q, root);
    fly->generators = arena_array(arena, struct matrix, count);
    fly->back = arena_array(arena, uint32_t, count);
    for (uint32_t port = 0; port < count; port++) {
        fly->generators[port] = generator_of(&squares[port], root, q);
        while (!is_way_back(&squares[port], &squares[fly->back[port]]))
            fly->back[port]++;
    }
    arena_release(&scratch);
}

static void spectralfly_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct spectralfly_config *settings = config;
    struct spectralfly *fly = arena_array(arena, struct spectralfly, 1);
    uint32_t q = settings->q;
    finite_field_init(&fly->field, q, arena);
    fly->step = is_square(settings->p, q) ? 2 : 1;
    find_generators(fly, settings->p, arena);
    topology->state = fly;
    topology_size(topology, (q * q - 1) / fly->step * q, terminal_count(settings), settings->p + 1);
}

static bool spectralfly_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct spectralfly *fly = topology->state;
    struct matrix there = matrix_product(&fly->field, matrix_of(fly, router), fly->generators[port]);
    *peer = (struct router_port){router_of(fly, there), fly->back[port]};
    return true;
}

static const struct topology_ops spectralfly = {
    .name = "spectralfly",
    .summary = "Ramanujan graphs of Lubotzky, Phillips and Sarnak: the best expanders there are",
    .options = spectralfly_options,
    .example = "{\"type\": \"spectralfly\", \"p\": 3, \"q\": 5, \"terminals\": 1}",
    .check = spectralfly_check,
    .shape = spectralfly_shape,
    .peer = spectralfly_peer,
};
REGISTER_TOPOLOGY(spectralfly);
