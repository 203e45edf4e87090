/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp list [KIND] [--json]: the registered components, sorted by kind and name, one a line; or as a JSON array for
 * programs.
 *
 * flitwarp list device [--json]: the machine's OpenCL devices by their numbers, and whether a run can use them. That there
 * are none is said in a sentence, and no error.
 */
#include "cli/command.h"

#include "config/describe.h"
#include "config/json.h"
#include "config/registry.h"
#include "device/opencl.h"

#include <string.h>

/* ---- components ---- */

static void list_print_table(const char *kind)
{
    int kind_width = 0, name_width = 0;
    for (const struct registration *at = registry_first(); at; at = at->next) {
        int kind_length = (int)strlen(at->kind), name_length = (int)strlen(at->component->name);
        kind_width = kind_length > kind_width ? kind_length : kind_width;
        name_width = name_length > name_width ? name_length : name_width;
    }
    for (const struct registration *at = registry_first(); at; at = at->next)
        if (!kind || strcmp(at->kind, kind) == 0)
            printf("%-*s  %-*s  %s%s\n", kind_width, at->kind, name_width, at->component->name, at->component->summary,
                   component_has_device_form(at->component) ? " (device)" : "");
}

static void list_print_json(struct arena *arena, const char *kind)
{
    struct json *list = json_array(arena);
    for (const struct registration *at = registry_first(); at; at = at->next) {
        if (kind && strcmp(at->kind, kind) != 0)
            continue;
        struct json *entry = json_append(list, json_object(arena));
        json_add(entry, "kind", json_text(arena, at->kind));
        json_add(entry, "name", json_text(arena, at->component->name));
        json_add(entry, "summary", json_text(arena, at->component->summary));
        json_add(entry, "device", json_bool(arena, component_has_device_form(at->component)));
    }
    json_write(stdout, list, 2);
    putchar('\n');
}

/* ---- devices ---- */

#define GIB(bytes) ((double)(bytes) / (double)(1 << 30))

/* "OpenCL 3.0", of what a vendor writes behind it too. */
static const char *version_of(const struct device_facts *device, struct arena *arena)
{
    const char *number = strchr(device->version, ' ');
    return number ? arena_format(arena, "%.*s", (int)(number - device->version + 1 + (int)strcspn(number + 1, " ")),
                                 device->version)
                  : device->version;
}

static void devices_print_table(const struct device_list *list, struct arena *arena)
{
    int name_width = 0, driver_width = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        int name_length = (int)strlen(list->devices[i].name), driver_length = (int)strlen(list->devices[i].driver);
        name_width = name_length > name_width ? name_length : name_width;
        driver_width = driver_length > driver_width ? driver_length : driver_width;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const struct device_facts *device = &list->devices[i];
        printf("%u  %-*s  %7.1f GiB  driver %-*s  %s  %s%s\n", device->number, name_width, device->name,
               GIB(device->memory_bytes), driver_width, device->driver, version_of(device, arena),
               device->refusal ? "cannot be used: " : "can be used", device->refusal ? device->refusal : "");
    }
}

static void devices_print_json(const struct device_list *list, struct arena *arena)
{
    struct json *devices = json_array(arena);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct device_facts *device = &list->devices[i];
        struct json *entry = json_append(devices, json_object(arena));
        json_add(entry, "number", json_number_u64(arena, device->number));
        json_add(entry, "name", json_text(arena, device->name));
        json_add(entry, "vendor", json_text(arena, device->vendor));
        json_add(entry, "gpu", json_bool(arena, device->is_gpu));
        json_add(entry, "driver", json_text(arena, device->driver));
        json_add(entry, "version", json_text(arena, device->version));
        json_add(entry, "memory_bytes", json_number_u64(arena, device->memory_bytes));
        json_add(entry, "largest_bytes", json_number_u64(arena, device->largest_bytes));
        json_add(entry, "compute_units", json_number_u64(arena, device->compute_units));
        json_add(entry, "fp64", json_bool(arena, device->has_fp64));
        json_add(entry, "int64_atomics", json_bool(arena, device->has_int64_atomics));
        json_add(entry, "refusal", device->refusal ? json_text(arena, device->refusal) : json_null(arena));
    }
    json_write(stdout, devices, 2);
    putchar('\n');
}

static void list_devices(struct call *call)
{
    struct errors why = {.arena = &call->arena};
    struct device_list list = {0};
    bool as_json = flag_value(call, "--json") != NULL;
    if (opencl_list(&list, &call->arena, &why) && list.count == 0)
        errors_add(&why, "OpenCL: no device on this machine (a GPU's driver brings its own; pocl-opencl-icd is one of "
                         "any processor)");
    errors_print(&why, as_json ? stderr : stdout);
    if (as_json)
        devices_print_json(&list, &call->arena);
    else
        devices_print_table(&list, &call->arena);
}

/* ---- the command ---- */

static int cli_list(struct call *call)
{
    const char *kind = call->words[0];
    if (kind && strcmp(kind, "device") == 0) {
        list_devices(call);
        return EXIT_DONE;
    }
    if (kind && !registry_kind(kind)) {
        struct nearest nearest = {.wanted = kind};
        for (const struct registration *at = registry_first(); at; at = registry_next_kind(at))
            nearest_try(&nearest, at->kind);
        nearest_try(&nearest, "device");
        return errors_end(EXIT_USAGE, &call->errors,
                          "flitwarp list: unknown kind '%s'%s, expected one of %s, or device", kind,
                          meant_hint(&call->arena, nearest_word(&nearest)), registry_kinds(&call->arena));
    }
    if (flag_value(call, "--json"))
        list_print_json(&call->arena, kind);
    else
        list_print_table(kind);
    return EXIT_DONE;
}

static void suggest_list(struct suggestions *suggestions, int place)
{
    suggest_kinds(suggestions, place);
    if (place == 0)
        suggest(suggestions, "device");
}

static const struct command list_command = {
    .name = "list",
    .order = 90,
    .words = "[KIND]\ndevice",
    .summary = "registered components, or OpenCL devices of this machine",
    .flags = {{"--json", NULL, "as a JSON array", NULL}},
    .most_words = 1,
    .excess = "found '%s', expected at most one kind and --json",
    .notes = "(device): a component of which an OpenCL device has a form of its own. Kinds without any need none.",
    .suggest = suggest_list,
    .run = cli_list,
};
REGISTER_COMMAND(list_command);
