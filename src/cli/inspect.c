/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of a configuration without a whole run.
 *
 * flitwarp check CONFIG [PATH=VALUE ...]: every setting, the sizes of what would be
 * built, and whether the routing can deadlock; with --device whether that can run it, and what it takes of its
 * memory. Runs nothing.
 *
 * flitwarp settings CONFIG [PATH=VALUE ...] [--batch]: the effective settings and
 * the files that they come from, as JSON. Builds and runs nothing. With --batch every
 * line of standard input is a JSON array of further overrides, and every line of output
 * the answer to one: the document, or its errors. The configuration is read once; each
 * line works on a copy of its tree in an arena of its own, so that thousands of runs can
 * be checked in a moment.
 *
 * flitwarp trace CONFIG --packet N|SOURCE.N: one packet's walk, stage by stage. Stage
 * names are the names of the functions that do the work. N counts the packets of
 * terminal 0, or of the terminal before the dot.
 *
 * flitwarp topology CONFIG [CONFIG ...] [PATH=VALUE ...]: what networks are: sizes, distances, diversity of paths,
 * bisection, cost; side by side where there are several. Writes the network as a file, or as a picture.
 */
#include "cli/command.h"

#include "base/text.h"
#include "device/lockstep.h"
#include "config/source.h"
#include "network/graph/dependency.h"
#include "run/run.h"
#include "run/simulation.h"
#include "workload/trace/trace.h"
#include "blueprint/blueprint.h"
#include "blueprint/routes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loads the configuration for a command to use, prints what is wrong and returns the exit status. */
static int with_simulation(const struct call *call, int (*use)(struct simulation *simulation, const struct call *call))
{
    struct simulation simulation;
    simulation_init(&simulation);
    int status = EXIT_USAGE;
    if (simulation_load(&simulation, call->configs[0], call->overrides, call->override_count))
        status = use(&simulation, call);
    errors_print(&simulation.errors, stderr);
    simulation_release(&simulation);
    return status;
}

/* ---- check ---- */

/* On a terminal, twice a second; the line goes away when all is done. */
static void check_tell(void *context, double share)
{
    double *last = context, now = wall_seconds();
    bool is_shown = *last > 0;
    if (share < 1 && now - fabs(*last) < 0.5)
        return;
    *last = now;
    if (share < 1)
        fprintf(stderr, "\rfollowing routes: %.0f %%\033[K", 100 * share);
    else if (is_shown)
        fprintf(stderr, "\r\033[K");
}

/* Ports that lead somewhere: "3", or "3 to 5" where routers differ. */
static const char *count_ports(const struct network *network, struct arena *arena)
{
    uint32_t least = FW_NONE, most = 0;
    for (uint32_t router = 0; router < network->topology.routers; router++) {
        uint32_t used = 0;
        for (uint32_t port = 0; port < network->ports; port++)
            used += network_link(network, router, port)->target != FW_NONE;
        least = used < least ? used : least;
        most = used > most ? used : most;
    }
    return least == most ? arena_format(arena, "%u", most) : arena_format(arena, "%u to %u", least, most);
}

static const char *plural(uint32_t count) { return count == 1 ? "" : "s"; }

static void print_network(struct simulation *simulation)
{
    const struct network *network = &simulation->network;
    const struct topology *topology = &network->topology;
    const char *ports = count_ports(network, &simulation->setup);
    printf("network: %u router%s of %s port%s, %u terminal%s, %u VC%s, %.1f KiB a router, %.1f MiB in all\n",
           topology->routers, plural(topology->routers), ports, strcmp(ports, "1") == 0 ? "" : "s", topology->terminals,
           plural(topology->terminals), network->num_vcs, plural(network->num_vcs),
           (double)network->core->bytes / 1024 / topology->routers, (double)simulation->built.bytes / 1024 / 1024);
}

static void print_device(const struct lockstep *lockstep)
{
    const struct device_facts *facts = device_facts(lockstep->device);
    printf("device: %u (%s) can run it, in %.1f MiB of its memory of %.1f GiB\n", facts->number, facts->name,
           (double)lockstep->bytes / 0x1p20, (double)facts->memory_bytes / 0x1p30);
}

/* In one plane, or in each of those that failures make differ. */
static bool check_routing(const struct network *network)
{
    const struct planes *planes = network->core->planes;
    const struct routing *routings = planes && planes->routings ? planes->routings : &network->routing;
    bool is_sound = true;
    double last = -wall_seconds(); /* below 0 until something is shown */
    const struct check_listener listener = {check_tell, &last};
    for (uint32_t plane = 0; plane < (routings == &network->routing ? 1 : network->plane_count); plane++) {
        if (routings != &network->routing)
            printf("plane %u:\n", plane);
        fflush(stdout);
        is_sound &=
            dependency_check(&routings[plane], DEPENDENCY_BUDGET, isatty(STDERR_FILENO) ? &listener : NULL, stdout);
    }
    return is_sound;
}

static int check_loaded(struct simulation *simulation, const struct call *call)
{
    (void)call;
    struct model_run run;
    if (simulation->config.model.component) {
        if (!model_prepare(&run, simulation))
            return EXIT_USAGE;
        printf("settings: correct\nmodel: %s, %llu processes, lookahead %llu ticks\n", run.model.ops->name,
               (unsigned long long)run.model.expected_processes, (unsigned long long)run.model.lookahead);
        return EXIT_DONE;
    }
    if (!simulation_build(simulation))
        return EXIT_USAGE;
    const struct network *network = &simulation->network;
    printf("settings: correct\n");
    print_network(simulation);
    if (network->core->planes)
        printf("planes: %u of %u routers, %u rails of each terminal; %s\n", network->plane_count,
               network->routing.topology->routers, network->plane_count * network->injection_channels,
               network->core->planes->routings ? "failures make them differ, and the routing of each is checked"
                                               : "their routing is alike and is checked in one");
    if (simulation->lockstep)
        print_device(simulation->lockstep);
    return check_routing(network) ? EXIT_DONE : EXIT_SIMULATION;
}

static int cli_check(struct call *call)
{
    const char *device = flag_value(call, "--device");
    if (device)
        call_take_config(call, arena_format(&call->arena, "simulator.device=%s", device));
    return with_simulation(call, check_loaded);
}

static const struct command check_command = {
    .name = "check",
    .order = 20,
    .words = "CONFIG [PATH=VALUE ...]",
    .summary = "settings, sizes, routing deadlock; runs nothing",
    .flags = {{"--device", "opencl[:N]", "whether this OpenCL device can run it, and what of its memory that takes",
               NULL}},
    .takes_config = true,
    .run = cli_check,
};
REGISTER_COMMAND(check_command);

/* ---- settings ---- */

#define STANDARD_INPUT "standard input"

/* What all lines share: the configuration with what the command line overrides, references not yet resolved. */
struct base {
    struct arena arena;
    struct errors errors;
    struct json *files, *root;
};

/* Fills in simulation->json; false with errors. */
static bool read_settings(struct simulation *simulation, const struct base *base, const char *const *overrides,
                          uint32_t count)
{
    struct arena *arena = &simulation->setup;
    simulation->files = json_copy(arena, base->files);
    simulation->json = json_copy(arena, base->root);
    const struct source source = {arena, &simulation->errors, simulation->files};
    return source_override_all(&source, simulation->json, overrides, count) &&
           source_resolve(arena, &simulation->errors, simulation->json) && simulation_read(simulation);
}

/* The settings and their files, or the errors. */
static struct json *settings_document(struct simulation *simulation, bool is_good)
{
    struct arena *arena = &simulation->setup;
    struct json *document = json_object(arena);
    if (is_good) {
        json_add(document, "config", simulation->json);
        json_add(document, "files", simulation->files);
        struct json *data = json_add(document, "data", json_array(arena));
        for (const struct json *file = simulation->data->first; file; file = file->next)
            for (const struct json *part = trace_files(arena, file->text)->first; part; part = part->next)
                json_append(data, json_text(arena, part->text));
        return document;
    }
    struct json *list = json_add(document, "errors", json_array(arena));
    for (const struct error_message *message = simulation->errors.first; message; message = message->next)
        json_append(list, json_text(arena, message->text));
    return document;
}

/* The overrides that a line holds; NULL with an error that names the line. */
static const char **read_overrides(struct simulation *simulation, uint32_t line, const char *bytes, size_t size,
                                   uint32_t *count)
{
    struct arena *arena = &simulation->setup;
    struct json *list = json_parse_at(arena, &simulation->errors, STANDARD_INPUT, line, bytes, size);
    if (!list)
        return NULL;
    const struct json *wrong = list->type == JSON_ARRAY ? list->first : list;
    while (wrong && wrong != list && wrong->type == JSON_TEXT)
        wrong = wrong->next;
    if (wrong)
        return errors_end(NULL, &simulation->errors, STANDARD_INPUT ":%u:%u: found %s, expected %s", line,
                          wrong->column, json_type_name(wrong->type),
                          wrong == list ? "an array of overrides ([\"network.router.num_vcs=4\"])"
                                        : "text (\"network.router.num_vcs=4\")");
    const char **overrides = arena_array(arena, const char *, list->count);
    *count = 0;
    for (const struct json *item = list->first; item; item = item->next)
        overrides[(*count)++] = item->text;
    return overrides;
}

/* The answer to a line of standard input, or to the configuration itself where that is line 0. */
static bool print_answer(const struct base *base, uint32_t line, const char *bytes, size_t size)
{
    struct simulation simulation;
    simulation_init(&simulation);
    uint32_t count = 0;
    const char **overrides = line ? read_overrides(&simulation, line, bytes, size, &count) : NULL;
    bool is_good = (overrides || !line) && read_settings(&simulation, base, overrides, count);
    if (is_good || line) {
        json_write(stdout, settings_document(&simulation, is_good), line ? 0 : 2);
        putchar('\n');
    } else {
        errors_print(&simulation.errors, stderr);
    }
    simulation_release(&simulation);
    return is_good;
}

static bool print_batch(const struct base *base)
{
    char *bytes = NULL;
    size_t room = 0;
    uint32_t line = 0;
    bool is_good = true;
    for (ssize_t size; (size = getline(&bytes, &room, stdin)) >= 0;) {
        size_t length = size && bytes[size - 1] == '\n' ? (size_t)size - 1 : (size_t)size;
        is_good &= print_answer(base, ++line, bytes, length);
        fflush(stdout); /* who asks line by line waits for it */
    }
    free(bytes);
    return is_good;
}

static int cli_settings(struct call *call)
{
    struct base base = {0};
    base.errors.arena = &base.arena;
    base.files = json_array(&base.arena);
    const struct source source = {&base.arena, &base.errors, base.files};
    base.root = source_open(&source, call->configs[0]);
    bool is_good = base.root && source_override_all(&source, base.root, (const char *const *)call->overrides,
                                                    (uint32_t)call->override_count);
    errors_print(&base.errors, stderr);
    if (is_good)
        is_good = flag_value(call, "--batch") ? print_batch(&base) : print_answer(&base, 0, NULL, 0);
    arena_release(&base.arena);
    if (fflush(stdout) != 0 || ferror(stdout) || ferror(stdin)) {
        fprintf(stderr, "flitwarp settings: reading standard input or writing standard output failed\n");
        return EXIT_IO;
    }
    return is_good ? EXIT_DONE : EXIT_USAGE;
}

static const struct command settings_command = {
    .name = "settings",
    .order = 30,
    .words = "CONFIG [PATH=VALUE ...]",
    .summary = "effective settings and the files they come from, as JSON",
    .flags =
        {{"--batch", NULL,
          "each line of standard input is a JSON array of further overrides, each line of output the answer to one",
          NULL}},
    .takes_config = true,
    .run = cli_settings,
};
REGISTER_COMMAND(settings_command);

/* ---- trace ---- */

/* "N" or "SOURCE.N". */
static bool trace_read_packet(const char *text, uint64_t *source, uint64_t *sequence)
{
    *source = 0;
    if (!number_read(&text, FW_NONE - 1, sequence))
        return false;
    if (*text == '.') {
        *source = *sequence;
        text++;
        return number_read(&text, FW_NONE - 1, sequence) && !*text;
    }
    return !*text;
}

static void stop_when_arrived(void *context, const struct workload *workload, tick_t now)
{
    volatile sig_atomic_t *has_arrived = context;
    (void)now;
    bool is_made = workload->sequences[workload->trace_source] > workload->trace_sequence;
    *has_arrived = is_made && workload->network->traced == FW_NONE &&
                   !workload_sends_again(workload, workload->trace_source, workload->trace_sequence);
}

static int trace_follow(struct simulation *simulation, uint32_t source, uint32_t sequence)
{
    struct workload *workload = &simulation->workload;
    volatile sig_atomic_t has_arrived = 0;
    simulation->network.trace_out = stdout;
    simulation->network.is_watched = true;
    workload->trace_source = source;
    workload->trace_sequence = sequence;
    workload->progress = stop_when_arrived;
    workload->progress_context = (void *)&has_arrived;
    workload->interrupt = &has_arrived;
    printf("    tick  where        stage            what\n");
    enum outcome outcome = workload_run(workload, stderr);
    if (workload->sequences[source] <= sequence)
        printf("terminal %u made only %u packets\n", source, workload->sequences[source]);
    return outcome == OUTCOME_DEADLOCK || outcome == OUTCOME_STUCK ? EXIT_SIMULATION : EXIT_DONE;
}

static int trace_loaded(struct simulation *simulation, const struct call *call)
{
    const char *packet = flag_value(call, "--packet");
    uint64_t source, sequence;
    trace_read_packet(packet, &source, &sequence);
    simulation_make_sequential(simulation); /* the same however it runs, but printed once */
    if (!simulation_build(simulation))
        return EXIT_USAGE;
    if (source < simulation->network.topology.terminals)
        return trace_follow(simulation, (uint32_t)source, (uint32_t)sequence);
    return errors_end(EXIT_USAGE, &simulation->errors,
                      "flitwarp trace: --packet %s: there is no terminal %u; accepted: 0 to %u", packet,
                      (uint32_t)source, simulation->network.topology.terminals - 1);
}

static int cli_trace(struct call *call)
{
    const char *packet = flag_value(call, "--packet");
    uint64_t source, sequence;
    if (packet && trace_read_packet(packet, &source, &sequence))
        return with_simulation(call, trace_loaded);
    errors_add(&call->errors, "flitwarp trace: --packet %s; accepted: a packet's number, or SOURCE.NUMBER",
               packet ? packet : "is missing");
    return call_refuse(call);
}

static const struct command trace_command = {
    .name = "trace",
    .order = 50,
    .words = "CONFIG --packet N|SOURCE.N [PATH=VALUE ...]",
    .summary = "one packet's walk, stage by stage",
    .flags = {{"--packet", "N|SOURCE.N", "the packet with this number of terminal 0, or of terminal SOURCE", NULL}},
    .takes_config = true,
    .run = cli_trace,
};
REGISTER_COMMAND(trace_command);

/* ---- topology ---- */

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

static void check_written(struct call *call, const struct simulation *simulation)
{
    static const char *const written[] = {"--export", "--picture", "--routes", NULL};
    const char *prices = flag_value(call, "--prices");
    if (prices)
        source_note_file(simulation->data, &call->arena, prices);
    if (call_spare(call, written, simulation->files))
        call_spare(call, written, simulation->data);
}

/* Of the whole network: what routing needs is not in a blueprint. */
static int write_routes(struct call *call, const char *path)
{
    struct simulation simulation;
    int status = EXIT_USAGE;
    bool is_refused = true;
    simulation_init(&simulation);
    if (simulation_load(&simulation, call->configs[0], call->overrides, call->override_count)) {
        simulation_make_sequential(&simulation);
        if (simulation_build(&simulation)) {
            const struct routing one = planes_routing_of_one(&simulation.network.routing);
            status = routes_write(&one, path, &call->errors, &is_refused) ? EXIT_DONE
                     : is_refused                                         ? EXIT_USAGE
                                                                          : EXIT_IO;
        }
    }
    errors_print(&simulation.errors, stderr);
    simulation_release(&simulation);
    return status;
}

/* A name that is wrong is told before anything is searched; nothing is written until all is right. */
static int survey(struct call *call, const struct blueprint *blueprints)
{
    const char *exported = flag_value(call, "--export"), *picture = flag_value(call, "--picture");
    const char *routes = flag_value(call, "--routes");
    const char *priced = flag_value(call, "--prices");
    bool with_terminals = flag_value(call, "--terminals");
    struct errors *errors = &call->errors;
    uint32_t count = (uint32_t)call->config_count;
    struct facts *facts = arena_array(&call->arena, struct facts, count);
    struct prices prices;
    if (priced && !prices_read(&prices, priced, &call->arena, errors))
        return EXIT_USAGE;
    check_written(call, &blueprints->simulation);
    if (exported)
        export_check(blueprints, exported, errors);
    if (picture)
        picture_check(blueprints, picture, with_terminals, errors);
    if (routes)
        routes_check(routes, errors);
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
    int status = routes ? write_routes(call, routes) : EXIT_DONE;
    if (status != EXIT_DONE)
        return status;
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
    static const char *const of_one[] = {"--export", "--picture", "--routes"};
    if (!call->config_count)
        errors_add(errors, "no configuration is given");
    for (size_t flag = 0; flag < 3 && call->config_count > 1; flag++)
        if (flag_value(call, of_one[flag]))
            errors_add(errors, "%s takes one network, found %d configurations", of_one[flag], call->config_count);
    if (flag_value(call, "--terminals") && !flag_value(call, "--picture"))
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
              {"--picture", "FILE.svg", "a drawing of the network", NULL},
              {"--terminals", NULL, "draw terminals too", NULL},
              {"--routes", "FILE.txt|.csv", "the ways that packets take, as routing `file` reads them", NULL}},
    .run = cli_topology,
};
REGISTER_COMMAND(topology_command);
