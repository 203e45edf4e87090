/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of records: one row each, for filters, help, messages and the columns of CSV files. */
#include "metrics/log_record.h"

#include <string.h>

#define PACKETS (1u << LOG_PACKETS)
#define MESSAGES (1u << LOG_MESSAGES)
#define TRANSACTIONS (1u << LOG_TRANSACTIONS)
#define ALL LOG_ALL_UNITS
#define FIELD(name) offsetof(struct log_record, name)

const struct log_property log_properties[] = {
    {"app", NULL, "application", "number of the application", FIELD(application), ALL, false},
    {"src", NULL, "source", "terminal that sent it", FIELD(source), ALL, false},
    {"dst", NULL, "destination", "terminal that got it", FIELD(destination), ALL, false},
    {"packet", NULL, "packet", "number of the packet at its source", FIELD(packet), PACKETS, false},
    {"message", NULL, "message", "number of the message at its source", FIELD(message), PACKETS | MESSAGES, false},
    {"initiator", NULL, "initiator", "terminal that began the transaction", FIELD(initiator), ALL, false},
    {"transaction", NULL, "transaction", "number of the transaction at its initiator", FIELD(transaction), ALL, false},
    {"messages", NULL, "messages", "how many it has", FIELD(messages), TRANSACTIONS, false},
    {"packets", NULL, "packets", "how many it has", FIELD(packets), MESSAGES | TRANSACTIONS, false},
    {"size", NULL, "flits", "flits it has", FIELD(flits), ALL, false},
    {"hops", NULL, "hops", "channels between routers that it crossed", FIELD(hops), ALL, false},
    {"minimal_hops", "minhops", "minimal_hops", "the same on a shortest way", FIELD(minimal_hops), ALL, false},
    {"nonminimal", "nonmin", "nonminimal", "more hops than on a shortest way; takes no values", FIELD(is_nonminimal),
     ALL, true},
    {"plane", NULL, "plane", "router plane that it took, where there are several", FIELD(plane), PACKETS, false},
    {"class", NULL, "class", "protocol class, where there are several", FIELD(class), PACKETS | MESSAGES, false},
    {"send", NULL, "created", "tick at which it was made", FIELD(created), ALL, false},
    {"inject", NULL, "injected", "tick at which the head entered the network", FIELD(injected), ALL, false},
    {"recv", "arrived", "tail_arrived", "tick at which the tail arrived", FIELD(arrived), ALL, false},
    {"latency", NULL, "latency", "ticks from send to recv", FIELD(latency), ALL, false},
    {"network_latency", NULL, "network_latency", "ticks from inject to recv", FIELD(network_latency), ALL, false},
    {0},
};

const struct log_property *log_property_find(const char *name)
{
    for (const struct log_property *p = log_properties; p->name; p++)
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

void log_columns_of_unit(struct log_columns *columns, enum log_unit unit)
{
    columns->count = 0;
    for (const struct log_property *property = log_properties; property->name; property++)
        if (property->units >> unit & 1)
            columns->properties[columns->count++] = property;
}

void log_columns_leave_out(struct log_columns *columns, const char *name)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < columns->count; i++)
        if (strcmp(columns->properties[i]->name, name) != 0)
            columns->properties[kept++] = columns->properties[i];
    columns->count = kept;
}

void log_columns_header(const struct log_columns *columns, struct csv_file *file)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        csv_text(file, ",", i > 0);
        csv_text(file, columns->properties[i]->column, strlen(columns->properties[i]->column));
    }
    csv_text(file, "\n", 1);
}

void log_columns_line(const struct log_columns *columns, struct csv_file *file, const struct log_record *record)
{
    uint64_t numbers[LOG_RECORD_COLUMNS];
    for (uint32_t i = 0; i < columns->count; i++)
        numbers[i] = log_value(record, columns->properties[i]);
    csv_line(file, numbers, columns->count);
}
