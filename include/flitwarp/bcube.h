/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Read by OpenCL too. Facts of a BCube, for routing that corrects digits: topology_bcube(). Servers come
 * first; digit l of a server is the port of its switch of level l, and its port l leads there.
 */
#include "flitwarp/both.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

#define BCUBE_LEVELS 16

struct bcube {
    uint32_t ports;                    /* of a switch: n */
    uint32_t levels;                   /* k + 1 */
    uint32_t servers;                  /* n^(k+1) */
    uint32_t row;                      /* switches of a level: n^k */
    uint32_t stride[BCUBE_LEVELS + 1]; /* n^l */
};

#if FW_HOST
/* NULL: it is none of this family. Who has asked once takes topology->facts. */
extern const char bcube_family[];
static inline const struct bcube *topology_bcube(const struct topology *topology)
{
    return topology->family == bcube_family ? topology->facts : NULL;
}
#endif

static inline uint32_t bcube_digit(FW_GLOBAL const struct bcube *bcube, uint32_t server, uint32_t level)
{
    return server / bcube->stride[level] % bcube->ports;
}

/* The switch of a server at a level, as the network counts routers. */
static inline uint32_t bcube_switch(FW_GLOBAL const struct bcube *bcube, uint32_t server, uint32_t level)
{
    uint32_t above = server / bcube->stride[level + 1], below = server % bcube->stride[level];
    return bcube->servers + level * bcube->row + above * bcube->stride[level] + below;
}

/* The server that a switch has at a port. */
static inline uint32_t bcube_server(FW_GLOBAL const struct bcube *bcube, uint32_t router, uint32_t port)
{
    uint32_t level = (router - bcube->servers) / bcube->row, place = (router - bcube->servers) % bcube->row;
    uint32_t above = place / bcube->stride[level], below = place % bcube->stride[level];
    return above * bcube->stride[level + 1] + port * bcube->stride[level] + below;
}
