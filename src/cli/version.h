/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#define FLITWARP_VERSION "0.1.0"
