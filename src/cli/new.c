/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flitwarp new KIND NAME [--dir DIR]: a new component to start from. The file is
 * a copy of a small real one of that kind under its new name; beside it come an
 * example configuration, a file that it reads where it reads any, and a test. It
 * compiles as it is, in the tree and as a plugin outside. All files are written, or
 * none; nothing is overwritten.
 *
 * The comment at the end of such a component says where it stands in the example: $ is
 * the component, @ the name of the file whose lines follow.
 */
#include "cli/command.h"
#include "base/embedded.h"

#include "config/registry.h"
#include "config/source.h"
#include "config/describe.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_LENGTH 40
enum { MOST_FILES = 4 };

/* The configuration that the example starts from. */
static const char base_config[] =
    "{\"network\": {\"topology\": {\"type\": \"torus\", \"widths\": [8, 8]}, \"routing\": \"minimal\","
    " \"router\": {\"type\": \"input_queued\", \"num_vcs\": 8, \"buffer_depth\": 8}},"
    " \"workload\": {\"applications\": [{\"type\": \"blast\", \"load\": 0.2, \"warmup\": 500, \"sample\": 2000}]}}";

static const char mark[] = "Copied by `flitwarp new`, with an example: ";
static const char words_of_c[] =
    " auto bool break case char const continue default do double else enum extern false float for goto if inline int "
    "long main register return short signed sizeof static restrict struct switch true typedef union unsigned void "
    "volatile while ";

/* A component to be copied. */
struct template
{
    const char *kind, *name;
    const char *folder; /* in the source tree */
    const char *text;
    const char *place; /* in a configuration: PATH=VALUE */
    const char *data;  /* lines of a file that it reads; "": none */
};

/* What is to be made of it. */
struct order {
    struct arena *arena;
    struct errors *errors;
    struct template template;
    const char *name, *dir;
    const char *program; /* this one, by its whole path, since it may lie in no folder of PATH */
    const char *headers; /* that belong to this very program: those of the tree, or the installed ones */
    bool is_model;       /* which has no network */
};

struct new_file {
    const char *path;
    const char *text;
};

static bool is_name_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The text with one name in the place of another: whole words and the beginnings of words up to an underscore. */
static const char *rename_all(struct arena *arena, const char *text, const char *old, const char *new)
{
    struct text renamed = {0};
    size_t length = strlen(old);
    bool in_word = false;
    while (*text) {
        bool is_name =
            !in_word && strncmp(text, old, length) == 0 && (text[length] == '_' || !is_name_letter(text[length]));
        if (is_name)
            text_add(&renamed, new);
        else
            text_add_bytes(&renamed, text, 1);
        text += is_name ? length : 1;
        in_word = is_name_letter(text[-1]);
    }
    return text_keep(&renamed, arena);
}

/* Lines of a comment, without what makes them one. */
static const char *comment_lines(struct arena *arena, const char *at)
{
    struct text lines = {0};
    while (strncmp(at, " * ", 3) == 0) {
        size_t length = strcspn(at, "\n") + 1;
        text_add_bytes(&lines, at + 3, length - 3);
        at += length;
    }
    return lines.length ? text_keep(&lines, arena) : "";
}

static struct template template_read(struct arena *arena, const struct embedded_file *file)
{
    const char *slash = strrchr(file->name, '/'), *marked = strstr(file->bytes, mark), *comment = marked;
    const char *registered = strstr(file->bytes, "\nREGISTER_") + strlen("\nREGISTER_");
    while (strncmp(comment, "/*", 2) != 0)
        comment--;
    const char *place = marked + strlen(mark), *end = strpbrk(place, "\n"), *close = strstr(place, " */\n");
    char *kind = arena_format(arena, "%.*s", (int)strcspn(registered, "("), registered);
    for (char *letter = kind; *letter; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    return (struct template){
        .kind = kind,
        .name = arena_format(arena, "%.*s", (int)strcspn(slash + 1, "."), slash + 1),
        .folder = arena_format(arena, "src/%.*s", (int)(slash - file->name), file->name),
        .text = arena_format(arena, "%.*s", (int)(comment - file->bytes), file->bytes),
        .place = arena_format(arena, "%.*s", (int)((close < end ? close : end) - place), place),
        .data = comment_lines(arena, end + 1),
    };
}

static bool template_find(struct template *template, struct arena *arena, const char *kind)
{
    for (const struct embedded_file *file = template_files; file->name; file++) {
        *template = template_read(arena, file);
        if (strcmp(template->kind, kind) == 0)
            return true;
    }
    return false;
}

static bool check_name(const struct order *order)
{
    const char *name = order->name, *kind = order->template.kind;
    size_t length = strlen(name), good = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (length == 0 || length > NAME_MAX_LENGTH || good < length || !islower((unsigned char)name[0]) ||
        strstr(words_of_c, arena_format(order->arena, " %s ", name)))
        return errors_add(order->errors,
                          "flitwarp new: '%s' is no name for a component; accepted: a lower-case letter, then "
                          "lower-case letters, digits and underscores, at most %d in all, no word of C (my_%s)",
                          name, NAME_MAX_LENGTH, kind);
    if (component_find(kind, name))
        return errors_add(order->errors,
                          "flitwarp new: there is a %s '%s' already; accepted: a name that `flitwarp list %s` does "
                          "not show",
                          kind, name, kind);
    if (strcmp(rename_all(order->arena, order->template.text, name, ""), order->template.text) != 0)
        return errors_add(order->errors,
                          "flitwarp new: '%s' has a meaning of its own in the file to be copied (%s/%s.c); accepted: "
                          "any other name, such as my_%s",
                          name, order->template.folder, order->template.name, name);
    return true;
}

/* ---- the files ---- */

static const char *component_text(const struct order *order)
{
    const struct template *template = &order->template;
    const char *end = strchr(template->text, '\n'); /* the licence stays on top */
    return arena_format(order->arena,
                        "%.*s\n/* A new %s, made by `flitwarp new` from %s: say here what it models. */%s",
                        (int)(end - template->text), template->text, template->kind, template->name,
                        rename_all(order->arena, end, template->name, order->name));
}

/* The place with the example of the component in it. */
static const char *place_text(const struct order *order)
{
    const struct template *template = &order->template;
    struct text place = {0};
    const struct component *original = component_find(template->kind, template->name);
    const char *example = original->example ? rename_all(order->arena, original->example, template->name, order->name)
                                            : arena_format(order->arena, "\"%s\"", order->name);
    for (const char *at = template->place; *at; at++)
        if (*at == '$')
            text_add(&place, example);
        else if (*at == '@')
            text_addf(&place, "%s.txt", order->name);
        else
            text_add_bytes(&place, at, 1);
    return text_keep(&place, order->arena);
}

static const char *config_text(const struct order *order)
{
    struct arena *arena = order->arena;
    const char *name = order->name;
    struct json *root = order->is_model ? json_object(arena)
                                        : json_parse(arena, order->errors, "example", base_config, strlen(base_config));
    FW_CHECK(root && source_override(&(struct source){arena, order->errors, NULL}, root, place_text(order)),
             "the example of %s does not fit: %s", order->template.name, errors_text(order->errors));
    struct text text = {0};
    text_addf(&text, "// The %s \"%s\" in use:\n//   flitwarp --plugin ./%s.so run %s.json\n", order->template.kind,
              name, name, name);
    json_write_text(&text, root, 2);
    text_add(&text, "\n");
    return text_keep(&text, arena);
}

/* The test that a component of any kind must pass; what is special about this one its author adds. */
static const char *test_text(const struct order *order)
{
    return arena_format(order->arena, embedded_find(new_files, "new_test.py.in")->bytes, order->template.kind,
                        order->name, order->program, order->headers,
                        order->is_model ? "results[\"simulation\"][\"events\"]"
                                        : "results[\"applications\"][0][\"packets\"]");
}

/* Writes a file that is not there yet; 0 or an errno. */
static int write_new(const struct new_file *file)
{
    FILE *stream = fopen(file->path, "wbxe");
    if (!stream)
        return errno;
    bool is_good = fputs(file->text, stream) != EOF;
    int reason = is_good ? 0 : errno;
    if (fclose(stream) != 0 && !reason)
        reason = errno;
    if (reason)
        unlink(file->path);
    return reason;
}

/* All of them or none. */
static int new_write_all(const struct new_file *files, int count, struct errors *errors)
{
    int written = 0, reason = 0;
    while (written < count && !(reason = write_new(&files[written])))
        written++;
    if (!reason)
        return EXIT_DONE;
    bool exists = reason == EEXIST;
    errors_add(errors, "flitwarp new: cannot write '%s': %s%s", files[written].path, strerror(reason),
               exists ? "; nothing is overwritten, choose another name or --dir" : "");
    while (written-- > 0)
        unlink(files[written].path);
    return exists ? EXIT_USAGE : EXIT_IO;
}

static int new_make(const struct order *order)
{
    const char *name = order->name, *dir = order->dir, *quote = strchr(order->headers, ' ') ? "\"" : "";
    const struct new_file files[MOST_FILES] = {
        {arena_format(order->arena, "%s/%s.c", dir, name), component_text(order)},
        {arena_format(order->arena, "%s/%s.json", dir, name), config_text(order)},
        {arena_format(order->arena, "%s/test_%s.py", dir, name), test_text(order)},
        {arena_format(order->arena, "%s/%s.txt", dir, name), order->template.data},
    };
    int count = *order->template.data ? MOST_FILES : MOST_FILES - 1;
    int status = new_write_all(files, count, order->errors);
    if (status != EXIT_DONE)
        return status;
    for (int i = 0; i < count; i++)
        printf("wrote %s\n", files[i].path);
    printf("as a plugin, in %s:\n"
           "  gcc -std=c17 -O2 -Wall -Wextra -ffp-contract=off -fPIC -shared -I%s%s%s %s.c -o %s.so\n"
           "  %s --plugin ./%s.so run %s.json\n"
           "in the tree: move %s.c into %s/ and %s.json into examples/, then ./dev build\n",
           dir, quote, order->headers, quote, name, name, order->program, name, name, name, order->template.folder,
           name);
    return EXIT_DONE;
}

static int cli_new(struct call *call)
{
    const char *kind = call->words[0], *dir = flag_value(call, "--dir"), *program = program_path(&call->arena),
               *headers = headers_folder(&call->arena);
    if (call->word_count < 2) {
        errors_add(&call->errors, "flitwarp new: no %s is given", call->word_count ? "name" : "kind");
        return call_refuse(call);
    }
    struct order order = {.arena = &call->arena,
                          .errors = &call->errors,
                          .name = call->words[1],
                          .dir = dir ? dir : ".",
                          .program = program ? program : "flitwarp",
                          .headers = headers ? headers : "/usr/include",
                          .is_model = strcmp(kind, "model") == 0};
    if (template_find(&order.template, &call->arena, kind))
        return check_name(&order) ? new_make(&order) : EXIT_USAGE;
    return errors_end(EXIT_USAGE, &call->errors, "flitwarp new: unknown kind '%s', accepted are: %s", kind,
                      registry_kinds(&call->arena));
}

static const struct command new_command = {
    .name = "new",
    .order = 150,
    .words = "KIND NAME",
    .summary = "a new component's file, example and test",
    .flags = {{"--dir", "DIR", "folder to write to; the current one if not given", NULL}},
    .most_words = 2,
    .excess = "'%s' is not understood",
    .excess_shows_usage = true,
    .suggest = suggest_kinds,
    .run = cli_new,
};
REGISTER_COMMAND(new_command);
