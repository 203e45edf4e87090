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
 * both directions. A second time is a second channel beside the first. The ports
 * of a router are in the order in which its channels are first named.
 *   Latencies that the file gives hold before those of network.channel and
 * network.terminal_channel. The file is read once to judge it and once to build
 * from it.
 */
#include "config/json.h"
#include "network/topology/grid.h"
#include "network/line_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NUMBER 10000000
#define MAX_LATENCY 1000000000

struct graph {
    uint32_t routers, terminals;
    uint32_t ports;               /* the most that any router has */
    struct router_port *peers;    /* by router * ports + port; router FW_NONE: unused */
    uint32_t *latencies;          /* the same; 0: not given */
    uint32_t *terminal_router;    /* by terminal */
    uint32_t *terminal_latencies; /* by terminal; 0: not given */
};

enum end { END_ROUTER, END_NODE };

/* "A is linked to B", once said; also a channel, when both ends were matched. */
struct mention {
    uint32_t from, to; /* routers */
    uint32_t latency, latency_back;
    uint32_t number; /* in the file */
};

struct file_reader {
    struct line_file file;
    struct mention *mentions;
    uint32_t count, room;
    uint32_t routers; /* one more than the highest so far */
    uint32_t *terminal_router, *terminal_latencies;
    uint32_t terminals, terminal_room;
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
    if (!end || *end || value < min || value > max) {
        line_error(&reader->file, "\"%s\" where a %s is due; accepted: a whole number from %u to %u", word ? word : "",
                   what, min, max);
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

static bool read_end(struct file_reader *reader, const char *word, char **text, enum end *kind, uint32_t *number)
{
    if (strcmp(word, "router") != 0 && strcmp(word, "node") != 0) {
        line_error(&reader->file, "\"%s\" where \"router\" or \"node\" is due", word);
        return false;
    }
    *kind = *word == 'r' ? END_ROUTER : END_NODE;
    if (!graph_read_number(reader, graph_next_word(text), *kind == END_ROUTER ? "router's number" : "node's number", 0,
                           MAX_NUMBER, number))
        return false;
    if (*kind == END_ROUTER && *number >= reader->routers)
        reader->routers = *number + 1;
    return true;
}

static bool add_terminal(struct file_reader *reader, uint32_t terminal, uint32_t router, uint32_t latency)
{
    while (terminal >= reader->terminal_room) {
        uint32_t room = reader->terminal_room ? 2 * reader->terminal_room : 64;
        reader->terminal_router = memory_resize(reader->terminal_router, sizeof(uint32_t) * room);
        reader->terminal_latencies = memory_resize(reader->terminal_latencies, sizeof(uint32_t) * room);
        memset(reader->terminal_router + reader->terminal_room, 0xff,
               sizeof(uint32_t) * (room - reader->terminal_room));
        reader->terminal_room = room;
    }
    uint32_t known = reader->terminal_router[terminal];
    if (known != FW_NONE && known != router) {
        line_error(&reader->file, "node %u is at router %u and at router %u; a node has one router", terminal, known,
                   router);
        return false;
    }
    if (known == FW_NONE || latency)
        reader->terminal_latencies[terminal] = latency;
    reader->terminal_router[terminal] = router;
    reader->terminals = terminal >= reader->terminals ? terminal + 1 : reader->terminals;
    return true;
}

static bool add_link(struct file_reader *reader, uint32_t from, uint32_t to, uint32_t latency)
{
    if (from == to) {
        line_error(&reader->file, "router %u is linked to itself", from);
        return false;
    }
    if (reader->count == reader->room) {
        reader->room = reader->room ? 2 * reader->room : 256;
        reader->mentions = memory_resize(reader->mentions, sizeof *reader->mentions * reader->room);
    }
    reader->mentions[reader->count] = (struct mention){from, to, latency, latency, reader->count};
    reader->count++;
    return true;
}

static bool graph_read_line(void *context, char *text)
{
    struct file_reader *reader = context;
    enum end head_kind, kind;
    uint32_t head, other;
    char *word = graph_next_word(&text);
    if (!word)
        return true;
    if (!read_end(reader, word, &text, &head_kind, &head))
        return false;
    for (word = graph_next_word(&text); word;) {
        uint32_t latency = 0;
        if (!read_end(reader, word, &text, &kind, &other))
            return false;
        word = graph_next_word(&text);
        if (word && isdigit((unsigned char)*word)) {
            if (!graph_read_number(reader, word, "latency", 1, MAX_LATENCY, &latency))
                return false;
            word = graph_next_word(&text);
        }
        if (head_kind == END_NODE && kind == END_NODE) {
            line_error(&reader->file, "node %u is linked to node %u; nodes are linked to routers", head, other);
            return false;
        }
        bool is_added = head_kind == END_NODE ? add_terminal(reader, head, other, latency)
                        : kind == END_NODE    ? add_terminal(reader, other, head, latency)
                                              : add_link(reader, head, other, latency);
        if (!is_added)
            return false;
    }
    return true;
}

/* ---- links ---- */

/* By pair of routers, then by the one who lists the other, then as in the file. */
static int by_pair(const void *left, const void *right)
{
    const struct mention *a = left, *b = right;
    uint32_t a_low = a->from < a->to ? a->from : a->to, b_low = b->from < b->to ? b->from : b->to;
    uint32_t a_high = a->from ^ a->to ^ a_low, b_high = b->from ^ b->to ^ b_low;
    if (a_low != b_low)
        return a_low < b_low ? -1 : 1;
    if (a_high != b_high)
        return a_high < b_high ? -1 : 1;
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
    joined.latency_back = back->latency ? back->latency : there->latency;
    joined.latency = there->latency ? there->latency : back->latency;
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

/* False, with an error, where a hub among many routers would give all of them more ports than there can be. */
static bool make_graph(struct graph *graph, const struct file_reader *reader, struct arena *arena)
{
    uint32_t *used = memory_take(sizeof *used * reader->routers);
    memset(used, 0, sizeof *used * reader->routers);
    *graph = (struct graph){.routers = reader->routers, .terminals = reader->terminals};
    for (uint32_t i = 0; i < reader->count; i++) {
        const struct mention *channel = &reader->mentions[i];
        uint32_t from_ports = ++used[channel->from], to_ports = ++used[channel->to];
        uint32_t most = from_ports > to_ports ? from_ports : to_ports;
        graph->ports = most > graph->ports ? most : graph->ports;
    }
    size_t slots = (size_t)graph->routers * graph->ports;
    if (slots > MAX_CHANNELS) {
        node_error(reader->file.errors, reader->file.node, "file",
                   "%s: %u routers, each with as many ports as the largest one (%u), are more than %llu ports",
                   reader->file.path, graph->routers, graph->ports, (unsigned long long)MAX_CHANNELS);
        free(used);
        return false;
    }
    graph->peers = arena_array(arena, struct router_port, slots);
    graph->latencies = arena_array(arena, uint32_t, slots);
    for (size_t i = 0; i < slots; i++)
        graph->peers[i].router = FW_NONE;
    memset(used, 0, sizeof *used * reader->routers);
    for (uint32_t i = 0; i < reader->count; i++) {
        const struct mention *channel = &reader->mentions[i];
        struct router_port from = {channel->from, used[channel->from]++}, to = {channel->to, used[channel->to]++};
        size_t out = (size_t)from.router * graph->ports + from.port, back = (size_t)to.router * graph->ports + to.port;
        graph->peers[out] = to, graph->latencies[out] = channel->latency;
        graph->peers[back] = from, graph->latencies[back] = channel->latency_back;
    }
    graph->terminal_router = arena_array(arena, uint32_t, graph->terminals);
    graph->terminal_latencies = arena_array(arena, uint32_t, graph->terminals);
    memcpy(graph->terminal_router, reader->terminal_router, sizeof(uint32_t) * graph->terminals);
    memcpy(graph->terminal_latencies, reader->terminal_latencies, sizeof(uint32_t) * graph->terminals);
    free(used);
    return true;
}

/* ---- the whole ---- */

static bool is_complete(const struct file_reader *reader)
{
    for (uint32_t terminal = 0; terminal < reader->terminals; terminal++)
        if (reader->terminal_router[terminal] == FW_NONE) {
            node_error(reader->file.errors, reader->file.node, "file", "%s: there is no node %u, but a node %u",
                       reader->file.path, terminal, reader->terminals - 1);
            return false;
        }
    if (reader->terminals == 0) {
        node_error(reader->file.errors, reader->file.node, "file", "%s: there are no nodes", reader->file.path);
        return false;
    }
    if (reader->routers - 1 <= reader->count)
        return true;
    node_error(reader->file.errors, reader->file.node, "file", "%s: %u links do not join all routers from 0 to %u",
               reader->file.path, reader->count, reader->routers - 1);
    return false;
}

/* False, with errors that name file and line, when the file is wrong. Errors are placed at the setting "file". */
static bool graph_read(struct graph *graph, const char *path, struct arena *arena, const struct choice *self,
                       struct errors *errors)
{
    struct file_reader reader = {.file = {.path = path, .node = self->node, .key = "file", .errors = errors}};
    bool is_good = line_file_read(&reader.file, graph_read_line, &reader) && is_complete(&reader);
    if (is_good) {
        match_ends(&reader);
        is_good = make_graph(graph, &reader, arena);
    }
    free(reader.mentions);
    free(reader.terminal_router);
    free(reader.terminal_latencies);
    return is_good;
}

/* ---- the topology ---- */

struct file_config {
    const char *file;
};

static const struct option file_options[] = {
    OPTION_FILE(struct file_config, file, REQUIRED,
                "what each router is linked to: lines \"router A node T [latency] router B [latency] ...\""),
    OPTION_END,
};

static void file_shape_graph(struct topology *topology, struct graph *graph)
{
    topology->state = graph;
    topology->routers = graph->routers;
    topology->terminals = graph->terminals;
    topology->ports = graph->ports;
    topology->latencies = graph->latencies;
    topology->terminal_latencies = graph->terminal_latencies;
}

static bool file_peer(const struct topology *topology, uint32_t router, uint32_t port, struct router_port *peer)
{
    const struct graph *graph = topology->state;
    *peer = graph->peers[(size_t)router * graph->ports + port];
    return peer->router != FW_NONE;
}

static uint32_t file_router_of(const struct topology *topology, uint32_t terminal)
{
    const struct graph *graph = topology->state;
    return graph->terminal_router[terminal];
}

static void check_connected(const struct topology *topology, const struct choice *self, struct arena *arena,
                            struct errors *errors)
{
    struct search search;
    search_init(&search, topology, arena);
    search_from(&search, 0);
    for (uint32_t router = 0; router < topology->routers; router++)
        if (search.distance[router] == FW_NONE) {
            const struct file_config *config = self->config;
            choice_error(errors, self, "file", "%s: there is no way from router 0 to router %u", config->file, router);
            return;
        }
}

static const struct topology_ops file;

static void file_check(const struct choice *self, struct errors *errors)
{
    const struct file_config *config = self->config;
    struct arena scratch = {0};
    struct graph graph;
    struct topology topology = {.ops = &file};
    if (graph_read(&graph, config->file, &scratch, self, errors)) {
        file_shape_graph(&topology, &graph);
        check_connected(&topology, self, &scratch, errors);
    }
    arena_release(&scratch);
}

static void file_shape(const void *config, struct arena *arena, struct topology *topology)
{
    const struct json nowhere = {.type = JSON_NULL};
    const struct choice self = {.config = config, .node = &nowhere};
    struct errors errors = {.arena = arena};
    struct graph *graph = arena_array(arena, struct graph, 1);
    FW_CHECK(graph_read(graph, ((const struct file_config *)config)->file, arena, &self, &errors),
             "the file of the topology has changed since it was checked");
    file_shape_graph(topology, graph);
}

static const struct topology_ops file = {
    .name = "file",
    .summary = "any network, from a list of the links of each router (BookSim's anynet)",
    .options = file_options,
    .config_size = sizeof(struct file_config),
    .example = "{\"type\": \"file\", \"file\": \"network.txt\"}",
    .check = file_check,
    .shape = file_shape,
    .peer = file_peer,
    .router_of = file_router_of,
};
REGISTER_TOPOLOGY(file);
