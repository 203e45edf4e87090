/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device at work, the first of the machine that can be used: mostly the processor itself, by PoCL. Without one, which
 * they say, these tests pass. PoCL keeps what it has compiled in a folder of the test. They run under sanitizers too; PoCL and
 * LLVM in it never free what they begin with, so that leaks are looked for in this program's own memory alone.
 */
#include "test.h"

#include "device/bench.h"

#include <string.h>

#define ITEMS 1000u

static const struct embedded_file kernels[] = {
    {"src/add.h",
     "#include \"flitwarp/step.h\"\n"
     "__kernel void add(__global ulong *sums, uint count, ulong step)\n"
     "{\n"
     "    uint i = get_global_id(0);\n"
     "    if (i < count)\n"
     "        sums[i] += STEP(step) * i + SHIFT;\n"
     "}\n"
     "__kernel void square(__global uint *cells, uint width)\n"
     "{\n"
     "    uint i = get_global_id(0);\n"
     "    cells[i] = 10 * (i / width) + i % width;\n"
     "}\n"
     "__kernel void twice(__global uint *out, __global ulong *sum)\n"
     "{\n"
     "    __local uint shared[32];\n"
     "    shared[get_local_id(0)] = (uint)get_global_id(0);\n"
     "    barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    out[get_global_id(0)] = shared[get_local_size(0) - 1 - get_local_id(0)];\n"
     "    atom_add(sum, 1ul << 32);\n"
     "}\n",
     0},
    {"include/flitwarp/step.h", "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n#define STEP(x) (x)\n",
     0},
    {"src/wrong.h", "#include \"flitwarp/step.h\"\n__kernel void wrong(__global int *a)\n{\n    *a = nowhere;\n}\n", 0},
    {0},
};

/* The address sanitizer asks for these. Nothing of this program is C++. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libstdc++\nleak:libhwloc\nleak:libOpenCL\n";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void) { return "print_suppressions=0"; }

TEST(device_runs_a_kernel_on_what_was_written_and_gives_back_what_it_made)
{
    struct bench bench;
    if (!bench_open(&bench, kernels, "src/add.h"))
        return;
    uint64_t sums[ITEMS], start[2] = {7, 9}, step = 1ull << 40, part[2] = {0};
    uint32_t count = ITEMS;
    EXPECT(device_compile(bench.device, &bench.source, "-DSHIFT=3"));
    struct device_kernel *add = device_kernel(bench.device, "add");
    struct device_buffer *buffer = device_buffer_create(bench.device, sizeof sums, "sums");
    EXPECT(add && buffer && kernel_most_items(add) > 0);
    EXPECT_EQ_U64(device_bytes(bench.device), sizeof sums);
    EXPECT(kernel_set_buffer(add, 0, buffer) && kernel_set(add, 1, &count, sizeof count) &&
           kernel_set(add, 2, &step, sizeof step));
    EXPECT(buffer_write(buffer, 2 * sizeof *sums, start, sizeof start));
    EXPECT(kernel_launch(add, ITEMS, 64, 1)); /* 1024 work-items, of which 24 have nothing to do */
    EXPECT(buffer_read(buffer, 3 * sizeof *sums, part, sizeof part) && device_flush(bench.device));
    EXPECT(kernel_launch(add, ITEMS, 64, 1));
    EXPECT(buffer_read(buffer, 0, sums, sizeof sums));
    EXPECT_EQ_U64(part[0], 3 * step + 3 + 9); /* after the first launch alone */
    EXPECT_EQ_U64(part[1], 4 * step + 3);
    for (uint64_t i = 0; i < ITEMS; i++) {
        uint64_t was = i == 2 ? 7 : i == 3 ? 9 : 0; /* 0: the buffer began so */
        EXPECT_EQ_U64(sums[i], 2 * (step * i + 3) + was);
    }
    device_buffer_release(buffer);
    EXPECT_EQ_U64(device_bytes(bench.device), 0);
    EXPECT_EQ_U64(bench.errors.count, 0);
    bench_close(&bench);
}

TEST(device_fills_and_runs_kernels_with_shared_memory)
{
    struct bench bench;
    if (!bench_open(&bench, kernels, "src/add.h"))
        return;
    uint32_t cells[3 * 5], order[64], width = 5;
    uint64_t sum = 0;
    EXPECT(device_compile(bench.device, &bench.source, "-DSHIFT=0"));
    struct device_kernel *square = device_kernel(bench.device, "square"), *twice = device_kernel(bench.device, "twice");
    struct device_buffer *buffer = device_buffer_create(bench.device, sizeof cells, "cells");
    struct device_buffer *out = device_buffer_create(bench.device, sizeof order, "order");
    struct device_buffer *total = device_buffer_create(bench.device, sizeof sum, "total");
    EXPECT(square && twice && buffer && out && total);
    EXPECT(kernel_set_buffer(square, 0, buffer) && kernel_set(square, 1, &width, sizeof width));
    EXPECT(kernel_launch(square, 10, 5, 1)); /* not the third row */
    EXPECT(buffer_fill(buffer, 12 * sizeof *cells, 2 * sizeof *cells, 0xab));
    EXPECT(kernel_set_buffer(twice, 0, out) && kernel_set_buffer(twice, 1, total));
    EXPECT(kernel_launch(twice, 64, 32, 1) && kernel_launch(twice, 0, 32, 1)); /* the second has nothing to do */
    EXPECT(buffer_read(buffer, 0, cells, sizeof cells) && buffer_read(out, 0, order, sizeof order));
    EXPECT(buffer_read(total, 0, &sum, sizeof sum) && device_finish(bench.device));
    for (uint32_t i = 0; i < 15; i++)
        EXPECT_EQ_U64(cells[i], i < 10 ? 10 * (i / 5) + i % 5 : i == 12 || i == 13 ? 0xababababu : 0);
    for (uint32_t i = 0; i < 64; i++)
        EXPECT_EQ_U64(order[i], i / 32 * 32 + 31 - i % 32);
    EXPECT_EQ_U64(sum, 64ull << 32);
    bench_close(&bench);
}

TEST(device_fills_any_range_of_bytes_and_no_others)
{
    static const uint64_t ranges[][2] = {{0, 1000}, {0, 999}, {1, 1000}, {3, 777}, {128, 256}, {120, 130}, {999, 1000}};
    struct bench bench;
    if (!bench_open(&bench, kernels, "src/add.h"))
        return;
    unsigned char bytes[1000];
    struct device_buffer *buffer = device_buffer_create(bench.device, sizeof bytes, "bytes");
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        uint64_t first = ranges[i][0], end = ranges[i][1];
        EXPECT(buffer_fill(buffer, 0, sizeof bytes, 0x11) && buffer_fill(buffer, first, end - first, 0xee));
        EXPECT(buffer_read(buffer, 0, bytes, sizeof bytes));
        for (uint64_t at = 0; at < sizeof bytes; at++)
            EXPECT_EQ_U64(bytes[at], at >= first && at < end ? 0xee : 0x11);
    }
    EXPECT_EQ_U64(device_bytes(bench.device), sizeof bytes);
    bench_close(&bench);
}

TEST(device_tells_where_a_kernel_is_wrong)
{
    struct bench bench;
    if (!bench_open(&bench, kernels, "src/wrong.h"))
        return;
    EXPECT(!device_compile(bench.device, &bench.source, ""));
    EXPECT_EQ_U64(bench.errors.count, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&bench.errors), "CL_BUILD_PROGRAM_FAILURE while compiling its kernels:");
    EXPECT_TEXT_CONTAINS(errors_text(&bench.errors), "src/wrong.h:4:");
    EXPECT_TEXT_CONTAINS(errors_text(&bench.errors), "nowhere");
    bench_close(&bench);
}

TEST(device_compiles_again_after_a_mistake_and_knows_its_kernels_alone)
{
    struct bench bench;
    if (!bench_open(&bench, kernels, "src/wrong.h"))
        return;
    EXPECT(!device_compile(bench.device, &bench.source, ""));
    source_release(&bench.source);
    EXPECT(source_add_file(&bench.source, "src/add.h"));
    EXPECT(device_compile(bench.device, &bench.source, "-DSHIFT=0"));
    EXPECT(device_kernel(bench.device, "add") != NULL);
    EXPECT(!device_kernel(bench.device, "wrong"));
    EXPECT_TEXT_CONTAINS(errors_text(&bench.errors), "CL_INVALID_KERNEL_NAME while looking for kernel wrong\n");
    bench_close(&bench);
}

TEST(device_refuses_a_buffer_that_it_has_no_room_for)
{
    struct bench bench;
    if (!bench_open(&bench, kernels, "src/add.h"))
        return;
    struct device_buffer *small = device_buffer_create(bench.device, 1 << 20, "a small one");
    uint64_t most = device_facts(bench.device)->memory_bytes;
    EXPECT(small && !device_buffer_create(bench.device, most - 1000, "flits"));
    EXPECT_EQ_U64(bench.errors.count, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&bench.errors), "): flits would take ");
    EXPECT_EQ_U64(device_bytes(bench.device), 1 << 20);
    EXPECT(device_finish(bench.device)); /* it goes on */
    bench_close(&bench);
}

TEST(device_that_failed_is_lost_and_says_so_once)
{
    struct bench bench;
    if (!bench_open(&bench, kernels, "src/add.h"))
        return;
    EXPECT(device_compile(bench.device, &bench.source, "-DSHIFT=0"));
    struct device_kernel *add = device_kernel(bench.device, "add");
    EXPECT(!kernel_launch(add, ITEMS, 64, 1)); /* its arguments are not set */
    EXPECT(!device_flush(bench.device) && !device_finish(bench.device) && !kernel_launch(add, ITEMS, 64, 1));
    EXPECT(!device_buffer_create(bench.device, 8, "more"));
    EXPECT_EQ_U64(bench.errors.count, 1);
    EXPECT_TEXT_CONTAINS(errors_text(&bench.errors), "): CL_INVALID_KERNEL_ARGS while launching kernel add\n");
    bench_close(&bench);
}

TEST(device_of_a_number_that_is_not_there_is_refused)
{
    struct bench bench;
    if (!bench_open(&bench, kernels, "src/add.h"))
        return;
    EXPECT(!opencl_open(4000, &bench.errors));
    EXPECT_TEXT_CONTAINS(errors_text(&bench.errors), "device 4000: there is none of this number, expected at most ");
    bench_close(&bench);
}
