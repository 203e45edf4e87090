/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbours of a grid see each other. */
#include "test.h"

#include "flitwarp/motif.h"

static uint32_t links_between(const struct halo_grid *grid, uint32_t from, uint32_t to, uint32_t kind)
{
    struct neighbour found[MAX_NEIGHBOURS];
    uint32_t count = halo_grid_neighbours(grid, from, found), links = 0;
    for (uint32_t i = 0; i < count; i++)
        links += found[i].rank == to && found[i].kind == kind;
    return links;
}

TEST(neighbours_are_neighbours_of_their_neighbours)
{
    static const struct halo_grid grids[] = {{{4, 3, 5}, true, 3, 0},  {{4, 3, 5}, false, 3, 0},
                                             {{2, 2, 2}, true, 3, 0},  {{6, 1, 1}, true, 1, 0},
                                             {{3, 4, 1}, false, 2, 0}, {{2, 5, 1}, true, 2, 0}};
    for (uint32_t g = 0; g < sizeof(grids) / sizeof(*grids); g++) {
        uint32_t ranks = grids[g].width[0] * grids[g].width[1] * grids[g].width[2];
        for (uint32_t a = 0; a < ranks; a++)
            for (uint32_t b = 0; b < ranks; b++)
                for (uint32_t kind = 1; kind <= 3; kind++)
                    EXPECT_EQ_U64(links_between(&grids[g], a, b, kind), links_between(&grids[g], b, a, kind));
    }
}

/* In 4x4x4: 6 faces, 12 edges, 8 corners; without going round a corner of the grid has 3, 3 and 1. */
TEST(ranks_have_as_many_neighbours_as_a_cube)
{
    struct neighbour found[MAX_NEIGHBOURS];
    struct halo_grid grid = {{4, 4, 4}, true, 1, 0};
    static const uint32_t round[] = {6, 18, 26}, corner[] = {3, 6, 7};
    for (grid.kinds = 1; grid.kinds <= 3; grid.kinds++) {
        grid.wraps = true;
        EXPECT_EQ_U64(halo_grid_neighbours(&grid, 0, found), round[grid.kinds - 1]);
        grid.wraps = false;
        EXPECT_EQ_U64(halo_grid_neighbours(&grid, 0, found), corner[grid.kinds - 1]);
    }
    struct halo_grid alone = {{1, 1, 1}, true, 3, 0};
    EXPECT_EQ_U64(halo_grid_neighbours(&alone, 0, found), 0);
}

/* Of 5 in a row every second takes part: 0, 2, 4; and 4 is next to 0 going round. */
TEST(on_a_level_every_second_rank_has_every_second_as_neighbour)
{
    struct halo_grid grid = {{5, 1, 1}, false, 1, 1};
    EXPECT_EQ_U64(halo_grid_next(&grid, 2, 0, true), 4);
    EXPECT_EQ_U64(halo_grid_next(&grid, 4, 0, true), FW_NONE);
    grid.wraps = true;
    EXPECT_EQ_U64(halo_grid_next(&grid, 4, 0, true), 0);
    EXPECT_EQ_U64(halo_grid_next(&grid, 0, 0, false), 4);
    EXPECT_EQ_U64(halo_grid_next(&grid, 0, 1, true), FW_NONE);
}
