/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets to one destination, followed from all terminals, see routes.h. Where one answer holds for all packets at a
 * router, a line says so; else lines for VCs that packets come in, and for packets from terminals; else for the ports
 * that they come by, too. What an algorithm goes by beyond that (a phase, a place on the way) no line can tell.
 */
#include "blueprint/routes.h"

#include "network/routing/route_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WEIGHT 65535

/* ---- answers ---- */

static void answer_add(struct followers *f, answer_number number)
{
    f->answers = memory_grow(f->answers, f->answer_count, &f->answer_room, sizeof *f->answers);
    f->answers[f->answer_count++] = number;
}

static size_t answer_length(const answer_number *answer)
{
    size_t at = 1;
    for (answer_number choice = 0; choice < answer[0]; choice++)
        at += 2 + 2 * answer[at + 1];
    return at;
}

bool answers_are_one(const answer_number *a, const answer_number *b)
{
    size_t length = answer_length(a);
    return length == answer_length(b) && memcmp(a, b, sizeof *a * length) == 0;
}

/* The outputs of a set; false where it holds some channels to the terminal and not others, or those of another one. */
static bool answer_add_set(struct followers *f, const uint64_t *set)
{
    const struct routing *routing = f->routing;
    uint32_t own = routing->terminal_slot[f->destination] * routing->terminal_ports, place = f->answer_count;
    uint64_t to_node = 0, vcs;
    answer_add(f, 0);
    for (uint32_t port = 0; port < routing->local_ports; port++) {
        vcs = bits_word(set, port * routing->num_vcs, routing->num_vcs);
        bool is_own = port - own < routing->ejection_channels;
        if (is_own && port > own && vcs != to_node)
            return false;
        if (!is_own && vcs)
            return false;
        to_node = is_own ? vcs : to_node;
    }
    if (to_node) {
        answer_add(f, ROUTE_PORT_NODE);
        answer_add(f, to_node);
    }
    for (uint32_t port = 0; port < routing->topology->ports; port++) {
        vcs = bits_word(set, (routing->local_ports + port) * routing->num_vcs, routing->num_vcs);
        if (!vcs)
            continue;
        answer_add(f, port);
        answer_add(f, vcs);
    }
    f->answers[place] = (f->answer_count - place - 1) / 2;
    return f->answers[place] > 0 && (!to_node || f->answers[place] == 1);
}

/* The smallest whole weights that are as likely; false: there are none. */
static bool drawn_weights(const struct drawn *drawn, uint32_t *sum)
{
    for (*sum = 1; *sum <= MOST_WEIGHT; ++*sum) {
        uint32_t i = 0;
        while (i < drawn->count && fabs(drawn->chances[i] * *sum - round(drawn->chances[i] * *sum)) < 1e-7 &&
               round(drawn->chances[i] * *sum) > 0)
            i++;
        if (i == drawn->count)
            return true;
    }
    return false;
}

static void drawn_add(struct followers *f, double chance)
{
    struct drawn *drawn = &f->drawn;
    uint32_t words = f->routing->words, at = 0;
    while (at < drawn->count && memcmp(drawn->sets + (size_t)at * words, f->vcs, sizeof *f->vcs * words) != 0)
        at++;
    if (at < drawn->count) {
        drawn->chances[at] += chance;
        return;
    }
    if (drawn->count == drawn->room) {
        drawn->room = 2 * drawn->room + 4;
        drawn->sets = memory_resize(drawn->sets, sizeof *drawn->sets * words * drawn->room);
        drawn->chances = memory_resize(drawn->chances, sizeof *drawn->chances * drawn->room);
    }
    memcpy(drawn->sets + (size_t)at * words, f->vcs, sizeof *f->vcs * words);
    drawn->chances[at] = chance;
    drawn->count++;
}

static bool set_is_before(const struct drawn *drawn, uint32_t words, uint32_t a, uint32_t b)
{
    uint32_t w = 0;
    while (w + 1 < words && drawn->sets[(size_t)a * words + w] == drawn->sets[(size_t)b * words + w])
        w++;
    uint64_t left = drawn->sets[(size_t)a * words + w], right = drawn->sets[(size_t)b * words + w];
    return left &&
           (!right || lowest_bit(left) < lowest_bit(right) || (lowest_bit(left) == lowest_bit(right) && left < right));
}

/* The next in order behind one that has been told; FW_NONE: they begin. */
static uint32_t drawn_next(const struct drawn *drawn, uint32_t words, uint32_t last)
{
    uint32_t next = FW_NONE;
    for (uint32_t i = 0; i < drawn->count; i++)
        if ((last == FW_NONE || set_is_before(drawn, words, last, i)) &&
            (next == FW_NONE || set_is_before(drawn, words, i, next)))
            next = i;
    return next;
}

/* Makes an answer of what was drawn; false with an error. */
static bool answer_make(struct followers *f, uint32_t router, uint32_t *answer)
{
    const struct drawn *drawn = &f->drawn;
    uint32_t sum, at = FW_NONE;
    *answer = f->answer_count;
    if (!drawn_weights(drawn, &sum))
        return errors_add(f->errors,
                          "--routes: at router %u \"%s\" draws ways to terminal %u by chances that no weights up to %u "
                          "give",
                          router, f->routing->ops->name, f->destination, MOST_WEIGHT);
    answer_add(f, drawn->count);
    while ((at = drawn_next(drawn, f->routing->words, at)) != FW_NONE) {
        answer_add(f, (answer_number)llround(drawn->chances[at] * sum));
        if (!answer_add_set(f, drawn->sets + (size_t)at * f->routing->words))
            return errors_add(f->errors, "--routes: at router %u \"%s\" %s, which lines of a file cannot say", router,
                              f->routing->ops->name,
                              bits_any(drawn->sets + (size_t)at * f->routing->words, f->routing->words)
                                  ? "tells the channels of a terminal apart"
                                  : arena_format(f->errors->arena, "has no way to terminal %u", f->destination));
    }
    return true;
}

/* ---- following ---- */

static struct route follow_question(struct followers *f, struct packet *packet, uint32_t router, uint32_t lane,
                                    struct decisions *decisions)
{
    bits_clear(f->vcs, f->routing->words);
    return (struct route){.routing = f->routing,
                          .packet = packet,
                          .router = router,
                          .input_lane = lane,
                          .decisions = decisions,
                          .vcs = f->vcs};
}

static void follow_into(struct followers *f, const struct followed *next)
{
    const struct table_key key = {{(uint64_t)next->router << 32 | next->waypoint,
                                   (uint64_t)next->route << 32 | (uint64_t)next->hops << 16 | next->port, next->vcs}};
    bool *is_known = table_put(&f->known, &key);
    if (*is_known)
        return;
    *is_known = true;
    f->queue = memory_grow(f->queue, f->queue_count, &f->queue_room, sizeof *f->queue);
    f->queue[f->queue_count++] = *next;
}

/* All places that an answer leads to. */
static void follow_answer_on(struct followers *f, uint32_t router, const struct packet *packet)
{
    const struct routing *routing = f->routing;
    for (uint32_t port = 0; port < routing->topology->ports; port++) {
        uint64_t vcs = bits_word(f->vcs, (routing->local_ports + port) * routing->num_vcs, routing->num_vcs);
        struct router_port peer;
        if (!vcs || !routing->topology->ops->peer(routing->topology, router, port, &peer))
            continue;
        struct followed next = {.router = peer.router,
                                .waypoint = packet->waypoint,
                                .route = packet->route,
                                .hops = (uint16_t)(packet->hops + 1),
                                .port = (uint16_t)peer.port};
        while (vcs) {
            next.vcs = routing->is_by_input_vc ? bit((uint32_t)lowest_bit(vcs)) : vcs;
            vcs &= ~next.vcs;
            follow_into(f, &next);
        }
    }
}

/* Asks at a router, with all that may be drawn there, each as likely as `chance` has it. */
static void follow_ask(struct followers *f, uint32_t router, const struct packet *packet, uint32_t lane, double chance)
{
    struct decisions decisions = {0};
    do {
        struct packet moved = *packet;
        struct route route = follow_question(f, &moved, router, lane, &decisions);
        f->routing->route(&route);
        drawn_add(f, chance * decisions_chance(&decisions));
        follow_answer_on(f, router, &moved);
    } while (decisions_next(&decisions));
    f->is_by_flow |= decisions.is_of_flow;
}

static struct packet packet_to(const struct followers *f, uint32_t source)
{
    return (struct packet){.source = source,
                           .destination = f->destination,
                           .destination_router = f->destination_router,
                           .size = 1,
                           .message = FW_NONE,
                           .next = FW_NONE};
}

static void tell_seen(struct followers *f, const struct told *told)
{
    f->seen.items = memory_grow(f->seen.items, f->seen.count, &f->seen.room, sizeof *f->seen.items);
    f->seen.items[f->seen.count++] = *told;
}

/* From one terminal. What is drawn as it starts and at its first router is one draw. */
static bool follow_from(struct followers *f, uint32_t router, uint32_t source, uint32_t *answer)
{
    struct decisions decisions = {0};
    f->drawn.count = 0;
    do {
        struct packet packet = packet_to(f, source);
        struct route route = follow_question(f, &packet, router, 0, &decisions);
        if (f->routing->inject)
            f->routing->inject(&route);
        follow_ask(f, router, &packet, 0, decisions_chance(&decisions));
    } while (decisions_next(&decisions));
    return answer_make(f, router, answer);
}

/* From all terminals of a router, which have to fare alike. */
static bool follow_from_router(struct followers *f, uint32_t router)
{
    uint32_t first = FW_NONE, before = f->answer_count;
    for (uint32_t i = f->first_at[router]; i < f->first_at[router + 1]; i++) {
        uint32_t answer;
        if (!follow_from(f, router, f->terminals_at[i], &answer))
            return false;
        if (first == FW_NONE) {
            first = answer, before = f->answer_count;
            continue;
        }
        if (!answers_are_one(f->answers + first, f->answers + answer))
            return errors_add(
                f->errors,
                "--routes: at router %u \"%s\" goes by the source: terminal %u has other ways to terminal "
                "%u than terminal %u, which a table cannot tell",
                router, f->routing->ops->name, f->terminals_at[i], f->destination,
                f->terminals_at[f->first_at[router]]);
        f->answer_count = before;
    }
    if (first != FW_NONE)
        tell_seen(f, &(struct told){.router = router, .is_at_node = true, .answer = first, .port = ROUTE_PORT_ANY});
    return true;
}

/* One packet that has come by a channel. */
static bool follow_on(struct followers *f, const struct followed *at)
{
    const struct routing *routing = f->routing;
    struct packet packet = packet_to(f, f->destination);
    uint32_t lane = (routing->local_ports + at->port) * routing->num_vcs + (uint32_t)lowest_bit(at->vcs), answer;
    packet.waypoint = at->waypoint;
    packet.route = at->route;
    packet.hops = at->hops;
    f->drawn.count = 0;
    follow_ask(f, at->router, &packet, lane, 1);
    if (!answer_make(f, at->router, &answer))
        return false;
    tell_seen(f, &(struct told){.router = at->router, .port = at->port, .vcs = at->vcs, .answer = answer});
    return true;
}

/* ---- lines ---- */

static bool are_one(const struct followers *f, const struct told *a, const struct told *b)
{
    return answers_are_one(f->answers + a->answer, f->answers + b->answer);
}

static void tell_line(struct followers *f, const struct told *line)
{
    f->lines.items = memory_grow(f->lines.items, f->lines.count, &f->lines.room, sizeof *f->lines.items);
    f->lines.items[f->lines.count++] = *line;
}

/* What all that came in a VC, by one port or any, were answered; false where they were not answered alike. */
static bool answer_in_vc(const struct followers *f, const struct told *seen, uint32_t count, uint32_t port, uint32_t vc,
                         const struct told **answered)
{
    *answered = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (seen[i].is_at_node || !(seen[i].vcs >> vc & 1) || (port != ROUTE_PORT_ANY && seen[i].port != port))
            continue;
        if (*answered && !are_one(f, *answered, &seen[i]))
            return false;
        *answered = &seen[i];
    }
    return true;
}

/* Lines for the VCs that packets come in by a port or any; false where those do not tell them apart. */
static bool tell_by_vc(struct followers *f, const struct told *seen, uint32_t count, uint32_t port)
{
    uint32_t before = f->lines.count;
    for (uint32_t vc = 0; vc < f->routing->vcs; vc++) {
        const struct told *answered;
        if (!answer_in_vc(f, seen, count, port, vc, &answered)) {
            f->lines.count = before;
            return false;
        }
        uint32_t line = before;
        while (answered && line < f->lines.count && !are_one(f, answered, &f->lines.items[line]))
            line++;
        if (answered && line < f->lines.count) {
            f->lines.items[line].vcs |= bit(vc);
        } else if (answered) {
            struct told told = *answered;
            told.vcs = bit(vc);
            told.port = (uint16_t)port;
            told.from = port == ROUTE_PORT_ANY ? FROM_VC_OR_NODE : FROM_PORT_AND_VC;
            tell_line(f, &told);
        }
    }
    return true;
}

static bool tell_by_port(struct followers *f, const struct told *seen, uint32_t count)
{
    for (uint32_t port = 0; port < f->routing->topology->ports; port++)
        if (!tell_by_vc(f, seen, count, port))
            return false;
    return true;
}

/* Packets that leave the network at once, by any VC, need no line. */
static bool is_plain_exit(const struct followers *f, const struct told *told)
{
    const answer_number *answer = f->answers + told->answer;
    return told->router == f->destination_router && answer[0] == 1 && answer[2] == 1 && answer[3] == ROUTE_PORT_NODE &&
           answer[4] == bits_range(0, f->routing->vcs);
}

/* The lines about one router. */
static bool tell_router(struct followers *f, const struct told *seen, uint32_t count)
{
    uint32_t same = 0;
    while (same < count && are_one(f, seen, &seen[same]))
        same++;
    if (same == count) {
        struct told line = *seen;
        line.from = FROM_ANYWHERE;
        line.vcs = 0;
        line.port = ROUTE_PORT_ANY;
        line.is_at_node = false;
        if (!is_plain_exit(f, seen))
            tell_line(f, &line);
        return true;
    }
    for (uint32_t i = 0; i < count; i++)
        if (seen[i].is_at_node) {
            struct told line = seen[i];
            line.from = FROM_VC_OR_NODE;
            tell_line(f, &line);
        }
    return tell_by_vc(f, seen, count, ROUTE_PORT_ANY) || tell_by_port(f, seen, count) ||
           errors_add(
               f->errors,
               "--routes: at router %u \"%s\" sends packets to terminal %u by other ways than others that came by "
               "the same port and VC: it goes by what they carry, which a table cannot tell",
               seen->router, f->routing->ops->name, f->destination);
}

static int told_by_router(const void *left, const void *right)
{
    const struct told *a = left, *b = right;
    if (a->router != b->router)
        return a->router < b->router ? -1 : 1;
    if (a->is_at_node != b->is_at_node)
        return a->is_at_node ? -1 : 1;
    if (a->port != b->port)
        return a->port < b->port ? -1 : 1;
    if (a->vcs != b->vcs)
        return a->vcs < b->vcs ? -1 : 1;
    return a->answer < b->answer ? -1 : a->answer > b->answer;
}

static bool tell_routers(struct followers *f)
{
    const struct told *at = f->seen.items, *end = at + f->seen.count, *next;
    qsort(f->seen.items, f->seen.count, sizeof *f->seen.items, told_by_router);
    for (; at < end; at = next) {
        for (next = at + 1; next < end && next->router == at->router;)
            next++;
        if (!tell_router(f, at, (uint32_t)(next - at)))
            return false;
    }
    return true;
}

/* ---- the whole ---- */

bool followers_tell(struct followers *f, uint32_t terminal)
{
    bool is_good = true;
    f->destination = terminal;
    f->destination_router = topology_ejects_at(f->routing->topology, terminal);
    f->seen.count = f->queue_count = 0;
    table_init(&f->known, sizeof(bool), NULL);
    for (uint32_t router = 0; router < f->routing->topology->routers && is_good; router++)
        is_good = follow_from_router(f, router);
    for (uint32_t i = 0; i < f->queue_count && is_good; i++) {
        const struct followed at = f->queue[i]; /* the queue moves as it grows */
        is_good = at.hops < UINT16_MAX - 1 ? follow_on(f, &at)
                                           : errors_add(f->errors, "--routes: \"%s\" has endless ways to terminal %u",
                                                        f->routing->ops->name, terminal);
    }
    table_release(&f->known);
    return is_good && tell_routers(f);
}

void followers_init(struct followers *f, const struct routing *routing, struct arena *arena, struct errors *errors)
{
    const struct topology *topology = routing->topology;
    *f = (struct followers){.routing = routing, .errors = errors, .vcs = arena_array(arena, uint64_t, routing->words)};
    f->first_at = arena_array(arena, uint32_t, topology->routers + 2);
    f->terminals_at = arena_array(arena, uint32_t, topology->terminals);
    uint32_t *end = f->first_at + 1; /* one place on while it is filled */
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        end[topology_router_of(topology, terminal) + 1]++;
    for (uint32_t router = 0; router < topology->routers; router++)
        end[router + 1] += end[router];
    for (uint32_t terminal = 0; terminal < topology->terminals; terminal++)
        f->terminals_at[end[topology_router_of(topology, terminal)]++] = terminal;
}

void followers_clear(struct followers *f) { f->lines.count = f->answer_count = 0; }

void followers_release(struct followers *f)
{
    free(f->queue);
    free(f->seen.items);
    free(f->lines.items);
    free(f->answers);
    free(f->drawn.sets);
    free(f->drawn.chances);
}
