/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals one by one, in the order of ranks: as listed, or from a file of them. */
#include "flitwarp/application.h"

#include "workload/numbers.h"

struct list_config {
    struct u32_list terminals;
    const char *file;
};

static const struct option list_options[] = {
    OPTION_U32_LIST(struct list_config, terminals, "[]", 0, UINT32_MAX - 1, NULL, "terminals, by rank"),
    OPTION_FILE(struct list_config, file, "null",
                "in place of them: a file of numbers of terminals by rank, in lines or with commas"),
    OPTION_END,
};

/* Terminals by rank as they are taken, with what is needed to judge them. */
struct taking {
    const struct choice *self;
    const struct topology *topology;
    uint32_t *terminals;
    uint32_t count;
    bool *taken; /* by terminal */
    struct errors *errors;
};

/* False, with an error, for one that cannot be; `where` stands before it: nothing, or a line of a file. */
static bool list_take(struct taking *taking, double number, const char *key, const char *where)
{
    uint32_t terminals = taking->topology->terminals;
    uint32_t terminal = number < terminals ? (uint32_t)number : 0;
    if (number != terminal)
        return choice_error(taking->errors, taking->self, key, "%s%.15g is not a terminal; accepted: 0 to %u", where,
                            number, terminals - 1);
    if (taking->taken[terminal])
        return choice_error(taking->errors, taking->self, key, "%s%u is listed twice", where, terminal);
    taking->taken[terminal] = true;
    taking->terminals[taking->count++] = terminal;
    return true;
}

static void list_take_file(struct taking *taking, struct arena *arena, const char *file)
{
    struct numbers numbers;
    bool is_good = numbers_read(&numbers, file, "terminal", arena, taking->self, "file", taking->errors);
    for (uint32_t i = 0; i < numbers.count && is_good; i++) {
        const char *where = arena_format(arena, "%s:%u: ", file, numbers.rows[i].line);
        for (uint32_t n = 0; n < numbers.rows[i].count && is_good; n++)
            is_good = list_take(taking, numbers.rows[i].values[n], "file", where);
    }
}

static uint32_t list_allocate(const struct choice *self, const struct topology *topology, uint64_t seed,
                              uint32_t *terminals, struct errors *errors)
{
    const struct list_config *config = self->config;
    (void)seed;
    if ((config->terminals.count > 0) == (config->file != NULL))
        return choice_error(errors, self, config->file ? "file" : "terminals",
                            "found %s, expected one of terminals and file", config->file ? "both" : "none");
    uint32_t before = errors->count;
    struct arena arena = {0};
    struct taking taking = {self, topology, terminals, 0, arena_array(&arena, bool, topology->terminals), errors};
    if (config->file)
        list_take_file(&taking, &arena, config->file);
    for (uint32_t i = 0; i < config->terminals.count && errors->count == before; i++)
        list_take(&taking, config->terminals.items[i], "terminals", "");
    arena_release(&arena);
    return errors->count == before ? taking.count : 0;
}

static const struct allocation_ops list = {
    .name = "list",
    .summary = "terminals as listed, here or in a file",
    .options = list_options,
    .example = "{\"type\": \"list\", \"terminals\": [0, 9, 18]}",
    .allocate = list_allocate,
};
REGISTER_ALLOCATION(list);
