// SPDX-License-Identifier: Apache-2.0
// The bar with time: play, steps, speed, go to a time, and what the network counts.
import type {Frame} from "./api";
import {byId, h, short} from "./dom";
import type {Player} from "./player";
import type {Source} from "./source";

const SVG = "http://www.w3.org/2000/svg";
const ICONS: Record<string, string> = {
    play: "M5 3l12 7-12 7z",
    pause: "M5 3h4v14H5zM11 3h4v14h-4z",
    step: "M4 3l9 7-9 7zM14 3h3v14h-3z",
    back: "M16 3l-9 7 9 7zM3 3h3v14H3z",
    restart: "M10 3a7 7 0 1 1-6.7 5l1.9.6A5 5 0 1 0 10 5v3L5.5 4 10 0z",
};
/** The slider's ends, in cycles a second; between them it is logarithmic. */
const SLOWEST = 0.5;
const FASTEST = 20000;

function icon(name: string): SVGSVGElement {
    const svg = document.createElementNS(SVG, "svg");
    const path = document.createElementNS(SVG, "path");
    svg.setAttribute("viewBox", "0 0 20 20");
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", ICONS[name]);
    path.setAttribute("fill", "currentColor");
    svg.append(path);
    return svg;
}

const speedOf = (slider: number): number => {
    const speed = SLOWEST * (FASTEST / SLOWEST) ** (slider / 100);
    return speed < 10 ? Math.round(speed * 2) / 2 : Number(speed.toPrecision(2));
};
const sliderOf = (speed: number): number => (100 * Math.log(speed / SLOWEST)) / Math.log(FASTEST / SLOWEST);

export interface ControlsHost {
    /** Steps to the next event of what is selected; says whether something is. */
    nextEvent(): boolean;
    restart(): void;
    goTo(tick: number): void;
}

export class Controls {
    private readonly playButton: HTMLButtonElement;
    private readonly eventButton: HTMLButtonElement;
    private readonly goTo: HTMLInputElement;
    private readonly clock = h("output", {id: "clock", title: "time, in ticks"});
    private readonly status = h("span", {id: "status"});
    private readonly timeline: HTMLInputElement | null = null;

    constructor(private readonly player: Player, source: Source, host: ControlsHost, cycle: number) {
        const step = (cycles: number) => void player.step({cycles});
        this.playButton = h("button", {id: "play", type: "button", class: "primary", onclick: () => player.toggle()});
        this.eventButton = h("button", {id: "next-event", type: "button", disabled: true, title: "Run to the next event of the selection (E)",
                                        onclick: () => host.nextEvent()}, "Next event");
        this.goTo = h("input", {id: "go-to", type: "number", min: 0, step: cycle, placeholder: "tick", "aria-label": "go to time"});
        const speedText = h("output", {id: "speed-text", for: "speed"});
        const slider = h("input", {id: "speed", type: "range", min: 0, max: 100, step: 1, value: Math.round(sliderOf(player.speed)),
                                   oninput: () => setSpeed()});
        const setSpeed = () => {
            player.speed = speedOf(Number(slider.value));
            speedText.textContent = `${short(player.speed)}/s`;
            slider.setAttribute("aria-valuetext", `${player.speed} cycles a second`);
        };
        setSpeed();
        if (source.span) {
            this.timeline = h("input", {id: "timeline", type: "range", min: source.span[0], max: source.span[1], step: cycle, value: source.span[0],
                                        "aria-label": "time in the recording", oninput: () => void player.step({until: Number(this.timeline!.value)})});
        }
        const button = (id: string, label: string, key: string, shape: string, act: () => void) =>
            h("button", {id, type: "button", "aria-label": label, title: `${label} (${key})`, onclick: act}, icon(shape));
        byId("transport").replaceChildren(
            h("div", {class: "group"},
              button("restart", source.isLive ? "Back to the beginning" : "To the first frame", "R", "restart", () => host.restart()),
              source.span ? button("back", "One cycle back", ",", "back", () => step(-1)) : "",
              this.playButton,
              button("step", "One cycle", ".", "step", () => step(1)),
              h("button", {id: "step-10", type: "button", title: "Ten cycles (Shift .)", onclick: () => step(10)}, "+10"),
              h("button", {id: "step-100", type: "button", title: "A hundred cycles", onclick: () => step(100)}, "+100"),
              this.eventButton),
            h("label", {class: "group speed"}, h("span", {}, "Speed"), slider, speedText),
            ...(this.timeline ? [h("div", {class: "group timeline"}, this.timeline)] : []),
            h("form", {class: "group", onsubmit: (event: Event) => {
                event.preventDefault();
                if (this.goTo.value !== "") {
                    host.goTo(Number(this.goTo.value));
                    this.goTo.blur();
                }
            }}, this.goTo, h("button", {type: "submit"}, "Go")),
            h("div", {class: "group state"}, this.clock, this.status));
        this.changed();
    }

    focusGoTo(): void {
        this.goTo.focus();
    }

    changed(): void {
        const name = this.player.isMoving ? "pause" : "play";
        const label = this.player.isMoving ? "Pause" : "Play";
        this.playButton.replaceChildren(icon(name));
        this.playButton.setAttribute("aria-label", label);
        this.playButton.title = `${label} (Space)`;
        this.playButton.dataset.state = name;
    }

    selected(what: string | null): void {
        this.eventButton.disabled = what === null;
        this.eventButton.title = what === null ? "Select a router or a flit first" : `Run to the next event of ${what} (E)`;
    }

    show(frame: Frame): void {
        this.clock.textContent = short(frame.now);
        if (this.timeline) {
            this.timeline.value = String(frame.now);
        }
        const isBad = frame.outcome === "deadlock" || frame.outcome === "stuck";
        const ended = isBad ? frame.outcome : frame.over ? "ended" : frame.phase;
        this.status.replaceChildren(
            h("b", {class: isBad ? "bad" : ""}, ended), ` \u00b7 ${short(frame.in_flight)} in flight \u00b7 ${short(frame.delivered)} delivered`);
        this.status.title = "packets";
    }
}
