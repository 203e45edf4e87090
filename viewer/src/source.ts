// SPDX-License-Identifier: Apache-2.0
// Where frames come from. The page draws the same whether the program steps a simulation or a recording is played.
import type {Frame, NamedResults, Note, OptionForm, PacketId, PacketState, Results, RouterState, Scenario, Scene, Series, StepRequest} from "./api";

/** What went wrong, in the program's own words. */
export class Refused extends Error {
    constructor(readonly reasons: string[]) {
        super(reasons.join("\n"));
    }
}

/** `routers` are those whose buffers the answer shall hold. */
export interface Source {
    /** Whether frames come from a simulation that runs, and not from a recording. */
    readonly isLive: boolean;
    /** Whether settings can be changed and scenarios opened. */
    readonly canChange: boolean;
    /** First and last tick of what is recorded. */
    readonly span: [number, number] | null;
    scene(): Promise<Scene>;
    frame(routers: number[]): Promise<Frame>;
    step(request: StepRequest, routers: number[]): Promise<Frame>;
    packet(id: PacketId): Promise<PacketState>;
    router(id: number): Promise<RouterState>;
    series(from: number): Promise<Series>;
    options(): Promise<OptionForm[]>;
    restart(overrides: string[]): Promise<void>;
    gallery(): Promise<Scenario[]>;
    open(scenario: string): Promise<void>;
    results(): Promise<NamedResults[]>;
    /** Of the run on show, once it is over. */
    runResults(): Promise<Results>;
    quit(): Promise<void>;
    /** Another run, beside this one; not there where there can be none. */
    beside?(): Source | null;
    /** Of a run beside another: it is not needed any more. */
    close?(): Promise<void>;
    /** The run as a page that plays by itself; not there where nobody can make one. */
    record?(from: number, cycles: number, notes: Note[]): Promise<string>;
}
