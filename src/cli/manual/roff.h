/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The little of roff that manual pages are made of. Text is escaped: it stands in the page as it is given. */
#include <stdio.h>

/* The head of a page: "flitwarp-run", section 1, one line of what it is. */
void roff_page(FILE *out, const char *name, int section, const char *summary);
void roff_section(FILE *out, const char *title);
void roff_subsection(FILE *out, const char *title);
/* A paragraph; its line breaks mean nothing. */
void roff_paragraph(FILE *out, const char *text);
/* The same with empty lines between paragraphs; lines that begin with a blank, such as tables, stay as they are. */
void roff_text(FILE *out, const char *text);
/* Lines as they are, letters of one width. */
void roff_lines(FILE *out, const char *text);
/* A term in bold, with what stands behind it in plain letters (NULL: nothing), and what it means. */
void roff_item(FILE *out, const char *term, const char *behind, const char *meaning);
