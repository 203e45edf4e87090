/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Expectations of topologies: where a port leads. */
#include "test.h"

#include "routed.h"

static inline void expect_link(const struct topology *topology, uint32_t router, uint32_t port, uint32_t there,
                               uint32_t its_port)
{
    struct router_port peer = {FW_NONE, FW_NONE};
    EXPECT(topology->ops->peer(topology, router, port, &peer));
    EXPECT_EQ_U64(peer.router, there);
    EXPECT_EQ_U64(peer.port, its_port);
}

static inline void expect_unused(const struct topology *topology, uint32_t router, uint32_t port)
{
    struct router_port peer;
    EXPECT(!topology->ops->peer(topology, router, port, &peer));
}
