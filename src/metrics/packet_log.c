/* SPDX-License-Identifier: Apache-2.0 */
/* The packet log is a CSV file with a header and a record's fields in a line, see csv_file.c. */
#include "metrics/packet_log.h"

#include "base/text.h"
#include "flitwarp/arena.h"
#include "metrics/csv_file.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS (sizeof(struct packet_record) / sizeof(uint64_t))
#define COMMON_FIELDS (offsetof(struct packet_record, plane) / sizeof(uint64_t))

struct packet_log {
    struct csv_file *file; /* owned */
    uint32_t extras;       /* set of enum packet_log_extra */
};

bool packet_log_name_is_valid(const char *name)
{
    return name_ends_with(name, ".csv") || name_ends_with(name, ".csv.zst");
}

struct packet_log *packet_log_open(const char *name, uint32_t extras, struct errors *errors)
{
    struct csv_file *file = csv_open(name, errors);
    if (!file)
        return NULL;
    csv_text(file, PACKET_LOG_HEADER, strlen(PACKET_LOG_HEADER));
    csv_text(file, ",plane", extras & PACKET_LOG_PLANE ? 6 : 0);
    csv_text(file, ",class", extras & PACKET_LOG_CLASS ? 6 : 0);
    csv_text(file, "\n", 1);
    struct packet_log *log = memory_take(sizeof(*log));
    *log = (struct packet_log){.file = file, .extras = extras};
    return log;
}

void packet_log_add(struct packet_log *log, const struct packet_record *record)
{
    uint64_t fields[FIELDS];
    uint32_t columns = COMMON_FIELDS;
    memcpy(fields, record, COMMON_FIELDS * sizeof *fields);
    if (log->extras & PACKET_LOG_PLANE)
        fields[columns++] = record->plane;
    if (log->extras & PACKET_LOG_CLASS)
        fields[columns++] = record->class;
    csv_line(log->file, fields, columns);
}

struct csv_file *packet_log_file(struct packet_log *log) { return log->file; }

bool packet_log_close(struct packet_log *log, struct errors *errors)
{
    bool is_good = csv_close(log->file, errors);
    free(log);
    return is_good;
}

void packet_log_leave(struct packet_log *log)
{
    csv_leave(log->file);
    free(log);
}

void packet_log_discard(struct packet_log *log)
{
    csv_discard(log->file);
    free(log);
}
