/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* A lock that is seldom met: those who take memory take it, and what runs seldom takes any. */
#include <sched.h>
#include <stdbool.h>

static inline void memory_lock(bool *is_locked)
{
    while (__atomic_test_and_set(is_locked, __ATOMIC_ACQUIRE))
        sched_yield();
}
static inline void memory_unlock(bool *is_locked) { __atomic_clear(is_locked, __ATOMIC_RELEASE); }
