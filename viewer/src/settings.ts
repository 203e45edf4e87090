// SPDX-License-Identifier: Apache-2.0
// Forms for what can be changed, made from the program's own option tables; a restart runs the network with them.
import type {OptionForm} from "./api";
import {byId, h} from "./dom";
import type {Recording} from "./recording_frames";
import {Refused, type Source} from "./source";

const FIRST = [/\.load$/, /applications\.\d+\.traffic$/, /^network\.routing$/, /\.num_vcs$/, /\.buffer_depth$/, /\.size\.flits$/, /^simulator\.seed$/];

export interface SettingsHost {
    /** A new simulation has begun. */
    /** Puts another run in place of the one on show. */
    change(what: () => Promise<void>): Promise<void>;
    restarted(): Promise<void>;
    /** A second one shall run beside the first, with these settings. */
    beside(overrides: string[]): Promise<void>;
}

export class Settings {
    private readonly panel = byId("settings");
    private forms: OptionForm[] = [];
    private readonly fields = new Map<string, HTMLInputElement | HTMLSelectElement>();
    private readonly errors = h("div", {class: "errors", role: "alert"});
    /** What has been changed from the configuration that was opened. */
    private overrides = new Map<string, string>();

    constructor(private readonly source: Source, private readonly host: SettingsHost) {}

    /** For a scenario that has just been opened. */
    async load(): Promise<void> {
        this.overrides.clear();
        await this.refresh();
    }

    /** Starts anew with what the forms say. */
    async restart(): Promise<void> {
        await this.host.change(() => this.take(() => this.start()));
    }

    /** Runs what the forms say beside what is on show, which stays as it is. */
    async runBeside(): Promise<void> {
        const before = new Map(this.overrides);
        await this.take(async () => {
            await this.host.beside(this.list());
            this.overrides = before;
            await this.refresh();
        });
        this.overrides = before;
    }

    /** Begins something with what the forms say; what is wrong with that stands under them. */
    private async take(begin: () => Promise<void>): Promise<void> {
        for (const form of this.forms) {
            const text = this.textOf(form);
            if (text !== plain(form.value)) {
                // Another component has options of its own: those of the one before go.
                [...this.overrides.keys()].filter((path) => path.startsWith(`${form.path}.`)).forEach((path) => this.overrides.delete(path));
                this.overrides.set(form.path, text);
            }
        }
        this.errors.replaceChildren();
        try {
            await begin();
        } catch (error) {
            const reasons = error instanceof Refused ? error.reasons : [String(error)];
            this.errors.replaceChildren(...reasons.map((reason) => h("p", {}, reason)));
            this.forms.forEach((form) => this.overrides.get(form.path) === this.textOf(form) && this.overrides.delete(form.path));
        }
    }

    /** Part of a change: starts anew with these on top of what has been changed; whoever asked is told what is wrong with them. */
    async restartWith(overrides: string[]): Promise<void> {
        const before = new Map(this.overrides);
        overrides.map((each) => each.split(/=(.*)/s)).forEach(([path, value]) => this.overrides.set(path, value));
        try {
            await this.start();
        } catch (error) {
            this.overrides = before;
            throw error;
        }
    }

    private list(): string[] {
        return [...this.overrides].map(([path, value]) => `${path}=${value}`);
    }

    private async start(): Promise<void> {
        await this.source.restart(this.list());
        await this.refresh();
        await this.host.restarted();
    }

    private async refresh(): Promise<void> {
        this.forms = await this.source.options().catch(() => []);
        this.fields.clear();
        this.errors.replaceChildren();
        if (!this.forms.length) {
            this.panel.replaceChildren(h("p", {class: "note"}, `This is a recording. Nothing can be changed here${await this.reason()}. Open its configuration with \`flitwarp view\` to try other settings.`));
            return;
        }
        this.panel.replaceChildren(h("form", {class: "settings", onsubmit: (event: Event) => {
            event.preventDefault();
            void this.restart();
        }}, this.source.isLive ? "" : h("p", {class: "note", id: "can-run"}, "This is a recording. The page also contains the simulator: change a setting and run it here in the browser."),
            ...this.sections(), this.errors,
            h("div", {class: "actions"}, h("button", {type: "submit", class: "primary", id: "apply"}, this.source.isLive ? "Restart with these" : "Run with these"),
              h("button", {type: "button", id: "run-beside", title: "Run a second network with these settings beside the current one", onclick: () => void this.runBeside()}, "Run beside"))));
    }

    /** Of a recording: why there is no engine beside it. */
    private async reason(): Promise<string> {
        const {no_engine} = (await this.source.scene()) as Recording;
        return no_engine ? `, because ${no_engine}` : "";
    }

    /** What one changes most stands first; the rest is folded away, by the part of the configuration that it belongs to. */
    private sections(): Node[] {
        const first = this.forms.filter(({path}) => FIRST.some((pattern) => pattern.test(path)));
        first.sort((a, b) => rank(a) - rank(b));
        const parts = new Map<string, OptionForm[]>();
        for (const form of this.forms.filter((each) => !first.includes(each))) {
            const [top, part] = form.path.split(".");
            const name = top === "network" ? part : top;
            parts.set(name, [...(parts.get(name) ?? []), form]);
        }
        return [...first.map((form) => this.row(form)), ...[...parts].map(([name, forms]) =>
            h("details", {}, h("summary", {}, `${name.replaceAll("_", " ")} (${forms.length})`), ...forms.map((form) => this.row(form))))];
    }

    private row(form: OptionForm): Node {
        const id = `option-${form.path}`;
        const note = `${id}-note`;
        const field = this.field(form, id, note);
        this.fields.set(form.path, field);
        // "size.flits" in flits: the size.
        const label = form.label === form.unit ? form.path.split(".").at(-2)! : form.label;
        return h("div", {class: "setting"},
                 h("label", {for: id, title: form.path}, label.replaceAll("_", " "), form.unit ? h("span", {class: "unit"}, ` ${form.unit}`) : ""),
                 field, h("p", {id: note, class: "note"}, `${form.meaning}${limitsOf(form)}`));
    }

    private field(form: OptionForm, id: string, note: string): HTMLInputElement | HTMLSelectElement {
        const common = {id, "aria-describedby": note, "data-path": form.path};
        const value = plain(form.value);
        if (form.type === "choice" && form.choices) {
            const choices = form.choices.includes(value) ? form.choices : [value, ...form.choices];
            return h("select", common, ...choices.map((choice) => h("option", {value: choice, selected: choice === value}, choice.replaceAll("_", " "))));
        }
        if (form.type === "bool") {
            return h("input", {...common, type: "checkbox", checked: value === "true"});
        }
        if ((form.type === "number" || form.type === "integer") && value !== "" && Number.isFinite(Number(value))) {
            return h("input", {...common, type: "number", min: form.min, max: form.max, step: form.type === "integer" ? 1 : "any", value});
        }
        return h("input", {...common, type: "text", value, spellcheck: "false"});
    }

    private textOf(form: OptionForm): string {
        const field = this.fields.get(form.path)!;
        if (field instanceof HTMLInputElement && field.type === "checkbox") {
            return String(field.checked);
        }
        const isNumber = field.type === "number" && field.value !== "";
        return isNumber ? String(Number(field.value)) : field.value; // ".5" is no number of JSON
    }
}

const rank = ({path}: OptionForm): number => FIRST.findIndex((pattern) => pattern.test(path));

/** Bounds that somebody might reach. */
function limitsOf({type, min, max}: OptionForm): string {
    if (type === "choice" || min === null || min === undefined) {
        return "";
    }
    return max === null || max === undefined || max > 1e6 ? ` (at least ${min})` : ` (${min} to ${max})`;
}

/** A value as it is written behind PATH=. */
function plain(value: unknown): string {
    return typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value);
}
