/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A checksum; equal for equal bytes, and very unlikely to be so for others. */
uint64_t bytes_checksum(const void *bytes, size_t count);
