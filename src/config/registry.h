/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * All components that are linked in or were loaded as plugins, sorted by kind
 * and name: nothing depends on the order in which files were linked.
 */
#include "flitwarp/component.h"

#include "base/text.h"

/* The whole registry: follow ->next. */
const struct registration *registry_first(void);
/* The first registration of a kind; NULL when the kind is unknown. */
const struct registration *registry_kind(const char *kind);
/* The one after it within its kind; NULL at the end. */
const struct registration *registry_next(const struct registration *registration);
/* The first registration of the following kind; NULL at the end. */
const struct registration *registry_next_kind(const struct registration *registration);

const struct component *component_find(const char *kind, const char *name);

/* "a, b, c": the kinds, and the names within a kind. */
const char *registry_kinds(struct arena *arena);
const char *registry_names(struct arena *arena, const char *kind);
/* The registered name of the kind that was probably meant; NULL when none is close. */
const char *registry_nearest(const char *kind, const char *name);

/* Whether its text is among those that an OpenCL device reads: of the program's own, not of a plugin. */
bool component_has_device_form(const struct component *component);

/* Reports two components of one kind that share a name. */
bool registry_check(struct errors *errors);
/* Loads a shared object, whose constructors register what it holds. It stays loaded to the end. */
bool plugin_load(const char *path, struct errors *errors);
