// SPDX-License-Identifier: Apache-2.0
// The canvas with the network. How much is drawn of it depends on how near it is:
//   far     routers are coloured squares, links are lines (overview)
//   middle  flits are dots on the links; nearer still, each direction has its line, and routers and terminals have names
//   near    routers open up and show their buffers (flit_view)
// Only what is on the screen is drawn.
import type {Frame, PacketId} from "./api";
import {Camera} from "./camera";
import {packetColour, type Palette, type ThemeSwitch} from "./colours";
import {drawDeadlock} from "./deadlock_view";
import {FlitLayout, Tween, type PlacedFlit} from "./flit_layout";
import {FlitView} from "./flit_view";
import {Geometry, type Point} from "./geometry";
import {hitTest} from "./hit_test";
import {Overview} from "./overview";
import {Network} from "./scene";
import {NAMES, Visible} from "./visible";

export type Selection = {kind: "router"; router: number} | {kind: "packet"; packet: PacketId} | {kind: "channel"; channel: number} | null;

type Level = "far" | "middle" | "near";

const MIDDLE = 16;
/** With five ports; more ports need more room. */
const NEAR = 150;
/** A drawing that takes longer than this is moved as a picture while the network is dragged, and drawn anew afterwards. */
const SLOW_MS = 14;

/** What was drawn, for those who test it; positions in CSS pixels of the canvas. */
export interface Drawn {
    now: number | null;
    level: Level;
    isSettled: boolean;
    routers: {router: number; x: number; y: number; half: number}[];
    flits: (PlacedFlit & {screen: Point & {thickness: number}; colour: string})[];
    /** The packets of the circle, and the way on the screen of the channel that each holds. */
    deadlock: {packet: PacketId; colour: string; line: Point[]}[];
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
    /** Channels that the packet which is selected has come by. */
    private way: number[] = [];
    private tween = new Tween([]);
    private tweenStart = 0;
    private tweenLength = 0;
    private readonly layout: FlitLayout;
    private readonly flitView: FlitView;
    private readonly overview: Overview;
    private readonly visible: Visible;
    private readonly near: number;
    private readonly context: CanvasRenderingContext2D;
    private readonly observer: ResizeObserver;
    private readonly stop = new AbortController();
    private isAsked = false;
    private drawMs = 0;
    private frames = 0;
    private nearBefore = "";
    /** The last drawing, and the camera that it was made with: for moving it. */
    private picture: {canvas: HTMLCanvasElement; x: number; y: number; scale: number} | null = null;
    private isPictureShown = false;
    private movedAt = -Infinity;
    /** As long as nobody has moved it, the whole network is on the screen. */
    private isWhole = true;

    constructor(private readonly canvas: HTMLCanvasElement, readonly network: Network, private readonly theme: ThemeSwitch) {
        this.geometry = new Geometry(network);
        this.camera = new Camera(this.geometry);
        this.layout = new FlitLayout(this.geometry);
        this.flitView = new FlitView(this.geometry, this.camera);
        this.visible = new Visible(this.geometry, this.camera);
        this.overview = new Overview(this.geometry, this.camera, this.visible);
        this.near = network.scene.has_detail === false ? Infinity : NEAR * Math.max(1, Math.sqrt(network.scene.router.ports / 5));
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
        return this.camera.unit >= this.near ? "near" : this.camera.unit >= MIDDLE ? "middle" : "far";
    }

    /** Shows a frame; flits glide to their new places within so many milliseconds. */
    show(frame: Frame, glideMs: number): void {
        this.tween = new Tween(glideMs > 0 ? this.placedFlits() : []);
        this.tweenStart = performance.now();
        this.tweenLength = glideMs;
        this.frame = frame;
        ++this.frames;
        this.redraw();
    }

    /** Routers whose buffers are to be seen. */
    nearRouters(): number[] {
        return this.level === "near" ? this.visible.routers() : [];
    }

    /** Points out a way from router to router, that of the packet that is selected. */
    showWay(routers: number[]): void {
        this.way = this.network.channelsAlong(routers);
        this.redraw();
    }

    select(selection: Selection): void {
        this.selection = selection;
        this.way = [];
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
        this.isWhole = true;
    }

    /** Looks from where another view has looked. */
    lookLike(other: NetworkView): void {
        this.camera.goTo(other.camera.x, other.camera.y, other.camera.unit);
        this.moved();
        this.isWhole = other.isWhole;
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
            now: this.frame?.now ?? null, level: this.level, isSettled: !this.isAsked && !this.isPictureShown && this.knowsNear() && performance.now() >= this.tweenStart + this.tweenLength,
            routers: this.visible.routers().map((router) => ({
                router, ...this.camera.toScreen({x: this.geometry.x[router], y: this.geometry.y[router]}), half: half * this.camera.scale})),
            flits: this.placedFlits().map((flit) => ({
                ...flit, screen: {...this.camera.toScreen(flit), thickness: flit.thickness * this.camera.scale}, colour: packetColour(flit.packet)})),
            deadlock: (this.frame?.deadlock?.packets ?? []).map(({packet, holds}) => ({
                packet, colour: packetColour(packet),
                line: holds === null ? [] : this.geometry.path(holds, half).map((point) => this.camera.toScreen(point))})),
            milliseconds: this.drawMs, frames: this.frames,
        };
    }

    private moved(): void {
        this.movedAt = performance.now();
        this.isWhole = false;
        this.redraw();
        this.lookForNear();
    }

    /** Whether the buffers that are to be seen have come, after they were asked for. */
    private knowsNear(): boolean {
        const {frame} = this;
        return frame === null || this.nearRouters().every((router) => router in frame.detail);
    }

    private lookForNear(): void {
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
        if (this.isWhole) {
            this.camera.fit();
        }
        this.draw(); // at once: a canvas of a new size is empty
        this.lookForNear();
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
            this.isPictureShown = true;
            setTimeout(this.redraw, 125);
            return;
        }
        const half = this.geometry.half(this.camera.unit);
        const routers = this.visible.routers();
        context.textAlign = "center";
        context.textBaseline = "middle";
        this.overview.drawDead(context, palette);
        this.overview.drawChannels(context, palette, this.frame, half);
        this.overview.drawSlow(context, palette, half);
        this.overview.drawLabels(context, palette);
        this.overview.drawTerminals(context, palette, routers, half);
        const isNear = this.level === "near" && this.frame;
        if (isNear) {
            this.flitView.drawRouters(context, palette, this.frame!, routers, half);
        } else {
            this.overview.drawRouters(context, palette, this.frame, routers, half);
        }
        this.drawSelection(context, palette, half);
        this.drawFlits(context, palette, half, start);
        if (this.frame?.deadlock) {
            drawDeadlock(context, palette, this.geometry, this.camera, this.frame.deadlock, this.stuck, half);
        }
        this.isPictureShown = false;
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

    /** Where flits are, all of them; made when somebody asks. */
    private placedFlits(): PlacedFlit[] {
        if (!this.frame || this.level === "far") {
            return [];
        }
        const half = this.geometry.half(this.camera.unit);
        const flits = this.layout.onChannels(this.frame, (channel) => this.visible.channel(channel), half);
        return this.level === "near" ? [...flits, ...this.layout.inRouters(this.frame, this.visible.routers(), half)] : flits;
    }

    private drawFlits(context: CanvasRenderingContext2D, palette: Palette, half: number, now: number): void {
        if (!this.frame || this.level === "far") {
            return;
        }
        const share = this.tweenLength > 0 ? Math.min(1, (now - this.tweenStart) / this.tweenLength) : 1;
        const chosen = this.selection?.kind === "packet" ? this.selection.packet : null;
        if (this.level === "middle" && share === 1 && this.camera.unit < NAMES) {
            this.overview.drawDots(context, this.frame, half);
            return;
        }
        for (const flit of this.placedFlits()) {
            const at = this.camera.toScreen(this.tween.at(flit, share));
            if (this.level === "near") {
                this.flitView.drawFlit(context, palette, flit, at, flit.packet === chosen);
            } else {
                this.flitView.drawDot(context, palette, flit, at, this.overview.dotRadius(), flit.packet === chosen);
            }
        }
        if (share < 1) {
            this.redraw();
        }
    }

    private drawSelection(context: CanvasRenderingContext2D, palette: Palette, half: number): void {
        context.strokeStyle = palette.accent;
        if (this.selection?.kind === "packet") {
            const width = Math.max(3, Math.min(8, 0.03 * this.camera.unit));
            context.beginPath();
            this.way.forEach((channel) => this.overview.traceChannel(context, channel, half));
            context.lineWidth = width + 3;
            context.strokeStyle = palette.ink;
            context.stroke();
            context.lineWidth = width;
            context.strokeStyle = packetColour(this.selection.packet);
            context.stroke();
        } else if (this.selection?.kind === "router") {
            const side = Math.max(8, 2 * half * this.camera.scale) + 8;
            const {x, y} = this.camera.toScreen({x: this.geometry.x[this.selection.router], y: this.geometry.y[this.selection.router]});
            context.lineWidth = 3;
            context.beginPath();
            context.roundRect(x - side / 2, y - side / 2, side, side, side * 0.08);
            context.stroke();
        } else if (this.selection?.kind === "channel") {
            context.lineWidth = Math.max(4, 0.03 * this.camera.unit);
            context.beginPath();
            this.overview.traceChannel(context, this.selection.channel, half);
            context.stroke();
        }
    }

    /** A few words for the pointer. */
    private describe(what: Selection): string {
        return what?.kind === "router" ? `router ${this.network.name(what.router)}: ${this.frame?.occupancy[what.router] ?? 0} flits`
            : what?.kind === "packet" ? `packet ${what.packet}`
            : what?.kind === "channel" ? `${this.network.channelName(what.channel)}: used ${Math.round(100 * (this.frame?.utilisation[what.channel] ?? 0))} %${this.slowness(what.channel)}` : "";
    }

    private slowness(channel: number): string {
        const share = this.network.slow.get(channel);
        return share === undefined ? "" : `, slow: ${Math.round(100 * share)} % of its bandwidth is left`;
    }

    private hit(at: Point): Selection {
        return hitTest(at, this.geometry, this.camera, this.visible, this.placedFlits());
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
            if (!last) {
                this.canvas.title = this.describe(this.hit(at(event)));
            } else {
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
}
