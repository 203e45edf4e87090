/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * From packets to messages to transactions. The packets of a message share
 * application, source and message number; it is complete when its flits are there.
 * The messages of a transaction share initiator and transaction number; it is
 * complete when as many are there as the log says, and where the log does not say,
 * at its end. Only what is not complete is kept in memory.
 */
#include "base/table.h"
#include "metrics/log_record.h"

struct log_group {
    enum log_unit unit;
    bool has_transactions;     /* in the log; otherwise each message is one */
    struct table messages;     /* struct log_record: those with flits missing */
    struct table transactions; /* struct log_record: those with messages missing or of unknown number */
    struct log_record result;
    /* After the end of the log. */
    uint64_t incomplete;         /* units that lack something */
    uint64_t incomplete_packets; /* packets in them */
    void **left;                 /* owned: transactions, by key */
    uint32_t left_count, left_at;
};

enum log_grouped {
    LOG_OPEN,     /* something is missing yet */
    LOG_COMPLETE, /* the packet completes the unit that is now in `result` */
    LOG_WRONG,    /* the packet contradicts others of its message */
};

void log_group_init(struct log_group *group, enum log_unit unit, bool has_transactions);
void log_group_release(struct log_group *group);
enum log_grouped log_group_add(struct log_group *group, const struct log_record *packet);
/* The log has ended: counts what is incomplete. */
void log_group_end(struct log_group *group);
/* The next transaction that is complete because the log has ended, in `result`; false when there are no more. */
bool log_group_next(struct log_group *group);
