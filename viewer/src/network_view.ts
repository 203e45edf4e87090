// SPDX-License-Identifier: Apache-2.0
// The canvas with the network. How much is drawn of it depends on how near it is:
//   far     routers are coloured squares, the two directions of a link one line
//   middle  each direction has its line, flits are dots on them, routers and terminals have names
//   near    routers open up and show their buffers (flit_view)
// Only what is on the screen is drawn, lines of one colour in one go.
import type {Frame, PacketId} from "./api";
import {Camera} from "./camera";
import {packetColour, STEPS, stepOf, type Palette, type ThemeSwitch} from "./colours";
import {drawDeadlock} from "./deadlock_view";
import {FlitLayout, Tween, type PlacedFlit} from "./flit_layout";
import {FlitView} from "./flit_view";
import {Geometry, type Point} from "./geometry";
import {fullOccupancy} from "./buffers";
import {Network} from "./scene";

export type Selection = {kind: "router"; router: number} | {kind: "packet"; packet: PacketId} | {kind: "channel"; channel: number} | null;

type Level = "far" | "middle" | "near";

const MIDDLE = 16;
const NEAR = 150;
const NAMES = 44;
/** A drawing that takes longer than this is moved as a picture while the network is dragged, and drawn anew afterwards. */
const SLOW_MS = 14;
const TAU = 2 * Math.PI;

/** What was drawn, for those who test it; positions in CSS pixels of the canvas. */
export interface Drawn {
    now: number | null;
    level: Level;
    isSettled: boolean;
    routers: {router: number; x: number; y: number; half: number}[];
    flits: (PlacedFlit & {screen: Point; colour: string})[];
    deadlock: PacketId[];
    milliseconds: number;
    frames: number;
}

export class NetworkView {
    readonly geometry: Geometry;
    readonly camera: Camera;
    selection: Selection = null;
    /** Of the packets of a deadlock, the one that is pointed out. */
    stuck = -1;
    onSelect: (selection: Selection) => void = () => {};
    /** Called when other routers come near: their buffers have to be asked for. */
    onNear: () => void = () => {};

    private frame: Frame | null = null;
    private flits: PlacedFlit[] = [];
    private tween = new Tween([]);
    private tweenStart = 0;
    private tweenLength = 0;
    private readonly layout: FlitLayout;
    private readonly flitView: FlitView;
    private readonly context: CanvasRenderingContext2D;
    private readonly observer: ResizeObserver;
    private readonly stop = new AbortController();
    private isAsked = false;
    private drawMs = 0;
    private frames = 0;
    private nearBefore = "";
    /** The last drawing, and the camera that it was made with: for moving it. */
    private picture: {canvas: HTMLCanvasElement; x: number; y: number; scale: number} | null = null;
    private movedAt = -Infinity;
    private hasFitted = false;

    constructor(private readonly canvas: HTMLCanvasElement, readonly network: Network, private readonly theme: ThemeSwitch) {
        this.geometry = new Geometry(network);
        this.camera = new Camera(this.geometry);
        this.layout = new FlitLayout(this.geometry);
        this.flitView = new FlitView(this.geometry, this.camera);
        this.context = canvas.getContext("2d", {alpha: false})!;
        this.observer = new ResizeObserver(() => this.resize());
        this.observer.observe(canvas);
        theme.changed.add(this.redraw);
        this.listen();
        this.resize();
    }

    /** Ends its listening, for another network to take the canvas. */
    release(): void {
        this.stop.abort();
        this.observer.disconnect();
        this.theme.changed.delete(this.redraw);
    }

    get level(): Level {
        return this.camera.unit >= NEAR ? "near" : this.camera.unit >= MIDDLE ? "middle" : "far";
    }

    /** Shows a frame; flits glide to their new places within so many milliseconds. */
    show(frame: Frame, glideMs: number): void {
        this.tween = new Tween(glideMs > 0 ? this.flits : []);
        this.tweenStart = performance.now();
        this.tweenLength = glideMs;
        this.frame = frame;
        ++this.frames;
        this.redraw();
    }

    /** Routers whose buffers are to be seen. */
    nearRouters(): number[] {
        return this.level === "near" ? this.visibleRouters() : [];
    }

    select(selection: Selection): void {
        this.selection = selection;
        this.onSelect(selection);
        this.redraw();
    }

    /** Brings a router to the middle. */
    goToRouter(router: number, isNear = true): void {
        const unit = isNear ? Math.max(this.camera.unit, Math.min(430, 0.66 * Math.min(this.camera.width, this.camera.height))) : this.camera.unit;
        this.camera.goTo(this.geometry.x[router], this.geometry.y[router], unit);
        this.moved();
    }

    fit(): void {
        this.camera.fit();
        this.moved();
    }

    zoom(factor: number, at: Point = {x: this.camera.width / 2, y: this.camera.height / 2}): void {
        this.camera.zoom(factor, at);
        this.moved();
    }

    pan(dx: number, dy: number): void {
        this.camera.pan(dx, dy);
        this.moved();
    }

    /** The router nearest to the middle of the screen. */
    middleRouter(): number {
        let nearest = 0;
        let distance = Infinity;
        for (let router = 0; router < this.network.routers; ++router) {
            const away = Math.hypot(this.geometry.x[router] - this.camera.x, this.geometry.y[router] - this.camera.y);
            if (away < distance) {
                distance = away;
                nearest = router;
            }
        }
        return nearest;
    }

    redraw = (): void => {
        if (!this.isAsked) {
            this.isAsked = true;
            requestAnimationFrame(() => {
                this.isAsked = false;
                this.draw();
            });
        }
    };

    drawn(): Drawn {
        const half = this.geometry.half(this.camera.unit);
        return {
            now: this.frame?.now ?? null, level: this.level, isSettled: !this.isAsked && performance.now() >= this.tweenStart + this.tweenLength,
            routers: this.visibleRouters().map((router) => ({
                router, ...this.camera.toScreen({x: this.geometry.x[router], y: this.geometry.y[router]}), half: half * this.camera.scale})),
            flits: this.flits.map((flit) => ({...flit, screen: this.camera.toScreen(flit), colour: packetColour(flit.packet)})),
            deadlock: this.frame?.deadlock?.packets.map((each) => each.packet) ?? [],
            milliseconds: this.drawMs, frames: this.frames,
        };
    }

    private moved(): void {
        this.movedAt = performance.now();
        this.redraw();
        const near = this.nearRouters().join();
        if (near !== this.nearBefore) {
            this.nearBefore = near;
            this.onNear();
        }
    }

    private resize(): void {
        const {clientWidth, clientHeight} = this.canvas;
        const ratio = window.devicePixelRatio || 1;
        this.canvas.width = Math.max(1, Math.round(clientWidth * ratio));
        this.canvas.height = Math.max(1, Math.round(clientHeight * ratio));
        this.camera.width = Math.max(1, clientWidth);
        this.camera.height = Math.max(1, clientHeight);
        this.picture = null;
        if (!this.hasFitted && clientWidth > 0) {
            this.hasFitted = true;
            this.camera.fit();
        }
        this.draw(); // at once: a canvas of a new size is empty
        this.moved();
    }

    private draw(): void {
        const start = performance.now();
        const ratio = window.devicePixelRatio || 1;
        const context = this.context;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        const palette = this.theme.palette;
        context.fillStyle = palette.paper;
        context.fillRect(0, 0, this.camera.width, this.camera.height);
        if (this.picture && start - this.movedAt < 120 && this.movePicture(context)) {
            setTimeout(this.redraw, 125);
            return;
        }
        const half = this.geometry.half(this.camera.unit);
        const routers = this.visibleRouters();
        context.textAlign = "center";
        context.textBaseline = "middle";
        this.drawChannels(context, palette, half);
        this.drawTerminals(context, palette, routers, half);
        const isNear = this.level === "near" && this.frame;
        if (isNear) {
            this.flitView.drawRouters(context, palette, this.frame!, routers, half);
        } else {
            this.drawRouters(context, palette, routers, half);
        }
        this.drawFlits(context, palette, routers, half, start);
        this.drawSelection(context, palette, half);
        if (this.frame?.deadlock) {
            drawDeadlock(context, palette, this.geometry, this.camera, this.frame.deadlock, this.stuck, half);
        }
        this.drawMs = performance.now() - start;
        this.keepPicture();
    }

    /** While the network is dragged, a costly drawing is moved instead of made again. */
    private keepPicture(): void {
        if (this.drawMs < SLOW_MS) {
            this.picture = null;
            return;
        }
        const canvas = this.picture?.canvas ?? document.createElement("canvas");
        if (canvas.width !== this.canvas.width || canvas.height !== this.canvas.height) {
            canvas.width = this.canvas.width;
            canvas.height = this.canvas.height;
        }
        canvas.getContext("2d", {alpha: false})!.drawImage(this.canvas, 0, 0);
        this.picture = {canvas, x: this.camera.x, y: this.camera.y, scale: this.camera.scale};
    }

    private movePicture(context: CanvasRenderingContext2D): boolean {
        const {canvas, x, y, scale} = this.picture!;
        const grown = this.camera.scale / scale;
        if (grown > 3 || grown < 0.33) {
            return false;
        }
        const width = this.camera.width * grown;
        const height = this.camera.height * grown;
        const middle = this.camera.toScreen({x, y});
        context.imageSmoothingEnabled = grown !== 1;
        context.drawImage(canvas, middle.x - width / 2, middle.y - height / 2, width, height);
        return true;
    }

    private visibleRouters(): number[] {
        const reach = 0.5 * this.geometry.spacing;
        const {x: left, y: top} = this.camera.toWorld({x: 0, y: 0});
        const {x: right, y: bottom} = this.camera.toWorld({x: this.camera.width, y: this.camera.height});
        const {x, y} = this.geometry;
        const visible: number[] = [];
        for (let router = 0; router < this.network.routers; ++router) {
            if (x[router] > left - reach && x[router] < right + reach && y[router] > top - reach && y[router] < bottom + reach) {
                visible.push(router);
            }
        }
        return visible;
    }

    /** Not when both its ends lie beyond the same edge of the screen. */
    private isVisible(channel: number): boolean {
        const {from, to} = this.network.scene.channels;
        const {x, y} = this.geometry;
        const reach = this.geometry.spacing;
        if (channel >= from.length) {
            const router = this.network.scene.terminals.router[(channel - from.length) >> 1];
            const {x: left, y: top} = this.camera.toScreen({x: x[router], y: y[router]});
            const unit = this.camera.unit;
            return unit >= NAMES && left > -unit && left < this.camera.width + unit && top > -unit && top < this.camera.height + unit;
        }
        const width = this.camera.width / 2 / this.camera.scale + reach;
        const height = this.camera.height / 2 / this.camera.scale + reach;
        const ax = x[from[channel]] - this.camera.x;
        const bx = x[to[channel]] - this.camera.x;
        const ay = y[from[channel]] - this.camera.y;
        const by = y[to[channel]] - this.camera.y;
        return !((ax < -width && bx < -width) || (ax > width && bx > width) || (ay < -height && by < -height) || (ay > height && by > height));
    }

    private drawChannels(context: CanvasRenderingContext2D, palette: Palette, half: number): void {
        const isFar = this.level === "far";
        const bins: number[][] = Array.from({length: STEPS}, () => []);
        const utilisation = this.frame?.utilisation ?? [];
        const {back} = this.network;
        for (let channel = 0; channel < back.length; ++channel) {
            if ((isFar && back[channel] > channel) || !this.isVisible(channel)) {
                continue;
            }
            const used = isFar && back[channel] >= 0 ? Math.max(utilisation[channel] ?? 0, utilisation[back[channel]] ?? 0) : utilisation[channel] ?? 0;
            bins[stepOf(used)].push(channel);
        }
        const unit = this.camera.unit;
        // Thinner where many leave each router, so that one sees through.
        const crowd = Math.min(1, Math.sqrt((6 * this.network.routers) / back.length));
        const width = isFar ? Math.max(1, unit * 0.06) : Math.max(1, crowd * Math.min(9, Math.max(1.5, unit * 0.022)));
        context.lineJoin = "round";
        bins.forEach((channels, step) => {
            if (channels.length) {
                context.beginPath();
                for (const channel of channels) {
                    this.traceChannel(context, channel, isFar, half);
                }
                context.lineWidth = width * (0.8 + (0.5 * step) / STEPS);
                context.strokeStyle = palette.channels[step];
                context.stroke();
            }
        });
    }

    private traceChannel(context: CanvasRenderingContext2D, channel: number, isFar: boolean, half: number): void {
        const {x, y, scale} = this.camera;
        const left = this.camera.width / 2 - x * scale;
        const top = this.camera.height / 2 - y * scale;
        if (isFar && this.geometry.isStraight(channel)) {
            const {from, to} = this.network.scene.channels;
            context.moveTo(this.geometry.x[from[channel]] * scale + left, this.geometry.y[from[channel]] * scale + top);
            context.lineTo(this.geometry.x[to[channel]] * scale + left, this.geometry.y[to[channel]] * scale + top);
            return;
        }
        const path = this.geometry.path(channel, half);
        context.moveTo(path[0].x * scale + left, path[0].y * scale + top);
        for (let i = 1; i < path.length; ++i) {
            context.lineTo(path[i].x * scale + left, path[i].y * scale + top);
        }
    }

    private drawTerminals(context: CanvasRenderingContext2D, palette: Palette, routers: number[], half: number): void {
        if (this.camera.unit < NAMES) {
            return;
        }
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
                    labels.push({text: String(this.network.scene.terminals.terminal[place.terminal]), at: from});
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

    private drawRouters(context: CanvasRenderingContext2D, palette: Palette, routers: number[], half: number): void {
        const full = fullOccupancy(this.network.scene);
        const bins: number[][] = Array.from({length: STEPS}, () => []);
        for (const router of routers) {
            bins[stepOf((this.frame?.occupancy[router] ?? 0) / full)].push(router);
        }
        const side = Math.max(2, 2 * half * this.camera.scale);
        const isFar = this.level === "far";
        bins.forEach((members, step) => {
            if (!members.length) {
                return;
            }
            context.beginPath();
            for (const router of members) {
                const {x, y} = this.camera.toScreen({x: this.geometry.x[router], y: this.geometry.y[router]});
                if (isFar) {
                    context.rect(x - side / 2, y - side / 2, side, side);
                } else {
                    context.roundRect(x - side / 2, y - side / 2, side, side, side * 0.12);
                }
            }
            context.fillStyle = palette.routers[step];
            context.fill();
            if (side >= 6) {
                context.strokeStyle = palette.edge;
                context.lineWidth = 1;
                context.stroke();
            }
        });
        if (this.camera.unit >= NAMES) {
            this.drawNames(context, palette, routers, side);
        }
    }

    private drawNames(context: CanvasRenderingContext2D, palette: Palette, routers: number[], side: number): void {
        for (const router of routers) {
            const name = this.network.name(router);
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

    private drawFlits(context: CanvasRenderingContext2D, palette: Palette, routers: number[], half: number, now: number): void {
        this.flits = [];
        if (!this.frame || this.level === "far") {
            return;
        }
        const share = this.tweenLength > 0 ? Math.min(1, (now - this.tweenStart) / this.tweenLength) : 1;
        this.flits = this.layout.onChannels(this.frame, (channel) => this.isVisible(channel), half);
        const chosen = this.selection?.kind === "packet" ? this.selection.packet : null;
        if (this.level === "near") {
            this.flits.push(...this.layout.inRouters(this.frame, routers, half));
            for (const flit of this.flits) {
                this.flitView.drawFlit(context, palette, flit, this.camera.toScreen(this.tween.at(flit, share)), flit.packet === chosen);
            }
        } else {
            const radius = Math.max(1.5, 0.036 * this.camera.unit);
            for (const flit of this.flits) {
                const at = this.camera.toScreen(this.tween.at(flit, share));
                context.fillStyle = packetColour(flit.packet);
                context.beginPath();
                context.arc(at.x, at.y, flit.packet === chosen ? 2 * radius : radius, 0, TAU);
                context.fill();
                if (radius > 2) {
                    context.strokeStyle = palette.ink;
                    context.lineWidth = flit.packet === chosen ? 2 : 0.6;
                    context.stroke();
                }
            }
        }
        if (share < 1) {
            this.redraw();
        }
    }

    private drawSelection(context: CanvasRenderingContext2D, palette: Palette, half: number): void {
        context.strokeStyle = palette.accent;
        if (this.selection?.kind === "router") {
            const side = Math.max(8, 2 * half * this.camera.scale) + 8;
            const {x, y} = this.camera.toScreen({x: this.geometry.x[this.selection.router], y: this.geometry.y[this.selection.router]});
            context.lineWidth = 3;
            context.beginPath();
            context.roundRect(x - side / 2, y - side / 2, side, side, side * 0.08);
            context.stroke();
        } else if (this.selection?.kind === "channel") {
            context.lineWidth = Math.max(4, 0.03 * this.camera.unit);
            context.beginPath();
            this.traceChannel(context, this.selection.channel, this.level === "far", half);
            context.stroke();
        }
    }

    // ---- pointer ----------------------------------------------------------------------------------------------

    private listen(): void {
        const {signal} = this.stop;
        let last: Point | null = null;
        let travelled = 0;
        const at = (event: MouseEvent): Point => ({x: event.offsetX, y: event.offsetY});
        this.canvas.addEventListener("pointerdown", (event) => {
            last = at(event);
            travelled = 0;
            this.canvas.setPointerCapture(event.pointerId);
        }, {signal});
        this.canvas.addEventListener("pointermove", (event) => {
            if (last) {
                const point = at(event);
                travelled += Math.hypot(point.x - last.x, point.y - last.y);
                this.pan(point.x - last.x, point.y - last.y);
                last = point;
            }
        }, {signal});
        this.canvas.addEventListener("pointerup", (event) => {
            if (last && travelled < 5) {
                this.select(this.hit(at(event)));
            }
            last = null;
        }, {signal});
        this.canvas.addEventListener("pointercancel", () => (last = null), {signal});
        this.canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) * 0.0022), at(event));
        }, {signal, passive: false});
        this.canvas.addEventListener("dblclick", (event) => {
            const hit = this.hit(at(event));
            if (hit?.kind === "router") {
                this.goToRouter(hit.router);
            }
        }, {signal});
    }

    /** What lies at a place of the screen: a flit before a router before a channel. */
    private hit(at: Point): Selection {
        const scale = this.camera.scale;
        for (const flit of this.flits) {
            const middle = this.camera.toScreen(flit);
            const isUpright = flit.way.x === 0;
            const width = Math.max(10, (isUpright ? flit.thickness : flit.length) * scale);
            const height = Math.max(10, (isUpright ? flit.length : flit.thickness) * scale);
            if (Math.abs(at.x - middle.x) <= width / 2 && Math.abs(at.y - middle.y) <= height / 2) {
                return {kind: "packet", packet: flit.packet};
            }
        }
        const half = Math.max(5, this.geometry.half(this.camera.unit) * scale);
        for (const router of this.visibleRouters()) {
            const middle = this.camera.toScreen({x: this.geometry.x[router], y: this.geometry.y[router]});
            if (Math.abs(at.x - middle.x) <= half && Math.abs(at.y - middle.y) <= half) {
                return {kind: "router", router};
            }
        }
        return this.hitChannel(at);
    }

    private hitChannel(at: Point): Selection {
        const half = this.geometry.half(this.camera.unit);
        let best = 7;
        let found: Selection = null;
        for (let channel = 0; channel < this.network.back.length; ++channel) {
            if (this.isVisible(channel)) {
                const path = this.geometry.path(channel, half).map((point) => this.camera.toScreen(point));
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
}

function distanceToSegment(point: Point, a: Point, b: Point): number {
    const dx = b.x - a.x;
    const dy = b.y - a.y;
    const share = Math.max(0, Math.min(1, ((point.x - a.x) * dx + (point.y - a.y) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(point.x - a.x - share * dx, point.y - a.y - share * dy);
}
