// SPDX-License-Identifier: Apache-2.0
// Puts the page together: a source, the network that it shows, and everything around that.
import "uplot/dist/uPlot.min.css";
import "./app.css";
import type {Frame} from "./api";
import {Beside, statusOf} from "./beside";
import {Charts} from "./charts";
import {tellApart, ThemeSwitch} from "./colours";
import {Controls} from "./controls";
import {DeadlockPanel} from "./deadlock_panel";
import {canChoose, showChoice, withPlane, type Pair} from "./dimensions";
import {announce, byId, h} from "./dom";
import {Gallery} from "./gallery";
import {Inspector} from "./inspector";
import {Keyboard} from "./keyboard";
import {showLegend} from "./legend";
import {askServer, LiveSource} from "./live_source";
import {NetworkView, type Drawn, type Selection} from "./network_view";
import {Notes} from "./notes";
import {Player} from "./player";
import type {Recording} from "./recording_frames";
import {RecordedSource} from "./recorded_source";
import {recordingOf} from "./recording_source";
import {ResultsView} from "./results";
import {Network} from "./scene";
import {Saving} from "./saving";
import {Search} from "./search";
import {Settings} from "./settings";
import {Refused, type Source} from "./source";
import {Tabs} from "./tabs";
import {Tour} from "./tour";

declare global {
    interface Window {
        /** For tests: what is on the screen. */
        flitwarp: {drawn(): Drawn | null; besideTick(): number | null; chartPoints(): number; isReady: boolean; pan(dx: number, dy: number): void};
    }
}

/** One network on show. A restart or another scenario makes a new one. */
interface Show {
    view: NetworkView;
    player: Player;
    controls: Controls;
    inspector: Inspector;
    deadlock: DeadlockPanel;
}

class App {
    private readonly theme = new ThemeSwitch();
    private readonly tabs = new Tabs();
    private readonly charts = new Charts(this.theme);
    private readonly tour = new Tour();
    private readonly search = new Search((router) => this.showRouter(router));
    private readonly settings: Settings;
    private readonly gallery: Gallery;
    private readonly notes = new Notes({now: () => this.now(), goTo: (tick) => void this.goTo(tick)});
    private readonly saving: Saving;
    private show: Show | null = null;
    private beside: Beside | null = null;
    private changing: Promise<void> = Promise.resolve();
    /** What an application has said that cannot go on. */
    private reported: string | null = null;
    /** The dimensions that a grid of many shows as planes. */
    private plane: Pair = [0, 1];

    constructor(private readonly source: Source) {
        this.settings = new Settings(source, {
            change: (what) => this.change(what), restarted: () => this.load(true), beside: (overrides) => this.openBeside(overrides),
        });
        this.gallery = new Gallery(source, (name, overrides) => this.change(async () => {
            await source.open(name);
            await this.beside?.close();
            this.charts.clear();
            await this.settings.load();
            await this.load(false);
            if (overrides.length) {
                await this.settings.restartWith(overrides);
            }
        }), (error) => this.failed(error));
        this.saving = new Saving(source, {
            now: () => this.now(), title: () => byId("title").textContent ?? "", notes: () => this.notes.all, failed: (error) => this.failed(error),
        });
        showLegend(this.theme);
        this.buttons();
        window.flitwarp = {
            drawn: () => this.show?.view.drawn() ?? null, besideTick: () => this.beside?.tick ?? null, chartPoints: () => this.charts.points(), isReady: false,
            pan: (dx, dy) => this.show?.view.pan(dx, dy),
        };
    }

    async start(): Promise<void> {
        const scene = await this.source.scene();
        if (scene.kind === "results") {
            byId("run-view").hidden = true;
            document.body.dataset.kind = "results";
            const title = scene.title ?? "Results";
            byId("title").textContent = title;
            document.title = `${title} \u2013 flitwarp`;
            new ResultsView(await this.source.results(), title, this.theme).show();
            new Keyboard([{keys: ["d"], does: "Dark or light", act: () => this.theme.toggle()}]);
        } else {
            this.notes.use((scene as Recording).notes ?? []);
            await this.load(false);
            await this.settings.load();
            this.keys();
            if (this.source.isLive) {
                this.tour.startOnFirstUse();
            }
        }
        window.flitwarp.isReady = true;
    }

    /** What puts another run in place of the one on show: one such after the other, and nothing else is asked meanwhile. */
    private change(what: () => Promise<void>): Promise<void> {
        const done = this.changing.then(() => this.show ? this.show.player.alone(what) : what());
        this.changing = done.catch(() => undefined);
        return done;
    }

    /** The network that the source has now; `keepsView`: the same one again, seen from where it was seen. */
    private async load(keepsView: boolean): Promise<void> {
        const given = await this.source.scene();
        document.body.dataset.kind = this.source.isLive ? "run" : "recording";
        byId("play-again").hidden = !this.source.isLive || !(this.source instanceof RecordedSource);
        if (!keepsView) {
            this.plane = [0, 1];
        }
        const scene = canChoose(given) ? withPlane(given, this.plane) : given;
        showChoice(given, this.plane, (pair) => {
            this.plane = pair;
            void this.load(true).then(() => this.show!.view.fit());
        });
        const before = this.show;
        before?.player.release();
        before?.view.release();
        before?.inspector.release();
        byId("notice").hidden = true;
        byId("title").textContent = scene.title;
        document.title = `${scene.title} \u2013 flitwarp`;
        const network = new Network(scene);
        const view = new NetworkView(byId<HTMLCanvasElement>("network"), network, this.theme);
        if (keepsView && before && before.view.network.routers === network.routers) {
            view.lookLike(before.view);
        }
        const player = new Player(this.source, {
            routers: () => view.nearRouters(), show: (frame, glideMs) => this.showFrame(frame, glideMs),
            failed: (error) => this.failed(error), changed: () => this.show?.controls.changed(),
            nextStop: (now) => this.notes.after(now),
        }, scene.cycle);
        player.speed = before?.player.speed ?? player.speed;
        const controls = new Controls(player, this.source, {
            nextEvent: () => this.nextEvent(), restart: () => void this.restart(), goTo: (tick) => void this.goTo(tick),
        }, scene.cycle);
        const inspector = new Inspector(network, this.source, {
            select: (selection) => view.select(selection), goToRouter: (router) => view.goToRouter(router), showWay: (routers) => view.showWay(routers),
            tryOut: (overrides) => void this.change(() => this.settings.restartWith(overrides)).catch((error) => this.failed(error)),
        });
        this.show = {view, player, controls, inspector, deadlock: new DeadlockPanel(view)};
        view.onSelect = (selection) => this.selected(selection);
        view.onNear = () => void player.refresh();
        this.search.use(network);
        this.tabs.setDeadlock(false);
        this.selected(null);
        if (keepsView) {
            this.charts.restart();
        }
        await player.refresh();
    }

    private showFrame(frame: Frame, glideMs: number): void {
        const {view, controls, inspector, deadlock} = this.show!;
        const isNew = frame.deadlock && byId("tab-deadlock").hidden;
        tellApart(frame.deadlock?.packets.map(({packet}) => packet) ?? []);
        view.show(frame, glideMs);
        controls.show(frame);
        this.notes.show(frame.now);
        if (this.beside) {
            byId("first-label").replaceChildren(h("b", {}, "as it is"), h("span", {class: "note"}, statusOf(frame)));
            void this.beside.follow(frame.now, glideMs).then(() => this.charts.update(this.source));
        }
        inspector.show(frame);
        deadlock.show(frame.deadlock);
        this.tabs.setDeadlock(frame.deadlock !== null);
        if (isNew) {
            this.tabs.show("deadlock");
            view.fit();
        }
        if (frame.report && frame.report !== this.reported) {
            this.failed(new Refused(frame.report.trimEnd().split("\n")));
        }
        this.reported = frame.report ?? null;
        byId("open-results").hidden = !this.source.isLive || !frame.over;
        this.charts.update(this.source);
        if (!this.show!.player.isPlaying && !frame.deadlock) {
            announce(`tick ${frame.now}, ${frame.in_flight} packets in flight, ${frame.delivered} delivered`);
        }
    }

    /** Of the run that has ended. */
    private async showResults(): Promise<void> {
        try {
            const title = byId("title").textContent ?? "";
            new ResultsView([{name: title, results: await this.source.runResults()}], title, this.theme).show();
        } catch (error) {
            this.failed(error);
            return;
        }
        document.body.dataset.kind = "results";
        byId("run-view").hidden = byId("open-results").hidden = true;
        byId("close-results").hidden = false;
        byId("close-results").focus();
    }

    private hideResults(): void {
        document.body.dataset.kind = "run";
        byId("run-view").hidden = byId("open-results").hidden = false;
        byId("close-results").hidden = byId("results-view").hidden = true;
        byId("open-results").focus();
    }

    private selected(selection: Selection): void {
        const {view, controls, inspector} = this.show!;
        const what = selection?.kind === "router" ? `router ${view.network.name(selection.router)}`
            : selection?.kind === "packet" ? `packet ${selection.packet}` : null;
        controls.selected(what);
        inspector.select(selection);
        if (selection) {
            this.tabs.show("inspect");
            announce(selection.kind === "channel" ? `channel ${view.network.channelName(selection.channel)}` : what!);
        }
    }

    private nextEvent(): boolean {
        const {view, player} = this.show!;
        const selection = view.selection;
        if (selection?.kind === "router" || selection?.kind === "packet") {
            void player.step(selection.kind === "router" ? {router: selection.router} : {packet: selection.packet});
            return true;
        }
        return false;
    }

    private async restart(): Promise<void> {
        if (this.source.isLive) {
            await this.settings.restart();
        } else {
            await this.show!.player.step({until: this.source.span![0]});
        }
    }

    private now(): number {
        return this.show?.player.frame?.now ?? 0;
    }

    /** Backwards too: a run is the same every time, so the beginning is where the past is found. */
    private async goTo(tick: number): Promise<void> {
        await this.changing;
        if (this.source.isLive && tick < (this.show!.player.frame?.now ?? 0)) {
            await this.settings.restart();
        }
        await this.show!.player.step({until: tick});
    }

    private showRouter(router: number): void {
        this.show!.view.goToRouter(router);
        this.show!.view.select({kind: "router", router});
    }

    /** The next router by number, or the one before. */
    private selectNext(way: number): void {
        const {view} = this.show!;
        const at = view.selection?.kind === "router" ? view.selection.router : -1;
        const router = at < 0 ? view.middleRouter() : (at + way + view.network.routers) % view.network.routers;
        view.goToRouter(router, false);
        view.select({kind: "router", router});
    }

    private async openBeside(overrides: string[]): Promise<void> {
        await this.beside?.close();
        this.show!.player.pause();
        this.beside = await Beside.open(this.source.beside!()!, overrides, this.theme, {
            failed: (error) => this.failed(error),
            closed: () => {
                this.beside = this.charts.beside = null;
            },
        });
        this.charts.beside = this.beside.source;
        await this.show!.player.refresh();
    }

    private async playAgain(): Promise<void> {
        await this.change(async () => {
            await (this.source as RecordedSource).playAgain();
            this.charts.clear();
            await this.load(false);
            await this.settings.load();
        });
    }

    private async quit(): Promise<void> {
        this.show?.player.pause();
        await this.source.quit().then(() => this.failed("flitwarp has ended. You can close this page."), (error) => this.failed(error));
    }

    private failed(error: unknown): void {
        const reasons = error instanceof Refused ? error.reasons : [error instanceof Error ? error.message : String(error)];
        const notice = byId("notice");
        notice.replaceChildren(h("div", {}, ...reasons.map((reason) => h("p", {}, reason))), h("button", {type: "button", onclick: () => (notice.hidden = true)}, "Close"));
        notice.hidden = false;
    }

    private buttons(): void {
        const click = (id: string, act: () => void) => byId(id).addEventListener("click", act);
        click("theme", () => this.theme.toggle());
        click("zoom-in", () => this.show?.view.zoom(1.5));
        click("zoom-out", () => this.show?.view.zoom(1 / 1.5));
        click("zoom-fit", () => this.show?.view.fit());
        click("open-tour", () => this.tour.start());
        click("open-help", () => byId<HTMLDialogElement>("help").showModal());
        click("open-gallery", () => void this.gallery.open());
        click("open-save", () => this.saving.open());
        click("quit", () => void this.quit());
        click("open-results", () => void this.showResults());
        click("close-results", () => this.hideResults());
        click("play-again", () => void this.playAgain());
        byId("open-gallery").hidden = !this.source.canChange;
        byId("quit").hidden = this.source instanceof RecordedSource;
    }

    private keys(): void {
        const view = () => this.show!.view;
        const player = () => this.show!.player;
        const pan = (key: string, dx: number, dy: number) => ({keys: [key], act: () => view().pan(dx, dy)});
        const steps = 70;
        new Keyboard([
            {keys: [" "], shown: "Space", does: "Play or pause", act: () => player().toggle()},
            {keys: ["."], does: "Step one cycle", act: () => void player().step({cycles: 1})},
            {keys: [">", ":"], shown: "Shift .", does: "Step ten cycles", act: () => void player().step({cycles: 10})},
            ...(this.source.span ? [{keys: [","], does: "Step one cycle back", act: () => void (this.source.span && player().step({cycles: -1}))}] : []),
            {keys: ["e"], does: "Run to the next event of the selection", act: () => void this.nextEvent()},
            {keys: ["g"], does: "Go to a time", act: () => this.show!.controls.focusGoTo()},
            {keys: ["r"], does: "Back to the beginning", act: () => void this.restart()},
            {keys: ["+", "="], does: "Zoom in", act: () => view().zoom(1.3)},
            {keys: ["-", "_"], shown: "\u2212", does: "Zoom out", act: () => view().zoom(1 / 1.3)},
            {keys: ["0"], does: "Show the whole network", act: () => view().fit()},
            {...pan("ArrowLeft", steps, 0), shown: "\u2190", does: "Move left"},
            {...pan("ArrowRight", -steps, 0), shown: "\u2192", does: "Move right"},
            {...pan("ArrowUp", 0, steps), shown: "\u2191", does: "Move up"},
            {...pan("ArrowDown", 0, -steps), shown: "\u2193", does: "Move down"},
            {keys: ["Enter"], shown: "Enter", does: "Select the router in the middle", act: () => view().select({kind: "router", router: view().middleRouter()})},
            {keys: ["]"], does: "Select the next router", act: () => this.selectNext(1)},
            {keys: ["["], does: "Select the previous router", act: () => this.selectNext(-1)},
            {keys: ["/"], does: "Find a router or terminal", act: () => this.search.focus()},
            {keys: ["d"], does: "Dark or light", act: () => this.theme.toggle()},
            {keys: ["?"], does: "Show these keys", act: () => byId<HTMLDialogElement>("help").showModal()},
            {keys: ["Escape"], shown: "Esc", does: "Close the tour, or clear the selection", act: () => {
                this.tour.end();
                view().select(null);
            }},
        ]);
    }
}

async function start(): Promise<void> {
    try {
        const recording = recordingOf(document);
        await new App(recording ? await RecordedSource.open(recording, document) : new LiveSource(askServer)).start();
    } catch (error) {
        byId("title").textContent = "flitwarp does not answer";
        byId("notice").replaceChildren(h("p", {}, error instanceof Error ? error.message : String(error)));
        byId("notice").hidden = false;
    }
}

void start();
