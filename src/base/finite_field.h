/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Arithmetic in finite fields. Elements are numbers below the order p^n: the
 * coefficients of a polynomial over the integers modulo p, as digits to the base
 * p. With n = 1 they are the integers modulo p themselves.
 */
#include "flitwarp/arena.h"

struct finite_field {
    uint32_t order;
    uint32_t characteristic;    /* p */
    const uint16_t *powers;     /* of a primitive element, by exponents below order - 1: all elements but 0 */
    const uint16_t *logarithms; /* by element: its exponent there; nothing for 0 */
};

/* The prime that a number is a power of; 0: it is of none. */
uint32_t prime_of_power(uint32_t number);

/* The order is the power of a prime, at most 65536. */
void finite_field_init(struct finite_field *field, uint32_t order, struct arena *arena);

uint32_t finite_field_add(const struct finite_field *field, uint32_t a, uint32_t b);
uint32_t finite_field_subtract(const struct finite_field *field, uint32_t a, uint32_t b);
uint32_t finite_field_multiply(const struct finite_field *field, uint32_t a, uint32_t b);
/* `b` is not 0. */
uint32_t finite_field_divide(const struct finite_field *field, uint32_t a, uint32_t b);
/* The primitive element to any power. */
uint32_t finite_field_power(const struct finite_field *field, uint32_t exponent);
