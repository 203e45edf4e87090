/* SPDX-License-Identifier: Apache-2.0 */
/* See opencl.h: a device that is open, its kernels and its buffers. */
#ifdef FLITWARP_HAVE_OPENCL
#include "device/devices.h"

#include "base/machine.h"

#include <string.h>

#define LOG_LINES 30u /* of a compiler's that are shown: the first mistake is what counts */
/*
 * The largest that OpenCL fills by, to which buffers are rounded up: NVIDIA's driver 580 counts units in 32 bits with a sign, and loses
 * the device from the 2^31st on (seen on an H200 with units of 1 to 16 bytes; 130 GiB by 128 are right).
 */
#define FILL_UNIT 128u
#define GIB(bytes) ((double)(bytes) / (double)(1 << 30))

struct device_kernel {
    struct device_kernel *next;
    struct device *device; /* borrowed */
    const char *name;      /* in the device's arena */
    cl_kernel kernel;      /* owned */
    size_t most_items;
};

struct device_buffer {
    struct device_buffer *next;
    struct device *device; /* borrowed */
    const char *what;      /* borrowed */
    cl_mem memory;         /* owned */
    uint64_t bytes;
};

struct device {
    struct library library;
    struct device_facts facts;
    struct arena arena;    /* of names */
    struct errors *errors; /* borrowed */
    cl_device_id id;
    cl_context context; /* owned, and all below */
    cl_command_queue queue;
    cl_program program; /* NULL: nothing is compiled */
    struct device_kernel *kernels;
    struct device_buffer *buffers;
    uint64_t bytes; /* of all buffers */
    double waited;  /* seconds */
    bool is_lost;   /* the queue has failed, which has been told */
};

/* Adds the one error of a call that failed; false. */
static bool tell(const struct device *device, cl_int status, const char *doing, const char *what)
{
    const char *name = opencl_error_name(status);
    return errors_add(device->errors, "device %u (%s): %s while %s%s", device->facts.number, device->facts.name,
                      name ? name : arena_format(device->errors->arena, "OpenCL error %d", status), doing, what);
}

/* For what goes through the queue: a failure there is the last that is told. */
static bool queued(struct device *device, cl_int status, const char *doing, const char *what)
{
    if (status == CL_SUCCESS)
        return true;
    device->is_lost = true;
    return tell(device, status, doing, what);
}

/* The same for a call that came back when the device had done what it was asked for; from `since` on. */
static bool waited(struct device *device, double since, cl_int status, const char *doing, const char *what)
{
    device->waited += wall_seconds() - since;
    return queued(device, status, doing, what);
}

/* ---- opening ---- */

static bool choose(struct device *device, uint32_t number)
{
    struct errors *errors = device->errors;
    struct device_list list;
    cl_device_id *ids;
    if (!library_load(&device->library, errors) || !devices_find(&device->library, &list, &ids, &device->arena, errors))
        return false;
    if (list.count == 0)
        return errors_add(errors, "device %u: OpenCL finds no device on this machine", number);
    if (number >= list.count)
        return errors_add(errors, "device %u: there is none of this number, expected at most %u (flitwarp list device)",
                          number, list.count - 1);
    device->facts = list.devices[number];
    device->id = ids[number];
    if (device->facts.refusal)
        return errors_add(errors, "device %u (%s): cannot be used: %s", number, device->facts.name,
                          device->facts.refusal);
    return true;
}

static bool open_queue(struct device *device)
{
    cl_int status;
    device->context = device->library.CreateContext(NULL, 1, &device->id, NULL, NULL, &status);
    if (!device->context)
        return tell(device, status, "opening it", "");
    device->queue = device->library.CreateCommandQueue(device->context, device->id, 0, &status);
    return device->queue || tell(device, status, "making its queue", "");
}

struct device *opencl_open(uint32_t number, struct errors *errors)
{
    struct device *device = memory_take(sizeof *device);
    device->errors = errors;
    if (choose(device, number) && open_queue(device))
        return device;
    opencl_close(device);
    return NULL;
}

static void release_kernels(struct device *device)
{
    while (device->kernels) {
        struct device_kernel *kernel = device->kernels;
        device->kernels = kernel->next;
        device->library.ReleaseKernel(kernel->kernel);
        memory_give(kernel);
    }
}

void opencl_close(struct device *device)
{
    if (!device)
        return;
    release_kernels(device);
    while (device->buffers)
        device_buffer_release(device->buffers);
    if (device->program)
        device->library.ReleaseProgram(device->program);
    if (device->queue)
        device->library.ReleaseCommandQueue(device->queue);
    if (device->context)
        device->library.ReleaseContext(device->context);
    arena_release(&device->arena);
    memory_give(device);
}

void device_tell(struct device *device, struct errors *errors) { device->errors = errors; }

const struct device_facts *device_facts(const struct device *device) { return &device->facts; }

uint64_t device_bytes(const struct device *device) { return device->bytes; }

double device_seconds(const struct device *device) { return device->waited; }

/* ---- kernels ---- */

static const char *compiler_log(const struct device *device, cl_program program, const struct device_source *source)
{
    struct arena *arena = device->errors->arena;
    size_t size = 0;
    device->library.GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = arena_take(arena, size + 1);
    device->library.GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    return source_log(source, log, LOG_LINES, arena);
}

bool device_compile(struct device *device, const struct device_source *source, const char *options)
{
    const struct library *library = &device->library;
    const char *text = source->text.chars ? source->text.chars : "";
    struct arena scratch = {0};
    const char *all_options = arena_format(&scratch, "-cl-std=CL1.2 %s", options);
    cl_int status;
    cl_program program = library->CreateProgramWithSource(device->context, 1, &text, NULL, &status);
    if (program)
        status = library->BuildProgram(program, 1, &device->id, all_options, NULL, NULL);
    arena_release(&scratch);
    if (program && status)
        tell(device, status, "compiling its kernels:\n", compiler_log(device, program, source));
    else if (status)
        tell(device, status, "taking the text of its kernels", "");
    if (!status)
        release_kernels(device);
    cl_program useless = status ? program : device->program;
    if (useless)
        library->ReleaseProgram(useless);
    if (!status)
        device->program = program;
    return !status;
}

struct device_kernel *device_kernel(struct device *device, const char *name)
{
    FW_CHECK(device->program, "nothing is compiled that could have a kernel %s", name);
    cl_int status;
    cl_kernel found = device->library.CreateKernel(device->program, name, &status);
    if (!found) {
        tell(device, status, "looking for kernel ", name);
        return NULL;
    }
    struct device_kernel *kernel = memory_take(sizeof *kernel);
    *kernel = (struct device_kernel){device->kernels, device, arena_text(&device->arena, name), found, 0};
    device->kernels = kernel;
    status = device->library.GetKernelWorkGroupInfo(found, device->id, CL_KERNEL_WORK_GROUP_SIZE,
                                                    sizeof kernel->most_items, &kernel->most_items, NULL);
    return queued(device, status, "asking for the groups of kernel ", name) ? kernel : NULL;
}

size_t kernel_most_items(const struct device_kernel *kernel) { return kernel->most_items; }

bool kernel_set(struct device_kernel *kernel, uint32_t index, const void *value, size_t bytes)
{
    struct device *device = kernel->device;
    return !device->is_lost && queued(device, device->library.SetKernelArg(kernel->kernel, index, bytes, value),
                                      "setting an argument of kernel ", kernel->name);
}

bool kernel_set_buffer(struct device_kernel *kernel, uint32_t index, const struct device_buffer *buffer)
{
    return kernel_set(kernel, index, &buffer->memory, sizeof buffer->memory);
}

bool kernel_launch(struct device_kernel *kernel, size_t items, size_t group, size_t rows)
{
    struct device *device = kernel->device;
    size_t whole[] = {(items + group - 1) / group * group, rows}, groups[] = {group, 1};
    if (device->is_lost || !whole[0])
        return !device->is_lost;
    return queued(
        device,
        device->library.EnqueueNDRangeKernel(device->queue, kernel->kernel, 2, NULL, whole, groups, 0, NULL, NULL),
        "launching kernel ", kernel->name);
}

/* ---- buffers ---- */

static uint64_t whole_units(uint64_t bytes) { return (bytes + FILL_UNIT - 1) / FILL_UNIT * FILL_UNIT; }

/* Some drivers would go on in the machine's memory, or say nothing until it is used. */
static bool has_room(const struct device *device, uint64_t bytes, const char *what)
{
    const struct device_facts *facts = &device->facts;
    if (bytes <= facts->memory_bytes && device->bytes <= facts->memory_bytes - bytes)
        return true;
    return errors_add(device->errors, "device %u (%s): %s would take %.3g GiB, with %.3g taken of %.3g", facts->number,
                      facts->name, what, GIB(bytes), GIB(device->bytes), GIB(facts->memory_bytes));
}

bool device_gives(struct device *device, uint64_t bytes)
{
    if (bytes <= device->facts.largest_bytes)
        return true;
    cl_int status;
    cl_mem memory = device->library.CreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    if (memory)
        device->library.ReleaseMemObject(memory);
    return memory;
}

struct device_buffer *device_buffer_create(struct device *device, uint64_t bytes, const char *what)
{
    bytes += bytes == 0; /* OpenCL has none that are empty */
    if (device->is_lost || !has_room(device, bytes, what))
        return NULL;
    cl_int status;
    cl_mem memory = device->library.CreateBuffer(device->context, CL_MEM_READ_WRITE, whole_units(bytes), NULL, &status);
    if (!memory) {
        tell(device, status, "making room for ",
             arena_format(device->errors->arena, "%s, %.3g GiB; it has %.3g, at most %.3g in one piece", what,
                          GIB(bytes), GIB(device->facts.memory_bytes), GIB(device->facts.largest_bytes)));
        return NULL;
    }
    struct device_buffer *buffer = memory_take(sizeof *buffer);
    *buffer = (struct device_buffer){device->buffers, device, what, memory, bytes};
    device->buffers = buffer;
    device->bytes += bytes;
    /* Memory that is given at its first use is given, or refused, here. */
    if (buffer_fill(buffer, 0, bytes, 0) && device_finish(device))
        return buffer;
    device_buffer_release(buffer);
    return NULL;
}

void device_buffer_release(struct device_buffer *buffer)
{
    if (!buffer)
        return;
    struct device *device = buffer->device;
    struct device_buffer **link = &device->buffers;
    while (*link != buffer)
        link = &(*link)->next;
    *link = buffer->next;
    device->bytes -= buffer->bytes;
    device->library.ReleaseMemObject(buffer->memory);
    memory_give(buffer);
}

/* Whether a command is to be queued; those outside of the buffer are a mistake of ours. */
static bool is_wanted(const struct device_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    FW_CHECK(offset <= buffer->bytes && bytes <= buffer->bytes - offset, "%s: %llu bytes at %llu of %llu", buffer->what,
             (unsigned long long)bytes, (unsigned long long)offset, (unsigned long long)buffer->bytes);
    return !buffer->device->is_lost && bytes;
}

bool buffer_write(struct device_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes)
{
    struct device *device = buffer->device;
    if (!is_wanted(buffer, offset, bytes))
        return !device->is_lost;
    double since = wall_seconds();
    return waited(
        device, since,
        device->library.EnqueueWriteBuffer(device->queue, buffer->memory, true, offset, bytes, from, 0, NULL, NULL),
        "writing ", buffer->what);
}

bool buffer_read(const struct device_buffer *buffer, uint64_t offset, void *into, uint64_t bytes)
{
    struct device *device = buffer->device;
    if (!is_wanted(buffer, offset, bytes))
        return !device->is_lost;
    double since = wall_seconds();
    return waited(
        device, since,
        device->library.EnqueueReadBuffer(device->queue, buffer->memory, true, offset, bytes, into, 0, NULL, NULL),
        "reading ", buffer->what);
}

/* In the largest units that the place allows. */
bool buffer_fill(struct device_buffer *buffer, uint64_t offset, uint64_t bytes, uint8_t byte)
{
    struct device *device = buffer->device;
    unsigned char pattern[FILL_UNIT];
    cl_int status = CL_SUCCESS;
    if (!is_wanted(buffer, offset, bytes))
        return !device->is_lost;
    memset(pattern, byte, sizeof pattern);
    uint64_t end = offset + bytes == buffer->bytes ? whole_units(buffer->bytes) : offset + bytes;
    while (offset < end && !status) {
        uint64_t unit = FILL_UNIT;
        while (offset % unit || end - offset < unit)
            unit /= 2;
        uint64_t part = unit == FILL_UNIT ? (end - offset) / unit * unit : unit;
        status = device->library.EnqueueFillBuffer(device->queue, buffer->memory, pattern, unit, offset, part, 0, NULL,
                                                   NULL);
        offset += part;
    }
    return queued(device, status, "filling ", buffer->what);
}

bool device_flush(struct device *device)
{
    return !device->is_lost && queued(device, device->library.Flush(device->queue), "starting its kernels", "");
}

bool device_finish(struct device *device)
{
    double since = wall_seconds();
    return !device->is_lost && waited(device, since, device->library.Finish(device->queue),
                                      "running its kernels: one failed, or the device is gone", "");
}
#endif
