/* SPDX-License-Identifier: Apache-2.0 */
/* Of opencl.h, where OpenCL's headers were not there when the program was built: no device is ever open. */
#ifndef FLITWARP_HAVE_OPENCL
#include "device/opencl.h"

#define WITHOUT "OpenCL: this program was built without it; expected one built where its headers are (opencl-headers)"

bool opencl_list(struct device_list *list, struct arena *arena, struct errors *errors)
{
    (void)arena;
    *list = (struct device_list){0};
    return errors_add(errors, WITHOUT);
}

struct device *opencl_open(uint32_t number, struct errors *errors)
{
    (void)number;
    return errors_end(NULL, errors, WITHOUT);
}

void opencl_close(struct device *device) { FW_CHECK(!device, "a device is open without OpenCL"); }

/* What needs an open device. */
static void *never(const void *device, ...)
{
    FW_CHECK(false, "%p is used without OpenCL", device);
    return NULL;
}

void device_tell(struct device *d, struct errors *errors) { never(d, errors); }
const struct device_facts *device_facts(const struct device *d) { return never(d); }
uint64_t device_bytes(const struct device *d) { return never(d) != NULL; }
double device_seconds(const struct device *d) { return never(d) != NULL; }
bool device_compile(struct device *d, const struct device_source *source, const char *options)
{
    return never(d, source, options);
}
struct device_kernel *device_kernel(struct device *d, const char *name) { return never(d, name); }
size_t kernel_most_items(const struct device_kernel *k) { return never(k) != NULL; }
bool kernel_set(struct device_kernel *k, uint32_t index, const void *value, size_t bytes)
{
    return never(k, index, value, bytes);
}
bool kernel_set_buffer(struct device_kernel *k, uint32_t index, const struct device_buffer *b)
{
    return never(k, index, b);
}
bool kernel_launch(struct device_kernel *k, size_t items, size_t group, size_t rows)
{
    return never(k, items, group, rows);
}
struct device_buffer *device_buffer_create(struct device *d, uint64_t bytes, const char *what)
{
    return never(d, bytes, what);
}
bool device_gives(struct device *d, uint64_t bytes) { return never(d, bytes); }
void device_buffer_release(struct device_buffer *b) { FW_CHECK(!b, "a buffer is there without OpenCL"); }
bool buffer_write(struct device_buffer *b, uint64_t offset, const void *from, uint64_t bytes)
{
    return never(b, offset, from, bytes);
}
bool buffer_read(const struct device_buffer *b, uint64_t offset, void *into, uint64_t bytes)
{
    return never(b, offset, into, bytes);
}
bool buffer_fill(struct device_buffer *b, uint64_t offset, uint64_t bytes, uint8_t byte)
{
    return never(b, offset, bytes, byte);
}
bool device_flush(struct device *d) { return never(d); }
bool device_finish(struct device *d) { return never(d); }
#endif
