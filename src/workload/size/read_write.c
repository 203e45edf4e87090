/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes, as between processors and memories: a read asks with a short
 * message and is answered with data, a write brings the data and is answered
 * shortly. What an application sends with these sizes is answered without a `reply`
 * of its own.
 */
#include "flitwarp/size.h"

struct read_write_config {
    double reads;
    uint32_t read_request, read_reply, write_request, write_reply;
};

static const struct option read_write_options[] = {
    OPTION_F64(struct read_write_config, reads, "0.5", 0, 1, NULL, "share of the requests that are reads"),
    OPTION_U32(struct read_write_config, read_request, "1", 1, 1 << 30, "flits", "request of a read"),
    OPTION_U32(struct read_write_config, read_reply, "5", 1, 1 << 30, "flits", "reply to a read"),
    OPTION_U32(struct read_write_config, write_request, "5", 1, 1 << 30, "flits", "request of a write"),
    OPTION_U32(struct read_write_config, write_reply, "1", 1, 1 << 30, "flits", "reply to a write"),
    OPTION_END,
};

enum { KIND_READ, KIND_WRITE };

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void read_write_prepare(struct size *size, const struct choice *self, struct arena *arena, struct errors *errors)
{
    (void)self, (void)arena, (void)errors;
    const struct read_write_config *config = size->config;
    uint32_t read = larger(config->read_request, config->read_reply);
    uint32_t write = larger(config->write_request, config->write_reply);
    size->max = larger(config->reads > 0 ? read : 0, config->reads < 1 ? write : 0); /* of what can occur */
    size->mean = config->reads * config->read_request + (1 - config->reads) * config->write_request;
}

static uint32_t read_write_draw_request(const struct size *size, struct random *random, uint32_t *kind)
{
    const struct read_write_config *config = size->config;
    *kind = random_unit(random) < config->reads ? KIND_READ : KIND_WRITE;
    return *kind == KIND_READ ? config->read_request : config->write_request;
}

static uint32_t read_write_draw(const struct size *size, struct random *random)
{
    uint32_t kind;
    return read_write_draw_request(size, random, &kind);
}

static uint32_t read_write_reply(const struct size *size, uint32_t kind)
{
    const struct read_write_config *config = size->config;
    return kind == KIND_READ ? config->read_reply : config->write_reply;
}

static const struct size_ops read_write = {
    .name = "read_write",
    .summary = "requests and replies of reads and writes",
    .options = read_write_options,
    .example = "{\"type\": \"read_write\", \"reads\": 0.7, \"read_reply\": 9, \"write_request\": 9}",
    .prepare = read_write_prepare,
    .draw = read_write_draw,
    .draw_request = read_write_draw_request,
    .reply = read_write_reply,
};
REGISTER_SIZE(read_write);
