/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What stands behind the "?" of a request: KEY=VALUE&KEY=VALUE, with %XX in values. */
#include "view/server.h"

/* The value of a key, decoded; false when it is not there or does not fit. */
bool query_find(const struct request *request, const char *key, char *value, size_t size);
/* A number from 0 to `most`; `fallback` when it is not there. False when it is something else. */
bool query_number(const struct request *request, const char *key, uint64_t fallback, uint64_t most, uint64_t *number);
/* Numbers with commas between them; false when one is none, is above `most` or is there twice, or there are too many. */
bool query_numbers(const struct request *request, const char *key, uint64_t most, uint32_t *numbers, uint32_t room,
                   uint32_t *count);
/* "12.3": SOURCE.NUMBER, a packet's name. */
bool packet_name_read(const char *name, uint32_t *source, uint32_t *sequence);
