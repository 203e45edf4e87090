/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL library with two platforms of devices that are all wrong in another way but one, for tests of `flitwarp list
 * device` and of what is refused: no machine has them all. What else is looked up in a library the test adds by name; none of
 * these devices is ever opened.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string.h>

struct _cl_platform_id {
    cl_uint first, count; /* of the devices below */
};
struct _cl_device_id {
    const char *name, *version, *extensions;
    cl_device_type type;
    cl_device_fp_config fp64;
    cl_bool is_available, has_compiler;
};

#define ATOMICS "cl_khr_int64_base_atomics"
static struct _cl_device_id devices[] = {
    {" Slow processor ", "OpenCL 3.0 Fake", "cl_khr_fp64 " ATOMICS, CL_DEVICE_TYPE_CPU, 63, 1, 1},
    {"No doubles", "OpenCL 1.2", ATOMICS, CL_DEVICE_TYPE_GPU, 0, 1, 1},
    {"No atomics", "OpenCL 2.0 x", "cl_khr_fp64 " ATOMICS "_not", CL_DEVICE_TYPE_GPU, 63, 1, 1},
    {"Old", "OpenCL 1.1", ATOMICS, CL_DEVICE_TYPE_GPU, 63, 1, 1},
    {"Busy", "OpenCL 3.0", ATOMICS, CL_DEVICE_TYPE_ACCELERATOR, 63, 0, 1},
    {"No compiler", "OpenCL 3.0", ATOMICS, CL_DEVICE_TYPE_GPU, 63, 1, 0},
};
static struct _cl_platform_id platforms[] = {{0, 3}, {3, 3}};

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *found, cl_uint *count)
{
    for (cl_uint i = 0; i < room && i < 2; i++)
        found[i] = &platforms[i];
    *count = 2;
    return CL_SUCCESS;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *found, cl_uint *count)
{
    (void)type;
    for (cl_uint i = 0; i < room && i < platform->count; i++)
        found[i] = &devices[platform->first + i];
    if (count)
        *count = platform->count;
    return CL_SUCCESS;
}

static cl_int give(const void *value, size_t bytes, size_t room, void *into, size_t *size)
{
    if (size)
        *size = bytes;
    if (into && room < bytes)
        return CL_INVALID_VALUE;
    if (into)
        memcpy(into, value, bytes);
    return CL_SUCCESS;
}

#define GIVE_TEXT(text) give(text, strlen(text) + 1, room, into, size)
#define GIVE(type, ...) give(&(type){__VA_ARGS__}, sizeof(type), room, into, size)

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *into, size_t *size)
{
    switch (what) {
    case CL_DEVICE_NAME:
        return GIVE_TEXT(device->name);
    case CL_DEVICE_VERSION:
        return GIVE_TEXT(device->version);
    case CL_DEVICE_EXTENSIONS:
        return GIVE_TEXT(device->extensions);
    case CL_DRIVER_VERSION:
        return GIVE_TEXT("7.5");
    case CL_DEVICE_TYPE:
        return GIVE(cl_device_type, device->type);
    case CL_DEVICE_DOUBLE_FP_CONFIG:
        return GIVE(cl_device_fp_config, device->fp64);
    case CL_DEVICE_AVAILABLE:
        return GIVE(cl_bool, device->is_available);
    case CL_DEVICE_COMPILER_AVAILABLE:
        return GIVE(cl_bool, device->has_compiler);
    case CL_DEVICE_ADDRESS_BITS:
        return GIVE(cl_uint, 64);
    case CL_DEVICE_ENDIAN_LITTLE:
        return GIVE(cl_bool, CL_TRUE);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return GIVE(cl_ulong, (cl_ulong)6 << 30);
    default: /* what it does not know, such as its vendor */
        return CL_INVALID_VALUE;
    }
}
