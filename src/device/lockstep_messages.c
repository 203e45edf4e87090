/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are more than a packet: who has them, and the text that makes their sizes and those of their answers. */
#include "device/lockstep.h"

#include "base/text.h"
#include "flitwarp/steady.h"

static const struct steady_config *config_of(const struct lockstep *l, uint32_t application)
{
    return l->workload->applications[application].config;
}

uint32_t lockstep_listener(const struct lockstep *l, uint32_t application)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i <= application; i++)
        number += l->workload->applications[i].listens;
    return l->workload->applications[application].listens ? number : 0;
}

bool lockstep_has_messages(const struct lockstep *l)
{
    for (uint32_t i = 0; i < l->workload->count; i++)
        if (l->workload->applications[i].max_message > l->workload->applications[i].plain_flits)
            return true;
    return false;
}

const struct choice *lockstep_reply_of(const struct lockstep *l, uint32_t application)
{
    const struct steady_config *config = config_of(l, application);
    return config->reply.component ? &config->reply : &config->size;
}

/* By application: its requests where they tell what answers they want, and its answers. */
static void add_functions(struct text *text, const struct lockstep *l)
{
    text_addf(text,
              "static inline uint32_t request_flits(uint32_t application, uint32_t kind, const struct size *size, "
              "struct random *random, uint32_t *tag)\n{\n    switch (application) {\n");
    for (uint32_t i = 0; i < l->workload->count; i++)
        if (config_of(l, i)->size.component->device.request)
            text_addf(text, "    case %u:\n        return %s(size, random, tag);\n", i,
                      config_of(l, i)->size.component->device.request);
    text_addf(text, "    }\n    return size_draw(kind, size, random);\n}\n");
    text_addf(text, "static inline uint32_t answer_flits(uint32_t application, const struct size *size, uint32_t tag, "
                    "struct random *random)\n{\n    switch (application) {\n");
    for (uint32_t i = 0; i < l->workload->count; i++) {
        const struct device_form *reply = &lockstep_reply_of(l, i)->component->device;
        if (l->workload->applications[i].listens && config_of(l, i)->reply.component)
            text_addf(text, "    case %u:\n        return %s(size, random);\n", i, reply->function);
        else if (l->workload->applications[i].listens)
            text_addf(text, "    case %u:\n        return %s(size, tag);\n", i, reply->reply);
    }
    text_addf(text, "    }\n    return 0;\n}\n");
}

bool lockstep_add_sizes(struct lockstep *l)
{
    struct text text = {0};
    for (uint32_t i = 0; i < l->workload->count; i++)
        if (!source_add_file(&l->source, lockstep_reply_of(l, i)->component->device.file))
            return false;
    add_functions(&text, l);
    source_add_text(&l->source, "messages", text.chars);
    text_release(&text);
    return true;
}
