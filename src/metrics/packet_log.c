/* SPDX-License-Identifier: Apache-2.0 */
/* The packet log is a CSV file with a header and a record's fields in a line, see csv_file.c. */
#include "metrics/packet_log.h"

#include "base/text.h"
#include "flitwarp/arena.h"
#include "metrics/csv_file.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS (sizeof(struct packet_record) / sizeof(uint64_t))

struct packet_log {
    struct csv_file *file; /* owned */
    uint32_t columns;
};

bool packet_log_name_is_valid(const char *name)
{
    return name_ends_with(name, ".csv") || name_ends_with(name, ".csv.zst");
}

struct packet_log *packet_log_open(const char *name, bool has_planes, struct errors *errors)
{
    struct csv_file *file = csv_open(name, errors);
    if (!file)
        return NULL;
    const char *end = has_planes ? ",plane\n" : "\n";
    csv_text(file, PACKET_LOG_HEADER, strlen(PACKET_LOG_HEADER));
    csv_text(file, end, strlen(end));
    struct packet_log *log = memory_take(sizeof(*log));
    *log = (struct packet_log){.file = file, .columns = has_planes ? FIELDS : FIELDS - 1};
    return log;
}

void packet_log_add(struct packet_log *log, const struct packet_record *record)
{
    uint64_t fields[FIELDS];
    memcpy(fields, record, sizeof(fields));
    csv_line(log->file, fields, log->columns);
}

bool packet_log_close(struct packet_log *log, struct errors *errors)
{
    bool is_good = csv_close(log->file, errors);
    free(log);
    return is_good;
}

void packet_log_discard(struct packet_log *log)
{
    csv_discard(log->file);
    free(log);
}
