/* SPDX-License-Identifier: Apache-2.0 */
/* Costs from prices: the arithmetic, against the Fit Fly study's Table 4, and how sums are written. */
#include "test.h"

#include "blueprint/blueprint.h"
#include "sandbox.h"

#include <string.h>

/* Prices from JSON text; false with errors in box->errors. */
static bool read_prices(struct sandbox *box, const char *json, struct prices *prices)
{
    const char *path = sandbox_write(box, "prices.json", json, strlen(json));
    return prices_read(prices, path, &box->arena, &box->errors);
}

static void expect_refusal(const char *json, const char *message)
{
    struct sandbox box;
    struct prices prices;
    sandbox_open(&box);
    EXPECT(!read_prices(&box, json, &prices));
    EXPECT_TEXT_CONTAINS(errors_text(&box.errors), message);
    sandbox_close(&box, "prices.json", NULL);
}

/* The totals as printed; links are those between routers and those of terminals (3,042, 3,078, 3,240). */
TEST(costs_are_those_of_the_fit_fly_study)
{
    static const struct {
        const char *prices;
        uint64_t routers, links[2];
        double total;
    } networks[] = {
        {"{\"router\": 25633, \"link\": 134}", 338, {3042, 3211}, 9501856},          /* Slim Fly */
        {"{\"router\": 25633, \"link\": 134}", 676, {2 * 3042, 2 * 3211}, 19003712}, /* Fit Fly */
        {"{\"router\": 19803, \"link\": 86}", 676, {2 * 3042, 2 * 3211}, 14462344},  /* Fit Fly FDR */
        {"{\"router\": 25633, \"link\": 134}", 342, {3078, 2907 + 1539}, 9774702},   /* Dragonfly */
        {"{\"router\": 25633, \"link\": 134}", 360, {3240, 3240 + 1620}, 10313280},  /* Megafly */
    };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        struct sandbox box;
        struct prices prices;
        struct cost cost;
        const char *names[] = {"terminal", "local"};
        uint64_t links[] = {networks[i].links[0], networks[i].links[1]};
        struct part_counts counts = {
            .routers = networks[i].routers, .terminals = links[0], .classes = 2, .class_names = names, .links = links};
        sandbox_open(&box);
        EXPECT(read_prices(&box, networks[i].prices, &prices));
        EXPECT(cost_find(&cost, &prices, &counts, &box.errors));
        EXPECT_NEAR(cost.total, networks[i].total, 0);
        EXPECT_NEAR(cost.terminals, 0, 0);
        sandbox_close(&box, "prices.json", NULL);
    }
}

TEST(every_part_has_its_price)
{
    struct sandbox box;
    struct prices prices;
    struct cost cost;
    const char *names[] = {"terminal", "local", "global"};
    uint64_t links[] = {8, 4, 2};
    struct part_counts counts = {
        .routers = 3, .terminals = 8, .ports = 20, .classes = 3, .class_names = names, .links = links};
    sandbox_open(&box);
    EXPECT(read_prices(&box,
                       "{\"currency\": \"EUR \", \"router\": 1000, \"port\": 10, \"terminal\": 7.5, \"link\": 1, "
                       "\"links\": {\"global\": 300}}",
                       &prices));
    EXPECT(cost_find(&cost, &prices, &counts, &box.errors));
    EXPECT_NEAR(cost.routers, 3 * 1000 + 20 * 10, 0);
    EXPECT_NEAR(cost.links, 8 + 4 + 2 * 300, 0);
    EXPECT_NEAR(cost.terminals, 8 * 7.5, 0);
    EXPECT_NEAR(cost.total, 3200 + 612 + 60, 0);
    EXPECT_TEXT_EQ(money_text(&prices, cost.total, &box.arena), "EUR 3,872");
    EXPECT_TEXT_EQ(money_text(&prices, 1234567.5, &box.arena), "EUR 1,234,567.50");
    EXPECT_TEXT_EQ(money_text(&prices, 999.996, &box.arena), "EUR 1,000");
    EXPECT_TEXT_EQ(money_text(&prices, 12, &box.arena), "EUR 12");
    sandbox_close(&box, "prices.json", NULL);
}

TEST(a_class_without_a_price_is_refused)
{
    struct sandbox box;
    struct prices prices;
    struct cost cost;
    const char *names[] = {"terminal", "global"};
    uint64_t links[] = {8, 4};
    struct part_counts counts = {.routers = 3, .terminals = 8, .classes = 2, .class_names = names, .links = links};
    sandbox_open(&box);
    EXPECT(read_prices(&box, "{\"router\": 1, \"links\": {\"terminal\": 2}}", &prices));
    EXPECT(!cost_find(&cost, &prices, &counts, &box.errors));
    EXPECT_TEXT_CONTAINS(errors_text(&box.errors), "no price of a \"global\" link");
    sandbox_close(&box, "prices.json", NULL);
}

TEST(prices_that_are_wrong_are_refused)
{
    expect_refusal("{\"link\": 1}", "router");
    expect_refusal("{\"router\": -1, \"link\": 1}", "-1 is below 0");
    expect_refusal("{\"router\": 1, \"likn\": 1}", "did you mean 'link'?");
    expect_refusal("{\"router\": 1, \"links\": 5}", "expected an object of prices by class");
    expect_refusal("{\"router\": 1, \"links\": {\"local\": \"dear\"}}", "found text, expected a price from 0");
    expect_refusal("{\"router\": 1, \"links\": {\"local\": -2}}", "found -2, expected a price from 0");
    expect_refusal("[1]", "an object");
    expect_refusal("{", "expected");
}
