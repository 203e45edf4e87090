/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of messages, see steady.h. One random stream a rank serves all its draws. */
#include "flitwarp/steady.h"

static void prepare_size(struct size *size, const struct choice *choice, struct arena *arena, struct errors *errors)
{
    *size = (struct size){.ops = CHOICE_OPS(choice, struct size_ops), .config = choice->config};
    if (size->ops->prepare)
        size->ops->prepare(size, choice, arena, errors);
}

/* The application hears of its messages only when it answers them: others need no more than packets. */
static void prepare_replies(struct steady *steady, struct application *application, const struct steady_config *config,
                            struct errors *errors)
{
    application->listens = config->reply->component;
    if (!application->listens)
        return;
    application->transaction_messages = 2;
    application->receive_delay = (uint32_t)config->reply_delay;
    prepare_size(&steady->reply, config->reply, application->arena, errors);
}

bool steady_prepare(struct steady *steady, struct application *application, const struct steady_config *config,
                    struct errors *errors)
{
    uint32_t before = errors->count;
    const struct choice *self = application->choice;
    struct arena *arena = application->arena;
    traffic_init(&steady->traffic, config->traffic, &application->space, errors);
    prepare_size(&steady->size, config->size, arena, errors);
    prepare_replies(steady, application, config, errors);
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

uint32_t steady_max_message(const struct steady *steady)
{
    uint32_t request = steady->size.ops->max(&steady->size);
    uint32_t reply = steady->reply.ops ? steady->reply.ops->max(&steady->reply) : 0;
    return request > reply ? request : reply;
}

/* The size is drawn from a stream of the request's own, so that requests are the same with and without replies. */
void steady_answer(const struct steady *steady, struct application *application, const struct message *message)
{
    if (message->is_reply || application->phase == PHASE_DRAINING)
        return;
    uint64_t request = (uint64_t)message->initiator << 32 | message->transaction;
    struct random random = random_stream(application->seed, request, RANDOM_REPLY);
    application_reply(application, message, steady->reply.ops->draw(&steady->reply, &random));
}
