/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes nodes of Chakra execution traces, see node.h. */
#include "workload/trace/reader/chakra/node.h"

#include "flitwarp/arena.h"

#include <string.h>

/* ---- the wire format of protocol buffers ---- */

/* A field has a number and a value. */
struct proto_field {
    uint32_t number;
    bool has_bytes;
    uint64_t value;     /* of a number, as it was written */
    struct proto bytes; /* of a text, a list of numbers or another message */
};

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

bool proto_varint(struct proto *proto, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && proto->at < proto->end; shift += 7) {
        unsigned char byte = *proto->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    proto->is_broken = true;
    return false;
}

/* The next field, numbers little-endian; false at the end, and where the rest is broken. */
static bool proto_next(struct proto *proto, struct proto_field *field)
{
    const unsigned char *start = proto->at;
    uint64_t key, size = 0;
    *field = (struct proto_field){0};
    if (proto->at == proto->end || proto->is_broken)
        return false;
    bool is_good = proto_varint(proto, &key) && key >> 3 && key >> 3 <= UINT32_MAX;
    enum wire wire = key & 7;
    if (wire == WIRE_VARINT || wire == WIRE_BYTES)
        is_good = is_good && proto_varint(proto, wire == WIRE_BYTES ? &size : &field->value);
    else
        size = wire == WIRE_FIXED64 ? 8 : wire == WIRE_FIXED32 ? 4 : UINT64_MAX;
    if (!is_good || size > (size_t)(proto->end - proto->at)) {
        proto->at = start;
        proto->is_broken = true;
        return false;
    }
    field->number = (uint32_t)(key >> 3);
    field->has_bytes = wire == WIRE_BYTES;
    if (field->has_bytes)
        field->bytes = (struct proto){proto->at, proto->at + size, false};
    for (uint64_t i = 0; !field->has_bytes && i < size; i++)
        field->value |= (uint64_t)proto->at[i] << (8 * i);
    proto->at += size;
    return true;
}

/* ---- nodes ---- */

enum metadata_field { METADATA_VERSION = 1, METADATA_ATTRIBUTE = 2 };
enum node_field { NODE_ID = 1, NODE_TYPE = 3, NODE_CONTROL = 4, NODE_DATA = 5, NODE_DURATION = 7, NODE_ATTRIBUTE = 10 };
enum attribute_field { ATTRIBUTE_NAME = 1, ATTRIBUTE_DOC = 2, ATTRIBUTE_SINT32 = 15, ATTRIBUTE_SINT64 = 17 };

const char *const chakra_attribute_names[CHAKRA_ATTRIBUTES] = {
    [COMM_TYPE] = "comm_type",       [COMM_SIZE] = "comm_size", [COMM_SOURCE] = "comm_src",
    [COMM_DESTINATION] = "comm_dst", [COMM_TAG] = "comm_tag",   [IS_CPU_OP] = "is_cpu_op",
};

bool proto_is_text(struct proto bytes, const char *text)
{
    return (size_t)(bytes.end - bytes.at) == strlen(text) && memcmp(bytes.at, text, strlen(text)) == 0;
}

/* Writers differ in which kind of number they take for the same attribute: all are accepted. */
static bool decode_attribute(struct proto message, struct chakra_node *node)
{
    struct proto name = {0};
    struct proto_field field, value = {0};
    while (proto_next(&message, &field))
        if (field.number == ATTRIBUTE_NAME && field.has_bytes)
            name = field.bytes;
        else if (field.number != ATTRIBUTE_DOC)
            value = field;
        else
            continue;
    if (value.number == ATTRIBUTE_SINT32 || value.number == ATTRIBUTE_SINT64)
        value.value = value.value >> 1 ^ -(value.value & 1); /* the sign is the lowest bit */
    for (uint32_t i = 0; i < CHAKRA_ATTRIBUTES && name.at; i++)
        if (proto_is_text(name, chakra_attribute_names[i]) && !value.has_bytes) {
            node->attributes[i] = value.value;
            node->has |= 1u << i;
        }
    if (name.at && value.has_bytes && (proto_is_text(name, "comm_group") || proto_is_text(name, "pg_name")))
        node->group = value.bytes;
    return !message.is_broken;
}

/* A list in one piece, or one number of a list that is not. */
static bool decode_waits(struct proto_field field, struct chakra_waits *waits)
{
    for (bool has_more = true; has_more; has_more = field.has_bytes) {
        if (field.has_bytes && field.bytes.at == field.bytes.end)
            return true;
        if (field.has_bytes && !proto_varint(&field.bytes, &field.value))
            return false;
        waits->ids = memory_grow(waits->ids, waits->count, &waits->room, sizeof *waits->ids);
        waits->ids[waits->count++] = field.value;
    }
    return true;
}

bool chakra_node_decode(struct proto *message, struct chakra_node *node, struct chakra_waits *waits)
{
    struct proto_field field;
    bool is_good = true;
    *node = (struct chakra_node){0};
    while (is_good && proto_next(message, &field))
        if (field.number == NODE_ID)
            node->id = field.value;
        else if (field.number == NODE_TYPE)
            node->type = field.value;
        else if (field.number == NODE_DURATION)
            node->duration_us = field.value;
        else if (field.number == NODE_CONTROL || field.number == NODE_DATA)
            is_good = decode_waits(field, waits);
        else if (field.number == NODE_ATTRIBUTE)
            is_good = field.has_bytes && decode_attribute(field.bytes, node);
    return is_good && !message->is_broken;
}

bool chakra_is_metadata(struct proto message)
{
    struct proto_field field;
    uint32_t fields = 0;
    for (; proto_next(&message, &field); fields++)
        if (!field.has_bytes || (field.number != METADATA_VERSION && field.number != METADATA_ATTRIBUTE))
            return false;
    return fields > 0 && !message.is_broken;
}
