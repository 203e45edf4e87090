/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Files that are part of the program, see CMakeLists.txt. Each list ends with a NULL name. */
#include <stddef.h>
#include <string.h>

struct embedded_file {
    const char *name;
    const char *bytes; /* NUL-terminated */
    size_t size;
};

/* index.html, app.js and app.css, as far as they were there when the program was built. */
extern const struct embedded_file page_files[];
/* Configurations by name, sorted, without ".json". */
extern const struct embedded_file scenario_files[];
/* study.sql: the tables of a study and, behind them, what the viewer asks of it. */
extern const struct embedded_file study_files[];
/* new_test.py.in: the test of a component that `flitwarp new` made, a format of cli/new.c. */
extern const struct embedded_file new_files[];
/* Components that `flitwarp new` copies, by their path in src. */
extern const struct embedded_file template_files[];
/* Texts that OpenCL reads too, by their path in the tree: see flitwarp/both.h. */
extern const struct embedded_file device_files[];

/* NULL: there is no such file. */
static inline const struct embedded_file *embedded_find(const struct embedded_file *files, const char *name)
{
    while (files->name && strcmp(files->name, name) != 0)
        files++;
    return files->name ? files : NULL;
}
