/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * The text of a log: a file or standard input ("-"), plain or compressed with zstd,
 * which its first bytes tell, not its name.
 */
#include "flitwarp/error.h"

#include <stdbool.h>
#include <stddef.h>

struct ZSTD_DCtx_s;

struct log_bytes {
    const char *name; /* how messages call it; borrowed */
    int descriptor;
    struct ZSTD_DCtx_s *unpacker; /* owned; NULL: plain text */
    char *raw;                    /* owned: read and not yet passed on */
    size_t raw_at, raw_end;
    bool is_inside; /* a compressed frame that has not ended */
    bool has_ended;
    bool has_failed; /* reading did, as opposed to what was read */
};

/* These two return false, with a message, when nothing can be read. */
bool log_bytes_open(struct log_bytes *bytes, const char *path, struct errors *errors);
/* Fills the room; *count is less at the end only. */
bool log_bytes_read(struct log_bytes *bytes, char *to, size_t room, size_t *count, struct errors *errors);
/* Harmless after a failed open. */
void log_bytes_close(struct log_bytes *bytes);
