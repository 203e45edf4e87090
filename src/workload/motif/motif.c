/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of motifs, the programs of their ranks, and the grids that these are in, see flitwarp/motif.h. */
#include "flitwarp/motif.h"

#include "workload/trace/trace.h"

const struct option motif_rounds_options[] = {
    OPTION_U32(struct motif_rounds, iterations, "10", 1, 1e9, NULL, "how often all of it is done"),
    OPTION_SECONDS(struct motif_rounds, compute, "\"0s\"", 0, 1e6, "time that a rank computes before each"),
    OPTION_END,
};

struct trace *motif_trace(const struct choice *choice, uint32_t ranks, uint64_t seed, struct errors *errors)
{
    const struct motif_ops *ops = CHOICE_OPS(choice, struct motif_ops);
    struct arena arena = {0};
    struct motif motif = {.choice = choice, .config = choice->config, .ranks = ranks, .seed = seed, .arena = &arena};
    struct trace_builder *builder = motif.builder = trace_builder_create();
    struct trace *trace = NULL;
    uint32_t errors_before = errors->count;
    builder_set_ranks(builder, ranks);
    if (ops->prepare)
        ops->prepare(&motif, errors);
    for (uint32_t rank = 0; errors->count == errors_before && rank < ranks; rank++) {
        struct script script = {.builder = builder, .rank = rank, .last = FW_NONE, .open = FW_NONE};
        ops->program(&motif, &script);
        builder_end_rank(builder, rank, NULL);
    }
    if (errors->count == errors_before)
        trace = builder_finish(builder, ops->name, errors);
    trace_builder_destroy(builder);
    arena_release(&arena);
    return trace;
}

/* ---- the program of a rank ---- */

/* Collectives that were only started go on, step by step, while the rank computes. */
enum { CPU_CALLS, CPU_PROGRESS };

/* A task behind the last call. */
static uint32_t script_add(struct script *script, struct task task)
{
    uint32_t added = builder_add(script->builder, script->rank, &task);
    if (script->last != FW_NONE)
        builder_wait(script->builder, script->rank, added, script->last, false);
    return added;
}

static void script_call(struct script *script, struct task task) { script->last = script_add(script, task); }

static void script_start(struct script *script, struct task task)
{
    uint32_t started = script_add(script, task);
    if (script->open == FW_NONE)
        script->open = started;
}

static struct task message_task(enum task_kind kind, uint32_t peer, uint64_t bytes, uint32_t tag)
{
    return (struct task){.kind = (uint8_t)kind, .peer = peer, .amount = bytes, .tag = tag, .communicator = FW_WORLD};
}

static struct task collective_task(enum collective_operation operation, uint32_t communicator, uint32_t root,
                                   uint64_t bytes)
{
    return (struct task){.kind = TASK_COLLECTIVE,
                         .unit = (uint8_t)operation,
                         .communicator = communicator,
                         .peer = root,
                         .amount = bytes,
                         .tag = NO_COUNTS};
}

void script_compute(struct script *script, double seconds)
{
    uint64_t picoseconds = (uint64_t)(seconds * 1e12 + 0.5);
    if (picoseconds)
        script_call(script, (struct task){.kind = TASK_COMPUTE, .amount = picoseconds});
}

void script_send(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag)
{
    script_call(script, message_task(TASK_SEND, peer, bytes, tag));
}

void script_receive(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag)
{
    script_call(script, message_task(TASK_RECEIVE, peer, bytes, tag));
}

void script_collective(struct script *script, enum collective_operation operation, uint32_t communicator,
                       uint64_t bytes)
{
    script_rooted(script, operation, communicator, script->rank, bytes); /* which has to be in the communicator */
}

void script_rooted(struct script *script, enum collective_operation operation, uint32_t communicator, uint32_t root,
                   uint64_t bytes)
{
    script_call(script, collective_task(operation, communicator, root, bytes));
}

void script_uneven(struct script *script, enum collective_operation operation, uint32_t communicator, uint32_t root,
                   uint64_t bytes, uint32_t counts)
{
    struct task task = collective_task(operation, communicator, root, bytes);
    task.flags = TASK_UNEVEN;
    task.tag = counts;
    script_call(script, task);
}

void script_start_send(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag)
{
    script_start(script, message_task(TASK_SEND, peer, bytes, tag));
}

void script_start_receive(struct script *script, uint32_t peer, uint64_t bytes, uint32_t tag)
{
    script_start(script, message_task(TASK_RECEIVE, peer, bytes, tag));
}

void script_start_collective(struct script *script, enum collective_operation operation, uint32_t communicator,
                             uint64_t bytes)
{
    struct task task = collective_task(operation, communicator, script->rank, bytes);
    task.cpu = CPU_PROGRESS;
    script_start(script, task);
}

/* Calls that came in between are waited for too: they have ended anyway. */
void script_wait(struct script *script)
{
    if (script->open == FW_NONE)
        return;
    uint32_t join = builder_add(script->builder, script->rank, &(struct task){.kind = TASK_JOIN});
    for (uint32_t task = script->open; task < join; task++)
        builder_wait(script->builder, script->rank, join, task, false);
    script->open = FW_NONE;
    script->last = join;
}

/* ---- grids ---- */

/* The largest divisor of `number` that is at most its root of that degree. */
static uint32_t even_factor(uint32_t number, uint32_t degree)
{
    uint32_t best = 1;
    for (uint32_t factor = 2; factor <= number; factor++) {
        uint64_t power = factor;
        for (uint32_t i = 1; i < degree && power <= number; i++)
            power *= factor;
        if (power > number)
            break;
        if (number % factor == 0)
            best = factor;
    }
    return best;
}

static void even_widths(uint32_t ranks, uint32_t dimensions, uint32_t width[3])
{
    for (uint32_t d = dimensions; d-- > 0;) {
        width[d] = d ? even_factor(ranks, d + 1) : ranks;
        ranks /= width[d];
    }
}

struct halo_grid motif_grid(const struct motif *motif, const struct u32_list *grid, uint32_t dimensions,
                            struct errors *errors)
{
    struct halo_grid made = {.width = {1, 1, 1}, .kinds = 1};
    if (grid->count == 0) {
        even_widths(motif->ranks, dimensions, made.width);
        return made;
    }
    if (grid->count > dimensions) {
        choice_error(errors, motif->choice, "grid", "%u dimensions; accepted: 1 to %u", grid->count, dimensions);
        return made;
    }
    uint64_t ranks = 1;
    for (uint32_t d = 0; d < grid->count; d++)
        ranks *= made.width[d] = grid->items[d];
    if (ranks != motif->ranks)
        choice_error(errors, motif->choice, "grid", "a grid of %llu for %u ranks", (unsigned long long)ranks,
                     motif->ranks);
    return made;
}

struct halo_place halo_grid_place(const struct halo_grid *grid, uint32_t rank)
{
    const uint32_t *width = grid->width;
    return (struct halo_place){{rank % width[0], rank / width[0] % width[1], rank / width[0] / width[1]}};
}

uint32_t halo_grid_rank(const struct halo_grid *grid, const struct halo_place *place)
{
    return (place->at[2] * grid->width[1] + place->at[1]) * grid->width[0] + place->at[0];
}

enum step { STEP_NONE, STEP_UP, STEP_DOWN };

/* Takes a step along a dimension; false: it leads nowhere, or to the same place. */
static bool halo_step(const struct halo_grid *grid, uint32_t dimension, enum step step, struct halo_place *place)
{
    uint32_t width = ((grid->width[dimension] - 1) >> grid->level) + 1, at = place->at[dimension] >> grid->level;
    bool leaves = step == STEP_UP ? at + 1 == width : at == 0;
    if (step == STEP_NONE)
        return true;
    place->at[dimension] = (at + (step == STEP_UP ? 1 : width - 1)) % width << grid->level;
    return width > 1 && (!leaves || grid->wraps);
}

uint32_t halo_grid_next(const struct halo_grid *grid, uint32_t rank, uint32_t dimension, bool is_up)
{
    struct halo_place place = halo_grid_place(grid, rank);
    return halo_step(grid, dimension, is_up ? STEP_UP : STEP_DOWN, &place) ? halo_grid_rank(grid, &place) : FW_NONE;
}

uint32_t halo_grid_neighbours(const struct halo_grid *grid, uint32_t rank, struct neighbour found[MAX_NEIGHBOURS])
{
    uint32_t count = 0;
    for (uint32_t way = 1; way < 27; way++) {
        struct halo_place place = halo_grid_place(grid, rank);
        uint32_t x = way % 3, y = way / 3 % 3, z = way / 9, kind = (x > 0) + (y > 0) + (z > 0);
        if (kind <= grid->kinds && halo_step(grid, 0, x, &place) && halo_step(grid, 1, y, &place) &&
            halo_step(grid, 2, z, &place))
            found[count++] = (struct neighbour){.rank = halo_grid_rank(grid, &place), .kind = kind};
    }
    return count;
}
