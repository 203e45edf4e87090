/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest neighbours by number: every rank exchanges with those up to some ranks before and behind it, going round. */
#include "flitwarp/motif.h"

struct nearest_neighbour_config {
    struct motif_rounds rounds;
    uint32_t reach;
    uint64_t bytes;
};

static const struct option nearest_neighbour_options[] = {
    OPTION_ROWS(struct nearest_neighbour_config, rounds, struct motif_rounds, motif_rounds_options),
    OPTION_U32(struct nearest_neighbour_config, reach, "1", 1, 1e6, NULL, "neighbours on each side"),
    OPTION_U64(struct nearest_neighbour_config, bytes, "4096", 0, MOTIF_MAX_BYTES, "bytes", "to each neighbour"),
    OPTION_END,
};

static void nearest_neighbour_prepare(struct motif *motif, struct errors *errors)
{
    const struct nearest_neighbour_config *config = motif->config;
    if (motif->ranks / 2 < config->reach)
        choice_error(errors, motif->choice, "reach", "%u on each side of %u ranks; accepted: 1 to %u", config->reach,
                     motif->ranks, motif->ranks / 2);
}

static void nearest_neighbour_program(const struct motif *motif, struct script *script)
{
    const struct nearest_neighbour_config *config = motif->config;
    uint32_t rank = script->rank, ranks = motif->ranks;
    for (uint32_t i = 0; i < config->rounds.iterations; i++) {
        script_compute(script, config->rounds.compute);
        for (uint32_t distance = 1; distance <= config->reach; distance++) {
            script_start_receive(script, (rank + ranks - distance) % ranks, config->bytes, 0);
            script_start_receive(script, (rank + distance) % ranks, config->bytes, 0);
        }
        for (uint32_t distance = 1; distance <= config->reach; distance++) {
            script_start_send(script, (rank + distance) % ranks, config->bytes, 0);
            script_start_send(script, (rank + ranks - distance) % ranks, config->bytes, 0);
        }
        script_wait(script);
    }
}

static const struct motif_ops nearest_neighbour = {
    .name = "nearest_neighbour",
    .summary = "exchange with the ranks before and behind by number",
    .options = nearest_neighbour_options,
    .example = "{\"type\": \"nearest_neighbour\", \"reach\": 2, \"bytes\": 4096}",
    .prepare = nearest_neighbour_prepare,
    .program = nearest_neighbour_program,
};
REGISTER_MOTIF(nearest_neighbour);
/* Copied by `flitwarp new`, with an example: workload.applications.0={"type": "trace", "motif": $} */
