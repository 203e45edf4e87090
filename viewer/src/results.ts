// SPDX-License-Identifier: Apache-2.0
// Results of one run or of many: load-latency curves, distributions, time series, a heat map, and a table that compares them.
import type {NamedResults} from "./api";
import type {ThemeSwitch} from "./colours";
import {byId, download, h, short} from "./dom";
import {Figure} from "./figure";
import {HeatMap} from "./heat_map";
import {JobBars} from "./job_bars";
import {acceptedCurves, csvOf, distributions, hopShares, jobColumns, jobsOf, latencyCurves, latencySeries, runsOf, type Column, type Run, type Statistic} from "./results_data";

/** So many runs are told apart in one figure. */
const MOST_CHOSEN = 8;

const OF_TRAFFIC: Column[] = [
    {name: "load", value: (run) => run.main?.target_load},
    {name: "offered", value: (run) => run.main?.offered_load},
    {name: "accepted", value: (run) => run.main?.accepted_load},
    {name: "latency", value: (run) => run.main?.packet_latency?.mean},
    {name: "p50", value: (run) => run.main?.packet_latency?.p50},
    {name: "p99", value: (run) => run.main?.packet_latency?.p99},
];
const COLUMNS: Column[] = [
    {name: "packets", value: (run) => run.shown?.packets},
    {name: "channels, mean", value: (run) => run.results.channels?.utilisation.mean},
    {name: "state", value: (run) => run.state},
];

function choice(label: string, choices: [value: string, text: string][], changed: (value: string) => void): Node {
    const select = h("select", {"aria-label": label, onchange: () => changed(select.value)}, ...choices.map(([value, text]) => h("option", {value}, text)));
    return select;
}

export class ResultsView {
    private readonly runs: Run[];
    private readonly columns: Column[];
    private chosen: Set<Run>;
    private statistic: Statistic = "mean";
    private isCumulative = true;
    private readonly curves: Figure;
    private readonly accepted: Figure;
    private readonly distribution: Figure;
    private readonly hops: Figure;
    private readonly series: Figure;
    private readonly heat: HeatMap;
    private readonly tableBody = h("tbody");
    private sortedBy = -1;
    private isDescending = false;

    constructor(documents: NamedResults[], private readonly title: string, theme: ThemeSwitch) {
        this.runs = runsOf(documents);
        this.columns = [...jobColumns(this.runs), ...(this.runs.some(({main}) => main) ? OF_TRAFFIC : []), ...COLUMNS];
        this.chosen = new Set(this.runs.slice(0, MOST_CHOSEN));
        const nothing = this.runs.length === 1 ? "This run has nothing for it." : "None of the ticked runs has this.";
        this.curves = new Figure({title: "Latency over load", x: "load, flits a terminal and cycle", y: "packet latency, ticks", file: "latency", nothing}, theme,
            choice("statistic", [["mean", "mean"], ["p50", "median"], ["p99", "99 %"], ["p99.9", "99.9 %"]], (value) => {
                this.statistic = value as Statistic;
                this.draw();
            }));
        this.accepted = new Figure({title: "Accepted over offered load", x: "load, flits a terminal and cycle", y: "accepted", file: "accepted", nothing}, theme);
        this.distribution = new Figure({title: "Latency of the chosen runs", x: "packet latency, ticks", y: "share of packets", file: "distribution", nothing, isLogarithmic: true}, theme,
            choice("form", [["cumulative", "at most"], ["density", "at"]], (value) => {
                this.isCumulative = value === "cumulative";
                this.draw();
            }));
        this.hops = new Figure({title: "Hops of the chosen runs", x: "hops", y: "share of packets", file: "hops", nothing}, theme);
        this.series = new Figure({title: "Latency over time", x: "tick", y: "packet latency, ticks", file: "series",
                                  nothing: "These runs did not record a series. Set workload.series_interval=500, for example."}, theme);
        const withChannels = this.runs.find((run) => run.results.channels?.list) ?? this.runs[0];
        this.heat = new HeatMap(theme, choice("run", [withChannels, ...this.runs.filter((run) => run !== withChannels)].map((run) => [run.name, run.name]),
                                              (name) => this.heat.show(this.runs.find((run) => run.name === name)!.results)));
        if (withChannels) {
            this.heat.show(withChannels.results);
        }
    }

    show(): void {
        const place = byId("results-view");
        place.hidden = false;
        place.replaceChildren(
            this.ending(),
            h("section", {class: "figures", "aria-label": "figures"},
              ...this.figures().map(({element}) => element)),
            h("section", {"aria-label": "runs"},
              h("div", {class: "head"}, h("h2", {}, this.runs.length === 1 ? "One run" : `${this.runs.length} runs`),
                h("button", {type: "button", id: "export-runs", onclick: () => this.saveTable()}, "Data")),
              this.runs.length === 1 ? h("p", {class: "note"}, "Digest ", h("code", {id: "digest"}, this.runs[0].results.simulation?.digest ?? "none"), ": the same on every machine.")
                                     : h("p", {class: "note"}, `Tick up to ${MOST_CHOSEN} runs to show them in the figures of single runs.`),
              h("div", {class: "scroll"}, h("table", {id: "runs"},
                h("thead", {}, h("tr", {}, h("td", {}), h("th", {scope: "col"}, "run"), ...this.columns.map(({name}, i) =>
                    h("th", {scope: "col"}, h("button", {type: "button", class: "link", onclick: () => this.sort(i)}, name))))),
                this.tableBody))));
        this.draw();
        this.fillTable();
    }

    /** What a run that did not come to its end has measured: figures may be empty. */
    private ending(): Node | string {
        const {state, shown, results} = this.runs[0];
        if (this.runs.length > 1 || results.complete !== false) {
            return "";
        }
        return h("p", {class: "bad", id: "ending"}, `The run ended (${state}) at tick ${results.simulation?.end_tick ?? "?"}; until then ${
            shown?.packets ? `${shown.packets} packets` : "no packet"} had been measured.`);
    }

    /** Jobs have no load that could be varied. */
    private figures(): {element: HTMLElement}[] {
        const ofJobs = this.runs.some((run) => jobsOf(run).length) ? [new JobBars(this.runs)] : [];
        const ofLoads = this.runs.some(({main}) => main) ? [this.curves, this.accepted] : [];
        return [...ofJobs, ...ofLoads, this.distribution, this.hops, this.series, this.heat];
    }

    private draw(): void {
        const chosen = this.runs.filter((run) => this.chosen.has(run));
        this.curves.show(latencyCurves(this.runs, this.statistic));
        this.accepted.show(acceptedCurves(this.runs));
        this.distribution.show(distributions(chosen, this.isCumulative));
        this.hops.show(hopShares(chosen));
        this.series.show(latencySeries(chosen));
    }

    private fillTable(): void {
        const rows = [...this.runs];
        if (this.sortedBy >= 0) {
            const {value} = this.columns[this.sortedBy];
            const way = this.isDescending ? -1 : 1;
            rows.sort((a, b) => {
                const [x, y] = [value(a) ?? null, value(b) ?? null];
                return x === y ? 0 : x === null ? 1 : y === null ? -1 : x < y ? -way : way;
            });
        }
        this.tableBody.replaceChildren(...rows.map((run) => h("tr", {},
            h("td", {}, h("input", {type: "checkbox", "aria-label": `show ${run.name}`, checked: this.chosen.has(run), onchange: (event: Event) => this.tick(run, event)})),
            h("th", {scope: "row"}, run.name),
            ...this.columns.map(({value}) => {
                const cell = value(run);
                return h("td", {class: cell === "done" || typeof cell !== "string" ? "" : "bad"}, typeof cell === "string" ? cell : short(cell));
            }))));
    }

    private tick(run: Run, event: Event): void {
        const box = event.target as HTMLInputElement;
        if (box.checked && this.chosen.size < MOST_CHOSEN) {
            this.chosen.add(run);
        } else {
            this.chosen.delete(run);
            box.checked = false;
        }
        this.draw();
    }

    private sort(column: number): void {
        this.isDescending = this.sortedBy === column && !this.isDescending;
        this.sortedBy = column;
        this.fillTable();
        const heads = byId("results-view").querySelectorAll("#runs thead th");
        heads.forEach((head, i) => (i === column + 1 ? head.setAttribute("aria-sort", this.isDescending ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
    }

    private saveTable(): void {
        const rows = this.runs.map((run) => [run.name, ...this.columns.map(({value}) => value(run))]);
        download(`${this.title || "runs"}.csv`, new Blob([csvOf(["run", ...this.columns.map(({name}) => name)], rows)], {type: "text/csv"}));
    }
}
