/* SPDX-License-Identifier: Apache-2.0 */
/* See checkpoint_plugins.h. */
#include "checkpoint/checkpoint_plugins.h"

#include "base/loaded.h"
#include "config/registry.h"

#include <stdio.h>
#include <stdlib.h>

static struct loaded program(void)
{
    struct loaded object;
    bool is_known = loaded_find(program_fingerprint, &object);
    CHECK(is_known, "the dynamic linker does not know this program");
    return object;
}

uint64_t program_fingerprint(void)
{
    struct loaded object = program();
    return loaded_fingerprint(&object);
}

struct plugins *plugins_find(void)
{
    struct plugins *plugins = memory_take(sizeof *plugins);
    plugins->count = 0;
    uintptr_t own = program().start;
    for (const struct registration *at = registry_first(); at; at = at->next) {
        struct loaded object;
        bool is_known = loaded_find(at->component, &object) && object.start != own;
        for (uint32_t i = 0; i < plugins->count; i++)
            is_known &= plugins->list[i].start != object.start;
        if (!is_known)
            continue;
        CHECK(plugins->count < MOST_PLUGINS, "more than %u plugins", MOST_PLUGINS);
        struct plugin *plugin = &plugins->list[plugins->count++];
        *plugin = (struct plugin){loaded_fingerprint(&object), object.base, object.start, object.end, {0}};
        if (!realpath(object.path, plugin->path))
            snprintf(plugin->path, sizeof plugin->path, "%s", object.path);
    }
    return plugins;
}

/* Their memory would not be in the heap that is kept. */
static void check_plugins(const char *asked_by, struct errors *errors)
{
    static const char *const takers[] = {"malloc",         "calloc", "realloc", "reallocarray", "aligned_alloc",
                                         "posix_memalign", "strdup", "strndup", "asprintf",     "vasprintf",
                                         "mmap",           "free",   NULL};
    struct plugins *plugins = plugins_find();
    for (uint32_t i = 0; i < plugins->count; i++) {
        struct loaded object;
        loaded_find((const void *)plugins->list[i].start, &object);
        const char *used = loaded_uses(&object, takers);
        if (used)
            errors_add(
                errors,
                "%s: plugin '%s' calls %s(), whose memory no checkpoint holds; expected memory of an arena, or of "
                "memory_take() and memory_give()",
                asked_by, plugins->list[i].path, used);
    }
    free(plugins);
}

bool checkpoint_is_possible(const char *asked_by, struct errors *errors)
{
    uint32_t before = errors->count;
    if (program().base)
        errors_add(errors,
                   "%s: this program lies at another address in each process, so that pointers into it cannot be kept; "
                   "expected one linked with -no-pie",
                   asked_by);
    check_plugins(asked_by, errors);
    return errors->count == before;
}
