/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* What readers and writers of binary GOAL files share (docs/formats.md). */

enum { GOAL_COOKIE = 4223, GOAL_BASE = 8 }; /* the first 8 bytes, and where places of ranks are counted from */
enum goal_type { GOAL_SEND = 1, GOAL_RECEIVE = 2, GOAL_COMPUTE = 3 };
