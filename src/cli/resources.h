/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What the program uses of the machine. */
#include <stdint.h>

double cpu_seconds(void); /* of all threads */
double wall_seconds(void);
uint64_t peak_memory(void); /* bytes */
