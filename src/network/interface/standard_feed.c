/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that a terminal's processor hands over one after the other, a flit every `feed_cycle`: see struct feed. */
#include "network/interface/standard.h"

static void feed_later(struct interfaces *n, uint32_t terminal)
{
    struct step_event *event = engine_post(n->engine, EVENT_INTERFACE_STEP, n->feeds[terminal].free_at, sizeof *event);
    *event = (struct step_event){.target = first_feed(n) + terminal};
}

static void feed_packet(struct interfaces *n, struct feed *feed, uint32_t handle, tick_t now)
{
    feed->free_at = now + network_packet(n->network, handle)->size * n->config.feed_cycle;
    standard_hand_over(n, handle);
}

uint32_t standard_feed_take(const struct interfaces *n, struct feed *feed)
{
    uint32_t handle = feed->first;
    feed->first = network_packet(n->network, handle)->next;
    network_packet(n->network, handle)->next = NONE;
    return handle;
}

void standard_feed_step(struct interfaces *n, uint32_t terminal, tick_t now)
{
    struct feed *feed = &n->feeds[terminal];
    if (feed->first == NONE) /* withdrawn */
        return;
    feed_packet(n, feed, standard_feed_take(n, feed), now);
    if (feed->first != NONE)
        feed_later(n, terminal);
}

void standard_feed_add(struct interfaces *n, uint32_t handle)
{
    uint32_t terminal = network_packet(n->network, handle)->source;
    struct feed *feed = &n->feeds[terminal];
    if (feed->first != NONE) {
        network_packet(n->network, feed->last)->next = handle;
        feed->last = handle;
    } else if (feed->free_at <= n->engine->now) {
        feed_packet(n, feed, handle, n->engine->now);
    } else {
        feed->first = feed->last = handle;
        feed_later(n, terminal);
    }
}
