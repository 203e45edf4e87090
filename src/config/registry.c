/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry is one sorted list. Constructors insert into it before main and
 * while a plugin is loaded; it is never changed otherwise, so it needs no lock.
 * Being sorted, it has the members of a kind side by side, and doubles too.
 */
#include "config/registry.h"

#include "base/embedded.h"

#include <dlfcn.h>
#include <string.h>

static struct registration *registrations;
static uint32_t registration_count;

/* What the last plugin that was built for another interface says that it was built for. */
static struct {
    bool is_set;
    bool has_version;
    uint64_t version;
} refused;

static int compare(const struct registration *a, const struct registration *b)
{
    int kinds = strcmp(a->kind, b->kind);
    return kinds ? kinds : strcmp(a->component->name, b->component->name);
}

void registration_add(struct registration *registration)
{
    bool has_version = registration->mark == FLITWARP_INTERFACE_MARK;
    if (!has_version || registration->interface != FLITWARP_INTERFACE) { /* nothing else of it may be looked at */
        refused.is_set = true;
        refused.has_version = has_version;
        refused.version = registration->interface;
        return;
    }
    struct registration **link = &registrations;
    while (*link && compare(*link, registration) <= 0)
        link = &(*link)->next;
    registration->next = *link;
    *link = registration;
    registration_count++;
}

const struct registration *registry_first(void) { return registrations; }

const struct registration *registry_kind(const char *kind)
{
    const struct registration *at = registrations;
    while (at && strcmp(at->kind, kind) != 0)
        at = at->next;
    return at;
}

const struct registration *registry_next(const struct registration *registration)
{
    const struct registration *next = registration->next;
    return next && strcmp(next->kind, registration->kind) == 0 ? next : NULL;
}

const struct registration *registry_next_kind(const struct registration *registration)
{
    const struct registration *at = registration;
    while (at && strcmp(at->kind, registration->kind) == 0)
        at = at->next;
    return at;
}

const struct component *component_find(const char *kind, const char *name)
{
    for (const struct registration *at = registry_kind(kind); at; at = registry_next(at))
        if (strcmp(at->component->name, name) == 0)
            return at->component;
    return NULL;
}

const char *registry_kinds(struct arena *arena)
{
    const char *kinds = "";
    for (const struct registration *at = registrations; at; at = registry_next_kind(at))
        kinds = list_add(arena, kinds, ", ", at->kind);
    return kinds;
}

const char *registry_names(struct arena *arena, const char *kind)
{
    const char *names = "";
    for (const struct registration *at = registry_kind(kind); at; at = registry_next(at))
        names = list_add(arena, names, ", ", at->component->name);
    return names;
}

const char *registry_nearest(const char *kind, const char *name)
{
    struct nearest nearest = {.wanted = name};
    for (const struct registration *at = registry_kind(kind); at; at = registry_next(at))
        nearest_try(&nearest, at->component->name);
    return nearest_word(&nearest);
}

bool component_has_device_form(const struct component *component)
{
    return component->device.file && embedded_find(device_files, component->device.file);
}

/* The program or plugin that a registration lies in. */
static const char *origin(const struct registration *registration)
{
    Dl_info info;
    return dladdr(registration, &info) && info.dli_fname ? info.dli_fname : "this program";
}

bool registry_check(struct errors *errors)
{
    uint32_t before = errors->count;
    for (const struct registration *at = registrations; at && at->next; at = at->next)
        if (compare(at, at->next) == 0)
            errors_add(errors, "%s '%s' is registered twice, by '%s' and by '%s': names are unique within a kind",
                       at->kind, at->component->name, origin(at), origin(at->next));
    return errors->count == before;
}

/* Says so where the plugin that has just been loaded is for another interface. */
static bool is_of_this_interface(const char *path, struct errors *errors)
{
    if (!refused.is_set)
        return true;
    const char *version = arena_format(errors->arena, "is built for version %llu of the plugin interface",
                                       (unsigned long long)refused.version);
    return errors_add(
        errors, "plugin '%s': %s, this program has version %d; build it with this program's headers", path,
        refused.has_version ? version : "does not say which version of the plugin interface it is built for",
        FLITWARP_INTERFACE);
}

bool plugin_load(const char *path, struct errors *errors)
{
    /* Without a slash dlopen searches the system's libraries instead of taking the file. */
    const char *file = strchr(path, '/') ? path : arena_format(errors->arena, "./%s", path);
    if (dlopen(file, RTLD_NOW | RTLD_NOLOAD))
        return true;
    uint32_t before = registration_count;
    if (!dlopen(file, RTLD_NOW))
        return errors_add(errors, "plugin '%s': cannot be loaded: %s", path, dlerror());
    if (!is_of_this_interface(path, errors))
        return false;
    if (registration_count == before)
        return errors_add(errors, "plugin '%s': registers no component, expected at least one REGISTER_ line", path);
    return true;
}
