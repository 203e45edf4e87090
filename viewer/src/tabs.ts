// SPDX-License-Identifier: Apache-2.0
// The panels beside the network, one at a time; arrows go from tab to tab.
import {byId} from "./dom";

export type TabName = "inspect" | "settings" | "notes" | "deadlock";
const NAMES: TabName[] = ["inspect", "settings", "notes", "deadlock"];

export class Tabs {
    constructor() {
        for (const name of NAMES) {
            const tab = byId(`tab-${name}`);
            tab.addEventListener("click", () => this.show(name));
            tab.addEventListener("keydown", (event) => {
                const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
                if (way) {
                    const shown = NAMES.filter((each) => !byId(`tab-${each}`).hidden);
                    const next = shown[(shown.indexOf(name) + way + shown.length) % shown.length];
                    this.show(next);
                    byId(`tab-${next}`).focus();
                    event.preventDefault();
                    event.stopPropagation();
                }
            });
        }
    }

    show(name: TabName): void {
        for (const each of NAMES) {
            const tab = byId(`tab-${each}`);
            tab.setAttribute("aria-selected", String(each === name));
            tab.tabIndex = each === name ? 0 : -1;
            byId(each).hidden = each !== name;
        }
    }

    /** The deadlock's tab is there only when there is one. */
    setDeadlock(exists: boolean): void {
        byId("tab-deadlock").hidden = !exists;
        if (!exists && !byId("deadlock").hidden) {
            this.show("inspect");
        }
    }
}
