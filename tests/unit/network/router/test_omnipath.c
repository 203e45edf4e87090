/* SPDX-License-Identifier: Apache-2.0 */
/* What the Omni-Path router counts with: buffers by number, and credits that packets give back. */
#include "test.h"

#include "network/router/omnipath.h"

static const struct omnipath router = {
    .all_ports = 12, .sources = 18, .buffers = 30, .sinks = 18, .flits_per_credit = 4};

TEST(buffers_are_inputs_then_two_an_mport_then_outputs)
{
    EXPECT(!is_central(&router, 11));
    EXPECT(is_central(&router, 12));
    EXPECT(is_central(&router, 17));
    EXPECT(!is_central(&router, 18));
    EXPECT_EQ_U64(output_buffer(&router, 0), 18);
    EXPECT_EQ_U64(output_buffer(&router, 11), 29);
    for (uint32_t mport = 0; mport < 3; mport++) {
        EXPECT_EQ_U64(first_link(&router, mport), 12 + 2 * mport);
        for (uint32_t port = 4 * mport; port < 4 * mport + 4; port++)
            EXPECT_EQ_U64(mport_of(&router, port), mport);
        for (uint32_t link = first_link(&router, mport); link < first_link(&router, mport) + 2; link++)
            EXPECT_EQ_U64(mport_of(&router, link), mport);
    }
}

/* However a packet's flits leave, three, four or one at a time, it gives back the credits that it took, the last at its end. */
TEST(a_packet_gives_back_whole_credits_however_it_leaves)
{
    EXPECT_EQ_U64(credits_left(&router, 0, 3, 16), 0);
    EXPECT_EQ_U64(credits_left(&router, 3, 6, 16), 1);
    EXPECT_EQ_U64(credits_left(&router, 4, 5, 5), 1);
    for (uint32_t size = 1; size <= 40; size++)
        for (uint32_t speed = 1; speed <= 9; speed++) {
            uint32_t back = 0;
            for (uint32_t sent = 0; sent < size;) {
                uint32_t next = sent + speed < size ? sent + speed : size;
                back += credits_left(&router, sent, next, size);
                sent = next;
                EXPECT(back <= (sent + 3) / 4);
                EXPECT(sent == size || back == sent / 4);
            }
            EXPECT_EQ_U64(back, (size + 3) / 4);
        }
}

TEST(lanes_have_of_a_buffer_what_the_report_says)
{
    struct omnipath_config config = {
        .num_vcs = 8, .queue_size = 256, .flits_per_credit = 4, .exclusive_credits = 16, .max_credits = 48};
    struct shared_room_rule rule = omnipath_rule(&config, false);
    EXPECT(rule.vcs * rule.exclusive <= rule.total);
    EXPECT_EQ_U64(shared_room_pool(&rule), 128); /* half of the buffer is for whoever needs it */
    const struct choice self = {.config = &config};
    struct router_plan plan = {0};
    struct errors errors = {0};
    omnipath_plan(&self, 32, &plan, &errors);
    EXPECT_EQ_U64(errors.count, 0);
    EXPECT_EQ_U64(plan.max_packet, 64);
    config.queue_unit = QUEUE_FLITS;
    rule = omnipath_rule(&config, false);
    EXPECT(rule.vcs * rule.exclusive > rule.total); /* 8 * 16 * 4 flits are more than 256 */
    config.num_vcs = 4;
    config.central_queue_size = 512;
    rule = omnipath_rule(&config, false);
    EXPECT_EQ_U64(shared_room_pool(&rule), 0);
    rule = omnipath_rule(&config, true);
    EXPECT_EQ_U64(shared_room_pool(&rule), 64);
}
