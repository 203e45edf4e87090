// SPDX-License-Identifier: Apache-2.0
// A program that runs a simulation: the server of `flitwarp view`, asked over HTTP at addresses beside the page's own, or the engine
// that the page carries.
import type {Frame, NamedResults, Note, OptionForm, PacketId, PacketState, Results, RouterState, Scenario, Scene, Series, StepRequest} from "./api";
import {Refused, type Source} from "./source";

function withRouters(path: string, routers: number[]): string {
    return routers.length ? `${path}?routers=${routers.join(",")}` : path;
}

/** What comes back: an object with members of its own, or reasons why not. */
export interface Reply {
    ok: boolean;
    errors?: string[];
}
/** A question, "step?routers=3"; a body makes it a POST. */
export type Ask = (path: string, body?: unknown) => Promise<Reply>;

export const askServer: Ask = async (path, body) => {
    const init = body === undefined ? {} : {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)};
    let answer: Response;
    try {
        answer = await fetch(`api/${path}`, init);
    } catch {
        throw new Refused(["flitwarp no longer answers; was it ended?"]);
    }
    try {
        return await answer.json();
    } catch {
        throw new Refused([`flitwarp answered with status ${answer.status}`]);
    }
};

export class LiveSource implements Source {
    readonly isLive = true;
    readonly canChange = true;
    readonly span = null;

    /** `which`: of two runs, "run=beside" is the second. */
    constructor(private readonly question: Ask, private readonly which = "") {}

    scene = () => this.ask<Scene>("scene");
    frame = (routers: number[]) => this.ask<Frame>(withRouters("frame", routers));
    step = (request: StepRequest, routers: number[]) => this.ask<Frame>(withRouters("step", routers), request);
    packet = (id: PacketId) => this.ask<PacketState>(`packet?id=${encodeURIComponent(id)}`);
    router = async (id: number) => (await this.ask<{router: RouterState}>(`router?id=${id}`)).router;
    series = (from: number) => this.ask<Series>(`series?from=${from}`);
    options = async () => (await this.ask<{forms: OptionForm[]}>("options")).forms;
    restart = async (overrides: string[]) => void (await this.ask("restart", {overrides}));
    gallery = async () => (await this.ask<{scenarios: Scenario[]}>("gallery")).scenarios;
    openText = async (configuration: string) => void (await this.ask("open", {configuration}));
    open = async (scenario: string) => void (await this.ask("open", {scenario}));
    results = async () => (await this.ask<{documents: NamedResults[]}>("results")).documents;
    runResults = async () => (await this.ask<{results: Results}>("run-results")).results;
    beside = () => new LiveSource(this.question, "run=beside");
    close = async () => void (await this.ask("close", {}));
    record = async (from: number, cycles: number, notes: Note[]) => (await this.ask<{page: string}>("record", {from, cycles, notes})).page;
    quit = async () => void (await this.ask("quit", {}));

    private async ask<T>(path: string, body?: unknown): Promise<T> {
        const reply = await this.question(this.which ? `${path}${path.includes("?") ? "&" : "?"}${this.which}` : path, body);
        if (!reply.ok) {
            throw new Refused(reply.errors ?? ["flitwarp has refused, without a reason"]);
        }
        return reply as T;
    }
}
