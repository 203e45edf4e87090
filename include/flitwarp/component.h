/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * Components and their registry. A component is a const operations struct that
 * begins with COMPONENT_HEAD; one REGISTER_ line at the end of its file makes it
 * known under its kind. Registration links a static node into a list and does
 * nothing else; it works the same from a plugin loaded at run time.
 */
#include "flitwarp/option.h"
#include "flitwarp/report.h"

/* Where the text of a component is that an OpenCL device runs, see flitwarp/both.h; all NULL: it has none. */
struct device_form {
    const char *file; /* of the tree */
    const char
        *function; /* what the component does there; of a routing algorithm its route(), of sensors their values() */
    const char *request, *reply;        /* of sizes with replies of their own: draw_request() and reply() */
    const char *inject, *injection_vcs; /* of a routing algorithm; NULL: it has none */
    const char *change, *catch_up;      /* of sensors; the second before others ask for values */
};
/* Says that the file of the component is read by OpenCL too, in which the function has this name; and the names of others. */
#define DEVICE_FORM(function_) .device = {.file = __FILE__, .function = #function_}
#define DEVICE_FORM_WITH(function_, ...) .device = {.file = __FILE__, .function = #function_, __VA_ARGS__}

#define COMPONENT_FIELDS                                                                                               \
    const char *name;             /* the "type" in a configuration */                                                  \
    const char *summary;          /* one line, for list and explain */                                                 \
    const struct option *options; /* NULL: none */                                                                     \
    const char *example;          /* JSON text of the block in use; NULL: the type alone */                            \
    const char *needs;            /* of others, for explain: virtual channels, say; NULL: nothing */                   \
    const struct result *reports; /* rows of what it tells of its own in the results; NULL: nothing */                 \
    struct device_form device;    /* see DEVICE_FORM */

struct component {
    COMPONENT_FIELDS
};

#define COMPONENT_HEAD                                                                                                 \
    union {                                                                                                            \
        struct component component;                                                                                    \
        struct {                                                                                                       \
            COMPONENT_FIELDS                                                                                           \
        };                                                                                                             \
    }

/* The first fields of a component, on its own or as a row of a family: name, summary, options and example. */
#define COMPONENT(name_, summary_, options_, example_)                                                                 \
    .name = name_, .summary = summary_, .options = options_, .example = example_

/*
 * The version of these headers, as far as a plugin can tell: it goes up with every change of them that a plugin built
 * before would not survive, and a plugin of another version is refused. The word before it is no address, so that what a
 * plugin from before there were versions has in its place is not taken for one.
 */
#define FLITWARP_INTERFACE 6
#define FLITWARP_INTERFACE_MARK ((uint64_t)0x666c697477617270u)

struct registration {
    uint64_t mark;      /* FLITWARP_INTERFACE_MARK; these two come first in every version */
    uint64_t interface; /* FLITWARP_INTERFACE */
    const char *kind;
    const struct component *component;
    struct registration *next;
};

/* Called by constructors before main, and while a plugin is loaded. One of another version is left out, and noted. */
void registration_add(struct registration *registration);

#define REGISTRATION_(kind_, component_)                                                                               \
    {                                                                                                                  \
        .mark = FLITWARP_INTERFACE_MARK, .interface = FLITWARP_INTERFACE, .kind = kind_, .component = component_       \
    }
#define REGISTER_COMPONENT(kind_name, ops)                                                                             \
    static struct registration registration_of_##ops = REGISTRATION_(kind_name, &(ops).component);                     \
    __attribute__((constructor)) static void register_##ops(void) { registration_add(&registration_of_##ops); }        \
    struct registration /* swallows the semicolon */

/* A family: an array of operations structs, or of structs that begin with one. */
#define REGISTER_COMPONENTS(kind_name, family)                                                                         \
    static struct registration registrations_of_##family[sizeof(family) / sizeof *(family)];                           \
    __attribute__((constructor)) static void register_##family(void)                                                   \
    {                                                                                                                  \
        for (size_t i = 0; i < sizeof(family) / sizeof *(family); i++) {                                               \
            const void *component = &(family)[i];                                                                      \
            registrations_of_##family[i] = (struct registration)REGISTRATION_(kind_name, component);                   \
            registration_add(&registrations_of_##family[i]);                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    struct registration /* swallows the semicolon */

/* The component's operations, from a choice. */
#define CHOICE_OPS(choice, ops_type) ((const ops_type *)(const void *)(choice)->component)
