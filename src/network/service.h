/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Levels of service from the settings network.service; see flitwarp/service.h. */
#include "network/network.h"

extern const struct option service_options[];

/* Sets network->service from what is planned of the network: its VCs and router. False, with errors. */
bool service_plan(struct network *network, struct errors *errors);
/* The settings in the document, for errors. */
const struct json *service_node(const struct network *network);
