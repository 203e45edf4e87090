/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of messages, see steady.h. One random stream a rank serves all its draws. */
#include "flitwarp/steady.h"

bool steady_prepare(struct steady *steady, const struct application *application, const struct steady_config *config,
                    struct errors *errors)
{
    uint32_t before = errors->count;
    const struct choice *self = application->choice;
    struct arena *arena = application->arena;
    traffic_init(&steady->traffic, config->traffic, &application->space, errors);
    steady->size = (struct size){.ops = CHOICE_OPS(config->size, struct size_ops), .config = config->size->config};
    if (steady->size.ops->prepare)
        steady->size.ops->prepare(&steady->size, config->size, arena, errors);
    if (errors->count > before)
        return false;

    if (config->load > application->injection_channels)
        choice_error(errors, self, "load",
                     "%g flits a cycle are more than a terminal's %u injection channel%s can carry; "
                     "accepted: 0 to %u",
                     config->load, application->injection_channels, application->injection_channels == 1 ? "" : "s",
                     application->injection_channels);
    steady->silent = config->load <= 0;
    steady->injection = (struct injection){
        .ops = CHOICE_OPS(config->injection, struct injection_ops),
        .config = config->injection->config,
        .rate = config->load / steady->size.ops->mean(&steady->size),
    };
    const struct injection_ops *ops = steady->injection.ops;
    if (errors->count > before)
        return false;
    if (ops->max_rate > 0 && steady->injection.rate > ops->max_rate)
        choice_error(errors, self, "load",
                     "%g asks for %g messages a cycle at each terminal, but injection \"%s\" makes "
                     "at most %g",
                     config->load, steady->injection.rate, ops->name, ops->max_rate);
    else if (!steady->silent && ops->prepare)
        ops->prepare(&steady->injection, config->injection, errors);
    steady->random = arena_array(arena, struct random, application->ranks);
    steady->memory = arena_take(arena, ops->state_size * application->ranks + 1);
    for (uint32_t rank = 0; rank < application->ranks; rank++)
        steady->random[rank] = random_stream(application->seed, application->terminals[rank], RANDOM_INJECTION);
    return errors->count == before;
}
