/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The channels between the groups of a dragonfly: what all topologies of the
 * family share. A topology describes its groups in a struct dragonfly (shape,
 * routers, hosts, first_gate, globals, groups, first_global, ports, and columns,
 * row_channels, column_channels of a grid), has the description judged, and has
 * the topology made from it.
 */
#include "flitwarp/dragonfly.h"

#define MAX_GROUP_ROUTERS 32768

/* The first member of the config struct of a topology with groups. */
struct global_config {
    uint32_t global;
    uint32_t groups;
    uint32_t arrangement;
    const char *file;
};
extern const char *const arrangement_names[];

#define GLOBAL_OPTIONS(channels, global_help, groups_help)                                                             \
    OPTION_U32(struct global_config, global, channels, 1, 16384, "channels", global_help),                             \
        OPTION_U32(struct global_config, groups, "null", 2, 1 << 30, "groups", groups_help),                           \
        OPTION_ENUM(struct global_config, arrangement, "\"absolute\"", arrangement_names,                              \
                    "which group a global channel leads to: all in order; the next first; one up, one down, two up; "  \
                    "the one before first; or as a file says"),                                                        \
        OPTION_FILE(struct global_config, file, "null", "CSV lines router,router[,channels], a global channel each",   \
                    ONLY_WITH("arrangement=file"))

/* As many as were asked for, or else as `gates` routers with global channels in each group can join. */
uint32_t global_groups(const struct global_config *config, uint64_t gates);
/* Adds errors for what cannot be; `gates` are the settings whose product is how many routers have global channels. */
void global_check(const struct choice *self, struct dragonfly described, const char *gates, uint32_t host_terminals,
                  struct errors *errors);
/* Fills all of the topology but its channel classes; `host_terminals` hang on each host. */
void global_shape(struct topology *topology, struct dragonfly described, const struct global_config *config,
                  uint32_t host_terminals, struct arena *arena);
/* The other end of a global port; false: unused. */
bool global_peer(const struct dragonfly *dragonfly, uint32_t router, uint32_t port, struct router_port *peer);

/* Reads the channels from a file (global_file.c). False, with errors that name file and line, where that is no network. */
bool global_read(struct dragonfly *dragonfly, const char *path, struct arena *arena, const struct choice *self,
                 struct errors *errors);
