/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BookSim's networks beside meshes, tori and butterflies: chips whose routers have
 * a tile of nodes each (cmesh, flatfly), trees, dragonflies, and networks from a
 * file.
 */
#include "import/import.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- chips ---- */

/* Routers in a row of the chip (x; as many rows, y), nodes of a router along a row (xr) and across (yr). */
struct chip {
    unsigned long long k, n, c, row, tile[2];
};

static struct chip booksim_chip(struct import *import)
{
    struct chip chip = {
        .k = booksim_count(import, "/k", 1, 65536),
        .n = booksim_count(import, "/n", 1, BOOKSIM_DIMENSIONS),
        .c = booksim_count(import, "/c", 1, 65536),
        .row = booksim_count(import, "/x", 1, 65536),
        .tile = {booksim_count(import, "/xr", 1, 65536), booksim_count(import, "/yr", 1, 65536)},
    };
    import_take(import, "/y");
    return chip;
}

/* What BookSim itself refuses, or builds no whole network of. */
static bool is_chip_whole(struct import *import, const struct chip *chip)
{
    unsigned long long routers = 1, rows = booksim_count(import, "/y", 1, 65536);
    for (unsigned long long d = 0; d < chip->n; d++)
        routers *= chip->k;
    const struct json *where = import_take(import, "/topology");
    if (chip->c != chip->tile[0] * chip->tile[1] || chip->tile[0] != chip->tile[1])
        return import_error(import, where, "c = %llu nodes of a router are no square of xr = %llu by yr = %llu",
                            chip->c, chip->tile[0], chip->tile[1]);
    if (rows != chip->row)
        return import_error(import, where, "x = %llu and y = %llu differ, which BookSim refuses", chip->row, rows);
    if (routers % chip->row || (chip->n > 1 && routers != chip->row * rows))
        return import_error(import, where, "x = %llu by y = %llu are not the %llu routers that there are", chip->row,
                            rows, routers);
    return true;
}

/* Lengths count where use_noc_latency says so; nodes are numbered by rows of the chip in any case. */
static void booksim_put_chip(struct import *import, const struct chip *chip)
{
    import_set(import, "network.topology", "concentration=%llu", chip->c);
    if (!booksim_is(import, "use_noc_latency", "1"))
        return;
    struct json *tile = import_set(import, "network.channel.chip", "row=%llu tile=[%llu,%llu]", chip->row,
                                   chip->tile[0], chip->tile[1]);
    import_comment(import, tile->parent, "use_noc_latency: a cycle for each node that a channel passes");
}

void booksim_put_flatfly(struct import *import)
{
    struct chip chip = booksim_chip(import);
    if (!is_chip_whole(import, &chip))
        return;
    import_put(import, "network.topology.widths", import_repeat(import, chip.n, chip.k));
    booksim_put_chip(import, &chip);
}

/* The express channels at the edges are built where a routing function takes them. */
void booksim_put_cmesh(struct import *import)
{
    struct chip chip = booksim_chip(import);
    bool is_express = !strstr(booksim_value(import, "routing_function"), "no_express");
    if (!is_chip_whole(import, &chip))
        return;
    if (chip.n != 2 || chip.c != 4)
        import_error(import, import_take(import, "/topology"),
                     "cmesh with n = %llu and c = %llu, BookSim's has n = 2 and c = 4", chip.n, chip.c);
    else if (is_express && (chip.k % 2 || (chip.k > 4 && booksim_is(import, "routing_function", "xy_yx"))))
        import_error(import, import_take(import, "/k"),
                     "k = %llu: express channels of half a side join no routers, or lead past the goal for ever",
                     chip.k);
    else if (is_express)
        import_set(import, "network.topology", "type=express_mesh width=%llu", chip.k);
    else
        import_put(import, "network.topology.widths", import_repeat(import, 2, chip.k));
    booksim_put_chip(import, &chip);
}

/* BookSim's number of a node is our rank. */
void booksim_put_tiles(struct import *import)
{
    if (!import_lists("cmesh flatfly", booksim_value(import, "topology")))
        return;
    struct chip chip = booksim_chip(import);
    if (chip.c == 1)
        return;
    struct json *applications = import_ours(import, "/workload.applications");
    for (struct json *one = applications ? applications->first : NULL; one; one = one->next) {
        struct import within = import_within(import, import->root, one);
        struct json *last = import_set(&within, "allocation", "type=tiles row=%llu tile=[%llu,%llu]", chip.row,
                                       chip.tile[0], chip.tile[1]);
        import_comment(import, last->parent, "BookSim numbers nodes by rows of the chip");
    }
}

/* ---- trees ---- */

/* k ports down at each of n levels; up one (qtree), k (fattree), or as tree4 has them. */
void booksim_put_tree(struct import *import)
{
    bool is_fat = booksim_is(import, "topology", "fattree");
    unsigned long long k = booksim_count(import, "k", 1, 65535), n = booksim_count(import, "n", 1, BOOKSIM_DIMENSIONS);
    if (!is_fat && (k != 4 || n != 3)) {
        import_error(import, import_take(import, "topology"), "k = %llu and n = %llu, BookSim's has k = 4 and n = 3", k,
                     n);
        return;
    }
    import_put(import, "network.topology.down", import_repeat(import, n, k));
    import_put(import, "network.topology.up", import_repeat(import, n - 1, is_fat ? k : 1));
    if (booksim_is(import, "topology", "tree4"))
        import_set(import, "network.topology", "up=[2,4] joined=2");
}

/* ---- dragonflies ---- */

/* p terminals and h = p global channels at a router, a = 2p routers in a group, as many groups as that joins. */
void booksim_put_dragonfly(struct import *import)
{
    unsigned long long p = booksim_count(import, "k", 1, 1024);
    import_set(import, "network.topology", "terminals=%llu routers=%llu global=%llu groups=%llu", p, 2 * p, p,
               2 * p * p + 1);
    if (booksim_count(import, "n", 1, BOOKSIM_DIMENSIONS) != 1)
        import_error(import, import_take(import, "n"), "dragonflynew has n = 1");
    if (booksim_is(import, "routing_function", "ugal") && booksim_count(import, "num_vcs", 1, 64) != 3)
        import_error(import, import_take(import, "num_vcs"), "ugal on dragonflynew has 3 VCs");
    import_set(import, "network.interface", "vc_order=random");
    import_set(import, "network.channel", "latencies=[10,100]");
}

/* ---- any network ---- */

static const char anynet_node[] =
    "BookSim takes a latency behind a node for one of a channel to the router of that number";
static const char anynet_twice[] = "a channel that a line lists twice is two here, one in BookSim";

static const char anynet_comment[] =
    "BookSim knows no comments: it stops at one, or takes its words for the latency of the channel before";

static int compare_words(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

struct anynet {
    const char *why;          /* BookSim reads it in another way; NULL: alike */
    unsigned long long nodes; /* the highest number of one, and one more */
};

/* What a line of ours may have and BookSim reads in another way; `routers` is room for as many words. */
static const char *judge_words(char *const *words, size_t count, char **routers)
{
    size_t named = 0;
    for (size_t i = 2; i + 1 < count; i++) {
        bool has_latency = i + 2 < count && isdigit((unsigned char)*words[i + 2]);
        if (has_latency && (strcmp(words[i], "node") == 0 || strcmp(words[0], "node") == 0))
            return anynet_node;
        if (strcmp(words[i], "router") == 0)
            routers[named++] = words[i + 1];
    }
    qsort(routers, named, sizeof *routers, compare_words);
    for (size_t i = 1; i < named; i++)
        if (strcmp(routers[i], routers[i - 1]) == 0)
            return anynet_twice;
    return NULL;
}

static void take_line(struct anynet *found, struct arena *arena, char *line)
{
    const char *comment = strchr(line, '#') ? anynet_comment : NULL;
    size_t most = strlen(line) / 2 + 1, count = 0;
    char *rest = NULL, **words = arena_array(arena, char *, most), **routers = arena_array(arena, char *, most);
    for (char *word = strtok_r(line, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest))
        words[count++] = word;
    for (size_t i = 1; i < count; i++) {
        unsigned long long nodes = strcmp(words[i - 1], "node") == 0 ? strtoull(words[i], NULL, 10) + 1 : 0;
        found->nodes = nodes > found->nodes ? nodes : found->nodes;
    }
    if (!found->why)
        found->why = comment ? comment : judge_words(words, count, routers);
}

/* A file that cannot be read is left to the run to refuse. */
static struct anynet read_anynet(const struct json *name)
{
    struct arena arena = {0};
    struct anynet found = {0};
    size_t size;
    char *text = file_read(&arena, path_beside(&arena, name->file, name->text), &size);
    for (char *line = text, *next; line && line < text + size; line = next) {
        char *end = memchr(line, '\n', (size_t)(text + size - line));
        next = end ? end + 1 : text + size;
        if (end)
            *end = '\0';
        take_line(&found, &arena, line);
    }
    arena_release(&arena);
    return found;
}

/* 0: there is no such file. */
unsigned long long booksim_file_nodes(struct import *import)
{
    const struct json *name = booksim_given(import, "network_file");
    return name ? read_anynet(name).nodes : 0;
}

void booksim_put_anynet(struct import *import)
{
    const struct json *file = booksim_given(import, "network_file");
    if (!file) {
        import_error(import, import_take(import, "topology"), "anynet needs a network_file");
        return;
    }
    const char *why = read_anynet(file).why;
    import_put(import, "network.topology.file", json_text(import->arena, import_path(import, file)));
    import_set(import, "network.topology", "one_way=true");
    if (why)
        import_note(import, file, DECISIVE, why, NULL);
}
