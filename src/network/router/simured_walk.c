/* SPDX-License-Identifier: Apache-2.0 */
/* The walk along the list of packets, see simured_walk.h; in the order in which a flit meets its parts. */
#include "network/router/simured_walk.h"

#include "flitwarp/interface.h"

#define COLOUR_DRAWS 3 /* that SimuRed makes for each packet, to paint it */

/* ---- slots ---- */

static struct walk_buffer *buffer_of(const struct walk *walk, const struct slot *slot)
{
    return &walk->buffers[slot->buffer];
}

static enum stage stage_of(const struct walk *walk, const struct slot *slot)
{
    return slot->is_last ? buffer_of(walk, slot)->stage : PLAIN;
}

/* The slot before, across a channel or a router too. */
static uint32_t next_slot(const struct walk *walk, uint32_t at)
{
    const struct slot *slot = &walk->slots[at];
    return slot->is_last ? buffer_of(walk, slot)->next : at + 1;
}

/* ---- turns of the virtual channels that share a channel ---- */

static uint16_t *turn_at(const struct simured *q, uint32_t place) { return &q->walk->turn[place / q->num_vcs]; }

static bool has_turn(const struct simured *q, uint32_t place) { return *turn_at(q, place) == place % q->num_vcs; }

/* The next VC after the one in turn that has a flit there, and, if need be, room at the far end; else it keeps the turn. */
static void pass_turn(const struct simured *q, uint32_t place, bool needs_room, tick_t now)
{
    const struct walk *walk = q->walk;
    uint32_t first = place - place % q->num_vcs, turn = *turn_at(q, place);
    for (uint32_t i = 1; i < q->num_vcs; i++) {
        uint32_t other = first + (turn + i) % q->num_vcs, at = last_slot(walk, other, true);
        if (!walk->slots[at].is_busy || (needs_room && walk->slots[next_slot(walk, at)].is_busy))
            continue;
        walk->handed_at[other] = now;
        walk->handed_at[place] = FW_NEVER;
        *turn_at(q, place) = (uint16_t)(other - first);
        return;
    }
}

/* A flit has come to a channel: where no other VC has one there, it has the turn at once. */
static void join_turns(const struct simured *q, uint32_t place)
{
    const struct walk *walk = q->walk;
    uint32_t first = place - place % q->num_vcs;
    walk->handed_at[place] = FW_NEVER;
    for (uint32_t other = first; other < first + q->num_vcs; other++)
        if (other != place && walk->slots[last_slot(walk, other, true)].is_busy)
            return;
    *turn_at(q, place) = (uint16_t)(place - first);
}

/* ---- moving ---- */

static void leave_slot(const struct simured *q, uint32_t at, bool is_tail, tick_t now)
{
    const struct walk *walk = q->walk;
    struct slot *slot = &walk->slots[at];
    struct walk_buffer *buffer = buffer_of(walk, slot);
    enum stage stage = stage_of(walk, slot);
    slot->is_busy = false;
    if (stage == CHANNEL && walk->shares)
        pass_turn(q, buffer->place, false, now);
    if (!is_tail)
        return;
    slot->owner = FW_NONE;
    if (buffer->stage != CROSSPOINT && at == slot->buffer * walk->length)
        buffer->prev = NO_SLOT; /* the output is free */
    if (stage == CROSSPOINT)
        buffer->next = NO_SLOT;
}

/* With forwarding, a flit goes on as far as slots of the buffer are free. Returns where it stays. */
static uint32_t enter_slot(const struct simured *q, const struct mover *mover, uint32_t flit, uint32_t at, tick_t now)
{
    const struct walk *walk = q->walk;
    for (;; at++) {
        struct slot *slot = &walk->slots[at];
        enum stage stage = stage_of(walk, slot);
        slot->is_busy = true;
        slot->owner = mover->packet;
        slot->elapsed = stage == CROSSPOINT && flit == 0 ? -walk->switching : 0;
        if (stage == CHANNEL && walk->shares)
            join_turns(q, buffer_of(walk, slot)->place);
        if (slot->is_last || !walk->forwards || !slot_has_room(slot + 1, mover->packet))
            return at;
        leave_slot(q, at, flit + 1 == mover->size, now);
    }
}

/* A flit on a channel that VCs share: time passes only while its VC has the turn, and not in the cycle in which it got it. */
static void wait_for_turn(const struct simured *q, struct slot *slot, tick_t now)
{
    struct walk *walk = q->walk;
    uint32_t place = buffer_of(walk, slot)->place;
    if (walk->handed_at[place] != now && has_turn(q, place))
        return;
    walk->handed_at[place] = FW_NEVER;
    slot->elapsed--;
}

static void find_output(struct simured *q, const struct mover *mover, uint32_t at, tick_t now)
{
    const struct walk *walk = q->walk;
    struct walk_buffer *buffer = buffer_of(walk, &walk->slots[at]);
    uint32_t router = buffer->place / q->lanes;
    buffer->next = walk_route(q, router, network_packet(q->network, mover->packet)->destination_router);
    if (buffer->next == NO_SLOT)
        return;
    struct walk_buffer *output = buffer_of(walk, &walk->slots[buffer->next]);
    output->prev = at;
    if (network_is_traced(q->network, mover->packet))
        network_trace(q->network, now, router, "grant", "port %u vc %u", output->place % q->lanes / q->num_vcs,
                      output->place % q->num_vcs);
}

/* A head that could go but for those before it begins its wait anew; one without an output, also with setting the switch. */
static void hold_head(const struct walk *walk, struct slot *slot, int32_t delay, uint32_t next)
{
    if (next == NO_SLOT)
        slot->elapsed = -walk->switching;
    else if (slot->elapsed >= delay && (walk->slots[next].is_busy || walk->slots[next].owner != FW_NONE))
        slot->elapsed = 0;
}

/* A flit leaves a stage for good: what others count of it. */
static void count_flit(struct simured *q, const struct mover *mover, uint32_t flit, const struct walk_buffer *buffer,
                       enum stage stage, tick_t now)
{
    static const char *const names[STAGES] = {[CROSSPOINT] = "cross", [CHANNEL] = "leave", [EJECTION] = "leave"};
    uint32_t router = buffer->place / q->lanes, lane = buffer->place % q->lanes;
    if (stage == CROSSPOINT)
        q->flit_hops++;
    else
        q->walk->flits[buffer->place]++;
    if (stage == CHANNEL && flit == 0)
        network_packet(q->network, mover->packet)->hops++;
    if (network_is_traced(q->network, mover->packet))
        network_trace(q->network, now, router, names[stage], "flit %u, port %u vc %u", flit, lane / q->num_vcs,
                      lane % q->num_vcs);
    if (stage == EJECTION) {
        const struct packet *packet = network_packet(q->network, mover->packet);
        const struct link *link = network_link(q->network, router, lane / q->num_vcs);
        send_flit(q->network, EVENT_TERMINAL_FLIT, link_lane(link, 0), transfer_unit(packet, mover->packet, flit, 1),
                  now + 1);
    }
}

/* The turn of a flit in the walk. Returns the slot where it is then; NO_SLOT: it has arrived. */
static uint32_t visit_flit(struct simured *q, const struct mover *mover, uint32_t flit, uint32_t at, tick_t now)
{
    struct walk *walk = q->walk;
    struct slot *slot = &walk->slots[at];
    struct walk_buffer *buffer = buffer_of(walk, slot);
    enum stage stage = stage_of(walk, slot);
    bool is_shared = stage == CHANNEL && walk->shares, is_leaving = stage == EJECTION;
    slot->elapsed++;
    if (is_shared)
        wait_for_turn(q, slot, now);
    if (stage == CROSSPOINT && buffer->next == NO_SLOT)
        find_output(q, mover, at, now);
    uint32_t next = next_slot(walk, at);
    if (is_shared && walk->slots[next].is_busy && has_turn(q, buffer->place))
        pass_turn(q, buffer->place, true, now);
    if (flit == 0 && !is_leaving)
        hold_head(walk, slot, walk->delay[stage], next);
    if (slot->elapsed < walk->delay[stage] || (is_shared && !has_turn(q, buffer->place)) ||
        (!is_leaving && (next == NO_SLOT || !slot_has_room(&walk->slots[next], mover->packet))))
        return at;
    walk->stood = 0;
    if (stage != PLAIN)
        count_flit(q, mover, flit, buffer, stage, now);
    leave_slot(q, at, flit + 1 == mover->size, now);
    return is_leaving ? NO_SLOT : enter_slot(q, mover, flit, next, now);
}

/* ---- entering the network ---- */

/* The first injection channel whose buffer a packet can begin in. */
static uint32_t find_entry(const struct simured *q, uint32_t router)
{
    const struct walk *walk = q->walk;
    for (uint32_t channel = 0; channel < walk->injection; channel++) {
        uint32_t at = first_slot(walk, router * q->lanes + channel * q->num_vcs, false);
        if (slot_has_room(&walk->slots[at], FW_NONE))
            return at;
    }
    return NO_SLOT;
}

/* The next flit of a packet leaves its source, if there is room. What enters in a cycle has entered at its end. */
static bool send_flit_in(struct simured *q, struct mover *mover, tick_t now)
{
    struct walk *walk = q->walk;
    struct network *network = q->network;
    struct packet *packet = network_packet(network, mover->packet);
    uint32_t router = packet->source;
    if (mover->sent == 0) {
        mover->entry = find_entry(q, router);
        if (mover->entry == NO_SLOT)
            return false;
        walk->waiting[router]--;
        interface_begin(network, packet, router, now + 1);
    } else if (!slot_has_room(&walk->slots[mover->entry], mover->packet)) {
        return false;
    }
    uint32_t flit = mover->sent++, lane = buffer_of(walk, &walk->slots[mover->entry])->place % q->lanes;
    uint32_t at = enter_slot(q, mover, flit, mover->entry, now);
    if (flit == mover->delivered)
        mover->front = at;
    if (network->is_watched)
        network->listener.enter(network->listener.context, now + 1, packet,
                                (struct lane_place){.target = router, .lane = lane}, 1);
    if (network_is_traced(network, mover->packet))
        network_trace(network, now + 1, FW_NONE, "inject", "flit %u by channel %u", flit, lane / q->num_vcs);
    walk->stood = 0;
    return true;
}

/* ---- the walk ---- */

/* All flits of a packet have their turn. Returns whether it has arrived. */
static bool move_packet(struct simured *q, struct mover *mover, tick_t now)
{
    uint32_t at = mover->front, sent = mover->sent;
    for (uint32_t flit = mover->delivered; flit < sent; flit++) {
        uint32_t to = visit_flit(q, mover, flit, at, now);
        if (to == NO_SLOT)
            mover->delivered = flit + 1;
        else if (flit == mover->delivered)
            mover->front = to;
        if (flit + 1 < sent)
            do
                at = walk_prev(q->walk, at);
            while (!q->walk->slots[at].is_busy);
    }
    while (mover->sent < mover->size && send_flit_in(q, mover, now))
        ;
    return mover->delivered == mover->size;
}

/* Packets join the list, router by router, as far as each may have so many there that have not begun. */
static void lengthen_list(const struct simured *q)
{
    struct walk *walk = q->walk;
    BITS_EACH(router, walk->sources, words_for(q->network->topology.routers)) {
        while (walk->waiting[router] < walk->injection + 6) {
            uint32_t packet = network_next_packet(q->network, (uint32_t)router);
            if (packet == FW_NONE) {
                bits_remove(walk->sources, (uint32_t)router);
                break;
            }
            walk->movers[walk->count++] = (struct mover){
                .packet = packet, .size = network_packet(q->network, packet)->size, .front = NO_SLOT, .entry = NO_SLOT};
            walk->waiting[router]++;
        }
    }
}

void walk_hear(const struct simured *q, const struct step_event *events, uint32_t count, tick_t now)
{
    for (uint32_t i = 0; i < count; i++)
        bits_add(q->walk->sources, events[i].target);
    q->walk->made += count;
    network_wake(q->engine, EVENT_OUTPUT_STEP, 0, &q->walk->walk_at, now);
}

void simured_walk(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct simured *q = routers;
    struct walk *walk = q->walk;
    uint32_t left = 0;
    (void)events, (void)count;
    if (walk->walk_at != now)
        return;
    walk->walk_at = FW_NEVER;
    for (uint32_t draws = COLOUR_DRAWS * walk->made; draws; draws--)
        gnu_random_next(&walk->random);
    walk->made = 0;
    walk->stood++;
    lengthen_list(q);
    for (uint32_t i = 0; i < walk->count; i++)
        if (!move_packet(q, &walk->movers[i], now))
            walk->movers[left++] = walk->movers[i];
    walk->count = left;
    if (left && walk->stood <= walk->patience) /* else it is a deadlock */
        network_wake(q->engine, EVENT_OUTPUT_STEP, 0, &walk->walk_at, now + 1);
}
