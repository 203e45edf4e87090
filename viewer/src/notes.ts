// SPDX-License-Identifier: Apache-2.0
// Notes at ticks, for those who show a run to others: playing stops at each, and its text stands under the network until the next.
import type {Note} from "./api";
import {byId, h, short} from "./dom";

export interface NotesHost {
    now(): number;
    goTo(tick: number): void;
}

export class Notes {
    /** In the order of ticks. */
    private notes: Note[] = [];
    private readonly panel = byId("notes");
    private readonly caption = byId("caption");
    private readonly field = h("textarea", {id: "note-text", rows: 3, "aria-label": "note", placeholder: "What to look at here"});
    private readonly list = h("ol", {class: "notes"});

    constructor(private readonly host: NotesHost) {
        this.panel.append(
            h("p", {class: "note"}, "Playing stops at each note and shows its text under the network. \u2018Save\u2019 keeps your notes in the page."),
            h("form", {onsubmit: (event: Event) => {
                event.preventDefault();
                this.add(this.field.value.trim());
            }}, this.field, h("div", {class: "actions"}, h("button", {type: "submit", id: "add-note"}, "Note at this tick"))),
            this.list);
    }

    get all(): Note[] {
        return this.notes;
    }

    /** In place of those that are there. */
    use(notes: Note[]): void {
        this.notes = [...notes].sort((a, b) => a.tick - b.tick);
        this.write();
    }

    /** The tick of the next one; null: there is none. */
    after(now: number): number | null {
        return this.notes.find(({tick}) => tick > now)?.tick ?? null;
    }

    show(now: number): void {
        const text = this.notes.filter(({tick}) => tick <= now).at(-1)?.text ?? "";
        this.caption.hidden = !text;
        this.caption.textContent = text;
    }

    private add(text: string): void {
        const tick = this.host.now();
        this.use([...this.notes.filter((note) => note.tick !== tick), ...(text ? [{tick, text}] : [])]);
        this.field.value = "";
    }

    private write(): void {
        this.list.replaceChildren(...this.notes.map((note) => h("li", {},
            h("button", {type: "button", class: "link", onclick: () => this.host.goTo(note.tick)}, `tick ${short(note.tick)}`), ` ${note.text} `,
            h("button", {type: "button", class: "link", "aria-label": `remove the note at tick ${note.tick}`,
                         onclick: () => this.use(this.notes.filter((each) => each !== note))}, "remove"))));
        this.show(this.host.now());
    }
}
