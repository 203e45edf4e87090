// SPDX-License-Identifier: Apache-2.0
// Where things lie, in the layout's units. A router is a square; its ports sit on the side that faces their neighbour,
//
//          in  out           arriving and leaving keep to their own side of the road, so that
//         +-v--^-+           the two directions of a link never cover each other;
//     out <      < in        terminals take the corners where there is room.
//      in >      > out
//         T--v-^-+
//
// and a channel runs from the one router's port to the other's: straight, or along the edge of its row where it would
// otherwise run through the routers between.
import {inputDepth, outputDepth} from "./buffers";
import type {Network} from "./scene";

export interface Point {
    x: number;
    y: number;
}

/** A port's place at a router's edge, in half sides from its middle: where, which way is out, how wide. */
export interface Place {
    port: number;
    hasIn: boolean;
    hasOut: boolean;
    /** Its entry among the scene's terminals; -1 for a port that leads to a router. */
    terminal: number;
    at: Point;
    out: Point;
    width: number;
    /** How far its buffers reach into the router. */
    depth: number;
}

/** A slot of a buffer, or a flit in it: its middle and extent, in the layout's units, and the way it points. */
export interface Slot {
    x: number;
    y: number;
    length: number;
    thickness: number;
    way: Point;
}

const SIDES: Point[] = [{x: 1, y: 0}, {x: 0, y: 1}, {x: -1, y: 0}, {x: 0, y: -1}];
const CORNERS: Point[] = [{x: -1, y: 1}, {x: 1, y: -1}, {x: 1, y: 1}, {x: -1, y: -1}];
const WIDEST_PORT = 0.92;
/** Long buffers where a side has the room to itself, shorter ones where those of its neighbours come close. */
const SIDE_DEPTH = 0.52;
const CROWDED_DEPTH = 0.4;
const TERMINAL_WIDTH = 0.42;
const CORNER_DEPTH = 0.32;
/** Of a slot, in its thickness: a short buffer does not fill its room. */
const LONGEST_SLOT = 1.1;
/** How far from the middle of a row its return track runs, in the distance between neighbours. */
const TRACK = 0.46;
/** How far beyond a router's edge a ring turns back. */
const WRAP_REACH = 0.12;

/** Facing along `way`, the right hand's direction; y grows downwards. */
const rightOf = (way: Point): Point => ({x: -way.y, y: way.x});

interface Wish {
    port: number;
    hasIn: boolean;
    hasOut: boolean;
    terminal: number;
    way: Point;
    order: number;
}

export class Geometry {
    readonly x: Float64Array;
    readonly y: Float64Array;
    /** The distance between nearest routers. */
    readonly spacing: number;
    readonly box: {left: number; top: number; right: number; bottom: number};
    /** By router. */
    readonly places: Place[][];
    /** How levels lie, where there are some. */
    private readonly levels: "rows" | "columns" | null;
    /** By channel: whether it runs around its row or column, and to which side of it; 0: straight. */
    private readonly detour: Int8Array;
    /** Kept from one drawing to the next, while the size of routers stays. */
    private readonly paths = new Map<number, Point[]>();
    private pathsHalf = NaN;

    constructor(readonly network: Network) {
        const {layout} = network.scene;
        this.x = Float64Array.from(layout.x);
        this.y = Float64Array.from(layout.y);
        this.spacing = nearestDistance(this.x, this.y);
        const xs = Float64Array.from([...layout.x, ...layout.labels.map(([x]) => x)]);
        const ys = Float64Array.from([...layout.y, ...layout.labels.map(([, y]) => y)]);
        this.box = {left: least(xs), top: least(ys), right: most(xs), bottom: most(ys)};
        this.detour = Int8Array.from(network.scene.channels.from, (_, channel) => this.needsDetour(channel));
        const isColumns = new Set(layout.x).size < new Set(layout.y).size;
        this.levels = layout.style !== "levels" ? null : isColumns ? "columns" : "rows";
        const hasCorners = this.leavesCorners();
        this.places = Array.from({length: network.routers}, (_, router) => this.placePorts(router, hasCorners));
    }

    /** Half the side of a router, when neighbours lie `pixels` apart on the screen: larger close up, to show what is inside. */
    half(pixels: number): number {
        const share = Math.min(1, Math.max(0, (pixels - 60) / 180));
        return this.spacing * (0.23 + 0.13 * share);
    }

    /** Middle of a port's inward or outward lane at the router's edge. */
    anchor(router: number, place: Place, isOut: boolean, half: number): Point {
        const right = rightOf(place.out);
        const shift = (isOut ? 0.25 : -0.25) * place.width * (place.hasIn && place.hasOut ? 1 : 0);
        return {x: this.x[router] + half * (place.at.x + shift * right.x), y: this.y[router] + half * (place.at.y + shift * right.y)};
    }

    placeOf(router: number, port: number, isOut: boolean): Place | undefined {
        return this.places[router].find((place) => place.port === port && (isOut ? place.hasOut : place.hasIn));
    }

    /** A slot of one VC's buffer behind a port: 0 is nearest the router's edge. */
    slot(router: number, place: Place, isOut: boolean, vc: number, index: number, half: number): Slot {
        const {num_vcs} = this.network.scene.router;
        const slots = this.slots(isOut);
        const edge = this.anchor(router, place, isOut, half);
        const right = rightOf(place.out);
        const lane = (place.width * (place.hasIn && place.hasOut ? 0.5 : 1)) * half;
        const thickness = (0.9 * lane) / num_vcs;
        const length = Math.min((place.depth * half) / slots, LONGEST_SLOT * thickness);
        const inward = 0.05 * half + (index + 0.5) * length;
        const across = (vc + 0.5) * thickness - 0.45 * lane;
        return {x: edge.x - inward * place.out.x + across * right.x, y: edge.y - inward * place.out.y + across * right.y,
                length, thickness, way: place.out};
    }

    /** Slots of each VC's buffer at inputs or outputs. An input-queued router has no output buffer: one slot shows credits. */
    slots(isOut: boolean): number {
        const {scene} = this.network;
        return Math.max(1, isOut ? outputDepth(scene) : inputDepth(scene));
    }

    /** The inner end of a VC's buffer, where the crossbar begins. */
    inner(router: number, place: Place, isOut: boolean, vc: number, half: number): Point {
        const slot = this.slot(router, place, isOut, vc, this.slots(isOut) - 0.5, half);
        return {x: slot.x, y: slot.y};
    }

    /** The corners of a channel's way, from port to port. */
    path(channel: number, half: number): Point[] {
        if (half !== this.pathsHalf) {
            this.pathsHalf = half;
            this.paths.clear();
        }
        let path = this.paths.get(channel);
        if (!path) {
            path = this.makePath(channel, half);
            this.paths.set(channel, path);
        }
        return path;
    }

    private makePath(channel: number, half: number): Point[] {
        const {from, from_port, to, to_port} = this.network.scene.channels;
        if (channel >= from.length) {
            return this.terminalPath(channel - from.length, half);
        }
        const start = this.anchor(from[channel], this.placeOf(from[channel], from_port[channel], true)!, true, half);
        const end = this.anchor(to[channel], this.placeOf(to[channel], to_port[channel], false)!, false, half);
        return this.detour[channel] ? this.around(channel, start, end) : [start, end];
    }

    /** Between a terminal and its router: into the network for an even number. */
    private terminalPath(number: number, half: number): Point[] {
        const entry = number >> 1;
        const isOut = number % 2 === 1;
        const router = this.network.scene.terminals.router[entry];
        const place = this.places[router].find((each) => each.terminal === entry)!;
        const edge = this.anchor(router, place, isOut, half);
        const terminal = this.terminal(router, place, half);
        return isOut ? [edge, terminal] : [terminal, edge];
    }

    /** Where a flit is that has gone this share of its way. */
    along(path: Point[], progress: number): Point {
        if (path.length === 2) {
            const [a, b] = path;
            return {x: a.x + progress * (b.x - a.x), y: a.y + progress * (b.y - a.y)};
        }
        const lengths = path.slice(1).map((point, i) => Math.hypot(point.x - path[i].x, point.y - path[i].y));
        let left = progress * lengths.reduce((sum, length) => sum + length, 0);
        for (let i = 0; i < lengths.length; ++i) {
            if (left <= lengths[i] || i === lengths.length - 1) {
                return this.along([path[i], path[i + 1]], lengths[i] ? Math.min(1, left / lengths[i]) : 1);
            }
            left -= lengths[i];
        }
        return path[path.length - 1];
    }

    /** Where a flit is that leaves the crossbar for a channel in so many ticks. */
    crossing(channel: number, ticks: number, half: number): Point {
        const {channels, terminals} = this.network.scene;
        const entry = (channel - channels.from.length) >> 1;
        const router = channel < channels.from.length ? channels.from[channel] : terminals.router[entry];
        const port = channel < channels.from.length ? channels.from_port[channel] : terminals.port[entry];
        const place = this.placeOf(router, port, true);
        if (!place) {
            return {x: this.x[router], y: this.y[router]};
        }
        const edge = this.anchor(router, place, true, half);
        const inward = Math.min(1, 0.25 + 0.3 * (ticks - 1)) * half * place.depth;
        return {x: edge.x - inward * place.out.x, y: edge.y - inward * place.out.y};
    }

    /** Where a terminal is drawn. */
    terminal(router: number, place: Place, half: number): Point {
        const reach = half + 0.16 * this.spacing;
        return {x: this.x[router] + half * place.at.x + (reach - half) * place.out.x,
                y: this.y[router] + half * place.at.y + (reach - half) * place.out.y};
    }

    isStraight(channel: number): boolean {
        return this.detour[channel] === 0;
    }

    /** Around the row or column: from a router at its one end to the one at its other. */
    private needsDetour(channel: number): number {
        const {from, to} = this.network.scene.channels;
        if (this.network.scene.layout.style !== "grid") {
            return 0;
        }
        const dx = Math.abs(this.x[to[channel]] - this.x[from[channel]]) / this.spacing;
        const dy = Math.abs(this.y[to[channel]] - this.y[from[channel]]) / this.spacing;
        return (dx > 1.5 && dy < 0.01) || (dy > 1.5 && dx < 0.01) ? 1 : 0;
    }

    /** Along the edge of its row or column. The two directions keep apart, and so do links of different length. */
    private around(channel: number, start: Point, end: Point): Point[] {
        const {from, to} = this.network.scene.channels;
        const isRow = this.isInRow(channel);
        const a = isRow ? this.x[from[channel]] : this.y[from[channel]];
        const b = isRow ? this.x[to[channel]] : this.y[to[channel]];
        const extent = isRow ? this.box.right - this.box.left : this.box.bottom - this.box.top;
        const inset = (b > a ? 0.035 : 0) + 0.12 * (1 - Math.abs(b - a) / (extent || 1));
        const track = (isRow ? this.y[from[channel]] : this.x[from[channel]]) - (TRACK - inset) * this.spacing;
        const corner = (along: number, across: number): Point => (isRow ? {x: along, y: across} : {x: across, y: along});
        const [startAlong, endAlong] = isRow ? [start.x, end.x] : [start.y, end.y];
        if (!this.isWrap(channel)) { // out of the side that faces the track
            return [start, corner(startAlong, track), corner(endAlong, track), end];
        }
        const [wayOut, wayIn] = [this.wayFrom(channel), this.wayTo(channel)];
        const out = startAlong + (isRow ? wayOut.x : wayOut.y) * WRAP_REACH * this.spacing;
        const back = endAlong + (isRow ? wayIn.x : wayIn.y) * WRAP_REACH * this.spacing;
        return [start, corner(out, isRow ? start.y : start.x), corner(out, track), corner(back, track), corner(back, isRow ? end.y : end.x), end];
    }

    /** Which way a channel leaves: around a ring, a router at its end sends outwards. */
    private wayFrom(channel: number): Point {
        const {from, to} = this.network.scene.channels;
        return this.wayOf(channel, from[channel], to[channel]);
    }

    /** Which way one sees it come from. */
    private wayTo(channel: number): Point {
        const {from, to} = this.network.scene.channels;
        return this.wayOf(channel, to[channel], from[channel]);
    }

    private wayOf(channel: number, here: number, there: number): Point {
        if (this.isStraight(channel)) {
            return this.way(here, there);
        }
        const {x, y} = this.way(here, there);
        return this.isWrap(channel) ? {x: -x, y: -y} : this.isInRow(channel) ? {x: 0.001 * x, y: -1} : {x: -1, y: 0.001 * y};
    }

    private isInRow(channel: number): boolean {
        const {from, to} = this.network.scene.channels;
        return Math.abs(this.x[to[channel]] - this.x[from[channel]]) > Math.abs(this.y[to[channel]] - this.y[from[channel]]);
    }

    /** Around a ring, and not to another plane of a grid of many dimensions. */
    private isWrap(channel: number): boolean {
        const {channels, layout, topology} = this.network.scene;
        if (this.isStraight(channel) || !topology.wraps) {
            return false;
        }
        const [across, down] = layout.plane ?? [0, 1];
        const [from, to] = [channels.from[channel], channels.to[channel]];
        const span = Math.max(Math.abs(this.x[to] - this.x[from]), Math.abs(this.y[to] - this.y[from]));
        return span <= topology.dimensions[this.isInRow(channel) ? across : down] - 0.9;
    }

    private way(from: number, to: number): Point {
        const dx = this.x[to] - this.x[from];
        const dy = this.y[to] - this.y[from];
        const length = Math.hypot(dx, dy) || 1;
        return {x: dx / length, y: dy / length};
    }

    /** Away from the rest of its group, or down. */
    private outward(router: number): Point {
        const {group, style} = this.network.scene.layout;
        if (style !== "groups" || !group.length) {
            return {x: 0, y: 1};
        }
        let [x, y, count] = [0, 0, 0];
        for (let other = 0; other < this.network.routers; ++other) {
            if (group[other] === group[router]) {
                x += this.x[other];
                y += this.y[other];
                ++count;
            }
        }
        const [dx, dy] = [this.x[router] - x / count, this.y[router] - y / count];
        const length = Math.hypot(dx, dy);
        return length > 0 ? {x: dx / length, y: dy / length} : {x: 0, y: 1};
    }

    /** Index of the side that a direction points through. Between levels all goes up or down, between stages right or left. */
    private sideOf({x, y}: Point): number {
        const isAcross = this.levels === "rows" && Math.abs(y) > 0.01 ? false
            : this.levels === "columns" && Math.abs(x) > 0.01 ? true : Math.abs(x) >= Math.abs(y);
        return isAcross ? (x >= 0 ? 0 : 2) : y >= 0 ? 1 : 3;
    }

    /** Ports to other routers, and the way that each would like to face. */
    private wishes(router: number): Wish[] {
        const wishes: Wish[] = [];
        for (const [port, end] of this.network.ends[router]) {
            const isPair = end.in >= 0 && end.out >= 0 && this.network.back[end.out] === end.in;
            if (isPair) {
                wishes.push({port, hasIn: true, hasOut: true, terminal: -1, way: this.wayFrom(end.out), order: Math.min(end.in, end.out)});
                continue;
            }
            if (end.out >= 0) {
                wishes.push({port, hasIn: false, hasOut: true, terminal: -1, way: this.wayFrom(end.out), order: end.out});
            }
            if (end.in >= 0) {
                wishes.push({port, hasIn: true, hasOut: false, terminal: -1, way: this.wayTo(end.in), order: end.in});
            }
        }
        return wishes;
    }

    private bySide(wishes: Wish[]): Wish[][] {
        return SIDES.map((_, side) => wishes.filter((wish) => this.sideOf(wish.way) === side));
    }

    /** Whether terminals can have the corners, at every router alike. */
    private leavesCorners(): boolean {
        return this.network.scene.layout.style === "grid" && this.network.terminals.every((terminals, router) =>
            terminals.length <= CORNERS.length && this.bySide(this.wishes(router)).every((side) => side.length <= 3));
    }

    private placePorts(router: number, hasCorners: boolean): Place[] {
        const {scene} = this.network;
        const wishes = this.wishes(router);
        const terminals = this.network.terminals[router];
        const isAlone = !wishes.length; // all around a switch without neighbours
        const places: Place[] = [];
        terminals.forEach((terminal, i) => {
            const port = scene.terminals.port[terminal];
            const hasIn = scene.terminals.in[terminal] !== 0;
            const hasOut = scene.terminals.out[terminal] !== 0;
            if (hasCorners) {
                const corner = CORNERS[i];
                places.push({port, hasIn, hasOut, terminal, at: {x: corner.x * 0.86, y: corner.y * 0.86},
                             out: {x: corner.x * Math.SQRT1_2, y: corner.y * Math.SQRT1_2}, width: TERMINAL_WIDTH, depth: CORNER_DEPTH});
            } else {
                wishes.push({port, hasIn, hasOut, terminal, way: isAlone ? SIDES[Math.floor((i * SIDES.length) / terminals.length)] : this.outward(router), order: terminal});
            }
        });
        const sides = this.bySide(wishes);
        const isCrowded = (index: number) => sides[(index + 1) % SIDES.length].length + sides[(index + 3) % SIDES.length].length > 0;
        sides.forEach((list, index) => {
            const out = SIDES[index];
            const across: Point = {x: Math.abs(out.y), y: Math.abs(out.x)};
            list.sort((a, b) => (a.way.x - b.way.x) * across.x + (a.way.y - b.way.y) * across.y || a.order - b.order);
            const room = hasCorners && terminals.length ? 0.92 : isCrowded(index) ? 2 * (1 - CROWDED_DEPTH) : 1.84;
            const width = Math.min(WIDEST_PORT, room / Math.max(1, list.length));
            list.forEach((wish, i) => {
                const shift = (i - (list.length - 1) / 2) * width;
                places.push({...wish, at: {x: out.x + shift * across.x, y: out.y + shift * across.y}, out, width: width * 0.94, depth: room > 0.92 && isCrowded(index) ? CROWDED_DEPTH : SIDE_DEPTH});
            });
        });
        return places;
    }
}

const least = (values: Float64Array): number => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = (values: Float64Array): number => values.reduce((a, b) => Math.max(a, b), -Infinity);

/** Between the two nearest of many points: looked for among neighbours in a grid of cells. */
export function nearestDistance(x: Float64Array, y: Float64Array): number {
    const cells = new Map<string, number[]>();
    x.forEach((_, i) => {
        const key = `${Math.floor(x[i])},${Math.floor(y[i])}`;
        const cell = cells.get(key);
        if (cell) {
            cell.push(i);
        } else {
            cells.set(key, [i]);
        }
    });
    let nearest = Infinity;
    for (const [key, members] of cells) {
        const [cx, cy] = key.split(",").map(Number);
        for (let i = cx - 1; i <= cx + 1; ++i) {
            for (let j = cy - 1; j <= cy + 1; ++j) {
                for (const other of cells.get(`${i},${j}`) ?? []) {
                    for (const member of members) {
                        const distance = member < other ? Math.hypot(x[member] - x[other], y[member] - y[other]) : Infinity;
                        if (distance > 1e-6) {
                            nearest = Math.min(nearest, distance);
                        }
                    }
                }
            }
        }
    }
    return Number.isFinite(nearest) ? nearest : 1;
}
