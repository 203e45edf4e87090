/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp record CONFIG [PATH=VALUE ...] -o run.html: some cycles of a run, with the
 * viewer's page, in one file that plays from anywhere.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "view/api.h"
#include "view/recorder.h"
#include "view/recording.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_FRAMES = 50,
    MOST_CYCLES = 100 * 1000, /* a file that no browser opens is of no use */
};

struct record_request {
    const char *path, *cycles, *from;
};

static const struct flag record_flags[] = {
    FLAG_VALUE(struct record_request, path, "-o", "FILE.html", "the page to write"),
    FLAG_VALUE(struct record_request, cycles, "--cycles", "N", "how many cycles; 1000 if not given"),
    FLAG_VALUE(struct record_request, from, "--from", "TICK", "where to begin; 0 if not given"),
    FLAG_END,
};

struct recording {
    struct viewed_run *run;
    uint64_t from, cycles;
    struct recorder recorder;
    struct text json, chunk;
    uint32_t frames, in_chunk;
};

static void end_chunk(struct recording *recording)
{
    if (!recording->in_chunk)
        return;
    write_close(&recording->chunk, ']');
    write_packed(&recording->json, recording->chunk.chars, recording->chunk.length);
    recording->chunk.length = recording->in_chunk = 0;
    recorder_begin_chunk(&recording->recorder);
}

static void add_frame(struct recording *recording)
{
    struct text *out = &recording->chunk;
    if (!recording->in_chunk)
        write_open(out, '[');
    write_open(out, '{');
    viewed_run_end(recording->run);
    recorder_write(&recording->recorder, out);
    if (recording->run->has_ended)
        view_write_end(out, recording->run);
    write_close(out, '}');
    recording->frames++;
    if (++recording->in_chunk == CHUNK_FRAMES)
        end_chunk(recording);
}

static void record_frames(struct recording *recording)
{
    struct watch *watch = &recording->run->watch;
    const struct watch_stop never = {.router = NONE, .source = NONE, .seconds = 1e300};
    watch_run(watch, recording->from, &never);
    add_frame(recording);
    for (uint64_t i = 0; i < recording->cycles && !recording->run->simulation.workload.is_over; i++) {
        watch_run(watch, watch->now + watch->cycle, &never);
        add_frame(recording);
    }
    end_chunk(recording);
}

static void record(struct recording *recording)
{
    struct text *out = &recording->json;
    recorder_init(&recording->recorder, &recording->run->watch);
    write_open(out, '{');
    write_bool_at(out, "ok", true);
    write_text_at(out, "kind", "recording");
    view_write_scene(out, recording->run);
    write_bool_at(out, "has_detail", recording->recorder.has_detail);
    write_key(out, "chunks");
    write_open(out, '[');
    record_frames(recording);
    write_close(out, ']');
    write_u64_at(out, "chunk", CHUNK_FRAMES);
    write_u64_at(out, "frames", recording->frames);
    write_key(out, "series");
    write_open(out, '{');
    series_write(out, &recording->run->watch, 0);
    write_close(out, '}');
    write_close(out, '}');
    recorder_release(&recording->recorder);
}

/* Looks before recording whether the file can be written. */
static bool write_recording(struct recording *recording, const char *path, struct errors *errors)
{
    struct output_file file;
    if (!output_open(&file, path, errors))
        return false;
    record(recording);
    recording_write(file.stream, recording->json.chars, recording->json.length);
    return output_commit(&file, errors);
}

static bool read_number(const char *word, const char *flag, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;
    *number = strtoull(word, &end, 10);
    if (*word >= '0' && *word <= '9' && *end == 0 && *number >= least && *number <= most)
        return true;
    fprintf(stderr, "flitwarp record: %s %s; accepted: %llu to %llu\n", flag, word, (unsigned long long)least,
            (unsigned long long)most);
    return false;
}

static int cli_record(int argc, char **argv)
{
    struct record_request request = {.cycles = "1000", .from = "0"};
    struct arguments arguments;
    struct recording recording = {0};
    if (!arguments_read(&arguments, argc, argv, &record_command, &request, stderr) ||
        !read_number(request.cycles, "--cycles", 1, MOST_CYCLES, &recording.cycles) ||
        !read_number(request.from, "--from", 0, 1000000000000, &recording.from))
        return EXIT_USAGE;
    if (!request.path) {
        fprintf(stderr, "flitwarp record: -o FILE.html is missing\n");
        command_usage(stderr, &record_command);
        return EXIT_USAGE;
    }
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    const struct view_source source = {
        .path = arguments.config, .overrides = arguments.overrides, .override_count = arguments.override_count};
    int status = EXIT_USAGE;
    recording.run = viewed_run_open(&source, NULL, 0, &errors);
    if (recording.run)
        status = recording_check(&errors) && write_recording(&recording, request.path, &errors) ? EXIT_DONE : EXIT_IO;
    if (status == EXIT_DONE)
        fprintf(stderr, "%s: %u frames up to tick %llu\n", request.path, recording.frames,
                (unsigned long long)recording.run->watch.now);
    errors_print(&errors, stderr);
    viewed_run_close(recording.run);
    text_release(&recording.json);
    text_release(&recording.chunk);
    arena_release(&arena);
    return status;
}

const struct command record_command = {
    .name = "record",
    .words = "CONFIG -o FILE.html [PATH=VALUE ...]",
    .summary = "some cycles of a run as a page that plays by itself",
    .flags = record_flags,
    .call = cli_record,
};
