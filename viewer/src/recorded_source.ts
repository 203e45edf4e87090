// SPDX-License-Identifier: Apache-2.0
// A page without a server: its recording and, where it carries the engine, that. With other settings, or with a scenario, the engine
// runs in the recording's place.
import type {OptionForm, PacketId, Scenario, StepRequest} from "./api";
import {Engine, engineOf} from "./engine";
import {LiveSource} from "./live_source";
import type {Recording} from "./recording_frames";
import {RecordingSource} from "./recording_source";
import type {Source} from "./source";

/** The configuration that was recorded, as a text with its title. */
function configurationOf({title, about, tries, config}: Recording): string {
    const lines = [title, ...(about ? [about] : []), "", ...tries.map(({text, overrides}) => `${text}: ${overrides.join(" ")}`)];
    return `${lines.map((line) => `// ${line.replaceAll(/\s+/g, " ")}`.trimEnd()).join("\n")}\n${JSON.stringify(config)}`;
}

export class RecordedSource implements Source {
    private constructor(private readonly recording: RecordingSource, private readonly engine: LiveSource | null, private shown: Source) {}

    static async open(recording: Recording, page: Document): Promise<RecordedSource> {
        const packed = engineOf(page);
        const played = await RecordingSource.open(recording);
        return new RecordedSource(played, packed && new LiveSource(new Engine(packed, configurationOf(recording)).ask), played);
    }

    get isLive(): boolean {
        return this.shown.isLive;
    }

    get canChange(): boolean {
        return this.engine !== null;
    }

    get span(): [number, number] | null {
        return this.shown.span;
    }

    scene = () => this.shown.scene();
    frame = (routers: number[]) => this.shown.frame(routers);
    step = (request: StepRequest, routers: number[]) => this.shown.step(request, routers);
    packet = (id: PacketId) => this.shown.packet(id);
    router = (id: number) => this.shown.router(id);
    series = (from: number) => this.shown.series(from);
    results = () => this.shown.results();
    runResults = () => this.shown.runResults();
    quit = () => this.recording.quit();
    options = async (): Promise<OptionForm[]> => this.engine?.options() ?? [];
    gallery = async (): Promise<Scenario[]> => this.engine?.gallery() ?? [];

    beside = () => this.engine?.beside() ?? null;

    async restart(overrides: string[]): Promise<void> {
        await (this.engine ?? this.recording).restart(overrides);
        this.shown = this.engine!;
    }

    async open(scenario: string): Promise<void> {
        await (this.engine ?? this.recording).open(scenario);
        this.shown = this.engine!;
    }

    /** The recording again, with the settings that it was made with. */
    async playAgain(): Promise<void> {
        await this.engine!.openText(configurationOf((await this.recording.scene()) as Recording));
        this.shown = this.recording;
    }
}
