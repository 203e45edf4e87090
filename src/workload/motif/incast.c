/* SPDX-License-Identifier: Apache-2.0 */
/* Incast: a server asks all its clients at once and gets all their answers at once, then asks again. */
#include "flitwarp/motif.h"

struct incast_config {
    struct motif_rounds rounds;
    uint32_t servers;
    uint64_t request, bytes;
};

static const struct option incast_options[] = {
    OPTION_ROWS(struct incast_config, rounds, struct motif_rounds, motif_rounds_options),
    OPTION_U32(struct incast_config, servers, "1", 1, 1e9, NULL,
               "the first ranks; the others are their clients in turn"),
    OPTION_U64(struct incast_config, request, "64", 0, MOTIF_MAX_BYTES, "bytes", "to each client"),
    OPTION_U64(struct incast_config, bytes, "65536", 0, MOTIF_MAX_BYTES, "bytes", "of each answer"),
    OPTION_END,
};

static void incast_prepare(struct motif *motif, struct trace_builder *builder, struct errors *errors)
{
    const struct incast_config *config = motif->config;
    (void)builder;
    if (config->servers > motif->ranks / 2)
        choice_error(errors, motif->choice, "servers", "%u of %u ranks; accepted: 1 to %u, so that each has a client",
                     config->servers, motif->ranks, motif->ranks / 2);
}

static void incast_serve(const struct motif *motif, struct script *script)
{
    const struct incast_config *config = motif->config;
    for (uint32_t client = script->rank + config->servers; client < motif->ranks; client += config->servers)
        script_start_receive(script, client, config->bytes, 0);
    for (uint32_t client = script->rank + config->servers; client < motif->ranks; client += config->servers)
        script_start_send(script, client, config->request, 0);
    script_wait(script);
}

static void incast_program(const struct motif *motif, struct script *script)
{
    const struct incast_config *config = motif->config;
    uint32_t server = script->rank % config->servers;
    for (uint32_t i = 0; i < config->rounds.iterations; i++) {
        if (script->rank < config->servers) {
            script_compute(script, config->rounds.compute);
            incast_serve(motif, script);
        } else {
            script_receive(script, server, config->request, 0);
            script_send(script, server, config->bytes, 0);
        }
    }
}

static const struct motif_ops incast = {
    .name = "incast",
    .summary = "all clients answer their server at once",
    .options = incast_options,
    .example = "{\"type\": \"incast\", \"servers\": 2, \"bytes\": 32768, \"iterations\": 4}",
    .prepare = incast_prepare,
    .program = incast_program,
};
REGISTER_MOTIF(incast);
