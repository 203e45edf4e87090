/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form of routes, a line each; see docs/formats.md:
 *
 *     router A [from ...] to node T via port P [vc LIST] ... [weight W] [or ...]
 *     node S to node T path router B [link K] [vc LIST] ... [weight W]
 *     node S to node T vc LIST [weight W]
 *     escape vc LIST
 */
#include "network/routing/route_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A line, word by word. */
struct route_line {
    struct route_reader *reader;
    char *rest;
    const char *word; /* the next one; NULL: the line ends */
};

static void route_line_step(struct route_line *line)
{
    char *word = line->rest + strspn(line->rest, " \t\r\n");
    line->rest = word + strcspn(word, " \t\r\n");
    if (*line->rest)
        *line->rest++ = '\0';
    line->word = *word ? word : NULL;
}

static bool route_line_is(const struct route_line *line, const char *word)
{
    return line->word && strcmp(line->word, word) == 0;
}

/* Goes past a word if it is the next one. */
static bool route_line_takes(struct route_line *line, const char *word)
{
    bool is_next = route_line_is(line, word);
    if (is_next)
        route_line_step(line);
    return is_next;
}

static bool route_line_expected(const struct route_line *line, const char *due)
{
    if (line->word)
        return line_error(&line->reader->file, "\"%s\" where %s is due", line->word, due);
    return line_error(&line->reader->file, "the line ends where %s is due", due);
}

static bool route_line_number(struct route_line *line, const char *what, uint32_t count, uint32_t *number)
{
    char *end = NULL;
    unsigned long long value = line->word && isdigit((unsigned char)*line->word) ? strtoull(line->word, &end, 10) : 0;
    if (!end || *end || value >= count)
        return line_error(&line->reader->file, "\"%s\" where the number of a %s is due; accepted: 0 to %u",
                          line->word ? line->word : "", what, count - 1);
    *number = (uint32_t)value;
    route_line_step(line);
    return true;
}

static bool route_line_weight(struct route_line *line, uint32_t *weight)
{
    *weight = 1;
    if (!route_line_takes(line, "weight"))
        return true;
    char *end = NULL;
    unsigned long long value = line->word && isdigit((unsigned char)*line->word) ? strtoull(line->word, &end, 10) : 0;
    if (!end || *end || value < 1 || value > 65535)
        return line_error(&line->reader->file, "\"%s\" where a weight is due; accepted: 1 to 65535",
                          line->word ? line->word : "");
    *weight = (uint32_t)value;
    route_line_step(line);
    return true;
}

/* "0,2-3", or all where the line says nothing of VCs. */
static bool route_line_vcs(struct route_line *line, uint64_t *vcs)
{
    const struct routing *routing = line->reader->routing;
    *vcs = bits_range(0, routing->vcs);
    if (!route_line_takes(line, "vc"))
        return true;
    const char *at = line->word ? line->word : "";
    for (*vcs = 0;; at++) {
        char *end;
        unsigned long first = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : routing->vcs, last = first;
        if (first < routing->vcs && *end == '-' && isdigit((unsigned char)end[1]))
            last = strtoul(end + 1, &end, 10);
        if (last < first || last >= routing->vcs || (*end && *end != ','))
            return line_error(&line->reader->file,
                              "\"%s\" where VCs are due; accepted: numbers from 0 to %u, as 0 or 0,2 or 0-2",
                              line->word ? line->word : "", routing->vcs - 1);
        *vcs |= bits_range((uint32_t)first, (uint32_t)(last - first) + 1);
        at = end;
        if (!*at)
            break;
    }
    route_line_step(line);
    return true;
}

/* ---- outputs ---- */

#define MAX_LINKS 64 /* side by side */

/* Ports that a word names: those of one link, or of all that lead to a router. */
struct named_ports {
    uint16_t ports[MAX_LINKS];
    uint32_t count;
    uint32_t target; /* router behind them */
};

/* Behind "router B". */
static bool route_line_link(struct route_line *line, uint32_t router, struct named_ports *named)
{
    const struct topology *topology = line->reader->routing->topology;
    struct router_port peer;
    uint32_t links = 0, link = 0;
    for (uint32_t port = 0; port < topology->ports; port++) {
        if (!topology->ops->peer(topology, router, port, &peer) || peer.router != named->target)
            continue;
        if (links == MAX_LINKS)
            return line_error(&line->reader->file,
                              "more than %u links lead from router %u to router %u; accepted: ports", MAX_LINKS, router,
                              named->target);
        named->ports[links++] = (uint16_t)port;
    }
    if (!links)
        return line_error(&line->reader->file, "router %u has no link to router %u", router, named->target);
    named->count = links;
    if (!route_line_takes(line, "link"))
        return true;
    if (!route_line_number(line, "link between these routers", links, &link))
        return false;
    named->ports[0] = named->ports[link];
    named->count = 1;
    return true;
}

/* "router B [link K]" or "port P", seen from a router. */
static bool route_line_ports(struct route_line *line, uint32_t router, struct named_ports *named)
{
    const struct topology *topology = line->reader->routing->topology;
    struct router_port peer;
    uint32_t port;
    if (route_line_takes(line, "router"))
        return route_line_number(line, "router", topology->routers, &named->target) &&
               route_line_link(line, router, named);
    if (!route_line_takes(line, "port"))
        return route_line_expected(line, "\"port\" or \"router\"");
    if (!topology->ports)
        return line_error(&line->reader->file, "%s", "there are no ports between routers");
    if (!route_line_number(line, "port between routers", topology->ports, &port))
        return false;
    if (!topology->ops->peer(topology, router, port, &peer))
        return line_error(&line->reader->file, "port %u of router %u leads nowhere", port, router);
    *named = (struct named_ports){.ports = {(uint16_t)port}, .count = 1, .target = peer.router};
    return true;
}

/* "node", out of the network, is the way where the destination is, and nowhere else. */
static bool route_line_exit(struct route_line *line, const struct route_entry *entry, bool is_exit)
{
    bool is_to_router = entry->kind & ROUTE_KIND_TO_ROUTER;
    uint32_t exit =
        is_to_router ? entry->destination : topology_ejects_at(line->reader->routing->topology, entry->destination);
    if ((exit == entry->at) != is_exit)
        return line_error(&line->reader->file, "packets to %s %u leave at router %u; accepted here: %s",
                          is_to_router ? "router" : "node", entry->destination, exit,
                          is_exit ? "\"port\" or \"router\"" : "\"node\"");
    return true;
}

/* One of the outputs that are offered together. */
static bool route_line_output(struct route_line *line, const struct route_entry *entry)
{
    struct named_ports named = {.ports = {ROUTE_PORT_NODE}, .count = 1};
    uint64_t vcs;
    bool is_exit = route_line_takes(line, "node");
    if (!route_line_exit(line, entry, is_exit) || (!is_exit && !route_line_ports(line, entry->at, &named)))
        return false;
    if (!route_line_vcs(line, &vcs))
        return false;
    for (uint32_t i = 0; i < named.count; i++)
        route_want(line->reader, named.ports[i], vcs);
    return true;
}

static struct route_raw *route_line_raw(struct route_line *line, const struct route_entry *entry, uint32_t outputs,
                                        uint32_t weight)
{
    struct route_reader *reader = line->reader;
    reader->raws = memory_grow(reader->raws, reader->raw_count, &reader->raw_room, sizeof *reader->raws);
    struct route_raw *raw = &reader->raws[reader->raw_count];
    *raw = (struct route_raw){*entry, outputs, weight, FW_NONE, reader->raw_count};
    raw->entry.line = reader->file.line;
    reader->raw_count++;
    return raw;
}

/* ---- tables ---- */

static bool route_line_begins_output(const struct route_line *line)
{
    return route_line_is(line, "port") || route_line_is(line, "router") || route_line_is(line, "node");
}

/* Behind "via". */
static bool route_line_choices(struct route_line *line, const struct route_entry *entry)
{
    do {
        uint32_t weight, group = FW_NONE;
        do {
            if (!route_line_output(line, entry))
                return false;
        } while (route_line_begins_output(line));
        if (!route_line_weight(line, &weight))
            return false;
        if (line->reader->is_csv && route_line_takes(line, "choice") &&
            !route_line_number(line, "choice", FW_NONE, &group))
            return false;
        route_line_raw(line, entry, route_keep_wanted(line->reader), weight)->group = group;
    } while (route_line_takes(line, "or"));
    return !line->word || route_line_expected(line, "\"port\", \"router\", \"node\", \"weight\" or \"or\"");
}

/* Behind "from". */
static bool route_line_from(struct route_line *line, struct route_entry *entry)
{
    struct named_ports named = {.count = 0};
    entry->from = FROM_VC_OR_NODE;
    if (route_line_takes(line, "node")) {
        entry->is_at_node = true;
        return true;
    }
    bool has_port = route_line_is(line, "port") || route_line_is(line, "router");
    if (has_port && !route_line_ports(line, entry->at, &named))
        return false;
    if (has_port && named.count > 1)
        return line_error(&line->reader->file, "%u links lead to router %u; say which: \"link\" and 0 to %u",
                          named.count, named.target, named.count - 1);
    if (has_port) {
        entry->from_port = named.ports[0];
        entry->from = FROM_PORT;
    }
    if (!has_port && !route_line_is(line, "vc"))
        return route_line_expected(line, "\"node\", \"port\", \"router\" or \"vc\"");
    if (has_port && route_line_is(line, "vc"))
        entry->from = FROM_PORT_AND_VC;
    return route_line_vcs(line, &entry->from_vcs);
}

/* ---- paths ---- */

static void route_add_step(struct route_reader *reader, uint32_t outputs)
{
    reader->steps = memory_grow(reader->steps, reader->step_count, &reader->step_room, sizeof *reader->steps);
    reader->steps[reader->step_count++] = outputs;
}

/* The next link of a path, or its own router at its beginning; false with errors. */
static bool route_line_step_from(struct route_line *line, uint32_t *at, bool is_first)
{
    struct route_reader *reader = line->reader;
    struct named_ports named;
    uint64_t vcs;
    if (is_first && route_line_takes(line, "router")) {
        if (!route_line_number(line, "router", reader->routing->topology->routers, &named.target))
            return false;
        if (named.target == *at)
            return true;
        if (!route_line_link(line, *at, &named))
            return false;
    } else if (!route_line_ports(line, *at, &named)) {
        return false;
    }
    if (!route_line_vcs(line, &vcs))
        return false;
    for (uint32_t i = 0; i < named.count; i++)
        route_want(reader, named.ports[i], vcs);
    route_add_step(reader, route_keep_wanted(reader));
    *at = named.target;
    return true;
}

/* Behind "path": links one after the other, from the source's router to that of the destination. */
static bool route_line_path(struct route_line *line, const struct route_entry *entry)
{
    struct route_reader *reader = line->reader;
    const struct topology *topology = reader->routing->topology;
    bool is_from_router = entry->kind & ROUTE_KIND_FROM_ROUTER, is_to_router = entry->kind & ROUTE_KIND_TO_ROUTER;
    uint32_t at = is_from_router ? entry->at : topology_router_of(topology, entry->at), first = reader->step_count;
    uint32_t end = is_to_router ? entry->destination : topology_ejects_at(topology, entry->destination), weight;
    for (bool is_first = true; line->word && !route_line_is(line, "weight"); is_first = false)
        if (!route_line_step_from(line, &at, is_first))
            return false;
    if (at != end)
        return line_error(&reader->file, "the path ends at router %u, but %s %u is %s%u", at,
                          is_to_router ? "router" : "node", entry->destination, is_to_router ? "" : "at router ", end);
    if (reader->step_count - first > UINT16_MAX)
        return line_error(&reader->file, "the path has %u links; accepted: up to %u", reader->step_count - first,
                          UINT16_MAX);
    route_want(reader, ROUTE_PORT_NODE, bits_range(0, reader->routing->vcs));
    route_add_step(reader, route_keep_wanted(reader));
    if (!route_line_weight(line, &weight))
        return false;
    route_line_raw(line, entry, first, weight);
    return !line->word || route_line_expected(line, "the end of the line");
}

/* Behind the destination of a node: "vc LIST", the lanes of a pair. */
static bool route_line_lanes(struct route_line *line, const struct route_entry *entry)
{
    struct route_reader *reader = line->reader;
    uint64_t vcs;
    uint32_t weight, lane = 0;
    if (!route_line_vcs(line, &vcs) || !route_line_weight(line, &weight))
        return false;
    while (lane < reader->lane_count && reader->lanes[lane] != vcs)
        lane++;
    if (lane == reader->lane_count) {
        reader->lanes = memory_grow(reader->lanes, reader->lane_count, &reader->lane_room, sizeof *reader->lanes);
        reader->lanes[reader->lane_count++] = vcs;
    }
    route_line_raw(line, entry, ROUTE_LANES | lane, weight);
    return !line->word || route_line_expected(line, "the end of the line");
}

/* ---- the whole ---- */

/* "node 3" or "router 3". */
static bool route_line_end(struct route_line *line, const char *due, bool *is_router, uint32_t *number)
{
    const struct topology *topology = line->reader->routing->topology;
    if (!route_line_is(line, "node") && !route_line_is(line, "router"))
        return route_line_expected(line, due);
    *is_router = *line->word == 'r';
    route_line_step(line);
    return route_line_number(line, *is_router ? "router" : "node", *is_router ? topology->routers : topology->terminals,
                             number);
}

static bool route_line_escape(struct route_line *line)
{
    uint64_t vcs;
    if (!route_line_is(line, "vc"))
        return route_line_expected(line, "\"vc\"");
    if (!route_line_vcs(line, &vcs))
        return false;
    line->reader->escape_vcs |= vcs;
    return !line->word || route_line_expected(line, "the end of the line");
}

bool route_text_line(void *context, char *text)
{
    struct route_line line = {.reader = context, .rest = text};
    struct route_entry entry = {
        .from = FROM_ANYWHERE, .from_port = ROUTE_PORT_ANY, .from_vcs = bits_range(0, line.reader->routing->vcs)};
    bool is_from_router, is_to_router;
    line.reader->wanted_count = 0;
    route_line_step(&line);
    if (!line.word)
        return true;
    if (route_line_takes(&line, "escape"))
        return route_line_escape(&line);
    if (!route_line_end(&line, "\"router\", \"node\" or \"escape\"", &is_from_router, &entry.at) ||
        (is_from_router && route_line_takes(&line, "from") && !route_line_from(&line, &entry)))
        return false;
    if (!route_line_takes(&line, "to"))
        return route_line_expected(&line, "\"to\"");
    if (!route_line_end(&line, "\"node\" or \"router\"", &is_to_router, &entry.destination))
        return false;
    entry.kind = (uint8_t)((is_from_router ? ROUTE_KIND_FROM_ROUTER : 0) | (is_to_router ? ROUTE_KIND_TO_ROUTER : 0));
    if (is_from_router && route_line_takes(&line, "via"))
        return route_line_choices(&line, &entry);
    entry.kind |= ROUTE_KIND_PATH;
    if (entry.from == FROM_ANYWHERE && route_line_is(&line, "vc"))
        return route_line_lanes(&line, &entry);
    if (entry.from != FROM_ANYWHERE || !route_line_takes(&line, "path"))
        return route_line_expected(&line, entry.from != FROM_ANYWHERE ? "\"via\""
                                          : is_from_router            ? "\"via\", \"path\" or \"vc\""
                                                                      : "\"path\" or \"vc\"");
    return route_line_path(&line, &entry);
}
