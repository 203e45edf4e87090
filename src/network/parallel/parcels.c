/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of a network send each other, see exchange.h: flits and credits as
 * parcels, in a box for each receiver. Thread 0 of a rank carries boxes to other ranks.
 */
#include "network/deadlock/deadlock.h"
#include "base/pool.h"
#include "network/failures/retries.h"
#include "network/parallel/exchange.h"

#include <string.h>

/* A flit, a credit or credits under way. What is said below follows: a head's packet last, and what belongs to that if it
   has a message. */
struct parcel {
    tick_t when;
    uint32_t target;
    uint16_t lane;
    uint8_t kind;
    uint8_t words; /* of 8 bytes: the parcel with all that follows */
};
enum {
    CREDIT_WORDS = sizeof(struct parcel) / 8,
    CREDITS_WORDS = CREDIT_WORDS + 1, /* with their number */
    FLIT_WORDS = CREDIT_WORDS + 1,    /* with its place in the packet */
    HEAD_WORDS = FLIT_WORDS + sizeof(struct packet) / 8,
    MESSAGE_WORDS = HEAD_WORDS + BELONGINGS / 8,
};
_Static_assert(BELONGINGS % 8 == 0, "parcels are made of words");

/* The packet that the flits on a lane belong to. */
static uint32_t *arriving_at(const struct network *network, uint32_t kind, struct lane_place to)
{
    const struct exchange *exchange = network->core->exchange;
    if (kind == EVENT_TERMINAL_FLIT)
        return &exchange->terminal_arriving[(size_t)to.target * (recovery_lane(network) + 1) + to.lane];
    return &exchange->arriving[(size_t)to.target * network->ports * network->num_vcs + to.lane];
}

/* A parcel of so many words; the first two are filled. */
static inline uint64_t *box_take(struct network *network, uint32_t receiver, uint32_t kind, struct lane_place to,
                                 tick_t when, uint32_t words)
{
    struct exchange *exchange = network->core->exchange;
    uint64_t *place = words_take(exchange_box(network, exchange->parity, receiver), words);
    *(struct parcel *)place = (struct parcel){
        .when = when, .target = to.target, .lane = (uint16_t)to.lane, .kind = (uint8_t)kind, .words = (uint8_t)words};
    exchange->sent++;
    exchange->soonest = when < exchange->soonest ? when : exchange->soonest;
    return place;
}

void network_export_credits(struct network *network, uint32_t kind, struct lane_place to, uint32_t flits,
                            tick_t arrival)
{
    uint32_t receiver = (kind == EVENT_CREDIT ? network->router_part : network->terminal_part)[to.target];
    uint64_t *place = box_take(network, receiver, kind, to, arrival, flits ? CREDITS_WORDS : CREDIT_WORDS);
    if (flits)
        place[CREDIT_WORDS] = flits;
}

static void post_flit(struct network *network, uint32_t kind, struct lane_place to, struct flit flit, tick_t arrival)
{
    struct flit_event *event = engine_post(network->engine, kind, arrival, sizeof *event);
    *event = (struct flit_event){.to = to, .flit = flit};
}

void network_export_flit(struct network *network, uint32_t kind, struct lane_place to, struct flit flit, tick_t arrival)
{
    if (network->retries)
        arrival = network_arrival(network, kind, to, flit, arrival);
    if (!network->router_part || !network_is_elsewhere(network, kind, to)) {
        post_flit(network, kind, to, flit, arrival);
        return;
    }
    uint32_t receiver = (kind == EVENT_FLIT ? network->router_part : network->terminal_part)[to.target];
    const struct packet *packet = network_packet(network, flit.packet);
    uint32_t words = !(flit.place & FLIT_HEAD) ? FLIT_WORDS : packet->message == FW_NONE ? HEAD_WORDS : MESSAGE_WORDS;
    uint64_t *place = box_take(network, receiver, kind, to, arrival, words);
    place[CREDIT_WORDS] = flit.place;
    if (flit.place & FLIT_HEAD)
        memcpy(place + FLIT_WORDS, packet, sizeof *packet);
    if (words == MESSAGE_WORDS)
        network->core->client.pack(network->listener.context, packet, place + HEAD_WORDS);
    if (flit.place & FLIT_TAIL)
        pool_give(&network->packets, flit.packet, sizeof(struct packet));
}

/* A packet's head has come with a copy of it. */
static uint32_t import_packet(struct network *network, const uint64_t *words)
{
    uint32_t handle = pool_take(&network->packets, sizeof(struct packet));
    struct packet *packet = network_packet(network, handle);
    memcpy(packet, words, sizeof *packet);
    if (packet->message != FW_NONE)
        network->core->client.unpack(network->listener.context, packet, words + sizeof *packet / 8);
    return handle;
}

/* Sends on within the part what has come from another. */
static void import_parcel(struct network *network, const uint64_t *words)
{
    const struct parcel *parcel = (const struct parcel *)words;
    struct lane_place to = {.target = parcel->target, .lane = parcel->lane};
    if (parcel->kind == EVENT_FLIT || parcel->kind == EVENT_TERMINAL_FLIT) {
        uint32_t *packet = arriving_at(network, parcel->kind, to), place = (uint32_t)words[CREDIT_WORDS];
        if (place & FLIT_HEAD)
            *packet = import_packet(network, words + FLIT_WORDS);
        post_flit(network, parcel->kind, to, (struct flit){*packet, place}, parcel->when);
    } else if (parcel->words == CREDITS_WORDS) {
        send_credits(network, parcel->kind, to, (uint32_t)words[CREDIT_WORDS], parcel->when);
    } else {
        send_credit(network, parcel->kind, to, parcel->when);
    }
}

static void import_parcels(struct network *network, const uint64_t *words, size_t used)
{
    for (size_t at = 0; at < used; at += ((const struct parcel *)(words + at))->words)
        import_parcel(network, words + at);
}

void network_import(struct network *network, uint32_t parity)
{
    const struct schedule *schedule = network->core->exchange->schedule;
    for (uint32_t sender = 0; sender < network->core->part_count; sender++) {
        struct words *box = exchange_box(network->core->parts[sender], parity, network->part);
        import_parcels(network, box->words, box->count);
        box->count = 0;
    }
    for (uint32_t rank = 0; schedule->ranks && rank < schedule->ranks->count; rank++) {
        const struct inbox *inbox =
            &schedule->inbox[rank * schedule->count + network->part - network->core->first_part];
        import_parcels(network, inbox->words, inbox->used);
    }
}

/* ---- from rank to rank ---- */

static void swap_words(struct words *a, struct words *b)
{
    struct words kept = *a;
    *a = *b;
    *b = kept;
}

/* What is in a box goes to the end of a rank's mail; the first one becomes it, which spares a copy. */
static void empty_box(struct words *out, struct words *box)
{
    if (!out->count) {
        swap_words(out, box);
        return;
    }
    words_add(out, box->words, box->count);
    box->count = 0;
}

/*
 * What goes to a rank are the boxes, by receiver, and then a word for each of its parts, the length of what is for that
 * part. Nothing at all goes to a rank for which there is nothing.
 */
static void empty_boxes(struct schedule *schedule, uint32_t parity, uint32_t rank)
{
    struct words *out = &schedule->mail.out[rank];
    uint32_t first = first_part(rank, schedule->all_parts, schedule->ranks->count);
    uint32_t end = first_part(rank + 1, schedule->all_parts, schedule->ranks->count);
    schedule->lengths.count = 0;
    for (uint32_t receiver = first; receiver < end; receiver++) {
        size_t before = out->count;
        for (uint32_t i = 0; i < schedule->count; i++)
            empty_box(out, exchange_box(schedule->parts[i], parity, receiver));
        *words_take(&schedule->lengths, 1) = out->count - before;
    }
    if (out->count)
        words_add(out, schedule->lengths.words, schedule->lengths.count);
}

static void find_inboxes(struct schedule *schedule, uint32_t rank)
{
    size_t count, at = 0;
    const uint64_t *words = mail_from(&schedule->mail, rank, &count);
    for (uint32_t i = 0; i < schedule->count; i++) {
        struct inbox *inbox = &schedule->inbox[(size_t)rank * schedule->count + i];
        *inbox =
            count ? (struct inbox){.words = words + at, .used = words[count - schedule->count + i]} : (struct inbox){0};
        at += inbox->used;
    }
}

void exchange_with_ranks(struct schedule *schedule, uint32_t parity)
{
    const struct ranks *ranks = schedule->ranks;
    tick_t next = FW_NEVER;
    for (uint32_t i = 0; i < schedule->count; i++) {
        tick_t theirs = schedule->parts[i]->core->exchange->next[parity];
        next = theirs < next ? theirs : next;
    }
    for (uint32_t rank = 0; rank < ranks->count; rank++)
        if (rank != ranks->number)
            empty_boxes(schedule, parity, rank);
    mail_swap(&schedule->mail, &next);
    schedule->elsewhere = FW_NEVER;
    for (uint32_t rank = 0; rank < ranks->count; rank++) {
        uint32_t receiver = first_part(rank, schedule->all_parts, ranks->count);
        if (rank != ranks->number) /* its memory goes back to the box that it came from, and is touched but once */
            swap_words(&schedule->mail.out[rank], exchange_box(schedule->parts[0], parity, receiver));
        tick_t theirs = *mail_told(&schedule->mail, rank);
        schedule->elsewhere = theirs < schedule->elsewhere ? theirs : schedule->elsewhere;
        find_inboxes(schedule, rank);
    }
}
