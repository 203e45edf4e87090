/* SPDX-License-Identifier: Apache-2.0 */
#include "config/written.h"

#include "base/text.h"

#include <string.h>

static bool is_file(const struct written_file *written) { return written->path && strcmp(written->path, "-") != 0; }

bool written_once(const struct written_file *written, uint32_t count, struct errors *errors)
{
    uint32_t before = errors->count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t other = 0; other < i; other++)
            if (is_file(&written[i]) && is_file(&written[other]) && paths_are_one(written[i].path, written[other].path))
                errors_add(errors, "%s: '%s' is the file of %s too", written[i].flag, written[i].path,
                           written[other].flag);
    return errors->count == before;
}

static bool is_among(const char *path, const struct json *read)
{
    for (const struct json *file = read->first; file; file = file->next)
        if (paths_are_one(path, file->text))
            return true;
    return false;
}

bool written_spare(const struct written_file *written, uint32_t count, const struct json *read, struct errors *errors)
{
    uint32_t before = errors->count;
    for (uint32_t i = 0; i < count; i++)
        if (is_file(&written[i]) && is_among(written[i].path, read))
            errors_add(errors, "%s: '%s' is read, and would be written over; expected another name", written[i].flag,
                       written[i].path);
    return errors->count == before;
}
