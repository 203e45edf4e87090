/* SPDX-License-Identifier: Apache-2.0 */
/* The text that a run on a device is compiled of, which binds the kernels to the components of the run. */
#include "device/lockstep.h"

#include "base/text.h"
#include "config/options.h"
#include "config/registry.h"
#include "flitwarp/steady.h"

#include <inttypes.h>
#include <string.h>

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

static bool has_form(const struct lockstep *l, const struct form_kind *kind, const struct component *component)
{
    uint32_t i = 0;
    while (i < l->workload->count && chosen(l, i, kind) != component &&
           !(kind == &form_kinds[FORMS_SIZE] && lockstep_reply_of(l, i)->component == component))
        i++;
    return i < l->workload->count;
}

/* A GPU compiles what the runs need alone; elsewhere, where that takes long beside short runs, one text serves all. */
static bool is_compiled(const struct lockstep_pack *pack, const struct form_kind *kind,
                        const struct component *component)
{
    if (!device_facts(pack->device)->is_gpu)
        return component_has_device_form(component);
    uint32_t i = 0;
    while (i < pack->count && !has_form(pack->runs[i], kind, component))
        i++;
    return i < pack->count;
}

uint32_t lockstep_form_of(const struct lockstep_pack *pack, enum lockstep_forms forms,
                          const struct component *component)
{
    const struct form_kind *kind = &form_kinds[forms];
    uint32_t number = 0;
    const struct registration *at = registry_kind(kind->name);
    for (; at->component != component; at = registry_next(at))
        number += is_compiled(pack, kind, at->component);
    return number;
}

uint32_t lockstep_form(const struct lockstep *l, enum lockstep_forms forms, uint32_t application)
{
    return lockstep_form_of(l->pack, forms, chosen(l, application, &form_kinds[forms]));
}

static bool add_forms(struct lockstep_pack *pack, const struct form_kind *kind)
{
    struct text text = {0};
    uint32_t next = 0;
    bool is_good = true;
    text_addf(&text, "static inline %s\n{\n    switch (kind) {\n", kind->head);
    for (const struct registration *at = registry_kind(kind->name); at && is_good; at = registry_next(at)) {
        if (!is_compiled(pack, kind, at->component))
            continue;
        is_good = source_add_file(&pack->source, at->component->device.file);
        text_addf(&text, "    case %u:\n        return %s(%s);\n", next++, at->component->device.function,
                  kind->arguments);
    }
    text_addf(&text, "    }\n    return 0;\n}\n");
    source_add_text(&pack->source, kind->name, text.chars);
    text_release(&text);
    return is_good;
}

/* Sizes of requests that tell what reply they want, and those of such replies: of those that have them. */
static void add_replies(struct lockstep_pack *pack)
{
    const struct form_kind *kind = &form_kinds[FORMS_SIZE];
    struct text requests = {0}, replies = {0};
    uint32_t number = 0;
    for (const struct registration *at = registry_kind(kind->name); at; at = registry_next(at)) {
        const struct device_form *form = &at->component->device;
        if (!is_compiled(pack, kind, at->component))
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
    source_add_text(&pack->source, "replies", text.chars);
    text_release(&requests);
    text_release(&replies);
    text_release(&text);
}

/* ---- numbers ---- */

/* What all runs of a pack have alike a GPU has as a constant: compiling is cheap there beside the runs. */
static void add_number(const struct lockstep_pack *pack, struct text *text, const char *kind, const char *name,
                       size_t place, bool may_change)
{
    uint64_t first, other;
    memcpy(&first, (const char *)&pack->runs[0]->facts + place, sizeof first);
    for (uint32_t i = 1; i < pack->count && !may_change; i++) {
        memcpy(&other, (const char *)&pack->runs[i]->facts + place, sizeof other);
        may_change = other != first;
    }
    if (may_change)
        text_addf(text, "#define %s_%s (m->facts->%s)\n", kind, name, name);
    else
        text_addf(text, "#define %s_%s %" PRIu64 "ul\n", kind, name, first);
}

/* Memory that may be made wider while the runs go on. */
static bool is_widened(enum lockstep_buffer buffer)
{
    return buffer == BUFFER_HEARD || buffer == BUFFER_ANSWERS || buffer == BUFFER_SERIES || buffer == BUFFER_RATES ||
           buffer == BUFFER_ENTERED || buffer == BUFFER_LOG_RECORDS;
}

static void add_constants(const struct lockstep_pack *pack, struct text *text)
{
#define FACT_TEXT_(name) add_number(pack, text, "FACT", #name, offsetof(struct lockstep_facts, name), false);
    LOCKSTEP_FACTS(FACT_TEXT_)
#define EACH_TEXT_(name, type, member, what)                                                                           \
    if (is_widened(BUFFER_##name))                                                                                     \
        text_addf(text, "#define EACH_" #member " (facts[run].each_" #member ")\n");                                   \
    else                                                                                                               \
        text_addf(text, "#define EACH_" #member " %" PRIu64 "ul\n", pack->each[BUFFER_##name]);
    LOCKSTEP_BUFFERS(EACH_TEXT_)
    text_addf(text, "#define FACT(name) (FACT_##name)\n#define EACH(name) (EACH_##name)\n#define ONE_KERNEL\n");
}

#define ITEMS_AT_ONCE                                                                                                  \
    512u /* of a compute unit of NVIDIA's, with as many registers as they like: 128 of its 65,536 each */

/*
 * Where not all work-items are at work at once, more of them with fewer registers hide better how long memory takes: the usual
 * router's stages need no more, and the rest of what a terminal does waits for memory all the same.
 */
static uint32_t choose_registers(const struct lockstep_pack *pack)
{
    const struct lockstep_facts *f = &pack->runs[0]->facts;
    uint64_t items = (f->routers * pack->sharing.team + f->terminals) * pack->count;
    return items > (uint64_t)ITEMS_AT_ONCE * device_facts(pack->device)->compute_units ? 64 : 0;
}

#define MOST_COUNTING 65536u /* work-items that add up, of all runs */

/* Whole groups, and no more than there is to add up. */
static uint32_t choose_counting(const struct lockstep_pack *pack)
{
    const struct lockstep_facts *f = &pack->runs[0]->facts;
    uint32_t group = pack->sharing.group, most = MOST_COUNTING / pack->count;
    uint64_t things = f->routers > f->terminals ? f->routers : f->terminals;
    most = (most < COUNTING_ITEMS ? most : COUNTING_ITEMS) / group * group;
    uint64_t items = (things + group - 1) / group * group;
    return most < group ? group : items < most ? (uint32_t)items : most;
}

static void choose_sharing(struct lockstep_pack *pack)
{
    const struct lockstep *l = pack->runs[0];
    bool is_gpu = device_facts(pack->device)->is_gpu;
    bool has_teams = lockstep_router_of(l->network)->works_in_teams;
    uint32_t team = !is_gpu || !has_teams ? 1 : l->facts.ports > 16 ? 16 : l->facts.ports > 6 ? 8 : 4;
    pack->is_one_kernel = is_gpu;
    pack->sharing = l->asked;
    pack->sharing.team = l->asked.team && has_teams ? l->asked.team : team;
    pack->sharing.group = l->asked.group ? l->asked.group : is_gpu ? 64 : 16;
    if (!l->asked.registers)
        pack->sharing.registers = choose_registers(pack);
    pack->counting = choose_counting(pack);
}

/* ---- the text ---- */

void lockstep_make_settings(struct lockstep *l)
{
    struct text *text = &l->settings;
    lockstep_add_routing_settings(l, text);
    text_addf(text, "#define MOVES_CHUNKS %d\n#define SLOT_VC_BYTES %u\n#define WORDS %u\n",
              l->network->plan.transfer.chunk > 0, (uint32_t)lockstep_slot_bytes(l),
              words_for((uint32_t)l->facts.lanes));
    const char *defines = lockstep_router_of(l->network)->defines;
    if (defines || !l->has_stages)
        text_addf(text, "#define %s\n", defines ? defines : "USUAL_ROUTER");
}

bool lockstep_make_source(struct lockstep_pack *pack, struct errors *errors)
{
    const struct lockstep *l = pack->runs[0];
    bool is_gpu = device_facts(pack->device)->is_gpu;
    struct text text = {0};
    pack->source = (struct device_source){.files = device_files, .errors = errors};
    if (!source_add_file(&pack->source, "include/flitwarp/both.h"))
        return false;
    choose_sharing(pack);
    if (is_gpu)
        add_constants(pack, &text);
    else
        text_addf(&text, "#define FACT(name) (m->facts->name)\n#define EACH(name) (facts[run].each_##name)\n");
    text_addf(&text, "#define RUN %s\n", is_gpu && pack->count == 1 ? "0u" : "(first_run + get_global_id(1))");
    text_addf(&text, "#define TEAM %uu\n#define GROUP %uu\n#define PORTS_EACH %u\n%s", pack->sharing.team,
              pack->sharing.group,
              (uint32_t)((is_gpu ? l->facts.ports : WORD_BITS) + pack->sharing.team - 1) / pack->sharing.team,
              l->settings.chars);
    source_add_text(&pack->source, "settings", text.chars);
    text_release(&text);
    bool is_good = source_add_file(&pack->source, "src/base/random.c") && lockstep_add_routing(l, &pack->source);
    for (uint32_t kind = 0; kind < LOCKSTEP_FORMS && is_good; kind++)
        is_good = add_forms(pack, &form_kinds[kind]);
    add_replies(pack);
    if (!is_good || !source_add_file(&pack->source, "src/device/kernels.h"))
        return false;
    source_cut_messages(&pack->source);
    return true;
}
