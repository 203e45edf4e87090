/* SPDX-License-Identifier: Apache-2.0 */
/* Binary traces of a machine of the other byte order are known for what they are, and refused with the reason. */
#include "traced.h"

TEST(traces_with_their_bytes_turned_round_are_refused_as_such)
{
    static const struct {
        const char *format;
        unsigned char head[8];
        const char *text;
    } cases[] = {
        {"goal_binary", {0, 0, 0, 0, 0, 0, 0x10, 0x7f}, "the file is of a machine of the other byte order"}, /* 4223 */
        {"netrace", {0x48, 0x4a, 0x54, 0x55, 0x3f, 0x80, 0, 0}, "accepted: a little-endian file"},
        {"dumpi",
         {'I', 'P', 'M', 'U', 'D', 0xdd, 0xaa, 0xff},
         "made: at byte 0: a DUMPI file with the bytes turned round"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char bytes[256] = {0};
        memcpy(bytes, cases[i].head, sizeof cases[i].head);
        expect_refused(cases[i].format, bytes, sizeof bytes, cases[i].text);
    }
}
