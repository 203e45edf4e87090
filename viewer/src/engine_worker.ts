// SPDX-License-Identifier: Apache-2.0
// The engine in a thread of its own: WebAssembly that asks for a clock and finds no files. It answers what the program's server would.
// Bundled apart (build.mjs) and put into the page as a text, since a page without a server has nowhere to load it from.
import {unpacked} from "./packed";

export interface Question {
    id: number;
    /** "api/step" */
    path: string;
    query: string;
    /** JSON; null: GET. */
    body: string | null;
}
/** `died`: what it said at the end; it answers no more. */
export type Answered = {id: number; answer: string} | {id: number; died: string};

interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    engine_room(bytes: number): number;
    engine_ask(path: number, query: number, body: number): number;
}

/** Numbers of WASI's errors. */
const DONE = 0;
const NO_SUCH_FILE = 8;

let engine: Exports;
let said = "";

const view = () => new DataView(engine.memory.buffer);

function zero(...places: number[]): number {
    places.forEach((place) => view().setUint32(place, 0, true));
    return DONE;
}

const offered = {
    environ_sizes_get: (count: number, bytes: number) => zero(count, bytes),
    environ_get: () => DONE,
    sched_yield: () => DONE,
    clock_time_get(_clock: number, _precision: bigint, place: number): number {
        view().setBigUint64(place, BigInt(Math.round(performance.now() * 1e6)), true);
        return DONE;
    },
    /** Whatever it writes are messages. */
    fd_write(_file: number, pieces: number, count: number, place: number): number {
        let written = 0;
        for (let i = 0; i < count; ++i) {
            const [start, bytes] = [view().getUint32(pieces + 8 * i, true), view().getUint32(pieces + 8 * i + 4, true)];
            said += new TextDecoder().decode(new Uint8Array(engine.memory.buffer, start, bytes));
            written += bytes;
        }
        view().setUint32(place, written, true);
        return DONE;
    },
    proc_exit(status: number): never {
        throw new Error(`the engine ended with status ${status}`);
    },
};

async function begin(packed: Blob): Promise<void> {
    const module = await WebAssembly.compile(await unpacked(packed).arrayBuffer());
    const imports = Object.fromEntries(WebAssembly.Module.imports(module).map(({name}) => [name, () => NO_SUCH_FILE]));
    const instance = await WebAssembly.instantiate(module, {wasi_snapshot_preview1: {...imports, ...offered}});
    engine = instance.exports as unknown as Exports;
    engine._initialize();
}

function put(text: string): number {
    const bytes = new TextEncoder().encode(`${text}\0`);
    const place = engine.engine_room(bytes.length);
    new Uint8Array(engine.memory.buffer).set(bytes, place);
    return place;
}

function ask({path, query, body}: Question): string {
    const place = engine.engine_ask(put(path), put(query), body === null ? 0 : put(body));
    const memory = new Uint8Array(engine.memory.buffer);
    return new TextDecoder().decode(memory.subarray(place, memory.indexOf(0, place)));
}

let isReady: Promise<void>;

/** First the engine itself, then questions. */
self.onmessage = async ({data}: MessageEvent<Blob | Question>) => {
    if (data instanceof Blob) {
        isReady = begin(data);
        return;
    }
    let answer: Answered;
    try {
        await isReady;
        answer = {id: data.id, answer: ask(data)};
    } catch (error) {
        answer = {id: data.id, died: said.trim() || String(error)};
    }
    self.postMessage(answer);
};
