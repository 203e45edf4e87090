// SPDX-License-Identifier: Apache-2.0
// One figure of the results view: a chart with its legend, its data as CSV and its picture as PNG.
import uPlot from "uplot";
import type {ThemeSwitch} from "./colours";
import {download, h, short} from "./dom";
import {csvOf, type Line} from "./results_data";

export interface FigureOptions {
    title: string;
    x: string;
    y: string;
    file: string;
    /** Where there is nothing to draw. */
    nothing: string;
    /** Over decades. */
    isLogarithmic?: boolean;
}

const HEIGHT = 260;

/** What a logarithmic axis spans: what there is, and no further up to the next power of ten. */
function decades(low: number | null, high: number | null): [number, number] {
    const least = low && low > 0 ? low : 1;
    return [least, high && high > least ? high : 10 * least];
}

export class Figure {
    readonly element = h("figure", {class: "figure"});
    private readonly place = h("div", {class: "plot"});
    private readonly legend = h("ul", {class: "legend"});
    private readonly buttons: HTMLButtonElement[];
    private plot: uPlot | null = null;
    private lines: Line[] = [];

    /** `controls` go beside the title. */
    constructor(private readonly options: FigureOptions, private readonly theme: ThemeSwitch, ...controls: Node[]) {
        this.buttons = [h("button", {type: "button", class: "export-data", onclick: () => this.saveData()}, "Data"),
                        h("button", {type: "button", class: "export-picture", onclick: () => this.savePicture()}, "Picture")];
        this.element.append(h("figcaption", {}, h("h3", {}, options.title), ...controls, ...this.buttons), this.place, this.legend);
        new ResizeObserver(() => this.plot?.setSize({width: this.place.clientWidth, height: HEIGHT})).observe(this.place);
        theme.changed.add(() => this.show(this.lines));
    }

    show(lines: Line[]): void {
        this.lines = lines;
        this.plot?.destroy();
        this.plot = null;
        this.buttons.forEach((button) => (button.disabled = !lines.length));
        if (!lines.length) {
            this.place.replaceChildren(h("p", {class: "note"}, this.options.nothing));
            this.legend.replaceChildren();
            return;
        }
        this.place.replaceChildren();
        const {palette} = this.theme;
        const axis = {stroke: palette.quiet, grid: {stroke: palette.slotEdge, width: 0.5}, ticks: {show: false}, font: "12px system-ui, sans-serif",
                      labelFont: "12px system-ui, sans-serif", values: (_: uPlot, splits: (number | null)[]) => splits.map((split) => (split === null ? "" : short(split)))};
        const colour = (i: number) => palette.lines[i % palette.lines.length];
        const fewest = Math.min(...lines.map(({points}) => points.length));
        this.plot = new uPlot({
            width: this.place.clientWidth || 480, height: HEIGHT, padding: [10, 16, 0, 0], legend: {show: false}, cursor: {points: {size: 6}},
            scales: {x: this.options.isLogarithmic ? {time: false, distr: 3, range: (_, low, high) => decades(low, high)} : {time: false}, y: {range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 0) > 0 ? high * 1.08 : 1]}},
            axes: [{...axis, label: this.options.x, labelSize: 18, size: 28}, {...axis, label: this.options.y, labelSize: 18, size: 52}],
            series: [{}, ...lines.map(({name}, i) => ({label: name, stroke: colour(i), width: 2, dash: i >= palette.lines.length ? [6, 4] : undefined,
                                                       spanGaps: true, points: {show: fewest < 40, size: 6}}))],
            hooks: {setCursor: [(plot) => this.read(plot)]},
        }, uPlot.join(lines.map(({points}) => [points.map(([x]) => x), points.map(([, y]) => y)] as uPlot.AlignedData)), this.place);
        this.legend.replaceChildren(...lines.map(({name}, i) => {
            const key = h("i", {class: "key"});
            key.style.background = colour(i);
            return h("li", {}, key, name, h("span", {class: "value"}));
        }));
    }

    /** What the lines have where the pointer is. */
    private read(plot: uPlot): void {
        const {idx} = plot.cursor;
        this.legend.querySelectorAll(".value").forEach((value, i) => {
            const [x, y] = idx === null || idx === undefined ? [null, null] : [plot.data[0][idx], plot.data[i + 1][idx]];
            value.textContent = y === null || y === undefined ? "" : ` ${short(y)} at ${short(x)}`;
        });
    }

    private saveData(): void {
        const rows = this.lines.flatMap(({name, points}) => points.map(([x, y]) => [name, x, y]));
        download(`${this.options.file}.csv`, new Blob([csvOf(["line", this.options.x, this.options.y], rows)], {type: "text/csv"}));
    }

    /** The chart with its title above and its legend below. */
    private savePicture(): void {
        const source = this.plot!.ctx.canvas;
        const ratio = source.width / this.place.clientWidth;
        const row = 20 * ratio;
        const canvas = h("canvas", {width: source.width, height: Math.round(source.height + row * (this.lines.length + 2))});
        const context = canvas.getContext("2d")!;
        const {palette} = this.theme;
        context.fillStyle = palette.box;
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.fillStyle = palette.ink;
        context.textBaseline = "middle";
        context.font = `600 ${14 * ratio}px system-ui, sans-serif`;
        context.fillText(this.options.title, row / 2, row * 0.75);
        context.drawImage(source, 0, row * 1.4);
        context.font = `${12 * ratio}px system-ui, sans-serif`;
        this.lines.forEach(({name}, i) => {
            const y = source.height + row * (1.8 + i);
            context.fillStyle = palette.lines[i % palette.lines.length];
            context.fillRect(row / 2, y - ratio, row, 3 * ratio);
            context.fillStyle = palette.ink;
            context.fillText(name, row * 1.8, y);
        });
        canvas.toBlob((blob) => blob && download(`${this.options.file}.png`, blob));
    }
}
