/* SPDX-License-Identifier: Apache-2.0 */
/* See checkpoint.h. */
#include "checkpoint/checkpoint.h"

#include "base/heap.h"
#include "base/text.h"
#include "base/machine.h"
#include "flitwarp/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool checkpoint_read_every(struct checkpoint *checkpoint, const char *every, struct errors *errors)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};
    char *end;
    bool begins_well = every[0] >= '0' && every[0] <= '9';
    double number = strtod(every, &end);
    checkpoint->ticks = 0;
    checkpoint->seconds = 0;
    if (begins_well && !*end && number >= 1 && number <= 1e18 && number == floor(number))
        checkpoint->ticks = strtoull(every, NULL, 10);
    for (uint32_t i = 0; i < sizeof units / sizeof *units; i++)
        if (begins_well && strcmp(end, units[i].name) == 0 && number * units[i].seconds <= 1e9)
            checkpoint->seconds = number * units[i].seconds;
    if (checkpoint->ticks || checkpoint->seconds > 0)
        return true;
    return errors_add(
        errors,
        "--checkpoint-every: '%s' is no interval; accepted: a number of ticks such as 1000000, or a time such as "
        "30s, 10min or 2h",
        every);
}

void checkpoint_begin(struct checkpoint *checkpoint)
{
    checkpoint->caught = interrupt_catch();
    checkpoint->stops = 0;
    checkpoint->process = (uint64_t)getpid();
    checkpoint->lock = -1;
    checkpoint->next_seconds = wall_seconds() + checkpoint->seconds;
}

bool checkpoint_is_due(const struct checkpoint *checkpoint, tick_t now)
{
    if (*checkpoint->caught)
        return true;
    return checkpoint->ticks ? now >= checkpoint->next_tick : wall_seconds() >= checkpoint->next_seconds;
}

/* ---- names ---- */

static const char in_name[] = "{tick}";

static bool keeps_all(const struct checkpoint *checkpoint) { return strstr(checkpoint->path, in_name); }

/* The name of the file of the checkpoint at hand. */
static const char *file_name(const struct checkpoint *checkpoint, struct arena *arena)
{
    const char *at = strstr(checkpoint->path, in_name);
    if (!at)
        return checkpoint->path;
    return arena_format(arena, "%.*s%llu%s", (int)(at - checkpoint->path), checkpoint->path,
                        (unsigned long long)checkpoint->facts.tick, at + strlen(in_name));
}

static const char *rank_file(const char *path, uint64_t rank, uint64_t generation, struct arena *arena)
{
    return arena_format(arena, "%s.%llu.%llu", path, (unsigned long long)rank, (unsigned long long)generation);
}

static void remove_generation(const struct checkpoint *checkpoint, uint64_t generation)
{
    struct arena arena = {0};
    unlink(rank_file(checkpoint->path, checkpoint->facts.rank, generation, &arena));
    arena_release(&arena);
}

void checkpoint_clean(const struct checkpoint *checkpoint)
{
    struct arena arena = {0};
    uint64_t generation = checkpoint->facts.generation;
    const char *next = rank_file(checkpoint->path, checkpoint->facts.rank, generation + 1, &arena);
    unlink(output_temporary(checkpoint->path, checkpoint->process, &arena));
    unlink(output_temporary(next, checkpoint->process, &arena));
    unlink(next);
    remove_generation(checkpoint, generation - 1);
    arena_release(&arena);
}

/* ---- writing ---- */

static bool write_ranks(const struct checkpoint *checkpoint, const char *path, int *lock, struct errors *errors)
{
    const struct checkpoint_facts *facts = &checkpoint->facts;
    const char *own = rank_file(path, facts->rank, facts->generation, errors->arena);
    bool is_good = !ranks_largest(checkpoint->ranks, !checkpoint_file_write(own, facts, NULL, errors));
    struct checkpoint_facts list = *facts;
    list.is_list = 1;
    if (is_good && facts->rank == 0)
        is_good = checkpoint_file_write(path, &list, lock, errors);
    is_good = !ranks_largest(checkpoint->ranks, !is_good);
    if (!keeps_all(checkpoint))
        remove_generation(checkpoint, is_good ? facts->generation - 1 : facts->generation);
    return is_good;
}

/* Of two runs that write by one name the second goes on without. The lock goes from the file before to the new one. */
static bool write_locked(struct checkpoint *checkpoint, const char *path, struct errors *errors)
{
    struct ranks *ranks = checkpoint->ranks;
    bool is_ours = checkpoint->lock >= 0 && !keeps_all(checkpoint);
    if (!is_ours && ranks_lead(ranks) && checkpoint_file_is_locked(path))
        errors_add(errors, "cannot write '%s': it is that of another run that goes on", path);
    if (ranks_largest(ranks, errors->count > 0))
        return false;
    int lock = -1;
    bool is_good = ranks ? write_ranks(checkpoint, path, &lock, errors)
                         : checkpoint_file_write(path, &checkpoint->facts, &lock, errors);
    int dropped = is_good ? checkpoint->lock : lock;
    checkpoint->lock = is_good ? lock : checkpoint->lock;
    if (dropped >= 0)
        close(dropped);
    return is_good;
}

void checkpoint_write(struct checkpoint *checkpoint, tick_t now, bool logs_are_whole)
{
    heap_pass(true); /* what is taken here is no part of the run */
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct checkpoint_facts *facts = &checkpoint->facts;
    bool is_last = ranks_largest(checkpoint->ranks, *checkpoint->caught);
    uint64_t tick_before = facts->tick;
    facts->tick = now;
    facts->generation++;
    while (checkpoint->ticks && checkpoint->next_tick <= now)
        checkpoint->next_tick += checkpoint->ticks;
    const char *path = file_name(checkpoint, &arena);
    bool is_good = !ranks_largest(checkpoint->ranks, !logs_are_whole);
    if (!is_good)
        errors_add(&errors, "cannot write '%s': a log could not be written, and a restart would go on with it", path);
    else
        is_good = write_locked(checkpoint, path, &errors);
    checkpoint->is_kept |= is_good;
    if (!is_good) { /* the one before counts */
        facts->generation--;
        facts->tick = tick_before;
    }
    if (ranks_first(checkpoint->ranks, errors.count > 0))
        errors_print(&errors, stderr);
    arena_release(&arena);
    heap_pass(false);
    checkpoint->next_seconds = wall_seconds() + checkpoint->seconds;
    checkpoint->stops = is_last;
}

void checkpoint_end(const struct checkpoint *checkpoint, bool is_over)
{
    bool removes = is_over && checkpoint->is_kept && !keeps_all(checkpoint);
    if (removes && ranks_lead(checkpoint->ranks))
        unlink(checkpoint->path);
    if (removes && checkpoint->ranks)
        remove_generation(checkpoint, checkpoint->facts.generation);
}

void checkpoint_tell(const struct checkpoint *checkpoint)
{
    struct arena arena = {0};
    fprintf(stderr, "flitwarp run: stopped at tick %llu; goes on from there by: flitwarp run --restart %s%s\n",
            (unsigned long long)checkpoint->facts.tick, file_name(checkpoint, &arena),
            checkpoint->ranks ? ", on as many ranks" : "");
    arena_release(&arena);
}

/* ---- reading ---- */

struct checkpoint_file *checkpoint_open(const char *path, const struct ranks *ranks, struct errors *errors)
{
    struct checkpoint_facts list, own;
    uint64_t count = ranks ? ranks->count : 1;
    struct checkpoint_file *file = checkpoint_file_open(path, &list, errors);
    if (file && list.ranks != count)
        errors_add(errors, "cannot restart from '%s': found %llu rank%s, expected %llu, as many as wrote it", path,
                   (unsigned long long)count, count == 1 ? "" : "s", (unsigned long long)list.ranks);
    else if (file && !list.is_list == (count > 1))
        errors_add(errors, "cannot restart from '%s': it is the file of one rank, expected that of all", path);
    else if (!file || !ranks)
        return file;
    checkpoint_file_close(file);
    if (errors->count)
        return NULL;
    const char *name = rank_file(path, ranks->number, list.generation, errors->arena);
    file = checkpoint_file_open(name, &own, errors);
    if (!file || (own.run == list.run && own.generation == list.generation && own.rank == ranks->number))
        return file;
    errors_add(errors, "cannot restart from '%s': '%s' belongs to another run", path, name);
    checkpoint_file_close(file);
    return NULL;
}
