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
#include "base/need.h"
#include "base/embedded.h"
#include "run/places.h"

#include "config/registry.h"
#include "config/source.h"
#include "config/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_LENGTH 40
enum { MOST_FILES = 4 };

struct new_request {
    const char *dir;
};

static const struct flag new_flags[] = {
    FLAG_VALUE(struct new_request, dir, "--dir", "DIR", "folder to write to; the one where you are if not given"),
    FLAG_END,
};

/* The configuration that the example starts from. */
static const char base_config[] =
    "{\"network\": {\"topology\": {\"type\": \"torus\", \"widths\": [8, 8]}, \"routing\": \"minimal\","
    " \"router\": {\"type\": \"input_queued\", \"num_vcs\": 8, \"buffer_depth\": 8}},"
    " \"workload\": {\"applications\": [{\"type\": \"blast\", \"load\": 0.2, \"warmup\": 500, \"sample\": 2000}]}}";

static const char mark[] = "Copied by `flitwarp new`, with an example: ";

struct template
{
    const char *kind, *name;
    const char *folder; /* in the source tree */
    const char *text;
    const char *place; /* in a configuration: PATH=VALUE */
    const char *data;  /* lines of a file that it reads; "": none */
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

/* Does the text use the name, or names that begin with it, for something of its own? */
static bool is_used(struct arena *arena, const char *text, const char *name)
{
    return strcmp(rename_all(arena, text, name, ""), text) != 0;
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

static bool is_word_of_c(const char *name)
{
    static const char *const keywords[] = {
        "auto",   "bool", "break",    "case",   "char",     "const",  "continue", "default", "do",       "double",
        "else",   "enum", "extern",   "false",  "float",    "for",    "goto",     "if",      "inline",   "int",
        "long",   "main", "register", "return", "short",    "signed", "sizeof",   "static",  "restrict", "struct",
        "switch", "true", "typedef",  "union",  "unsigned", "void",   "volatile", "while",
    };
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(keywords[i], name) == 0)
            return true;
    return false;
}

static bool check_name(struct arena *arena, const struct template *template, const char *name, struct errors *errors)
{
    size_t length = strlen(name), good = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (length == 0 || length > NAME_MAX_LENGTH || good < length || !islower((unsigned char)name[0]) ||
        is_word_of_c(name))
        errors_add(errors,
                   "flitwarp new: '%s' is no name for a component; accepted: a lower-case letter, then lower-case "
                   "letters, digits and underscores, at most %d in all, no word of C (my_%s)",
                   name, NAME_MAX_LENGTH, template->kind);
    else if (component_find(template->kind, name))
        errors_add(errors,
                   "flitwarp new: there is a %s '%s' already; accepted: a name that `flitwarp list %s` does not show",
                   template->kind, name, template->kind);
    else if (is_used(arena, template->text, name))
        errors_add(
            errors,
            "flitwarp new: '%s' has a meaning of its own in the file to be copied (%s/%s.c); accepted: any other "
            "name, such as my_%s",
            name, template->folder, template->name, name);
    return errors->count == 0;
}

static const char *component_text(struct arena *arena, const struct template *template, const char *name)
{
    const char *end = strchr(template->text, '\n'); /* the licence stays on top */
    return arena_format(arena, "%.*s\n/* A new %s, made by `flitwarp new` from %s: say here what it models. */%s",
                        (int)(end - template->text), template->text, template->kind, template->name,
                        rename_all(arena, end, template->name, name));
}

/* The place with the example of the component in it. */
static const char *place_text(struct arena *arena, const struct template *template, const char *name)
{
    struct text place = {0};
    const struct component *original = component_find(template->kind, template->name);
    const char *example = original->example ? rename_all(arena, original->example, template->name, name)
                                            : arena_format(arena, "\"%s\"", name);
    for (const char *at = template->place; *at; at++)
        if (*at == '$')
            text_add(&place, example);
        else if (*at == '@')
            text_addf(&place, "%s.txt", name);
        else
            text_add_bytes(&place, at, 1);
    return text_keep(&place, arena);
}

static const char *config_text(struct arena *arena, const struct template *template, const char *name,
                               struct errors *errors)
{
    bool is_model = strcmp(template->kind, "model") == 0; /* that has no network */
    const char *place = place_text(arena, template, name);
    struct json *root =
        is_model ? json_object(arena) : json_parse(arena, errors, "example", base_config, strlen(base_config));
    FW_CHECK(root && source_override(&(struct source){arena, errors, NULL}, root, place),
             "the example of %s does not fit: %s", template->name, errors_text(errors));
    char *written = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&written, &size);
    NEED(stream, "out of memory for an example");
    fprintf(stream, "// The %s \"%s\" in use:\n//   flitwarp --plugin ./%s.so run %s.json\n", template->kind, name,
            name, name);
    json_write(stream, root, 2);
    fprintf(stream, "\n");
    fclose(stream);
    const char *text = arena_text(arena, written);
    free(written);
    return text;
}

/* By its whole path, since it may lie in no folder of PATH. */
static const char *this_program(struct arena *arena)
{
    const char *path = program_path(arena);
    return path ? path : "flitwarp";
}

/* Of the headers that belong to this very program: those of the tree, or the installed ones. */
static const char *include_folder(struct arena *arena)
{
    const char *folder = headers_folder(arena);
    return folder ? folder : "/usr/include";
}

static const char *compile_command(struct arena *arena, const char *name)
{
    const char *folder = include_folder(arena), *quote = strchr(folder, ' ') ? "\"" : "";
    return arena_format(arena, "gcc -std=c17 -O2 -Wall -Wextra -ffp-contract=off -fPIC -shared -I%s%s%s %s.c -o %s.so",
                        quote, folder, quote, name, name);
}

/* The test that a component of any kind must pass; what is special about this one its author adds. */
static const char test_format[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "\"\"\"The %1$s \"%2$s\": compiles as a plugin, runs its example and delivers all packets. pytest "
    "test_%2$s.py\"\"\"\n"
    "import json\n"
    "import os\n"
    "import subprocess\n"
    "from pathlib import Path\n"
    "\n"
    "HERE = Path(__file__).resolve().parent\n"
    "FLITWARP = os.environ.get(\"FLITWARP\", \"%3$s\")\n"
    "INCLUDE = \"%4$s\"\n"
    "\n"
    "\n"
    "def test_%2$s_delivers_all_packets(tmp_path):\n"
    "    plugin = tmp_path / \"%2$s.so\"\n"
    "    subprocess.run([\"gcc\", \"-std=c17\", \"-O2\", \"-Wall\", \"-Wextra\", \"-Werror\", \"-fPIC\", \"-shared\", "
    "f\"-I{INCLUDE}\",\n"
    "                    HERE / \"%2$s.c\", \"-o\", plugin], check=True)\n"
    "    ended = subprocess.run([FLITWARP, \"--plugin\", plugin, \"run\", HERE / \"%2$s.json\", \"--quiet\"],\n"
    "                           capture_output=True, text=True, check=False)\n"
    "    assert ended.returncode == 0, ended.stderr  # the program itself checks order, losses and credits\n"
    "    results = json.loads(ended.stdout)\n"
    "    assert results[\"complete\"] and %5$s > 0\n";

static const char *test_text(struct arena *arena, const struct template *template, const char *name)
{
    bool is_model = strcmp(template->kind, "model") == 0;
    return arena_format(arena, test_format, template->kind, name, this_program(arena), include_folder(arena),
                        is_model ? "results[\"simulation\"][\"events\"]" : "results[\"applications\"][0][\"packets\"]");
}

/* Writes a file that is not there yet; 0 or an errno. */
static int write_new(const struct new_file *file)
{
    int descriptor = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return errno;
    FILE *stream = fdopen(descriptor, "wb");
    NEED(stream, "out of memory for a file");
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

static int new_make(struct arena *arena, const struct template *template, const char *name, const char *dir,
                    struct errors *errors)
{
    const struct new_file files[MOST_FILES] = {
        {arena_format(arena, "%s/%s.c", dir, name), component_text(arena, template, name)},
        {arena_format(arena, "%s/%s.json", dir, name), config_text(arena, template, name, errors)},
        {arena_format(arena, "%s/test_%s.py", dir, name), test_text(arena, template, name)},
        {arena_format(arena, "%s/%s.txt", dir, name), template->data},
    };
    int count = *template->data ? MOST_FILES : MOST_FILES - 1;
    int status = new_write_all(files, count, errors);
    if (status != EXIT_DONE)
        return status;
    for (int i = 0; i < count; i++)
        printf("wrote %s\n", files[i].path);
    printf("as a plugin, in %s:\n  %s\n  %s --plugin ./%s.so run %s.json\n", dir, compile_command(arena, name),
           this_program(arena), name, name);
    printf("in the tree: move %s.c into %s/ and %s.json into examples/, then ./dev build\n", name, template->folder,
           name);
    return EXIT_DONE;
}

static void new_add_unknown(struct errors *errors, const char *kind)
{
    errors_add(errors, "flitwarp new: unknown kind '%s', accepted are: %s", kind, registry_kinds(errors->arena));
}

static int cli_new(struct call *call)
{
    const struct new_request *request = call->request;
    const char *words[2] = {0}, *wrong = NULL;
    int count = 0;
    for (int i = 1; i < call->argc && !wrong; i++) {
        if (flag_take(call, &i) == FLAG_TAKEN)
            continue;
        if (call->argv[i][0] == '-' || count == 2)
            wrong = call->argv[i];
        else
            words[count++] = call->argv[i];
    }
    if (wrong)
        errors_add(&call->errors, "flitwarp new: '%s' is not understood", wrong);
    else if (count < 2)
        errors_add(&call->errors, "flitwarp new: no %s is given", count ? "name" : "kind");
    if (call->errors.count)
        return call_refuse(call);
    struct template template;
    if (!template_find(&template, &call->arena, words[0]))
        new_add_unknown(&call->errors, words[0]);
    else if (check_name(&call->arena, &template, words[1], &call->errors))
        return new_make(&call->arena, &template, words[1], request->dir ? request->dir : ".", &call->errors);
    return EXIT_USAGE;
}

static void new_suggest(struct suggestions *suggestions, int place)
{
    if (place == 0)
        suggest_kinds(suggestions);
}

static const struct command new_command = {
    .name = "new",
    .order = 150,
    .words = "KIND NAME",
    .summary = "a new component's file, example and test",
    .flags = new_flags,
    .request_size = sizeof(struct new_request),
    .suggest = new_suggest,
    .run = cli_new,
};
REGISTER_COMMAND(new_command);
