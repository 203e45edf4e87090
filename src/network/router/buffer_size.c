/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the settings that routers with a buffer for each VC of their inputs share. */
#include "network/router/buffer_size.h"

const struct option buffer_options[] = {
    OPTION_U32(struct buffer_config, num_vcs, "2", 1, 64, NULL, "virtual channels of each port"),
    OPTION_U32(struct buffer_config, buffer_depth, "8", 1, 32768, "flits",
               "input buffer of each virtual channel, at most"),
    OPTION_F64(struct buffer_config, buffer_per_latency, "0", 0, 32768, "flits",
               "input buffer for each cycle of latency of the channel that fills it; 0: all have buffer_depth"),
    OPTION_U32(struct buffer_config, buffer_min, "1", 1, 32768, "flits", "input buffer at least",
               ONLY_WITH("buffer_per_latency")),
    OPTION_END,
};
