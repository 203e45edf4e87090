/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a run writes, see run.h: no two of them are one, and none is a file that it reads. */
#include "run/run.h"

#include "base/loaded.h"
#include "base/text.h"
#include "config/source.h"
#include "workload/trace/trace.h"

enum { RESULTS, LOGS, CHECKPOINT = LOGS + RUN_LOG_KINDS, FILES };

bool files_spare_program(const struct written_file *written, uint32_t count, struct errors *errors)
{
    uint32_t before = errors->count;
    for (uint32_t i = 0; i < count; i++)
        if (written[i].path && loaded_has_file(written[i].path))
            errors_add(errors, "%s: '%s' is a plugin at work, or the program; expected another name", written[i].flag,
                       written[i].path);
    return errors->count == before;
}

int run_check_names(struct run *run)
{
    const struct run_request *request = &run->request;
    struct simulation *simulation = &run->simulation;
    struct errors *errors = &simulation->errors;
    uint32_t before = errors->count;
    struct written_file written[FILES] = {
        [RESULTS] = {"--results", request->results}, [CHECKPOINT] = {"--checkpoint", run->checkpoint.path}};
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++)
        written[LOGS + i] = (struct written_file){run_log_flags[i], request->logs.names[i]};
    written_once(written, FILES, errors);
    files_spare_program(written, FILES, errors);
    written_spare(written, FILES, simulation->files, paths_are_one, errors);
    written_spare(written, FILES, simulation->data, trace_has_file, errors);
    if (request->restart) { /* which a later checkpoint may replace */
        struct json *restart = json_array(&simulation->setup);
        source_note_file(restart, &simulation->setup, request->restart);
        written_spare(written, CHECKPOINT, restart, paths_are_one, errors);
    }
    return errors->count == before ? EXIT_DONE : EXIT_USAGE;
}
