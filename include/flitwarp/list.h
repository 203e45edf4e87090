/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Lists of numbers, as settings have them. Read by OpenCL too. */
#include "flitwarp/both.h"

struct u32_list {
    uint32_t count;
    FW_FAR(uint32_t) items;
};
struct f64_list {
    uint32_t count;
    FW_FAR(double) items;
};
struct u64_list {
    uint32_t count;
    FW_FAR(uint64_t) items;
};
