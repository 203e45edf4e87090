/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp topology CONFIG [CONFIG ...] [PATH=VALUE ...]: what networks are, without
 * running them: sizes, distances, diversity of paths, bisection, cost; side by side
 * where there are several. Writes the network as a file, or as a picture.
 */
#include "cli/command.h"
#include "blueprint/blueprint.h"

#include "base/text.h"

#include <string.h>

/* A price that no network has a use for is a mistake. */
static void check_priced_classes(const struct prices *prices, const struct facts *facts, uint32_t count,
                                 struct errors *errors)
{
    for (const struct json *price = prices->links ? prices->links->first : NULL; price; price = price->next) {
        bool is_known = false;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t class = 0; class < facts[i].counts.classes; class ++)
                is_known |= strcmp(facts[i].counts.class_names[class], price->key) == 0;
        if (is_known)
            continue;
        struct text names = {0};
        for (uint32_t class = 0; class < facts->counts.classes; class ++)
            text_addf(&names, "%s%s", class ? ", " : "", facts->counts.class_names[class]);
        errors_add(errors, "%s:%u: there are no links of class \"%s\"; %s has %s", price->file, price->line, price->key,
                   facts->blueprint->topology.ops->name, names.chars);
        text_release(&names);
    }
}

static void topology_print_json(const struct facts *facts, uint32_t count, struct arena *arena)
{
    struct json *document = json_object(arena), *networks = json_add(document, "networks", json_array(arena));
    for (uint32_t i = 0; i < count; i++)
        json_append(networks, facts_json(&facts[i], arena));
    json_write(stdout, document, 2);
    printf("\n");
}

/* A name that is wrong is told before anything is searched; nothing is written until all is right. */
static int survey(struct call *call, const struct blueprint *blueprints)
{
    const char *exported = flag_value(call, "--export"), *picture = flag_value(call, "--picture");
    const char *priced = flag_value(call, "--prices");
    bool with_terminals = flag_value(call, "--terminals");
    struct errors *errors = &call->errors;
    uint32_t count = (uint32_t)call->config_count;
    struct facts *facts = arena_array(&call->arena, struct facts, count);
    struct prices prices;
    if (priced && !prices_read(&prices, priced, &call->arena, errors))
        return EXIT_USAGE;
    if (exported)
        export_check(blueprints, exported, errors);
    if (picture)
        picture_check(blueprints, picture, with_terminals, errors);
    if (errors->count)
        return EXIT_USAGE;
    for (uint32_t i = 0; i < count; i++) {
        facts_find(&facts[i], &blueprints[i], &call->arena);
        facts[i].prices = priced ? &prices : NULL;
        if (priced)
            cost_find(&facts[i].cost, &prices, &facts[i].counts, errors);
    }
    if (priced)
        check_priced_classes(&prices, facts, count, errors);
    if (errors->count)
        return EXIT_USAGE;
    if ((exported && !export_write(blueprints, exported, errors)) ||
        (picture && !picture_write(blueprints, picture, with_terminals, errors)))
        return EXIT_IO;
    (flag_value(call, "--json") ? topology_print_json : facts_print)(facts, count, &call->arena);
    return EXIT_DONE;
}

static int cli_topology(struct call *call)
{
    struct errors *errors = &call->errors;
    int i = 0;
    for (char *word; (word = words_next(call, &i));)
        call_take_config(call, word);
    const char *exported = flag_value(call, "--export"), *picture = flag_value(call, "--picture");
    if (!call->config_count)
        errors_add(errors, "no configuration is given");
    if (call->config_count > 1 && (exported || picture))
        errors_add(errors, "%s takes one network, found %d configurations", exported ? "--export" : "--picture",
                   call->config_count);
    if (flag_value(call, "--terminals") && !picture)
        errors_add(errors, "--terminals needs --picture FILE.svg beside it");
    if (errors->count)
        return call_refuse(call);
    struct blueprint *blueprints = arena_array(&call->arena, struct blueprint, call->config_count);
    int opened = 0, status = EXIT_DONE;
    for (; status == EXIT_DONE && opened < call->config_count; opened++)
        if (!blueprint_open(&blueprints[opened], call->configs[opened], call->overrides, call->override_count)) {
            errors_print(&blueprints[opened].simulation.errors, stderr);
            status = EXIT_USAGE;
        }
    if (status == EXIT_DONE)
        status = survey(call, blueprints);
    while (opened > 0)
        simulation_release(&blueprints[--opened].simulation);
    return status;
}

static const struct command topology_command = {
    .name = "topology",
    .order = 40,
    .words = "CONFIG [CONFIG ...] [PATH=VALUE ...]",
    .summary = "sizes, distances, bisection, cost; as files and pictures too",
    .flags = {{"--json", NULL, "facts as JSON", NULL},
              {"--prices", "FILE", "JSON file of what routers and links cost", NULL},
              {"--export", "FILE.graphml|.dot|.csv|.txt", "the network as a file", NULL},
              {"--picture", "FILE.svg", "a drawing of it", NULL},
              {"--terminals", NULL, "draw terminals too", NULL}},
    .run = cli_topology,
};
REGISTER_COMMAND(topology_command);
