/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what ibnetdiscover prints: blocks of a head and a line for each port with a
 * cable,
 *
 *     switchguid=0x20000a(20000a)
 *     Switch  8 "S-000000000020000a"   # "S22" base port 0 lid 16 lmc 0
 *     [1]  "H-0000000000100014"[1](100015)   # "H22" lid 27 4xSDR
 *
 *     caguid=0x100014
 *     Ca  1 "H-0000000000100014"   # "H22"
 *     [1](100015)  "S-000000000020000a"[1]   # lid 27 lmc 0 "S22" lid 16 4xSDR
 *
 * and the forwarding tables of switches, in each of the forms that dump_lfts, ibroute and opensm (opensm-lfts.dump,
 * opensm.fdbs) write: a head with the switch's GUID, then lines of a lid and a port.
 */
#include "import/infiniband.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool fabric_refuse(const struct fabric *fabric, const char *message)
{
    return errors_add(fabric->import->errors, "%s:%u: %s", fabric->file, fabric->line, message);
}

char *fabric_line(struct fabric *fabric, const char **at)
{
    if (!**at)
        return NULL;
    size_t length = strcspn(*at, "\n");
    char *line = arena_format(fabric->import->arena, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == '\n');
    fabric->line++;
    line[strcspn(line, "\r")] = '\0';
    return line;
}

/* What stands between the next two quotes, which `at` is moved behind; NULL: there are none. */
static const char *fabric_quoted(struct fabric *fabric, const char **at)
{
    const char *first = strchr(*at, '"'), *end = first ? strchr(first + 1, '"') : NULL;
    if (!end)
        return NULL;
    *at = end + 1;
    return arena_format(fabric->import->arena, "%.*s", (int)(end - first - 1), first + 1);
}

/* The number behind a word; FABRIC_NONE where that is not there. */
static uint32_t fabric_number_behind(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    return found ? (uint32_t)strtoul(found + strlen(word), NULL, 10) : FABRIC_NONE;
}

/* ---- topology ---- */

/* "Switch 8 "id" # ..." and "Ca 1 "id" # ...". */
static bool fabric_read_node(struct fabric *fabric, const char *line, uint64_t guid)
{
    const char *at = line, *comment = strchr(line, '#');
    const char *id = fabric_quoted(fabric, &at), *name = comment ? fabric_quoted(fabric, &comment) : NULL;
    if (!id)
        return fabric_error(fabric, "found a node without a name in quotes");
    fabric->nodes = memory_grow(fabric->nodes, fabric->node_count, &fabric->node_room, sizeof *fabric->nodes);
    struct fabric_node *node = &fabric->nodes[fabric->node_count++];
    *node = (struct fabric_node){.id = id,
                                 .name = name ? name : id,
                                 .guid = guid,
                                 .line = fabric->line,
                                 .router = FABRIC_NONE,
                                 .lid = comment ? fabric_number_behind(comment, " lid ") : FABRIC_NONE,
                                 .first = fabric->port_count,
                                 .is_switch = *line == 'S'};
    const char *dash = strchr(id, '-'); /* "S-000000000020000a" */
    if (!guid && dash)
        node->guid = strtoull(dash + 1, NULL, 16);
    return true;
}

/* "[1](100015) "id"[1](100015) # ...", of the node before. */
static bool fabric_read_port(struct fabric *fabric, const char *line)
{
    char *end;
    const char *at = line, *comment = strchr(line, '#'), *peer_id = fabric_quoted(fabric, &at), *last;
    unsigned long number = strtoul(line + 1, &end, 10), peer = 0;
    if (peer_id && *at == '[')
        peer = strtoul(at + 1, &end, 10);
    if (!fabric->node_count || !peer_id || *end != ']' || !number || number >= FABRIC_NO_WAY || !peer ||
        peer >= FABRIC_NO_WAY)
        return fabric_error(fabric, "found '%.60s', expected [port] \"node\"[port]", line);
    struct fabric_node *node = &fabric->nodes[fabric->node_count - 1];
    fabric->ports = memory_grow(fabric->ports, fabric->port_count, &fabric->port_room, sizeof *fabric->ports);
    last = comment ? strrchr(comment, ' ') : NULL;
    fabric->ports[fabric->port_count++] = (struct fabric_port){
        .peer_id = peer_id,
        .speed = last && strchr(last, 'x') ? last + 1 : "",
        .node = fabric->node_count - 1,
        .number = (uint32_t)number,
        .line = fabric->line,
        .peer_number = (uint32_t)peer,
        .peer = FABRIC_NONE,
        .lid = comment && !node->is_switch ? fabric_number_behind(comment, " lid ") : FABRIC_NONE,
        .lmc = comment && !node->is_switch && strstr(comment, " lmc ") ? fabric_number_behind(comment, " lmc ") : 0,
        .terminal = FABRIC_NONE,
    };
    node->count++;
    return true;
}

static bool fabric_read_lines(struct fabric *fabric, const char *bytes)
{
    static const char *const facts[] = {"vendid=", "devid=", "sysimgguid=", "Chassis", "#", NULL};
    static const char *const guids[] = {"switchguid=", "caguid=", "rtguid=", NULL};
    static const char *const nodes[] = {"Switch", "Ca", "Hca", "Rt", NULL};
    uint64_t guid = 0;
    for (const char *line; (line = fabric_line(fabric, &bytes));) {
        size_t i = 0;
        line += strspn(line, " \t");
        if (!*line)
            continue;
        if (*line == '[') {
            if (!fabric_read_port(fabric, line))
                return false;
            continue;
        }
        while (nodes[i] &&
               (strncmp(line, nodes[i], strlen(nodes[i])) != 0 || !isspace((unsigned char)line[strlen(nodes[i])])))
            i++;
        if (nodes[i]) {
            if (!fabric_read_node(fabric, line, guid))
                return false;
            guid = 0;
            continue;
        }
        for (i = 0; guids[i]; i++)
            if (strncmp(line, guids[i], strlen(guids[i])) == 0)
                guid = strtoull(line + strlen(guids[i]), NULL, 16);
        for (i = 0; facts[i] && strncmp(line, facts[i], strlen(facts[i])) != 0;)
            i++;
        if (!facts[i] && !guid)
            return fabric_error(fabric, "found '%.60s', expected a node, a port or a GUID as ibnetdiscover prints them",
                                line);
    }
    return true;
}

/* ---- cables ---- */

static int by_id(const void *left, const void *right)
{
    return strcmp((*(const struct fabric_node *const *)left)->id, (*(const struct fabric_node *const *)right)->id);
}

static struct fabric_port *port_of(const struct fabric *fabric, const struct fabric_node *node, uint32_t number)
{
    for (uint32_t i = node->first; i < node->first + node->count; i++)
        if (fabric->ports[i].number == number)
            return &fabric->ports[i];
    return NULL;
}

/* Both ends of each cable know each other. */
static bool fabric_join_ports(struct fabric *fabric)
{
    const struct fabric_node **sorted =
        arena_array(fabric->import->arena, const struct fabric_node *, fabric->node_count);
    for (uint32_t i = 0; i < fabric->node_count; i++)
        sorted[i] = &fabric->nodes[i];
    qsort(sorted, fabric->node_count, sizeof *sorted, by_id);
    for (uint32_t i = 0; i + 1 < fabric->node_count; i++)
        if (strcmp(sorted[i]->id, sorted[i + 1]->id) == 0) {
            fabric->line = sorted[i]->line > sorted[i + 1]->line ? sorted[i]->line : sorted[i + 1]->line;
            return fabric_error(fabric, "node \"%s\" is there twice", sorted[i]->id);
        }
    for (uint32_t i = 0; i < fabric->port_count; i++) {
        struct fabric_port *port = &fabric->ports[i];
        const struct fabric_node wanted = {.id = port->peer_id}, *key = &wanted;
        const struct fabric_node **node = bsearch(&key, sorted, fabric->node_count, sizeof *sorted, by_id);
        const struct fabric_port *peer = node ? port_of(fabric, *node, port->peer_number) : NULL;
        fabric->line = port->line;
        if (!peer || peer->peer_number != port->number || strcmp(peer->peer_id, fabric->nodes[port->node].id) != 0)
            return fabric_error(fabric, "port %u of \"%s\" does not say that its cable ends here", port->peer_number,
                                port->peer_id);
        if (!fabric->nodes[port->node].is_switch && !(*node)->is_switch)
            return fabric_error(fabric, "a cable joins two adapters, without a switch");
        if (peer->node == port->node)
            return fabric_error(fabric, "a cable joins two ports of one switch; accepted: cables between switches");
        port->peer = (uint32_t)(peer - fabric->ports);
    }
    return true;
}

/* ---- numbers ---- */

static int by_guid(const void *left, const void *right)
{
    const struct fabric_node *a = *(const struct fabric_node *const *)left,
                             *b = *(const struct fabric_node *const *)right;
    if (a->guid != b->guid)
        return a->guid < b->guid ? -1 : 1;
    return strcmp(a->id, b->id);
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = ((const struct fabric_port *)left)->number, b = ((const struct fabric_port *)right)->number;
    return a < b ? -1 : a > b;
}

static void fabric_count(struct fabric *fabric)
{
    struct arena *arena = fabric->import->arena;
    struct fabric_node **switches = arena_array(arena, struct fabric_node *, fabric->node_count);
    fabric->routers = arena_array(arena, uint32_t, fabric->node_count);
    fabric->terminals = arena_array(arena, uint32_t, fabric->port_count);
    for (uint32_t i = 0; i < fabric->node_count; i++)
        if (fabric->nodes[i].is_switch)
            switches[fabric->router_count++] = &fabric->nodes[i];
    qsort(switches, fabric->router_count, sizeof(struct fabric_node *), by_guid);
    for (uint32_t router = 0; router < fabric->router_count; router++) {
        const struct fabric_node *node = switches[router];
        switches[router]->router = router;
        fabric->routers[router] = (uint32_t)(node - fabric->nodes);
        for (uint32_t i = node->first; i < node->first + node->count; i++) {
            struct fabric_port *peer = &fabric->ports[fabric->ports[i].peer];
            if (fabric->nodes[peer->node].is_switch)
                continue;
            fabric->terminals[fabric->terminal_count] = fabric->ports[i].peer;
            peer->terminal = fabric->terminal_count++;
        }
    }
}

bool fabric_read_topology(struct fabric *fabric, const char *bytes)
{
    if (!fabric_read_lines(fabric, bytes))
        return false;
    for (uint32_t i = 0; i < fabric->node_count; i++) /* before ports know each other by their places */
        if (fabric->nodes[i].count)
            qsort(fabric->ports + fabric->nodes[i].first, fabric->nodes[i].count, sizeof *fabric->ports, by_number);
    if (!fabric_join_ports(fabric))
        return false;
    fabric_count(fabric);
    if (fabric->router_count && fabric->terminal_count)
        return true;
    return errors_add(fabric->import->errors, "%s: there are %u switches and %u ports of adapters; accepted: 1 or more",
                      fabric->file, fabric->router_count, fabric->terminal_count);
}

/* ---- tables ---- */

/* The router of the GUID that a head names; FABRIC_NONE: there is no such switch, or no GUID. */
static uint32_t fabric_router_of(const struct fabric *fabric, const char *head)
{
    const char *guid = strstr(head, "guid 0x");
    uint64_t number = guid ? strtoull(guid + 5, NULL, 16) : 0;
    if (!guid && (guid = strstr(head, "Switch 0x")))
        number = strtoull(guid + 7, NULL, 16);
    for (uint32_t router = 0; router < fabric->router_count && guid; router++)
        if (fabric->nodes[fabric->routers[router]].guid == number)
            return router;
    return FABRIC_NONE;
}

/* "0x0004 003 : ...", "0x0004 003 # ..." or "0x0004 : 003 : ..."; of other lids than terminals' nothing is kept. */
static bool fabric_read_entry(struct fabric *fabric, const char *line, uint32_t router)
{
    char *at;
    unsigned long lid = strtoul(line, &at, 16);
    at += strspn(at, " \t:");
    char *end = at;
    unsigned long port = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : FABRIC_NO_WAY;
    bool is_unreachable = strncmp(at, "UNREACHABLE", 11) == 0;
    if (router == FABRIC_NONE)
        return fabric_error(fabric, "found an entry before the head of a table (\"Unicast lids ... guid 0x...\")");
    if ((end == at && !is_unreachable) || port > FABRIC_NO_WAY)
        return fabric_error(fabric, "found '%.60s', expected a lid and a port", line);
    if (lid < 0x10000 && fabric->lids[lid] != FABRIC_NONE)
        fabric->tables[(size_t)router * fabric->terminal_count + fabric->lids[lid]] = (uint8_t)port;
    return true;
}

static bool fabric_index_lids(struct fabric *fabric)
{
    fabric->lids = arena_array(fabric->import->arena, uint32_t, 0x10000);
    for (uint32_t lid = 0; lid < 0x10000; lid++)
        fabric->lids[lid] = FABRIC_NONE;
    for (uint32_t terminal = 0; terminal < fabric->terminal_count; terminal++) {
        const struct fabric_port *port = &fabric->ports[fabric->terminals[terminal]];
        fabric->line = port->line;
        if (port->lid >= 0x10000)
            return fabric_error(fabric, "the adapter's port has no lid, by which tables know it");
        if (fabric->lids[port->lid] != FABRIC_NONE)
            return fabric_error(fabric, "lid %u belongs to another port too", port->lid);
        fabric->lids[port->lid] = terminal;
    }
    return true;
}

bool fabric_read_tables(struct fabric *fabric, const char *path)
{
    struct arena *arena = fabric->import->arena;
    size_t size, bytes = (size_t)fabric->router_count * fabric->terminal_count;
    uint32_t router = FABRIC_NONE;
    errno = 0;
    const char *text = file_read(arena, path, &size);
    if (!text)
        return errors_add(fabric->import->errors, "cannot read '%s': %s", path, strerror(errno));
    if (!fabric_index_lids(fabric))
        return false;
    fabric->tables = arena_array(arena, uint8_t, bytes);
    fabric->has_table = arena_array(arena, uint8_t, fabric->router_count);
    memset(fabric->tables, FABRIC_NO_WAY, bytes);
    fabric->file = path;
    fabric->line = 0;
    for (const char *line; (line = fabric_line(fabric, &text));) {
        if (strncmp(line, "Unicast lids", 12) == 0 || strncmp(line, "dump_ucast_routes", 17) == 0) {
            router = fabric_router_of(fabric, line);
            if (router == FABRIC_NONE)
                return fabric_error(fabric, "found the table of a switch that %s has not: %.80s", fabric->import->file,
                                    line);
            fabric->has_table[router] = 1;
        } else if (strncmp(line, "0x", 2) == 0 && !fabric_read_entry(fabric, line, router)) {
            return false;
        }
    }
    for (router = 0; router < fabric->router_count; router++)
        if (!fabric->has_table[router])
            return errors_add(fabric->import->errors, "%s: there is no table of switch \"%s\" (guid 0x%016llx)", path,
                              fabric->nodes[fabric->routers[router]].name,
                              (unsigned long long)fabric->nodes[fabric->routers[router]].guid);
    return true;
}

void fabric_release(struct fabric *fabric)
{
    free(fabric->nodes);
    free(fabric->ports);
}
