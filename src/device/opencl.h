/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Devices that run kernels: GPUs, or the processor itself through PoCL, by the machine's OpenCL library.
 *
 * A device has one queue, and what is put into it runs in that order: a kernel sees what those before it wrote. Calls
 * return false, or NULL, with one error in the errors that the device was opened with, which says what was being done and
 * what OpenCL calls the failure. When the queue has failed, the device is lost: all that follows returns false at once, with
 * no more errors, so that one may put in a whole batch and look at the last answer.
 *
 * One thread at a time may use a device; errors go where the last of them wants them. Without OpenCL's headers at build
 * opencl_open() says so and nothing else is called.
 */
#include "device/source.h"

struct device_facts {
    uint32_t number;
    const char *name, *vendor, *driver; /* its version */
    const char *version;                /* "OpenCL 3.0 ..." */
    bool is_gpu;
    bool has_fp64, has_int64_atomics; /* cl_khr_int64_base_atomics */
    bool limits_registers;            /* takes NVIDIA's -cl-nv-maxrregcount */
    uint32_t compute_units;
    uint64_t memory_bytes, largest_bytes; /* in all, in one buffer */
    uint64_t most_items;                  /* of a group; a kernel may take fewer: kernel_most_items() */
    const char *refusal;                  /* why it cannot be used; NULL: it can */
};

struct device_list {
    struct device_facts *devices; /* in the arena; GPUs first, then by platform and its order */
    uint32_t count;
};

/* All devices of the machine, none of them opened. False, with an error: there is no OpenCL to ask. */
bool opencl_list(struct device_list *list, struct arena *arena, struct errors *errors);

struct device;
struct device_kernel;
struct device_buffer;

/* The errors are borrowed until it is closed. NULL: there is no such device, or it cannot be used. */
struct device *opencl_open(uint32_t number, struct errors *errors);
/* Waits for nothing; its kernels and buffers go with it. NULL is nothing. */
void opencl_close(struct device *device);

/* Who hears of failures from now on; borrowed. */
void device_tell(struct device *device, struct errors *errors);
const struct device_facts *device_facts(const struct device *device);
/* Of all its buffers. */
uint64_t device_bytes(const struct device *device);
/* That calls have waited for it, compiling aside. */
double device_seconds(const struct device *device);

/* ---- kernels ---- */

/* As OpenCL C 1.2, with options such as "-DWIDTH=4"; in place of what was compiled before, whose kernels are gone. */
bool device_compile(struct device *device, const struct device_source *source, const char *options);
/* Of what was compiled last. */
struct device_kernel *device_kernel(struct device *device, const char *name);
/* The largest group that it runs in, which its registers decide. */
size_t kernel_most_items(const struct device_kernel *kernel);

/* Arguments from 0, copied at the call; they stay until they are set again. */
bool kernel_set(struct device_kernel *kernel, uint32_t index, const void *value, size_t bytes);
bool kernel_set_buffer(struct device_kernel *kernel, uint32_t index, const struct device_buffer *buffer);

/*
 * At least so many work-items, in groups: those behind the last, up to a whole group, are the kernel's to pass over. So many
 * rows of them, which are its second dimension.
 */
bool kernel_launch(struct device_kernel *kernel, size_t items, size_t group, size_t rows);

/* ---- buffers ---- */

/* Zeroed. A word that says what it holds is for messages, and borrowed. */
struct device_buffer *device_buffer_create(struct device *device, uint64_t bytes, const char *what);
/* Whether there could be one so large, whatever else is there: some give more in one piece than they say. */
bool device_gives(struct device *device, uint64_t bytes);
/* NULL is nothing. */
void device_buffer_release(struct device_buffer *buffer);

/* When these return, all that was put in before has been done. */
bool buffer_write(struct device_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes);
bool buffer_read(const struct device_buffer *buffer, uint64_t offset, void *into, uint64_t bytes);
/* Every byte the same; only put into the queue. */
bool buffer_fill(struct device_buffer *buffer, uint64_t offset, uint64_t bytes, uint8_t byte);

/* What is in the queue begins; and is done. */
bool device_flush(struct device *device);
bool device_finish(struct device *device);
