/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a run writes, see run.h: no two of them are one, and none is a file that it reads. */
#include "run/run.h"

#include "base/text.h"

#include <string.h>
#include <sys/stat.h>

struct named {
    const char *flag, *path;
};

/* Fills `named` with what is to be written; standard output is no file. */
static uint32_t list_written(const struct run *run, struct named named[static RUN_LOG_KINDS + 2])
{
    const struct run_request *request = &run->request;
    struct named all[RUN_LOG_KINDS + 2] = {{"--results", request->results}};
    uint32_t count = 0;
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++)
        all[i + 1] = (struct named){run_log_flags[i], request->logs.names[i]};
    all[RUN_LOG_KINDS + 1] = (struct named){"--checkpoint", run->checkpoint.path};
    for (uint32_t i = 0; i < RUN_LOG_KINDS + 2; i++)
        if (all[i].path && strcmp(all[i].path, "-") != 0)
            named[count++] = all[i];
    return count;
}

static void check_read(struct run *run, const struct named *written, const struct json *files)
{
    for (const struct json *file = files ? files->first : NULL; file; file = file->next)
        if (paths_are_one(written->path, file->text)) {
            errors_add(&run->simulation.errors,
                       "%s: the run reads '%s', and would write over it; expected another name", written->flag,
                       written->path);
            return;
        }
}

int run_check_names(struct run *run)
{
    struct named written[RUN_LOG_KINDS + 2];
    struct errors *errors = &run->simulation.errors;
    uint32_t count = list_written(run, written), before = errors->count;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t other = 0; other < i; other++)
            if (paths_are_one(written[i].path, written[other].path))
                errors_add(errors, "%s: '%s' is the file of %s too", written[i].flag, written[i].path,
                           written[other].flag);
        check_read(run, &written[i], run->simulation.files);
        check_read(run, &written[i], run->simulation.data);
    }
    return errors->count == before ? EXIT_DONE : EXIT_USAGE;
}
