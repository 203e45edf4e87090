/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a file of routes brings every packet home: for one destination after the other, a depth-first search over
 * all that its entries may do from every router where packets enter. A packet is known by its router, and where lines
 * say so by the port and the VC that it came by.
 */
#include "network/routing/route_file.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_SHOWN 5

/* Of a place: how the search has left it. */
enum { WAY_UNKNOWN, WAY_UNDER_SEARCH, WAY_GOOD, WAY_ENDS /* + the router where it ends */ };

/* A place under search, and which way on is tried next. */
struct way_frame {
    const struct route_entry *entry;
    const struct route_output *output; /* NULL: the next choice begins */
    uint64_t vcs;                      /* of it, still to be tried; only where it matters which */
    uint32_t place, choice, end;       /* end: WAY_GOOD, or where one of its ways ends */
};

struct ways {
    const struct routes *routes;
    const struct topology *topology;
    struct route_reader *reader;
    bool is_by_input;     /* lines tell ports or VCs apart */
    uint32_t vcs, stride; /* places of a router: at its nodes, then by port and VC */
    uint32_t *found;      /* by place */
    uint32_t *touched;    /* places found for this destination */
    uint32_t touched_count, touched_room;
    struct way_frame *stack;
    uint32_t depth, stack_room;
    uint32_t destination, destination_router;
    uint32_t *first_at, *terminals_at; /* by router, and one more: its terminals as sources */
    uint32_t *first_to, *terminals_to; /* and as destinations */
    uint8_t *has_own;                  /* by terminal: lines name it as a destination */
    uint64_t lacking;
    struct text shown;
};

/* ---- places ---- */

static void way_mark(struct ways *ways, uint32_t place, uint32_t what)
{
    if (ways->found[place] == WAY_UNKNOWN) {
        ways->touched = memory_grow(ways->touched, ways->touched_count, &ways->touched_room, sizeof *ways->touched);
        ways->touched[ways->touched_count++] = place;
    }
    ways->found[place] = what;
}

static uint32_t place_behind(const struct ways *ways, uint32_t router, uint32_t port, uint32_t vc)
{
    struct router_port peer = {0};
    ways->topology->ops->peer(ways->topology, router, port, &peer);
    return peer.router * ways->stride + (ways->is_by_input ? 1 + peer.port * ways->vcs + vc : 0);
}

static const struct route_entry *way_entry(const struct ways *ways, uint32_t place)
{
    uint32_t router = place / ways->stride, lane = place % ways->stride;
    return routes_entry_at(ways->routes, router, ways->destination, ways->destination_router, lane == 0,
                           lane ? (lane - 1) / ways->vcs : 0, lane ? (lane - 1) % ways->vcs : 0);
}

/* ---- search ---- */

/* The place that the next way of a frame leads to; false when all have been tried. Ways home are passed over. */
static bool way_next(const struct ways *ways, struct way_frame *frame, uint32_t *next)
{
    for (;;) {
        if (!frame->output) {
            if (frame->choice == frame->entry->count)
                return false;
            const struct weighted *choice = &ways->routes->choices[frame->entry->first + frame->choice++];
            frame->output = &ways->routes->outputs[choice->what];
            frame->vcs = frame->output->vcs;
        }
        const struct route_output *output = frame->output;
        if (output->port != ROUTE_PORT_NODE && frame->vcs) {
            *next = place_behind(ways, frame->place / ways->stride, output->port, (uint32_t)lowest_bit(frame->vcs));
            frame->vcs = ways->is_by_input ? frame->vcs & (frame->vcs - 1) : 0;
            return true;
        }
        frame->output = output->is_last ? NULL : output + 1;
        frame->vcs = frame->output ? frame->output->vcs : 0;
    }
}

/* Begins with a place, or knows it at once. */
static void way_enter(struct ways *ways, uint32_t place)
{
    const struct route_entry *entry = way_entry(ways, place);
    uint32_t router = place / ways->stride;
    way_mark(ways, place, WAY_UNDER_SEARCH);
    if (!entry) {
        way_mark(ways, place, router == ways->destination_router ? WAY_GOOD : WAY_ENDS + router);
        return;
    }
    ways->stack = memory_grow(ways->stack, ways->depth, &ways->stack_room, sizeof *ways->stack);
    ways->stack[ways->depth++] = (struct way_frame){.entry = entry, .place = place, .end = WAY_GOOD};
}

static bool way_is_circle(struct ways *ways, uint32_t place)
{
    struct text circle = {0};
    uint32_t at = ways->depth;
    while (ways->stack[at - 1].place != place)
        at--;
    for (uint32_t i = at - 1; i < ways->depth; i++)
        text_addf(&circle, "router %u, ", ways->stack[i].place / ways->stride);
    ways->reader->file.line = ways->stack[ways->depth - 1].entry->line;
    line_error(&ways->reader->file, "packets to node %u can go in a circle: %srouter %u", ways->destination,
               circle.chars, place / ways->stride);
    text_release(&circle);
    return false;
}

/* Fills in what is found of a place and of all behind it; false, with an error, where there is a circle. */
static bool way_search(struct ways *ways, uint32_t start)
{
    if (ways->found[start] != WAY_UNKNOWN)
        return true;
    way_enter(ways, start);
    while (ways->depth) {
        struct way_frame *frame = &ways->stack[ways->depth - 1];
        uint32_t next;
        if (!way_next(ways, frame, &next)) {
            uint32_t end = frame->end;
            way_mark(ways, frame->place, end);
            ways->depth--;
            if (ways->depth && end != WAY_GOOD)
                ways->stack[ways->depth - 1].end = end;
            continue;
        }
        if (ways->found[next] == WAY_UNDER_SEARCH)
            return way_is_circle(ways, next);
        if (ways->found[next] == WAY_UNKNOWN)
            way_enter(ways, next); /* which may move the frame */
        frame = &ways->stack[ways->depth - 1];
        if (frame->place != next && ways->found[next] != WAY_GOOD && ways->found[next] != WAY_UNDER_SEARCH)
            frame->end = ways->found[next];
    }
    return true;
}

/* ---- pairs ---- */

/* Has a pair paths alone, whatever tables say? */
static bool has_paths(const struct ways *ways, uint32_t source, uint32_t router, uint32_t destination)
{
    const struct route_entry *entry = routes_path(ways->routes, source, router, destination, ways->destination_router);
    for (uint32_t i = 0; entry && i < entry->count; i++)
        if (ways->routes->choices[entry->first + i].what & ROUTE_LANES)
            return false;
    return entry;
}

/* Counts the pairs of a source router, whose packets end somewhere, and the terminals in `to`, all of one kind. */
static void ways_count(struct ways *ways, uint32_t router, const uint32_t *to, uint32_t count, uint32_t end)
{
    for (uint32_t i = ways->first_at[router]; i < ways->first_at[router + 1]; i++)
        for (uint32_t j = 0; j < count; j++) {
            uint32_t source = ways->terminals_at[i];
            if (source == to[j] || has_paths(ways, source, router, to[j]))
                continue;
            if (ways->lacking++ < PAIRS_SHOWN)
                text_addf(&ways->shown, "%snode %u to node %u (it ends at router %u)", ways->lacking > 1 ? ", " : "",
                          source, to[j], end - WAY_ENDS);
        }
}

/* To terminals of one router, for which the file says the same. */
static bool ways_to(struct ways *ways, const uint32_t *to, uint32_t count)
{
    ways->destination = to[0];
    bool is_good = true;
    for (uint32_t router = 0; router < ways->topology->routers && is_good; router++) {
        if (ways->first_at[router] == ways->first_at[router + 1])
            continue;
        is_good = way_search(ways, router * ways->stride);
        uint32_t end = ways->found[router * ways->stride];
        if (is_good && end != WAY_GOOD && topology_joins(ways->topology, router, ways->destination_router))
            ways_count(ways, router, to, count, end);
    }
    while (ways->touched_count)
        ways->found[ways->touched[--ways->touched_count]] = WAY_UNKNOWN;
    return is_good;
}

/* Those with lines of their own one by one, the others of a router together. */
static bool ways_to_router(struct ways *ways, uint32_t router, uint32_t *others)
{
    uint32_t count = 0;
    bool is_good = true;
    ways->destination_router = router;
    for (uint32_t i = ways->first_to[router]; i < ways->first_to[router + 1] && is_good; i++) {
        uint32_t terminal = ways->terminals_to[i];
        if (ways->has_own[terminal])
            is_good = ways_to(ways, &terminal, 1);
        else
            others[count++] = terminal;
    }
    return is_good && (!count || ways_to(ways, others, count));
}

/* Terminals by router. */
static void ways_list(const struct topology *topology,
                      uint32_t (*place)(const struct topology *topology, uint32_t terminal), struct arena *arena,
                      uint32_t **first, uint32_t **terminals)
{
    *first = arena_array(arena, uint32_t, topology->routers + 2);
    *terminals = arena_array(arena, uint32_t, topology->terminals);
    uint32_t *end = *first + 1; /* one place on while it is filled */
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        end[place(topology, terminal) + 1]++;
    for (uint32_t router = 0; router < topology->routers; router++)
        end[router + 1] += end[router];
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        (*terminals)[end[place(topology, terminal)]++] = terminal;
}

/* What tables offer leaves something to packets of all lanes. */
static bool lanes_fit(const struct ways *ways)
{
    const struct routes *routes = ways->routes;
    struct route_reader *reader = ways->reader;
    for (uint32_t i = 0; i < routes->entry_count; i++) {
        const struct route_entry *entry = &routes->entries[i];
        for (uint32_t c = 0; c < entry->count && !(entry->kind & ROUTE_KIND_PATH); c++)
            for (const struct route_output *output = &routes->outputs[routes->choices[entry->first + c].what];;
                 output++) {
                for (uint32_t lane = 0; lane < reader->lane_count && output->port != ROUTE_PORT_NODE; lane++)
                    if (!(output->vcs & reader->lanes[lane])) {
                        reader->file.line = entry->line;
                        return line_error(&reader->file,
                                          "port %u is offered in none of the VCs that some pair of nodes keeps to",
                                          output->port);
                    }
                if (output->is_last)
                    break;
            }
    }
    return true;
}

/* False, with an error, where the places are too many to be gone through. */
static bool ways_prepare(struct ways *ways, struct arena *scratch)
{
    const struct routes *routes = ways->routes;
    const struct topology *topology = ways->topology;
    ways->has_own = arena_array(scratch, uint8_t, topology->terminals);
    for (uint32_t i = 0; i < routes->entry_count; i++) {
        const struct route_entry *entry = &routes->entries[i];
        ways->is_by_input |= entry->from != FROM_ANYWHERE;
        if (entry->kind == ROUTE_KIND_TABLE)
            ways->has_own[entry->destination] = 1;
    }
    uint64_t stride = ways->is_by_input ? 1 + (uint64_t)topology->ports * ways->vcs : 1;
    if (stride * topology->routers >= UINT32_MAX - WAY_ENDS)
        return line_file_error(&ways->reader->file,
                               "%u routers of %u ports and %u VCs are too many to be told apart by \"from\"",
                               topology->routers, topology->ports, ways->vcs);
    ways->stride = (uint32_t)stride;
    ways->found = arena_array(scratch, uint32_t, stride * topology->routers);
    ways_list(topology, topology_router_of, scratch, &ways->first_at, &ways->terminals_at);
    ways_list(topology, topology_ejects_at, scratch, &ways->first_to, &ways->terminals_to);
    return true;
}

bool routes_check_ways(const struct routes *routes, struct route_reader *reader, bool may_lack)
{
    const struct topology *topology = reader->routing->topology;
    struct ways ways = {.routes = routes, .topology = topology, .reader = reader, .vcs = reader->routing->vcs};
    struct arena scratch = {0};
    bool is_good = lanes_fit(&ways) && ways_prepare(&ways, &scratch);
    uint32_t *others = arena_array(&scratch, uint32_t, topology->terminals);
    for (uint32_t router = 0; router < topology->routers && is_good; router++)
        is_good = ways_to_router(&ways, router, others);
    if (is_good && ways.lacking && !may_lack)
        is_good = line_file_error(
            &reader->file,
            "%llu of %llu pairs have no way: %s%s; accepted with \"unreachable\": \"allow\", where "
            "the traffic takes none of them",
            (unsigned long long)ways.lacking, (unsigned long long)topology->terminals * (topology->terminals - 1),
            ways.shown.chars, ways.lacking > PAIRS_SHOWN ? ", ..." : "");
    text_release(&ways.shown);
    free(ways.touched);
    free(ways.stack);
    arena_release(&scratch);
    return is_good;
}
