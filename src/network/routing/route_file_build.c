/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was read of a file of routes, put in order: sets of outputs kept once, entries by place and destination, the
 * closest first, and the hash table by which they are found.
 */
#include "network/routing/route_file.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets of outputs ---- */

void route_want(struct route_reader *reader, uint16_t port, uint64_t vcs)
{
    uint32_t at = 0;
    while (at < reader->wanted_count && reader->wanted[at].port < port)
        at++;
    if (at < reader->wanted_count && reader->wanted[at].port == port) {
        reader->wanted[at].vcs |= vcs;
        return;
    }
    reader->wanted = memory_grow(reader->wanted, reader->wanted_count, &reader->wanted_room, sizeof *reader->wanted);
    memmove(reader->wanted + at + 1, reader->wanted + at, sizeof *reader->wanted * (reader->wanted_count++ - at));
    reader->wanted[at] = (struct route_output){.vcs = vcs, .port = port};
}

static uint64_t output_hash(uint64_t hash, const struct route_output *output)
{
    return random_mix(hash ^ output->vcs ^ (uint64_t)output->port << 48 ^ output->is_last) + 1;
}

static bool outputs_are_one(const struct route_output *a, const struct route_output *b)
{
    for (;; a++, b++) {
        if (a->vcs != b->vcs || a->port != b->port || a->is_last != b->is_last)
            return false;
        if (a->is_last)
            return true;
    }
}

static uint32_t *route_set_slot(const struct route_reader *reader, const struct route_output *set)
{
    uint64_t hash = 0;
    for (const struct route_output *output = set;; output++) {
        hash = output_hash(hash, output);
        if (output->is_last)
            break;
    }
    uint32_t mask = reader->set_slots - 1, slot = (uint32_t)hash & mask;
    while (reader->sets[slot] && !outputs_are_one(reader->outputs + reader->sets[slot] - 1, set))
        slot = (slot + 1) & mask;
    return &reader->sets[slot];
}

static void route_sets_grow(struct route_reader *reader)
{
    uint32_t *old = reader->sets, old_slots = reader->set_slots;
    reader->set_slots = old_slots ? 2 * old_slots : 64;
    reader->sets = memory_take(sizeof *reader->sets * reader->set_slots);
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i])
            *route_set_slot(reader, reader->outputs + old[i] - 1) = old[i];
    free(old);
}

uint32_t route_keep_wanted(struct route_reader *reader)
{
    if (2 * reader->set_count >= reader->set_slots)
        route_sets_grow(reader);
    reader->wanted[reader->wanted_count - 1].is_last = true;
    uint32_t *slot = route_set_slot(reader, reader->wanted), first = reader->output_count;
    for (uint32_t i = 0; !*slot && i < reader->wanted_count; i++) {
        reader->outputs =
            memory_grow(reader->outputs, reader->output_count, &reader->output_room, sizeof *reader->outputs);
        reader->outputs[reader->output_count++] = reader->wanted[i];
    }
    reader->wanted_count = 0;
    if (!*slot) {
        *slot = first + 1;
        reader->set_count++;
    }
    return *slot - 1;
}

/* ---- order ---- */

#define COMPARE(a, b)                                                                                                  \
    if ((a) != (b))                                                                                                    \
    return (a) < (b) ? -1 : 1

static int by_place(const void *left, const void *right)
{
    const struct route_raw *a = left, *b = right;
    COMPARE(a->entry.kind, b->entry.kind);
    COMPARE(a->entry.at, b->entry.at);
    COMPARE(a->entry.destination, b->entry.destination);
    COMPARE(a->entry.from, b->entry.from);
    COMPARE(a->entry.from_port, b->entry.from_port);
    COMPARE(a->entry.is_at_node, b->entry.is_at_node);
    COMPARE(a->entry.from_vcs, b->entry.from_vcs);
    COMPARE(a->group, b->group);
    COMPARE(a->number, b->number);
    return 0;
}

static bool is_same_place(const struct route_entry *a, const struct route_entry *b)
{
    return a->kind == b->kind && a->at == b->at && a->destination == b->destination;
}

static bool is_same_entry(const struct route_entry *a, const struct route_entry *b)
{
    return is_same_place(a, b) && a->from == b->from && a->from_port == b->from_port &&
           a->is_at_node == b->is_at_node && a->from_vcs == b->from_vcs;
}

/* Could one packet fit both, which are as close? */
static bool are_at_odds(const struct route_entry *a, const struct route_entry *b)
{
    return is_same_place(a, b) && a->from == b->from && a->from_port == b->from_port &&
           a->is_at_node == b->is_at_node && a->from_vcs & b->from_vcs;
}

/* What the entries are put into. */
struct route_builder {
    struct route_reader *reader;
    struct route_entry *entries;
    struct weighted *choices;
    uint32_t entry_count, choice_count;
};

/* The outputs of all raws of one choice, which stand together; moves on to the next choice. */
static uint32_t route_join_group(struct route_reader *reader, const struct route_raw **at, const struct route_raw *end)
{
    const struct route_raw *first = *at;
    for ((*at)++; first->group != FW_NONE && *at < end && (*at)->group == first->group;)
        (*at)++;
    if (*at == first + 1)
        return first->outputs;
    for (const struct route_raw *raw = first; raw < *at; raw++)
        for (uint32_t i = raw->outputs;; i++) {
            route_want(reader, reader->outputs[i].port, reader->outputs[i].vcs);
            if (reader->outputs[i].is_last)
                break;
        }
    return route_keep_wanted(reader);
}

static bool group_weights_agree(struct route_reader *reader, const struct route_raw *first, const struct route_raw *end)
{
    for (const struct route_raw *raw = first + 1; raw < end; raw++)
        if (raw->group != FW_NONE && raw->group == raw[-1].group && raw->weight != raw[-1].weight) {
            reader->file.line = raw->entry.line;
            return line_error(&reader->file, "choice %u weighs %u here, but %u in line %u", raw->group, raw->weight,
                              raw[-1].weight, raw[-1].entry.line);
        }
    return true;
}

/* One entry of all raws from first to end. */
static bool route_add_entry(struct route_builder *builder, const struct route_raw *first, const struct route_raw *end)
{
    struct route_reader *reader = builder->reader;
    struct route_entry *entry = &builder->entries[builder->entry_count++];
    uint64_t sum = 0;
    *entry = first->entry;
    entry->first = builder->choice_count;
    if (!group_weights_agree(reader, first, end))
        return false;
    for (const struct route_raw *at = first; at < end;) {
        sum += at->weight;
        uint32_t outputs = at->entry.kind & ROUTE_KIND_PATH ? (at++)->outputs : route_join_group(reader, &at, end);
        builder->choices[builder->choice_count++] = (struct weighted){(uint32_t)sum, outputs};
    }
    entry->count = builder->choice_count - entry->first;
    reader->file.line = entry->line;
    return sum <= UINT32_MAX || line_error(&reader->file, "the weights sum up to %llu; accepted: up to %u",
                                           (unsigned long long)sum, UINT32_MAX);
}

/* Lines of text say all of an entry at once, but paths and rows of CSV one choice each. */
static bool route_raws_agree(struct route_reader *reader, const struct route_raw *first, const struct route_raw *end)
{
    bool may_go_on = reader->is_csv || first->entry.kind & ROUTE_KIND_PATH;
    for (const struct route_raw *raw = first + 1; raw < end && !may_go_on; raw++)
        if (raw->entry.line != first->entry.line) {
            reader->file.line = raw->entry.line;
            return line_error(&reader->file, "line %u says the same place and destination already", first->entry.line);
        }
    return true;
}

/* Entries that are as close must not fit the same packet. */
static bool route_entries_agree(struct route_builder *builder)
{
    struct route_reader *reader = builder->reader;
    for (uint32_t i = 0; i < builder->entry_count; i++) {
        const struct route_entry *entry = &builder->entries[i];
        for (const struct route_entry *other = entry; other-- > builder->entries && is_same_place(entry, other);)
            if (are_at_odds(entry, other)) {
                reader->file.line = entry->line > other->line ? entry->line : other->line;
                return line_error(&reader->file, "a packet may come as here and as in line %u says",
                                  entry->line > other->line ? other->line : entry->line);
            }
    }
    return true;
}

/* ---- finding ---- */

static uint32_t place_hash(uint32_t kind, uint32_t at, uint32_t destination)
{
    return (uint32_t)random_mix(((uint64_t)at << 32 | destination) + ((uint64_t)kind << 61));
}

/* The first entry of a place and a destination; NULL: there is none. */
static const struct route_entry *routes_find(const struct routes *routes, uint32_t kind, uint32_t at,
                                             uint32_t destination)
{
    if (!(routes->kinds >> kind & 1))
        return NULL;
    for (uint32_t slot = place_hash(kind, at, destination) & routes->slot_mask; routes->slots[slot];
         slot = (slot + 1) & routes->slot_mask) {
        const struct route_entry *entry = &routes->entries[routes->slots[slot] - 1];
        if (entry->destination == destination && entry->at == at && entry->kind == kind)
            return entry;
    }
    return NULL;
}

/* Of those of one place the first that fits. */
static const struct route_entry *route_fitting(const struct routes *routes, const struct route_entry *entry,
                                               bool is_at_node, uint32_t port, uint32_t vc)
{
    const struct route_entry *first = entry, *end = routes->entries + routes->entry_count;
    for (; entry && entry < end && is_same_place(entry, first); entry++)
        if (route_entry_fits(entry, is_at_node, port, vc))
            return entry;
    return NULL;
}

const struct route_entry *routes_entry_at(const struct routes *routes, uint32_t router, uint32_t destination,
                                          uint32_t destination_router, bool is_at_node, uint32_t port, uint32_t vc)
{
    const struct route_entry *entry =
        route_fitting(routes, routes_find(routes, ROUTE_KIND_TABLE, router, destination), is_at_node, port, vc);
    return entry
               ? entry
               : route_fitting(routes,
                               routes_find(routes, ROUTE_KIND_TABLE | ROUTE_KIND_TO_ROUTER, router, destination_router),
                               is_at_node, port, vc);
}

const struct route_entry *routes_path(const struct routes *routes, uint32_t source, uint32_t source_router,
                                      uint32_t destination, uint32_t destination_router)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t kind = ROUTE_KIND_PATH | (i & 1 ? ROUTE_KIND_TO_ROUTER : 0) | (i & 2 ? ROUTE_KIND_FROM_ROUTER : 0);
        const struct route_entry *entry =
            routes_find(routes, kind, i & 2 ? source_router : source, i & 1 ? destination_router : destination);
        if (entry)
            return entry;
    }
    return NULL;
}

static bool leads_to_node(const struct routes *routes, const struct route_entry *entry)
{
    for (uint32_t i = entry->first; i < entry->first + entry->count && !(entry->kind & ROUTE_KIND_PATH); i++)
        if (routes->outputs[routes->choices[i].what].port == ROUTE_PORT_NODE)
            return true;
    return false;
}

static void routes_hash(struct routes *routes, uint32_t *slots)
{
    for (uint32_t i = 0; i < routes->entry_count; i++) {
        const struct route_entry *entry = &routes->entries[i];
        routes->kinds |= 1u << entry->kind;
        routes->leads_to_nodes |= leads_to_node(routes, entry);
        if (i && is_same_place(entry, entry - 1))
            continue;
        uint32_t slot = place_hash(entry->kind, entry->at, entry->destination) & routes->slot_mask;
        while (slots[slot])
            slot = (slot + 1) & routes->slot_mask;
        slots[slot] = i + 1;
    }
}

static const void *routes_copy(struct arena *arena, const void *items, size_t bytes)
{
    void *copy = arena_take(arena, bytes ? bytes : 1);
    if (bytes)
        memcpy(copy, items, bytes);
    return copy;
}

const struct routes *routes_build(struct route_reader *reader, struct arena *arena)
{
    struct routes *routes = arena_array(arena, struct routes, 1);
    struct route_builder builder = {.reader = reader,
                                    .entries = arena_array(arena, struct route_entry, reader->raw_count + 1),
                                    .choices = arena_array(arena, struct weighted, reader->raw_count + 1)};
    const struct route_raw *end = reader->raw_count ? reader->raws + reader->raw_count : NULL;
    if (reader->raw_count)
        qsort(reader->raws, reader->raw_count, sizeof *reader->raws, by_place);
    for (const struct route_raw *first = reader->raws, *next; first < end; first = next) {
        for (next = first + 1; next < end && is_same_entry(&first->entry, &next->entry);)
            next++;
        if (!route_raws_agree(reader, first, next) || !route_add_entry(&builder, first, next))
            return NULL;
    }
    if (!route_entries_agree(&builder))
        return NULL;
    uint32_t slots = 2;
    while (slots < 2 * builder.entry_count)
        slots *= 2;
    uint32_t *table = arena_array(arena, uint32_t, slots);
    *routes = (struct routes){
        .entries = builder.entries,
        .slots = table,
        .choices = builder.choices,
        .outputs = routes_copy(arena, reader->outputs, sizeof *reader->outputs * reader->output_count),
        .steps = routes_copy(arena, reader->steps, sizeof *reader->steps * reader->step_count),
        .lanes = routes_copy(arena, reader->lanes, sizeof *reader->lanes * reader->lane_count),
        .entry_count = builder.entry_count,
        .slot_mask = slots - 1,
        .file = reader->file.path,
    };
    routes_hash(routes, table);
    return routes;
}

/* ---- the whole ---- */

bool route_file_read(struct route_reader *reader)
{
    size_t length = strlen(reader->file.path);
    reader->is_csv = length > 4 && strcmp(reader->file.path + length - 4, ".csv") == 0;
    return line_file_read(&reader->file, reader->is_csv ? route_csv_line : route_text_line, reader);
}

void route_reader_release(struct route_reader *reader)
{
    free(reader->raws);
    free(reader->outputs);
    free(reader->sets);
    free(reader->steps);
    free(reader->lanes);
    free(reader->wanted);
}
