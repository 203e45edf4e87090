/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster for AI: servers of GPUs, each GPU with channels to the switches of its server (scale-up)
 * and one to the network outside, in which a leaf switch hears of one rail alone: GPU 0 of its servers, or GPU 1 ...
 *
 *     spines          S0  S1              leaves of a rail: as many as its servers need; each
 *                    / |  | \             has a channel to every spine
 *     leaves       L0        L1
 *     (rails)     /  \      /  \
 *     GPUs       0    2    1    3         server 0 has GPUs 0 and 1, server 1 has 2 and 3
 *     switches   0 --W0--- 1    2 --W1--- 3
 *
 * It is a hierarchy (hierarchy.h), made from settings written out here. GPUs are terminals, each with a router of its own,
 * which stands for its ports and lets others' packets through.
 */
#include "network/topology/hierarchy.h"

#include "base/text.h"
#include "config/options.h"

#include <math.h>
#include <string.h>

#define MOST_PORTS 65535u /* of a folded_clos */

struct cluster_config {
    uint32_t servers, gpus, switches, rails, leaf_servers, spines;
    double taper;
    bool rail_only;
};

static const char *const cluster_channels[] = {"scale-up", "rail", "leaf-spine"};

static const struct option cluster_options[] = {
    OPTION_U32(struct cluster_config, servers, "4", 1, 65536, "servers", "servers, or other domains of scale-up"),
    OPTION_U32(struct cluster_config, gpus, "8", 1, 1024, "GPUs", "of a server: these are the terminals"),
    OPTION_U32(struct cluster_config, switches, "1", 0, 1024, "switches",
               "inside a server, each with a channel to each of its GPUs; 0: GPUs meet outside only"),
    OPTION_U32(struct cluster_config, rails, "null", 1, 1024, "rails",
               "GPU i is on rail i modulo these; null: each GPU of a server on its own"),
    OPTION_U32(struct cluster_config, leaf_servers, "null", 1, 65536, "servers",
               "whose GPUs of a rail share a leaf switch; null: all of them"),
    OPTION_U32(struct cluster_config, spines, "null", 1, 65536, "switches",
               "above the leaves; null: as many as taper says", NOT_WITH("rail_only")),
    OPTION_F64(struct cluster_config, taper, "1", 1e-3, 1e6, NULL, "channels down of a leaf for each channel up",
               NOT_WITH("spines")),
    OPTION_BOOL(struct cluster_config, rail_only, "false",
                "no spines: a rail is one leaf switch, and from rail to rail a packet goes inside a server"),
    OPTION_END,
};

/* What follows from the settings. */
struct cluster {
    uint32_t rails, rail_gpus; /* of a server on a rail */
    uint32_t leaf_servers, leaves, leaf_ports, spines;
};

static struct cluster cluster_sizes(const struct cluster_config *config)
{
    struct cluster cluster = {.rails = config->rails ? config->rails : config->gpus,
                              .leaf_servers = config->leaf_servers ? config->leaf_servers : config->servers};
    cluster.rail_gpus = config->gpus / cluster.rails;
    cluster.leaves = cluster.rails * (config->servers / cluster.leaf_servers);
    cluster.leaf_ports = cluster.leaf_servers * cluster.rail_gpus;
    cluster.spines = config->spines ? config->spines : (uint32_t)llround(cluster.leaf_ports / config->taper);
    return cluster;
}

/* ---- as a hierarchy ---- */

/* Gateways are a server's GPUs, those of a rail in a row. */
static void write_servers(struct text *text, const struct cluster_config *config, const struct cluster *cluster)
{
    text_addf(text,
              "\"inside\": [{\"type\": \"folded_clos\", \"down\": [1, %u], \"up\": [%u]}], \"copies\": [%u], "
              "\"in_a_row\": %u, \"gateways\": [[",
              config->gpus, config->switches, config->servers, cluster->rail_gpus);
    for (uint32_t i = 0; i < config->gpus; i++)
        text_addf(text, "%s%u", i ? ", " : "", i % cluster->rail_gpus * cluster->rails + i / cluster->rail_gpus);
    text_addf(text, "]]");
}

/* Servers without switches are GPUs that do not know each other, each of which hangs where its rail has a place for it. */
static void write_gpus(struct text *text, const struct cluster_config *config, const struct cluster *cluster)
{
    text_addf(text,
              "\"inside\": [{\"type\": \"single_router\", \"terminals\": 1}], \"copies\": [%u], \"gateways\": [[0]], "
              "\"hung_at\": [",
              config->servers * config->gpus);
    for (uint32_t gpu = 0; gpu < config->servers * config->gpus; gpu++) {
        uint32_t server = gpu / config->gpus, place = gpu % config->gpus;
        text_addf(text, "%s%u", gpu ? ", " : "",
                  (place % cluster->rails * config->servers + server) * cluster->rail_gpus + place / cluster->rails);
    }
    text_addf(text, "]");
}

/* NULL, with errors, where the settings are too large for one. */
static const struct choice *cluster_as_hierarchy(const struct cluster_config *config, struct arena *arena,
                                                 struct errors *errors)
{
    static const struct option row = {.key = "cluster", .type = OPTION_TYPE_CHOICE, .kind = "topology"};
    const struct cluster cluster = cluster_sizes(config);
    struct text text = {0};
    text_addf(&text, "{\"type\": \"hierarchy\", ");
    if (config->switches)
        write_servers(&text, config, &cluster);
    else
        write_gpus(&text, config, &cluster);
    if (config->rail_only)
        text_addf(&text, ", \"outside\": {\"type\": \"single_router\", \"terminals\": %u}, \"outside_copies\": %u}",
                  cluster.leaf_ports, cluster.rails);
    else
        text_addf(&text, ", \"outside\": {\"type\": \"folded_clos\", \"down\": [%u, %u], \"up\": [%u]}}",
                  cluster.leaf_ports, cluster.leaves, cluster.spines);
    struct config_reader reader = {.arena = arena, .errors = errors};
    struct choice *choice = arena_array(arena, struct choice, 1);
    bool is_read = choice_read(&reader, &row, json_from_word(arena, text.chars), choice);
    text_release(&text);
    return is_read ? choice : NULL;
}

/* What its levels refuse is refused in their words: there is no place in the configuration to point at. */
static void check_as_hierarchy(const struct choice *self, struct errors *errors)
{
    struct arena scratch = {0};
    struct errors inner = {.arena = &scratch};
    struct topology topology = {0};
    const struct choice *hierarchy = cluster_as_hierarchy(self->config, &scratch, &inner);
    if (!hierarchy || !hierarchy_make(&topology, hierarchy, &scratch, &inner)) {
        const char *why = errors_text(&inner);
        choice_error(errors, self, "servers", "the cluster is too large: %.*s", (int)strcspn(why, "\n"), why);
    }
    arena_release(&scratch);
}

static void cluster_check(const struct choice *self, struct errors *errors)
{
    const struct cluster_config *config = self->config;
    const struct cluster cluster = cluster_sizes(config);
    double spines = config->spines ? config->spines : cluster.leaf_ports / config->taper;
    if (config->gpus % cluster.rails)
        choice_error(errors, self, "rails", "%u GPUs cannot be shared evenly by %u rails", config->gpus, cluster.rails);
    else if (config->servers % cluster.leaf_servers)
        choice_error(errors, self, "leaf_servers", "%u servers cannot be shared evenly by leaves of %u",
                     config->servers, cluster.leaf_servers);
    else if (config->rail_only && cluster.leaf_servers != config->servers)
        choice_error(errors, self, "leaf_servers",
                     "with rail_only a rail is one leaf; accepted: null, or all of the %u servers", config->servers);
    else if (config->rail_only && cluster.rails > 1 && !config->switches)
        choice_error(errors, self, "switches", "0 with rail_only leaves rails without a way to each other");
    else if (!config->rail_only && !config->spines && (spines < 1 || spines != floor(spines)))
        choice_error(errors, self, "taper",
                     "the %u channels down of a leaf make %g channels up; accepted: a taper that makes a whole number",
                     cluster.leaf_ports, spines);
    else if (spines > MOST_PORTS || cluster.leaf_ports > MOST_PORTS || cluster.leaves > MOST_PORTS)
        choice_error(errors, self, "servers",
                     "leaves of %u ports down and %.6g up, of which there are %u; accepted: at most %u of each",
                     cluster.leaf_ports, spines, cluster.leaves, MOST_PORTS);
    else
        check_as_hierarchy(self, errors);
}

static void cluster_shape(const void *config, struct arena *arena, struct topology *topology)
{
    struct errors errors = {.arena = arena};
    const struct choice *choice = cluster_as_hierarchy(config, arena, &errors);
    FW_CHECK(choice, "the settings of the topology were right before");
    hierarchy_shape(choice->config, arena, topology);
    topology->channel_class_names = cluster_channels;
    topology->channel_classes = sizeof cluster_channels / sizeof *cluster_channels;
}

static const struct topology_ops cluster = {
    .name = "cluster",
    .summary = "servers of GPUs with switches inside, joined rail by rail by leaves and spines",
    .options = cluster_options,
    .example = "{\"type\": \"cluster\", \"servers\": 4, \"gpus\": 4, \"switches\": 2, \"taper\": 2}",
    .check = cluster_check,
    .shape = cluster_shape,
    .peer = hierarchy_peer,
    .router_of = hierarchy_router_of,
    .channel_class = hierarchy_channel_class,
};
REGISTER_TOPOLOGY(cluster);
