/* SPDX-License-Identifier: Apache-2.0 */
/* Makes traces of motifs, see motif.h, and the grids of ranks that they run on, see flitwarp/halo_grid.h. */
#include "workload/motif/motif.h"

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
    struct trace_builder *builder = trace_builder_create();
    struct trace *trace = NULL;
    uint32_t errors_before = errors->count;
    builder_set_ranks(builder, ranks);
    if (ops->prepare)
        ops->prepare(&motif, builder, errors);
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

enum step { STEP_NONE, STEP_UP, STEP_DOWN };

/* The coordinate after a step; FW_NONE: there is nothing, or the same place. */
static uint32_t halo_step_to(const struct halo_grid *grid, uint32_t dimension, uint32_t at, uint32_t step)
{
    uint32_t width = grid->width[dimension];
    if (step == STEP_NONE)
        return at;
    bool leaves = step == STEP_UP ? at + 1 == width : at == 0;
    if (width == 1 || (leaves && !grid->wraps))
        return FW_NONE;
    return (at + (step == STEP_UP ? 1 : width - 1)) % width;
}

uint32_t halo_grid_neighbours(const struct halo_grid *grid, uint32_t rank, struct neighbour found[MAX_NEIGHBOURS])
{
    const uint32_t *width = grid->width;
    const uint32_t at[3] = {rank % width[0], rank / width[0] % width[1], rank / width[0] / width[1]};
    uint32_t count = 0;
    for (uint32_t way = 1; way < 27; way++) {
        const uint32_t steps[3] = {way % 3, way / 3 % 3, way / 9};
        uint32_t kind = (steps[0] > 0) + (steps[1] > 0) + (steps[2] > 0);
        uint32_t x = halo_step_to(grid, 0, at[0], steps[0]), y = halo_step_to(grid, 1, at[1], steps[1]),
                 z = halo_step_to(grid, 2, at[2], steps[2]);
        if (kind <= grid->kinds && x != FW_NONE && y != FW_NONE && z != FW_NONE)
            found[count++] = (struct neighbour){.rank = (z * width[1] + y) * width[0] + x, .kind = kind};
    }
    return count;
}
