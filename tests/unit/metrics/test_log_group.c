/* SPDX-License-Identifier: Apache-2.0 */
/* From packets to messages and transactions, and the files of sums: CSV numbers, matrix, time series. */
#include "sandbox.h"
#include "test.h"

#include "metrics/log.h"

/* A packet of 2 flits in a message of so many. */
static struct log_record packet_of(uint64_t source, uint64_t message, uint64_t message_flits)
{
    return (struct log_record){.source = source,
                               .message = message,
                               .message_flits = message_flits,
                               .flits = 2,
                               .hops = 3,
                               .minimal_hops = 3,
                               .created = 100,
                               .injected = 110,
                               .arrived = 150,
                               .packets = 1};
}

static struct log_record in_transaction(struct log_record packet, uint64_t initiator, uint64_t number,
                                        uint64_t messages)
{
    packet.initiator = initiator;
    packet.transaction = number;
    packet.transaction_messages = messages;
    return packet;
}

static enum log_grouped add(struct log_group *group, struct log_record packet) { return log_group_add(group, &packet); }

TEST(packets_are_complete_by_themselves)
{
    struct log_group group;
    log_group_init(&group, LOG_PACKETS, true);
    EXPECT(add(&group, packet_of(1, 5, 8)) == LOG_COMPLETE);
    EXPECT_EQ_U64(group.result.flits, 2);
    log_group_end(&group);
    EXPECT(group.incomplete == 0 && !log_group_next(&group));
    log_group_release(&group);
}

TEST(message_takes_the_earliest_and_the_latest_of_its_packets)
{
    struct log_group group;
    log_group_init(&group, LOG_MESSAGES, false);
    struct log_record late = packet_of(1, 5, 6), far = packet_of(1, 5, 6), other = packet_of(2, 5, 4);
    late.injected = 120;
    late.arrived = 190;
    far.hops = 5;
    far.is_nonminimal = 1;
    far.injected = 105;
    EXPECT(add(&group, late) == LOG_OPEN);
    EXPECT(add(&group, other) == LOG_OPEN); /* the same number at another source */
    EXPECT(add(&group, far) == LOG_OPEN);
    EXPECT(add(&group, packet_of(1, 5, 6)) == LOG_COMPLETE);
    const struct log_record *message = &group.result;
    EXPECT(message->flits == 6 && message->packets == 3 && message->messages == 1);
    EXPECT(message->hops == 5 && message->minimal_hops == 3 && message->is_nonminimal == 1);
    EXPECT(message->created == 100 && message->injected == 105 && message->arrived == 190);
    EXPECT(message->latency == 90 && message->network_latency == 85);
    log_group_end(&group);
    EXPECT(group.incomplete == 1 && group.incomplete_packets == 1);
    log_group_release(&group);
}

TEST(packets_that_do_not_fit_their_message_are_wrong)
{
    struct log_group group;
    log_group_init(&group, LOG_MESSAGES, false);
    EXPECT(add(&group, packet_of(1, 5, 3)) == LOG_OPEN);
    EXPECT(add(&group, packet_of(1, 5, 3)) == LOG_WRONG); /* 4 of 3 flits */
    EXPECT(add(&group, packet_of(1, 6, 8)) == LOG_OPEN);
    EXPECT(add(&group, packet_of(1, 6, 10)) == LOG_WRONG);
    log_group_release(&group);
}

TEST(transaction_ends_with_the_last_of_its_messages)
{
    struct log_group group;
    log_group_init(&group, LOG_TRANSACTIONS, true);
    struct log_record request = in_transaction(packet_of(4, 1, 2), 4, 9, 2);
    struct log_record answer = in_transaction(packet_of(7, 1, 4), 4, 9, 2);
    request.destination = 7;
    answer.destination = 4;
    answer.created = 160;
    answer.injected = 161;
    answer.arrived = 200;
    EXPECT(add(&group, answer) == LOG_OPEN);
    EXPECT(add(&group, request) == LOG_OPEN);
    EXPECT(add(&group, answer) == LOG_COMPLETE);
    const struct log_record *transaction = &group.result;
    EXPECT(transaction->source == 4 && transaction->destination == 7); /* of the request */
    EXPECT(transaction->initiator == 4 && transaction->transaction == 9);
    EXPECT(transaction->messages == 2 && transaction->packets == 3 && transaction->flits == 6);
    EXPECT(transaction->created == 100 && transaction->latency == 100);
    log_group_end(&group);
    EXPECT(group.incomplete == 0 && !log_group_next(&group));
    log_group_release(&group);
}

TEST(transaction_of_unknown_length_ends_with_the_log)
{
    struct log_group group;
    log_group_init(&group, LOG_TRANSACTIONS, true);
    EXPECT(add(&group, in_transaction(packet_of(1, 1, 2), 9, 1, 0)) == LOG_OPEN);
    EXPECT(add(&group, in_transaction(packet_of(1, 2, 2), 3, 7, 0)) == LOG_OPEN);
    EXPECT(add(&group, in_transaction(packet_of(1, 3, 2), 9, 1, 0)) == LOG_OPEN);
    EXPECT(add(&group, in_transaction(packet_of(1, 4, 2), 5, 5, 3)) == LOG_OPEN); /* lacks two messages */
    EXPECT(add(&group, in_transaction(packet_of(1, 5, 8), 6, 6, 0)) == LOG_OPEN); /* lacks flits */
    EXPECT(add(&group, in_transaction(packet_of(1, 6, 2), 2, 2, 1)) == LOG_COMPLETE);
    log_group_end(&group);
    EXPECT(group.incomplete == 2 && group.incomplete_packets == 2);
    EXPECT(log_group_next(&group) && group.result.initiator == 3 && group.result.messages == 1);
    EXPECT(log_group_next(&group) && group.result.initiator == 9 && group.result.messages == 2);
    EXPECT(!log_group_next(&group));
    log_group_release(&group);
}

TEST(message_is_a_transaction_where_the_log_knows_none)
{
    struct log_group group;
    log_group_init(&group, LOG_TRANSACTIONS, false);
    EXPECT(add(&group, packet_of(6, 5, 4)) == LOG_OPEN);
    EXPECT(add(&group, packet_of(6, 5, 4)) == LOG_COMPLETE);
    EXPECT(group.result.initiator == 6 && group.result.transaction == 5 && group.result.messages == 1);
    EXPECT(add(&group, packet_of(6, 7, 4)) == LOG_OPEN);
    log_group_end(&group);
    EXPECT(group.incomplete == 1 && group.incomplete_packets == 1 && !log_group_next(&group));
    log_group_release(&group);
}

/* ---- sums ---- */

/* What was written to the file since it was opened, closing it. */
static const char *written(struct sandbox *box, struct csv_file *file)
{
    size_t size;
    EXPECT(csv_close(file, &box->errors));
    return file_read(&box->arena, path_in(box, "out.csv"), &size);
}

static struct csv_file *open_file(struct sandbox *box)
{
    sandbox_open(box);
    return csv_open(path_in(box, "out.csv"), &box->errors);
}

TEST(ratios_have_six_rounded_decimals)
{
    struct sandbox box;
    struct csv_file *file = open_file(&box);
    csv_ratio(file, 2, 3, ',');
    csv_ratio(file, 1, 3, ',');
    csv_ratio(file, 0, 0, ',');
    csv_ratio(file, 29999999, 10000000, ',');
    csv_ratio(file, (unsigned __int128)UINT64_MAX * 4, 8, '\n');
    EXPECT_TEXT_EQ(written(&box, file), "0.666667,0.333333,,3.000000,9223372036854775807.500000\n");
    sandbox_close(&box, "out.csv", NULL);
}

static struct log_record record_of(uint64_t source, uint64_t destination, uint64_t created, uint64_t latency)
{
    return (struct log_record){
        .source = source, .destination = destination, .created = created, .latency = latency, .flits = 4};
}

TEST(matrix_has_a_line_for_each_pair_that_occurs_in_order)
{
    struct sandbox box;
    struct csv_file *file = open_file(&box);
    struct table matrix;
    log_matrix_init(&matrix);
    const struct log_record records[] = {record_of(9, 1, 0, 5), record_of(1, 9, 0, 7), record_of(9, 1, 0, 10),
                                         record_of(1, 2, 0, 3)};
    for (uint32_t i = 0; i < 4; i++)
        log_matrix_add(&matrix, &records[i]);
    log_matrix_write(&matrix, file);
    table_release(&matrix);
    EXPECT_TEXT_EQ(written(&box, file), "source,destination,count,flits,latency_mean,latency_max\n"
                                        "1,2,1,4,3.000000,3\n1,9,1,4,7.000000,7\n9,1,2,8,7.500000,10\n");
    sandbox_close(&box, "out.csv", NULL);
}

TEST(series_shows_gaps_and_forgets_no_latency)
{
    struct sandbox box;
    struct csv_file *file = open_file(&box);
    struct log_series series;
    log_series_init(&series, 100);
    const struct log_record records[] = {record_of(0, 0, 450, 200), record_of(0, 0, 250, 1),
                                         record_of(0, 0, 299, 100000), record_of(0, 0, 200, 40)};
    for (uint32_t i = 0; i < 4; i++)
        EXPECT(log_series_add(&series, &records[i]));
    log_series_write(&series, file);
    log_series_release(&series);
    EXPECT_TEXT_EQ(written(&box, file), "start,count,flits,latency_mean,latency_p50,latency_p99,latency_max\n"
                                        "200,3,12,33347.000000,40,100000,100000\n300,0,0,,,,\n"
                                        "400,1,4,200.000000,200,200,200\n");
    sandbox_close(&box, "out.csv", NULL);
}

TEST(series_of_too_many_intervals_is_refused)
{
    struct log_series series;
    log_series_init(&series, 1);
    const struct log_record first = record_of(0, 0, 1000, 1), last = record_of(0, 0, 1000 + LOG_SERIES_MAX - 1, 1),
                            beyond = record_of(0, 0, 1000 + LOG_SERIES_MAX, 1), before = record_of(0, 0, 999, 1);
    EXPECT(log_series_add(&series, &last));
    EXPECT(log_series_add(&series, &first));
    EXPECT(!log_series_add(&series, &beyond));
    EXPECT(!log_series_add(&series, &before));
    log_series_release(&series);
}
