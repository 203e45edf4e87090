// SPDX-License-Identifier: Apache-2.0
// Where each flit of a frame is drawn: in a slot of a buffer, or on its way along a channel.
import type {Frame, PacketId, Run, Scene} from "./api";
import type {Geometry, Place, Point, Slot} from "./geometry";

export type Where =
    | {kind: "input" | "output"; router: number; port: number; vc: number; slot: number}
    | {kind: "channel"; channel: number; vc: number; progress: number};

/** x, y in the layout's units. */
export interface PlacedFlit extends Slot {
    packet: PacketId;
    position: number;
    size: number;
    where: Where;
}

/** Of larger buffers, whose flits nobody could tell apart, the flits of a packet are one bar. */
const MOST_SLOTS = 256;
/** A queue that is longer than its drawing overflows by so many flits; what is behind is not drawn. */
const SPARE = 2;

/** Progress is of the end of a tick; in the middle of it the flit is on the channel, also where that takes only one. */
export function midTick({channels, terminals}: Scene, channel: number, progress: number): number {
    const latency = channel < channels.latency.length ? channels.latency[channel] : terminals.latency[(channel - channels.latency.length) >> 1];
    return Math.max(0, progress - 0.5 / Math.max(1, latency));
}

export class FlitLayout {
    constructor(private readonly geometry: Geometry) {}

    /** Flits in the buffers of those routers of the frame's detail that are wanted. */
    inRouters(frame: Frame, routers: Iterable<number>, half: number): PlacedFlit[] {
        const placed: PlacedFlit[] = [];
        for (const router of routers) {
            const state = frame.detail[router];
            for (const lane of state?.inputs ?? []) {
                this.queue(placed, router, "input", lane, half);
            }
            for (const lane of state?.outputs ?? []) {
                this.queue(placed, router, "output", lane, half);
            }
        }
        return placed;
    }

    /** Flits on channels that pass the test. */
    onChannels(frame: Frame, isWanted: (channel: number) => boolean, half: number): PlacedFlit[] {
        const placed: PlacedFlit[] = [];
        const size = 0.13 * half;
        for (const [channel, vc, packet, position, count, progress] of frame.links) {
            if (!isWanted(channel)) {
                continue;
            }
            const point = progress < 0 ? this.geometry.crossing(channel, -progress, half)
                                       : this.geometry.along(this.geometry.path(channel, half), midTick(this.geometry.network.scene, channel, progress));
            placed.push({...point, length: size, thickness: size, way: {x: 1, y: 0}, packet, position, size: count,
                         where: {kind: "channel", channel, vc, progress}});
        }
        return placed;
    }

    /** The front of an input's queue lies at the crossbar, that of an output's at the router's edge. */
    private queue(placed: PlacedFlit[], router: number, kind: "input" | "output",
                  lane: {port: number; vc: number; flits: Run[]}, half: number): void {
        const isOut = kind === "output";
        const place = this.geometry.placeOf(router, lane.port, isOut);
        const slots = this.geometry.slots(isOut);
        if (!place) {
            return;
        }
        if (slots > MOST_SLOTS) {
            this.bars(placed, router, kind, lane, place, half);
            return;
        }
        let index = 0;
        for (const [packet, position, size, flits] of lane.flits) {
            for (let i = 0; i < flits && index < slots + SPARE; ++i, ++index) {
                const slot = this.geometry.slot(router, place, isOut, lane.vc, isOut ? index : slots - 1 - index, half);
                placed.push({...slot, packet, position: position + i, size, where: {kind, router, port: lane.port, vc: lane.vc, slot: index}});
            }
        }
    }

    private bars(placed: PlacedFlit[], router: number, kind: "input" | "output", lane: {port: number; vc: number; flits: Run[]},
                 place: Place, half: number): void {
        const isOut = kind === "output";
        const slots = this.geometry.slots(isOut);
        let index = 0;
        lane.flits.forEach(([packet, position, size, flits], number) => {
            const middle = index + (flits - 1) / 2;
            const slot = this.geometry.slot(router, place, isOut, lane.vc, isOut ? middle : slots - 1 - middle, half);
            placed.push({...slot, length: Math.max(flits * slot.length, 0.02 * half), packet, position, size,
                         where: {kind, router, port: lane.port, vc: lane.vc, slot: number}});
            index += flits;
        });
    }
}

/** Positions between two layouts: a flit that is in both moves from the one place to the other. */
export class Tween {
    private readonly from = new Map<string, Point>();

    constructor(before: PlacedFlit[]) {
        for (const flit of before) {
            this.from.set(`${flit.packet}:${flit.position}`, flit);
        }
    }

    at(flit: PlacedFlit, share: number): Point {
        const from = this.from.get(`${flit.packet}:${flit.position}`);
        if (!from || share >= 1) {
            return flit;
        }
        const eased = share * share * (3 - 2 * share);
        return {x: from.x + eased * (flit.x - from.x), y: from.y + eased * (flit.y - from.y)};
    }
}
