// SPDX-License-Identifier: Apache-2.0
// What counts as a full router, for the colour scale.
import type {Scene} from "./api";

/** All its input and output buffers. */
export function fullOccupancy(scene: Scene): number {
    const {ports, num_vcs, input_depth, output_depth} = scene.router;
    return Math.max(1, ports * num_vcs * ((input_depth || 0) + (output_depth || 0)));
}
