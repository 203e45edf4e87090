// SPDX-License-Identifier: Apache-2.0
// Everything by keyboard. One table tells both what a key does and what the help says about it.
import {byId, h} from "./dom";

export interface Key {
    /** As KeyboardEvent.key has them; the first one is shown. */
    keys: string[];
    shown?: string;
    does: string;
    act: () => void;
}

export class Keyboard {
    constructor(private readonly keys: Key[]) {
        document.addEventListener("keydown", (event) => this.pressed(event));
        const dialog = byId<HTMLDialogElement>("help");
        dialog.replaceChildren(
            h("div", {class: "head"}, h("h2", {id: "help-title"}, "Keys"),
              h("button", {type: "button", onclick: () => dialog.close()}, "Close")),
            h("dl", {class: "keys"}, ...keys.flatMap(({keys: [first], shown, does}) => [h("dt", {}, h("kbd", {}, shown ?? first.toUpperCase())), h("dd", {}, does)])));
    }

    help(): void {
        byId<HTMLDialogElement>("help").showModal();
    }

    private pressed(event: KeyboardEvent): void {
        const target = event.target instanceof HTMLElement ? event.target : document.body;
        const isTyping = target.matches("input:not([type=range]):not([type=checkbox]), select, textarea");
        if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) {
            return;
        }
        // A focused button or slider keeps the keys that work it.
        const isOwn = (target.matches("button, summary, a") && (event.key === " " || event.key === "Enter")) ||
            (target.matches("input, [role=tab]") && event.key.startsWith("Arrow")) || (target.matches(".panel") && event.key.startsWith("Arrow"));
        const key = isOwn ? undefined : this.keys.find(({keys}) => keys.includes(event.key));
        if (key) {
            event.preventDefault();
            key.act();
        }
    }
}
