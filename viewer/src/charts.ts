// SPDX-License-Identifier: Apache-2.0
// The three charts beside the network: latency, load, packets in flight, a point for each window. After a restart the run before
// stays as a dashed line, so that one sees what a changed setting does.
import uPlot from "uplot";
import type {Series} from "./api";
import type {ThemeSwitch} from "./colours";
import {byId, h, short} from "./dom";
import type {Source} from "./source";

const EMPTY: Series = {time: [], latency: [], accepted: [], in_flight: [], offered: []};
const PAUSE_MS = 250;
const LOWEST = 66;
const HIGHEST = 130;
/** More for the last chart, which has the time below it. */
const TIME = 20;

type Column = Exclude<keyof Series, "window">;

interface Line {
    key: Column;
    label: string;
}

const CHARTS: {title: string; lines: Line[]}[] = [
    {title: "Packet latency, ticks", lines: [{key: "latency", label: "latency"}]},
    {title: "Load", lines: [{key: "accepted", label: "accepted"}, {key: "offered", label: "offered"}]},
    {title: "Packets in flight", lines: [{key: "in_flight", label: "in flight"}]},
];

/** More where the window is high. */
const heightOf = (hasTime: boolean): number => Math.round(Math.min(HIGHEST, Math.max(LOWEST, 0.088 * innerHeight))) + (hasTime ? TIME : 0);

export class Charts {
    private series: Series = EMPTY;
    private before: Series = EMPTY;
    private readonly plots: uPlot[] = [];
    private readonly observer: ResizeObserver;
    private askedAt = -Infinity;
    private timer = 0;
    private run = 0;
    /** A run beside this one: dashed, in place of the run before. */
    beside: Source | null = null;

    constructor(private readonly theme: ThemeSwitch) {
        const holder = byId("charts");
        holder.replaceChildren();
        for (const {title, lines} of CHARTS) {
            const value = h("span", {class: "value"});
            const place = h("div", {class: "chart"}, h("h3", {}, title, value));
            holder.append(place);
            this.plots.push(new uPlot(this.optionsOf(lines, value, this.plots.length === CHARTS.length - 1), [[]], place));
        }
        theme.changed.add(() => this.plots.forEach((plot) => plot.redraw()));
        this.observer = new ResizeObserver(() => this.plots.forEach((plot, i) =>
            plot.setSize({width: plot.root.parentElement!.clientWidth || 300, height: heightOf(i === CHARTS.length - 1)})));
        this.observer.observe(holder);
    }

    /** A new run begins: the last one stays for comparison. */
    restart(): void {
        this.before = this.series.time.length > 1 ? this.series : this.before;
        this.series = EMPTY;
        ++this.run;
        this.draw();
    }

    clear(): void {
        this.restart();
        this.before = EMPTY;
        this.draw();
    }

    /** Asks for what is new, not more often than can be seen. */
    update(source: Source): void {
        const wait = this.askedAt + PAUSE_MS - performance.now();
        if (wait > 0) {
            this.timer ||= window.setTimeout(() => {
                this.timer = 0;
                this.update(source);
            }, wait);
            return;
        }
        this.askedAt = performance.now();
        void this.ask(source);
    }

    points(): number {
        return this.series.time.length;
    }

    private async ask(source: Source): Promise<void> {
        const run = this.run;
        const from = source.isLive ? this.series.time.length : 0;
        let added = await source.series(from).catch(() => EMPTY);
        const isCoarser = from > 0 && added.window !== undefined && added.window !== this.series.window;
        if (isCoarser) {
            added = await source.series(0).catch(() => EMPTY);
        }
        if (this.beside) {
            this.before = await this.beside.series(0).catch(() => EMPTY);
        }
        if (run !== this.run || (source.isLive && from !== this.series.time.length)) {
            return; // of a run that is over, or come already
        }
        const join = <K extends Column>(key: K) => (from && !isCoarser ? [...this.series[key], ...added[key]] : added[key]) as Series[K];
        this.series = {window: added.window, time: join("time"), latency: join("latency"), accepted: join("accepted"), in_flight: join("in_flight"), offered: join("offered")};
        this.draw();
    }

    private draw(): void {
        CHARTS.forEach(({lines}, i) => {
            const tables = [this.series, this.before].map((series) => [series.time, ...lines.map(({key}) => series[key])] as uPlot.AlignedData);
            this.plots[i].setData(uPlot.join(tables));
        });
    }

    private optionsOf(lines: Line[], value: HTMLElement, hasTime: boolean): uPlot.Options {
        const palette = () => this.theme.palette;
        const axis = {stroke: () => palette().quiet, grid: {stroke: () => palette().slotEdge, width: 0.5}, ticks: {show: false},
                      font: "11px system-ui, sans-serif"};
        const colour = (i: number) => () => palette().lines[i];
        const shown = (plot: uPlot) => {
            const index = plot.cursor.idx ?? this.lastIndex(plot, lines.length);
            value.replaceChildren(...lines.flatMap(({label}, i) => {
                const number = short(index === null ? null : plot.data[i + 1]?.[index]);
                const key = h("i", {class: "key"});
                key.style.background = palette().lines[i];
                return lines.length > 1 ? [key, `${label} ${number} `] : [number];
            }));
        };
        return {
            width: 300, height: heightOf(hasTime), padding: [6, 14, 4, 0], legend: {show: false}, cursor: {y: false, points: {size: 5}},
            scales: {x: {time: false}, y: {range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 0) > 0 ? high * 1.1 : 1]}},
            axes: [{...axis, size: hasTime ? TIME : 0, gap: 5, values: (_, splits) => (hasTime ? splits.map((split) => short(split)) : [])},
                   {...axis, size: 42, gap: 3, space: 22, values: (_, splits) => splits.map((split) => short(split))}],
            series: [{},
                     ...lines.map(({label}, i) => ({label, stroke: colour(i), width: 1.75, points: {show: (plot: uPlot) => plot.data[0].length < 3}, spanGaps: true})),
                     ...lines.map(({label}) => ({label: `${label} before`, stroke: () => palette().edge, width: 1, dash: [4, 4], points: {show: false}, spanGaps: true}))],
            hooks: {setCursor: [shown], setData: [shown]},
        };
    }

    private lastIndex(plot: uPlot, lines: number): number | null {
        for (let index = plot.data[0].length - 1; index >= 0; --index) {
            if (Array.from({length: lines}, (_, i) => plot.data[i + 1]?.[index]).some((each) => each !== null && each !== undefined)) {
                return index;
            }
        }
        return null;
    }
}
