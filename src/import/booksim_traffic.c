/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BookSim's traffic patterns. Those that go along the dimensions of a cube, or to a
 * partner that its generator draws, become lists of destinations where we have no
 * pattern that is quite the same.
 */
#include "import/import.h"

#include <string.h>

/* Terminals or weights out of a list in braces. */
static struct json *booksim_put_list(struct import *import, const char *path, const struct json *item, bool is_whole)
{
    const char *name;
    struct json *list = json_array(import->arena);
    for (const struct json *one = booksim_split(import, item, &name)->first; one; one = one->next)
        json_append(list, json_number_f64(import->arena, is_whole ? (double)import_count(import, one, 0, 0, 4294967294)
                                                                  : import_number(import, one, 0, 0, 1e9)));
    return import_put(import, path, list);
}

/*
 * What stands between the brackets of a pattern as BookSim reads it: one argument, or the items of the list that it begins
 * with; what comes behind that list is not read.
 */
static struct json *booksim_arguments(struct import *import, const struct json *value)
{
    const char *inner = value->text + strcspn(value->text, "("), *name;
    if (!*inner || inner[1] == ')')
        return json_array(import->arena);
    size_t length = 1;
    for (int depth = 0; inner[length] && (depth || !strchr(",)", inner[length]) || inner[1] != '{'); length++)
        depth += (inner[length] == '{') - (inner[length] == '}');
    const char *text = arena_format(import->arena, "%.*s", (int)length - 1, inner + 1);
    if (*text == '{')
        return booksim_split(import, booksim_item(import, value, text), &name);
    struct json *list = json_array(import->arena);
    json_append(list, booksim_item(import, value, arena_format(import->arena, "%.*s", (int)strcspn(text, ",)"), text)));
    return list;
}

/* hotspot({{nodes},{rates}}); a node that is drawn when nothing is said. */
static void booksim_put_hotspot(struct import *import, const struct json *value, const struct json *arguments)
{
    const struct json *first = arguments->count ? arguments->first : booksim_item(import, value, "0");
    if (!arguments->count)
        booksim_note(import, "traffic", DECISIVE, "the hot node is drawn there", "hotspot of node 0");
    const struct json *nodes = booksim_put_list(import, "traffic.terminals", first, true);
    for (uint32_t i = 2; i < arguments->count; i++)
        booksim_note(import, "traffic", DECISIVE, "hotspot has nodes and rates only", NULL);
    if (arguments->count < 2)
        return;
    const struct json *rates = booksim_put_list(import, "traffic.weights", first->next, false);
    if (rates->count != nodes->count)
        import_error(import, value, "found %u rates for %u nodes, expected one each", rates->count, nodes->count);
}

/* ---- lists of destinations ---- */

enum { MOST_LISTED = 1 << 24 };

static unsigned long long booksim_nodes(struct import *import)
{
    unsigned long long k = booksim_count(import, "k", 1, 65536), n = booksim_count(import, "n", 1, 16), nodes = 1;
    if (booksim_is(import, "topology", "anynet"))
        return booksim_file_nodes(import);
    if (booksim_is(import, "topology", "single"))
        return booksim_count(import, "in_ports", 1, 4096);
    if (booksim_is(import, "topology", "dragonflynew"))
        return 2 * k * k * (2 * k * k + 1);
    for (unsigned long long i = 0; i < n && nodes < 1u << 30; i++)
        nodes *= k;
    bool is_shared = booksim_is(import, "topology", "cmesh") || booksim_is(import, "topology", "flatfly");
    return is_shared ? nodes * booksim_count(import, "c", 1, 65536) : nodes;
}

/* Every digit of a node's number goes on by so much: digits of k, or k xr where routers have rows of nodes. */
static void put_digits(struct import *import, uint64_t nodes, bool is_tornado)
{
    uint64_t base = booksim_count(import, "k", 1, 65536) * booksim_count(import, "xr", 1, 65536);
    uint64_t step = is_tornado ? (base + 1) / 2 - 1 : 1, digits = booksim_count(import, "n", 1, 16);
    struct json *list = json_array(import->arena);
    for (uint64_t source = 0; source < nodes; source++) {
        uint64_t place = 1, to = 0;
        for (uint64_t i = 0; i < digits; i++, place *= base)
            to += place * ((source / place % base + step) % base);
        json_append(list, json_number_u64(import->arena, to));
    }
    import_put(import, "traffic.destinations", list);
}

static void put_neighbor(struct import *import, uint64_t nodes) { put_digits(import, nodes, false); }
static void put_tornado(struct import *import, uint64_t nodes) { put_digits(import, nodes, true); }

/*
 * BookSim's generator of whole numbers: D. E. Knuth, "The Art of Computer Programming", volume 2, section 3.6 (2002). Of
 * every 1009 numbers x[j] = x[j - 100] - x[j - 37] modulo 2^30 the first hundred are used.
 */
enum { LONG_LAG = 100, SHORT_LAG = 37, STREAMS = 70, BLOCK = 1009 };
#define MODULUS (1u << 30)

struct knuth {
    uint32_t last[LONG_LAG];
    uint32_t used;
};

static uint32_t less(uint32_t a, uint32_t b) { return (a - b) & (MODULUS - 1); }

static void knuth_advance(struct knuth *knuth, uint32_t count)
{
    for (; count > 0; count--) {
        uint32_t next = less(knuth->last[0], knuth->last[LONG_LAG - SHORT_LAG]);
        memmove(knuth->last, knuth->last + 1, (LONG_LAG - 1) * sizeof *knuth->last);
        knuth->last[LONG_LAG - 1] = next;
    }
}

/* A power of z, by the bits of the seed, modulo z^100 + z^37 + 1. */
static void knuth_start(struct knuth *knuth, uint32_t seed)
{
    uint32_t x[2 * LONG_LAG - 1], word = (seed + 2) & (MODULUS - 2), bits = seed & (MODULUS - 1);
    for (int i = 0; i < LONG_LAG; i++) {
        x[i] = word;
        word = 2 * word >= MODULUS ? 2 * word - (MODULUS - 2) : 2 * word;
    }
    x[1]++;
    for (int left = STREAMS - 1; left > 0; bits ? (void)(bits /= 2) : (void)left--) {
        for (int i = LONG_LAG - 1; i > 0; i--)
            x[2 * i] = x[i], x[2 * i - 1] = 0;
        for (int i = 2 * LONG_LAG - 2; i >= LONG_LAG; i--) {
            x[i - (LONG_LAG - SHORT_LAG)] = less(x[i - (LONG_LAG - SHORT_LAG)], x[i]);
            x[i - LONG_LAG] = less(x[i - LONG_LAG], x[i]);
        }
        if (bits % 2) {
            memmove(x + 1, x, LONG_LAG * sizeof *x);
            x[0] = x[LONG_LAG];
            x[SHORT_LAG] = less(x[SHORT_LAG], x[LONG_LAG]);
        }
    }
    for (int i = 0; i < LONG_LAG; i++)
        knuth->last[(i + LONG_LAG - SHORT_LAG) % LONG_LAG] = x[i];
    knuth_advance(knuth, 10 * (2 * LONG_LAG - 1));
    knuth->used = 0;
}

static uint32_t knuth_next(struct knuth *knuth)
{
    if (knuth->used == LONG_LAG) {
        knuth_advance(knuth, BLOCK);
        knuth->used = 0;
    }
    return knuth->last[knuth->used++];
}

/* Takes the leaf out of a tree that `skip` others stand before. counts[i] are those below i, whose children are 2i and 2i + 1. */
static uint32_t take_leaf(uint32_t *counts, uint32_t leaves, uint32_t skip)
{
    uint32_t at = 1;
    while (counts[at]--, at < leaves) {
        at *= 2;
        if (skip >= counts[at])
            skip -= counts[at++];
    }
    return at - leaves;
}

/* The partners that perm_seed draws: source after source takes one of the nodes that are left. */
static void put_permutation(struct import *import, uint64_t nodes)
{
    struct json *list = json_array(import->arena);
    struct knuth knuth;
    uint32_t leaves = 1;
    while (leaves < nodes)
        leaves *= 2;
    uint32_t *left = arena_array(import->arena, uint32_t, 2 * (size_t)leaves);
    uint32_t *to = arena_array(import->arena, uint32_t, nodes);
    knuth_start(&knuth, (uint32_t)booksim_count(import, "perm_seed", 0, UINT32_MAX));
    for (uint32_t i = 0; i < leaves; i++)
        left[leaves + i] = i < nodes;
    for (uint32_t i = leaves - 1; i > 0; i--)
        left[i] = left[2 * i] + left[2 * i + 1];
    for (uint32_t i = 0; i < nodes; i++)
        to[take_leaf(left, leaves, knuth_next(&knuth) % (uint32_t)(nodes - i))] = i;
    for (uint32_t i = 0; i < nodes; i++)
        json_append(list, json_number_u64(import->arena, to[i]));
    import_comment(import, import_put(import, "traffic.destinations", list), "as perm_seed draws them");
}

/* One pattern of several: source + offset, modulo `period`, then `more`. */
static void add_shifted(struct import *import, struct json *patterns, uint64_t nodes, uint64_t offset, uint64_t period,
                        uint64_t more)
{
    struct json *one = json_append(patterns, json_object(import->arena)), *list = json_array(import->arena);
    for (uint64_t source = 0; source < nodes; source++)
        json_append(list, json_number_u64(import->arena, (source + offset) % period + more));
    json_add(one, "type", json_text(import->arena, "listed"));
    json_add(one, "destinations", list);
}

/* To the same place in either half. */
static void put_asymmetric(struct import *import, uint64_t nodes)
{
    struct json *patterns = import_put(import, "traffic.patterns", json_array(import->arena));
    for (uint64_t half = 0; half < 2; half++)
        add_shifted(import, patterns, nodes, 0, nodes / 2, half * (nodes / 2));
}

/* Half to any node, half to one of the nine around it, among 64. */
static void put_taper(struct import *import, uint64_t nodes)
{
    struct json *patterns = import_put(import, "traffic.patterns", json_array(import->arena));
    for (uint64_t row = 0; row < 3; row++)
        for (uint64_t column = 0; column < 3; column++)
            add_shifted(import, patterns, nodes, 64 + 8 * row + column - 9, 64, 0);
    json_append(patterns, json_from_word(import->arena, "{\"type\":\"uniform_random\",\"self\":true}"));
    import_set(import, "traffic", "weights=[1,1,1,1,1,1,1,1,1,9]");
}

static const struct traffic_row {
    const char *theirs;
    const char *topologies; /* where it means something */
    const char *ours, *options;
    void (*put)(struct import *import, uint64_t nodes); /* what depends on the nodes; NULL: nothing */
    const char *why;
} traffics[] = {
    {"uniform", "*", "uniform_random", "self=true", NULL, NULL},
    {"bitcomp", "*", "bit_complement", "", NULL, NULL},
    {"transpose", "*", "transpose", "", NULL, NULL},
    {"bitrev", "*", "bit_reverse", "", NULL, NULL},
    {"shuffle", "*", "shuffle", "", NULL, NULL},
    {"tornado", "mesh torus", "tornado", "", NULL, NULL},
    {"tornado", "*", "listed", "", put_tornado, NULL},
    {"randperm", "*", "listed", "", put_permutation, NULL},
    {"neighbor", "*", "listed", "", put_neighbor, NULL},
    {"hotspot", "*", "hotspot", "self=true", NULL, NULL},
    /* 2/3 of it to the source itself, 1/3 to the next node. */
    {"diagonal", "*", "mix", "patterns=[\"loopback\",\"neighbor\"] weights=[2,1]", NULL, NULL},
    {"asymmetric", "*", "mix", "", put_asymmetric, NULL},
    {"taper64", "*", "mix", "", put_taper, NULL},
    {"bad_dragon", "dragonflynew", "adversarial", "", NULL, NULL},
    {"bad_dragon", "*", "uniform_random", "self=true", NULL, "goes to the next group of a dragonfly"},
    {"background", "*", "uniform_random", "self=true", NULL, "nodes are not excluded"},
    {"badperm_yarc", "*", "random_permutation", "self=true", NULL, "no worst permutation of a folded Clos"},
    {0},
};

void booksim_put_traffic(struct import *import, uint32_t class)
{
    const struct json *value = booksim_value_of(import, "traffic", class);
    const char *name, *topology = booksim_value(import, "topology");
    booksim_split(import, value, &name);
    const struct json *arguments = booksim_arguments(import, value);
    const struct traffic_row *row = traffics;
    while (row->theirs && (strcmp(row->theirs, name) != 0 || !import_lists(row->topologies, topology)))
        row++;
    if (!row->theirs || row->why)
        booksim_note(import, "traffic", DECISIVE, row->theirs ? row->why : "no such pattern",
                     row->theirs ? row->ours : "uniform_random");
    row = row->theirs ? row : traffics;
    uint64_t nodes = booksim_nodes(import);
    if (row->put && !nodes) {
        booksim_note(import, "traffic", DECISIVE, "a list for each node, whose number the network's file does not tell",
                     traffics->ours);
        row = traffics;
    }
    import_set(import, "traffic", "type=%s %s", row->ours, row->options);
    if (row->put && nodes > MOST_LISTED)
        import_error(import, value, "%llu nodes, each with a destination of its own; accepted: up to %d",
                     (unsigned long long)nodes, MOST_LISTED);
    else if (row->put)
        row->put(import, nodes);
    if (strcmp(name, "hotspot") == 0)
        booksim_put_hotspot(import, value, arguments);
    else if (strcmp(row->ours, "adversarial") == 0) { /* a group is 2 k routers of k terminals */
        unsigned long long k = booksim_count(import, "k", 1, 65536);
        import_set(import, "traffic", "group=%llu", 2 * k * k);
    }
    if (arguments->count && strcmp(name, "hotspot") != 0)
        booksim_note(import, "traffic", DECISIVE, "the pattern's arguments are not carried over", row->ours);
}
