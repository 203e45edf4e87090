/* SPDX-License-Identifier: Apache-2.0 */
/* Logs that a run writes packet by packet, see log.h. A message is a line when its last packet has arrived. */
#include "metrics/log.h"

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
