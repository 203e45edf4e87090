/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finite fields by tables of logarithms. Multiplying by x is a shift of the
 * digits, less the leading one times a monic polynomial f of degree n. If x runs
 * through all p^n - 1 polynomials but 0 that way before it is back at 1, each of
 * them is a power of x and so has an inverse: that is the field, and x is
 * primitive. Such an f exists for every p^n, and is found by trying all in turn.
 * For n = 1, f is x - g, and g a primitive root.
 */
#include "base/finite_field.h"

#include "flitwarp/error.h"

uint32_t prime_of_power(uint32_t number)
{
    if (number < 2)
        return 0;
    uint32_t prime = 2;
    while ((uint64_t)prime * prime <= number && number % prime)
        prime++;
    if (number % prime)
        return number;
    while (number % prime == 0)
        number /= prime;
    return number == 1 ? prime : 0;
}

/* Digit by digit a + factor * b, modulo p. */
static uint32_t add_multiple(uint32_t order, uint32_t characteristic, uint32_t a, uint32_t factor, uint32_t b)
{
    uint32_t sum = 0;
    for (uint32_t place = 1; place < order; place *= characteristic)
        sum += (a / place + factor * (b / place)) % characteristic * place;
    return sum;
}

/* Fills the powers of x modulo x^n - `rest`; false: it is back at 1, or at 0, too early. */
static bool fill_powers(uint32_t order, uint32_t characteristic, uint32_t rest, uint16_t *powers)
{
    uint32_t leading = order / characteristic, element = 1;
    for (uint32_t exponent = 0; exponent < order - 1; exponent++) {
        if (exponent > 0 && element <= 1)
            return false;
        powers[exponent] = (uint16_t)element;
        element = add_multiple(order, characteristic, element % leading * characteristic, element / leading, rest);
    }
    return element == 1;
}

void finite_field_init(struct finite_field *field, uint32_t order, struct arena *arena)
{
    uint32_t prime = prime_of_power(order), rest = 1;
    FW_CHECK(prime && order <= 65536, "there is no field of order %u here", order);
    uint16_t *powers = arena_array(arena, uint16_t, order), *logarithms = arena_array(arena, uint16_t, order);
    *field = (struct finite_field){order, prime, powers, logarithms};
    while (!fill_powers(order, prime, rest, powers))
        rest++;
    for (uint32_t exponent = 0; exponent < order - 1; exponent++)
        logarithms[powers[exponent]] = (uint16_t)exponent;
}

uint32_t finite_field_add(const struct finite_field *field, uint32_t a, uint32_t b)
{
    return add_multiple(field->order, field->characteristic, a, 1, b);
}

uint32_t finite_field_subtract(const struct finite_field *field, uint32_t a, uint32_t b)
{
    return add_multiple(field->order, field->characteristic, a, field->characteristic - 1, b);
}

uint32_t finite_field_power(const struct finite_field *field, uint32_t exponent)
{
    return field->powers[exponent % (field->order - 1)];
}

uint32_t finite_field_multiply(const struct finite_field *field, uint32_t a, uint32_t b)
{
    return a && b ? finite_field_power(field, (uint32_t)field->logarithms[a] + field->logarithms[b]) : 0;
}

uint32_t finite_field_divide(const struct finite_field *field, uint32_t a, uint32_t b)
{
    return a ? finite_field_power(field, field->order - 1 + field->logarithms[a] - field->logarithms[b]) : 0;
}
