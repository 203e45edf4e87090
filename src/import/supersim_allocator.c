/* SPDX-License-Identifier: Apache-2.0 */
/* SuperSim's arbiters and allocators in our words. */
#include "import/supersim.h"

#include <string.h>

/* A class of inputs is chosen first, then one of its inputs. */
static struct json *dual_stage(struct supersim *supersim, struct json *theirs)
{
    struct import *import = supersim->import;
    struct json *block = json_object(import->arena);
    import_put_text(import, block, "type", "dual_stage_class");
    uint64_t classes = import_count(import, import_take(theirs, "classes"), 64, 1, 64);
    const struct json *map = import_need(import, theirs, "class_map");
    struct json *class_map = import_put(import, block, "class_map", import_numbers(import, map, 0, classes - 1));
    if (map && map->type == JSON_ARRAY && class_map->count == 0)
        import_error(import, map, "found none, expected a class for each input");
    const struct json *first =
        import_put(import, block, "class_arbiter", supersim_arbiter(supersim, theirs, "stage1_arbiter"));
    import_put(import, block, "input_arbiter", supersim_arbiter(supersim, theirs, "stage2_arbiter"));
    const struct json *metadata = import_take(theirs, "metadata_func");
    bool compares = first->type != JSON_TEXT || strcmp(first->text, "age") == 0;
    if (compares && strcmp(import_word(import, metadata, "min"), "min") != 0)
        import_note(import, metadata, "a class is as old as its oldest packet", "min");
    return block;
}

/* Age, or what else a packet's metadata say. */
static const char *comparing(struct supersim *supersim, const struct json *type, const struct json *greater)
{
    struct import *import = supersim->import;
    if (supersim->comparing_why)
        import_note(import, type, supersim->comparing_why, supersim->comparing);
    else if (import_truth(import, greater, false))
        import_note(import, greater, "the oldest packet goes first, not the youngest", supersim->comparing);
    return supersim->comparing;
}

struct json *supersim_arbiter(struct supersim *supersim, struct json *allocator, const char *key)
{
    static const struct import_name names[] = {{"lslp", "round_robin"},
                                               {"lru", "least_recently_served"},
                                               {"random", "random"},
                                               {"random_priority", "random_priority"},
                                               {0}};
    struct import *import = supersim->import;
    struct json *block = import_block(import, allocator, key);
    const struct json *type = import_take(block, "type");
    const char *name = import_word(import, type, "lslp");
    const struct import_name *row = IMPORT_FIND(names, name);
    if (row)
        return json_text(import->arena, row->ours);
    if (strcmp(name, "dual_stage_class") == 0)
        return dual_stage(supersim, block);
    if (strcmp(name, "comparing") == 0)
        return json_text(import->arena, comparing(supersim, type, import_take(block, "greater")));
    import_note(import, type, "no such arbiter", "round_robin");
    return json_text(import->arena, "round_robin");
}

static bool is_round_robin(const struct json *arbiter)
{
    return arbiter->type == JSON_TEXT && strcmp(arbiter->text, "round_robin") == 0;
}

/* Resources first are outputs first here; clients are inputs. With pointers that move on success it is iSLIP. */
void supersim_allocator(struct supersim *supersim, struct json *scheduler, const char *path)
{
    struct import *import = supersim->import;
    struct json *theirs = import_block(import, scheduler, "allocator");
    struct json *block = import_put(import, import->ours, path, json_object(import->arena));
    const struct json *type = import_take(theirs, "type");
    const char *name = import_word(import, type, "rc_separable");
    if (strcmp(name, "wavefront") == 0) {
        import_put_text(import, block, "type", "wavefront");
        return;
    }
    bool is_first = strcmp(name, "cr_separable") == 0, is_one_sided = strcmp(name, "r_separable") == 0;
    if (!is_first && !is_one_sided && strcmp(name, "rc_separable") != 0)
        import_note(import, type, "no such allocator", "separable_output_first");
    struct json *resource = supersim_arbiter(supersim, theirs, "resource_arbiter");
    struct json *client =
        is_one_sided ? json_copy(import->arena, resource) : supersim_arbiter(supersim, theirs, "client_arbiter");
    bool is_latched = import_truth(import, import_take(theirs, "slip_latch"), true);
    bool is_islip = is_latched && !is_first && !is_one_sided && is_round_robin(resource) && is_round_robin(client);
    import_put_text(import, block, "type",
                    is_islip   ? "islip"
                    : is_first ? "separable_input_first"
                               : "separable_output_first");
    const struct json *iterations = is_one_sided ? NULL : import_take(theirs, "iterations");
    import_put_u64(import, block, "iterations", import_count(import, iterations, 1, 1, 64));
    if (is_islip)
        return;
    import_put(import, block, "input_arbiter", client);
    import_put(import, block, "output_arbiter", resource);
}
