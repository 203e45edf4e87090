/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that commands are given, through the commands themselves: a packet log, plain
 * and compressed; filters; other simulators' configurations; prices of a network's
 * parts; results for the viewer.
 */
#include "fuzz.h"

#include "base/text.h"
#include "cli/command.h"
#include "view/view.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { MOST_WORDS = 32 };

/* With a status that is promised for what is wrong with an input; an input cannot break the simulator. */
static void call(int argc, char **argv)
{
    int status = command_call(command_find(argv[0]), argc, argv);
    FW_CHECK(status == EXIT_DONE || status == EXIT_USAGE || status == EXIT_IO, "status %d", status);
}

/* In one of three ways, each of which takes its time. */
static void read_log(char *name, size_t size)
{
    char *outputs[] = {"parse",    name, "--of",     "messages", "--csv",      "/dev/null",
                       "--matrix", "-",  "--series", "series",   "--interval", "100"};
    if (size % 3 == 0)
        call(3, (char *[]){"parse", name, "--json"});
    else if (size % 3 == 1)
        call(12, outputs);
    else
        call(7, (char *[]){"parse", name, "--of", "transactions", "+latency=1-", "--distribution", "-"});
}

FUZZ_TARGET(log)
{
    fuzz_file("packets.csv", data, size);
    read_log("packets.csv", size);
}

/* What is inside a compressed log: a fuzzer does not find a checksum. Some of it is the frame as it is. */
FUZZ_TARGET(log_packed)
{
    size_t room = ZSTD_compressBound(size), length;
    char *packed = memory_take(room);
    length = ZSTD_compress(packed, room, data, size, 1);
    FW_CHECK(!ZSTD_isError(length), "%s", ZSTD_getErrorName(length));
    if (size && data[size - 1] == 'x') /* cut off */
        length = length * data[0] / 256;
    fuzz_file("packets.csv.zst", packed, length);
    read_log("packets.csv.zst", size);
    free(packed);
}

FUZZ_TARGET(filters)
{
    static const char log[] =
        "application,source,destination,packet,message,message_flits,packet_flits,hops,minimal_hops,"
        "created,injected,head_arrived,tail_arrived,initiator,transaction,transaction_messages\n"
        "0,1,2,0,0,4,4,3,3,100,105,120,123,1,0,1\n0,2,1,0,0,8,4,3,3,110,115,130,133,2,0,2\n"
        "0,2,1,1,0,8,4,5,3,110,119,140,143,2,0,2\n1,1,2,1,1,2,2,3,3,150,150,160,161,2,0,2\n";
    size_t length;
    char *words[MOST_WORDS] = {"parse", "packets.csv"}, *text = fuzz_part(&data, &size, &length);
    int count = 2 + fuzz_lines(text, words + 2, MOST_WORDS - 2);
    fuzz_file("packets.csv", log, sizeof log - 1);
    bool is_safe = true; /* nothing is written, and standard input is not waited for */
    for (int i = 2; i < count; i++)
        is_safe &= strcmp(words[i], "-") != 0 && !strchr(words[i], '/') &&
                   (strncmp(words[i], "--", 2) != 0 || strncmp(words[i], "--of", 4) == 0);
    if (is_safe)
        call(count, words);
    free(text);
}

static void import(const uint8_t *data, size_t size, char *format)
{
    fuzz_file("config.txt", data, size);
    call(4, (char *[]){"import", "config.txt", "--from", format, NULL});
}

FUZZ_TARGET(import_booksim) { import(data, size, "booksim"); }
FUZZ_TARGET(import_simured) { import(data, size, "simured"); }
FUZZ_TARGET(import_supersim) { import(data, size, "supersim"); }

/* A topology, forwarding tables and path records. */
FUZZ_TARGET(import_infiniband)
{
    static const char *const names[] = {"topology.txt", "lfts.txt", "paths.txt"};
    for (int i = 0; i < 3; i++) {
        size_t length;
        char *text = fuzz_part(&data, &size, &length);
        fuzz_file(names[i], text, length);
        free(text);
    }
    call(10, (char *[]){"import", "topology.txt", "--from", "infiniband", "--routes", "lfts.txt", "--paths",
                        "paths.txt", "-o", "fabric.json", NULL});
}

FUZZ_TARGET(prices)
{
    fuzz_file("small.json", fuzz_small, strlen(fuzz_small));
    fuzz_file("prices.json", data, size);
    call(4, (char *[]){"topology", "small.json", "--prices", "prices.json", NULL});
}

FUZZ_TARGET(results)
{
    struct arena arena = {0};
    struct errors errors = {.arena = &arena};
    struct text documents = {0};
    fuzz_file("results.json", data, size);
    if (is_results_file("results.json")) {
        bool is_read = results_gather(&documents, "results.json", &errors);
        FW_CHECK(is_read == (errors.count == 0), "success and messages disagree");
    }
    text_release(&documents);
    arena_release(&arena);
}
