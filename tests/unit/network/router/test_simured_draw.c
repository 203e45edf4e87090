/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of rand() in the GNU C library: the first that it gives after srand(1), and those of other seeds as it gave them. */
#include "test.h"

#include "network/router/simured_walk.h"

#include <stddef.h>

TEST(gnu_random_gives_what_the_library_gives)
{
    static const struct {
        uint32_t seed, first[3];
    } known[] = {
        {1, {1804289383, 846930886, 1681692777}},
        {0, {1804289383, 846930886, 1681692777}}, /* which is taken as 1 */
        {42, {71876166, 708592740, 1483128881}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct gnu_random random = gnu_random_begin(known[i].seed);
        for (size_t k = 0; k < 3; k++)
            EXPECT_EQ_U64(gnu_random_next(&random), known[i].first[k]);
    }
}
