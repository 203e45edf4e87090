/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded objects, see loaded.h, as the dynamic linker tells of them. */
#include "base/checksum.h"
#include "base/loaded.h"
#include "base/text.h"

#include "flitwarp/random.h"

#include <link.h>
#include <string.h>

/* Those that the kernel brings along have no file. */
static bool has_file(const struct dl_phdr_info *info) { return !*info->dlpi_name || strchr(info->dlpi_name, '/'); }

static struct loaded loaded_describe(const struct dl_phdr_info *info)
{
    struct loaded object = {.path = info->dlpi_name,
                            .base = info->dlpi_addr,
                            .start = UINTPTR_MAX,
                            .segments = info->dlpi_phdr,
                            .segment_count = info->dlpi_phnum};
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type != PT_LOAD)
            continue;
        object.start = start < object.start ? start : object.start;
        object.end = end > object.end ? end : object.end;
    }
    return object;
}

uint64_t loaded_fingerprint(const struct loaded *object)
{
    uint64_t print = 0;
    const ElfW(Phdr) *segment = object->segments;
    for (uint32_t i = 0; i < object->segment_count; i++, segment++)
        if (segment->p_type == PT_LOAD && (segment->p_flags & (PF_R | PF_W)) == PF_R)
            print =
                random_mix(print ^ bytes_checksum((const void *)(object->base + segment->p_vaddr), segment->p_memsz));
    return print;
}

/* By the fingerprint or, where there is none, by an address. */
struct search {
    uintptr_t address;
    uint64_t fingerprint;
    struct loaded found;
    bool is_found;
};

static int search_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct search *search = context;
    struct loaded *object = &search->found;
    *object = loaded_describe(info);
    return search->is_found =
               has_file(info) && (search->fingerprint ? loaded_fingerprint(object) == search->fingerprint
                                                      : search->address - object->start < object->end - object->start);
}

static bool search_all(struct search search, struct loaded *object)
{
    dl_iterate_phdr(search_object, &search);
    *object = search.found;
    return search.is_found;
}

bool loaded_find(const void *address, struct loaded *object)
{
    return search_all((struct search){.address = (uintptr_t)address}, object);
}

bool loaded_find_build(uint64_t wanted, struct loaded *object)
{
    return search_all((struct search){.fingerprint = wanted}, object);
}

static int is_of_object(struct dl_phdr_info *info, size_t size, void *path)
{
    (void)size;
    return has_file(info) && paths_are_one(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", path);
}

bool loaded_has_file(const char *path) { return dl_iterate_phdr(is_of_object, (void *)(uintptr_t)path); }

/* ---- names ---- */

/* What the dynamic linker needs to know of an object: relocations, and the symbols and names that they mean. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * relocations[2];
    size_t bytes[2];
};

static void read_tables(const struct loaded *object, const ElfW(Dyn) * entry, struct tables *tables)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        uintptr_t at = entry->d_un.d_ptr; /* as in the file, or as the dynamic linker has set it right */
        at += at < object->base ? object->base : 0;
        if (entry->d_tag == DT_SYMTAB)
            tables->symbols = (const void *)at;
        else if (entry->d_tag == DT_STRTAB)
            tables->names = (const void *)at;
        else if (entry->d_tag == DT_RELA || entry->d_tag == DT_JMPREL)
            tables->relocations[entry->d_tag == DT_JMPREL] = (const void *)at;
        else if (entry->d_tag == DT_RELASZ || entry->d_tag == DT_PLTRELSZ)
            tables->bytes[entry->d_tag == DT_PLTRELSZ] = entry->d_un.d_val;
    }
}

static const char *loaded_find_name(const char *used, const char *const *names)
{
    while (*names && strcmp(used, *names) != 0)
        names++;
    return *names;
}

const char *loaded_uses(const struct loaded *object, const char *const *names)
{
    struct tables tables = {0};
    const ElfW(Phdr) *segment = object->segments;
    for (uint32_t i = 0; i < object->segment_count; i++, segment++)
        if (segment->p_type == PT_DYNAMIC)
            read_tables(object, (const void *)(object->base + segment->p_vaddr), &tables);
    for (uint32_t kind = 0; kind < 2 && tables.symbols && tables.names; kind++)
        for (size_t i = 0; i < tables.bytes[kind] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Sym) *symbol = &tables.symbols[ELF64_R_SYM(tables.relocations[kind][i].r_info)];
            const char *name =
                symbol->st_shndx == SHN_UNDEF ? loaded_find_name(tables.names + symbol->st_name, names) : NULL;
            if (name)
                return name;
        }
    return NULL;
}
