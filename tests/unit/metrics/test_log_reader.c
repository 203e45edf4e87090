/* SPDX-License-Identifier: Apache-2.0 */
/* Reading packet logs: what a run writes comes back; what is broken is named with its place. */
#include "sandbox.h"
#include "test.h"

#include "metrics/log.h"

#include <string.h>
#include <zstd.h>

/* The columns that every log has; those of transactions may be missing. */
#define HEADER                                                                                                         \
    "application,source,destination,packet,message,message_flits,packet_flits,hops,minimal_hops,"                      \
    "created,injected,head_arrived,tail_arrived\n"

#define RECORDS 50000 /* several buffers full */

static const char right[] = "0,3,7,5,4,8,2,3,2,100,110,120,121\n";

static struct log_record record_at(uint64_t i)
{
    uint64_t far = i % 5 ? i : i << 40;
    return (struct log_record){.application = i % 3,
                               .source = i % 64,
                               .destination = i * 7 % 64,
                               .packet = i,
                               .message = i / 2,
                               .message_flits = 8 + i % 4,
                               .flits = 1 + i % 8,
                               .hops = i % 9,
                               .minimal_hops = i % 7,
                               .created = far,
                               .injected = far + 2,
                               .head_arrived = far + 20 + i % 1000,
                               .arrived = far + 30 + i % 1000};
}

static void expect_record(const struct log_record *found, uint64_t i)
{
    struct log_record record = record_at(i);
    EXPECT_EQ_U64(found->application, record.application);
    EXPECT_EQ_U64(found->source, record.source);
    EXPECT_EQ_U64(found->destination, record.destination);
    EXPECT_EQ_U64(found->packet, record.packet);
    EXPECT_EQ_U64(found->message, record.message);
    EXPECT_EQ_U64(found->message_flits, record.message_flits);
    EXPECT_EQ_U64(found->flits, record.flits);
    EXPECT_EQ_U64(found->hops, record.hops);
    EXPECT_EQ_U64(found->minimal_hops, record.minimal_hops);
    EXPECT_EQ_U64(found->is_nonminimal, record.hops > record.minimal_hops);
    EXPECT_EQ_U64(found->created, record.created);
    EXPECT_EQ_U64(found->injected, record.injected);
    EXPECT_EQ_U64(found->arrived, record.arrived);
    EXPECT_EQ_U64(found->latency, record.arrived - record.created);
    EXPECT_EQ_U64(found->network_latency, record.arrived - record.injected);
}

static void expect_reads_back(const char *name)
{
    struct sandbox box;
    sandbox_open(&box);
    struct csv_file *log = csv_open(path_in(&box, name), &box.errors);
    struct log_columns columns = {0};
    log_columns_add(&columns, packet_log_columns, LOG_PACKETS);
    log_columns_header(&columns, log);
    for (uint64_t i = 0; i < RECORDS; i++) {
        struct log_record record = record_at(i);
        log_columns_line(&columns, log, &record);
    }
    EXPECT(csv_close(log, &box.errors));
    struct log_reader reader;
    EXPECT(log_reader_open(&reader, path_in(&box, name), &box.errors));
    struct log_record record = {0};
    uint64_t count = 0;
    while (log_reader_next(&reader, &record, &box.errors))
        expect_record(&record, count++);
    EXPECT_EQ_U64(count, RECORDS);
    EXPECT_EQ_U64(box.errors.count, 0);
    log_reader_close(&reader);
    sandbox_close(&box, name, NULL);
}

TEST(plain_log_reads_back) { expect_reads_back("log.csv"); }

TEST(compressed_log_reads_back) { expect_reads_back("log.csv.zst"); }

/* Reads a log to its end or to its first error; all messages. `records` counts what came before. */
static const char *read_log(struct sandbox *box, const void *bytes, size_t size, struct log_record *last,
                            uint64_t *records)
{
    struct log_reader reader;
    *last = (struct log_record){0};
    *records = 0;
    if (log_reader_open(&reader, sandbox_write(box, "log.csv", bytes, size), &box->errors))
        while (log_reader_next(&reader, last, &box->errors))
            ++*records;
    log_reader_close(&reader);
    return errors_text(&box->errors);
}

static void expect_error(const char *text, const char *expected)
{
    struct sandbox box;
    sandbox_open(&box);
    struct log_record record;
    uint64_t records;
    EXPECT_TEXT_CONTAINS(read_log(&box, text, strlen(text), &record, &records), expected);
    EXPECT_EQ_U64(box.errors.count, 1);
    sandbox_close(&box, "log.csv", NULL);
}

static void expect_line_error(const char *line, const char *expected)
{
    struct text text = {0};
    text_addf(&text, "%s%s%s", HEADER, right, line);
    expect_error(text.chars, expected);
    text_release(&text);
}

TEST(columns_are_found_by_name_and_others_passed_over)
{
    struct sandbox box;
    sandbox_open(&box);
    const char text[] = "note,tail_arrived,injected,created,minimal_hops,hops,packet_flits,message_flits,message,"
                        "destination,source,application,initiator,transaction,transaction_messages,more\r\n"
                        "a word,9,8,7,6,5,4,40,30,2,1,0,11,12,13,\r\n";
    struct log_record r;
    uint64_t records;
    EXPECT_TEXT_EQ(read_log(&box, text, strlen(text), &r, &records), "");
    EXPECT_EQ_U64(records, 1);
    EXPECT(r.arrived == 9 && r.injected == 8 && r.created == 7 && r.minimal_hops == 6 && r.hops == 5 && r.flits == 4);
    EXPECT(r.message_flits == 40 && r.message == 30 && r.destination == 2 && r.source == 1 && r.application == 0);
    EXPECT(r.initiator == 11 && r.transaction == 12 && r.transaction_messages == 13);
    sandbox_close(&box, "log.csv", NULL);
}

TEST(largest_number_is_read_and_larger_ones_are_not)
{
    struct sandbox box;
    sandbox_open(&box);
    const char text[] = HEADER "0,3,7,5,4,8,2,3,2,100,110,120,18446744073709551615\n"
                               "0,3,7,5,4,8,2,3,2,100,110,120,18446744073709551616\n";
    struct log_record record;
    uint64_t records;
    EXPECT_TEXT_CONTAINS(read_log(&box, text, strlen(text), &record, &records),
                         "log.csv:3: tail_arrived: found '18446744073709551616', expected a whole number");
    EXPECT_EQ_U64(records, 1);
    sandbox_close(&box, "log.csv", NULL);
}

TEST(broken_line_is_named_with_what_is_wrong)
{
    expect_line_error("0,3,7\n", "log.csv:3: found 3 fields, expected 13: '0,3,7'");
    expect_line_error("0,3,7,5,4,8,2,3,2,100,110,120,121,4\n", "log.csv:3: found 14 fields, expected 13");
    expect_line_error("0,3,7,5,4,8,2,three,2,100,110,120,121\n", "log.csv:3: hops: found 'three', expected a whole");
    expect_line_error("0,-3,7,5,4,8,2,3,2,100,110,120,121\n", "log.csv:3: source: found '-3', expected a whole");
    expect_line_error("0,3,7,5,4,8,2,3,2,100,110,120,\n", "log.csv:3: tail_arrived: found '', expected a whole");
    expect_line_error("\n", "log.csv:3: found an empty line, expected 13 fields");
    expect_line_error("0,3,7,5,4,8,2,3,2,100,90,120,121\n", "log.csv:3: found created 100, injected 90");
    expect_line_error("0,3,7,5,4,8,2,3,2,100,110,120,109\n", "tail_arrived 109, expected them to rise");
    expect_line_error("0,3,7,5,4,8,0,3,2,100,110,120,121\n", "log.csv:3: packet_flits: found 0, expected 1 to");
    expect_line_error("0,3,7,5,4,8,9,3,2,100,110,120,121\n", "message_flits, which is 8");
    expect_line_error("0,3,7,5,4,8,2,3,2,100,110,120,121", "log.csv:3: the last line has no end, the log is cut off");
}

TEST(header_that_is_not_right_is_named)
{
    expect_error("", "is empty, no packet log; 'flitwarp run CONFIG --log FILE' makes one");
    expect_error("{\"network\": {}}\n", "is JSON");
    expect_error("// a configuration", "is JSON");
    expect_error("\x1f\x8b rest\n", "is no packet log: it begins with '.. rest'");
    expect_error("1,2,3\n", "is no packet log: it begins with '1,2,3'");
    expect_error("application,source,destination,packet,message,packet_flits,hops,minimal_hops,created,injected,"
                 "tail_arrived\n",
                 "log.csv:1: column 'message_flits' is missing; a packet log begins with 'application,source,");
    expect_error("application,source,destination,packet,message,message_flits,packet_flits,hops,minimal_hops,created,"
                 "injected,tail_arrived,hops\n",
                 "log.csv:1: column 'hops' is there twice");
    expect_error("application,source,destination,packet,message,message_flits,packet_flits,hops,minimal_hops,created,"
                 "injected,tail_arrived,initiator,transaction\n",
                 "log.csv:1: column 'transaction_messages' is missing");
    expect_error("application,source", "log.csv:1: columns 'destination', 'message', 'message_flits', 'packet_flits',");
}

TEST(line_without_end_is_an_error)
{
    struct text text = {0};
    text_add(&text, HEADER);
    for (uint32_t i = 0; i < 300000; i++)
        text_add(&text, "12345,");
    expect_error(text.chars, "log.csv:2: found a line of over 1048576 bytes");
    text_release(&text);
}

/* The text of `lines` right lines, compressed into the arena. */
static char *compressed_log(struct arena *arena, uint32_t lines, size_t *size)
{
    struct text text = {0};
    text_add(&text, HEADER);
    for (uint32_t i = 0; i < lines; i++)
        text_add(&text, right);
    size_t room = ZSTD_compressBound(text.length);
    char *bytes = arena_take(arena, room);
    *size = ZSTD_compress(bytes, room, text.chars, text.length, 1);
    text_release(&text);
    return bytes;
}

TEST(compressed_log_that_is_cut_off_or_spoilt_is_an_error)
{
    struct sandbox box;
    sandbox_open(&box);
    size_t size;
    char *bytes = compressed_log(&box.arena, 100000, &size);
    struct log_record record;
    uint64_t records;
    EXPECT_TEXT_CONTAINS(read_log(&box, bytes, size - 1, &record, &records), "the file is cut off");
    EXPECT_TEXT_CONTAINS(read_log(&box, bytes, 5, &record, &records), "the file is cut off");
    bytes[4] = (char)0xff;
    EXPECT_TEXT_CONTAINS(read_log(&box, bytes, size, &record, &records), "cannot unpack");
    sandbox_close(&box, "log.csv", NULL);
}

TEST(frames_in_a_row_are_one_log)
{
    struct sandbox box;
    sandbox_open(&box);
    size_t size, more = ZSTD_compressBound(strlen(right));
    char *bytes = compressed_log(&box.arena, 70000, &size);
    char *both = arena_take(&box.arena, size + more);
    memcpy(both, bytes, size);
    more = ZSTD_compress(both + size, more, right, strlen(right), 1);
    struct log_record record;
    uint64_t records;
    EXPECT_TEXT_EQ(read_log(&box, both, size + more, &record, &records), "");
    EXPECT_EQ_U64(records, 70001);
    sandbox_close(&box, "log.csv", NULL);
}

TEST(missing_log_is_an_error_of_reading)
{
    struct sandbox box;
    sandbox_open(&box);
    struct log_reader reader;
    EXPECT(!log_reader_open(&reader, path_in(&box, "log.csv"), &box.errors));
    EXPECT(reader.bytes.has_failed);
    EXPECT_TEXT_CONTAINS(errors_text(&box.errors), "No such file");
    log_reader_close(&reader);
    sandbox_close(&box, NULL, NULL);
}
