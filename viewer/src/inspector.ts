// SPDX-License-Identifier: Apache-2.0
// What is selected, in words and numbers: a router's lanes and credits, a packet's way and what it waits for, a channel's use.
import type {Frame, InputLane, OutputLane, PacketId, PacketState, RouterState, Run} from "./api";
import {packetColour} from "./colours";
import {byId, h, short} from "./dom";
import {fullOccupancy} from "./buffers";
import type {Network} from "./scene";
import type {Source} from "./source";
import type {Selection} from "./network_view";

/** While it plays, the inspector is written anew at most this often. */
const PAUSE_MS = 200;

export interface InspectorHost {
    select(selection: Selection): void;
    goToRouter(router: number): void;
    /** Points out the way of a packet. */
    showWay(routers: number[]): void;
    tryOut(overrides: string[]): void;
}

export class Inspector {
    private readonly panel = byId("inspect");
    private selection: Selection = null;
    private frame: Frame | null = null;
    private writtenAt = -Infinity;
    private timer = 0;
    private turn = 0;
    /** A packet that has left the network. */
    private gone: PacketId | null = null;

    constructor(private readonly network: Network, private readonly source: Source, private readonly host: InspectorHost) {}

    show(frame: Frame): void {
        this.frame = frame;
        const wait = this.writtenAt + PAUSE_MS - performance.now();
        if (wait <= 0) {
            void this.write();
        } else if (!this.timer) {
            this.timer = window.setTimeout(() => void this.write(), wait);
        }
    }

    select(selection: Selection): void {
        this.selection = selection;
        this.gone = null;
        void this.write();
    }

    /** Another network is on show: nothing of this one is written any more. */
    release(): void {
        clearTimeout(this.timer);
        this.turn = NaN; // nothing equals it
    }

    private async write(): Promise<void> {
        clearTimeout(this.timer);
        this.timer = 0;
        this.writtenAt = performance.now();
        const turn = ++this.turn;
        let content: Node[];
        try {
            content = await this.content();
        } catch (error) {
            content = [h("p", {class: "note"}, error instanceof Error ? error.message : String(error))];
        }
        if (turn === this.turn) { // an answer to an older question does not count
            const top = this.panel.scrollTop;
            this.panel.replaceChildren(...content);
            this.panel.scrollTop = top;
        }
    }

    private async content(): Promise<Node[]> {
        const selection = this.selection;
        if (selection?.kind === "router") {
            return this.router(selection.router, this.frame?.detail[selection.router] ?? await this.source.router(selection.router));
        }
        if (selection?.kind === "packet") {
            return this.packetNow(selection.packet);
        }
        return selection?.kind === "channel" ? this.channel(selection.channel) : this.overview();
    }

    /** One that is not there any more is not asked for again. */
    private async packetNow(id: PacketId): Promise<Node[]> {
        const packet = id === this.gone ? null : await this.source.packet(id).catch(() => null);
        this.gone = packet ? null : id;
        this.host.showWay(packet?.path.map(([router]) => router) ?? []);
        return packet ? this.packet(id, packet)
                      : [h("div", {class: "head"}, this.chip(id, "h2")), h("p", {class: "note"}, "This packet has arrived and left the network.")];
    }

    private overview(): Node[] {
        const {scene} = this.network;
        const {topology, router, layout} = scene;
        const sizes = topology.dimensions.length ? ` ${topology.dimensions.join(" \u00d7 ")}` : "";
        return [
            ...(scene.about ? [h("p", {class: "about"}, scene.about)] : []),
            ...(scene.tries.length && this.source.canChange ? [h("div", {class: "actions"}, ...scene.tries.map(({text, overrides}) =>
                h("button", {type: "button", class: "try", title: overrides.join("\n"), onclick: () => this.host.tryOut(overrides)}, text)))] : []),
            facts([["network", `${topology.type.replaceAll("_", " ")}${sizes}`], ["drawn as", layout.name], ["routers", short(topology.routers)],
                   ["terminals", short(topology.terminals)], ["channels", short(this.network.channels)], ["router", router.type.replaceAll("_", " ")],
                   ["virtual channels", short(router.num_vcs)], ["buffer", `${short(router.input_depth)} flits a VC`], ["tick", `${short(scene.tick_ns)} ns`],
                   ...(scene.dead ? [["dead links, crossed out", short(scene.dead.from.length)] as [string, string]] : []),
                   ...(this.network.slow.size ? [["slow channels, dashed", short(this.network.slow.size)] as [string, string]] : [])]),
            h("p", {class: "note"}, "Click a router, a channel or a flit to see what it holds and what it waits for. Zoom in to see buffers."),
        ];
    }

    private router(router: number, state: RouterState): Node[] {
        const occupied = this.frame?.occupancy[router] ?? 0;
        const crossed = state.crossbar.map(([from, to, vc]) =>
            h("li", {}, `${this.network.portName(router, from)} \u2192 ${this.network.portName(router, to)}, VC ${vc}`));
        return [
            this.head(`Router ${this.network.name(router)}`, () => this.host.goToRouter(router)),
            facts([["number", String(router)], ["flits inside", `${occupied} of ${fullOccupancy(this.network.scene)}`]]),
            h("h3", {}, "Inputs"),
            state.inputs.length ? h("ul", {class: "lanes"}, ...state.inputs.map((lane) => this.input(router, lane)))
                                : h("p", {class: "note"}, "All idle."),
            h("h3", {}, "Outputs"),
            this.outputs(router, state.outputs),
            h("h3", {}, "Crossed in the last cycle"),
            crossed.length ? h("ul", {class: "plain"}, ...crossed) : h("p", {class: "note"}, "Nothing."),
        ];
    }

    private input(router: number, lane: InputLane): Node {
        return h("li", {}, h("div", {class: "lane"}, h("b", {}, `from ${this.network.portName(router, lane.port)}`), `VC ${lane.vc}`,
                                   h("span", {class: `lane-state ${lane.state}`}, lane.state)),
                 lane.flits.length ? this.runs(lane.flits) : "", lane.why ? h("p", {class: "note"}, lane.why) : "");
    }

    /** Those that are held, or short of credits. */
    private outputs(router: number, all: OutputLane[]): Node {
        const most = new Map<number, number>();
        all.forEach(({port, credits}) => most.set(port, Math.max(credits, most.get(port) ?? 0)));
        const {num_vcs, input_depth} = this.network.scene.router;
        const lanes = all.filter((lane) => lane.holder !== null || lane.flits.length || lane.credits < Math.min(input_depth, most.get(lane.port)!));
        if (!lanes.length) {
            return h("p", {class: "note"}, "All free, with full credits.");
        }
        const holder = (lane: OutputLane) => lane.holder === null ? "\u2013"
            : `${this.network.portName(router, Math.floor(lane.holder / num_vcs))}, VC ${lane.holder % num_vcs}`;
        return table(["to", "VC", "credits", "held by", "flits"],
                     lanes.map((lane) => [this.network.portName(router, lane.port), String(lane.vc), short(lane.credits), holder(lane), this.runs(lane.flits)]));
    }

    private packet(id: PacketId, packet: PacketState): Node[] {
        const known = (value: number | null, text: string): [string, string][] => (value === null || value < 0 ? [] : [[text, short(value)]]);
        return [
            h("div", {class: "head"}, this.chip(id, "h2"),
              packet.path.length ? h("button", {type: "button", onclick: () => this.host.goToRouter(packet.path.at(-1)![0])}, "Show") : ""),
            facts([["from terminal", short(packet.source)], ...known(packet.destination, "to terminal"), ...known(packet.size, "flits"),
                   ...known(packet.created, "created at"), ...known(packet.entered, "entered at"), ["head reached", packet.at === undefined ? "no router yet" : `router ${this.network.name(packet.at)}`]]),
            h("h3", {}, "State"),
            h("p", {}, packet.waits || "Not waiting."),
            h("h3", {}, "Path so far"),
            packet.path.length
                ? table(["router", "tick", "by", "VC"], packet.path.map(([router, tick, port, vc]) => [
                    h("button", {type: "button", class: "link", onclick: () => this.host.goToRouter(router)}, this.network.name(router)),
                    short(tick), this.network.portName(router, port), String(vc)]))
                : h("p", {class: "note"}, "It has not reached a router yet."),
        ];
    }

    private channel(channel: number): Node[] {
        const {channels} = this.network.scene;
        const slow = this.network.slow.get(channel);
        const flits = this.frame?.links.filter((link) => link[0] === channel) ?? [];
        return [
            this.head(`Channel ${this.network.channelName(channel)}`, () => this.host.goToRouter(channels.from[channel])),
            facts([["latency", `${channels.latency[channel]} ticks`], ["utilisation", `${short(100 * (this.frame?.utilisation[channel] ?? 0))} %`],
                   ["from port", String(channels.from_port[channel])], ["to port", String(channels.to_port[channel])],
                   ...(slow === undefined ? [] : [["bandwidth left", `${short(100 * slow)} %`] as [string, string]])]),
            h("h3", {}, "On it now"),
            flits.length ? table(["packet", "flit", "VC", "done"], flits.map(([, vc, packet, position, size, progress]) => [
                this.chip(packet, "span"), `${position + 1} of ${size}`, String(vc), `${Math.round(100 * progress)} %`]))
                         : h("p", {class: "note"}, "No flit."),
        ];
    }

    private head(text: string, goThere: () => void): Node {
        return h("div", {class: "head"}, h("h2", {}, text), h("button", {type: "button", onclick: goThere}, "Show"));
    }

    /** A packet's name with its colour; a button that selects it. */
    private chip(packet: PacketId, tag: "h2" | "span"): Node {
        const swatch = h("i", {class: "swatch"});
        swatch.style.background = packetColour(packet);
        const name = tag === "h2" ? `Packet ${packet}` : packet;
        return tag === "h2" ? h("h2", {}, swatch, name)
                            : h("button", {type: "button", class: "link", onclick: () => this.host.select({kind: "packet", packet})}, swatch, name);
    }

    /** "3.7 flits 1-4". */
    private runs(runs: Run[]): Node {
        return h("span", {}, ...runs.slice(0, 12).flatMap(([packet, position, , flits]) =>
            [this.chip(packet, "span"), ` ${position + 1}${flits > 1 ? `\u2013${position + flits}` : ""} `]), runs.length > 12 ? "\u2026" : "");
    }
}

function facts(list: [string, string][]): Node {
    return h("dl", {class: "facts"}, ...list.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function table(heads: string[], rows: (Node | string)[][]): Node {
    return h("div", {class: "scroll"}, h("table", {},
        h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", {scope: "col"}, head)))),
        h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell)))))));
}
