/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The devices that a library finds, with their handles. */
#include "device/library.h"
#include "device/opencl.h"

/* As opencl_list(); ids, in the arena, are in the same order. */
bool devices_find(const struct library *library, struct device_list *list, cl_device_id **ids, struct arena *arena,
                  struct errors *errors);
