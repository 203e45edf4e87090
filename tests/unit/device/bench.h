/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The first device of the machine that can be used, for tests that need one at work: mostly the processor itself, by PoCL. */
#include "test.h"

#include "device/opencl.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bench {
    struct arena arena;
    struct errors errors;
    struct device_source source;
    struct device *device; /* NULL: there is none to test */
};

/* Of all tests of a file: PoCL asks for it once. */
static char cache[] = "/tmp/flitwarp_test_XXXXXX";

static inline int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts, (void)kind, (void)place;
    return remove(path);
}

static inline void remove_cache(void) { nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

static inline void make_cache(void)
{
    if (!strstr(cache, "XXXXXX"))
        return;
    EXPECT(mkdtemp(cache) && setenv("POCL_CACHE_DIR", cache, 1) == 0 && atexit(remove_cache) == 0);
}

static inline void bench_close(struct bench *bench)
{
    opencl_close(bench->device);
    source_release(&bench->source);
    arena_release(&bench->arena);
}

/* With kernels from one of the files; false: there is no device. */
static inline bool bench_open(struct bench *bench, const struct embedded_file *files, const char *file)
{
    *bench = (struct bench){.errors = {.arena = &bench->arena}};
    bench->source = (struct device_source){.files = files, .errors = &bench->errors};
    make_cache();
    struct device_list list = {0};
    uint32_t number = 0;
    bool is_there = opencl_list(&list, &bench->arena, &bench->errors);
    while (is_there && number < list.count && list.devices[number].refusal)
        number++;
    if (!is_there || number == list.count) {
        printf("not tested: no OpenCL device here that can be used (pocl-opencl-icd); %s\n",
               errors_text(&bench->errors));
        bench_close(bench);
        return false;
    }
    bench->device = opencl_open(number, &bench->errors);
    EXPECT(bench->device && source_add_file(&bench->source, file));
    if (!bench->device)
        bench_close(bench);
    return bench->device;
}
