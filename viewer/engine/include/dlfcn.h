/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The engine in a page loads no plugins. */
#include <stddef.h>

typedef struct {
    const char *dli_fname;
} Dl_info;

enum { RTLD_NOW = 2, RTLD_NOLOAD = 4 };

static inline int dladdr(const void *address, Dl_info *info)
{
    (void)address;
    (void)info;
    return 0;
}
static inline void *dlopen(const char *file, int flags)
{
    (void)file;
    (void)flags;
    return NULL;
}
static inline const char *dlerror(void) { return "a page has no plugins"; }
