/* SPDX-License-Identifier: Apache-2.0 */
/* Logs that a run writes packet by packet, see run_logs.h. A message is a line when its last packet has arrived. */
#include "metrics/run_logs.h"

bool run_logs_open(struct run_logs *logs, const char *packets, uint32_t extras, const char *messages,
                   const char *traffic, struct errors *errors)
{
    *logs = (struct run_logs){0};
    log_group_init(&logs->group, LOG_MESSAGES, true);
    log_matrix_init(&logs->matrix);
    log_columns_of_unit(&logs->columns, LOG_MESSAGES);
    if (!(extras & PACKET_LOG_CLASS))
        log_columns_leave_out(&logs->columns, "class");
    if ((packets && !(logs->packets = packet_log_open(packets, extras, errors))) ||
        (messages && !(logs->messages = csv_open(messages, errors))) ||
        (traffic && !(logs->traffic = csv_open(traffic, errors))))
        return false;
    if (messages)
        log_columns_header(&logs->columns, logs->messages);
    return true;
}

void run_logs_add(struct run_logs *logs, const struct packet_record *packet)
{
    if (logs->packets)
        packet_log_add(logs->packets, packet);
    if (!logs->messages && !logs->traffic)
        return;
    struct log_record record = {
        .application = packet->application,
        .source = packet->source,
        .destination = packet->destination,
        .packet = packet->packet,
        .message = packet->message,
        .message_flits = packet->message_flits,
        .initiator = packet->initiator,
        .transaction = packet->transaction,
        .transaction_messages = packet->transaction_messages,
        .flits = packet->packet_flits,
        .hops = packet->hops,
        .minimal_hops = packet->minimal_hops,
        .class = packet->class,
        .created = packet->created,
        .injected = packet->injected,
        .arrived = packet->tail_arrived,
    };
    log_record_of_packet(&record);
    if (logs->traffic)
        log_matrix_add(&logs->matrix, &record);
    if (logs->messages && log_group_add(&logs->group, &record) == LOG_COMPLETE)
        log_columns_line(&logs->columns, logs->messages, &logs->group.result);
}

static bool close_file(struct csv_file **file, struct errors *errors)
{
    bool is_good = !*file || csv_close(*file, errors);
    *file = NULL;
    return is_good;
}

bool run_logs_commit(struct run_logs *logs, struct errors *errors)
{
    if (logs->traffic)
        log_matrix_write(&logs->matrix, logs->traffic);
    bool is_good = !logs->packets || packet_log_close(logs->packets, errors);
    logs->packets = NULL;
    is_good &= close_file(&logs->messages, errors);
    is_good &= close_file(&logs->traffic, errors);
    return is_good;
}

void run_logs_release(struct run_logs *logs)
{
    if (logs->packets)
        packet_log_discard(logs->packets);
    csv_discard(logs->messages);
    csv_discard(logs->traffic);
    log_group_release(&logs->group);
    log_matrix_release(&logs->matrix);
    *logs = (struct run_logs){0};
}
