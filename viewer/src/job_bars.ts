// SPDX-License-Identifier: Apache-2.0
// Jobs as bars: when each came to an end, or how much later than alone.
import type {ApplicationResults} from "./api";
import {download, h, short} from "./dom";
import {csvOf, jobsOf, microseconds, type Run} from "./results_data";

type Job = [run: Run, job: ApplicationResults];

export class JobBars {
    readonly element = h("figure", {class: "figure", id: "jobs"});
    private readonly bars = h("div", {class: "bars"});
    private readonly jobs: Job[];
    private readonly select: HTMLSelectElement;

    constructor(runs: Run[]) {
        this.jobs = runs.flatMap((run) => jobsOf(run).map((job): Job => [run, job]));
        const hasSlowdown = this.jobs.some(([, {slowdown}]) => typeof slowdown === "number");
        this.select = h("select", {"aria-label": "what of jobs", onchange: () => this.draw()},
            h("option", {value: "time"}, "completion time, \u00b5s"), hasSlowdown && h("option", {value: "slowdown", selected: true}, "slowdown"));
        this.element.append(h("figcaption", {}, h("h3", {}, "Jobs"), this.select, h("button", {type: "button", onclick: () => this.save()}, "Data")), this.bars);
        this.draw();
    }

    private valueOf([run, job]: Job): number | null {
        return this.select.value === "slowdown" ? job.slowdown ?? null : microseconds(run, job.completion_time);
    }

    private draw(): void {
        const most = Math.max(...this.jobs.map((job) => this.valueOf(job) ?? 0));
        const isOneRun = new Set(this.jobs.map(([run]) => run)).size === 1;
        this.bars.replaceChildren(...this.jobs.flatMap((job) => {
            const [run, {name, completion_time}] = job;
            const value = this.valueOf(job);
            const bar = h("i", {class: "bar"});
            bar.style.width = `${most > 0 ? (100 * (value ?? 0)) / most : 0}%`;
            return [h("span", {}, isOneRun ? name : `${run.name}: ${name}`), h("span", {class: "room"}, bar),
                    h("span", {class: "value"}, completion_time === null ? "has not ended" : short(value))];
        }));
    }

    private save(): void {
        const rows = this.jobs.map(([run, job]) => [run.name, job.name, microseconds(run, job.completion_time), job.slowdown]);
        download("jobs.csv", new Blob([csvOf(["run", "job", "completion time, \u00b5s", "slowdown"], rows)], {type: "text/csv"}));
    }
}
