/* SPDX-License-Identifier: Apache-2.0 */
/* See library.h. */
#ifdef FLITWARP_HAVE_OPENCL
#include "device/library.h"

#include <dlfcn.h>

#define LIBRARY "libOpenCL.so.1"

bool library_load(struct library *library, struct errors *errors)
{
#define NAME_AND_PLACE(name) {"cl" #name, (void **)(void *)&library->name},
    const struct {
        const char *name;
        void **place;
    } functions[] = {OPENCL_EACH(NAME_AND_PLACE)};
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return errors_add(errors, "OpenCL: %s; it comes with the driver of a GPU, or as package ocl-icd-libopencl1",
                          dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!(*functions[i].place = dlsym(handle, functions[i].name)))
            return errors_add(errors, "OpenCL: %s has no %s, expected OpenCL 1.2 or newer", LIBRARY, functions[i].name);
    return true;
}

const char *opencl_error_name(cl_int status)
{
#define NUMBER_AND_NAME(name)                                                                                          \
    {                                                                                                                  \
        name, #name                                                                                                    \
    }
    static const struct {
        cl_int status;
        const char *name;
    } names[] = {
        NUMBER_AND_NAME(CL_DEVICE_NOT_FOUND),
        NUMBER_AND_NAME(CL_DEVICE_NOT_AVAILABLE),
        NUMBER_AND_NAME(CL_COMPILER_NOT_AVAILABLE),
        NUMBER_AND_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        NUMBER_AND_NAME(CL_OUT_OF_RESOURCES),
        NUMBER_AND_NAME(CL_OUT_OF_HOST_MEMORY),
        NUMBER_AND_NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
        NUMBER_AND_NAME(CL_MEM_COPY_OVERLAP),
        NUMBER_AND_NAME(CL_BUILD_PROGRAM_FAILURE),
        NUMBER_AND_NAME(CL_MAP_FAILURE),
        NUMBER_AND_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET),
        NUMBER_AND_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
        NUMBER_AND_NAME(CL_COMPILE_PROGRAM_FAILURE),
        NUMBER_AND_NAME(CL_LINKER_NOT_AVAILABLE),
        NUMBER_AND_NAME(CL_LINK_PROGRAM_FAILURE),
        NUMBER_AND_NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
        NUMBER_AND_NAME(CL_INVALID_VALUE),
        NUMBER_AND_NAME(CL_INVALID_PLATFORM),
        NUMBER_AND_NAME(CL_INVALID_DEVICE),
        NUMBER_AND_NAME(CL_INVALID_CONTEXT),
        NUMBER_AND_NAME(CL_INVALID_QUEUE_PROPERTIES),
        NUMBER_AND_NAME(CL_INVALID_COMMAND_QUEUE),
        NUMBER_AND_NAME(CL_INVALID_MEM_OBJECT),
        NUMBER_AND_NAME(CL_INVALID_BINARY),
        NUMBER_AND_NAME(CL_INVALID_BUILD_OPTIONS),
        NUMBER_AND_NAME(CL_INVALID_PROGRAM),
        NUMBER_AND_NAME(CL_INVALID_PROGRAM_EXECUTABLE),
        NUMBER_AND_NAME(CL_INVALID_KERNEL_NAME),
        NUMBER_AND_NAME(CL_INVALID_KERNEL_DEFINITION),
        NUMBER_AND_NAME(CL_INVALID_KERNEL),
        NUMBER_AND_NAME(CL_INVALID_ARG_INDEX),
        NUMBER_AND_NAME(CL_INVALID_ARG_VALUE),
        NUMBER_AND_NAME(CL_INVALID_ARG_SIZE),
        NUMBER_AND_NAME(CL_INVALID_KERNEL_ARGS),
        NUMBER_AND_NAME(CL_INVALID_WORK_DIMENSION),
        NUMBER_AND_NAME(CL_INVALID_WORK_GROUP_SIZE),
        NUMBER_AND_NAME(CL_INVALID_WORK_ITEM_SIZE),
        NUMBER_AND_NAME(CL_INVALID_GLOBAL_OFFSET),
        NUMBER_AND_NAME(CL_INVALID_EVENT_WAIT_LIST),
        NUMBER_AND_NAME(CL_INVALID_EVENT),
        NUMBER_AND_NAME(CL_INVALID_OPERATION),
        NUMBER_AND_NAME(CL_INVALID_BUFFER_SIZE),
        NUMBER_AND_NAME(CL_INVALID_GLOBAL_WORK_SIZE),
        NUMBER_AND_NAME(CL_INVALID_PROPERTY),
        NUMBER_AND_NAME(CL_INVALID_COMPILER_OPTIONS),
        NUMBER_AND_NAME(CL_INVALID_LINKER_OPTIONS),
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == status)
            return names[i].name;
    return NULL;
}
#endif
