/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packet logs: what is written comes back line by line, plain and compressed, the
 * same each time, and the file appears only once it is whole.
 */
#include "sandbox.h"
#include "test.h"

#include "base/text.h"
#include "metrics/log.h"

#include "flitwarp/random.h"

#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define RECORDS 20000 /* more than a megabyte of text */
#define PACKET_LOG_HEADER                                                                                              \
    "application,source,destination,packet,message,message_flits,packet_flits,hops,minimal_hops,"                      \
    "created,injected,head_arrived,tail_arrived,initiator,transaction,transaction_messages"

/* Numbers of every length. */
static uint64_t draw(struct random *random) { return random_u64(random) >> random_below(random, 64); }

static struct log_record record_at(uint32_t index)
{
    struct random random = random_stream(19, index, RANDOM_SETUP);
    return (struct log_record){
        .application = index % 3,
        .source = draw(&random),
        .destination = draw(&random),
        .packet = index,
        .message = draw(&random),
        .message_flits = 16,
        .flits = 4,
        .hops = index % 11,
        .minimal_hops = 0,
        .created = draw(&random),
        .injected = draw(&random),
        .head_arrived = draw(&random),
        .arrived = UINT64_MAX - index,
        .initiator = draw(&random),
        .transaction = draw(&random),
        .transaction_messages = 1 + index % 2,
    };
}

static void text_add_record(struct text *text, const struct log_record *r)
{
    const uint64_t fields[] = {r->application,  r->source,        r->destination, r->packet,
                               r->message,      r->message_flits, r->flits,       r->hops,
                               r->minimal_hops, r->created,       r->injected,    r->head_arrived,
                               r->arrived,      r->initiator,     r->transaction, r->transaction_messages};
    for (uint32_t i = 0; i < 16; i++)
        text_addf(text, i < 15 ? "%llu," : "%llu\n", (unsigned long long)fields[i]);
}

static const char *expected_text(struct arena *arena)
{
    struct text text = {0};
    text_add(&text, PACKET_LOG_HEADER "\n");
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct log_record record = record_at(i);
        text_add_record(&text, &record);
    }
    return text_keep(&text, arena);
}

/* A packet log, or none with errors. */
static struct run_logs open_log(struct sandbox *box, const char *name, bool has_extras)
{
    struct run_logs logs;
    const char *const names[RUN_LOG_KINDS] = {[RUN_LOG_PACKETS] = path_in(box, name)};
    run_logs_open(&logs, names, has_extras, has_extras, &box->errors);
    return logs;
}

static bool close_log(struct run_logs *logs, struct sandbox *box)
{
    return run_logs_end(logs, csv_close, &box->errors);
}

/* Writes a log and gives back the bytes of its file. */
static char *write_log(struct sandbox *box, const char *name, size_t *size)
{
    struct run_logs log = open_log(box, name, false);
    EXPECT(log.files[RUN_LOG_PACKETS] != NULL);
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct log_record record = record_at(i);
        run_logs_add(&log, &record);
    }
    EXPECT(access(path_in(box, name), F_OK) != 0);
    EXPECT(close_log(&log, box));
    return file_read(&box->arena, path_in(box, name), size);
}

static void expect_unpacks_to(struct sandbox *box, const char *bytes, size_t size, const char *expected)
{
    size_t length = strlen(expected);
    char *unpacked = arena_take(&box->arena, length);
    EXPECT_EQ_U64(ZSTD_decompress(unpacked, length, bytes, size), length);
    EXPECT(memcmp(unpacked, expected, length) == 0);
}

TEST(plain_log_is_the_csv_text)
{
    struct sandbox box;
    sandbox_open(&box);
    size_t size;
    const char *bytes = write_log(&box, "log.csv", &size);
    EXPECT(bytes && strcmp(bytes, expected_text(&box.arena)) == 0);
    sandbox_close(&box, "log.csv", NULL);
}

TEST(compressed_log_unpacks_to_the_csv_text)
{
    struct sandbox box;
    sandbox_open(&box);
    const char *expected = expected_text(&box.arena);
    size_t size;
    const char *bytes = write_log(&box, "log.csv.zst", &size);
    expect_unpacks_to(&box, bytes, size, expected);
    EXPECT(size < strlen(expected) * 3 / 4);
    sandbox_close(&box, "log.csv.zst", NULL);
}

TEST(compressed_log_has_the_same_bytes_each_time)
{
    struct sandbox box;
    sandbox_open(&box);
    size_t first_size, second_size;
    const char *first = write_log(&box, "first.csv.zst", &first_size);
    const char *second = write_log(&box, "second.csv.zst", &second_size);
    EXPECT_EQ_U64(first_size, second_size);
    EXPECT(first_size == second_size && memcmp(first, second, first_size) == 0);
    sandbox_close(&box, "first.csv.zst", "second.csv.zst");
}

TEST(empty_log_holds_the_header)
{
    struct sandbox box;
    sandbox_open(&box);
    struct run_logs log = open_log(&box, "log.csv.zst", false);
    EXPECT(close_log(&log, &box));
    size_t size;
    const char *bytes = file_read(&box.arena, path_in(&box, "log.csv.zst"), &size);
    expect_unpacks_to(&box, bytes, size, PACKET_LOG_HEADER "\n");
    sandbox_close(&box, "log.csv.zst", NULL);
}

TEST(log_of_several_planes_and_classes_has_columns_for_them)
{
    struct sandbox box;
    sandbox_open(&box);
    struct run_logs log = open_log(&box, "log.csv", true);
    struct log_record record = {.transaction_messages = 1, .plane = 7, .class = 3};
    run_logs_add(&log, &record);
    EXPECT(close_log(&log, &box));
    size_t size;
    const char *bytes = file_read(&box.arena, path_in(&box, "log.csv"), &size);
    EXPECT_TEXT_EQ(bytes, PACKET_LOG_HEADER ",plane,class\n0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,7,3\n");
    sandbox_close(&box, "log.csv", NULL);
}

TEST(discarded_log_leaves_nothing)
{
    struct sandbox box;
    sandbox_open(&box);
    struct run_logs log = open_log(&box, "log.csv.zst", false);
    struct log_record record = record_at(1);
    run_logs_add(&log, &record);
    run_logs_end(&log, csv_discard, NULL);
    sandbox_close(&box, NULL, NULL); /* expects the folder to be empty */
}

TEST(log_that_cannot_be_written_is_an_error)
{
    struct sandbox box;
    sandbox_open(&box);
    struct run_logs log = open_log(&box, "missing/log.csv", false);
    EXPECT(!log.files[RUN_LOG_PACKETS]);
    run_logs_end(&log, csv_discard, NULL);
    EXPECT_TEXT_CONTAINS(errors_text(&box.errors), "missing/log.csv");
    sandbox_close(&box, NULL, NULL);
}

TEST(full_disk_is_an_error)
{
    struct sandbox box;
    sandbox_open(&box);
    EXPECT(symlink("/dev/full", path_in(&box, "log.csv")) == 0);
    struct run_logs log = open_log(&box, "log.csv", false);
    for (uint32_t i = 0; log.files[RUN_LOG_PACKETS] && i < RECORDS; i++) {
        struct log_record record = record_at(i);
        run_logs_add(&log, &record);
    }
    EXPECT(!close_log(&log, &box));
    EXPECT_TEXT_CONTAINS(errors_text(&box.errors), "cannot write");
    sandbox_close(&box, "log.csv", NULL);
}

TEST(log_names_end_in_csv_or_csv_zst)
{
    EXPECT(csv_name_is_valid("log.csv"));
    EXPECT(csv_name_is_valid("a/b.csv.zst"));
    EXPECT(!csv_name_is_valid("log.zst"));
    EXPECT(!csv_name_is_valid("log.csv.gz"));
    EXPECT(!csv_name_is_valid(".csv"));
    EXPECT(!csv_name_is_valid(""));
}
