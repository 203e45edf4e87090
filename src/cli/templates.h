/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The real components that `flitwarp new` copies. CMake writes their text into templates.c in the build directory. */

struct template
{
    const char *kind, *name;
    const char *folder; /* in the source tree */
    const char *text;
};

extern const struct template templates[]; /* kind is NULL at the end */
