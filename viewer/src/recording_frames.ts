// SPDX-License-Identifier: Apache-2.0
// The frames of a recording, written as few words as will do (src/view/recording.h): chunks of gzip in base64, in each of which the
// first frame tells all and the others what is new. Read in order; going back begins again at the start of a chunk.
import type {Deadlock, Frame, InputLane, Note, OutputLane, PacketId, PacketState, RouterState, Run, Scene, Series} from "./api";
import {fromBase64, unpacked} from "./packed";
import {waitWords} from "./wait_words";

type PackedLink = [channel: number, vc: number, packet: PacketId, position: number, size: number, arrives: number, flits?: number];
type PackedRuns = (PacketId | number)[];
type PackedInput = [lane: number, state: number, holds: number, wants: number[], runs: PackedRuns];
type PackedOutput = [lane: number, credits: number, holder: number, runs: PackedRuns];

interface PackedFrame extends Pick<Frame, "now" | "phase" | "outcome" | "over" | "in_flight" | "delivered"> {
    links: PackedLink[];
    detail?: [router: number, inputs: PackedInput[], outputs: PackedOutput[], crossbar?: number[]][];
    utilisation?: number[];
    occupancy?: number[];
    deadlock?: Deadlock | null;
    report?: string | null;
}

/** A scene with frames. */
export interface Recording extends Scene {
    /** Frames in a chunk, and in all. */
    chunk: number;
    frames: number;
    chunks: string[];
    series: Series;
    notes?: Note[];
    /** Why the page carries no engine; null: it does. */
    no_engine: string | null;
}

interface Lanes {
    inputs: Map<number, InputLane>;
    outputs: Map<number, OutputLane>;
    crossbar: RouterState["crossbar"];
    crossedAt: number;
}

const STATES: InputLane["state"][] = ["idle", "routing", "waiting", "active"];

export class RecordingFrames {
    /** Of the frame that is shown. */
    private at = -1;
    private packed: PackedFrame | null = null;
    private links: PackedLink[] = [];
    private lanes: Lanes[] = [];
    private occupancy: number[] = [];
    private utilisation: number[] = [];
    private readonly chunks = new Map<number, PackedFrame[]>();
    /** Where heads came by, as far as it has been played. */
    private readonly paths = new Map<PacketId, PacketState["path"]>();

    constructor(private readonly recording: Recording) {}

    get last(): number {
        return this.recording.frames - 1;
    }

    get index(): number {
        return this.at;
    }

    async seek(index: number): Promise<void> {
        const target = Math.max(0, Math.min(this.last, index));
        const start = target - (target % this.recording.chunk);
        let next = target >= this.at ? this.at + 1 : start;
        for (; next <= target; ++next) {
            const chunk = await this.chunk(Math.floor(next / this.recording.chunk));
            this.apply(chunk[next % this.recording.chunk], next % this.recording.chunk === 0);
            this.at = next;
        }
    }

    /** What is shown now, with the buffers of some routers. */
    frame(routers: number[]): Frame {
        const {now, phase, outcome, over, in_flight, delivered, deadlock, report} = this.packed!;
        return {
            now, phase, outcome, over: over || this.at === this.last, in_flight, delivered, occupancy: this.occupancy, utilisation: this.utilisation,
            links: this.links.map(([channel, vc, packet, position, size, arrives, flits]) =>
                [channel, vc, packet, position, size, this.progress(channel, arrives), flits]),
            detail: Object.fromEntries(routers.map((router) => [router, this.router(router)])), deadlock: deadlock ?? null, report,
        };
    }

    router(router: number): RouterState {
        const lanes = this.lanes[router];
        const state = {inputs: inOrder(lanes.inputs), outputs: inOrder(lanes.outputs),
                       crossbar: lanes.crossedAt === this.packed!.now ? lanes.crossbar : []};
        state.inputs.forEach((lane) => (lane.why = waitWords(lane, state, this.recording.router.num_vcs)));
        return state;
    }

    path(packet: PacketId): PacketState["path"] {
        return (this.paths.get(packet) ?? []).filter(([, tick]) => tick <= this.packed!.now);
    }

    /** Where a packet's flits are: another text when one of them has moved. */
    packetPrint(packet: PacketId): string {
        const runs = this.lanes.map(({inputs, outputs}) => [...inputs.values(), ...outputs.values()].map((lane) => lane.flits.filter((run) => run[0] === packet)));
        return JSON.stringify([this.links.filter((link) => link[2] === packet).map((link) => [link[0], link[3]]), runs]);
    }

    private apply(packed: PackedFrame, isFirst: boolean): void {
        if (isFirst) {
            this.links = [];
            this.lanes = Array.from({length: this.recording.topology.routers}, () => ({inputs: new Map(), outputs: new Map(), crossbar: [], crossedAt: -1}));
            this.occupancy = this.lanes.map(() => 0);
        }
        this.packed = packed;
        this.links = [...this.links, ...packed.links].filter((link) => link[5] >= packed.now);
        this.utilisation = packed.utilisation ?? this.utilisation;
        for (const [router, inputs, outputs, crossbar] of packed.detail ?? []) {
            this.change(router, packed.now, inputs, outputs, crossbar ?? []);
        }
        this.occupancy = packed.occupancy ?? this.occupancy;
    }

    private change(router: number, now: number, inputs: PackedInput[], outputs: PackedOutput[], crossbar: number[]): void {
        const {num_vcs} = this.recording.router;
        const lanes = this.lanes[router];
        const place = (lane: number) => ({lane, port: Math.floor(lane / num_vcs), vc: lane % num_vcs});
        for (const [lane, state, holds, wants, packedRuns] of inputs) {
            const flits = runsOf(packedRuns);
            if (state === 0 && !flits.length) {
                lanes.inputs.delete(lane);
                continue;
            }
            lanes.inputs.set(lane, {...place(lane), state: STATES[state], flits, wants, holds: holds < 0 ? null : holds, why: ""});
            flits.filter(([, position]) => position === 0).forEach(([packet]) => this.passed(packet, [router, now, place(lane).port, place(lane).vc]));
        }
        for (const [lane, credits, holder, packedRuns] of outputs) {
            lanes.outputs.set(lane, {...place(lane), credits, holder: holder < 0 ? null : holder, flits: runsOf(packedRuns)});
        }
        lanes.crossbar = [];
        lanes.crossedAt = now;
        for (let i = 0; i + 2 < crossbar.length; i += 3) {
            lanes.crossbar.push([crossbar[i], crossbar[i + 1], crossbar[i + 2]]);
        }
        let flits = 0;
        for (const lane of [...lanes.inputs.values(), ...lanes.outputs.values()]) {
            flits += lane.flits.reduce((sum, run) => sum + run[3], 0);
        }
        this.occupancy[router] = flits;
    }

    private passed(packet: PacketId, hop: PacketState["path"][number]): void {
        const path = this.paths.get(packet) ?? [];
        this.paths.set(packet, path);
        if (!path.some(([router]) => router === hop[0])) {
            path.push(hop);
        }
    }

    /** As a live frame has it. */
    private progress(channel: number, arrives: number): number {
        const {channels, terminals, router} = this.recording;
        const beyond = channel - channels.from.length;
        const latency = beyond < 0 ? channels.latency[channel] : terminals.latency[beyond >> 1];
        const isToRouter = beyond < 0 || beyond % 2 === 0;
        const left = arrives - this.packed!.now - (isToRouter ? router.delay : 0);
        return left > latency ? latency - left : left < 0 ? 1 : 1 - left / latency;
    }

    private async chunk(number: number): Promise<PackedFrame[]> {
        let chunk = this.chunks.get(number);
        if (!chunk) {
            chunk = (await unpacked(fromBase64(this.recording.chunks[number])).json()) as PackedFrame[];
            this.chunks.set(number, chunk);
        }
        return chunk;
    }
}

/** As a live router tells them, whichever changed last. */
const inOrder = <T extends {lane: number}>(lanes: Map<number, T>): T[] => [...lanes.values()].sort((a, b) => a.lane - b.lane);

/** [packet, position, size, count, packet, ...] */
function runsOf(packed: PackedRuns): Run[] {
    const runs: Run[] = [];
    for (let i = 0; i < packed.length; i += 4) {
        runs.push(packed.slice(i, i + 4) as Run);
    }
    return runs;
}
