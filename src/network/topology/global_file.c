/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Global channels from a file: lines "router,router" or "router,router,channels",
 * by the numbers that routers have in the whole network. The global ports of a
 * router are in the order of the lines that name it. Every two groups must be
 * joined, since ways go by one global channel or by a group between.
 */
#include "network/topology/global_channels.h"
#include "network/line_file.h"

#include <math.h>
#include <string.h>

struct global_reader {
    struct line_file file;
    struct dragonfly *dragonfly;
    struct router_port *far_ends; /* by router * globals + global port */
    uint32_t *lines;              /* that said so */
    uint32_t *used;               /* by router: ports */
};

/* ---- lines ---- */

static bool has_globals(const struct global_reader *reader, uint32_t router)
{
    const struct dragonfly *dragonfly = reader->dragonfly;
    uint32_t routers = dragonfly->groups * dragonfly->routers;
    if (router >= routers)
        line_error(&reader->file, "there is no router %u; accepted: 0 to %u", router, routers - 1);
    else if (router % dragonfly->routers < dragonfly->first_gate)
        line_error(&reader->file, "router %u has no global channels; in each group those from its number %u on have",
                   router, dragonfly->first_gate);
    else
        return true;
    return false;
}

static bool is_new(const struct global_reader *reader, uint32_t from, uint32_t to)
{
    const struct dragonfly *dragonfly = reader->dragonfly;
    size_t first = (size_t)from * dragonfly->globals;
    if (from / dragonfly->routers == to / dragonfly->routers)
        return line_error(&reader->file, "routers %u and %u are both in group %u", from, to, from / dragonfly->routers);
    for (size_t i = first; i < first + reader->used[from]; i++)
        if (reader->far_ends[i].router == to)
            return line_error(&reader->file,
                              "routers %u and %u are joined by line %u already; give the number of channels there",
                              from, to, reader->lines[i]);
    return true;
}

static bool has_global_room(const struct global_reader *reader, uint32_t router, uint32_t channels)
{
    uint32_t globals = reader->dragonfly->globals, left = globals - reader->used[router];
    if (channels > left)
        line_error(&reader->file, "router %u has ports for %u global channels, of which %u are left, not %u", router,
                   globals, left, channels);
    return channels <= left;
}

static void join_globals(struct global_reader *reader, uint32_t from, uint32_t to, uint32_t count)
{
    const struct dragonfly *dragonfly = reader->dragonfly;
    for (; count > 0; count--) {
        struct router_port here = {from, reader->used[from]++}, there = {to, reader->used[to]++};
        size_t out = (size_t)from * dragonfly->globals + here.port, back = (size_t)to * dragonfly->globals + there.port;
        here.port += dragonfly->first_global;
        there.port += dragonfly->first_global;
        reader->far_ends[out] = there, reader->lines[out] = reader->file.line;
        reader->far_ends[back] = here, reader->lines[back] = reader->file.line;
    }
}

static bool global_read_line(void *context, char *line)
{
    struct global_reader *reader = context;
    const char *text = line + strspn(line, " \t");
    bool is_header = reader->file.line == 1 && strncmp(text, "router,", strlen("router,")) == 0;
    if (!*text || is_header)
        return true;
    double numbers[3] = {0, 0, 1};
    bool is_whole = text[strspn(text, "0123456789, \t")] == '\0' && line_numbers(text, numbers, 3) >= 2;
    if (!is_whole || numbers[2] == 0 || fmax(fmax(numbers[0], numbers[1]), numbers[2]) >= FW_NONE)
        return line_error(&reader->file, "\"%s\" is no router,router[,channels]", text);
    uint32_t from = (uint32_t)numbers[0], to = (uint32_t)numbers[1], channels = (uint32_t)numbers[2];
    if (!has_globals(reader, from) || !has_globals(reader, to) || !is_new(reader, from, to) ||
        !has_global_room(reader, from, channels) || !has_global_room(reader, to, channels))
        return false;
    join_globals(reader, from, to, channels);
    return true;
}

/* ---- gates ---- */

/* Lists the channels of each pair of groups, in the order of the lower group's routers and ports on both sides. */
static void list_gates(struct global_reader *reader, struct arena *arena)
{
    struct dragonfly *dragonfly = reader->dragonfly;
    uint32_t groups = dragonfly->groups, globals = dragonfly->globals, routers = groups * dragonfly->routers;
    size_t pairs = (size_t)groups * groups, total = 0;
    uint32_t *first = arena_array(arena, uint32_t, pairs + 2) + 1; /* counts, then where the next one goes */
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t port = 0; port < reader->used[router]; port++, total++) {
            uint32_t other = reader->far_ends[(size_t)router * globals + port].router / dragonfly->routers;
            first[(size_t)router / dragonfly->routers * groups + other + 1]++;
        }
    for (size_t pair = 0; pair < pairs; pair++)
        first[pair + 1] += first[pair];
    struct dragonfly_gate *gates = arena_array(arena, struct dragonfly_gate, total);
    for (uint32_t router = 0; router < routers; router++)
        for (uint32_t port = 0; port < reader->used[router]; port++) {
            struct router_port end = reader->far_ends[(size_t)router * globals + port];
            uint32_t group = router / dragonfly->routers, other = end.router / dragonfly->routers;
            if (group > other)
                continue;
            gates[first[(size_t)group * groups + other]++] = (struct dragonfly_gate){
                (uint16_t)(router % dragonfly->routers), (uint16_t)(dragonfly->first_global + port)};
            gates[first[(size_t)other * groups + group]++] =
                (struct dragonfly_gate){(uint16_t)(end.router % dragonfly->routers), (uint16_t)end.port};
        }
    dragonfly->first_gates = first - 1; /* each has moved on to where the next pair begins */
    dragonfly->gates = gates;
    dragonfly->far_ends = reader->far_ends;
}

static bool are_all_joined(const struct global_reader *reader)
{
    const struct dragonfly *dragonfly = reader->dragonfly;
    for (uint32_t group = 0; group < dragonfly->groups; group++)
        for (uint32_t other = 0; other < group; other++)
            if (!dragonfly_channels(dragonfly, group, other))
                return line_file_error(&reader->file,
                                       "no global channel joins groups %u and %u; every two of the %u groups need one",
                                       other, group, dragonfly->groups);
    return true;
}

bool global_read(struct dragonfly *dragonfly, const char *path, struct arena *arena, const struct choice *self,
                 struct errors *errors)
{
    uint32_t routers = dragonfly->groups * dragonfly->routers;
    size_t ends = (size_t)routers * dragonfly->globals;
    struct global_reader reader = {
        .file = {.path = path, .node = self->node, .key = "file", .errors = errors},
        .dragonfly = dragonfly,
        .far_ends = arena_array(arena, struct router_port, ends),
        .lines = arena_array(arena, uint32_t, ends),
        .used = arena_array(arena, uint32_t, routers),
    };
    for (size_t i = 0; i < ends; i++)
        reader.far_ends[i].router = FW_NONE;
    if (!line_file_read(&reader.file, global_read_line, &reader))
        return false;
    list_gates(&reader, arena);
    return are_all_joined(&reader);
}
