/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Numbers with units, as text: times ("10ns", "0.5 us") and rates ("100Gb/s",
 * "12.5GB/s", "8Gibps"). Results are divided by or multiplied with exact powers,
 * so that "625ps" is the double nearest to 625e-12.
 */
#include <stdbool.h>
#include <stdint.h>

/* `unit` gets the unit's name, which is static. False when the text is not a time. */
bool read_time(const char *text, double *seconds, const char **unit);
/* Bits per second. */
bool read_rate(const char *text, double *rate);
/* How many of the unit make a second. */
double time_units_per_second(const char *unit);
