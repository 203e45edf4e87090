/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine that a page is: one thread, a clock, memory that grows, and no files. What the program takes from Linux
 * (threads, signals, the dynamic linker, compressed logs) is here as far as a run that is watched can come to it.
 */
#include "base/heap.h"
#include "base/machine.h"
#include "device/lockstep.h"
#include "engine/crew.h"
#include "flitwarp/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

double wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double machine_memory(void) { return 1073741824; } /* as CMakeLists.txt says */

void stopwatch_start(struct stopwatch *watch) { watch->cpu_start = watch->wall_start = wall_seconds(); }

void stopwatch_note(struct stopwatch *watch)
{
    watch->wall += wall_seconds() - watch->wall_start;
    watch->cpu = watch->wall;
    watch->peak = (uint64_t)__builtin_wasm_memory_size(0) << 16;
    stopwatch_start(watch);
}

bool heap_is_fixed(void) { return false; }

/* ---- sorting with a context, which WASI's library lacks ---- */

static struct {
    int (*compare)(const void *left, const void *right, void *context);
    void *context;
} order;

static int compare_in_order(const void *left, const void *right) { return order.compare(left, right, order.context); }

void qsort_r(void *items, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *context)
{
    order.compare = compare;
    order.context = context;
    qsort(items, count, size, compare_in_order);
}

/* ---- what is refused ---- */

FILE *tmpfile(void) { return NULL; }

int madvise(void *start, size_t bytes, int advice)
{
    (void)start;
    (void)bytes;
    (void)advice;
    errno = ENOSYS;
    return -1;
}

int dup(int file)
{
    (void)file;
    errno = ENOSYS;
    return -1;
}

char *realpath(const char *restrict path, char *restrict resolved)
{
    (void)path;
    (void)resolved;
    errno = ENOENT;
    return NULL;
}

struct lockstep *lockstep_create(struct network *network, struct workload *workload, uint32_t device,
                                 struct lockstep_batch *batch, struct arena *arena, struct errors *errors)
{
    (void)network;
    (void)workload;
    (void)device;
    (void)batch;
    (void)arena;
    errors_add(errors, "simulator.device: there are no devices in a page; accepted: null");
    return NULL;
}

void lockstep_release(struct lockstep *lockstep) { (void)lockstep; }
void lockstep_batch_leave(struct lockstep_batch *batch) { (void)batch; }
void lockstep_use(struct lockstep *lockstep, struct lockstep_use *use) { (void)lockstep, (void)use; }

/* ---- what nobody asks for: a run that is watched has one thread and writes no logs ---- */

static _Noreturn void refuse(const char *what)
{
    FW_CHECK(false, "%s in a page", what);
    abort();
}

struct crew *crew_start(uint32_t count, uint32_t ranks_here, crew_work *work, void *context)
{
    (void)count;
    (void)ranks_here;
    (void)work;
    (void)context;
    refuse("threads");
}
void crew_run(struct crew *crew)
{
    (void)crew;
    refuse("threads");
}
void crew_meet(struct crew *crew)
{
    (void)crew;
    refuse("threads");
}
void crew_end(struct crew *crew)
{
    (void)crew;
    refuse("threads");
}

size_t ZSTD_compressStream2(ZSTD_CCtx *compressor, ZSTD_outBuffer *out, ZSTD_inBuffer *in, ZSTD_EndDirective directive)
{
    (void)compressor;
    (void)out;
    (void)in;
    (void)directive;
    refuse("compression");
}
unsigned ZSTD_isError(size_t code)
{
    (void)code;
    refuse("compression");
}
const char *ZSTD_getErrorName(size_t code)
{
    (void)code;
    refuse("compression");
}
