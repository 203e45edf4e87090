/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The wire format of protocol buffers: a message is a row of fields, each with a number and a value. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
    const unsigned char *at, *end;
    bool is_broken; /* what is at `at` is no field */
};

struct proto_field {
    uint32_t number;
    bool has_bytes;
    uint64_t value;     /* of a number, as it was written */
    struct proto bytes; /* of a text, a list of numbers or another message */
};

/* A number of 7 bits a byte, the lowest first. */
bool proto_varint(struct proto *proto, uint64_t *value);
/* The next field; false at the end, and where the rest is broken. */
bool proto_next(struct proto *proto, struct proto_field *field);
