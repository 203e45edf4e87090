/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the service levels of a fabric's pairs from path records, as saquery -p
 * prints them: blocks of lines of which three matter,
 *
 *     PathRecord dump:
 *             dlid....................5
 *             slid....................2
 *             sl......................0x1
 */
#include "import/infiniband.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LEVELS 16

/* Of the block being read; FABRIC_NONE: not said so far. */
struct record {
    uint32_t source, destination, level;
};

static void record_field(const char *line, const char *name, uint32_t *value)
{
    size_t length = strlen(name);
    line += strspn(line, " \t");
    if (strncmp(line, name, length) == 0 && line[length] == '.')
        *value = (uint32_t)strtoul(line + length + strspn(line + length, "."), NULL, 0);
}

/* Of lids that no adapter has, switches' among them, nothing is kept. */
static bool record_keep(struct fabric *fabric, struct record *record)
{
    const struct record whole = *record;
    *record = (struct record){FABRIC_NONE, FABRIC_NONE, FABRIC_NONE};
    if (whole.source == FABRIC_NONE && whole.destination == FABRIC_NONE && whole.level == FABRIC_NONE)
        return true;
    if (whole.source >= 0x10000 || whole.destination >= 0x10000 || whole.level >= MAX_LEVELS)
        return fabric_error(fabric, "found a path record without slid, dlid or sl, or beyond 65535 and 15");
    uint32_t source = fabric->lids[whole.source], destination = fabric->lids[whole.destination];
    if (source == FABRIC_NONE || destination == FABRIC_NONE)
        return true;
    fabric->levels[(size_t)source * fabric->terminal_count + destination] = (uint8_t)whole.level;
    if (source != destination && whole.level >= fabric->level_count)
        fabric->level_count = whole.level + 1;
    return true;
}

static bool levels_are_whole(const struct fabric *fabric)
{
    for (uint32_t source = 0; source < fabric->terminal_count; source++)
        for (uint32_t destination = 0; destination < fabric->terminal_count; destination++)
            if (source != destination &&
                fabric->levels[(size_t)source * fabric->terminal_count + destination] == FABRIC_NO_WAY)
                return errors_add(fabric->import->errors, "%s: there is no path record from lid %u to lid %u",
                                  fabric->file, fabric->ports[fabric->terminals[source]].lid,
                                  fabric->ports[fabric->terminals[destination]].lid);
    return true;
}

bool fabric_read_levels(struct fabric *fabric, const char *path)
{
    struct arena *arena = fabric->import->arena;
    size_t size, pairs = (size_t)fabric->terminal_count * fabric->terminal_count;
    struct record record = {FABRIC_NONE, FABRIC_NONE, FABRIC_NONE};
    errno = 0;
    const char *text = file_read(arena, path, &size);
    if (!text)
        return errors_add(fabric->import->errors, "cannot read '%s': %s", path, strerror(errno));
    fabric->file = path;
    fabric->line = 0;
    fabric->level_count = 1;
    fabric->levels = arena_array(arena, uint8_t, pairs);
    memset(fabric->levels, FABRIC_NO_WAY, pairs);
    for (const char *line; (line = fabric_line(fabric, &text));) {
        if (strncmp(line, "PathRecord", 10) == 0 && !record_keep(fabric, &record))
            return false;
        record_field(line, "slid", &record.source);
        record_field(line, "dlid", &record.destination);
        record_field(line, "sl", &record.level);
    }
    return record_keep(fabric, &record) && levels_are_whole(fabric);
}
