/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings, see view.h: what is new in each frame, chunks of them packed, and all of it put into the page. */
#include "view/view.h"

#include "base/checksum.h"
#include "base/need.h"
#include "network/network.h"
#include "flitwarp/shown.h"

#include <stdlib.h>
#include <string.h>

enum {
    DETAILED_ROUTERS = 400,
    UTILISATION_EVERY = 10, /* frames; it is that of the last cycles anyway */
};

static size_t lane_count(const struct recorder *recorder)
{
    return 2 * (size_t)recorder->watch->network->topology.routers * recorder->watch->shown.lanes;
}

void recorder_init(struct recorder *recorder, struct watch *watch)
{
    *recorder = (struct recorder){.watch = watch, .has_detail = watch->network->topology.routers <= DETAILED_ROUTERS};
    recorder->lanes = arena_array(&watch->arena, uint64_t, lane_count(recorder));
    table_init(&recorder->sent, 0, NULL);
}

void recorder_release(struct recorder *recorder) { table_release(&recorder->sent); }

void recorder_begin_chunk(struct recorder *recorder)
{
    memset(recorder->lanes, 0, sizeof *recorder->lanes * lane_count(recorder));
    table_release(&recorder->sent);
    table_init(&recorder->sent, 0, NULL);
    recorder->since_start = 0;
}

/* ---- flits on channels ---- */

struct flit_writer {
    struct recorder *recorder;
    struct text *out;
    struct table now; /* owned: flits that are there */
};

/* What was told of it tells where it is up to the tick at which it arrives. */
static void recorder_write_flit(void *context, const struct watched_flit *flit)
{
    struct flit_writer *writer = context;
    const struct watch *watch = writer->recorder->watch;
    const struct packet *packet = network_packet(watch->network, flit->packet);
    struct table_key key = {{(uint64_t)packet->source << 32 | packet->sequence, flit->arrives,
                             (uint64_t)watch_channel(watch, flit) << 32 | flit->position}};
    table_put(&writer->now, &key);
    if (table_remove(&writer->recorder->sent, &key))
        return;
    flit_write(writer->out, watch, flit);
    write_u64(writer->out, flit->arrives);
    flit_write_end(writer->out, watch, flit);
}

static void recorder_write_links(struct recorder *recorder, struct text *out)
{
    struct flit_writer writer = {.recorder = recorder, .out = out};
    table_init(&writer.now, 0, NULL);
    write_format(out, "'links':[");
    watch_each_flit(recorder->watch, recorder_write_flit, &writer);
    write_close(out, ']');
    table_release(&recorder->sent);
    recorder->sent = writer.now;
}

/* ---- routers ---- */

static void recorder_write_input(struct text *out, const struct watch *watch, uint32_t router, uint32_t lane)
{
    const struct network *network = watch->network;
    const struct shown_input *input = &watch->shown.inputs[lane];
    struct waiting waiting = {0};
    if (input->state == SHOWN_WAITING)
        network_waits_for(network, router, lane, &waiting);
    write_format(out, "[%u,%u,%d,[", lane, (unsigned)input->state,
                 input->state == SHOWN_ACTIVE ? (int)input->output : -1);
    for (uint32_t i = 0; i < waiting.wanted_count; i++)
        write_u64(out, waiting.wanted[i].lane);
    write_close(out, ']');
    waiting_release(&waiting);
    queue_write(out, watch, &input->queue, false);
    write_close(out, ']');
}

static void recorder_write_output(struct text *out, const struct watch *watch, uint32_t lane)
{
    const struct shown_output *output = &watch->shown.outputs[lane];
    write_format(out, "[%u,%u,%d", lane, output->credits, output->holder != HELD_BY_NOBODY ? (int)output->holder : -1);
    queue_write(out, watch, &output->queue, false);
    write_close(out, ']');
}

/* Takes back what was written behind `start` where it is what was told before. */
static void keep_if_new(struct text *out, size_t start, uint64_t *told)
{
    size_t first = start + (out->chars[start] == ',');
    uint64_t hash = bytes_checksum(out->chars + first, out->length - first);
    if (hash == *told)
        out->length = start;
    *told = hash;
}

/* True where something is new. */
static bool recorder_write_side(struct recorder *recorder, struct text *out, uint32_t router, bool are_outputs)
{
    const struct watch *watch = recorder->watch;
    const struct shown_router *shown = &watch->shown;
    uint64_t *told = recorder->lanes + (2 * (size_t)router + are_outputs) * shown->lanes;
    write_open(out, '[');
    size_t empty = out->length;
    for (uint32_t lane = 0; lane < shown->lanes; lane++) {
        bool is_there = are_outputs ? shown->outputs[lane].is_usable
                                    : shown->inputs[lane].state != SHOWN_IDLE || shown->inputs[lane].queue.flits;
        if (!is_there && !told[lane])
            continue;
        size_t start = out->length;
        if (are_outputs)
            recorder_write_output(out, watch, lane);
        else
            recorder_write_input(out, watch, router, lane);
        keep_if_new(out, start, &told[lane]);
        if (!is_there)
            told[lane] = 0;
    }
    bool is_new = out->length > empty;
    write_close(out, ']');
    return is_new;
}

static void recorder_write_router(struct recorder *recorder, struct text *out, uint32_t router)
{
    size_t before = out->length;
    network_show(recorder->watch->network, router, &recorder->watch->shown);
    watch_crossings(recorder->watch, router);
    write_format(out, "[%u", router);
    bool is_new = recorder_write_side(recorder, out, router, false);
    is_new |= recorder_write_side(recorder, out, router, true);
    is_new |= recorder->watch->crossing_count > 0;
    crossings_write(out, recorder->watch, false);
    write_close(out, ']');
    if (!is_new)
        out->length = before;
}

void recorder_write(struct recorder *recorder, struct text *out)
{
    counts_write(out, recorder->watch);
    recorder_write_links(recorder, out);
    if (recorder->since_start++ % UTILISATION_EVERY == 0)
        utilisation_write(out, recorder->watch);
    if (!recorder->has_detail) {
        occupancy_write(out, recorder->watch);
        return;
    }
    write_format(out, "'detail':[");
    for (uint32_t router = 0; router < recorder->watch->network->topology.routers; router++)
        recorder_write_router(recorder, out, router);
    write_close(out, ']');
}

/* ---- packing ---- */

static void add_base64(struct text *out, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (i + 2 < size ? bytes[i + 2] : 0);
        const char four[] = {digits[three >> 18], digits[three >> 12 & 63],
                             i + 1 < size ? digits[three >> 6 & 63] : '=', i + 2 < size ? digits[three & 63] : '='};
        text_add_bytes(out, four, 4);
    }
}

#ifdef FLITWARP_HAVE_ZLIB

#include <zlib.h>

static bool can_pack(void) { return true; }

static void write_packed(struct text *out, const char *bytes, size_t size)
{
    enum { GZIP = 16 + MAX_WBITS };
    z_stream stream = {.next_in = (unsigned char *)bytes, .avail_in = (uInt)size};
    FW_CHECK(size <= UINT32_MAX, "%zu bytes of frames at once", size);
    int status = deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
    NEED(status == Z_OK, "out of memory for the compressor");
    size_t room = deflateBound(&stream, (uLong)size);
    unsigned char *packed = memory_take(room);
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    status = deflate(&stream, Z_FINISH);
    FW_CHECK(status == Z_STREAM_END, "zlib ends with %d", status);
    write_text(out, "");
    out->length--; /* into the quotes */
    add_base64(out, packed, stream.total_out);
    text_add(out, "\"");
    deflateEnd(&stream);
    free(packed);
}

#else

static bool can_pack(void) { return false; }

static void write_packed(struct text *out, const char *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    write_text(out, NULL);
}

#endif

/* ---- the page ---- */

/* All of it, with another text wherever the first stands. */
static void print_replaced(FILE *out, const char *bytes, size_t size, const char *text, const char *other)
{
    for (size_t at = 0; at < size;) {
        const char *end = memmem(bytes + at, size - at, text, strlen(text));
        size_t length = end ? (size_t)(end - bytes) - at : size - at;
        fwrite(bytes + at, 1, length, out);
        if (end)
            fputs(other, out);
        at += length + (end ? strlen(text) : 0);
    }
}

/* Who opens a recording that came by mail can be sure that it asks nobody for anything. */
static const char policy[] = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
                             "'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; img-src "
                             "data: blob:; base-uri 'none'; form-action 'none'\">\n";

/* What of index.html gives way to the files themselves, in this order. */
static const char style_link[] = "<link rel=\"stylesheet\" href=\"app.css\">";
static const char script_link[] = "<script src=\"app.js\" defer></script>";
static const char body_end[] = "</body>";

/* The engine as WebAssembly, with which the page runs the network itself; NULL, with the reason, where there is none. */
static const struct embedded_file *find_engine(const struct simulation *simulation, struct text *reason)
{
    const struct embedded_file *engine = embedded_find(page_files, "engine.wasm.gz");
    const struct json *file = simulation->data->count ? json_at(simulation->data, 0) : NULL;
    if (!engine)
        text_add(reason, "it was made by a flitwarp that was built without the engine for pages");
    else if (file)
        text_addf(reason, "the network is run with a file that the page does not hold, %s", short_name(file->text));
    return reason->length ? NULL : engine;
}

bool page_check(const struct embedded_file *files, struct errors *errors)
{
    const struct embedded_file *html = embedded_find(files, "index.html");
    const char *style = html ? strstr(html->bytes, style_link) : NULL,
               *script = style ? strstr(style, script_link) : NULL;
    return (script && strstr(script, body_end) && embedded_find(files, "app.js") && embedded_find(files, "app.css")) ||
           errors_add(
               errors,
               "this flitwarp was built without the viewer's page, viewer/dist of the repository; ./dev build makes it "
               "where npm can be installed");
}

bool recording_check(struct errors *errors)
{
    if (!can_pack())
        return errors_add(errors, "this flitwarp was built without zlib; install zlib1g-dev and build it again");
    return page_check(page_files, errors);
}

/* Prints the page up to an element, and returns what stands behind it. */
static const char *print_up_to(FILE *out, const char *page, const char *element)
{
    const char *end = strstr(page, element);
    fwrite(page, 1, (size_t)(end - page), out);
    return end + strlen(element);
}

static void write_page(FILE *out, const struct recording *recording, const struct embedded_file *engine)
{
    const struct embedded_file *script = embedded_find(page_files, "app.js");
    const char *rest = print_up_to(out, embedded_find(page_files, "index.html")->bytes, style_link);
    fprintf(out, "%s<style>\n%s</style>", policy, embedded_find(page_files, "app.css")->bytes);
    rest = print_up_to(out, rest, script_link);
    rest = print_up_to(out, rest, body_end);
    fputs("<script type=\"application/json\" id=\"recording\">", out);
    /* Settings have texts of any kind, and "<!--" with "<script" would hide the end: JSON has "<" inside texts alone. */
    print_replaced(out, recording->json.chars, recording->json.length, "<", "\\u003c");
    fputs("</script>\n", out);
    if (engine) {
        struct text packed = {0};
        add_base64(&packed, (const unsigned char *)engine->bytes, engine->size);
        fprintf(out, "<script type=\"application/octet-stream\" id=\"engine\">%s</script>\n", packed.chars);
        text_release(&packed);
    }
    fputs("<script>\n", out);
    /* Inside a script, "</" would end it: in texts of JavaScript "<\/" is the same. */
    print_replaced(out, script->bytes, script->size, "</", "<\\/");
    fprintf(out, "</script>\n%s%s", body_end, rest);
}

/* ---- all of it ---- */

enum { CHUNK_FRAMES = 50 };

static void end_chunk(struct recording *recording)
{
    if (!recording->recorder.since_start)
        return;
    write_close(&recording->chunk, ']');
    write_packed(&recording->json, recording->chunk.chars, recording->chunk.length);
    recording->chunk.length = 0;
    recorder_begin_chunk(&recording->recorder);
}

static void add_frame(struct recording *recording)
{
    struct text *out = &recording->chunk;
    if (!recording->recorder.since_start)
        write_open(out, '[');
    write_open(out, '{');
    viewed_run_end(recording->run);
    recorder_write(&recording->recorder, out);
    if (recording->run->has_ended)
        view_write_end(out, recording->run);
    write_close(out, '}');
    recording->frames++;
    if (recording->recorder.since_start == CHUNK_FRAMES)
        end_chunk(recording);
}

static void record_frames(struct recording *recording)
{
    struct watch *watch = &recording->run->watch;
    const struct watch_stop never = {.router = FW_NONE, .source = FW_NONE, .seconds = 1e300};
    watch_run(watch, recording->from, &never);
    add_frame(recording);
    for (uint64_t i = 0; i < recording->cycles && !recording->run->simulation.workload.is_over; i++) {
        watch_run(watch, watch->now + watch->cycle, &never);
        add_frame(recording);
    }
    end_chunk(recording);
}

static void recording_gather(struct recording *recording, const char *no_engine)
{
    struct text *out = &recording->json;
    recorder_init(&recording->recorder, &recording->run->watch);
    write_format(out, "{'ok':true,'kind':'recording'");
    view_write_scene(out, recording->run);
    write_text_at(out, "no_engine", no_engine);
    if (recording->notes) {
        write_format(out, "'notes':");
        write_json(out, recording->notes);
    }
    write_format(out, "'has_detail':%s,'chunks':[", truth_word(recording->recorder.has_detail));
    record_frames(recording);
    write_format(out, "],'chunk':%d,'frames':%u,'series':{", CHUNK_FRAMES, recording->frames);
    series_write(out, &recording->run->watch, 0);
    write_format(out, "}}");
    recorder_release(&recording->recorder);
}

void recording_release(struct recording *recording)
{
    viewed_run_close(recording->run);
    text_release(&recording->json);
    text_release(&recording->chunk);
}

void recording_print(struct recording *recording, FILE *out)
{
    struct text no_engine = {0};
    const struct embedded_file *engine = find_engine(&recording->run->simulation, &no_engine);
    recording_gather(recording, no_engine.chars);
    text_release(&no_engine);
    write_page(out, recording, engine);
}

bool recording_write(struct recording *recording, const char *path, struct errors *errors)
{
    struct output_file file;
    if (!output_open(&file, path, errors))
        return false;
    recording_print(recording, file.stream);
    return output_commit(&file, errors);
}
