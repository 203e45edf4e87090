/* SPDX-License-Identifier: Apache-2.0 */
/* Line by line through a file, see line_file.h. */
#include "network/line_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void file_error(const struct line_file *file)
{
    node_error(file->errors, file->node, file->key, "cannot read \"%s\": %s", file->path, strerror(errno));
}

bool line_file_read(struct line_file *file, bool (*read_line)(void *reader, char *text), void *reader)
{
    FILE *stream = fopen(file->path, "r");
    char *line = NULL;
    size_t size = 0;
    bool is_good = true;
    if (!stream) {
        file_error(file);
        return false;
    }
    while (is_good && getline(&line, &size, stream) >= 0) {
        file->line++;
        line[strcspn(line, "#\r\n")] = '\0';
        is_good = read_line(reader, line);
    }
    if (ferror(stream)) { /* a folder opens, but cannot be read */
        file_error(file);
        is_good = false;
    }
    free(line);
    fclose(stream);
    return is_good;
}
