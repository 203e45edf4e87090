/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times and rates from text. The number is plain decimal (no hexadecimal, no
 * infinities, which strtod would take), then blanks, then exactly one unit.
 */
#include "config/units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct time_unit {
    const char *name;
    double per_second;
} time_units[] = {{"fs", 1e15}, {"ps", 1e12}, {"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}};

static const struct {
    const char *name;
    double factor;
} prefixes[] = {{"", 1},     {"K", 1e3},     {"k", 1e3},     {"M", 1e6},     {"G", 1e9},
                {"T", 1e12}, {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}},
  rate_units[] = {{"b/s", 1}, {"bps", 1}, {"B/s", 8}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The number at the beginning of the text; returns what follows it, NULL when there is none. */
static const char *read_number(const char *text, double *number)
{
    const char *digits = text + (*text == '-');
    if (!isdigit((unsigned char)*digits) || (digits[0] == '0' && tolower((unsigned char)digits[1]) == 'x'))
        return NULL;
    char *end;
    *number = strtod(text, &end);
    if (!isfinite(*number))
        return NULL;
    while (*end == ' ')
        end++;
    return end;
}

bool read_time(const char *text, double *seconds, const char **unit)
{
    double number;
    const char *rest = read_number(text, &number);
    for (size_t i = 0; rest && i < COUNT(time_units); i++) {
        if (strcmp(rest, time_units[i].name) != 0)
            continue;
        *unit = time_units[i].name;
        *seconds = number / time_units[i].per_second;
        return true;
    }
    return false;
}

double time_units_per_second(const char *unit)
{
    for (size_t i = 0; i < COUNT(time_units); i++)
        if (strcmp(unit, time_units[i].name) == 0)
            return time_units[i].per_second;
    return 1;
}

bool read_rate(const char *text, double *rate)
{
    double number;
    const char *rest = read_number(text, &number);
    for (size_t p = 0; rest && p < COUNT(prefixes); p++) {
        size_t length = strlen(prefixes[p].name);
        if (strncmp(rest, prefixes[p].name, length) != 0)
            continue;
        for (size_t u = 0; u < COUNT(rate_units); u++)
            if (strcmp(rest + length, rate_units[u].name) == 0) {
                *rate = number * (prefixes[p].factor * rate_units[u].factor);
                return isfinite(*rate);
            }
    }
    return false;
}
