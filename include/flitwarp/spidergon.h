/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Read by OpenCL too. The ports of a router of a spidergon, for routing that knows one: topology_is_spidergon(). */
#include "flitwarp/both.h"

#if FW_HOST
#include "flitwarp/topology.h"
#endif

enum spidergon_port { SPIDERGON_UP, SPIDERGON_DOWN, SPIDERGON_ACROSS, SPIDERGON_PORTS };

#if FW_HOST
extern const char spidergon_family[];
static inline bool topology_is_spidergon(const struct topology *topology)
{
    return topology->family == spidergon_family;
}
#endif
