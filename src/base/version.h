/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The version, which CMakeLists.txt reads here, and the commit that a build was made from. */
#define FLITWARP_VERSION "1.0.0"

/* The last one that changed what the program is made of, so that others leave the program as it is; made by
 * packaging/commit.cmake. */
extern const char build_commit[];
