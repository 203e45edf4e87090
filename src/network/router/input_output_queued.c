/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input-output-queued router: the input-queued one, whose crossbar leads into
 * queues at the outputs. After SuperSim's (McDonald et al., ISPASS 2018, figure 6)
 * and Chuang et al., "Matching output queueing with a combined input/output-queued
 * switch", JSAC 1999.
 *
 *   input buffers -> route -> allocate_vc -> allocate_switch -> crossbar
 *     -> output queues -> arbiter -> channel
 *
 * The input side is the input-queued router (input_queued.c) as it is; the credits
 * that it spends are places in the output queues. The output side is output_stage.c.
 * A crossbar that is faster than the channels (cycle below channel.cycle, or
 * speedup) fills the queues, and inputs seldom wait for each other.
 */
#include "network/router/input_queued.h"

struct input_output_queued_config {
    struct input_queued_config input; /* first */
    uint32_t output_depth, output_hold;
    struct choice output_arbiter;
};

static const struct option input_output_queued_options[] = {
    OPTION_ROWS(struct input_output_queued_config, input, struct input_queued_config, input_queued_options),
    OPTION_U32(struct input_output_queued_config, output_depth, "8", 1, 32768, "flits",
               "output queue of each virtual channel"),
    OPTION_CHOICE(struct input_output_queued_config, output_arbiter, "arbiter", "\"round_robin\"",
                  "picks among an output's virtual channels that can send"),
    OUTPUT_HOLD_OPTION(struct input_output_queued_config),
    OPTION_END,
};

/* A packet that moves as a whole fits an output queue, and an input buffer where it enters only as a whole. */
static void input_output_queued_plan(const struct choice *self, uint32_t flit_bytes, struct router_plan *made,
                                     struct errors *errors)
{
    const struct input_output_queued_config *c = self->config;
    input_queued_plan(self, flit_bytes, made, errors);
    made->reserves_packet = c->input.switching != WORMHOLE;
    made->output_depth = c->output_depth;
    made->lead = 0; /* flits leave the queues at once */
    if (made->max_packet && !(made->reserves_packet && made->max_packet <= c->output_depth)) {
        made->max_packet = c->output_depth;
        made->max_packet_key = "output_depth";
    }
}

static void input_output_queued_build(void *routers, const void *config)
{
    struct input_queued *q = routers;
    const struct input_output_queued_config *c = config;
    const struct output_stage_config outputs = {
        .arbiter = &c->output_arbiter,
        .congestion = q->congestion,
        .depth = c->output_depth,
        .reports_all = true,
        .reserves_packet = q->network->plan.reserves_packet,
        .holds = c->output_hold,
    };
    q->outputs = output_stage_build(q->network, &outputs);
    input_queued_build(q, &c->input);
}

static void input_output_queued_receive_credits(void *routers, tick_t now, const void *events, uint32_t count)
{
    struct input_queued *q = routers;
    output_receive_credits(q->outputs, now, events, count);
    if (q->needs_room)
        input_queued_look_again(q, now, events, count);
}

static const struct router_ops input_output_queued = {
    .name = "input_output_queued",
    .summary = "virtual-channel router with buffers at its inputs and queues at its outputs",
    .options = input_output_queued_options,
    .example = "{\"type\": \"input_output_queued\", \"num_vcs\": 2, \"buffer_depth\": 16, \"output_depth\": 32}",
    .serves_levels = true,
    .size = sizeof(struct input_queued),
    .plan = input_output_queued_plan,
    .check = input_queued_check,
    .build = input_output_queued_build,
    .share = input_queued_share,
    .receive_flits = input_queued_receive_flits,
    .receive_credits = input_output_queued_receive_credits,
    .step = input_queued_step,
    .receive_room = input_queued_receive_credits,
    .receive_queued = output_receive_queued,
    .step_outputs = output_step,
    .look = input_queued_look,
    .lane_flits = output_lane_flits,
};
REGISTER_ROUTER(input_output_queued);
