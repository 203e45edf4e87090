/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The machine's OpenCL library, loaded when somebody asks for a device: the program starts without. It is never unloaded,
 * since threads of its drivers go on in it.
 */
#include "flitwarp/error.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/* What is used of it: clNAME. */
#define OPENCL_EACH(X)                                                                                                 \
    X(GetPlatformIDs)                                                                                                  \
    X(GetDeviceIDs)                                                                                                    \
    X(GetDeviceInfo)                                                                                                   \
    X(CreateContext)                                                                                                   \
    X(ReleaseContext)                                                                                                  \
    X(CreateCommandQueue)                                                                                              \
    X(ReleaseCommandQueue)                                                                                             \
    X(CreateProgramWithSource)                                                                                         \
    X(BuildProgram)                                                                                                    \
    X(GetProgramBuildInfo)                                                                                             \
    X(ReleaseProgram)                                                                                                  \
    X(CreateKernel)                                                                                                    \
    X(SetKernelArg)                                                                                                    \
    X(GetKernelWorkGroupInfo)                                                                                          \
    X(ReleaseKernel)                                                                                                   \
    X(EnqueueNDRangeKernel)                                                                                            \
    X(CreateBuffer)                                                                                                    \
    X(ReleaseMemObject)                                                                                                \
    X(EnqueueFillBuffer)                                                                                               \
    X(EnqueueWriteBuffer)                                                                                              \
    X(EnqueueReadBuffer)                                                                                               \
    X(Flush)                                                                                                           \
    X(Finish)

#define OPENCL_POINTER(name) __typeof__(cl##name) *name;
struct library {
    OPENCL_EACH(OPENCL_POINTER)
};

/* False, with an error: there is none, or one that lacks something. */
bool library_load(struct library *library, struct errors *errors);
/* "CL_OUT_OF_RESOURCES"; NULL: a number that OpenCL 1.2 does not have. */
const char *opencl_error_name(cl_int status);
