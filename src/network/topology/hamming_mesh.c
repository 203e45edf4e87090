/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A HammingMesh (Hoefler et al. 2022): boards that are meshes of a x b accelerators, at
 * the points of a grid of x by y boards. The accelerators at the edges of the
 * boards have a channel more to a network of the row, or the column, of
 * accelerators that they stand in: one switch, or where this has too few ports
 * a fat tree of two levels. With boards of one accelerator it is a HyperX.
 *
 *     +----------- switch -----------+
 *     |      |                |      |        a row of accelerators on two
 *     0 ---- 1                2 ---- 3        boards of 2 x 2; columns alike
 *
 * An accelerator forwards: it is a router with terminals, and a switch is a router
 * without. What the paper calls Hx2Mesh has boards of 2 x 2, and where a row needs
 * less than a switch of 64 ports, several rows share one, whose ports are apart
 * in here. The order of routers and ports is in flitwarp/hamming_mesh.h.
 */
#include "flitwarp/hamming_mesh.h"

#include "network/topology/sizes.h"

const char hamming_mesh_family[] = "hamming_mesh";

enum { ACCELERATOR_PORTS = 4 };
enum channel_class { CLASS_BOARD, CLASS_ROW, CLASS_COLUMN, CLASSES };

struct hamming_mesh_config {
    struct u32_list board, boards;
    uint32_t radix, up;
    uint32_t concentration;
};

static const struct option hamming_mesh_options[] = {
    OPTION_U32_LIST(struct hamming_mesh_config, board, "[2, 2]", 1, 1024, "accelerators",
                    "along a row and a column of a board"),
    OPTION_U32_LIST(struct hamming_mesh_config, boards, "[4, 4]", 1, 16384, "boards",
                    "along a row and a column of boards"),
    OPTION_U32(struct hamming_mesh_config, radix, "64", 4, 32768, "ports", "ports of every switch"),
    OPTION_U32(struct hamming_mesh_config, up, "null", 2, 32766, "ports",
               "ports up of a leaf switch, where rows or columns have fat trees; null: half of all, or one less where "
               "that is odd"),
    OPTION_U32(struct hamming_mesh_config, concentration, "1", 1, 1024, "terminals", "terminals at each accelerator"),
    OPTION_END,
};

/* The switches of a line: as few spines as have the ports for all leaves. */
static void fill_line(struct hamming_mesh_line *line, const struct hamming_mesh_config *config, uint32_t d)
{
    uint32_t ends = 2 * config->boards.items[d];
    line->side = config->board.items[d];
    line->boards = config->boards.items[d];
    line->width = line->side * line->boards;
    line->leaves = 1;
    line->down = ends;
    if (ends <= config->radix)
        return;
    line->up = config->up ? config->up : config->radix / 4 * 2;
    line->down = config->radix - line->up;
    line->leaves = (ends + line->down - 1) / line->down;
    line->spines = 1;
    while (line->spines < line->up &&
           (line->up % line->spines || line->leaves * (line->up / line->spines) > config->radix))
        line->spines++;
    line->trunk = line->up / line->spines;
}

static uint32_t line_switches(const struct hamming_mesh_line *line) { return line->leaves + line->spines; }

static uint64_t count_routers(const struct hamming_mesh_line *lines)
{
    uint64_t rows = lines[1].width, columns = lines[0].width;
    return rows * columns + rows * line_switches(&lines[0]) + columns * line_switches(&lines[1]);
}

static uint32_t most_ports(const struct hamming_mesh_config *config, const struct hamming_mesh_line *lines)
{
    uint32_t most = ACCELERATOR_PORTS;
    for (uint32_t d = 0; d < HAMMING_MESH_DIMENSIONS; d++) {
        uint32_t ports = lines[d].spines ? config->radix : lines[d].down;
        most = ports > most ? ports : most;
    }
    return most;
}

/* A leaf has both ends of a board, so that its ports down are an even number. */
static void check_ports(const struct choice *self, struct errors *errors)
{
    const struct hamming_mesh_config *config = self->config;
    uint32_t row = config->boards.items[0], column = config->boards.items[1], ends = 2 * (row > column ? row : column);
    if (ends <= config->radix && config->up)
        choice_error(errors, self, "up", "no row or column has more than %u ends, which one switch joins; leave it out",
                     ends);
    else if (ends > config->radix && config->radix % 2)
        choice_error(errors, self, "radix", "%u is odd, but a leaf has both ends of a board; accepted: %u or %u",
                     config->radix, config->radix - 1, config->radix + 1);
    else if (config->up >= config->radix)
        choice_error(errors, self, "up", "%u of %u ports leave none down; accepted: 2 to %u", config->up, config->radix,
                     config->radix - 2);
    else if (config->up % 2)
        choice_error(errors, self, "up", "%u is odd, but a leaf has both ends of a board; accepted: %u or %u",
                     config->up, config->up + 1, config->up - 1);
}

static void hamming_mesh_check(const struct choice *self, struct errors *errors)
{
    const struct hamming_mesh_config *config = self->config;
    uint32_t before = errors->count;
    struct hamming_mesh_line lines[HAMMING_MESH_DIMENSIONS] = {0};
    if (config->board.count != 2)
        choice_error(errors, self, "board", "%u numbers; accepted: 2, of accelerators along a row and a column",
                     config->board.count);
    if (config->boards.count != 2)
        choice_error(errors, self, "boards", "%u numbers; accepted: 2, of boards along a row and a column",
                     config->boards.count);
    if (errors->count == before)
        check_ports(self, errors);
    for (uint32_t d = 0; d < HAMMING_MESH_DIMENSIONS && errors->count == before; d++) {
        fill_line(&lines[d], config, d);
        if (lines[d].leaves > config->radix)
            choice_error(errors, self, "boards", "%u boards need %u leaves, more than a spine of %u ports joins",
                         lines[d].boards, lines[d].leaves, config->radix);
    }
    if (errors->count == before) {
        uint64_t terminals = (uint64_t)lines[0].width * lines[1].width * config->concentration;
        topology_check_size(self, "boards", terminals, count_routers(lines) * most_ports(config, lines), errors);
    }
}

static void hamming_mesh_shape(const void *settings, struct arena *arena, struct topology *topology)
{
    static const char *const names[] = {"board", "row", "column"};
    const struct hamming_mesh_config *config = settings;
    struct hamming_mesh *mesh = arena_array(arena, struct hamming_mesh, 1);
    struct hamming_mesh_line *rows = &mesh->line[0], *columns = &mesh->line[1];
    fill_line(rows, config, 0);
    fill_line(columns, config, 1);
    mesh->accelerators = rows->width * columns->width;
    rows->first = mesh->accelerators;
    columns->first = rows->first + columns->width * line_switches(rows);
    topology->family = hamming_mesh_family;
    topology->facts = mesh;
    topology->routers = (uint32_t)count_routers(mesh->line);
    topology->terminals = mesh->accelerators * config->concentration;
    topology->ports = most_ports(config, mesh->line);
    topology->channel_classes = CLASSES;
    topology->channel_class_names = names;
}

static uint32_t hamming_mesh_router_of(const struct topology *topology, uint32_t terminal)
{
    return terminal / ((const struct hamming_mesh_config *)topology->config)->concentration;
}

/* The accelerator at a place along a line of a dimension. */
static uint32_t accelerator_at(const struct hamming_mesh *mesh, uint32_t d, uint32_t line, uint32_t place)
{
    return d ? place * mesh->line[0].width + line : line * mesh->line[0].width + place;
}

static struct router_port beside_accelerator(const struct hamming_mesh *mesh, uint32_t router, uint32_t port)
{
    uint32_t d = port / 2, is_down = port % 2, place = hamming_mesh_place(mesh, router, d);
    uint32_t number = hamming_mesh_place(mesh, router, 1 - d);
    const struct hamming_mesh_line *line = &mesh->line[d];
    uint32_t within = place % line->side, end = place / line->side * 2 + 1 - is_down;
    if (within != (is_down ? 0 : line->side - 1))
        return (struct router_port){accelerator_at(mesh, d, number, is_down ? place - 1 : place + 1), port ^ 1};
    return (struct router_port){line->first + number * line_switches(line) + end / line->down, end % line->down};
}

static bool beside_switch(const struct hamming_mesh *mesh, uint32_t router, uint32_t port, struct router_port *peer)
{
    uint32_t d = router >= mesh->line[1].first;
    const struct hamming_mesh_line *line = &mesh->line[d];
    uint32_t number = (router - line->first) / line_switches(line), own = (router - line->first) % line_switches(line);
    uint32_t first = router - own;
    if (own >= line->leaves) { /* a spine */
        uint32_t leaf = port / line->trunk, up = port % line->trunk * line->spines + own - line->leaves;
        *peer = (struct router_port){first + leaf, line->down + up};
        return leaf < line->leaves;
    }
    if (port >= line->down) {
        uint32_t up = port - line->down;
        if (up >= line->up)
            return false;
        *peer = (struct router_port){first + line->leaves + up % line->spines, own * line->trunk + up / line->spines};
        return true;
    }
    uint32_t end = own * line->down + port, is_up = end % 2;
    uint32_t place = end / 2 * line->side + (is_up ? line->side - 1 : 0);
    *peer = (struct router_port){accelerator_at(mesh, d, number, place), 2 * d + 1 - is_up};
    return end < 2 * line->boards;
}

static bool hamming_mesh_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct hamming_mesh *mesh = topology->facts;
    if (router >= mesh->accelerators)
        return beside_switch(mesh, router, port, peer);
    if (port >= ACCELERATOR_PORTS)
        return false;
    *peer = beside_accelerator(mesh, router, port);
    return true;
}

static uint32_t hamming_mesh_channel_class(const struct topology *topology, uint32_t router, uint32_t port)
{
    const struct hamming_mesh *mesh = topology->facts;
    if (router < mesh->accelerators) {
        uint32_t other = beside_accelerator(mesh, router, port).router;
        if (other < mesh->accelerators)
            return CLASS_BOARD;
        router = other;
    }
    return router < mesh->line[1].first ? CLASS_ROW : CLASS_COLUMN;
}

/* ---- distances ---- */

/* What a router is: an accelerator, or a switch of a line of a dimension. */
struct part {
    bool is_switch;
    uint32_t d, number;                      /* of the switch */
    uint32_t own;                            /* its place among those of the line */
    uint32_t place[HAMMING_MESH_DIMENSIONS]; /* of the accelerator; of a switch, across its line */
};

static struct part part_of(const struct hamming_mesh *mesh, uint32_t router)
{
    if (router < mesh->accelerators)
        return (struct part){.place = {hamming_mesh_place(mesh, router, 0), hamming_mesh_place(mesh, router, 1)}};
    uint32_t d = router >= mesh->line[1].first, switches = line_switches(&mesh->line[d]);
    uint32_t from = router - mesh->line[d].first;
    struct part part = {.is_switch = true, .d = d, .number = from / switches, .own = from % switches};
    part.place[1 - d] = part.number;
    return part;
}

static uint32_t along_line(const struct hamming_mesh_line *line, uint32_t from, uint32_t to)
{
    return hamming_mesh_leaves_board(line, from, to) ? hamming_mesh_around(line, from, to)
           : from < to                               ? to - from
                                                     : from - to;
}

/* Between a switch of a line and a place along it. */
static uint32_t to_switch(const struct hamming_mesh_line *line, uint32_t own, uint32_t place)
{
    uint32_t hops = hamming_mesh_edge(line, place) + 1;
    return hops + (own == hamming_mesh_leaf(line, place) ? 0 : own < line->leaves ? 2 : 1);
}

/* Between two switches of lines of a dimension: in one line by its tree, else down, across and up. */
static uint32_t between_switches(const struct hamming_mesh *mesh, const struct part *a, const struct part *b)
{
    const struct hamming_mesh_line *line = &mesh->line[a->d];
    bool a_is_spine = a->own >= line->leaves, b_is_spine = b->own >= line->leaves;
    uint32_t apart = a->own == b->own ? 0 : a_is_spine != b_is_spine ? 1 : 2;
    if (a->number == b->number)
        return apart;
    uint32_t down = 2 + a_is_spine + b_is_spine + (!a_is_spine && !b_is_spine ? apart : 0);
    return down + along_line(&mesh->line[1 - a->d], a->number, b->number);
}

static uint32_t hamming_mesh_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
    const struct hamming_mesh *mesh = topology->facts;
    struct part a = part_of(mesh, from), b = part_of(mesh, to);
    uint32_t hops = 0;
    if (a.is_switch && b.is_switch && a.d == b.d)
        return between_switches(mesh, &a, &b);
    for (uint32_t d = 0; d < HAMMING_MESH_DIMENSIONS; d++) {
        const struct hamming_mesh_line *line = &mesh->line[d];
        if (a.is_switch && a.d == d)
            hops += to_switch(line, a.own, b.place[d]);
        else if (b.is_switch && b.d == d)
            hops += to_switch(line, b.own, a.place[d]);
        else
            hops += along_line(line, a.place[d], b.place[d]);
    }
    return hops;
}

static const struct topology_ops hamming_mesh = {
    .name = "hamming_mesh",
    .summary = "boards that are meshes of accelerators, joined along rows and columns by switches or fat trees",
    .options = hamming_mesh_options,
    .example = "{\"type\": \"hamming_mesh\", \"board\": [2, 2], \"boards\": [3, 2]}",
    .check = hamming_mesh_check,
    .shape = hamming_mesh_shape,
    .peer = hamming_mesh_peer,
    .router_of = hamming_mesh_router_of,
    .distance = hamming_mesh_distance,
    .channel_class = hamming_mesh_channel_class,
};
REGISTER_TOPOLOGY(hamming_mesh);
