// SPDX-License-Identifier: Apache-2.0
// The program's server, asked over HTTP at addresses beside the page's own.
import type {Frame, NamedResults, OptionForm, PacketId, PacketState, Results, RouterState, Scenario, Scene, Series, StepRequest} from "./api";
import {Refused, type Source} from "./source";

function withRouters(path: string, routers: number[]): string {
    return routers.length ? `${path}?routers=${routers.join(",")}` : path;
}

export class LiveSource implements Source {
    readonly isLive = true;
    readonly span = null;

    scene = () => this.get<Scene>("scene");
    frame = (routers: number[]) => this.get<Frame>(withRouters("frame", routers));
    step = (request: StepRequest, routers: number[]) => this.post<Frame>(withRouters("step", routers), request);
    packet = (id: PacketId) => this.get<PacketState>(`packet?id=${encodeURIComponent(id)}`);
    router = async (id: number) => (await this.get<{router: RouterState}>(`router?id=${id}`)).router;
    series = (from: number) => this.get<Series>(`series?from=${from}`);
    options = async () => (await this.get<{forms: OptionForm[]}>("options")).forms;
    restart = async (overrides: string[]) => void (await this.post("restart", {overrides}));
    gallery = async () => (await this.get<{scenarios: Scenario[]}>("gallery")).scenarios;
    open = async (scenario: string) => void (await this.post("open", {scenario}));
    results = async () => (await this.get<{documents: NamedResults[]}>("results")).documents;
    runResults = async () => (await this.get<{results: Results}>("run-results")).results;
    quit = async () => void (await this.post("quit", {}));

    private get<T>(path: string): Promise<T> {
        return this.ask<T>(path, {});
    }

    private post<T>(path: string, body: unknown): Promise<T> {
        return this.ask<T>(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
    }

    private async ask<T>(path: string, init: RequestInit): Promise<T> {
        let answer: Response;
        try {
            answer = await fetch(`api/${path}`, init);
        } catch {
            throw new Refused(["flitwarp no longer answers; was it ended?"]);
        }
        let document: {ok: boolean; errors?: string[]};
        try {
            document = await answer.json();
        } catch {
            throw new Refused([`flitwarp answered with status ${answer.status}`]);
        }
        if (!document.ok) {
            throw new Refused(document.errors ?? [`flitwarp answered with status ${answer.status}`]);
        }
        return document as T;
    }
}
