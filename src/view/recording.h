/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * A recording: the page, the scene and frames in one HTML file that plays without a
 * server. Frames come in chunks, each a JSON array that is packed by gzip and written
 * in base64: a browser unpacks one when it gets there.
 *
 *   {"kind": "recording", scene ..., "frames": N, "chunk": M, "chunks": ["H4sI...", ...], "series": {...}}
 *
 * See recorder.h for the frames.
 */
#include "base/text.h"
#include "flitwarp/packet.h"

/* Whether this program can make one: false, with errors, where it was built without zlib or the page. */
bool recording_check(struct errors *errors);
/* Adds bytes as a JSON text of their gzip in base64. */
void write_packed(struct text *out, const char *bytes, size_t size);
/* The page with its script, its style and a recording (a JSON text) inside. */
void recording_write(FILE *out, const char *json, size_t size);
