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

bool written_spare(const struct written_file *written, uint32_t count, const struct json *read,
                   bool (*is_one)(const char *written, const char *read), struct errors *errors)
{
    uint32_t before = errors->count;
    for (uint32_t i = 0; i < count; i++) {
        const struct json *file = is_file(&written[i]) ? read->first : NULL;
        while (file && !is_one(written[i].path, file->text))
            file = file->next;
        if (file)
            errors_add(errors, "%s: '%s' is read, and would be written over; expected another name", written[i].flag,
                       written[i].path);
    }
    return errors->count == before;
}
