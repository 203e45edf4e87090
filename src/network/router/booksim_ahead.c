/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual channels by the output that packets take behind a channel: the VCs are shared out among the outputs of the
 * router there, so that packets for one do not wait behind those for another. Routing is asked one router ahead.
 */
#include "network/router/booksim.h"

uint32_t booksim_look_ahead(const struct network *network, const struct route *question, uint32_t packet,
                            uint32_t router, uint32_t vc, uint64_t *answer)
{
    struct packet ahead = *network_packet(network, packet);
    struct route asked = *question;
    bits_clear(answer, question->routing->words);
    asked.packet = &ahead;
    asked.router = router;
    asked.vcs = answer;
    asked.input_lane = vc == FW_NONE ? 0 : vc;
    if (vc != FW_NONE) {
        ahead.hops++;
    } else if (asked.routing->inject) { /* it is not in the network yet */
        asked.draws = INJECTION_DRAWS;
        asked.routing->inject(&asked);
    }
    asked.draws = 0;
    asked.routing->route(&asked);
    return bits_next_cyclic(answer, question->routing->words, 0);
}

uint64_t booksim_vcs_for_output(const struct booksim *q, uint64_t vcs, uint32_t router, uint32_t ahead)
{
    const struct booksim_router *r = &q->each[router];
    uint32_t first = (uint32_t)lowest_bit(vcs), each = (uint32_t)__builtin_popcountll(vcs) / r->ports.out_count;
    return each ? bits_range(first + r->ports.out_number[ahead / q->num_vcs] * each, each) : vcs;
}

void booksim_keep_vcs_for_output(struct booksim *q, struct booksim_router *r, struct booksim_lane *lane)
{
    uint32_t output = bits_next_cyclic(lane->wants, q->words, 0), port = output / q->num_vcs, ahead = output;
    const struct link *link = network_link(q->network, r->number, port);
    const uint64_t *range = lane->wants;
    uint64_t answer[MAX_ROUTER_WORDS];
    uint32_t router = r->number;
    if (link->to_terminal && lane->buffer.back_kind != EVENT_CREDIT)
        return; /* from a terminal of this router to another: as routing says */
    if (!link->to_terminal) {
        router = link->target;
        ahead = booksim_look_ahead(q->network, &q->question, lane_buffer_front(&lane->buffer, q->ring_mask).packet,
                                   router, output % q->num_vcs, answer);
        range = answer;
    }
    uint64_t vcs = bits_word(range, ahead / q->num_vcs * q->num_vcs, q->num_vcs);
    bits_clear(lane->wants, q->words);
    bits_add_word(lane->wants, port * q->num_vcs, booksim_vcs_for_output(q, vcs, router, ahead));
}
