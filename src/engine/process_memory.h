/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The memory that a partition has taken by process_memory(): copied and compared as a whole. */
#include "flitwarp/process.h"

void process_memory_release(struct partition *partition);
size_t process_memory_size(const struct partition *partition);
void process_memory_copy(const struct partition *partition, unsigned char *to);
/* The first byte that is not as in the copy, which was made when there were `bytes`; NULL: none. */
const void *process_memory_differs(const struct partition *partition, const unsigned char *from, size_t bytes);
