/* SPDX-License-Identifier: Apache-2.0 */
/* The text that a run on a device is compiled of, which binds the kernels to the components of the run. */
#include "device/lockstep.h"

#include "base/text.h"
#include "config/options.h"
#include "config/registry.h"
#include "flitwarp/steady.h"
#include "network/router/input_queued.h"

#include <inttypes.h>
#include <stdlib.h>

/* A kind of component that sources call: where an application has its choice, and the function that calls the chosen one. */
struct form_kind {
    const char *name;
    size_t choice_at; /* in struct steady_config */
    const char *head, *arguments;
};
static const struct form_kind form_kinds[LOCKSTEP_FORMS] = {
    [FORMS_INJECTION] =
        {"injection", offsetof(struct steady_config, injection),
         "uint64_t injection_gap(uint32_t kind, const struct injection *injection, void *state, bool first, "
         "struct random *random)",
         "injection, state, first, random"},
    [FORMS_TRAFFIC] = {"traffic", offsetof(struct steady_config, traffic),
                       "uint32_t traffic_destination(uint32_t kind, const struct traffic *traffic, uint32_t source, "
                       "struct random *random)",
                       "traffic, source, random"},
    [FORMS_SIZE] = {"size", offsetof(struct steady_config, size),
                    "uint32_t size_draw(uint32_t kind, const struct size *size, struct random *random)",
                    "size, random"},
};

static const struct component *chosen(const struct lockstep *l, uint32_t application, const struct form_kind *kind)
{
    const char *config = l->workload->applications[application].config;
    return ((const struct choice *)(const void *)(config + kind->choice_at))->component;
}

/* A GPU compiles what the run needs alone; elsewhere, where that takes long beside short runs, one text serves all. */
static bool is_compiled(const struct lockstep *l, const struct form_kind *kind, const struct component *component)
{
    if (!device_facts(l->device)->is_gpu)
        return component_has_device_form(component);
    uint32_t i = 0;
    while (i < l->workload->count && chosen(l, i, kind) != component &&
           !(kind == &form_kinds[FORMS_SIZE] && lockstep_reply_of(l, i)->component == component))
        i++;
    return i < l->workload->count;
}

uint32_t lockstep_form_of(const struct lockstep *l, enum lockstep_forms forms, const struct component *component)
{
    const struct form_kind *kind = &form_kinds[forms];
    uint32_t number = 0;
    const struct registration *at = registry_kind(kind->name);
    for (; at->component != component; at = registry_next(at))
        number += is_compiled(l, kind, at->component);
    return number;
}

uint32_t lockstep_form(const struct lockstep *l, enum lockstep_forms forms, uint32_t application)
{
    return lockstep_form_of(l, forms, chosen(l, application, &form_kinds[forms]));
}

static bool add_form(struct lockstep *l, const struct component *component)
{
    return source_add_file(&l->source, component->device.file);
}

static bool add_forms(struct lockstep *l, const struct form_kind *kind)
{
    struct text text = {0};
    uint32_t next = 0;
    bool is_good = true;
    text_addf(&text, "static inline %s\n{\n    switch (kind) {\n", kind->head);
    for (const struct registration *at = registry_kind(kind->name); at && is_good; at = registry_next(at)) {
        if (!is_compiled(l, kind, at->component))
            continue;
        is_good = add_form(l, at->component);
        text_addf(&text, "    case %u:\n        return %s(%s);\n", next++, at->component->device.function,
                  kind->arguments);
    }
    text_addf(&text, "    }\n    return 0;\n}\n");
    source_add_text(&l->source, kind->name, text.chars);
    text_release(&text);
    return is_good;
}

/* Sizes of requests that tell what reply they want, and those of such replies: of those that have them. */
static void add_replies(struct lockstep *l)
{
    const struct form_kind *kind = &form_kinds[FORMS_SIZE];
    struct text requests = {0}, replies = {0};
    uint32_t number = 0;
    for (const struct registration *at = registry_kind(kind->name); at; at = registry_next(at)) {
        const struct device_form *form = &at->component->device;
        if (!is_compiled(l, kind, at->component))
            continue;
        if (form->reply) {
            text_addf(&requests, "    if (kind == %u)\n        return %s(size, random, tag);\n", number, form->request);
            text_addf(&replies, "    if (kind == %u)\n        return %s(size, tag);\n", number, form->reply);
        }
        number++;
    }
    struct text text = {0};
    text_addf(&text,
              "static inline uint32_t request_flits(uint32_t kind, const struct size *size, struct random *random, "
              "uint32_t *tag)\n{\n%s    return size_draw(kind, size, random);\n}\n"
              "static inline uint32_t reply_flits(uint32_t kind, const struct size *size, uint32_t tag)\n"
              "{\n%s    return 0;\n}\n",
              requests.length ? requests.chars : "", replies.length ? replies.chars : "");
    source_add_text(&l->source, "replies", text.chars);
    text_release(&requests);
    text_release(&replies);
    text_release(&text);
}

#define FACT_TEXT_(name) text_addf(&text, "#define FACT_" #name " %" PRIu64 "ul\n", l->facts.name);

bool lockstep_make_source(struct lockstep *l)
{
    const struct input_queued *q = l->network->core->routers;
    struct text text = {0};
    l->source = (struct device_source){.files = device_files, .errors = l->errors};
    if (!source_add_file(&l->source, "include/flitwarp/both.h"))
        return false;
    bool is_constant = device_facts(l->device)->is_gpu; /* there compiling is cheap beside the run */
    if (is_constant) {
        LOCKSTEP_FACTS(FACT_TEXT_)
    }
    text_addf(&text, "#define FACT(name) (%s)\n", is_constant ? "FACT_##name" : "m->facts->name");
    l->group = is_constant ? 64 : 16;
    l->is_one_kernel = is_constant;
    bool has_sensors = l->network->congestion; /* teams with them were not tried on a GPU */
    l->team = l->team                       ? l->team
              : !is_constant || has_sensors ? 1
              : l->facts.ports > 16         ? 16
              : l->facts.ports > 6          ? 8
                                            : 4;
    text_addf(&text, "#define TEAM %uu\n#define GROUP %uu\n#define SLOT_VC_BYTES %u\n#define PORTS_EACH %u\n%s",
              l->team, l->group, lockstep_slot_vc_bytes(l),
              (uint32_t)((is_constant ? l->facts.ports : WORD_BITS) + l->team - 1) / l->team,
              is_constant ? "#define ONE_KERNEL\n" : "");
    text_addf(&text, "#define WORDS %u\n%s", q->words, q->is_usual ? "#define USUAL_ROUTER\n" : "");
    source_add_text(&l->source, "settings", text.chars);
    text_release(&text);
    bool is_good = source_add_file(&l->source, "src/base/random.c") && lockstep_add_routing(l);
    for (uint32_t kind = 0; kind < LOCKSTEP_FORMS && is_good; kind++)
        is_good = add_forms(l, &form_kinds[kind]);
    add_replies(l);
    if (!is_good || !source_add_file(&l->source, "src/device/kernels.h"))
        return false;
    source_cut_messages(&l->source);
    return true;
}
