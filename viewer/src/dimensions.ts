// SPDX-License-Identifier: Apache-2.0
// Grids of more than two dimensions lie flat: two dimensions make a plane, the others lay planes side by side and below each
// other. Which two, one can choose.
import type {Scene} from "./api";
import {byId, h} from "./dom";

/** Room between planes, in the distance between neighbours. */
const GAP = 0.8;

export type Pair = [number, number];

export function canChoose({layout, topology}: Scene): boolean {
    return layout.style === "grid" && layout.planes === 1 && topology.dimensions.length > 2 &&
        topology.dimensions.reduce((product, width) => product * width, 1) === topology.routers;
}

/** The same scene with two other dimensions as its plane. Routers are numbered along the first dimension first. */
export function withPlane(scene: Scene, [across, down]: Pair): Scene {
    const {dimensions, routers} = scene.topology;
    const order = [across, down, ...dimensions.map((_, d) => d).filter((d) => d !== across && d !== down)];
    const x: number[] = [];
    const y: number[] = [];
    for (let router = 0; router < routers; ++router) {
        let rest = router;
        const at = dimensions.map((width) => {
            const coordinate = rest % width;
            rest = Math.floor(rest / width);
            return coordinate;
        });
        const place = [0, 0];
        const stride = [1, 1];
        order.forEach((dimension, i) => { // in turns across and down, each with more room than all before
            place[i % 2] += at[dimension] * stride[i % 2];
            stride[i % 2] = stride[i % 2] * dimensions[dimension] + (dimensions[dimension] > 1 ? GAP : 0);
        });
        x.push(place[0]);
        y.push(place[1]);
    }
    return {...scene, layout: {...scene.layout, x, y, plane: [across, down]}};
}

/** Offers the choice where there is one. */
export function showChoice(scene: Scene, chosen: Pair, choose: (pair: Pair) => void): void {
    const holder = byId("plane");
    holder.hidden = !canChoose(scene);
    if (holder.hidden) {
        return;
    }
    const pairs = scene.topology.dimensions.flatMap((_, a) => scene.topology.dimensions.map((__, b): Pair => [a, b])).filter(([a, b]) => a < b);
    const select = h("select", {id: "plane-choice", onchange: () => choose(pairs[Number(select.value)])}, ...pairs.map(([a, b], i) =>
        h("option", {value: i, selected: a === chosen[0] && b === chosen[1]}, `dimensions ${a + 1} and ${b + 1}`)));
    holder.replaceChildren(h("label", {}, "Planes of ", select));
}
