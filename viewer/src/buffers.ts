// SPDX-License-Identifier: Apache-2.0
// How large a router's buffers are, and so what counts as a full router.
import type {Scene} from "./api";

/** Drawn of a queue that has no limit. */
const ENDLESS = 8;

/** Routers whose output buffers are like their input buffers. */
const ALIKE = ["omnipath", "simured"];

interface RouterOptions {
    network?: {router?: {output_depth?: number}};
}

/** Slots of each VC behind an input; at least one is drawn. */
export function inputDepth(scene: Scene): number {
    return scene.router.input_depth || ENDLESS;
}

/** Slots of each VC before an output; 0 where routers have none there. */
export function outputDepth(scene: Scene): number {
    const {type} = scene.router;
    const configured = (scene.config as RouterOptions).network?.router?.output_depth;
    return ALIKE.includes(type) ? inputDepth(scene) : type.includes("output") ? configured || ENDLESS : 0;
}

/** Flits that fill all of its buffers. */
export function fullOccupancy(scene: Scene): number {
    const {ports, num_vcs} = scene.router;
    return Math.max(1, ports * num_vcs * (inputDepth(scene) + outputDepth(scene)));
}
