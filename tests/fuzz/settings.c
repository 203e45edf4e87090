/* SPDX-License-Identifier: Apache-2.0 */
/* Overrides, one a line, and whole configurations, through the program's own option tables and on into a short run. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OVERRIDES = 64 };

/* It might be read for ever, or be one's own corpus. */
static bool names_files(const char *text)
{
    return strstr(text, "/dev") || strstr(text, "/proc") || strstr(text, "..") || strstr(text, "\\u");
}

FUZZ_TARGET(overrides)
{
    size_t length;
    char *lines[MOST_OVERRIDES], *text = fuzz_part(&data, &size, &length);
    if (!names_files(text))
        fuzz_simulate(fuzz_small, lines, fuzz_lines(text, lines, MOST_OVERRIDES));
    free(text);
}

FUZZ_TARGET(network)
{
    size_t length;
    char *text = fuzz_part(&data, &size, &length);
    if (!names_files(text))
        fuzz_simulate(text, NULL, 0);
    free(text);
}
