// SPDX-License-Identifier: Apache-2.0
// Why an input lane waits, in the words of a live router (src/view/scene.c), out of what a recording holds of the router.
import type {InputLane, RouterState} from "./api";

export function waitWords(lane: InputLane, {outputs, crossbar}: RouterState, num_vcs: number): string {
    const portOf = (each: number) => Math.floor(each / num_vcs);
    const name = (each: number) => `port ${portOf(each)} vc ${each % num_vcs}`;
    const output = (each: number) => outputs.find((other) => other.lane === each);
    const wish = (wanted: number) => {
        const holder = output(wanted)?.holder ?? null;
        return `${name(wanted)} (${holder !== null ? `held by ${name(holder)}` : output(wanted)?.credits === 0 ? "no room" : "free: waits for its turn"})`;
    };
    if (lane.state === "routing") {
        return "is being routed";
    }
    if (lane.state === "waiting") {
        return `wants ${lane.wants.map(wish).join(" or ")}`;
    }
    if (lane.state !== "active" || lane.holds === null) {
        return "";
    }
    const held = lane.holds;
    if (!lane.flits.length) {
        return `holds ${name(held)}; the rest of the packet is on its way here`;
    }
    if (output(held)?.credits === 0) {
        return `holds ${name(held)}; there is no room at its far end`;
    }
    if (crossbar.some(([from, to, vc]) => from === lane.port && to === portOf(held) && vc === held % num_vcs)) {
        return `holds ${name(held)}; a flit of it has just crossed`;
    }
    const rival = crossbar.find(([from, to]) => from === lane.port || to === portOf(held));
    return `holds ${name(held)}; can cross${rival ? `, but it was the turn of port ${rival[0]}` : ""}`;
}
