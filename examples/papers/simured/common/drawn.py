# SPDX-License-Identifier: Apache-2.0
"""Curves of SimuRed's paper as they are drawn, and the settings that they come from.

Figures 7 to 10 are drawn by lines whose ends are in the file of the paper: they are read to its last digit. Figure 5 is a picture of
a window, read to a pixel: 0.6 cycles, 0.001 flits.

The paper prints 2-flit buffers and 2 virtual channels for the mesh of Figures 7 to 9. Its program gives these curves with LONBUFFER 1
(a flit in the output buffer and one in the input buffer behind it: 2 a hop) and PHYSICAL true (a channel for each VC); so does it that of
Figure 5 with LONBUFFER 1, packets of 64 flits, its default, and as many channels of terminals as VCs. Figure 10 is as printed.
"""

# Figure 7, deterministic routing: {injection channels: [(delivery rate, packet latency), ...]}, about every third mark.
FIGURE_7 = {
    1: [(0.099, 49.4), (0.190, 50.5), (0.293, 53.0), (0.397, 58.4), (0.449, 65.1), (0.474, 68.7)],
    2: [(0.099, 49.7), (0.196, 51.3), (0.297, 55.6), (0.399, 66.5), (0.448, 80.9), (0.481, 94.2)],
    4: [(0.099, 49.7), (0.196, 51.6), (0.297, 55.9), (0.400, 70.0), (0.450, 90.3), (0.487, 132.4)],
    8: [(0.099, 49.6), (0.196, 51.6), (0.298, 55.8), (0.398, 69.2), (0.449, 93.8), (0.492, 186.4)],
}
# Figure 8, adaptive routing, one channel.
FIGURE_8 = [(0.113, 49.4), (0.190, 50.2), (0.294, 52.5), (0.397, 57.9), (0.448, 64.4), (0.464, 71.5)]

# Figure 5, mesh 4x4: {virtual channels: (head latency at the fourth load, 0.3667; highest productivity)}
FIGURE_5 = {1: (55.2, 0.434), 2: (25.2, 0.570), 4: (12.9, 0.710), 8: (10.6, 0.832), 16: (11.7, 0.840)}
FIGURE_5_LOADS = [0.05 + 0.95 / 9 * step for step in range(10)]

SETTINGS = {"mesh8x8": {"buffers": 1, "physical": True}, "hcube64": {}, "mesh4x4": {"buffers": 1}}
