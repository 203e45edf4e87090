/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The properties of records: one row each, for filters, help, messages and the columns of CSV files; and the logs that a
 * run writes packet by packet, see log.h. A message is a line when its last packet has arrived.
 */
#include "metrics/log.h"

#include <string.h>

#define PACKETS (1u << LOG_PACKETS)
#define MESSAGES (1u << LOG_MESSAGES)
#define TRANSACTIONS (1u << LOG_TRANSACTIONS)
#define ALL LOG_ALL_UNITS
#define PROPERTY(name_, column_, field, units_, ...)                                                                   \
    {                                                                                                                  \
        .name = name_, .column = column_, .offset = offsetof(struct log_record, field), .units = units_,               \
        .help = __VA_ARGS__                                                                                            \
    }
#define COLUMN(column_, field, need_)                                                                                  \
    {                                                                                                                  \
        .column = column_, .offset = offsetof(struct log_record, field), .units = PACKETS, .need = LOG_##need_         \
    }

const struct log_property log_properties[] = {
    PROPERTY("app", "application", application, ALL, "number of the application"),
    PROPERTY("src", "source", source, ALL, "terminal that sent it"),
    PROPERTY("dst", "destination", destination, ALL, "terminal that got it"),
    PROPERTY("packet", "packet", packet, PACKETS, "number of the packet at its source"),
    PROPERTY("message", "message", message, PACKETS | MESSAGES, "number of the message at its source"),
    PROPERTY("initiator", "initiator", initiator, ALL, "terminal that began the transaction"),
    PROPERTY("transaction", "transaction", transaction, ALL, "number of the transaction at its initiator"),
    PROPERTY("messages", "messages", messages, TRANSACTIONS, "how many it has"),
    PROPERTY("packets", "packets", packets, MESSAGES | TRANSACTIONS, "how many it has"),
    PROPERTY("size", "flits", flits, ALL, "flits it has"),
    PROPERTY("hops", "hops", hops, ALL, "channels between routers that it crossed"),
    PROPERTY("minimal_hops", "minimal_hops", minimal_hops, ALL, "the same on a shortest way", .alias = "minhops"),
    PROPERTY("nonminimal", "nonminimal", is_nonminimal, ALL, "more hops than on a shortest way; takes no values",
             .alias = "nonmin", .is_claim = true),
    PROPERTY("plane", "plane", plane, PACKETS, "router plane that it took, where there are several"),
    PROPERTY("class", "class", class, PACKETS | MESSAGES, "protocol class, where there are several"),
    PROPERTY("send", "created", created, ALL, "tick at which it was made"),
    PROPERTY("inject", "injected", injected, ALL, "tick at which the head entered the network"),
    PROPERTY("recv", "tail_arrived", arrived, ALL, "tick at which the tail arrived", .alias = "arrived"),
    PROPERTY("latency", "latency", latency, ALL, "ticks from send to recv"),
    PROPERTY("network_latency", "network_latency", network_latency, ALL, "ticks from inject to recv"),
    {0},
};

/* In the order in which they are written. */
const struct log_property packet_log_columns[] = {
    COLUMN("application", application, REQUIRED),
    COLUMN("source", source, REQUIRED),
    COLUMN("destination", destination, REQUIRED),
    COLUMN("packet", packet, OPTIONAL),
    COLUMN("message", message, REQUIRED),
    COLUMN("message_flits", message_flits, REQUIRED),
    COLUMN("packet_flits", flits, REQUIRED),
    COLUMN("hops", hops, REQUIRED),
    COLUMN("minimal_hops", minimal_hops, REQUIRED),
    COLUMN("created", created, REQUIRED),
    COLUMN("injected", injected, REQUIRED),
    COLUMN("head_arrived", head_arrived, NOT_READ),
    COLUMN("tail_arrived", arrived, REQUIRED),
    COLUMN("initiator", initiator, TOGETHER),
    COLUMN("transaction", transaction, TOGETHER),
    COLUMN("transaction_messages", transaction_messages, TOGETHER),
    COLUMN("plane", plane, EXTRA),
    COLUMN("class", class, EXTRA),
    {0},
};

const struct log_property *log_property_find(const char *name)
{
    for (const struct log_property *p = log_properties; p->column; p++)
        if (strcmp(name, p->name) == 0 || strcmp(name, p->column) == 0 || (p->alias && strcmp(name, p->alias) == 0))
            return p;
    return NULL;
}

const char *log_unit_name(enum log_unit unit, uint64_t count)
{
    static const char *const names[][2] = {
        {"packets", "packet"}, {"messages", "message"}, {"transactions", "transaction"}};
    return names[unit][count == 1];
}

void log_columns_add(struct log_columns *columns, const struct log_property *list, enum log_unit unit)
{
    for (; list->column; list++)
        if (list->units >> unit & 1)
            columns->properties[columns->count++] = list;
}

void log_columns_leave_out(struct log_columns *columns, const char *column)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < columns->count; i++)
        if (strcmp(columns->properties[i]->column, column) != 0)
            columns->properties[kept++] = columns->properties[i];
    columns->count = kept;
}

void log_columns_header(const struct log_columns *columns, struct csv_file *file)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        csv_text(file, i ? "," : "");
        csv_text(file, columns->properties[i]->column);
    }
    csv_text(file, "\n");
}

void log_columns_line(const struct log_columns *columns, struct csv_file *file, const struct log_record *record)
{
    uint64_t numbers[LOG_RECORD_COLUMNS];
    for (uint32_t i = 0; i < columns->count; i++)
        numbers[i] = log_value(record, columns->properties[i]);
    csv_line(file, numbers, columns->count);
}

/* ---- the logs of a run ---- */

bool run_logs_open(struct run_logs *logs, const char *const names[RUN_LOG_KINDS], bool has_planes, bool has_classes,
                   struct errors *errors)
{
    *logs = (struct run_logs){0};
    log_group_init(&logs->group, LOG_MESSAGES, true);
    log_matrix_init(&logs->matrix);
    log_columns_add(&logs->columns[RUN_LOG_PACKETS], packet_log_columns, LOG_PACKETS);
    log_columns_add(&logs->columns[RUN_LOG_MESSAGES], log_properties, LOG_MESSAGES);
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++) {
        if (names[i] && !(logs->files[i] = csv_open(names[i], errors)))
            return false;
        if (!has_planes)
            log_columns_leave_out(&logs->columns[i], "plane");
        if (!has_classes)
            log_columns_leave_out(&logs->columns[i], "class");
        if (logs->files[i] && logs->columns[i].count)
            log_columns_header(&logs->columns[i], logs->files[i]);
    }
    return true;
}

void run_logs_add(struct run_logs *logs, struct log_record *packet)
{
    struct csv_file *const *files = logs->files;
    if (files[RUN_LOG_PACKETS])
        log_columns_line(&logs->columns[RUN_LOG_PACKETS], files[RUN_LOG_PACKETS], packet);
    log_record_of_packet(packet);
    if (files[RUN_LOG_TRAFFIC])
        log_matrix_add(&logs->matrix, packet);
    if (files[RUN_LOG_MESSAGES] && log_group_add(&logs->group, packet) == LOG_COMPLETE)
        log_columns_line(&logs->columns[RUN_LOG_MESSAGES], files[RUN_LOG_MESSAGES], &logs->group.result);
}

bool run_logs_end(struct run_logs *logs, csv_act *act, struct errors *errors)
{
    if (logs->files[RUN_LOG_TRAFFIC] && act == csv_close)
        log_matrix_write(&logs->matrix, logs->files[RUN_LOG_TRAFFIC]);
    bool is_good = csv_all(logs->files, RUN_LOG_KINDS, act, errors);
    log_group_release(&logs->group);
    table_release(&logs->matrix);
    *logs = (struct run_logs){0};
    return is_good;
}
