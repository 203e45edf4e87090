/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any network, from a file: see docs/formats.md. Each line begins with a router or a terminal and
 * lists what it is linked to, each with a latency in ticks or without; BookSim's
 * anynet files are of this form:
 *
 *     router 0  node 0  router 1 5  router 2      # 5 ticks to router 1
 *     router 1  node 1 2  router 2
 *
 * A link is two-way, and may be listed at either end or at both: the first time
 * that A lists B and the first time that B lists A are the same channel, each
 * saying how long its own direction takes; where only one says so, it holds for
 * both directions (with one_way, not). A second time is a second channel beside
 * the first. The ports of a router are in the order in which its channels are
 * first named.
 *   Latencies that the file gives hold before those of network.channel and
 * network.terminal_channel. The file is read once to judge it and once to build
 * from it.
 */
#include "config/json.h"
#include "network/topology/sizes.h"
#include "network/line_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NUMBER 10000000
#define MAX_LATENCY 1000000000

struct file_config {
    const char *file;
    bool one_way;
};

static const struct option file_options[] = {
    OPTION_FILE(struct file_config, file, REQUIRED,
                "what each router is linked to: lines \"router A node T [latency] router B [latency] ...\""),
    OPTION_BOOL(struct file_config, one_way, "false",
                "a latency holds from the router that lists the other to that one alone; false: back too, unless the "
                "other says so"),
    OPTION_END,
};

/* The topology's state. */
struct graph {
    struct router_port *peers; /* by router * ports + port; router FW_NONE: unused */
    uint32_t *terminal_router; /* by terminal */
};

/* "A is linked to B", once said; also a channel, when both ends were matched. */
struct mention {
    uint32_t from, to; /* routers */
    uint32_t latency, latency_back;
    uint32_t number; /* in the file */
};

struct file_reader {
    struct line_file file;
    bool one_way; /* what one end says of a latency does not hold for the other */
    struct mention *mentions;
    uint32_t count, room;
    uint32_t routers; /* one more than the highest so far */
    struct attached {
        uint32_t router; /* FW_NONE: not named so far */
        uint32_t latency;
    } * terminals;
    uint32_t terminal_count, terminal_room;
};

/* ---- lines ---- */

static char *graph_next_word(char **text)
{
    char *word = *text + strspn(*text, " \t\r\n");
    *text = word + strcspn(word, " \t\r\n");
    if (**text)
        *(*text)++ = '\0';
    return *word ? word : NULL;
}

static bool graph_read_number(struct file_reader *reader, const char *word, const char *what, uint32_t min,
                              uint32_t max, uint32_t *number)
{
    char *end = NULL;
    unsigned long long value = word && isdigit((unsigned char)*word) ? strtoull(word, &end, 10) : 0;
    if (!end || *end || value < min || value > max)
        return line_error(&reader->file, "\"%s\" where a %s is due; accepted: a whole number from %u to %u",
                          word ? word : "", what, min, max);
    *number = (uint32_t)value;
    return true;
}

static bool read_end(struct file_reader *reader, const char *word, char **text, bool *is_node, uint32_t *number)
{
    if (strcmp(word, "router") != 0 && strcmp(word, "node") != 0)
        return line_error(&reader->file, "\"%s\" where \"router\" or \"node\" is due", word);
    *is_node = *word == 'n';
    if (!graph_read_number(reader, graph_next_word(text), *is_node ? "node's number" : "router's number", 0, MAX_NUMBER,
                           number))
        return false;
    if (!*is_node && *number >= reader->routers)
        reader->routers = *number + 1;
    return true;
}

static bool add_terminal(struct file_reader *reader, uint32_t terminal, uint32_t router, uint32_t latency)
{
    for (; reader->terminal_count <= terminal; reader->terminal_count++) {
        reader->terminals =
            memory_grow(reader->terminals, reader->terminal_count, &reader->terminal_room, sizeof *reader->terminals);
        reader->terminals[reader->terminal_count] = (struct attached){.router = FW_NONE};
    }
    struct attached *known = &reader->terminals[terminal];
    if (known->router != FW_NONE && known->router != router)
        return line_error(&reader->file, "node %u is at router %u and at router %u; a node has one router", terminal,
                          known->router, router);
    *known = (struct attached){router, latency ? latency : known->latency};
    return true;
}

static bool add_link(struct file_reader *reader, uint32_t from, uint32_t to, uint32_t latency)
{
    if (from == to)
        return line_error(&reader->file, "router %u is linked to itself", from);
    reader->mentions = memory_grow(reader->mentions, reader->count, &reader->room, sizeof *reader->mentions);
    reader->mentions[reader->count] = (struct mention){from, to, latency, reader->one_way ? 0 : latency, reader->count};
    reader->count++;
    return true;
}

static bool graph_read_line(void *context, char *text)
{
    struct file_reader *reader = context;
    bool is_head_node, is_node;
    uint32_t head, other;
    char *word = graph_next_word(&text);
    if (!word)
        return true;
    if (!read_end(reader, word, &text, &is_head_node, &head))
        return false;
    for (word = graph_next_word(&text); word;) {
        uint32_t latency = 0;
        if (!read_end(reader, word, &text, &is_node, &other))
            return false;
        word = graph_next_word(&text);
        if (word && isdigit((unsigned char)*word)) {
            if (!graph_read_number(reader, word, "latency", 1, MAX_LATENCY, &latency))
                return false;
            word = graph_next_word(&text);
        }
        if (is_head_node && is_node)
            return line_error(&reader->file, "node %u is linked to node %u; nodes are linked to routers", head, other);
        bool is_added = is_head_node ? add_terminal(reader, head, other, latency)
                        : is_node    ? add_terminal(reader, other, head, latency)
                                     : add_link(reader, head, other, latency);
        if (!is_added)
            return false;
    }
    return true;
}

/* ---- links ---- */

static uint64_t pair_of(const struct mention *mention)
{
    uint32_t from = mention->from, to = mention->to;
    return from < to ? (uint64_t)from << 32 | to : (uint64_t)to << 32 | from;
}

/* By pair of routers, then by the one who lists the other, then as in the file. */
static int by_pair(const void *left, const void *right)
{
    const struct mention *a = left, *b = right;
    if (pair_of(a) != pair_of(b))
        return pair_of(a) < pair_of(b) ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = ((const struct mention *)left)->number, b = ((const struct mention *)right)->number;
    return a < b ? -1 : a > b;
}

/* One channel from what its two ends say. */
static struct mention join_ends(const struct mention *there, const struct mention *back)
{
    struct mention joined = *there;
    joined.latency_back = back->latency ? back->latency : there->latency_back;
    joined.latency = there->latency ? there->latency : back->latency_back;
    joined.number = there->number < back->number ? there->number : back->number;
    return joined;
}

/* Turns mentions into channels, in the order in which they are first named. */
static void match_ends(struct file_reader *reader)
{
    if (!reader->count)
        return; /* a router alone */
    struct mention *at = reader->mentions, *end = at + reader->count, *out = at;
    qsort(at, reader->count, sizeof *at, by_pair);
    while (at < end) {
        struct mention *back = at, *next;
        while (back < end && back->from == at->from && back->to == at->to)
            back++;
        for (next = back; next < end && next->from == at->to && next->to == at->from;)
            next++;
        /* `at` runs over the one end's mentions up to `first_back`, `back` over the other's up to `next` */
        for (struct mention *first_back = back; at < first_back || back < next; out++)
            if (at < first_back && back < next)
                *out = join_ends(at++, back++);
            else
                *out = at < first_back ? *at++ : *back++;
        at = next;
    }
    reader->count = (uint32_t)(out - reader->mentions);
    qsort(reader->mentions, reader->count, sizeof *out, by_number);
}

/* ---- the whole ---- */

/* False, with an error, where a hub among many routers would give all of them more ports than there can be. */
static bool count_ports(struct topology *topology, const struct file_reader *reader, uint32_t *used)
{
    for (uint32_t i = 0; i < 2 * reader->count; i++) {
        const struct mention *channel = &reader->mentions[i / 2];
        uint32_t ports = ++used[i % 2 ? channel->to : channel->from];
        topology->ports = ports > topology->ports ? ports : topology->ports;
    }
    if ((uint64_t)topology->routers * topology->ports <= MAX_CHANNELS)
        return true;
    return line_file_error(&reader->file,
                           "%u routers, each with as many ports as the largest one (%u), are more than %llu ports",
                           topology->routers, topology->ports, (unsigned long long)MAX_CHANNELS);
}

static bool fill_topology(struct topology *topology, const struct file_reader *reader, struct arena *arena)
{
    struct arena scratch = {0};
    struct graph *graph = arena_array(arena, struct graph, 1);
    topology->state = graph;
    topology->routers = reader->routers;
    topology->terminals = reader->terminal_count;
    bool is_good = count_ports(topology, reader, arena_array(&scratch, uint32_t, reader->routers));
    size_t slots = is_good ? (size_t)topology->routers * topology->ports : 0;
    graph->peers = arena_array(arena, struct router_port, slots);
    uint32_t *latencies = arena_array(arena, uint32_t, slots), *used = arena_array(&scratch, uint32_t, reader->routers);
    for (size_t i = 0; i < slots; i++)
        graph->peers[i].router = FW_NONE;
    for (uint32_t i = 0; i < reader->count && is_good; i++) {
        const struct mention *channel = &reader->mentions[i];
        struct router_port from = {channel->from, used[channel->from]++}, to = {channel->to, used[channel->to]++};
        size_t out = (size_t)from.router * topology->ports + from.port;
        size_t back = (size_t)to.router * topology->ports + to.port;
        graph->peers[out] = to, latencies[out] = channel->latency;
        graph->peers[back] = from, latencies[back] = channel->latency_back;
    }
    arena_release(&scratch);
    graph->terminal_router = arena_array(arena, uint32_t, topology->terminals);
    uint32_t *terminal_latencies = arena_array(arena, uint32_t, topology->terminals);
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++) {
        graph->terminal_router[terminal] = reader->terminals[terminal].router;
        terminal_latencies[terminal] = reader->terminals[terminal].latency;
    }
    topology->latencies = latencies;
    topology->terminal_latencies = terminal_latencies;
    return is_good;
}

static bool is_complete(const struct file_reader *reader)
{
    uint32_t terminal = 0;
    while (terminal < reader->terminal_count && reader->terminals[terminal].router != FW_NONE)
        terminal++;
    if (terminal < reader->terminal_count)
        return line_file_error(&reader->file, "there is no node %u, but a node %u", terminal,
                               reader->terminal_count - 1);
    if (reader->terminal_count == 0)
        return line_file_error(&reader->file, "there are no nodes");
    if (reader->routers - 1 > reader->count)
        return line_file_error(&reader->file, "%u links do not join all routers from 0 to %u", reader->count,
                               reader->routers - 1);
    return true;
}

/* Fills the topology. False, with errors that name file and line, when the file is wrong. */
static bool graph_read(struct topology *topology, const struct choice *self, struct arena *arena, struct errors *errors)
{
    const struct file_config *config = self->config;
    struct file_reader reader = {.one_way = config->one_way,
                                 .file = {.path = config->file, .node = self->node, .key = "file", .errors = errors}};
    bool is_good = line_file_read(&reader.file, graph_read_line, &reader) && is_complete(&reader);
    if (is_good) {
        match_ends(&reader);
        is_good = fill_topology(topology, &reader, arena);
    }
    free(reader.mentions);
    free(reader.terminals);
    return is_good;
}

/* ---- the topology ---- */

static bool file_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct graph *graph = topology->state;
    *peer = graph->peers[(size_t)router * topology->ports + port];
    return peer->router != FW_NONE;
}

static uint32_t file_router_of(const struct topology *topology, uint32_t terminal)
{
    const struct graph *graph = topology->state;
    return graph->terminal_router[terminal];
}

static const struct topology_ops file;

static void file_check(const struct choice *self, struct errors *errors)
{
    const struct file_config *config = self->config;
    struct arena scratch = {0};
    struct topology topology = {.ops = &file};
    struct search search;
    if (graph_read(&topology, self, &scratch, errors)) {
        uint32_t lost = 0;
        search_init(&search, &topology, &scratch);
        search_from(&search, 0);
        while (lost < topology.routers && search.distance[lost] != FW_NONE)
            lost++;
        if (lost < topology.routers)
            choice_error(errors, self, "file", "%s: there is no way from router 0 to router %u", config->file, lost);
    }
    arena_release(&scratch);
}

static void file_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct json nowhere = {.type = JSON_NULL};
    const struct choice self = {.config = config, .node = &nowhere};
    struct errors errors = {.arena = arena};
    FW_CHECK(graph_read(topology, &self, arena, &errors), "the file of the topology has changed since it was checked");
}

static const struct topology_ops file = {
    .name = "file",
    .summary = "any network, from a list of the links of each router (BookSim's anynet)",
    .options = file_options,
    .example = "{\"type\": \"file\", \"file\": \"network.txt\"}",
    .check = file_check,
    .shape = file_shape,
    .peer = file_peer,
    .router_of = file_router_of,
};
REGISTER_TOPOLOGY(file);
