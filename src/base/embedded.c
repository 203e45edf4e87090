/* SPDX-License-Identifier: Apache-2.0 */
/* Finding files that are part of the program. */
#include "base/embedded.h"

#include <string.h>

const struct embedded_file *embedded_find(const struct embedded_file *files, const char *name)
{
    while (files->name && strcmp(files->name, name) != 0)
        files++;
    return files->name ? files : NULL;
}
