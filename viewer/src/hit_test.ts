// SPDX-License-Identifier: Apache-2.0
// What lies under the pointer: a flit before a router before a channel.
import type {Camera} from "./camera";
import type {PlacedFlit} from "./flit_layout";
import type {Geometry, Point} from "./geometry";
import type {Selection} from "./network_view";
import type {Visible} from "./visible";

/** Pixels by which a channel may be missed. */
const CLOSE = 7;
/** Pixels between neighbours below which channels are too thin to mean one. */
const HITTABLE = 12;
/** Nothing is harder to hit than this. */
const SMALLEST = 10;

export function hitTest(at: Point, geometry: Geometry, camera: Camera, visible: Visible, flits: PlacedFlit[]): Selection {
    for (const flit of flits) {
        const middle = camera.toScreen(flit);
        const isUpright = flit.way.x === 0;
        const width = Math.max(SMALLEST, (isUpright ? flit.thickness : flit.length) * camera.scale);
        const height = Math.max(SMALLEST, (isUpright ? flit.length : flit.thickness) * camera.scale);
        if (Math.abs(at.x - middle.x) <= width / 2 && Math.abs(at.y - middle.y) <= height / 2) {
            return {kind: "packet", packet: flit.packet};
        }
    }
    const half = Math.max(SMALLEST / 2, geometry.half(camera.unit) * camera.scale);
    for (const router of visible.routers()) {
        const middle = camera.toScreen({x: geometry.x[router], y: geometry.y[router]});
        if (Math.abs(at.x - middle.x) <= half && Math.abs(at.y - middle.y) <= half) {
            return {kind: "router", router};
        }
    }
    return hitChannel(at, geometry, camera, visible);
}

function hitChannel(at: Point, geometry: Geometry, camera: Camera, visible: Visible): Selection {
    if (camera.unit < HITTABLE) {
        return null;
    }
    const half = geometry.half(camera.unit);
    let best = CLOSE;
    let found: Selection = null;
    for (let channel = 0; channel < geometry.network.channels; ++channel) {
        if (visible.channel(channel)) {
            const path = geometry.path(channel, half).map((point) => camera.toScreen(point));
            for (let i = 1; i < path.length; ++i) {
                const distance = distanceToSegment(at, path[i - 1], path[i]);
                if (distance < best) {
                    best = distance;
                    found = {kind: "channel", channel};
                }
            }
        }
    }
    return found;
}

function distanceToSegment(point: Point, a: Point, b: Point): number {
    const dx = b.x - a.x;
    const dy = b.y - a.y;
    const share = Math.max(0, Math.min(1, ((point.x - a.x) * dx + (point.y - a.y) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(point.x - a.x - share * dx, point.y - a.y - share * dy);
}
