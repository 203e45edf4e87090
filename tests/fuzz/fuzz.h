/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * What the fuzz targets share. They are one program: its own name says which target it
 * is (fuzz_log), so that each has a corpus of its own, and --targets lists them. A
 * target takes any bytes; a broken invariant (CHECK), a sanitizer's complaint or an
 * end of the program is what libFuzzer reports.
 */
#include "flitwarp/error.h"

#include "config/json.h"

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
    struct fuzz_target *next;
};

void fuzz_register(struct fuzz_target *target);
#define FUZZ_TARGET(target_name)                                                                                       \
    static void fuzz_##target_name(const uint8_t *data, size_t size);                                                  \
    __attribute__((constructor)) static void fuzz_register_##target_name(void)                                         \
    {                                                                                                                  \
        static struct fuzz_target target = {#target_name, fuzz_##target_name, NULL};                                   \
        fuzz_register(&target);                                                                                        \
    }                                                                                                                  \
    static void fuzz_##target_name(const uint8_t *data, size_t size)

/* Trace readers are targets too, by the names that they are registered by: trace.c. */
void fuzz_trace_list(void);
bool fuzz_trace_find(const char *name);
void fuzz_trace_run(const uint8_t *data, size_t size);

/* Writes a file into a folder in memory of this process alone, which is the working directory. */
void fuzz_file(const char *name, const void *data, size_t size);

/* The input's next part, up to "\n%%\n" or the end; in memory of its own, NUL-terminated, to be freed. */
char *fuzz_part(const uint8_t **data, size_t *size, size_t *length);

/* Lines of a text, which is changed. Returns how many there are, at most `most`. */
int fuzz_lines(char *text, char **lines, int most);

/*
 * Loads a configuration with overrides as `flitwarp run` does. What is accepted and small is built and run for
 * some ticks.
 */
void fuzz_simulate(const char *config, char **overrides, int count);

/* A mesh of 2x2 and an application, which most targets begin with. */
extern const char fuzz_small[];
