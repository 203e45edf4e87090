/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of protocol buffers, see protobuf.h. */
#include "workload/trace/reader/chakra/protobuf.h"

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

/* Little-endian. */
static bool read_fixed(struct proto *proto, size_t size, uint64_t *value)
{
    *value = 0;
    if ((size_t)(proto->end - proto->at) < size)
        return false;
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)*proto->at++ << (8 * i);
    return true;
}

static bool read_bytes(struct proto *proto, struct proto *bytes)
{
    uint64_t size;
    if (!proto_varint(proto, &size) || size > (size_t)(proto->end - proto->at))
        return false;
    *bytes = (struct proto){proto->at, proto->at + size, false};
    proto->at += size;
    return true;
}

static bool read_value(struct proto *proto, uint64_t wire, struct proto_field *field)
{
    switch (wire) {
    case WIRE_VARINT:
        return proto_varint(proto, &field->value);
    case WIRE_FIXED64:
        return read_fixed(proto, 8, &field->value);
    case WIRE_FIXED32:
        return read_fixed(proto, 4, &field->value);
    case WIRE_BYTES:
        field->has_bytes = true;
        return read_bytes(proto, &field->bytes);
    default:
        return false;
    }
}

bool proto_next(struct proto *proto, struct proto_field *field)
{
    const unsigned char *start = proto->at;
    uint64_t key;
    *field = (struct proto_field){0};
    if (proto->at == proto->end || proto->is_broken)
        return false;
    if (proto_varint(proto, &key) && key >> 3 && key >> 3 <= UINT32_MAX && read_value(proto, key & 7, field)) {
        field->number = (uint32_t)(key >> 3);
        return true;
    }
    proto->at = start;
    proto->is_broken = true;
    return false;
}
