// SPDX-License-Identifier: Apache-2.0
// Routers close up, as SimuRed drew them: buffers with a slot for each flit, connections through the crossbar, and flits that
// carry their place in the packet (1 is the head) and their packet's colour.
import type {Frame, RouterState} from "./api";
import type {Camera} from "./camera";
import {packetColour, stepOf, type Palette} from "./colours";
import type {PlacedFlit} from "./flit_layout";
import type {Geometry, Place, Point} from "./geometry";
import {fullOccupancy, outputDepth} from "./buffers";

const TAU = 2 * Math.PI;

export class FlitView {
    constructor(private readonly geometry: Geometry, private readonly camera: Camera) {}

    drawRouters(context: CanvasRenderingContext2D, palette: Palette, frame: Frame, routers: number[], half: number): void {
        this.drawBoxes(context, palette, routers, half);
        this.drawSlots(context, palette, routers, half);
        const leaving = this.leaving(frame);
        for (const router of routers) {
            this.drawCrossbar(context, palette, router, frame, leaving, half);
        }
    }

    /** By channel and VC, the packet that went onto it last. */
    private leaving(frame: Frame): Map<string, string> {
        const packets = new Map<string, string>();
        const progressOf = new Map<string, number>();
        for (const [channel, vc, packet, , , progress] of frame.links) {
            const key = `${channel}.${vc}`;
            if (progress < (progressOf.get(key) ?? Infinity)) {
                progressOf.set(key, progress);
                packets.set(key, packet);
            }
        }
        return packets;
    }

    /** A flit at a place on the screen. */
    drawFlit(context: CanvasRenderingContext2D, palette: Palette, flit: PlacedFlit, at: Point, isChosen: boolean): void {
        const scale = this.camera.scale;
        const length = Math.max(2.5, flit.length * scale * 0.86);
        const thickness = Math.max(2.5, flit.thickness * scale * 0.86);
        const isDiagonal = flit.way.x !== 0 && flit.way.y !== 0;
        const isUpright = flit.way.x === 0;
        context.fillStyle = packetColour(flit.packet);
        context.beginPath();
        if (isDiagonal) {
            context.save();
            context.translate(at.x, at.y);
            context.rotate(Math.atan2(flit.way.y, flit.way.x));
            context.roundRect(-length / 2, -thickness / 2, length, thickness, Math.min(3, length / 4));
            context.restore();
        } else {
            const width = isUpright ? thickness : length;
            const height = isUpright ? length : thickness;
            context.roundRect(at.x - width / 2, at.y - height / 2, width, height, Math.min(3, width / 4, height / 4));
        }
        context.fill();
        const isHead = flit.position === 0;
        if ((isHead || isChosen) && length > 5) {
            context.lineWidth = isChosen ? 2.5 : 1.25;
            context.strokeStyle = palette.ink;
            context.stroke();
        }
        const room = Math.min(isUpright ? thickness : length, isUpright ? length : thickness);
        const label = String(flit.position + 1);
        const font = Math.min(15, room * 0.78, (isUpright ? thickness : length) / (0.62 * label.length));
        if (font >= 7) {
            context.fillStyle = palette.flitInk;
            context.font = `${isHead ? 700 : 500} ${font.toFixed(1)}px system-ui, sans-serif`;
            context.fillText(label, at.x, at.y + font * 0.04);
        }
    }

    /** A flit from farther away. */
    drawDot(context: CanvasRenderingContext2D, palette: Palette, flit: PlacedFlit, at: Point, radius: number, isChosen: boolean): void {
        context.fillStyle = packetColour(flit.packet);
        context.beginPath();
        context.arc(at.x, at.y, isChosen ? 2 * radius : radius, 0, TAU);
        context.fill();
        if (isChosen || radius > 2) {
            context.strokeStyle = palette.ink;
            context.lineWidth = isChosen ? 2 : 0.6;
            context.stroke();
        }
    }

    private drawBoxes(context: CanvasRenderingContext2D, palette: Palette, routers: number[], half: number): void {
        const side = 2 * half * this.camera.scale;
        context.beginPath();
        for (const router of routers) {
            const {x, y} = this.corner(router, half);
            context.roundRect(x, y, side, side, side * 0.045);
        }
        context.fillStyle = palette.box;
        context.fill();
        context.strokeStyle = palette.edge;
        context.lineWidth = 1.25;
        context.stroke();
    }

    /** All slots at once, then the numbers of ports. */
    private drawSlots(context: CanvasRenderingContext2D, palette: Palette, routers: number[], half: number): void {
        const {scene} = this.geometry.network;
        const {num_vcs} = scene.router;
        const hasOutputs = outputDepth(scene) > 0;
        context.beginPath();
        for (const router of routers) {
            for (const place of this.geometry.places[router]) {
                for (let vc = 0; vc < num_vcs; ++vc) {
                    if (place.hasIn) {
                        this.traceBuffer(context, router, place, false, vc, half);
                    }
                    if (place.hasOut && hasOutputs) {
                        this.traceBuffer(context, router, place, true, vc, half);
                    }
                }
            }
        }
        context.fillStyle = palette.slot;
        context.fill();
        context.strokeStyle = palette.slotEdge;
        context.lineWidth = 0.75;
        context.stroke();
    }

    /** The outline of one VC's buffer and of its slots, where these can be seen. */
    private traceBuffer(context: CanvasRenderingContext2D, router: number, place: Place, isOut: boolean, vc: number, half: number): void {
        const slots = this.geometry.slots(isOut);
        const first = this.geometry.slot(router, place, isOut, vc, 0, half);
        const last = this.geometry.slot(router, place, isOut, vc, slots - 1, half);
        const scale = this.camera.scale;
        const along = first.length * scale;
        const across = first.thickness * scale;
        const from = this.camera.toScreen(first);
        const to = this.camera.toScreen(last);
        const {x, y} = place.out;
        const corner = (point: Point, a: number, c: number): Point => ({x: point.x + a * along * x - c * across * y, y: point.y + a * along * y + c * across * x});
        const points = [corner(from, 0.5, 0.46), corner(from, 0.5, -0.46), corner(to, -0.5, -0.46), corner(to, -0.5, 0.46)];
        context.moveTo(points[0].x, points[0].y);
        points.slice(1).forEach((point) => context.lineTo(point.x, point.y));
        context.closePath();
        if (along < 4) {
            return;
        }
        for (let slot = 1; slot < slots; ++slot) {
            const a = corner(from, 0.5 - slot, 0.46);
            const b = corner(from, 0.5 - slot, -0.46);
            context.moveTo(a.x, a.y);
            context.lineTo(b.x, b.y);
        }
    }

    /** Held paths as thin lines in their packet's colour; what crossed in the last cycle as thick ones. */
    private drawCrossbar(context: CanvasRenderingContext2D, palette: Palette, router: number, frame: Frame, leaving: Map<string, string>, half: number): void {
        const state: RouterState | undefined = frame.detail[router];
        const middle = this.camera.toScreen({x: this.geometry.x[router], y: this.geometry.y[router]});
        const radius = 0.3 * half * this.camera.scale;
        context.beginPath();
        context.arc(middle.x, middle.y, radius, 0, TAU);
        context.fillStyle = palette.routers[stepOf((frame.occupancy[router] ?? 0) / fullOccupancy(this.geometry.network.scene))];
        context.fill();
        for (const lane of state?.inputs ?? []) {
            const output = lane.holds === null ? undefined : state!.outputs.find((each) => each.lane === lane.holds);
            if (output) {
                const crosses = state!.crossbar.some(([from, to]) => from === lane.port && to === output.port);
                const packet = lane.flits[0]?.[0] ?? leaving.get(this.leavesBy(router, output));
                this.drawConnection(context, router, lane, output, half, packet ? packetColour(packet) : palette.edge, crosses ? 0.07 : 0.025, palette);
            }
        }
        for (const [from, to, vc] of state?.crossbar ?? []) {
            const isShown = state!.inputs.some((lane) => lane.port === from && lane.holds !== null &&
                state!.outputs.some((output) => output.lane === lane.holds && output.port === to));
            if (!isShown) { // a tail has gone, and let go of its way
                const packet = leaving.get(this.leavesBy(router, {port: to, vc}));
                this.drawConnection(context, router, {port: from, vc}, {port: to, vc}, half, packet ? packetColour(packet) : palette.edge, 0.07, palette);
            }
        }
        this.drawName(context, palette, router, middle, radius);
    }

    /** Key of what leaves by a port. */
    private leavesBy(router: number, {port, vc}: {port: number; vc: number}): string {
        const {network} = this.geometry;
        const entry = network.terminals[router].find((each) => network.scene.terminals.port[each] === port);
        const channel = entry === undefined ? network.ends[router].get(port)?.out ?? -1 : network.channels + 2 * entry + 1;
        return `${channel}.${vc}`;
    }

    private drawConnection(context: CanvasRenderingContext2D, router: number, from: {port: number; vc: number}, to: {port: number; vc: number},
                           half: number, colour: string, width: number, palette: Palette): void {
        const input = this.geometry.placeOf(router, from.port, false);
        const output = this.geometry.placeOf(router, to.port, true);
        if (!input || !output) {
            return;
        }
        const start = this.camera.toScreen(this.geometry.inner(router, input, false, from.vc, half));
        const hasBuffer = outputDepth(this.geometry.network.scene) > 0;
        const end = this.camera.toScreen(hasBuffer ? this.geometry.inner(router, output, true, to.vc, half) : this.geometry.anchor(router, output, true, half));
        const middle = this.camera.toScreen({x: this.geometry.x[router], y: this.geometry.y[router]});
        context.beginPath();
        context.moveTo(start.x, start.y);
        context.quadraticCurveTo(middle.x, middle.y, end.x, end.y);
        context.lineCap = "round";
        context.lineWidth = Math.max(2.5, width * half * this.camera.scale) + 2;
        context.strokeStyle = palette.edge;
        context.stroke();
        context.lineWidth -= 2;
        context.strokeStyle = colour;
        context.stroke();
        context.lineCap = "butt";
    }

    private drawName(context: CanvasRenderingContext2D, palette: Palette, router: number, middle: Point, radius: number): void {
        const name = this.geometry.network.name(router);
        const size = Math.min(16, (1.7 * radius) / (0.6 * Math.max(2, name.length)));
        if (size < 7) {
            return;
        }
        context.font = `600 ${size.toFixed(1)}px system-ui, sans-serif`;
        context.lineWidth = 3;
        context.strokeStyle = palette.halo;
        context.strokeText(name, middle.x, middle.y);
        context.fillStyle = palette.ink;
        context.fillText(name, middle.x, middle.y);
    }

    private corner(router: number, half: number): Point {
        return this.camera.toScreen({x: this.geometry.x[router] - half, y: this.geometry.y[router] - half});
    }
}
