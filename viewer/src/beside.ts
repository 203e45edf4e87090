// SPDX-License-Identifier: Apache-2.0
// A second run beside the first, with other settings: the same network at the same tick. Wherever the first goes, it follows.
import type {Frame} from "./api";
import type {ThemeSwitch} from "./colours";
import {byId, h, short} from "./dom";
import {NetworkView} from "./network_view";
import {Network} from "./scene";
import type {Source} from "./source";

export interface BesideHost {
    failed(error: unknown): void;
    closed(): void;
}

export class Beside {
    private frame: Frame | null = null;
    private target = 0;
    private isFollowing = false;
    private readonly status = h("span", {class: "note"});

    private constructor(readonly source: Source, private readonly view: NetworkView, private readonly overrides: string[], private readonly host: BesideHost) {
        byId("stage").toggleAttribute("data-beside", true);
        byId("beside").hidden = byId("first-label").hidden = false;
        byId("beside-label").replaceChildren(h("b", {title: "dashed in the charts"}, changesOf(overrides)), this.status,
            h("button", {type: "button", id: "close-beside", class: "link", onclick: () => void this.close()}, "Close"));
    }

    static async open(source: Source, overrides: string[], theme: ThemeSwitch, host: BesideHost): Promise<Beside> {
        await source.restart(overrides);
        const network = new Network(await source.scene());
        return new Beside(source, new NetworkView(byId<HTMLCanvasElement>("beside-network"), network, theme), overrides, host);
    }

    get tick(): number | null {
        return this.frame?.now ?? null;
    }

    /** To a tick; one that is busy goes there afterwards. */
    async follow(tick: number, glideMs: number): Promise<void> {
        this.target = tick;
        if (this.isFollowing) {
            return;
        }
        this.isFollowing = true;
        try {
            do {
                if (this.frame && this.frame.now > this.target) {
                    await this.source.restart(this.overrides);
                }
                this.take(await this.source.step({until: this.target}, this.view.nearRouters()), glideMs);
            } while (this.frame!.now !== this.target && !this.frame!.over);
        } catch (error) {
            this.host.failed(error);
        }
        this.isFollowing = false;
    }

    async close(): Promise<void> {
        this.view.release();
        byId("stage").toggleAttribute("data-beside", false);
        byId("beside").hidden = byId("first-label").hidden = true;
        this.host.closed();
        await this.source.close!().catch(() => {});
    }

    private take(frame: Frame, glideMs: number): void {
        this.frame = frame;
        this.view.show(frame, glideMs);
        this.status.textContent = statusOf(frame);
    }
}

/** "routing valiant": the last word of each path with its value. */
const changesOf = (overrides: string[]): string => overrides.map((each) => each.replace(/^.*\.(?=[^=]*=)/, "").replace("=", " ").replaceAll("_", " ")).join(", ") || "the same settings";

export function statusOf(frame: Frame): string {
    const ended = frame.outcome === "deadlock" || frame.outcome === "stuck" ? `${frame.outcome} \u00b7 ` : frame.over ? "ended \u00b7 " : "";
    return ` ${ended}${short(frame.in_flight)} in flight \u00b7 ${short(frame.delivered)} delivered `;
}
