/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. The parts of a packet router's block. What includes this knows struct packets already:
 * that of the program is in packet.h, a device has its own.
 */
#include "network/router/packet_state.h"

/* Of an output lane. */
static inline struct packet_place packet_place(const struct packets *q, uint32_t lane)
{
    uint32_t port = lane / q->num_vcs, vc = lane - port * q->num_vcs, port_at = q->ports_at + port * q->port_stride;
    size_t behind = sizeof(struct packet_port) + vc * sizeof(struct packet_output);
    return (struct packet_place){.output_at = port_at + (uint32_t)behind, .port_at = port_at, .vc = vc};
}

/* The program has a table of them. */
static inline struct packet_place place_of_lane(const struct packets *q, uint32_t lane)
{
#if FW_HOST
    return q->places[lane];
#else
    return packet_place(q, lane);
#endif
}

static inline FW_GLOBAL struct packet_head *packet_head(const struct packets *q, uint32_t router)
{
    return (FW_GLOBAL struct packet_head *)(FW_GLOBAL void *)(q->blocks + router * q->stride);
}

#define PACKET_PART(head, type, at) ((FW_GLOBAL type *)(FW_GLOBAL void *)((FW_GLOBAL unsigned char *)(head) + (at)))

static inline FW_GLOBAL struct packet_lane *packet_input(const struct packets *q, FW_GLOBAL struct packet_head *head,
                                                         uint32_t lane)
{
    return PACKET_PART(head, struct packet_lane, q->inputs_at + (size_t)lane * PACKET_LANE_STRIDE);
}

static inline FW_GLOBAL struct packet_output *packet_output(const struct packets *q, FW_GLOBAL struct packet_head *head,
                                                            uint32_t lane)
{
    return PACKET_PART(head, struct packet_output, place_of_lane(q, lane).output_at);
}

static inline FW_GLOBAL struct packet_port *packet_port(const struct packets *q, FW_GLOBAL struct packet_head *head,
                                                        uint32_t port)
{
    return PACKET_PART(head, struct packet_port, q->ports_at + (size_t)port * q->port_stride);
}

/* Input lanes that wait, the longest wait first. */
static inline FW_GLOBAL uint16_t *packet_waits(const struct packets *q, FW_GLOBAL struct packet_head *head)
{
    return PACKET_PART(head, uint16_t, q->waits_at);
}

/* By output lane: the input lane whose packet is passing in chunks, or NOBODY. */
static inline FW_GLOBAL uint16_t *packet_owners(const struct packets *q, FW_GLOBAL struct packet_head *head)
{
    return PACKET_PART(head, uint16_t, q->owners_at);
}

/* By output lane: packets that wait for room behind it, the longest wait first, where they queue by output. */
static inline FW_GLOBAL struct packet_queue *packet_lines(const struct packets *q, FW_GLOBAL struct packet_head *head)
{
    return PACKET_PART(head, struct packet_queue, q->lines_at);
}

/* In the router's memory. */
static inline FW_GLOBAL uint64_t *packet_set_at(FW_GLOBAL struct packet_head *head, enum packet_set set, uint32_t words)
{
    return PACKET_PART(head, uint64_t, sizeof(struct packet_head)) + set * words;
}

static inline FW_GLOBAL uint64_t *packet_wants_of(const struct packets *q, FW_GLOBAL const struct packet_head *head,
                                                  FW_GLOBAL struct packet_lane *input, uint32_t lane, uint32_t words)
{
    return words == 1 ? &input->wants : q->wants + ((size_t)head->number * q->lanes + lane) * words;
}
