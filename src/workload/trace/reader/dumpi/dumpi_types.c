/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of datatypes, see dumpi_types.h. */
#include "workload/trace/reader/dumpi/dumpi_types.h"

#define LARGEST (1ull << 48) /* bytes of a datatype or a message that can be meant */

/* Those of the C types, for files that have no table. */
static const uint8_t built_in[] = {[2] = 1,  [3] = 1,  [4] = 1,  [5] = 1,   [6] = 4,   [7] = 2,   [8] = 2,  [9] = 4,
                                   [10] = 4, [11] = 8, [12] = 8, [13] = 4,  [14] = 8,  [15] = 16, [16] = 8, [17] = 8,
                                   [18] = 8, [19] = 1, [22] = 8, [23] = 12, [24] = 12, [25] = 6,  [26] = 8, [27] = 20};
#define BUILT_IN (sizeof built_in / sizeof *built_in)

struct made {
    bool is_known;
    uint64_t bytes;
};

void dumpi_types_init(struct dumpi_types *types, const struct dumpi_file *file)
{
    types->file = file;
    table_init(&types->made, sizeof(struct made), NULL);
}

void dumpi_types_release(struct dumpi_types *types) { table_release(&types->made); }

static struct made *made_of(struct dumpi_types *types, uint32_t type)
{
    return table_put(&types->made, &(struct table_key){{type}});
}

/* 0: not known, or of no bytes. */
static uint64_t size_of(struct dumpi_types *types, uint32_t type)
{
    const struct made *made = made_of(types, type);
    uint32_t stored = dumpi_type_size(types->file, type);
    return made->is_known ? made->bytes : stored || type >= BUILT_IN ? stored : built_in[type];
}

static void set_size(struct dumpi_types *types, const struct dumpi_call *call, uint64_t elements, uint64_t bytes)
{
    bool is_known = bytes <= LARGEST && (!bytes || elements <= LARGEST / bytes);
    *made_of(types, (uint32_t)dumpi_value(call, "newtype")) = (struct made){is_known, is_known ? elements * bytes : 0};
}

/* Negative numbers are wrong and make the size unknown. */
static uint64_t positive(int64_t number) { return number < 0 ? LARGEST + 1 : (uint64_t)number; }

static uint64_t sum_of(const struct dumpi_argument *lengths)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; lengths && i < lengths->count && sum <= LARGEST; i++)
        sum += positive(dumpi_number(lengths, i));
    return sum;
}

static uint64_t product_of(const struct dumpi_argument *lengths)
{
    uint64_t product = 1;
    for (uint32_t i = 0; lengths && i < lengths->count && product <= LARGEST; i++) {
        uint64_t length = positive(dumpi_number(lengths, i));
        product = length && product > LARGEST / length ? LARGEST + 1 : product * length;
    }
    return product;
}

static void follow_struct(struct dumpi_types *types, const struct dumpi_call *call,
                          const struct dumpi_argument *lengths)
{
    const struct dumpi_argument *of = dumpi_find(call, "oldtypes");
    uint64_t bytes = 0;
    for (uint32_t i = 0; lengths && of && i < lengths->count && bytes <= LARGEST; i++) {
        uint64_t length = positive(dumpi_number(lengths, i)), size = size_of(types, (uint32_t)dumpi_number(of, i));
        bytes += size && length > LARGEST / size ? LARGEST + 1 : length * size;
    }
    set_size(types, call, 1, bytes);
}

void dumpi_types_follow(struct dumpi_types *types, const struct dumpi_call *call)
{
    uint64_t old = size_of(types, (uint32_t)dumpi_value(call, "oldtype"));
    uint64_t count = positive(dumpi_value(call, "count")), length = positive(dumpi_value(call, "blocklength"));
    switch (call->id) {
    case DUMPI_TYPE_CONTIGUOUS:
        set_size(types, call, count, old);
        break;
    case DUMPI_TYPE_VECTOR:
    case DUMPI_TYPE_HVECTOR:
    case DUMPI_TYPE_CREATE_HVECTOR:
    case DUMPI_TYPE_CREATE_INDEXED_BLOCK:
        set_size(types, call, length && count > LARGEST / length ? LARGEST + 1 : count * length, old);
        break;
    case DUMPI_TYPE_INDEXED:
    case DUMPI_TYPE_HINDEXED:
        set_size(types, call, sum_of(dumpi_find(call, "lengths")), old);
        break;
    case DUMPI_TYPE_CREATE_HINDEXED:
        set_size(types, call, sum_of(dumpi_find(call, "blocklengths")), old);
        break;
    case DUMPI_TYPE_CREATE_SUBARRAY:
        set_size(types, call, product_of(dumpi_find(call, "subsizes")), old);
        break;
    case DUMPI_TYPE_DUP:
    case DUMPI_TYPE_CREATE_RESIZED:
        set_size(types, call, 1, old);
        break;
    case DUMPI_TYPE_STRUCT:
        follow_struct(types, call, dumpi_find(call, "lengths"));
        break;
    case DUMPI_TYPE_CREATE_STRUCT:
        follow_struct(types, call, dumpi_find(call, "blocklengths"));
        break;
    default:
        break;
    }
}

bool dumpi_bytes(struct dumpi_types *types, const struct dumpi_call *call, int64_t count, int64_t type, uint64_t *bytes)
{
    uint64_t size = size_of(types, (uint32_t)type);
    const char *name = dumpi_functions[call->id].name;
    *bytes = 0;
    if (count < 0)
        return dumpi_error(types->file, call->offset, "%s: a count of %lld", name, (long long)count);
    bool is_known = made_of(types, (uint32_t)type)->is_known || type < types->file->type_count || size;
    if (count && !is_known)
        return dumpi_error(types->file, call->offset, "%s: the size of datatype %lld is not known", name,
                           (long long)type);
    if (size && (uint64_t)count > LARGEST / size)
        return dumpi_error(types->file, call->offset, "%s: %lld elements of %llu bytes are too much", name,
                           (long long)count, (unsigned long long)size);
    *bytes = (uint64_t)count * size;
    return true;
}
