/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Network interfaces: how terminals meet the network. They tell network->listener of all that enters and arrives. */
#include "flitwarp/router.h"
#include "flitwarp/selection.h"

/* Channels between a terminal and each plane: into the network, and out of it. */
struct rails {
    uint32_t injection, ejection;
};

struct interface_ops {
    COMPONENT_HEAD;
    struct rails (*rails)(const void *config);
    void *(*build)(struct network *network, const struct choice *self, struct errors *errors);
    void *(*share)(const void *interfaces, struct network *part); /* as a router's */
    event_handler *receive_flits;
    event_handler *receive_credits;
    event_handler *step;
    /* Puts a packet into the source queue of its terminal. */
    void (*enqueue)(void *interfaces, uint32_t packet);
    /* Removes packets of this part's terminals that have not begun to enter the network; returns how many. */
    uint64_t (*withdraw)(void *interfaces, void (*withdrawn)(void *context, uint32_t packet), void *context);
    /* As a router's: what a terminal has not sent yet of a packet that it sends, and gives up sending it. */
    struct piece (*find)(void *interfaces, uint32_t source, uint32_t sequence);
    void (*take_out)(void *interfaces, uint32_t packet, tick_t now);
    void (*check_idle)(void *interfaces);
};
#define REGISTER_INTERFACE(ops) REGISTER_COMPONENT("interface", ops)

/* Where there are several planes: gives a packet that its terminal is about to send its plane, by what waits there for each. */
uint32_t network_select_plane(const struct network *network, uint32_t packet, const struct plane_queue *queues);
