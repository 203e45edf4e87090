// SPDX-License-Identifier: Apache-2.0
// A short way round the page, by itself on first use. It points at one thing after the other and stays out of the way.
import {byId, h} from "./dom";

interface Stop {
    at: string;
    title: string;
    text: string;
}

const STOPS: Stop[] = [
    {at: "network", title: "The network", text: "Squares are routers: colour shows how full they are. Lines are channels: the stronger the colour, the more they carry. Drag to move, scroll to zoom."},
    {at: "play", title: "Time", text: "Press Play, or step one cycle at a time with the full stop key. The slider sets the cycles per second."},
    {at: "zoom-in", title: "Close up", text: "Zoom in and routers show their buffers, with a slot for every flit. A flit has the colour of its packet and its number in the packet; 1 is the head."},
    {at: "tab-inspect", title: "Inspect", text: "Click a router, a channel or a flit to see what it holds and what it waits for. \u2018Next event\u2019 runs until something happens to it."},
    {at: "tab-settings", title: "Settings", text: "Change load, traffic, routing or buffers, then restart. The charts keep the previous run as a dashed line."},
    {at: "open-gallery", title: "Gallery", text: "Ten ready-made scenarios, including a deadlock. \u2018Keys\u2019, or the question mark, lists all keyboard shortcuts."},
];
const COOKIE = "flitwarp_tour=seen";

/** A cookie, not storage: it holds for whatever port the program has next time. */
const isSeen = (): boolean => document.cookie.includes(COOKIE);
const remember = (): void => {
    document.cookie = `${COOKIE}; path=/; max-age=31536000; SameSite=Strict`;
};

export class Tour {
    private readonly box = byId("tour");
    private at = 0;
    private before: HTMLElement | null = null;

    startOnFirstUse(): void {
        if (!isSeen()) {
            this.start();
        }
    }

    start(): void {
        this.before = document.activeElement as HTMLElement | null;
        this.at = 0;
        this.show();
    }

    end(): void {
        if (!this.box.hidden) {
            this.box.hidden = true;
            document.querySelector("[data-pointed]")?.removeAttribute("data-pointed");
            remember();
            this.before?.focus();
        }
    }

    private show(): void {
        const {at, title, text} = STOPS[this.at];
        const isLast = this.at === STOPS.length - 1;
        document.querySelector("[data-pointed]")?.removeAttribute("data-pointed");
        byId(at).setAttribute("data-pointed", "");
        const next = h("button", {type: "button", class: "primary", id: "tour-next", onclick: () => this.go(1)}, isLast ? "Done" : "Next");
        this.box.replaceChildren(
            h("h2", {}, title, h("span", {class: "count"}, `${this.at + 1} of ${STOPS.length}`)), h("p", {}, text),
            h("div", {class: "actions"},
              isLast ? "" : h("button", {type: "button", id: "tour-end", onclick: () => this.end()}, "Skip"),
              this.at ? h("button", {type: "button", onclick: () => this.go(-1)}, "Back") : "", next));
        this.box.hidden = false;
        this.place(byId(at));
        next.focus();
    }

    private go(way: number): void {
        this.at += way;
        if (this.at >= STOPS.length) {
            this.end();
        } else {
            this.show();
        }
    }

    /** Beside what it points at, inside the window. */
    private place(element: HTMLElement): void {
        const target = element.getBoundingClientRect();
        const {width, height} = this.box.getBoundingClientRect();
        const gap = 12;
        const isLarge = target.width > innerWidth / 2;
        const left = isLarge ? target.left + 24 : Math.min(innerWidth - width - gap, Math.max(gap, target.left));
        const below = target.bottom + gap;
        const top = isLarge ? target.top + 24 : below + height < innerHeight ? below : target.top - height - gap;
        this.box.style.left = `${left}px`;
        this.box.style.top = `${Math.max(gap, top)}px`;
    }
}
