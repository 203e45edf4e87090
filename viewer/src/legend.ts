// SPDX-License-Identifier: Apache-2.0
// What the colours in the network mean.
import type {ThemeSwitch} from "./colours";
import {byId, h} from "./dom";

export function showLegend(theme: ThemeSwitch): void {
    const ramp = (title: string, low: string, high: string, steps: string[]) => {
        const bar = h("span", {class: "ramp"});
        bar.style.background = `linear-gradient(to right, ${steps.join(",")})`;
        return h("div", {}, h("span", {class: "name"}, title), h("span", {class: "end"}, low), bar, h("span", {class: "end"}, high));
    };
    const write = () => byId("legend").replaceChildren(
        ramp("channels in use", "0", "100 %", theme.palette.channels), ramp("routers, how full", "0", "100 %", theme.palette.routers));
    theme.changed.add(write);
    write();
}
