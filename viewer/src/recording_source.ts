// SPDX-License-Identifier: Apache-2.0
// A recording inside the page: all frames are there, so time can go both ways. Nothing can be changed.
import type {Frame, NamedResults, OptionForm, PacketId, PacketState, RouterState, Scenario, Scene, Series, StepRequest} from "./api";
import {Refused, type Source} from "./source";

export interface Recording {
    scene: Scene;
    frames: Frame[];
    series?: Series;
}

/** The recording that a page carries, or null. */
export async function recordingOf(page: Document): Promise<Recording | null> {
    const element = page.getElementById("recording");
    return element?.textContent?.trim() ? (JSON.parse(element.textContent) as Recording) : null;
}

export class RecordingSource implements Source {
    readonly isLive = false;
    readonly span: [number, number];
    private at = 0;

    constructor(private readonly recording: Recording) {
        const {frames} = recording;
        this.span = [frames[0].now, frames[frames.length - 1].now];
    }

    scene = async () => this.recording.scene;
    frame = async () => this.current();
    router = async (id: number): Promise<RouterState> => this.current().detail[id] ?? {inputs: [], outputs: [], crossbar: []};
    series = async (): Promise<Series> => this.recording.series ?? this.seriesOfFrames();
    options = async (): Promise<OptionForm[]> => [];
    gallery = async (): Promise<Scenario[]> => [];
    results = async (): Promise<NamedResults[]> => [];
    restart = () => this.refuse();
    open = () => this.refuse();
    quit = () => this.refuse();

    async step(request: StepRequest): Promise<Frame> {
        const {frames} = this.recording;
        if ("cycles" in request) {
            this.at += request.cycles;
        } else if ("until" in request) {
            const later = frames.findIndex((frame) => frame.now >= request.until);
            this.at = later < 0 ? frames.length - 1 : later;
        } else {
            const print = "packet" in request ? (frame: Frame) => packetPrint(frame, request.packet)
                                              : (frame: Frame) => JSON.stringify(frame.detail[request.router]);
            const before = print(this.current());
            do {
                ++this.at;
            } while (this.at < frames.length && print(frames[this.at]) === before);
        }
        this.at = Math.max(0, Math.min(frames.length - 1, this.at));
        return this.current();
    }

    async packet(id: PacketId): Promise<PacketState> {
        const {frames, scene} = this.recording;
        const path: PacketState["path"] = [];
        let size = 0;
        let [at, waits] = ["not in the network", ""];
        for (const frame of frames.slice(0, this.at + 1)) {
            for (const [router, state] of Object.entries(frame.detail)) {
                for (const lane of state.inputs) {
                    const head = lane.flits.find(([packet, position]) => packet === id && position === 0);
                    if (head && !path.some(([seen]) => seen === Number(router))) {
                        path.push([Number(router), frame.now, lane.port, lane.vc]);
                        size = head[2];
                    }
                    if (frame === frames[this.at] && lane.flits[0]?.[0] === id) {
                        at = `router ${scene.names[Number(router)] ?? router}`;
                        waits = lane.why;
                    }
                }
            }
        }
        return {source: Number(id.split(".")[0]), destination: -1, size, created: -1, entered: null, path, at, waits};
    }

    private current(): Frame {
        const frame = this.recording.frames[this.at];
        return this.at === this.recording.frames.length - 1 ? {...frame, over: true} : frame;
    }

    /** What can be told from frames alone: packets in flight. */
    private seriesOfFrames(): Series {
        const frames = this.recording.frames.slice(0, this.at + 1);
        const unknown = frames.map(() => null);
        return {time: frames.map((frame) => frame.now), latency: unknown, accepted: unknown, offered: unknown,
                in_flight: frames.map((frame) => frame.in_flight)};
    }

    private async refuse(): Promise<void> {
        throw new Refused(["this is a recording: nothing runs behind it"]);
    }
}

/** Where a packet's flits are: another text when one of them has moved. */
function packetPrint(frame: Frame, packet: PacketId): string {
    const links = frame.links.filter((link) => link[2] === packet);
    const lanes = Object.entries(frame.detail).flatMap(([router, state]) =>
        [...state.inputs, ...state.outputs].flatMap((lane) => lane.flits.filter((run) => run[0] === packet).map((run) => [router, lane.lane, run])));
    return JSON.stringify([links.map((link) => [link[0], link[3]]), lanes]);
}
