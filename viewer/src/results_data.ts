// SPDX-License-Identifier: Apache-2.0
// Runs to be compared: what differs between them, and the curves that they make.
import type {ApplicationResults, NamedResults, Results} from "./api";

export interface Run {
    name: string;
    results: Results;
    /** "done", "saturated", or what kept it from ending. */
    state: string;
    /** The first application that is measured by its latency: no job, for which counts when it ends. */
    main: ApplicationResults | undefined;
    /** Whose packets the distributions are of: `main`, else the first job. */
    shown: ApplicationResults | undefined;
    /** What sets its curve apart from others. */
    line: string;
}

/** One curve or bar list of a figure: [x, y] in order of x. */
export interface Line {
    name: string;
    points: [number, number | null][];
}

/** Settings that do not make another curve: the load is a curve's x axis, seeds are repetitions. */
const NOT_A_LINE = /(^|\.)(load|x|seed|threads|sync|partition|partitions|window|name)$/;

function flatten(value: unknown, path: string, into: Map<string, string>): void {
    if (value !== null && typeof value === "object") {
        for (const [key, child] of Object.entries(value)) {
            flatten(child, path ? `${path}.${key}` : key, into);
        }
    } else {
        into.set(path, String(value));
    }
}

const NOTHING: Results = {config: {}, outcome: "failed", applications: []};

const isJob = (application: ApplicationResults): boolean => application.completion_time !== undefined;

/** The types of all blocks around a setting: what is another component has other settings too, of which its name tells enough. */
function typesAround(settings: Map<string, string>, path: string): string {
    const words = path.split(".");
    const blocks = words.slice(0, -1).map((_, i) => `${words.slice(0, i + 1).join(".")}.type`);
    return blocks.map((block) => (block === path ? "" : settings.get(block))).join(",");
}

/** Does any other run have another value, of those in which the setting is of the same components? */
function differs(settings: Map<string, string>[], own: Map<string, string>, path: string): boolean {
    const types = typesAround(own, path);
    return settings.some((other) => other.get(path) !== own.get(path) && typesAround(other, path) === types);
}

/** A study says itself what it varied; of other runs, all settings that differ count. */
export function runsOf(documents: NamedResults[]): Run[] {
    const settings = documents.map(({results, variables}) => {
        const flat = new Map<string, string>();
        flatten(variables ?? results?.config, "", flat);
        return flat;
    });
    const paths = new Set(settings.flatMap((flat) => [...flat.keys()]));
    const differing = [...paths].filter((path) => !NOT_A_LINE.test(path) && new Set(settings.map((flat) => flat.get(path))).size > 1);
    const short = (path: string) => {
        const words = path.split(".");
        const last = words[words.length - 1];
        return last === "type" && words.length > 1 ? words[words.length - 2] : /^\d+$/.test(last) ? words.slice(-2).join(".") : last;
    };
    const lineOf = (own: Map<string, string>) =>
        differing.filter((path) => own.has(path) && differs(settings, own, path)).map((path) => `${short(path)} ${own.get(path)}`).join(", ") || "all runs";
    return documents.map(({name, results: found}, i) => {
        const results = found ?? NOTHING;
        const main = results.applications.find((each) => each.packet_latency && !isJob(each));
        return {
            name, results, main, shown: main ?? results.applications[0], state: results.outcome !== "done" ? results.outcome : main?.saturated ? "saturated" : "done",
            line: lineOf(settings[i]),
        };
    });
}

export interface Column {
    name: string;
    value: (run: Run) => number | string | null | undefined;
}

/** Seconds of a tick, where the settings say it as "1ns". */
function tickSeconds(results: Results): number | null {
    const tick = (results.config as {simulator?: {tick?: unknown}} | undefined)?.simulator?.tick;
    const [, number, unit] = /^([\d.eE+-]+)\s*(fs|ps|ns|us|ms|s)$/.exec(String(tick)) ?? [];
    const scale: Record<string, number> = {fs: 1e-15, ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1};
    return unit ? Number(number) * scale[unit] : null;
}

export const jobsOf = (run: Run): ApplicationResults[] => run.results.applications.filter(isJob);

export function microseconds(run: Run, ticks: number | null | undefined): number | null {
    const tick = tickSeconds(run.results);
    return typeof ticks === "number" && tick !== null ? ticks * tick * 1e6 : null;
}

/** What counts of jobs: when each ended, in microseconds, and how much later than alone. */
export function jobColumns(runs: Run[]): Column[] {
    const jobs = [...new Set(runs.flatMap(jobsOf).map(({name}) => name))];
    const blockOf = (run: Run, job: string) => run.results.applications.find(({name}) => name === job);
    return jobs.flatMap((job): Column[] => [
        {name: `${job}, \u00b5s`, value: (run) => microseconds(run, blockOf(run, job)?.completion_time)},
        ...(runs.some((run) => blockOf(run, job)?.slowdown !== undefined) ? [{name: `${job}, slowdown`, value: (run: Run) => blockOf(run, job)?.slowdown}] : []),
    ]);
}

export type Statistic = "mean" | "p50" | "p99" | "p99.9";

/** Of lines, in letters: runs of entirely different networks differ in all there is. */
const LONGEST_NAME = 100;

const loadOf = (run: Run): number | null => run.main?.target_load ?? run.main?.offered_load ?? null;

/** Repetitions at the same load become their mean. */
function curves(runs: Run[], value: (run: Run) => number | null | undefined): Line[] {
    const lines = new Map<string, Map<number, number[]>>();
    for (const run of runs) {
        const [load, y] = [loadOf(run), value(run)];
        if (load !== null && y !== null && y !== undefined) {
            const line = lines.get(run.line) ?? new Map<number, number[]>();
            lines.set(run.line, line);
            line.set(load, [...(line.get(load) ?? []), y]);
        }
    }
    const brief = (name: string) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}\u2026` : name);
    return [...lines].map(([name, points]) => ({
        name: brief(name), points: [...points].sort(([a], [b]) => a - b).map(([x, ys]) => [x, ys.reduce((sum, y) => sum + y, 0) / ys.length]),
    }));
}

/**
 * Latency over load. A load at which at least half of the seeds saturated has none that would last; the mean of the others
 * would say that the network carried it.
 */
export function latencyCurves(runs: Run[], statistic: Statistic): Line[] {
    const ended = runs.filter((run) => run.state === "done" || run.state === "saturated");
    const shares = new Map<string, number>();
    const placeOf = (run: Run): string => JSON.stringify([run.line, loadOf(run)]);
    for (const run of ended) shares.set(placeOf(run), (shares.get(placeOf(run)) ?? 0) + (run.state === "saturated" ? 1 : -1));
    return curves(ended.filter((run) => shares.get(placeOf(run))! < 0), (run) => run.main?.packet_latency?.[statistic]);
}

export const acceptedCurves = (runs: Run[]): Line[] => curves(runs, (run) => run.main?.accepted_load);

/** Share of packets at each latency, or at most that. */
export function distributions(runs: Run[], isCumulative: boolean): Line[] {
    return runs.filter((run) => run.shown?.latency_distribution?.length).map((run) => {
        const bins = run.shown!.latency_distribution!;
        const total = bins.reduce((sum, [, , count]) => sum + count, 0);
        let below = 0;
        return {name: run.name, points: bins.map(([low, high, count]) => {
            below += count;
            return isCumulative ? [high, below / total] : [(low + high) / 2, count / total / (high - low + 1)];
        })};
    });
}

/** Share of packets that took so many hops. */
export function hopShares(runs: Run[]): Line[] {
    return runs.filter((run) => run.shown?.hop_distribution?.length).map((run) => {
        const bins = run.shown!.hop_distribution!;
        const total = bins.reduce((sum, [, count]) => sum + count, 0);
        return {name: run.name, points: bins.map(([hops, count]) => [hops, count / total])};
    });
}

export function latencySeries(runs: Run[]): Line[] {
    return runs.filter((run) => run.shown?.series).map((run) => {
        const {interval, packet_latency} = run.shown!.series!;
        return {name: run.name, points: packet_latency.map((latency, i) => [(i + 1) * interval, latency])};
    });
}

const quote = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export function csvOf(columns: string[], rows: (string | number | null | undefined)[][]): string {
    return [columns, ...rows].map((row) => row.map((cell) => quote(cell === null || cell === undefined ? "" : String(cell))).join(",")).join("\n") + "\n";
}
