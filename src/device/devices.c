/* SPDX-License-Identifier: Apache-2.0 */
/* What OpenCL tells of a machine's devices, and which of them run our kernels. */
#ifdef FLITWARP_HAVE_OPENCL
#include "device/devices.h"

#include <ctype.h>
#include <string.h>

enum { MOST_PLATFORMS = 64, NO_PLATFORM = -1001 }; /* the loader's own number, not among those of cl.h */

/* ---- what a device says of itself ---- */

/* Without the blanks that some have around it; "" where it says nothing. */
static const char *text_of(const struct library *library, cl_device_id id, cl_device_info what, struct arena *arena)
{
    size_t size = 0;
    if (library->GetDeviceInfo(id, what, 0, NULL, &size) || !size)
        return "";
    char *text = arena_take(arena, size + 1);
    if (library->GetDeviceInfo(id, what, size, text, NULL))
        return "";
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = 0;
    return text + strspn(text, " \t");
}

/* OpenCL's integers have many sizes; this machine is little-endian. 0 where it says nothing. */
static uint64_t number_of(const struct library *library, cl_device_id id, cl_device_info what)
{
    uint64_t number = 0;
    return library->GetDeviceInfo(id, what, sizeof number, &number, NULL) ? 0 : number;
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

/* "OpenCL 1.2 and what the vendor adds" */
static bool is_new_enough(const char *version)
{
    static const char before[] = "OpenCL ";
    uint64_t major, minor;
    version += strncmp(version, before, strlen(before)) == 0 ? strlen(before) : 0;
    return number_read(&version, 99, &major) && *version++ == '.' && number_read(&version, 9, &minor) &&
           major * 10 + minor >= 12;
}

/* In the order of what a user can do about it. */
static const char *find_refusal(const struct library *library, cl_device_id id, const struct device_facts *facts)
{
    if (!number_of(library, id, CL_DEVICE_AVAILABLE))
        return "it is not available now";
    if (!number_of(library, id, CL_DEVICE_COMPILER_AVAILABLE))
        return "its driver has no compiler";
    if (!is_new_enough(facts->version))
        return "its OpenCL is older than 1.2";
    if (!facts->has_fp64)
        return "it has no double precision (cl_khr_fp64)";
    if (!facts->has_int64_atomics)
        return "it has no 64-bit atomics (cl_khr_int64_base_atomics)";
    if (number_of(library, id, CL_DEVICE_ADDRESS_BITS) != 64)
        return "its addresses do not have 64 bits";
    if (!number_of(library, id, CL_DEVICE_ENDIAN_LITTLE))
        return "its bytes are in another order than the processor's";
    return NULL;
}

static struct device_facts facts_of(const struct library *library, cl_device_id id, struct arena *arena)
{
    struct device_facts facts = {
        .name = text_of(library, id, CL_DEVICE_NAME, arena),
        .vendor = text_of(library, id, CL_DEVICE_VENDOR, arena),
        .driver = text_of(library, id, CL_DRIVER_VERSION, arena),
        .version = text_of(library, id, CL_DEVICE_VERSION, arena),
        .is_gpu = number_of(library, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU,
        .has_fp64 = number_of(library, id, CL_DEVICE_DOUBLE_FP_CONFIG),
        .has_int64_atomics = has_word(text_of(library, id, CL_DEVICE_EXTENSIONS, arena), "cl_khr_int64_base_atomics"),
        .limits_registers = has_word(text_of(library, id, CL_DEVICE_EXTENSIONS, arena), "cl_nv_compiler_options"),
        .compute_units = (uint32_t)number_of(library, id, CL_DEVICE_MAX_COMPUTE_UNITS),
        .memory_bytes = number_of(library, id, CL_DEVICE_GLOBAL_MEM_SIZE),
        .largest_bytes = number_of(library, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE),
        .most_items = number_of(library, id, CL_DEVICE_MAX_WORK_GROUP_SIZE),
    };
    facts.refusal = find_refusal(library, id, &facts);
    return facts;
}

/* ---- all of them ---- */

/* Fills the places from *count on, as far as there are some: GPUs, or all others. */
static void add_kind(const struct library *library, cl_platform_id platform, bool is_gpu, cl_device_id *ids,
                     uint32_t *count, struct arena *arena)
{
    cl_uint found = 0;
    if (library->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &found) || !found)
        return;
    cl_device_id *of_platform = arena_array(arena, cl_device_id, found);
    if (library->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, found, of_platform, NULL))
        return;
    for (cl_uint i = 0; i < found; i++)
        if (!!(number_of(library, of_platform[i], CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) == is_gpu) {
            if (ids)
                ids[*count] = of_platform[i];
            ++*count;
        }
}

static uint32_t find_ids(const struct library *library, const cl_platform_id *platforms, cl_uint platform_count,
                         cl_device_id *ids, struct arena *arena)
{
    uint32_t count = 0;
    for (int others = 0; others < 2; others++)
        for (cl_uint i = 0; i < platform_count; i++)
            add_kind(library, platforms[i], !others, ids, &count, arena);
    return count;
}

bool devices_find(const struct library *library, struct device_list *list, cl_device_id **ids, struct arena *arena,
                  struct errors *errors)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    cl_int status = library->GetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count);
    if (status && status != NO_PLATFORM)
        return errors_add(errors, "OpenCL: %s while looking for devices", opencl_error_name(status));
    if (platform_count > MOST_PLATFORMS)
        platform_count = MOST_PLATFORMS;
    *list = (struct device_list){.count = find_ids(library, platforms, platform_count, NULL, arena)};
    *ids = arena_array(arena, cl_device_id, list->count);
    find_ids(library, platforms, platform_count, *ids, arena);
    list->devices = arena_array(arena, struct device_facts, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        list->devices[i] = facts_of(library, (*ids)[i], arena);
        list->devices[i].number = i;
    }
    return true;
}

bool opencl_list(struct device_list *list, struct arena *arena, struct errors *errors)
{
    struct library library;
    cl_device_id *ids;
    return library_load(&library, errors) && devices_find(&library, list, &ids, arena, errors);
}
#endif
