// SPDX-License-Identifier: Apache-2.0
// Which part of the network is on the screen.
import type {Geometry, Point} from "./geometry";

/** Pixels at the lower edge that the legend covers. */
const LEGEND = 36;

export class Camera {
    x = 0;
    y = 0;
    /** Pixels per unit of the layout. */
    scale = 1;
    width = 1;
    height = 1;

    constructor(private readonly geometry: Geometry) {}

    /** Pixels between neighbouring routers: what decides how much is drawn of each. */
    get unit(): number {
        return this.scale * this.geometry.spacing;
    }

    toScreen(point: Point): Point {
        return {x: (point.x - this.x) * this.scale + this.width / 2, y: (point.y - this.y) * this.scale + this.height / 2};
    }

    toWorld(point: Point): Point {
        return {x: (point.x - this.width / 2) / this.scale + this.x, y: (point.y - this.height / 2) / this.scale + this.y};
    }

    fit(): void {
        const {left, top, right, bottom} = this.geometry.box;
        const margin = (this.geometry.x.length > 1 ? 0.75 : 0.62) * this.geometry.spacing;
        this.x = (left + right) / 2;
        this.scale = Math.min(this.width / (right - left + 2 * margin), (this.height - LEGEND) / (bottom - top + 2 * margin));
        this.y = (top + bottom) / 2 + LEGEND / 2 / this.scale;
        this.limit();
    }

    pan(dx: number, dy: number): void {
        this.x -= dx / this.scale;
        this.y -= dy / this.scale;
        this.limit();
    }

    /** Larger by a factor; what lies under the pointer stays there. */
    zoom(factor: number, at: Point): void {
        const before = this.toWorld(at);
        this.scale *= factor;
        this.limit();
        const after = this.toWorld(at);
        this.x += before.x - after.x;
        this.y += before.y - after.y;
    }

    goTo(x: number, y: number, unit: number): void {
        this.x = x;
        this.y = y;
        this.scale = unit / this.geometry.spacing;
        this.limit();
    }

    private limit(): void {
        const {left, top, right, bottom} = this.geometry.box;
        const whole = Math.min(this.width / (right - left + 2 * this.geometry.spacing), this.height / (bottom - top + 2 * this.geometry.spacing));
        this.scale = Math.min(1600 / this.geometry.spacing, Math.max(Math.min(whole * 0.5, 60), this.scale));
        this.x = Math.min(right + this.geometry.spacing, Math.max(left - this.geometry.spacing, this.x));
        this.y = Math.min(bottom + this.geometry.spacing, Math.max(top - this.geometry.spacing, this.y));
    }
}
