/* SPDX-License-Identifier: Apache-2.0 */
/* Packing frames and putting all into one file, see recording.h. */
#include "view/recording.h"

#include "base/embedded.h"
#include "view/writer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef FLITWARP_HAVE_ZLIB

#include <zlib.h>

static bool can_pack(void) { return true; }

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

void write_packed(struct text *out, const char *bytes, size_t size)
{
    enum { GZIP = 16 + MAX_WBITS };
    z_stream stream = {.next_in = (unsigned char *)bytes, .avail_in = (uInt)size};
    int status = deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
    CHECK(status == Z_OK && size <= UINT32_MAX, "zlib cannot begin: %d", status);
    size_t room = deflateBound(&stream, (uLong)size);
    unsigned char *packed = memory_take(room);
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    status = deflate(&stream, Z_FINISH);
    CHECK(status == Z_STREAM_END, "zlib ends with %d", status);
    write_text(out, "");
    out->length--; /* into the quotes */
    add_base64(out, packed, stream.total_out);
    text_add(out, "\"");
    deflateEnd(&stream);
    free(packed);
}

#else

static bool can_pack(void) { return false; }

void write_packed(struct text *out, const char *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    write_null(out);
}

#endif

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

/* Inside a script, "</" would end it: in texts of JavaScript "<\/" is the same. */
static void print_script(FILE *out, const char *bytes, size_t size) { print_replaced(out, bytes, size, "</", "<\\/"); }

/* Settings have texts of any kind, and "<!--" with "<script" would hide the end: JSON has "<" inside texts alone. */
static void print_json(FILE *out, const char *bytes, size_t size) { print_replaced(out, bytes, size, "<", "\\u003c"); }

/* Who opens a recording that came by mail can be sure that it asks nobody for anything. */
static const char policy[] = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
                             "'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
                             "form-action 'none'\">\n";

/* Where an element begins that has this text in its first tag, and where it ends; NULL: nowhere. */
static const char *find_element(const char *page, const char *begins, const char *has, const char *ends,
                                const char **behind)
{
    for (const char *at = strstr(page, begins); at; at = strstr(at + 1, begins)) {
        const char *tag_end = strchr(at, '>'), *found = strstr(at, has), *end = strstr(at, ends);
        if (tag_end && found && found < tag_end && end) {
            *behind = end + strlen(ends);
            return at;
        }
    }
    return NULL;
}

/* The pieces of the page: up to the style, between style and script, and from there to the end of the body and behind. */
struct page {
    const struct embedded_file *html, *script, *style;
    const char *style_at, *style_end, *script_at, *script_end, *body_end;
};

static bool page_find(struct page *page)
{
    *page = (struct page){.html = embedded_find(page_files, "index.html"),
                          .script = embedded_find(page_files, "app.js"),
                          .style = embedded_find(page_files, "app.css")};
    if (!page->html || !page->script || !page->style)
        return false;
    page->style_at = find_element(page->html->bytes, "<link", "app.css", ">", &page->style_end);
    page->script_at = find_element(page->html->bytes, "<script", "app.js", "</script>", &page->script_end);
    page->body_end = strstr(page->html->bytes, "</body>");
    return page->style_at && page->script_at && page->style_at < page->script_at && page->body_end &&
           page->script_at < page->body_end;
}

bool recording_check(struct errors *errors)
{
    struct page page;
    if (!can_pack())
        errors_add(errors, "this flitwarp was built without zlib; install zlib1g-dev and build it again");
    else if (!page_find(&page))
        errors_add(errors, "this flitwarp was built without the viewer's page, which a recording holds; with npm "
                           "installed, ./dev build makes both");
    return errors->count == 0;
}

void recording_write(FILE *out, const char *json, size_t size)
{
    struct page page;
    CHECK(page_find(&page), "there is no page");
    const char *html = page.html->bytes;
    fwrite(html, 1, (size_t)(page.style_at - html), out);
    fputs(policy, out);
    fputs("<style>\n", out);
    fwrite(page.style->bytes, 1, page.style->size, out);
    fputs("</style>", out);
    fwrite(page.style_end, 1, (size_t)(page.script_at - page.style_end), out);
    fwrite(page.script_end, 1, (size_t)(page.body_end - page.script_end), out);
    fputs("<script type=\"application/json\" id=\"recording\">", out);
    print_json(out, json, size);
    fputs("</script>\n<script>\n", out);
    print_script(out, page.script->bytes, page.script->size);
    fputs("</script>\n", out);
    fwrite(page.body_end, 1, page.html->size - (size_t)(page.body_end - html), out);
}
