// SPDX-License-Identifier: Apache-2.0
// The field that finds routers and terminals: a combobox with a list below it.
import {byId, h} from "./dom";
import type {Network} from "./scene";

const MOST = 8;

export class Search {
    private readonly field = byId<HTMLInputElement>("search");
    private readonly list = byId("found");
    private found: {label: string; router: number}[] = [];
    private chosen = -1;
    private network: Network | null = null;

    constructor(private readonly choose: (router: number) => void) {
        this.field.addEventListener("input", () => this.update());
        this.field.addEventListener("focus", () => this.update());
        this.field.addEventListener("blur", () => this.close());
        this.field.addEventListener("keydown", (event) => this.key(event));
    }

    /** In another network from now on. */
    use(network: Network): void {
        this.network = network;
        this.field.value = "";
        this.close();
    }

    focus(): void {
        this.field.focus();
        this.field.select();
    }

    private update(): void {
        this.found = this.network?.search(this.field.value, MOST) ?? [];
        this.chosen = this.found.length ? 0 : -1;
        this.show();
    }

    private show(): void {
        this.list.replaceChildren(...this.found.map(({label, router}, i) => h("li", {
            role: "option", id: `found-${i}`, "aria-selected": i === this.chosen ? "true" : "false",
            onpointerdown: (event: Event) => {
                event.preventDefault(); // the field keeps the focus until it is taken
                this.take(router);
            }}, label)));
        if (!this.found.length && this.field.value.trim()) {
            this.list.replaceChildren(h("li", {class: "note"}, "Nothing found"));
        }
        this.list.hidden = !this.list.childElementCount;
        this.field.setAttribute("aria-expanded", String(!this.list.hidden));
        this.field.setAttribute("aria-activedescendant", this.chosen >= 0 ? `found-${this.chosen}` : "");
    }

    private key(event: KeyboardEvent): void {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            const count = this.found.length || 1;
            this.chosen = (this.chosen + (event.key === "ArrowDown" ? 1 : count - 1)) % count;
            this.show();
            event.preventDefault();
        } else if (event.key === "Enter" && this.found[this.chosen]) {
            this.take(this.found[this.chosen].router);
            event.preventDefault();
        } else if (event.key === "Escape") {
            this.field.value = "";
            this.field.blur();
        }
    }

    private take(router: number): void {
        this.choose(router);
        this.field.value = "";
        this.field.blur();
        byId("network").focus();
    }

    private close(): void {
        this.list.hidden = true;
        this.field.setAttribute("aria-expanded", "false");
    }
}
