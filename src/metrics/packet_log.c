/* SPDX-License-Identifier: Apache-2.0 */
/* The packet log is a CSV file with a header and a record's fields in a line, see csv_file.c. */
#include "metrics/packet_log.h"

#include "base/text.h"

#include <string.h>

#define FIELDS (sizeof(struct packet_record) / sizeof(uint64_t))
#define COMMON_FIELDS (offsetof(struct packet_record, plane) / sizeof(uint64_t))

bool packet_log_name_is_valid(const char *name)
{
    return name_ends_with(name, ".csv") || name_ends_with(name, ".csv.zst");
}

void packet_log_begin(struct csv_file *file, uint32_t extras)
{
    csv_text(file, PACKET_LOG_HEADER, strlen(PACKET_LOG_HEADER));
    csv_text(file, ",plane", extras & PACKET_LOG_PLANE ? 6 : 0);
    csv_text(file, ",class", extras & PACKET_LOG_CLASS ? 6 : 0);
    csv_text(file, "\n", 1);
}

void packet_log_add(struct csv_file *file, uint32_t extras, const struct packet_record *record)
{
    uint64_t fields[FIELDS];
    uint32_t columns = COMMON_FIELDS;
    memcpy(fields, record, COMMON_FIELDS * sizeof *fields);
    if (extras & PACKET_LOG_PLANE)
        fields[columns++] = record->plane;
    if (extras & PACKET_LOG_CLASS)
        fields[columns++] = record->class;
    csv_line(file, fields, columns);
}
