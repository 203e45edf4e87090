// SPDX-License-Identifier: Apache-2.0
// The network from afar: lines, squares, dots. There may be tens of thousands of them, thirty times a second, so they are sorted
// by colour first, and upright and level lines are filled rectangles, which are several times cheaper than strokes.
import type {Frame} from "./api";
import {fullOccupancy} from "./buffers";
import type {Camera} from "./camera";
import {PACKET_COLOURS, packetColourIndex, STEPS, stepOf, type Palette} from "./colours";
import {midTick} from "./flit_layout";
import type {Geometry, Point} from "./geometry";
import {NAMES, type Visible} from "./visible";

const TAU = 2 * Math.PI;
/** Below so many pixels between neighbours the two directions of a link are one line. */
const APART = 30;

export class Overview {
    constructor(private readonly geometry: Geometry, private readonly camera: Camera, private readonly visible: Visible) {}

    drawChannels(context: CanvasRenderingContext2D, palette: Palette, frame: Frame | null, half: number): void {
        const unit = this.camera.unit;
        const isJoined = unit < APART;
        const bins: number[][] = Array.from({length: STEPS}, () => []);
        const utilisation = frame?.utilisation ?? [];
        const {back, routers} = this.geometry.network;
        for (let channel = 0; channel < back.length; ++channel) {
            if ((isJoined && back[channel] > channel) || !this.visible.channel(channel)) {
                continue;
            }
            const used = isJoined && back[channel] >= 0 ? Math.max(utilisation[channel] ?? 0, utilisation[back[channel]] ?? 0) : utilisation[channel] ?? 0;
            bins[stepOf(used)].push(channel);
        }
        // Thinner where many leave each router, so that one sees through.
        const crowd = Math.min(1, Math.sqrt((6 * routers) / back.length));
        const width = isJoined ? Math.max(1, unit * 0.08) : Math.max(1, crowd * Math.min(9, Math.max(1.5, unit * 0.022)));
        bins.forEach((channels, step) => this.drawLines(context, channels, palette.channels[step], width * (0.8 + (0.5 * step) / STEPS), isJoined, half));
    }

    /** Links that have failed, crossed out; of a ring's that would run through all its routers, the two ends. */
    drawDead(context: CanvasRenderingContext2D, palette: Palette): void {
        const {dead, topology} = this.geometry.network.scene;
        const {x, y, spacing} = this.geometry;
        const cross = Math.min(7, 0.08 * this.camera.unit);
        context.beginPath();
        dead?.from.forEach((from, i) => {
            const to = dead.to[i];
            const length = Math.hypot(x[to] - x[from], y[to] - y[from]);
            const reach = topology.wraps && length > 1.5 * spacing ? -0.5 * spacing / length : 1;
            for (const [here, there] of reach < 0 ? [[from, to], [to, from]] : [[from, to]]) {
                const end = this.camera.toScreen({x: x[here] + reach * (x[there] - x[here]), y: y[here] + reach * (y[there] - y[here])});
                const start = this.camera.toScreen({x: x[here], y: y[here]});
                const middle = reach < 0 ? end : {x: (start.x + end.x) / 2, y: (start.y + end.y) / 2};
                context.moveTo(start.x, start.y);
                context.lineTo(end.x, end.y);
                for (const side of [-cross, cross]) {
                    context.moveTo(middle.x - cross, middle.y - side);
                    context.lineTo(middle.x + cross, middle.y + side);
                }
            }
        });
        context.setLineDash([3, 3]);
        context.lineWidth = 1.25;
        context.strokeStyle = palette.bad;
        context.stroke();
        context.setLineDash([]);
    }

    /** Channels that are slow: dashes on top of them. */
    drawSlow(context: CanvasRenderingContext2D, palette: Palette, half: number): void {
        const {slow} = this.geometry.network;
        context.beginPath();
        for (const channel of slow.keys()) {
            if (this.visible.channel(channel)) {
                this.traceChannel(context, channel, half);
            }
        }
        context.setLineDash([2, 5]);
        context.lineWidth = Math.max(1.5, Math.min(4, 0.03 * this.camera.unit));
        context.strokeStyle = palette.bad;
        context.stroke();
        context.setLineDash([]);
    }

    traceChannel(context: CanvasRenderingContext2D, channel: number, half: number): void {
        const path = this.geometry.path(channel, half).map((point) => this.camera.toScreen(point));
        path.forEach((point, i) => (i ? context.lineTo(point.x, point.y) : context.moveTo(point.x, point.y)));
    }

    drawTerminals(context: CanvasRenderingContext2D, palette: Palette, routers: number[], half: number): void {
        if (this.camera.unit < NAMES) {
            return;
        }
        const {terminals} = this.geometry.network.scene;
        const radius = Math.min(16, 0.05 * this.camera.unit);
        context.beginPath();
        const labels: {text: string; at: Point}[] = [];
        for (const router of routers) {
            for (const place of this.geometry.places[router]) {
                if (place.terminal >= 0) {
                    const from = this.camera.toScreen(this.geometry.terminal(router, place, half));
                    const to = this.camera.toScreen({x: this.geometry.x[router] + half * place.at.x, y: this.geometry.y[router] + half * place.at.y});
                    context.moveTo(to.x, to.y);
                    context.lineTo(from.x, from.y);
                    context.moveTo(from.x + radius, from.y);
                    context.arc(from.x, from.y, radius, 0, TAU);
                    labels.push({text: String(terminals.terminal[place.terminal]), at: from});
                }
            }
        }
        context.lineWidth = 1.25;
        context.strokeStyle = palette.edge;
        context.stroke();
        context.fillStyle = palette.box;
        context.fill();
        if (radius >= 8) {
            context.fillStyle = palette.quiet;
            context.font = `${Math.min(11, radius).toFixed(1)}px system-ui, sans-serif`;
            labels.forEach(({text, at}) => context.fillText(text, at.x, at.y));
        }
    }

    drawRouters(context: CanvasRenderingContext2D, palette: Palette, frame: Frame | null, routers: number[], half: number): void {
        const full = fullOccupancy(this.geometry.network.scene);
        const bins: number[][] = Array.from({length: STEPS}, () => []);
        for (const router of routers) {
            bins[stepOf((frame?.occupancy[router] ?? 0) / full)].push(router);
        }
        const side = Math.max(2, 2 * half * this.camera.scale);
        const isSmall = side < 14;
        if (isSmall && side >= 6) { // their edges: larger squares below
            context.fillStyle = palette.edge;
            this.fillSquares(context, routers, side + 2);
        }
        bins.forEach((members, step) => {
            context.fillStyle = palette.routers[step];
            if (isSmall) {
                this.fillSquares(context, members, side);
            } else if (members.length) {
                context.beginPath();
                for (const router of members) {
                    const {x, y} = this.camera.toScreen({x: this.geometry.x[router], y: this.geometry.y[router]});
                    context.roundRect(x - side / 2, y - side / 2, side, side, side * 0.12);
                }
                context.fill();
                context.strokeStyle = palette.edge;
                context.lineWidth = 1;
                context.stroke();
            }
        });
        if (this.camera.unit >= NAMES) {
            this.drawNames(context, palette, routers, side);
        }
    }

    /** Of groups and levels. */
    drawLabels(context: CanvasRenderingContext2D, palette: Palette): void {
        const size = Math.min(16, 0.42 * this.camera.unit);
        if (size < 8) {
            return;
        }
        context.font = `${size.toFixed(1)}px system-ui, sans-serif`;
        context.fillStyle = palette.quiet;
        for (const [x, y, text] of this.geometry.network.scene.layout.labels) {
            const at = this.camera.toScreen({x, y});
            context.fillText(text, at.x, at.y);
        }
    }

    /** Flits on channels as dots, where they stand still. */
    drawDots(context: CanvasRenderingContext2D, frame: Frame, half: number): void {
        const size = 2 * this.dotRadius();
        const bins: number[][] = Array.from({length: PACKET_COLOURS.length}, () => []);
        const {scale, width, height} = this.camera;
        const left = width / 2 - this.camera.x * scale;
        const top = height / 2 - this.camera.y * scale;
        const {scene} = this.geometry.network;
        for (const [channel, , packet, , , progress] of frame.links) {
            if (!this.visible.channel(channel)) {
                continue;
            }
            const path = this.geometry.path(channel, half);
            const share = progress < 0 ? 0 : midTick(scene, channel, progress);
            const at = path.length === 2 ? null : this.geometry.along(path, share);
            const x = at ? at.x : path[0].x + share * (path[1].x - path[0].x);
            const y = at ? at.y : path[0].y + share * (path[1].y - path[0].y);
            bins[packetColourIndex(packet)].push(x * scale + left - size / 2, y * scale + top - size / 2);
        }
        bins.forEach((places, index) => {
            context.fillStyle = PACKET_COLOURS[index];
            for (let i = 0; i < places.length; i += 2) {
                context.fillRect(places[i], places[i + 1], size, size);
            }
        });
    }

    dotRadius(): number {
        return Math.max(1.5, 0.036 * this.camera.unit);
    }

    private drawLines(context: CanvasRenderingContext2D, channels: number[], colour: string, width: number, isJoined: boolean, half: number): void {
        if (!channels.length) {
            return;
        }
        const {x, y} = this.geometry;
        const {from, to} = this.geometry.network.scene.channels;
        const {scale} = this.camera;
        const left = this.camera.width / 2 - this.camera.x * scale;
        const top = this.camera.height / 2 - this.camera.y * scale;
        context.fillStyle = colour;
        context.strokeStyle = colour;
        context.lineWidth = width;
        context.lineJoin = "round";
        context.beginPath();
        for (const channel of channels) {
            if (!this.geometry.isStraight(channel)) {
                this.traceChannel(context, channel, half);
                continue;
            }
            let [ax, ay, bx, by] = [x[from[channel]], y[from[channel]], x[to[channel]], y[to[channel]]];
            if (!isJoined) {
                const [start, end] = this.geometry.path(channel, half);
                [ax, ay, bx, by] = [start.x, start.y, end.x, end.y];
            }
            [ax, ay, bx, by] = [ax * scale + left, ay * scale + top, bx * scale + left, by * scale + top];
            if (Math.abs(ay - by) < 0.01) {
                context.fillRect(Math.min(ax, bx), ay - width / 2, Math.abs(bx - ax), width);
            } else if (Math.abs(ax - bx) < 0.01) {
                context.fillRect(ax - width / 2, Math.min(ay, by), width, Math.abs(by - ay));
            } else {
                context.moveTo(ax, ay);
                context.lineTo(bx, by);
            }
        }
        context.stroke();
    }

    private fillSquares(context: CanvasRenderingContext2D, routers: number[], side: number): void {
        const {x, y} = this.geometry;
        const {scale} = this.camera;
        const left = this.camera.width / 2 - this.camera.x * scale - side / 2;
        const top = this.camera.height / 2 - this.camera.y * scale - side / 2;
        for (const router of routers) {
            context.fillRect(x[router] * scale + left, y[router] * scale + top, side, side);
        }
    }

    private drawNames(context: CanvasRenderingContext2D, palette: Palette, routers: number[], side: number): void {
        for (const router of routers) {
            const name = this.geometry.network.name(router);
            const size = Math.min(14, (0.9 * side) / (0.58 * Math.max(2, name.length)));
            if (size >= 7) {
                const {x, y} = this.camera.toScreen({x: this.geometry.x[router], y: this.geometry.y[router]});
                context.font = `600 ${size.toFixed(1)}px system-ui, sans-serif`;
                context.lineWidth = 3;
                context.strokeStyle = palette.halo;
                context.strokeText(name, x, y);
                context.fillStyle = palette.ink;
                context.fillText(name, x, y);
            }
        }
    }
}
