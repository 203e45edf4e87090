/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interface with a source queue for each virtual channel of its injection channels: a packet is
 * given its channel and VC when it is made, not when it enters. After SuperSim's (McDonald et al.,
 * ISPASS 2018), to the cycle without contention.
 *
 *   enqueue          a packet joins one of its terminal's queues: any, or one of the shortest
 *   step             of the VCs of a channel that have a flit and a credit one sends, by an arbiter
 *   receive_credits  there is room again behind a VC
 *   receive_flits    what arrives is consumed at once, and its credit goes back
 *
 * All happens by the clock of the terminals' channels. A packet that finds its queue empty is heard of at the next
 * edge; one that comes while the flit before it leaves, at this one.
 */
#include "flitwarp/arbiter.h"
#include "flitwarp/interface.h"

enum queue_choice { CHOOSE_ANY, CHOOSE_SHORTEST };
enum queue_room { ROOM_FOR_FLIT, ROOM_FOR_PACKET };
enum queue_lock { LOCK_NONE, LOCK_PACKET, LOCK_UNTIL_IDLE };

struct queue_per_vc_config {
    uint32_t injection_channels, ejection_channels;
    uint32_t latency; /* cycles */
    uint32_t choice;
    bool per_message;
    uint32_t room, lock;
    struct choice arbiter;
};

static const char *const choice_names[] = {"random", "shortest", NULL};
static const char *const room_names[] = {"flit", "packet", NULL};
static const char *const lock_names[] = {"none", "packet", "until_idle", NULL};

static const struct option queue_per_vc_options[] = {
    OPTION_U32(struct queue_per_vc_config, injection_channels, "1", 1, MAX_VCS, NULL,
               "channels from a terminal to its router"),
    OPTION_U32(struct queue_per_vc_config, ejection_channels, "1", 1, 64, NULL,
               "channels from a router to its terminal"),
    OPTION_U32(struct queue_per_vc_config, latency, "1", 0, 10000, "cycles of the channel",
               "from a queue to the channel"),
    OPTION_ENUM(struct queue_per_vc_config, choice, "\"random\"", choice_names,
                "the queue of a packet: any of its protocol class, or the one with the fewest flits"),
    OPTION_BOOL(struct queue_per_vc_config, per_message, "false", "all packets of a message take the same queue"),
    OPTION_ENUM(struct queue_per_vc_config, room, "\"flit\"", room_names, "what must have room before a head leaves"),
    OPTION_ENUM(struct queue_per_vc_config, lock, "\"none\"", lock_names,
                "how long a packet keeps its channel: not at all, to its tail, or while it can go on"),
    OPTION_CHOICE(struct queue_per_vc_config, arbiter, "arbiter", "\"round_robin\"",
                  "picks among a channel's virtual channels that can send"),
    OPTION_END,
};

/* Of one VC of one injection channel: the packet at the front may have sent some of its flits. */
struct queue {
    struct packet_queue packets;
    uint32_t position; /* next flit of the first */
    uint32_t flits;    /* of all of them, that have not left */
    uint32_t credits;
    uint32_t unused;
    tick_t heard_at; /* when its first flit may ask */
    tick_t sent_at;  /* when one left last */
};

struct outlet {
    tick_t step_at;
    struct lane_place entry, exit; /* VC 0 of the first channel each way, at the router */
    tick_t latency;                /* of the channels */
    uint32_t depth;                /* of the buffer of each VC at the router */
    uint32_t message, chosen;      /* the last one that packets were of, and their queue */
    tick_t made;                   /* when it was made: its handle may be given to another one later */
    struct queue *queues;          /* by channel * num_vcs + vc */
    uint32_t *lock;                /* by channel: the VC that alone may send; FW_NONE: any */
    struct random random;
};

struct queue_per_vc {
    INTERFACES_HEAD;
    struct queue_per_vc_config config;
    const struct arbiter_ops *arbiter;
    size_t arbiter_bytes;
    unsigned char *arbiters; /* by terminal * channels + channel */
    uint32_t channels, num_vcs;
    tick_t cycle;
    struct outlet *outlets; /* by terminal */
};

static struct rails queue_per_vc_rails(const void *config)
{
    const struct queue_per_vc_config *c = config;
    return (struct rails){.injection = c->injection_channels, .ejection = c->ejection_channels};
}

static void outlet_init(struct queue_per_vc *all, uint32_t number)
{
    const struct network *network = all->network;
    struct arena *arena = network->arena;
    struct outlet *outlet = &all->outlets[number];
    *outlet = (struct outlet){
        .step_at = FW_NEVER,
        .entry = network_entry(network, 0, number),
        .exit = network_exit(network, 0, number),
        .message = FW_NONE,
        .queues = arena_array(arena, struct queue, (size_t)all->channels * all->num_vcs),
        .lock = arena_array(arena, uint32_t, all->channels),
        .random = random_stream(network->seed, number, RANDOM_SOURCE),
    };
    const struct link *link = network_link(network, outlet->entry.target, outlet->entry.lane / all->num_vcs);
    outlet->latency = link->latency;
    outlet->depth = link->depth;
    for (uint32_t i = 0; i < all->channels * all->num_vcs; i++)
        outlet->queues[i] = (struct queue){.packets = EMPTY_QUEUE, .credits = link->depth, .sent_at = FW_NEVER};
    for (uint32_t channel = 0; channel < all->channels; channel++) {
        outlet->lock[channel] = FW_NONE;
        arbiter_init(all->arbiter, all->arbiters + (number * all->channels + channel) * all->arbiter_bytes,
                     all->config.arbiter.config, all->num_vcs);
    }
}

static void queue_per_vc_build(void *interfaces, const void *config)
{
    struct queue_per_vc *all = interfaces;
    const struct network *network = all->network;
    uint32_t count = network->topology.terminals;
    all->config = *(const struct queue_per_vc_config *)config;
    if (network->plan.reserves_packet)
        all->config.room = ROOM_FOR_PACKET;
    all->arbiter = CHOICE_OPS(&all->config.arbiter, struct arbiter_ops);
    all->channels = network->injection_channels;
    all->num_vcs = network->num_vcs;
    all->cycle = network->terminal_cycle;
    all->arbiter_bytes = (arbiter_state_size(all->arbiter, all->config.arbiter.config, all->num_vcs) + 7) / 8 * 8;
    all->arbiters = arena_take(network->arena, all->arbiter_bytes * count * all->channels);
    all->outlets = arena_array(network->arena, struct outlet, count);
    for (uint32_t number = network->first_terminal; number < network->end_terminal; number++)
        outlet_init(all, number);
}

/* At `when`, or at the next edge of the clock. */
static void outlet_wake(struct queue_per_vc *all, uint32_t number, tick_t when)
{
    network_wake(all->engine, EVENT_INTERFACE_STEP, number, &all->outlets[number].step_at, next_edge(when, all->cycle));
}

/* ---- packets come ---- */

/* What a queue holds as a new packet sees it: a flit counts until the cycle after it was given its channel. */
static uint32_t flits_seen(const struct queue_per_vc *all, const struct queue *queue)
{
    bool is_leaving = queue->sent_at != FW_NEVER && queue->sent_at + all->cycle >= all->engine->now;
    return all->config.choice == CHOOSE_SHORTEST ? queue->flits + is_leaving : 0;
}

/* One of the queues that a packet may take, each as likely as any other; with `shortest`, of those with the fewest flits. */
static uint32_t draw_queue(const struct queue_per_vc *all, struct outlet *outlet, const struct packet *packet)
{
    uint64_t allowed = interface_vcs(all->network, packet);
    uint32_t count = 0, least = UINT32_MAX, lanes = all->channels * all->num_vcs;
    uint16_t found[MAX_VCS * MAX_VCS]; /* of channels, there are no more than of VCs */
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t flits = flits_seen(all, &outlet->queues[i]);
        if (!(allowed >> i % all->num_vcs & 1) || flits > least)
            continue;
        count = flits < least ? 0 : count;
        least = flits;
        found[count++] = (uint16_t)i;
    }
    FW_CHECK(count > 0, "terminal %u: there is no virtual channel for packet %u", packet->source, packet->sequence);
    return found[count > 1 ? random_below(&outlet->random, count) : 0];
}

static uint32_t choose_queue(const struct queue_per_vc *all, struct outlet *outlet, const struct packet *packet)
{
    bool goes_along = all->config.per_message && packet->message != FW_NONE && packet->message == outlet->message &&
                      packet->created == outlet->made;
    outlet->message = packet->message;
    outlet->made = packet->created;
    return outlet->chosen = goes_along ? outlet->chosen : draw_queue(all, outlet, packet);
}

static void queue_per_vc_enqueue(void *interfaces, uint32_t handle)
{
    struct queue_per_vc *all = interfaces;
    const struct packet *packet = network_packet(all->network, handle);
    struct outlet *outlet = &all->outlets[packet->source];
    struct queue *queue = &outlet->queues[choose_queue(all, outlet, packet)];
    tick_t now = all->engine->now;
    if (queue->packets.first == FW_NONE) {
        bool goes_on = queue->sent_at != FW_NEVER && queue->sent_at + all->cycle == now;
        queue->heard_at = goes_on ? now : (now / all->cycle + 1) * all->cycle;
        queue->position = 0;
        outlet_wake(all, packet->source, queue->heard_at);
    }
    packet_queue_put(all->network, &queue->packets, handle);
    queue->flits += packet->size;
}

/* ---- flits leave ---- */

static bool can_send(const struct queue_per_vc *all, const struct queue *queue, tick_t now)
{
    if (queue->packets.first == FW_NONE || queue->heard_at > now || !queue->credits)
        return false;
    return all->config.room == ROOM_FOR_FLIT || queue->position ||
           queue->credits >= network_room_for(all->network, network_packet(all->network, queue->packets.first)->size);
}

static void send(struct queue_per_vc *all, uint32_t number, uint32_t lane, tick_t now)
{
    struct network *network = all->network;
    struct outlet *outlet = &all->outlets[number];
    struct queue *queue = &outlet->queues[lane];
    struct packet *packet = network_packet(network, queue->packets.first);
    struct lane_place to = {.target = outlet->entry.target, .lane = outlet->entry.lane + lane};
    if (!queue->position)
        interface_begin(network, packet, outlet->entry.target, now);
    struct flit flit = transfer_unit(packet, queue->packets.first, queue->position++, 1);
    queue->credits--;
    queue->flits--;
    queue->sent_at = now;
    if (network->is_watched)
        network->listener.enter(network->listener.context, now, packet, to, 1);
    if (network_is_traced(network, flit.packet))
        network_trace(network, now, FW_NONE, "send", "flit %u by channel %u vc %u", flit.place & FLIT_POSITION,
                      lane / all->num_vcs, lane % all->num_vcs);
    send_flit(network, EVENT_FLIT, to, flit,
              now + all->config.latency * all->cycle + outlet->latency + network->plan.transfer.delay);
    if (all->config.lock != LOCK_NONE)
        outlet->lock[lane / all->num_vcs] = flit.place & FLIT_TAIL ? FW_NONE : lane % all->num_vcs;
    if (flit.place & FLIT_TAIL) {
        packet_queue_take(network, &queue->packets);
        queue->position = 0;
    }
}

/* Of one channel; true: somebody waits for its turn. */
static bool step_channel(struct queue_per_vc *all, uint32_t number, uint32_t channel, tick_t now)
{
    struct outlet *outlet = &all->outlets[number];
    const struct queue *queues = &outlet->queues[channel * all->num_vcs];
    uint64_t ready = 0, age[MAX_VCS];
    for (uint32_t vc = 0; vc < all->num_vcs; vc++) {
        ready |= can_send(all, &queues[vc], now) ? bit(vc) : 0;
        age[vc] =
            queues[vc].packets.first == FW_NONE ? 0 : network_packet(all->network, queues[vc].packets.first)->created;
    }
    uint64_t waiting = ready;
    uint32_t lock = outlet->lock[channel];
    if (lock != FW_NONE && (all->config.lock == LOCK_PACKET || (ready & bit(lock))))
        ready &= bit(lock);
    if (!ready)
        return false;
    void *memory = all->arbiters + (number * all->channels + channel) * all->arbiter_bytes;
    const struct arbitration arbitration = {
        .requests = &ready, .inputs = all->num_vcs, .words = 1, .age = age, .random = &outlet->random};
    uint32_t vc = all->arbiter->pick(memory, &arbitration);
    arbiter_served(all->arbiter, memory, all->num_vcs, vc);
    send(all, number, channel * all->num_vcs + vc, now);
    return queues[vc].packets.first != FW_NONE || (waiting & ~bit(vc));
}

static void queue_per_vc_step(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct queue_per_vc *all = interfaces;
    for (const struct step_event *event = events, *end = event + count; event < end; event++) {
        struct outlet *outlet = &all->outlets[event->target];
        if (outlet->step_at != now)
            continue;
        outlet->step_at = FW_NEVER;
        bool goes_on = false;
        for (uint32_t channel = 0; channel < all->channels; channel++)
            goes_on |= step_channel(all, event->target, channel, now);
        for (uint32_t i = 0; i < all->channels * all->num_vcs; i++) /* those that were not heard of yet */
            if (outlet->queues[i].packets.first != FW_NONE && outlet->queues[i].heard_at > now)
                outlet_wake(all, event->target, outlet->queues[i].heard_at);
        if (goes_on)
            outlet_wake(all, event->target, now + all->cycle);
    }
}

static void queue_per_vc_receive_credits(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct queue_per_vc *all = interfaces;
    for (const struct credit_event *event = events, *end = event + count; event < end; event++) {
        struct outlet *outlet = &all->outlets[event->to.target];
        FW_CHECK(outlet->queues[event->to.lane].credits < outlet->depth,
                 "tick %llu terminal %u lane %u: a credit too many", (unsigned long long)now, event->to.target,
                 event->to.lane);
        outlet->queues[event->to.lane].credits++;
        if (outlet->queues[event->to.lane].packets.first != FW_NONE)
            outlet_wake(all, event->to.target, now);
    }
}

static void queue_per_vc_receive_flits(void *interfaces, tick_t now, const void *events, uint32_t count)
{
    struct queue_per_vc *all = interfaces;
    for (const struct flit_event *event = events, *end = event + count; event < end; event++) {
        const struct outlet *outlet = &all->outlets[event->to.target];
        interface_consume(all->network, event, outlet->exit, outlet->latency, now);
    }
}

/* ---- at the end ---- */

/* Packets that have not begun to enter the network go back, so that a saturated run can end. */
static uint32_t queue_per_vc_withdraw(void *interfaces, uint32_t terminal)
{
    struct queue_per_vc *all = interfaces;
    struct outlet *outlet = &all->outlets[terminal];
    for (uint32_t i = 0; i < all->channels * all->num_vcs; i++) {
        struct queue *queue = &outlet->queues[i];
        uint32_t first = queue->packets.first;
        uint32_t *place = queue->position ? &network_packet(all->network, first)->next : &queue->packets.first;
        uint32_t handle = *place;
        if (handle == FW_NONE)
            continue;
        *place = network_packet(all->network, handle)->next;
        if (queue->packets.last == handle)
            queue->packets.last = first;
        queue->flits -= network_packet(all->network, handle)->size;
        return handle;
    }
    return FW_NONE;
}

static void queue_per_vc_check_idle(void *interfaces)
{
    const struct queue_per_vc *all = interfaces;
    for (uint32_t i = all->network->first_terminal; i < all->network->end_terminal; i++)
        for (uint32_t lane = 0; lane < all->channels * all->num_vcs; lane++)
            FW_CHECK(all->outlets[i].queues[lane].credits == all->outlets[i].depth,
                     "terminal %u lane %u: a credit is not back at the end", i, lane);
}

static const struct interface_ops queue_per_vc = {
    .name = "queue_per_vc",
    .summary = "a source queue for each virtual channel, which a packet is given when it is made, as SuperSim's",
    .options = queue_per_vc_options,
    .example = "{\"type\": \"queue_per_vc\", \"choice\": \"shortest\"}",
    .size = sizeof(struct queue_per_vc),
    .rails = queue_per_vc_rails,
    .check = interface_check_plain,
    .build = queue_per_vc_build,
    .receive_flits = queue_per_vc_receive_flits,
    .receive_credits = queue_per_vc_receive_credits,
    .step = queue_per_vc_step,
    .enqueue = queue_per_vc_enqueue,
    .withdraw = queue_per_vc_withdraw,
    .check_idle = queue_per_vc_check_idle,
};
REGISTER_INTERFACE(queue_per_vc);
