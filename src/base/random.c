/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random variates that need a logarithm. The logarithm is our own: libraries
 * differ in its last bit, and one bit is enough to move an injection by a tick
 * and make two machines disagree. Only + - * / are used, which IEEE 754 rounds
 * exactly; contraction into fused operations would change bits, so it is off
 * (gcc has it off under -std=c17). Read by OpenCL too.
 */
#include "flitwarp/random.h"

#if FW_HOST && defined __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define MANTISSA_BITS 52
#define EXPONENT_BIAS 1023

/* x = *mantissa * 2^returned, the mantissa in [sqrt(1/2), sqrt(2)). */
static int log_split(double x, double *mantissa)
{
    int exponent = 0;
    if (x < 0x1p-1022) { /* subnormal: bring it into the normal range first */
        x *= 0x1p54;
        exponent = -54;
    }
    uint64_t bits = bits_of_f64(x);
    exponent += (int)(bits >> MANTISSA_BITS) - EXPONENT_BIAS;
    uint64_t fraction = bits & (((uint64_t)1 << MANTISSA_BITS) - 1);
    *mantissa = f64_of_bits(fraction | (uint64_t)EXPONENT_BIAS << MANTISSA_BITS);
    if (*mantissa >= 1.4142135623730951) {
        *mantissa *= 0.5;
        exponent++;
    }
    return exponent;
}

/*
 * log(m) = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172: terms up to s^25 of
 * the series leave less than 1e-18. log(2) is added in two parts, the first with
 * so many trailing zeros that its product with the exponent is exact.
 */
double exact_log(double x)
{
    const double log2_high = 0x1.62e42fee00000p-1, log2_low = 0x1.a39ef35793c76p-33;
    if (!(x > 0))
        return -__builtin_inf();
    if (x > 0x1.fffffffffffffp+1023)
        return x;
    double mantissa;
    double exponent = log_split(x, &mantissa);
    double s = (mantissa - 1) / (mantissa + 1);
    double square = s * s;
    double series = 0;
    for (int odd = 25; odd >= 3; odd -= 2)
        series = series * square + 1.0 / odd;
    double log_mantissa = 2 * s + 2 * s * square * series;
    return exponent * log2_high + (log_mantissa + exponent * log2_low);
}

double random_exponential(struct random *random) { return 0.0 - exact_log(1 - random_unit(random)); }

/*
 * For a draw in (0, 1]: terms up to s^11 leave less than 3e-11, which moves a
 * geometric variate once in some 10^10 draws and no statistic. Half the
 * instructions of exact_log, and every message takes one.
 */
static double log_of_draw(double x)
{
    uint64_t bits = bits_of_f64(x) - bits_of_f64(0.70710678118654757); /* counts in powers of two from sqrt(1/2) */
    double exponent = (double)((int64_t)bits >> MANTISSA_BITS);
    double m = f64_of_bits((bits & (((uint64_t)1 << MANTISSA_BITS) - 1)) + bits_of_f64(0.70710678118654757));
    double s = (m - 1) / (m + 1), square = s * s;
    double series =
        ((((1.0 / 11 * square + 1.0 / 9) * square + 1.0 / 7) * square + 1.0 / 5) * square + 1.0 / 3) * square;
    return exponent * 0.69314718055994531 + 2 * (s + s * series);
}

uint64_t random_geometric(struct random *random, double log_of_failure)
{
    double failures = log_of_draw(1 - random_unit(random)) / log_of_failure;
    if (!(failures >= 0 && failures < 0x1p62)) /* a probability so small that the logarithm is 0, or nearly */
        return (uint64_t)1 << 62;
    return 1 + (uint64_t)failures;
}
