// SPDX-License-Identifier: Apache-2.0
// A recording inside the page: all frames are there, so time can go both ways. Nothing can be changed.
import type {Frame, NamedResults, OptionForm, PacketId, PacketState, RouterState, Scenario, Series, StepRequest} from "./api";
import {RecordingFrames, type Recording} from "./recording_frames";
import {Refused, type Source} from "./source";

/** The recording that a page carries, or null. */
export function recordingOf(page: Document): Recording | null {
    const text = page.getElementById("recording")?.textContent;
    return text ? (JSON.parse(text) as Recording) : null;
}

/** Frames to look through for an event: more take too long. */
const FARTHEST_EVENT = 2000;

export class RecordingSource implements Source {
    readonly isLive = false;
    readonly canChange = false;
    readonly span: [number, number];
    private readonly frames: RecordingFrames;
    private first = 0;

    private constructor(private readonly recording: Recording, frames: RecordingFrames, first: number) {
        this.frames = frames;
        this.first = first;
        this.span = [first, first + (recording.frames - 1) * recording.cycle];
    }

    static async open(recording: Recording): Promise<RecordingSource> {
        const frames = new RecordingFrames(recording);
        await frames.seek(0);
        return new RecordingSource(recording, frames, frames.frame([]).now);
    }

    scene = async () => this.recording;
    frame = async (routers: number[]) => this.frames.frame(routers);
    options = async (): Promise<OptionForm[]> => [];
    gallery = async (): Promise<Scenario[]> => [];
    results = async (): Promise<NamedResults[]> => [];
    runResults = () => this.refuse();
    restart = () => this.refuse();
    open = () => this.refuse();
    quit = () => this.refuse();

    async step(request: StepRequest, routers: number[]): Promise<Frame> {
        if ("cycles" in request) {
            await this.frames.seek(this.frames.index + request.cycles);
        } else if ("until" in request) {
            await this.frames.seek(Math.ceil((request.until - this.first) / this.recording.cycle));
        } else {
            await this.toEvent("packet" in request ? () => this.frames.packetPrint(request.packet) : () => JSON.stringify(this.frames.router(request.router)));
        }
        return this.frames.frame(routers);
    }

    async router(id: number): Promise<RouterState> {
        if (this.recording.has_detail === false) {
            throw new Refused(["this recording is of a network so large that it does not hold what is in routers"]);
        }
        return this.frames.router(id);
    }

    /** Up to now. */
    async series(): Promise<Series> {
        const {series} = this.recording;
        const {now} = this.frames.frame([]);
        const known = series.time.filter((tick) => tick <= now).length;
        return {window: series.window, time: series.time.slice(0, known), latency: series.latency.slice(0, known), accepted: series.accepted.slice(0, known),
                in_flight: series.in_flight.slice(0, known), offered: series.offered.slice(0, known)};
    }

    /** What frames tell of it: its way as far as it has been played, and where it stands. */
    async packet(id: PacketId): Promise<PacketState> {
        const path = this.frames.path(id);
        const link = this.frames.frame([]).links.find((each) => each[2] === id);
        const last = path.length ? path[path.length - 1][0] : -1;
        const lane = last < 0 ? undefined : this.frames.router(last).inputs.find(({flits}) => flits[0]?.[0] === id);
        return {source: Number(id.split(".")[0]), destination: -1, size: lane?.flits[0][2] ?? link?.[4] ?? -1, created: -1, entered: null, path, at: last < 0 ? undefined : last,
                waits: lane?.why || "its head is behind other packets, or on a channel"};
    }

    private async toEvent(print: () => string): Promise<void> {
        const before = print();
        for (let i = 0; i < FARTHEST_EVENT && this.frames.index < this.frames.last && print() === before; ++i) {
            await this.frames.seek(this.frames.index + 1);
        }
    }

    private async refuse(): Promise<never> {
        throw new Refused(["this is a recording: nothing runs behind it"]);
    }
}
