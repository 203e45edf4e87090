/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Nodes of Chakra execution traces, decoded one by one: protocol buffers, whose messages are rows of fields. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
    const unsigned char *at, *end;
    bool is_broken; /* what is at `at` is no field */
};
/* A number of 7 bits a byte, the lowest first. */
bool proto_varint(struct proto *proto, uint64_t *value);
bool proto_is_text(struct proto bytes, const char *text);

enum chakra_type {
    CHAKRA_METADATA = 1,
    CHAKRA_LOAD = 2,
    CHAKRA_STORE = 3,
    CHAKRA_COMPUTE = 4,
    CHAKRA_SEND = 5,
    CHAKRA_RECEIVE = 6,
    CHAKRA_COLLECTIVE = 7,
};

/* Attributes that matter here, as bits too. */
enum chakra_attribute { COMM_TYPE, COMM_SIZE, COMM_SOURCE, COMM_DESTINATION, COMM_TAG, IS_CPU_OP, CHAKRA_ATTRIBUTES };
extern const char *const chakra_attribute_names[CHAKRA_ATTRIBUTES];

struct chakra_node {
    uint64_t id, type, duration_us;
    uint64_t attributes[CHAKRA_ATTRIBUTES];
    uint32_t has;       /* a bit for each of them */
    struct proto group; /* the name of its process group; empty: none */
};

/* Numbers of the nodes waited for, of all nodes decoded so far. */
struct chakra_waits {
    uint64_t *ids; /* owned */
    uint32_t count, room;
};

/* Decodes a message; false where it is broken, and `message` says where. Fields of no use here are skipped. */
bool chakra_node_decode(struct proto *message, struct chakra_node *node, struct chakra_waits *waits);
/* Whether a message is what such a file begins with: a version or attributes. */
bool chakra_is_metadata(struct proto message);
