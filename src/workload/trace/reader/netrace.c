/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netrace 1.0: packets of a cache hierarchy on a chip and their dependencies, as a file
 * of little-endian records, mostly compressed by bzip2:
 *
 *     header (72 bytes), notes, regions (24 bytes each), packets (21 bytes each and 4 for
 *     each packet that waits for it)
 *
 * A packet leaves in its cycle, or later, when all those have arrived that list it. It
 * comes behind them in the file; where it leaves from another node than they arrive at,
 * that node is told. Its size follows from its type. All regions are read, one after the other.
 *
 * What is compressed goes through a window: as much as fits is undone at a time, so that files of any size take little
 * memory. Several compressed streams may stand one behind the other, as parallel compressors write them.
 */
#include "base/need.h"
#include "base/table.h"
#include "flitwarp/trace_packets.h"

#include <stdlib.h>
#include <string.h>

#ifdef FLITWARP_HAVE_BZIP2
#include <bzlib.h>
#endif

#define WINDOW ((size_t)256 << 10)
#define MAGIC 0x484a5455u
#define HEADER_BYTES 72
#define REGION_BYTES 24
#define PACKET_BYTES 21
#define SMALL 8  /* bytes of a packet without data */
#define LARGE 72 /* and with a line of the cache */

struct netrace_packet {
    uint64_t cycle, offset;
    uint32_t id, bytes, source, destination, dependents;
};

/* Somebody waits for a packet that has been read and is waited for itself later on in the file. */
struct waiting {
    uint64_t offset; /* of the packet that lists it */
    uint32_t lister, receive, node;
    uint32_t count; /* of number 0, which is nobody: those with higher ones */
};

struct netrace {
    const struct trace_source *source;
    struct errors *errors;
    uint64_t packet_count, cycle_ps;
    uint32_t nodes, regions;
    struct packets packets;
    struct table waiting; /* by a packet's number and a number of their own: those that list it */
    /* The bytes from beginning to end. */
    const unsigned char *window; /* what has come out; without compression the file */
    size_t size, at;             /* of the window */
    uint64_t before;             /* bytes that came out before the window */
    unsigned char *undone;       /* owned: room for the window; NULL: not compressed */
    const char *fault;           /* NULL: none so far */
#ifdef FLITWARP_HAVE_BZIP2
    bz_stream bzip2;
    size_t taken; /* of the file */
    bool is_in_stream;
#endif
};

static const uint8_t sizes[] = {
    [1] = SMALL,  [2] = LARGE,  [3] = LARGE,  [4] = LARGE,  [5] = SMALL,  [6] = LARGE,  [13] = SMALL, [14] = SMALL,
    [15] = SMALL, [16] = LARGE, [25] = SMALL, [27] = SMALL, [28] = SMALL, [29] = SMALL, [30] = LARGE,
};

#define netrace_error(netrace, offset, format, ...)                                                                    \
    errors_add((netrace)->errors, "%s: offset %llu: " format, (netrace)->source->path, (unsigned long long)(offset),   \
               __VA_ARGS__)

/* ---- bytes ---- */

static uint32_t netrace_u32_at(const unsigned char *at) { return (uint32_t)little_endian(at, 4); }

static bool is_bzip2(const struct trace_source *source)
{
    const unsigned char *head = source->bytes;
    return source->size >= 4 && memcmp(head, "BZh", 3) == 0 && head[3] >= '1' && head[3] <= '9';
}

#ifdef FLITWARP_HAVE_BZIP2
/* Takes of the file what the library can count. */
static int undo_some(struct netrace *netrace)
{
    size_t left = netrace->source->size - netrace->taken;
    unsigned given = left < WINDOW ? (unsigned)left : (unsigned)WINDOW;
    netrace->bzip2.next_in = (char *)(uintptr_t)netrace->source->bytes + netrace->taken;
    netrace->bzip2.avail_in = given;
    netrace->bzip2.next_out = (char *)netrace->undone + netrace->size;
    netrace->bzip2.avail_out = (unsigned)(WINDOW - netrace->size);
    int status = BZ2_bzDecompress(&netrace->bzip2);
    netrace->taken += given - netrace->bzip2.avail_in;
    return status;
}

static void end_stream(struct netrace *netrace)
{
    if (netrace->is_in_stream)
        BZ2_bzDecompressEnd(&netrace->bzip2);
    netrace->is_in_stream = false;
}

/* Fills the window; it stays empty at the end of the file and at a fault. */
static void refill(struct netrace *netrace)
{
    netrace->before += netrace->size;
    netrace->size = netrace->at = 0;
    while (netrace->size < WINDOW && !netrace->fault) {
        bool has_more = netrace->taken < netrace->source->size;
        if (!netrace->is_in_stream) {
            if (!has_more)
                break;
            netrace->bzip2 = (bz_stream){0};
            NEED(BZ2_bzDecompressInit(&netrace->bzip2, 0, 0) == BZ_OK, "out of memory for unpacking");
            netrace->is_in_stream = true;
        }
        int status = undo_some(netrace);
        size_t filled = WINDOW - netrace->bzip2.avail_out;
        if (status == BZ_STREAM_END)
            end_stream(netrace);
        else if (status != BZ_OK)
            netrace->fault = "is damaged";
        else if (!has_more && filled == netrace->size)
            netrace->fault = "is cut short";
        netrace->size = filled;
    }
    trace_source_done(netrace->source, netrace->taken);
}
#else
static void end_stream(struct netrace *netrace) { (void)netrace; }
static void refill(struct netrace *netrace) { (void)netrace; }
#endif

/* Of the next byte, counted in what comes out. */
static uint64_t netrace_offset(const struct netrace *netrace) { return netrace->before + netrace->at; }

/* Makes sure that something is in the window; false: there is no more, by a fault or because it is the end. */
static bool has_bytes(struct netrace *netrace)
{
    if (netrace->at == netrace->size && netrace->undone)
        refill(netrace);
    return netrace->at < netrace->size;
}

/* So many bytes more; false, with an error, where the file ends before them or what is compressed is damaged. */
static bool netrace_read_bytes(struct netrace *netrace, void *bytes, size_t size)
{
    for (size_t filled = 0; filled < size;) {
        if (!has_bytes(netrace))
            return netrace_error(netrace, netrace_offset(netrace), "the file %s where %zu bytes more are due",
                                 netrace->fault ? netrace->fault : "ends", size - filled);
        size_t here = netrace->size - netrace->at, part = size - filled < here ? size - filled : here;
        memcpy((unsigned char *)bytes + filled, netrace->window + netrace->at, part);
        netrace->at += part;
        filled += part;
    }
    return true;
}

/* ---- what comes before the packets ---- */

static bool check_magic(struct netrace *netrace, const unsigned char *bytes)
{
    float version;
    uint32_t bits = netrace_u32_at(bytes + 4), magic = netrace_u32_at(bytes);
    memcpy(&version, &bits, sizeof version);
    if (magic == __builtin_bswap32(MAGIC))
        return netrace_error(
            netrace, 0,
            "the number 0x%08x is that of Netrace with the bytes turned round; accepted: a little-endian file", magic);
    if (magic != MAGIC)
        return netrace_error(netrace, 0, "the file begins with 0x%08x and not with Netrace's 0x%08x", magic, MAGIC);
    return version == 1.0f || netrace_error(netrace, 4, "version %g of Netrace; accepted: 1.0", (double)version);
}

static bool check_regions(struct netrace *netrace)
{
    unsigned char bytes[REGION_BYTES];
    uint64_t packets = 0, region_packets;
    for (uint32_t i = 0; i < netrace->regions; i++) {
        if (!netrace_read_bytes(netrace, bytes, sizeof bytes))
            return false;
        region_packets = little_endian(bytes + 16, 8);
        if (region_packets > netrace->packet_count - packets)
            return netrace_error(netrace, netrace_offset(netrace) - 8,
                                 "region %u has %llu packets, more than are left of the %llu of the whole file", i,
                                 (unsigned long long)region_packets, (unsigned long long)netrace->packet_count);
        packets += region_packets;
    }
    return true;
}

static bool netrace_read_header(struct netrace *netrace)
{
    unsigned char bytes[HEADER_BYTES], dropped[4096];
    if (!netrace_read_bytes(netrace, bytes, 8) || !check_magic(netrace, bytes) ||
        !netrace_read_bytes(netrace, bytes + 8, HEADER_BYTES - 8))
        return false;
    netrace->nodes = bytes[38];
    netrace->packet_count = little_endian(bytes + 48, 8);
    netrace->regions = netrace_u32_at(bytes + 60);
    if (netrace->nodes == 0 || netrace->packet_count == 0 || netrace->packet_count > MAX_PACKETS)
        return netrace_error(netrace, 38,
                             "%u nodes and %llu packets; accepted: 1 node and 1 packet or more, and up to %u packets",
                             netrace->nodes, (unsigned long long)netrace->packet_count, MAX_PACKETS);
    for (uint32_t notes = netrace_u32_at(bytes + 56), part; notes > 0; notes -= part) { /* are passed over */
        part = notes < sizeof dropped ? notes : sizeof dropped;
        if (!netrace_read_bytes(netrace, dropped, part))
            return false;
    }
    return check_regions(netrace);
}

/* ---- who waits for whom ---- */

static struct waiting *netrace_waiting_at(struct netrace *netrace, uint64_t id, uint32_t number)
{
    return table_put(&netrace->waiting, &(struct table_key){{id, number}});
}

/* Those that list the packet have all been read; the latest comes first. */
static void wait_for_listers(struct netrace *netrace, const struct netrace_packet *packet, uint32_t send)
{
    for (uint32_t number = netrace_waiting_at(netrace, packet->id, 0)->count; number > 0; number--) {
        const struct waiting waiting = *netrace_waiting_at(netrace, packet->id, number);
        table_remove(&netrace->waiting, &(struct table_key){{packet->id, number}});
        builder_wait(netrace->packets.builder, packet->source, send,
                     packets_tell(&netrace->packets, waiting.node, waiting.receive, packet->source), false);
    }
    table_remove(&netrace->waiting, &(struct table_key){{packet->id, 0}});
}

static bool check_nobody_waits(struct netrace *netrace)
{
    if (!netrace->waiting.count)
        return true;
    void **values = table_sorted(&netrace->waiting);
    uint64_t id = table_key_of(values[0])->part[0];
    const struct waiting *waiting = netrace_waiting_at(netrace, id, ((struct waiting *)values[0])->count);
    netrace_error(netrace, waiting->offset, "packet %u lists packet %llu, which does not come behind it",
                  waiting->lister, (unsigned long long)id);
    free(values);
    return false;
}

/* ---- packets ---- */

static bool netrace_read_packet(struct netrace *netrace, struct netrace_packet *packet)
{
    unsigned char bytes[PACKET_BYTES];
    uint64_t offset = netrace_offset(netrace);
    if (!netrace_read_bytes(netrace, bytes, sizeof bytes))
        return false;
    uint8_t type = bytes[16];
    *packet = (struct netrace_packet){.cycle = little_endian(bytes, 8),
                                      .offset = offset,
                                      .id = netrace_u32_at(bytes + 8),
                                      .bytes = type < sizeof sizes ? sizes[type] : 0,
                                      .source = bytes[17],
                                      .destination = bytes[18],
                                      .dependents = bytes[20]};
    uint32_t nodes = netrace->nodes;
    uint64_t last_cycle = UINT64_MAX / netrace->cycle_ps;
    if (packet->cycle > last_cycle)
        return netrace_error(netrace, offset, "cycle %llu is beyond %llu", (unsigned long long)packet->cycle,
                             (unsigned long long)last_cycle);
    if (packet->bytes == 0)
        return netrace_error(netrace, offset + 16, "there is no type %u of packets", type);
    return (packet->source < nodes && packet->destination < nodes) ||
           netrace_error(netrace, offset + 17, "a packet from node %u to node %u; there are nodes 0 to %u",
                         packet->source, packet->destination, nodes - 1);
}

static bool add_packet(struct netrace *netrace, const struct netrace_packet *packet)
{
    unsigned char bytes[4];
    struct packet_tasks tasks = packets_add(&netrace->packets, packet->source, packet->destination, packet->bytes);
    packets_wait_until(&netrace->packets, packet->source, tasks.send, packet->cycle * netrace->cycle_ps);
    wait_for_listers(netrace, packet, tasks.send);
    struct waiting waiting = {packet->offset, packet->id, tasks.receive, packet->destination, 0};
    for (uint32_t i = 0; i < packet->dependents; i++) {
        if (!netrace_read_bytes(netrace, bytes, sizeof bytes))
            return false;
        uint32_t id = netrace_u32_at(bytes), number = ++netrace_waiting_at(netrace, id, 0)->count;
        *netrace_waiting_at(netrace, id, number) = waiting;
    }
    return true;
}

static bool netrace_read_packets(struct netrace *netrace)
{
    struct netrace_packet packet;
    for (uint64_t i = 0; i < netrace->packet_count; i++)
        if (!netrace_read_packet(netrace, &packet) || !add_packet(netrace, &packet))
            return false;
    const char *fault = has_bytes(netrace) ? "goes on" : netrace->fault;
    if (fault)
        return netrace_error(netrace, netrace_offset(netrace), "the file %s where it should end", fault);
    return check_nobody_waits(netrace);
}

static bool netrace_read(const struct trace_source *source, struct trace_builder *builder, struct errors *errors)
{
    struct netrace netrace = {.source = source,
                              .errors = errors,
                              .cycle_ps = cycle_ps(source->config),
                              .window = source->bytes,
                              .size = source->size};
    if (is_bzip2(source)) {
#ifndef FLITWARP_HAVE_BZIP2
        return errors_add(
            errors,
            "%s: the file is compressed by bzip2, which this program was built without; accepted: the file after "
            "bunzip2, or a program that was built with libbz2-dev installed",
            source->path);
#endif
        netrace.window = netrace.undone = memory_take(WINDOW);
        netrace.size = 0;
    }
    table_init(&netrace.waiting, sizeof(struct waiting), NULL);
    bool is_good = netrace_read_header(&netrace);
    if (is_good) {
        packets_init(&netrace.packets, builder, netrace.nodes);
        is_good = netrace_read_packets(&netrace);
        packets_release(&netrace.packets);
    }
    table_release(&netrace.waiting);
    end_stream(&netrace);
    free(netrace.undone);
    return is_good;
}

/* Also one of the wrong byte order: it is told then. */
static bool netrace_looks_like(const struct trace_source *source)
{
    uint32_t magic = source->size >= 4 ? netrace_u32_at(source->bytes) : 0;
    return is_bzip2(source) || magic == MAGIC || magic == __builtin_bswap32(MAGIC);
}

static const struct trace_reader_ops netrace_reader = {
    COMPONENT("netrace", "Netrace 1.0: packets between caches that wait for each other, also compressed by bzip2",
              cycle_options, "{\"type\": \"netrace\", \"cycle\": \"500ps\"}"),
    .looks_like = netrace_looks_like,
    .read = netrace_read,
};
REGISTER_TRACE_READER(netrace_reader);
