// SPDX-License-Identifier: Apache-2.0
// How much each channel of a run carried: over the grid where the topology is one, else a row for each router and a column for
// each port.
import type {Results} from "./api";
import {stepOf, type ThemeSwitch} from "./colours";
import {download, h, short} from "./dom";
import {csvOf} from "./results_data";

const SIDE = 420;

export class HeatMap {
    readonly element = h("figure", {class: "figure"});
    private readonly canvas = h("canvas", {class: "heat", role: "img"});
    private readonly note = h("p", {class: "note"});
    private readonly buttons: HTMLButtonElement[];
    private results: Results | null = null;

    constructor(private readonly theme: ThemeSwitch, chooser: Node) {
        this.buttons = [h("button", {type: "button", class: "export-data", onclick: () => this.saveData()}, "Data"),
                        h("button", {type: "button", class: "export-picture", onclick: () => this.canvas.toBlob((blob) => blob && download("channels.png", blob))}, "Picture")];
        this.element.append(h("figcaption", {}, h("h3", {}, "Channels"), chooser, ...this.buttons), this.canvas, this.note);
        theme.changed.add(() => this.results && this.show(this.results));
    }

    show(results: Results): void {
        this.results = results;
        const {channels} = results;
        const list = channels?.list ?? [];
        this.buttons.forEach((button) => (button.disabled = !list.length));
        this.canvas.hidden = !list.length;
        if (!list.length) {
            this.note.textContent = "This run did not record single channels. Set workload.per_channel=true to record them.";
            return;
        }
        const {mean, max} = channels!.utilisation;
        this.note.textContent = `${list.length} channels, used ${short(100 * (mean ?? 0))} % on average, ${short(100 * (max ?? 0))} % at most. Darker or brighter is more.`;
        this.canvas.setAttribute("aria-label", this.note.textContent);
        const isGrid = channels!.coordinates?.every((each) => each.length === 2);
        if (isGrid) {
            this.drawGrid(list, channels!.coordinates!, max || 1);
        } else {
            this.drawTable(list, max || 1);
        }
    }

    private prepare(width: number, height: number): CanvasRenderingContext2D {
        const ratio = window.devicePixelRatio || 1;
        this.canvas.width = width * ratio;
        this.canvas.height = height * ratio;
        this.canvas.style.width = `${width}px`;
        const context = this.canvas.getContext("2d")!;
        context.scale(ratio, ratio);
        context.fillStyle = this.theme.palette.box;
        context.fillRect(0, 0, width, height);
        return context;
    }

    private drawGrid(list: [number, number, number, number][], coordinates: number[][], most: number): void {
        const columns = 1 + Math.max(...coordinates.map(([x]) => x));
        const rows = 1 + Math.max(...coordinates.map(([, y]) => y));
        const unit = Math.min(64, SIDE / Math.max(columns, rows));
        const context = this.prepare(unit * (columns + 1), unit * (rows + 1));
        const {palette} = this.theme;
        const place = (router: number) => coordinates[router].map((each) => (each + 1) * unit);
        context.lineWidth = Math.max(1.5, unit * 0.13);
        for (const [router, , target, used] of list) {
            const [x, y] = place(router);
            let [dx, dy] = coordinates[target].map((each, i) => each - coordinates[router][i]);
            if (Math.abs(dx) > 1 || Math.abs(dy) > 1) { // around the edge: a short line that points outwards
                [dx, dy] = [-0.75 * Math.sign(dx), -0.75 * Math.sign(dy)];
            }
            const shift = 0.1 * unit;
            context.strokeStyle = palette.channels[stepOf(used / most)];
            context.beginPath();
            context.moveTo(x - dy * shift, y + dx * shift);
            context.lineTo(x + dx * unit - dy * shift, y + dy * unit + dx * shift);
            context.stroke();
        }
        context.fillStyle = palette.box;
        context.strokeStyle = palette.edge;
        context.lineWidth = 1;
        coordinates.forEach((_, router) => {
            const [x, y] = place(router);
            context.beginPath();
            context.roundRect(x - unit * 0.22, y - unit * 0.22, unit * 0.44, unit * 0.44, unit * 0.06);
            context.fill();
            context.stroke();
        });
    }

    private drawTable(list: [number, number, number, number][], most: number): void {
        const routers = 1 + Math.max(...list.map(([router]) => router));
        const ports = 1 + Math.max(...list.map(([, port]) => port));
        const cell = Math.max(2, Math.min(14, SIDE / ports));
        const height = Math.max(1, Math.min(14, 2 * SIDE / routers));
        const context = this.prepare(Math.ceil(cell * ports), Math.ceil(height * routers));
        for (const [router, port, , used] of list) {
            context.fillStyle = this.theme.palette.channels[stepOf(used / most)];
            context.fillRect(port * cell, router * height, cell - (cell > 4 ? 1 : 0), height - (height > 4 ? 1 : 0));
        }
    }

    private saveData(): void {
        const {columns, list} = this.results!.channels!;
        download("channels.csv", new Blob([csvOf(columns!, list!)], {type: "text/csv"}));
    }
}
