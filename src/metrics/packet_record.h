/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. What a sampled packet adds to the digest of its application. */
#include "flitwarp/digest.h"
#include "flitwarp/packet.h"

#define PACKET_RECORD_WORDS 6

static inline void packet_record(struct digest *digest, FW_GLOBAL const struct packet *packet, tick_t now)
{
    const uint64_t record[PACKET_RECORD_WORDS] = {
        (uint64_t)packet->source << 32 | packet->destination,
        (uint64_t)packet->sequence << 32 | packet->size,
        (uint64_t)packet->application << 48 | (uint64_t)packet->hops << 32 | packet->head_delay,
        packet->created,
        packet->injected,
        now,
    };
    digest_add(digest, record, PACKET_RECORD_WORDS);
}
