/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL library with a GPU and a processor whose compiler writes the text that it is given to $TEXT_OPENCL, and then
 * fails: for tests of what the program hands to compilers that this machine does not have.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct _cl_platform_id {
    int unused;
};
struct _cl_device_id {
    cl_device_type type;
};

static struct _cl_platform_id platform;
static struct _cl_device_id devices[] = {{CL_DEVICE_TYPE_GPU}, {CL_DEVICE_TYPE_CPU}};
static char thing; /* what all handles point to */

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *found, cl_uint *count)
{
    if (room)
        found[0] = &platform;
    *count = 1;
    return CL_SUCCESS;
}

cl_int clGetDeviceIDs(cl_platform_id of, cl_device_type type, cl_uint room, cl_device_id *found, cl_uint *count)
{
    (void)of, (void)type;
    for (cl_uint i = 0; i < room && i < 2; i++)
        found[i] = &devices[i];
    if (count)
        *count = 2;
    return CL_SUCCESS;
}

static cl_int give(const void *value, size_t bytes, size_t room, void *into, size_t *size)
{
    if (size)
        *size = bytes;
    if (into && room >= bytes)
        memcpy(into, value, bytes);
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *into, size_t *size)
{
    static const char extensions[] = "cl_khr_fp64 cl_khr_int64_base_atomics", version[] = "OpenCL 1.2",
                      name[] = "Writer";
    cl_ulong number = what == CL_DEVICE_TYPE                                                      ? device->type
                      : what == CL_DEVICE_ADDRESS_BITS                                            ? 64
                      : what == CL_DEVICE_GLOBAL_MEM_SIZE || what == CL_DEVICE_MAX_MEM_ALLOC_SIZE ? (cl_ulong)8 << 30
                                                                                                  : 1;
    if (what == CL_DEVICE_EXTENSIONS)
        return give(extensions, sizeof extensions, room, into, size);
    if (what == CL_DEVICE_VERSION)
        return give(version, sizeof version, room, into, size);
    if (what == CL_DEVICE_NAME || what == CL_DRIVER_VERSION || what == CL_DEVICE_VENDOR)
        return give(name, sizeof name, room, into, size);
    return give(&number, room < sizeof number ? room : sizeof number, room, into, size);
}

#define HANDLE(type)                                                                                                   \
    if (status)                                                                                                        \
        *status = CL_SUCCESS;                                                                                          \
    return (type)(void *)&thing

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *of,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
                           cl_int *status)
{
    (void)properties, (void)count, (void)of, (void)notify, (void)data;
    HANDLE(cl_context);
}
cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int *status)
{
    (void)context, (void)device, (void)properties;
    HANDLE(cl_command_queue);
}
cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status)
{
    (void)context, (void)flags, (void)size, (void)host;
    HANDLE(cl_mem);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                     cl_int *status)
{
    (void)context, (void)lengths;
    FILE *out = fopen(getenv("TEXT_OPENCL"), "w");
    for (cl_uint i = 0; i < count; i++)
        fputs(texts[i], out);
    fclose(out);
    HANDLE(cl_program);
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *of, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    (void)program, (void)count, (void)of, (void)options, (void)notify, (void)data;
    return CL_BUILD_PROGRAM_FAILURE;
}
cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t room,
                             void *into, size_t *size)
{
    (void)program, (void)device, (void)what;
    return give("", 1, room, into, size);
}

/* All else is done at once. */
cl_int done(void) { return CL_SUCCESS; }
