// SPDX-License-Identifier: Apache-2.0
// The network as the page knows it: the program's scene, and look-ups over it that drawing and inspecting need.
import type {Scene} from "./api";

export interface End {
    /** Of the channel that leaves by this port, and of the one that arrives; -1: there is none. */
    out: number;
    in: number;
}

export class Network {
    readonly routers: number;
    /** By router: channel ends by port. */
    readonly ends: Map<number, End>[];
    /** By router: its entries among the scene's terminals. */
    readonly terminals: number[][];
    /** By channel: the one that leads back, or -1. */
    readonly back: Int32Array;
    /** By channel that is slow: the share of bandwidth that it has left. */
    readonly slow: Map<number, number>;

    constructor(readonly scene: Scene) {
        const {channels, terminals, topology} = scene;
        this.routers = topology.routers;
        this.ends = Array.from({length: this.routers}, () => new Map<number, End>());
        this.terminals = Array.from({length: this.routers}, () => []);
        for (let channel = 0; channel < channels.from.length; ++channel) {
            this.end(channels.from[channel], channels.from_port[channel]).out = channel;
            this.end(channels.to[channel], channels.to_port[channel]).in = channel;
        }
        terminals.router.forEach((router, entry) => this.terminals[router].push(entry));
        this.slow = new Map(scene.slow?.channel.map((channel, i) => [channel, scene.slow!.share[i]]));
        this.back = Int32Array.from(channels.from, (router, channel) => {
            const arriving = this.ends[router].get(channels.from_port[channel])?.in ?? -1;
            return arriving >= 0 && channels.from[arriving] === channels.to[channel] ? arriving : -1;
        });
    }

    name(router: number): string {
        return this.scene.names[router] ?? String(router);
    }

    /** Channels between routers; those of terminals follow. */
    get channels(): number {
        return this.scene.channels.from.length;
    }

    channelName(channel: number): string {
        const {from, to} = this.scene.channels;
        if (channel >= this.channels) {
            const {terminal, router} = this.scene.terminals;
            const entry = (channel - this.channels) >> 1;
            const [one, other] = [`terminal ${terminal[entry]}`, this.name(router[entry])];
            return (channel - this.channels) % 2 ? `${other} \u2192 ${one}` : `${one} \u2192 ${other}`;
        }
        return `${this.name(from[channel])} \u2192 ${this.name(to[channel])}`;
    }

    /** Those that lead from each of some routers to the next. */
    channelsAlong(routers: number[]): number[] {
        const between = (from: number, to: number) => [...this.ends[from].values()].find(({out}) => out >= 0 && this.scene.channels.to[out] === to)?.out ?? -1;
        return routers.slice(1).map((to, i) => between(routers[i], to)).filter((channel) => channel >= 0);
    }

    /** What a port of a router leads to. */
    portName(router: number, port: number): string {
        const entry = this.terminals[router].find((each) => this.scene.terminals.port[each] === port);
        if (entry !== undefined) {
            return `terminal ${this.scene.terminals.terminal[entry]}`;
        }
        const end = this.ends[router].get(port);
        const peer = end && (end.out >= 0 ? this.scene.channels.to[end.out] : this.scene.channels.from[end.in]);
        return peer === undefined ? `port ${port}` : `router ${this.name(peer)}`;
    }

    /** Routers by name or number, terminals as "t5": those that a search finds, best first. */
    search(text: string, limit: number): {label: string; router: number}[] {
        const wanted = text.trim().toLowerCase();
        const found: {label: string; router: number; rank: number}[] = [];
        const terminal = /^t(?:erminal)?\s*(\d+)$/.exec(wanted);
        const entry = terminal ? this.scene.terminals.terminal.indexOf(Number(terminal[1])) : -1;
        if (terminal && entry >= 0) {
            found.push({label: `terminal ${terminal[1]}`, router: this.scene.terminals.router[entry], rank: 0});
        }
        for (let router = 0; router < this.routers && wanted; ++router) {
            const name = this.name(router).toLowerCase();
            const rank = name === wanted || String(router) === wanted ? 1 : name.startsWith(wanted) ? 2 : name.includes(wanted) ? 3 : 0;
            if (rank) {
                const label = name === String(router) ? `router ${router}` : `router ${this.name(router)} (${router})`;
                found.push({label, router, rank});
            }
        }
        return found.sort((a, b) => a.rank - b.rank || a.router - b.router).slice(0, limit);
    }

    private end(router: number, port: number): End {
        let end = this.ends[router].get(port);
        if (!end) {
            end = {out: -1, in: -1};
            this.ends[router].set(port, end);
        }
        return end;
    }
}
