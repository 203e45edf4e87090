/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The text that a device compiles, pasted together from files that are part of the program (flitwarp/both.h). A file stands
 * in it once, where it is first included; what is not among the files, and what lies between `#if FW_HOST` and its `#else`
 * or `#endif`, is left out. Each line is known by the place that it came from, for messages.
 */
#include "base/embedded.h"
#include "base/text.h"

struct source_line {
    const char *file; /* borrowed: its path in the tree */
    uint32_t line;    /* from 1 */
};

/* {.files = device_files, .errors = errors} is empty. */
struct device_source {
    const struct embedded_file *files; /* borrowed */
    struct errors *errors;             /* borrowed */
    struct text text;                  /* what the device compiles */
    struct source_line *lines;         /* owned: where each of its lines came from */
    uint32_t line_count, line_room;
    const char **pasted; /* owned: names of files that stand in it */
    uint32_t pasted_count, pasted_room;
};

/* Adds a file by its path in the tree, such as "src/device/kernels.h", with all that it includes. False, with an error: it is not there. */
bool source_add_file(struct device_source *source, const char *name);
/* The same with a text that stands in no file; the name, which is borrowed, is for messages. */
void source_add_text(struct device_source *source, const char *name, const char *text);
/* Of each FW_CHECK() the claim stays, and its message goes: OpenCL C has no macros of any number of arguments. */
void source_cut_messages(struct device_source *source);
void source_release(struct device_source *source);

/* "src/device/kernels.h:12" for a line of the text, from 1; NULL: it has no such line. */
const char *source_place(const struct device_source *source, uint64_t line, struct arena *arena);
/* The first lines of what a compiler said of the text, naming the places that they came from. */
const char *source_log(const struct device_source *source, const char *log, uint32_t most_lines, struct arena *arena);
