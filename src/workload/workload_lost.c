/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that failures at a time have cost: the terminal that has sent one sends it again when nothing has come of it for
 * so long, so many times, and then gives it up. All ranks keep the same list; the terminal's own acts.
 */
#include "workload/workload.h"

#include "base/pool.h"
#include "network/failures/outages.h"

#include <stdlib.h>

struct lost_packet {
    struct loss loss;
    tick_t due; /* is sent again at the first grid point from then on */
};

struct workload_losses {
    struct losses found;         /* at a grid point */
    struct lost_packet *waiting; /* owned: in the order in which they were lost */
    uint32_t waiting_count, waiting_room;
    bool has_acted;        /* at the last grid point */
    struct table tries;    /* by source and sequence: how often it was sent again */
    struct table messages; /* by source and number: those of which something was given up */
    struct loss_counts counts;
};

static struct outages *outages_of(const struct workload *workload) { return workload->network->core->outages; }

void workload_losses_init(struct workload *workload)
{
    if (!outages_of(workload))
        return;
    struct workload_losses *losses = workload->losses = arena_array(workload->arena, struct workload_losses, 1);
    table_init(&losses->tries, sizeof(uint32_t), NULL);
    table_init(&losses->messages, sizeof(uint32_t), NULL);
}

void workload_losses_release(struct workload *workload)
{
    struct workload_losses *losses = workload->losses;
    if (!losses)
        return;
    free(losses->found.items);
    free(losses->waiting);
    table_release(&losses->tries);
    table_release(&losses->messages);
}

const struct loss_counts *workload_loss_counts(const struct workload *workload)
{
    return workload->losses ? &workload->losses->counts : NULL;
}

static void give_up(struct workload *workload, const struct loss *loss)
{
    struct workload_losses *losses = workload->losses;
    const struct packet *packet = &loss->packet;
    uint32_t number = packet->message == FW_NONE ? packet->sequence : loss->message.number;
    uint32_t *packets = table_put(&losses->messages, &(struct table_key){{packet->source, number}});
    struct workload_part *part;
    losses->counts.lost_messages += *packets == 0;
    losses->counts.given_up++;
    ++*packets;
    if (!workload_part_at(workload, packet->source, &part))
        return;
    struct measurement *measurement = &part->measurements[packet->application];
    measurement->sampled_lost += packet->sampled;
}

/* Sent once more, after so long, if it may be. */
static void wait_or_give_up(struct workload *workload, const struct loss *loss, tick_t since, tick_t now)
{
    struct workload_losses *losses = workload->losses;
    const struct failures *failures = workload->network->core->failures;
    uint32_t *tries = table_put(&losses->tries, &(struct table_key){{loss->packet.source, loss->packet.sequence}});
    if (!failures->resend_after || *tries >= failures->resends || workload->phase == PHASE_DRAINING) {
        give_up(workload, loss);
        return;
    }
    ++*tries;
    tick_t due = since + failures->resend_after;
    losses->waiting =
        memory_grow(losses->waiting, losses->waiting_count, &losses->waiting_room, sizeof *losses->waiting);
    losses->waiting[losses->waiting_count++] = (struct lost_packet){*loss, due > now ? due : now};
}

/* As it was made, by its old name, so that it counts once. */
static void send_again(struct workload *workload, const struct loss *loss)
{
    struct workload_part *part;
    workload->losses->counts.resent++;
    if (!workload_part_at(workload, loss->packet.source, &part))
        return;
    struct network *network = part->network;
    uint32_t handle = pool_take(&network->packets, sizeof(struct packet));
    struct packet *packet = network_packet(network, handle);
    *packet = loss->packet;
    packet->injected = 0;
    packet->received = packet->head_delay = packet->waypoint = packet->route = 0;
    packet->hops = 0;
    packet->next = FW_NONE;
    if (packet->message != FW_NONE) {
        packet->message = pool_take(&part->messages, sizeof(struct message));
        *part_message(part, packet->message) = loss->message;
        part_message(part, packet->message)->packets_here = 1;
    }
    if (network->trace_out && packet->source == workload->trace_source &&
        packet->sequence == workload->trace_sequence) {
        network->traced = handle;
        network_trace(network, network->engine->now, FW_NONE, "send_again", "terminal %u puts it into its queue",
                      packet->source);
    }
    network->core->interface_ops->enqueue(network->core->interfaces, handle);
}

/* Those that are due; whose terminal is cut off waits once more. */
static void send_due(struct workload *workload, tick_t now)
{
    struct workload_losses *losses = workload->losses;
    uint32_t count = losses->waiting_count, left = 0;
    struct lost_packet *due = memory_take(sizeof *due * (count + 1));
    uint32_t due_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (losses->waiting[i].due <= now)
            due[due_count++] = losses->waiting[i];
        else
            losses->waiting[left++] = losses->waiting[i];
    losses->waiting_count = left;
    for (uint32_t i = 0; i < due_count; i++)
        if (network_joins(workload->network, due[i].loss.packet.source, due[i].loss.packet.destination))
            send_again(workload, &due[i].loss);
        else
            wait_or_give_up(workload, &due[i].loss, now, now);
    free(due);
}

void workload_lose(struct workload *workload, tick_t now)
{
    struct workload_losses *losses = workload->losses;
    if (!losses)
        return;
    losses->found.count = 0;
    outages_apply(outages_of(workload), now, &losses->found);
    for (uint32_t i = 0; i < losses->found.count; i++) {
        const struct loss *loss = &losses->found.items[i];
        bool has_entered = loss->found + loss->received > 0;
        losses->counts.lost_packets++;
        losses->counts.lost_flits += loss->found;
        wait_or_give_up(workload, loss, has_entered ? loss->packet.injected : now, now);
    }
    uint32_t waiting = losses->waiting_count;
    send_due(workload, now);
    losses->has_acted = losses->found.count || losses->waiting_count != waiting;
}

bool workload_waits_for_lost(const struct workload *workload)
{
    const struct workload_losses *losses = workload->losses;
    bool is_waiting = false;
    for (uint32_t i = 0; i < workload->count; i++)
        is_waiting |= workload->applications[i].window.errand && workload->applications[i].window.left;
    return losses && losses->counts.given_up && !losses->has_acted && is_waiting &&
           workload->phase == PHASE_GENERATING && !workload->totals.in_flight &&
           workload_next_loss(workload) == FW_NEVER && network_next(workload->network) == FW_NEVER;
}

void workload_give_up_lost(struct workload *workload)
{
    struct workload_losses *losses = workload->losses;
    for (uint32_t i = 0; losses && i < losses->waiting_count; i++)
        give_up(workload, &losses->waiting[i].loss);
    if (losses)
        losses->waiting_count = 0;
}

bool workload_sends_again(const struct workload *workload, uint32_t source, uint32_t sequence)
{
    const struct workload_losses *losses = workload->losses;
    for (uint32_t i = 0; losses && i < losses->waiting_count; i++)
        if (losses->waiting[i].loss.name == ((uint64_t)source << 32 | sequence))
            return true;
    return false;
}

tick_t workload_next_loss(const struct workload *workload)
{
    const struct workload_losses *losses = workload->losses;
    tick_t next = losses ? outages_next(outages_of(workload)) : FW_NEVER;
    for (uint32_t i = 0; losses && i < losses->waiting_count; i++)
        next = losses->waiting[i].due < next ? losses->waiting[i].due : next;
    return next;
}
