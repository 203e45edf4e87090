/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Files that are part of the program: the viewer's page and its scenarios; see CMakeLists.txt. */
#include <stddef.h>

struct embedded_file {
    const char *name;
    const char *bytes; /* NUL-terminated */
    size_t size;
};

/* index.html, app.js and app.css, as far as they were there when the program was built; ends with a NULL name. */
extern const struct embedded_file page_files[];
/* Configurations by name, sorted, without ".json"; ends with a NULL name. */
extern const struct embedded_file scenario_files[];

/* NULL: there is no such file. */
const struct embedded_file *embedded_find(const struct embedded_file *files, const char *name);
