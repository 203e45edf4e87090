// SPDX-License-Identifier: Apache-2.0
// What the program says: the JSON documents of its server and of a recording. docs/viewer_interface.md describes them.

/** "source.sequence", as everywhere in flitwarp. */
export type PacketId = string;

/** Flits of a packet that lie behind each other: the first one's place in the packet from 0 (the head), the packet's size, and
 *  how many they are. */
export type Run = [packet: PacketId, position: number, size: number, flits: number];

export interface Layout {
    style: "grid" | "groups" | "levels" | "blocks" | "plan" | "force";
    name: string;
    x: number[];
    y: number[];
    /** Empty where there are none. */
    group: number[];
    planes: number;
    labels: [x: number, y: number, text: string][];
    /** The dimensions that lie across and down, of a grid of more than two; the page's own choice. */
    plane?: [across: number, down: number];
}

export interface Scene {
    kind: "run" | "results" | "recording";
    title: string;
    about: string;
    tries: Try[];
    /** Of a tick, in nanoseconds. */
    tick_ns: number;
    cycle: number;
    config: unknown;
    topology: {type: string; routers: number; terminals: number; wraps: boolean; dimensions: number[]};
    layout: Layout;
    /** False in recordings of networks too large to hold what is in routers. */
    has_detail?: boolean;
    names: string[];
    /** Links that have failed, each once, by the routers at their ends; not there where nothing has failed. */
    dead?: {from: number[]; to: number[]};
    /** Channels that have a share of their bandwidth left, or more latency. */
    slow?: {channel: number[]; share: number[]};
    /** Between routers, each direction one. */
    channels: {from: number[]; from_port: number[]; to: number[]; to_port: number[]; latency: number[]};
    /** An entry for each port with a terminal behind it; its channels come after those between routers: into the network
     *  number `channels + 2 * entry`, out of it the next. */
    terminals: {terminal: number[]; router: number[]; port: number[]; latency: number[]; in: number[]; out: number[]};
    router: {type: string; ports: number; terminal_ports: number; num_vcs: number; input_depth: number; delay: number};
}

export interface InputLane {
    lane: number;
    port: number;
    vc: number;
    state: "idle" | "routing" | "waiting" | "active";
    flits: Run[];
    wants: number[];
    holds: number | null;
    why: string;
}

export interface OutputLane {
    lane: number;
    port: number;
    vc: number;
    credits: number;
    holder: number | null;
    flits: Run[];
}

/** Only lanes that are not idle and empty are listed. */
export interface RouterState {
    inputs: InputLane[];
    outputs: OutputLane[];
    crossbar: [input: number, output: number, vc: number][];
}

/** A packet of a deadlock: it holds a channel's buffer and waits for others. */
export interface StuckPacket {
    packet: PacketId;
    router: number;
    holds: number | null;
    vc: number;
    /** It has what it wants, but there is no room. */
    for_room: boolean;
    wants: [channel: number, vc: number][];
}

export interface Deadlock {
    tick: number;
    packets: StuckPacket[];
}

/** `progress` is the share of its way on the channel; below 0, minus the ticks for which it still crosses the router. `flits` is
 *  there where routers move packets whole. */
export type LinkFlit = [channel: number, vc: number, packet: PacketId, position: number, size: number, progress: number, flits?: number];

export interface Frame {
    now: number;
    phase: string;
    outcome: "running" | "done" | "deadlock" | "interrupted" | "stuck";
    /** Whether there is nothing left to run to. */
    over: boolean;
    in_flight: number;
    delivered: number;
    occupancy: number[];
    utilisation: number[];
    links: LinkFlit[];
    detail: Record<string, RouterState>;
    deadlock: Deadlock | null;
    /** What an application says that waits for what will never come. */
    report?: string | null;
    more?: boolean;
}

export type StepRequest = {cycles: number} | {until: number} | {packet: PacketId} | {router: number};

export interface PacketState {
    source: number;
    destination: number;
    size: number;
    created: number;
    entered: number | null;
    path: [router: number, tick: number, port: number, vc: number][];
    /** The router where its head was last; not there: none yet. */
    at?: number;
    waits: string;
}

export interface Series {
    /** Ticks between two points; in long runs it doubles, and all points are others. */
    window?: number;
    time: number[];
    latency: (number | null)[];
    accepted: (number | null)[];
    in_flight: (number | null)[];
    offered: (number | null)[];
}

export interface OptionForm {
    path: string;
    label: string;
    type: "number" | "integer" | "choice" | "bool" | "text";
    min?: number | null;
    max?: number | null;
    unit?: string | null;
    choices?: string[] | null;
    value: unknown;
    meaning: string;
}

/** Of somebody who shows the run. */
export interface Note {
    tick: number;
    text: string;
}

/** A change of settings that the text about a run speaks of. */
export interface Try {
    text: string;
    overrides: string[];
}

export interface Scenario {
    name: string;
    title: string;
    about: string;
    tries: Try[];
}

export interface Statistics {
    mean: number | null;
    ci95: number | null;
    [percentile: string]: number | null;
}

export interface ApplicationResults {
    name: string;
    target_load?: number | null;
    offered_load?: number | null;
    accepted_load?: number | null;
    saturated?: boolean;
    packets?: number;
    /** Of one that comes to an end: ticks, and with --baseline by its time alone. */
    completion_time?: number | null;
    slowdown?: number | null;
    packet_latency?: Statistics;
    latency_distribution?: [low: number, high: number, count: number][];
    hop_distribution?: [hops: number, count: number][];
    series?: {interval: number; packet_latency: (number | null)[]; flits_offered: number[]; flits_accepted: number[]};
}

export interface Results {
    config: unknown;
    outcome: string;
    complete?: boolean;
    simulation?: {end_tick?: number; digest?: string; flit_hops?: number; cpu_seconds?: number};
    applications: ApplicationResults[];
    channels?: {
        count: number;
        utilisation: {mean: number | null; max: number | null};
        columns?: string[];
        list?: [router: number, port: number, target: number, utilisation: number][];
        coordinates?: number[][];
    };
}

/** `results` is null where a run of a study has none; `variables` are what the study varied. */
export interface NamedResults {
    name: string;
    /** The program's exit status. */
    status?: number;
    variables?: Record<string, unknown>;
    results: Results | null;
}
