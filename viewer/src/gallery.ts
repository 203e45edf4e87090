// SPDX-License-Identifier: Apache-2.0
// Ready scenarios, each with two sentences about what there is to see.
import {byId, h} from "./dom";
import type {Source} from "./source";

export class Gallery {
    private readonly dialog = byId<HTMLDialogElement>("gallery");

    /** `show`: puts a scenario on show, changed by these overrides at once. */
    constructor(private readonly source: Source, private readonly show: (name: string, overrides: string[]) => Promise<void>, private readonly failed: (error: unknown) => void) {}

    async open(): Promise<void> {
        try {
            const scenarios = await this.source.gallery();
            this.dialog.replaceChildren(
                h("div", {class: "head"}, h("h2", {id: "gallery-title"}, "Gallery"),
                  h("button", {type: "button", onclick: () => this.dialog.close()}, "Close")),
                h("ul", {class: "cards"}, ...scenarios.map(({name, title, about, tries}) => h("li", {},
                    h("button", {type: "button", "data-scenario": name, onclick: () => void this.choose(name, [])}, h("b", {}, title), h("span", {}, about)),
                    ...tries.map(({text, overrides}) => h("button", {type: "button", class: "try", title: overrides.join("\n"), onclick: () => void this.choose(name, overrides)}, text))))));
            this.dialog.showModal();
        } catch (error) {
            this.failed(error);
        }
    }

    private async choose(name: string, overrides: string[]): Promise<void> {
        this.dialog.close();
        try {
            await this.show(name, overrides);
        } catch (error) {
            this.failed(error);
        }
    }
}
