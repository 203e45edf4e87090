/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Digests added up and written, see flitwarp/digest.h. */
#include "flitwarp/digest.h"

void digest_merge(struct digest *into, const struct digest *from);

/* 32 hexadecimal digits and the end of text. */
void digest_text(const struct digest *digest, char text[33]);
