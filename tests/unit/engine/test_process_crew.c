/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that meet: everybody sees what all wrote before the meeting, and a crew works again and again. */
#include "engine/crew.h"

#include "test.h"

enum { MEMBERS = 5, ROUNDS = 1000, CALLS = 7 };

struct board {
    struct crew *crew;
    uint32_t written[2][MEMBERS]; /* by parity of the round */
    uint32_t wrong[MEMBERS];
    uint32_t calls[MEMBERS];
};

static void work(void *context, uint32_t member)
{
    struct board *board = context;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        board->written[round % 2][member] = round * MEMBERS + member;
        crew_meet(board->crew);
        for (uint32_t i = 0; i < MEMBERS; i++)
            board->wrong[member] += board->written[round % 2][i] != round * MEMBERS + i;
    }
    board->calls[member]++;
}

TEST(members_of_a_crew_see_what_was_written_before_they_met)
{
    struct board board = {0};
    board.crew = crew_start(MEMBERS, 1, work, &board);
    for (uint32_t call = 0; call < CALLS; call++)
        crew_run(board.crew);
    crew_end(board.crew);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        EXPECT_EQ_U64(board.wrong[i], 0);
        EXPECT_EQ_U64(board.calls[i], CALLS);
    }
}
