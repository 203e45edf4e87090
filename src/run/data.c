/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files hold that settings name. Names stay while files change, and folders have files of one name, so results have
 * a checksum of each: runs whose networks or traces differ are not taken for repetitions.
 */
#include "run/run.h"

#include "base/checksum.h"
#include "base/text.h"
#include "flitwarp/random.h"
#include "workload/trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK_BYTES ((size_t)1 << 16)

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* False for what cannot be read once more, such as a pipe. */
static bool add_file(const char *path, char *block, uint64_t *sum)
{
    struct stat about;
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rbe") : NULL;
    if (!file)
        return false;
    size_t count;
    while ((count = fread(block, 1, BLOCK_BYTES, file)) > 0)
        *sum = random_mix(*sum ^ bytes_checksum(block, count));
    bool is_read = !ferror(file);
    fclose(file);
    return is_read;
}

/* Of a file and of those that belong to it, with their names; null where one cannot be read. */
static struct json *checksum_of(struct arena *arena, const char *path)
{
    struct arena scratch = {0};
    char *block = arena_take(&scratch, BLOCK_BYTES);
    uint64_t sum = 0;
    bool is_read = true;
    const struct json *files = trace_files(&scratch, path);
    for (const struct json *file = files->first; file && is_read; file = file->next) {
        if (files->count > 1)
            sum ^= bytes_checksum(last_name(file->text), strlen(last_name(file->text)));
        is_read = add_file(file->text, block, &sum);
    }
    arena_release(&scratch);
    return is_read ? json_text(arena, arena_format(arena, "%016" PRIx64, sum)) : json_null(arena);
}

void run_note_data(struct simulation *simulation)
{
    struct arena *arena = &simulation->setup;
    struct json *sums = json_object(arena);
    for (const struct json *file = simulation->data->first; file; file = file->next) {
        const char *name = arena_text(arena, last_name(file->text));
        for (uint32_t same = 2; json_find(sums, name); same++)
            name = arena_format(arena, "%s (%u)", last_name(file->text), same);
        json_add(sums, name, checksum_of(arena, file->text));
    }
    simulation->sums = sums;
}
