// SPDX-License-Identifier: Apache-2.0
// What of the network lies on the screen.
import type {Camera} from "./camera";
import type {Geometry} from "./geometry";

/** Pixels between neighbours from which on terminals and names are drawn. */
export const NAMES = 44;

export class Visible {
    constructor(private readonly geometry: Geometry, private readonly camera: Camera) {}

    routers(): number[] {
        const {x, y, spacing} = this.geometry;
        const width = this.camera.width / 2 / this.camera.scale + 0.5 * spacing;
        const height = this.camera.height / 2 / this.camera.scale + 0.5 * spacing;
        const visible: number[] = [];
        for (let router = 0; router < x.length; ++router) {
            if (Math.abs(x[router] - this.camera.x) < width && Math.abs(y[router] - this.camera.y) < height) {
                visible.push(router);
            }
        }
        return visible;
    }

    /** Not when both its ends lie beyond the same edge of the screen. */
    channel(channel: number): boolean {
        const {channels, terminals} = this.geometry.network.scene;
        const isTerminal = channel >= channels.from.length;
        if (isTerminal && this.camera.unit < NAMES) {
            return false;
        }
        const from = isTerminal ? terminals.router[(channel - channels.from.length) >> 1] : channels.from[channel];
        const to = isTerminal ? from : channels.to[channel];
        const {x, y, spacing} = this.geometry;
        const width = this.camera.width / 2 / this.camera.scale + spacing;
        const height = this.camera.height / 2 / this.camera.scale + spacing;
        const ax = x[from] - this.camera.x;
        const bx = x[to] - this.camera.x;
        const ay = y[from] - this.camera.y;
        const by = y[to] - this.camera.y;
        return !((ax < -width && bx < -width) || (ax > width && bx > width) || (ay < -height && by < -height) || (ay > height && by > height));
    }
}
