/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The program's heap, which can be told to lie at a fixed address. malloc, free and
 * their like lead here in this program's own code (the linker's --wrap, see
 * CMakeLists.txt) and on to the C library, as if there were nothing. After heap_fix()
 * memory comes from one region that begins at the same address every time. All that
 * is built then can be written to a file and, in another process, be put back to where it
 * was: its pointers stay right. Libraries keep the C library's heap.
 */
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* From now on; what was taken before stays where it is. False with errno where something else is at that address. */
bool heap_fix(void);
/* The same with room for so many bytes, all 0, for the caller to fill with what was there in another process. */
bool heap_fix_again(size_t bytes);
/* Whether memory comes from the region. */
bool heap_is_fixed(void);
/* While true, new memory comes from the C library all the same: for what does not belong to the state. */
void heap_pass(bool passes);

/* The region: where it begins, and the bytes up to the last that was ever taken. */
unsigned char *heap_start(void);
size_t heap_used(void);

/* One thing in the region by which all else is found again. */
void heap_set_root(void *root);
void *heap_root(void);

/* A lock that is seldom met: those who take memory take it, and what runs seldom takes any. */
static inline void memory_lock(bool *is_locked)
{
    while (__atomic_test_and_set(is_locked, __ATOMIC_ACQUIRE))
        sched_yield();
}
static inline void memory_unlock(bool *is_locked) { __atomic_clear(is_locked, __ATOMIC_RELEASE); }
