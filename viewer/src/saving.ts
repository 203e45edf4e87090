// SPDX-License-Identifier: Apache-2.0
// What is on show, to be taken away: the network as a picture, or the run as a page that plays by itself.
import type {Note} from "./api";
import {byId, download, h, short} from "./dom";
import type {Source} from "./source";

export interface SavingHost {
    now(): number;
    title(): string;
    notes(): Note[];
    failed(error: unknown): void;
}

const MOST_CYCLES = 100000;

export class Saving {
    private readonly dialog = byId<HTMLDialogElement>("save");

    constructor(private readonly source: Source, private readonly host: SavingHost) {}

    open(): void {
        const from = h("input", {id: "save-from", type: "number", min: 0, value: Math.max(0, this.host.now() - 500), required: true});
        const cycles = h("input", {id: "save-cycles", type: "number", min: 1, max: MOST_CYCLES, value: 1000, required: true});
        const button = h("button", {type: "submit", class: "primary", id: "save-page"}, "Save as page");
        this.dialog.replaceChildren(
            h("div", {class: "head"}, h("h2", {id: "save-title"}, "Save"), h("button", {type: "button", onclick: () => this.dialog.close()}, "Close")),
            h("h3", {}, "The picture"),
            h("p", {class: "note"}, `The network as it is on the screen, at tick ${short(this.host.now())}.`),
            h("div", {class: "actions"}, h("button", {type: "button", id: "save-picture", onclick: () => this.picture()}, "Save picture")),
            ...(this.source.record ? [
                h("h3", {}, "The run"),
                h("p", {class: "note"}, "One file that plays in any browser, without a server, with the current settings and your notes. Students can change the settings and run it there."),
                h("form", {class: "settings", onsubmit: (event: Event) => {
                    event.preventDefault();
                    button.disabled = true;
                    button.textContent = "Recording\u2026";
                    void this.page(Number(from.value), Number(cycles.value));
                }}, h("div", {class: "setting"}, h("label", {for: "save-from"}, "from tick"), from),
                    h("div", {class: "setting"}, h("label", {for: "save-cycles"}, "cycles"), cycles), h("div", {}, button)),
            ] : []));
        this.dialog.showModal();
    }

    private fileName(): string {
        return this.host.title().replace(/\.json$/, "").replaceAll(/[^\w.-]+/g, "_") || "run";
    }

    private picture(): void {
        byId<HTMLCanvasElement>("network").toBlob((blob) => blob && download(`${this.fileName()}-${this.host.now()}.png`, blob), "image/png");
        this.dialog.close();
    }

    private async page(from: number, cycles: number): Promise<void> {
        try {
            const page = await this.source.record!(from, cycles, this.host.notes());
            download(`${this.fileName()}.html`, new Blob([page], {type: "text/html"}));
        } catch (error) {
            this.host.failed(error);
        }
        this.dialog.close();
    }
}
