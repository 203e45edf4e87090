/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages as roff, see roff.h. */
#include "cli/manual/roff.h"

#include "run/version.h"

#include "flitwarp/error.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A dash is a minus and not a hyphen, so that it can be copied; a dot or quote that begins a line is no request. */
static void put_text(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        bool begins_line = at == text || at[-1] == '\n';
        if (begins_line && (*at == '.' || *at == '\''))
            fputs("\\&", out);
        if (*at == '\\')
            fputs("\\e", out);
        else if (*at == '-')
            fputs("\\-", out);
        else if (*at == '\'')
            fputs("\\(aq", out);
        else if (*at == '`')
            fputs("\\(ga", out);
        else if (*at == '^')
            fputs("\\(ha", out);
        else if (*at == '~')
            fputs("\\(ti", out);
        else
            putc(*at, out);
        if (*at == ',' && at[1] != ' ')
            fputs("\\:", out); /* a long list may go on in the next line */
    }
}

static void put_capitals(FILE *out, const char *text)
{
    for (; *text; text++)
        putc(toupper((unsigned char)*text), out);
}

void roff_page(FILE *out, const char *name, int section, const char *summary)
{
    fprintf(out, ".\\\" Made by `flitwarp manual`.\n.TH ");
    put_capitals(out, name);
    fprintf(out, " %d \"\" \"flitwarp %s\" \"flitwarp\"\n.nh\n.ad l\n.SH NAME\n%s \\- ", section, FLITWARP_VERSION,
            name);
    put_text(out, summary);
    putc('\n', out);
}

void roff_section(FILE *out, const char *title)
{
    fputs(".SH \"", out);
    put_capitals(out, title);
    fputs("\"\n", out);
}

void roff_subsection(FILE *out, const char *title)
{
    fputs(".SS \"", out);
    put_text(out, title);
    fputs("\"\n", out);
}

void roff_paragraph(FILE *out, const char *text)
{
    fputs(".PP\n", out);
    put_text(out, text);
    putc('\n', out);
}

void roff_text(FILE *out, const char *text)
{
    bool are_lines = false;
    fputs(".PP\n", out);
    while (*text) {
        size_t length = strcspn(text, "\n");
        if ((*text == ' ') != are_lines && length)
            fputs((are_lines = !are_lines) ? ".nf\n" : ".fi\n", out);
        char *line = strndup(text, length);
        NEED(line, "out of memory for a line");
        if (length)
            put_text(out, line);
        else
            fputs(".PP", out);
        putc('\n', out);
        free(line);
        text += length + (text[length] == '\n');
    }
    if (are_lines)
        fputs(".fi\n", out);
}

void roff_lines(FILE *out, const char *text)
{
    fputs(".PP\n.nf\n", out);
    put_text(out, text);
    fputs("\n.fi\n", out);
}

void roff_item(FILE *out, const char *term, const char *behind, const char *meaning)
{
    fputs(".TP\n\\fB", out);
    put_text(out, term);
    fputs("\\fR", out);
    if (behind) {
        putc(' ', out);
        put_text(out, behind);
    }
    putc('\n', out);
    put_text(out, meaning);
    putc('\n', out);
}
