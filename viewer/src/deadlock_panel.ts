// SPDX-License-Identifier: Apache-2.0
// A deadlock packet by packet: who holds what, who waits for whom. The one chosen is pointed out in the network.
import type {Deadlock, StuckPacket} from "./api";
import {packetColour} from "./colours";
import {announce, byId, h, motionIsReduced, short} from "./dom";
import type {NetworkView} from "./network_view";

const STEP_MS = 1100;

export class DeadlockPanel {
    private readonly panel = byId("deadlock");
    private shown: Deadlock | null = null;
    private timer = 0;

    constructor(private readonly view: NetworkView) {}

    show(deadlock: Deadlock | null): void {
        if (deadlock === this.shown || (deadlock && this.shown && deadlock.tick === this.shown.tick)) {
            return;
        }
        this.shown = deadlock;
        this.stop();
        this.view.stuck = -1;
        if (!deadlock) {
            return;
        }
        const {packets} = deadlock;
        this.panel.replaceChildren(
            h("h2", {class: "bad"}, `Deadlock at tick ${short(deadlock.tick)}`),
            h("p", {}, `${new Set(packets.map(({packet}) => packet)).size} packets wait for each other in a circle. None can move until another does, so none ever will.`),
            h("div", {class: "actions"},
              h("button", {type: "button", id: "walk-cycle", onclick: () => this.walk()}, "Go round the circle"),
              h("button", {type: "button", onclick: () => this.point(-1)}, "Show all")),
            h("ol", {class: "cycle"}, ...packets.map((packet, i) => this.row(packet, packets[(i + 1) % packets.length], i))));
        announce("Deadlock: packets wait for each other in a circle");
    }

    private row(stuck: StuckPacket, next: StuckPacket, index: number): Node {
        const {network} = this.view;
        const swatch = h("i", {class: "swatch"});
        swatch.style.background = packetColour(stuck.packet);
        const holds = stuck.holds === null ? `sits in router ${network.name(stuck.router)}`
            : `holds ${network.channelName(stuck.holds)} (VC ${stuck.vc})`;
        const wants = stuck.wants.map(([channel, vc]) => `${network.channelName(channel)} (VC ${vc})`).join(" or ");
        const waits = stuck.packet === next.packet ? `waits for room behind its own front in router ${network.name(next.router)}`
            : stuck.for_room ? `waits for room beyond ${wants}, which ${next.packet} fills`
            : `waits for ${wants || "room"}, which ${next.packet} has`;
        return h("li", {}, h("button", {type: "button", onclick: () => this.point(index)},
            h("b", {}, swatch, stuck.packet), ` ${holds} and ${waits}.`));
    }

    /** One after the other. */
    private walk(): void {
        this.stop();
        const count = this.shown!.packets.length;
        const step = (index: number) => {
            this.point(index < count ? index : -1, true);
            if (index < count) {
                this.timer = window.setTimeout(() => step(index + 1), STEP_MS);
            }
        };
        step(0);
    }

    private point(index: number, isWalking = false): void {
        if (!isWalking) {
            this.stop();
        }
        this.view.stuck = index;
        this.view.redraw();
        [...this.panel.querySelectorAll(".cycle li")].forEach((item, i) => {
            item.toggleAttribute("data-chosen", i === index);
            if (i === index) {
                item.scrollIntoView({block: "nearest", behavior: motionIsReduced() ? "auto" : "smooth"});
            }
        });
    }

    private stop(): void {
        clearTimeout(this.timer);
        this.timer = 0;
    }
}
