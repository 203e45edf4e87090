/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Texts that two compilers read: this program's, and that of an OpenCL device, which runs the same stages on the same state
 * (src/device). Such a file is C that OpenCL C 1.2 understands, says `Read by OpenCL too.` in its first comment, by which
 * the build finds it, and keeps what is the program's alone between `#if FW_HOST` and `#endif`. What to mind:
 *
 *   FW_GLOBAL     before what a pointer points to, where that lies in the memory of the device: state and tables do, the
 *                 struct that a function has of its caller does not
 *   FW_FAR        the type of a pointer inside of what lies there: the device has the program's address of it, and
 *                 FW_AT() gives what it stands for
 *   FW_NEAR()     the same for a pointer of a struct that has its own address in the program, as `self`: what it names lies in
 *                 one piece of memory with it
 *   FW_TABLE      a constant array of the program
 *   fw_bool       a bool in what lies in the memory of the device: one byte for both
 *   no bit fields, pointers to functions or arrays of variable length, no constant of a function's own that is static, no
 *   names that are words of OpenCL's (half, local, global), and no two of anything by one name in all such files: the device
 *   reads them as one
 */
#ifdef __OPENCL_VERSION__
#define FW_HOST 0
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL FP_CONTRACT OFF

typedef char int8_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
typedef uchar fw_bool;
#define UINT32_MAX 0xffffffffu
#define UINT64_MAX 0xfffffffffffffffful

#define FW_TABLE __constant
#define FW_GLOBAL __global
#define FW_TEAM __local /* before what a pointer points to that work-items share while they work on one thing */
#define FW_FAR(type) ulong
/* `owner->tables` is where the program's address 0 would be. */
#define FW_AT(type, owner, pointer) ((FW_GLOBAL type *)((owner)->tables + (pointer)))
#define FW_NEAR(type, owner, pointer)                                                                                  \
    ((FW_GLOBAL type *)((FW_GLOBAL const char *)(owner) + ((pointer) - (owner)->self)))

#define __builtin_expect(value, usual) (value)
#define __builtin_ctzll(word) (63u - (uint)clz((ulong)((word) & -(word))))
#define __builtin_clzll(word) ((uint)clz((ulong)(word)))
#define __builtin_popcountll(word) ((uint)popcount((ulong)(word)))
#define __builtin_inf() INFINITY

static inline uint64_t bits_of_f64(double x) { return as_ulong(x); }
static inline double f64_of_bits(uint64_t bits) { return as_double(bits); }
/* The product of two words: its low word, and the high one. */
static inline uint64_t multiply_wide(uint64_t a, uint64_t b, uint64_t *high)
{
    *high = mul_hi(a, b);
    return a * b;
}

/* A sum of products: two words. */
typedef ulong2 fw_wide;
static inline fw_wide wide_from(uint64_t value) { return (fw_wide)(value, 0); }
static inline uint64_t wide_low(fw_wide sum) { return sum.x; }
static inline uint64_t wide_high(fw_wide sum) { return sum.y; }
static inline fw_wide wide_add_product(fw_wide sum, uint64_t a, uint64_t b)
{
    uint64_t low = sum.x + a * b;
    return (fw_wide)(low, sum.y + mul_hi(a, b) + (low < sum.x ? 1 : 0));
}
#else
#define FW_HOST 1
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef bool fw_bool;

#define FW_TABLE static const
#define FW_GLOBAL
#define FW_TEAM
#define FW_FAR(type) type *
#define FW_AT(type, owner, pointer) ((void)(owner), (pointer))
#define FW_NEAR(type, owner, pointer) ((void)(owner), (pointer))
/* What `self` of FW_NEAR() is. */
#define FW_SELF(owner) ((uint64_t)(uintptr_t)(owner))

static inline uint64_t bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double f64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint64_t multiply_wide(uint64_t a, uint64_t b, uint64_t *high)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
}

typedef unsigned __int128 fw_wide;
static inline fw_wide wide_from(uint64_t value) { return value; }
static inline uint64_t wide_low(fw_wide sum) { return (uint64_t)sum; }
static inline uint64_t wide_high(fw_wide sum) { return (uint64_t)(sum >> 64); }
static inline fw_wide wide_add_product(fw_wide sum, uint64_t a, uint64_t b) { return sum + (fw_wide)a * b; }
#endif

#define FW_INLINE static inline __attribute__((always_inline))
/* What is called seldom: apart from what is called often, where that pays. */
#if FW_HOST
#define FW_SELDOM static __attribute__((noinline))
#else
#define FW_SELDOM static inline
#endif
