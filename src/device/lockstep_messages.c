/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are more than a packet, and answers: who has them. */
#include "device/lockstep.h"

#include "flitwarp/steady.h"

static const struct steady_config *config_of(const struct lockstep *l, uint32_t application)
{
    return l->workload->applications[application].config;
}

uint32_t lockstep_listener(const struct lockstep *l, uint32_t application)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i <= application; i++)
        number += l->workload->applications[i].listens;
    return l->workload->applications[application].listens ? number : 0;
}

bool lockstep_has_messages(const struct lockstep *l)
{
    for (uint32_t i = 0; i < l->workload->count; i++)
        if (l->workload->applications[i].max_message > l->workload->applications[i].plain_flits)
            return true;
    return false;
}

const struct choice *lockstep_reply_of(const struct lockstep *l, uint32_t application)
{
    const struct steady_config *config = config_of(l, application);
    return config->reply.component ? &config->reply : &config->size;
}
