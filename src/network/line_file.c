/* SPDX-License-Identifier: Apache-2.0 */
/* Line by line through a file, see line_file.h. */
#include "network/line_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool file_error(const struct line_file *file)
{
    return node_error(file->errors, file->node, file->key, "cannot read \"%s\": %s", file->path, strerror(errno));
}

bool line_file_read(struct line_file *file, bool (*read_line)(void *reader, char *text), void *reader)
{
    FILE *stream = fopen(file->path, "r");
    char *line = NULL;
    size_t size = 0;
    bool is_good = true;
    if (!stream)
        return file_error(file);
    for (ssize_t length; is_good && (length = getline(&line, &size, stream)) >= 0;) {
        file->line++;
        is_good = !memchr(line, '\0', (size_t)length) || line_error(file, "found a NUL, expected %s", "text");
        line[strcspn(line, "#\r\n")] = '\0';
        is_good = is_good && read_line(reader, line);
    }
    if (ferror(stream)) /* a folder opens, but cannot be read */
        is_good = file_error(file);
    free(line);
    fclose(stream);
    return is_good;
}

uint32_t line_numbers(const char *text, double *numbers, uint32_t most)
{
    for (uint32_t count = 0; count < most; text++) {
        char *end;
        numbers[count++] = strtod(text, &end);
        if (end == text || !isfinite(numbers[count - 1]))
            return 0;
        for (text = end; isspace((unsigned char)*text);)
            text++;
        if (!*text)
            return count;
        if (*text != ',')
            return 0;
    }
    return 0;
}
