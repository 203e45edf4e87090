/* SPDX-License-Identifier: Apache-2.0 */
/* Logs that a run writes packet by packet, see run_logs.h. A message is a line when its last packet has arrived. */
#include "metrics/run_logs.h"

bool run_logs_open(struct run_logs *logs, const char *const names[RUN_LOG_KINDS], uint32_t extras,
                   struct errors *errors)
{
    *logs = (struct run_logs){.extras = extras};
    log_group_init(&logs->group, LOG_MESSAGES, true);
    log_matrix_init(&logs->matrix);
    log_columns_of_unit(&logs->columns, LOG_MESSAGES);
    if (!(extras & PACKET_LOG_CLASS))
        log_columns_leave_out(&logs->columns, "class");
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++)
        if (names[i] && !(logs->files[i] = csv_open(names[i], errors)))
            return false;
    if (logs->files[RUN_LOG_PACKETS])
        packet_log_begin(logs->files[RUN_LOG_PACKETS], extras);
    if (logs->files[RUN_LOG_MESSAGES])
        log_columns_header(&logs->columns, logs->files[RUN_LOG_MESSAGES]);
    return true;
}

void run_logs_add(struct run_logs *logs, const struct packet_record *packet)
{
    struct csv_file *packets = logs->files[RUN_LOG_PACKETS], *messages = logs->files[RUN_LOG_MESSAGES];
    struct csv_file *traffic = logs->files[RUN_LOG_TRAFFIC];
    if (packets)
        packet_log_add(packets, logs->extras, packet);
    if (!messages && !traffic)
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
    if (traffic)
        log_matrix_add(&logs->matrix, &record);
    if (messages && log_group_add(&logs->group, &record) == LOG_COMPLETE)
        log_columns_line(&logs->columns, messages, &logs->group.result);
}

bool run_logs_commit(struct run_logs *logs, struct errors *errors)
{
    bool is_good = true;
    if (logs->files[RUN_LOG_TRAFFIC])
        log_matrix_write(&logs->matrix, logs->files[RUN_LOG_TRAFFIC]);
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++) {
        is_good &= !logs->files[i] || csv_close(logs->files[i], errors);
        logs->files[i] = NULL;
    }
    return is_good;
}

void run_logs_release(struct run_logs *logs)
{
    for (uint32_t i = 0; i < RUN_LOG_KINDS; i++)
        csv_discard(logs->files[i]);
    log_group_release(&logs->group);
    log_matrix_release(&logs->matrix);
    *logs = (struct run_logs){0};
}
