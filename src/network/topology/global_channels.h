/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The channels between the groups of a dragonfly: what all topologies of the
 * family share. A topology describes its groups in a struct dragonfly (shape,
 * routers, hosts, first_gate, globals, groups, first_global, ports, and columns,
 * row_channels, column_channels of a grid); its settings are judged and the
 * topology is made by that.
 */
#include "flitwarp/dragonfly.h"

#define MAX_GROUP_ROUTERS 32768

/* The first member of the config struct of a topology with groups. */
struct global_config {
    uint32_t terminals; /* at each host */
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

/* A topology of the family. */
struct dragonfly_kind {
    struct topology_ops ops;
    /* All but groups and globals, which follow from the settings of the global channels. */
    struct dragonfly (*describe)(const void *config);
    const char *gates; /* the settings whose product is how many routers of a group have global channels */
    uint32_t channel_classes;
    const char *channel_class_names[3];
};

/* As topology_ops asks for them. */
void global_check(const struct choice *self, struct errors *errors);
void global_shape(const void *config, struct arena *arena, struct topology *topology);
uint32_t global_channel_class(const struct topology *topology, uint32_t router, uint32_t port);

/* Is this a port for a global channel? */
static inline bool is_global(const struct dragonfly *dragonfly, uint32_t router, uint32_t port)
{
    return port >= dragonfly->first_global && dragonfly_place(dragonfly, router) >= dragonfly->first_gate;
}
/* The other end of a global port; false: unused. */
bool global_peer(const struct dragonfly *dragonfly, uint32_t router, uint32_t port, struct router_port *peer);
