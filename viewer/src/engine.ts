// SPDX-License-Identifier: Apache-2.0
// The engine that a page carries. Should it die, of a network too large for a page's memory, another one takes its place.
import type {Answered, Question} from "./engine_worker";
import type {Ask, Reply} from "./live_source";
import {fromBase64} from "./packed";

/** The bundled text of engine_worker.ts, see build.mjs. */
declare const ENGINE_WORKER: string;

/** The engine inside a page, packed; null where there is none. */
export function engineOf(page: Document): Blob | null {
    const text = page.getElementById("engine")?.textContent;
    return text ? fromBase64(text) : null;
}

export class Engine {
    private worker: Worker | null = null;
    private asked = 0;
    private readonly waiting = new Map<number, (answered: Answered) => void>();
    /** What brings another one to the same run: what was opened, and its settings. */
    private opened: unknown;
    private restarted: unknown = null;

    constructor(private readonly packed: Blob, configuration: string) {
        this.opened = {configuration};
    }

    ask: Ask = async (path, body) => {
        if (!this.worker) {
            this.start();
            await this.put("open", this.opened);
            if (this.restarted) {
                await this.put("restart", this.restarted);
            }
        }
        const reply = await this.put(path, body);
        if (reply.ok && path === "open") {
            [this.opened, this.restarted] = [body, null];
        } else if (reply.ok && path === "restart") {
            this.restarted = body;
        }
        return reply;
    };

    private start(): void {
        const address = URL.createObjectURL(new Blob([ENGINE_WORKER], {type: "text/javascript"}));
        this.worker = new Worker(address);
        this.worker.onmessage = ({data}: MessageEvent<Answered>) => {
            this.waiting.get(data.id)?.(data);
            this.waiting.delete(data.id);
        };
        this.worker.postMessage(this.packed);
        URL.revokeObjectURL(address);
    }

    private async put(path: string, body: unknown): Promise<Reply> {
        const [name, query] = path.split("?");
        const question: Question = {id: ++this.asked, path: `api/${name}`, query: query ?? "", body: body === undefined ? null : JSON.stringify(body)};
        const answered = await new Promise<Answered>((resolve) => {
            this.waiting.set(question.id, resolve);
            this.worker!.postMessage(question);
        });
        if ("died" in answered) {
            this.worker?.terminate();
            this.worker = null;
            return {ok: false, errors: [answered.died, "The simulator in this page has been restarted."]};
        }
        return JSON.parse(answered.answer) as Reply;
    }
}
