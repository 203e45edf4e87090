/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp record CONFIG [PATH=VALUE ...] -o run.html: some cycles of a run, with the
 * viewer's page, in one file that plays from anywhere.
 */
#include "cli/command.h"
#include "view/recording.h"

enum { MOST_CYCLES = 100 * 1000 }; /* a file that no browser opens is of no use */

struct record_request {
    const char *path, *cycles, *from;
};

static const struct flag record_flags[] = {
    FLAG_VALUE(struct record_request, path, "-o", "FILE.html", "the page to write"),
    FLAG_VALUE(struct record_request, cycles, "--cycles", "N", "how many cycles; 1000 if not given"),
    FLAG_VALUE(struct record_request, from, "--from", "TICK", "where to begin; 0 if not given"),
    FLAG_END,
};

static bool record_read_number(const char *word, const char *flag, uint64_t least, uint64_t most, uint64_t *number,
                               struct errors *errors)
{
    const char *end = word;
    if (number_read(&end, most, number) && !*end && *number >= least)
        return true;
    errors_add(errors, "flitwarp record: %s %s; accepted: %llu to %llu", flag, word, (unsigned long long)least,
               (unsigned long long)most);
    return false;
}

static int cli_record(struct call *call)
{
    struct record_request *request = call->request;
    struct errors *errors = &call->errors;
    struct recording recording = {0};
    *request = (struct record_request){.cycles = "1000", .from = "0"};
    if (!arguments_read(call) ||
        !record_read_number(request->cycles, "--cycles", 1, MOST_CYCLES, &recording.cycles, errors) ||
        !record_read_number(request->from, "--from", 0, 1000000000000, &recording.from, errors))
        return EXIT_USAGE;
    if (!request->path) {
        errors_add(errors, "flitwarp record: -o FILE.html is missing");
        return call_refuse(call);
    }
    const struct view_source source = {
        .path = call->config, .overrides = call->overrides, .override_count = call->override_count};
    int status = EXIT_USAGE;
    recording.run = viewed_run_open(&source, NULL, 0, errors);
    if (recording.run)
        status = recording_check(errors) && recording_write(&recording, request->path, errors) ? EXIT_DONE : EXIT_IO;
    if (status == EXIT_DONE)
        fprintf(stderr, "%s: %u frames up to tick %llu\n", request->path, recording.frames,
                (unsigned long long)recording.run->watch.now);
    viewed_run_close(recording.run);
    text_release(&recording.json);
    text_release(&recording.chunk);
    return status;
}

static const struct command record_command = {
    .name = "record",
    .order = 70,
    .words = "CONFIG -o FILE.html [PATH=VALUE ...]",
    .summary = "some cycles of a run as a page that plays by itself",
    .flags = record_flags,
    .request_size = sizeof(struct record_request),
    .run = cli_record,
};
REGISTER_COMMAND(record_command);
