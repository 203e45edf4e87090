/* SPDX-License-Identifier: Apache-2.0 */
/* The files that parse writes from sums: CSV numbers, matrix, time series. */
#include "sandbox.h"
#include "test.h"

#include "metrics/log.h"

#include <string.h>

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
