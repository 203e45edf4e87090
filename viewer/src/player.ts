// SPDX-License-Identifier: Apache-2.0
// Time: playing, pausing, stepping. One request is under way at a time; playing asks for as many cycles as are due.
import type {Frame, StepRequest} from "./api";
import {motionIsReduced} from "./dom";
import type {Source} from "./source";

/** Longest glide of a flit from slot to slot, in milliseconds. */
const GLIDE_MS = 260;
/** Most cycles that are asked for at once when the program cannot keep up. */
const MOST_DUE = 5000;

export interface PlayerHost {
    /** Routers whose buffers are drawn. */
    routers(): number[];
    show(frame: Frame, glideMs: number): void;
    failed(error: unknown): void;
    /** The next tick at which playing stops; null: none. */
    nextStop(now: number): number | null;
    /** Whether it plays has changed. */
    changed(): void;
}

export class Player {
    isPlaying = false;
    /** Cycles a second. */
    speed = 4;
    frame: Frame | null = null;
    private due = 0;
    private last = 0;
    private queue: Promise<unknown> = Promise.resolve();
    /** What was asked in another turn is not begun any more. */
    private turn = 0;
    private isBusy = false;
    private isStepping = false;

    constructor(private readonly source: Source, private readonly host: PlayerHost, private readonly cycle: number) {}

    toggle(): void {
        if (this.isPlaying || this.isStepping) {
            this.pause();
        } else {
            this.play();
        }
    }

    play(): void {
        this.isStepping = false;
        if (this.frame && (this.frame.over || this.frame.deadlock)) {
            return;
        }
        this.isPlaying = true;
        this.last = performance.now();
        this.due = 1;
        this.host.changed();
        requestAnimationFrame(this.tick);
    }

    pause(): void {
        if (this.isPlaying || this.isStepping) {
            this.isPlaying = this.isStepping = false;
            this.host.changed();
        }
    }

    /** Begins nothing more. */
    release(): void {
        this.pause();
        this.turn = NaN; // nothing equals it
    }

    /** What was asked and has not begun is dropped; what is asked from now on waits for this. */
    alone(what: () => Promise<void>): Promise<void> {
        this.pause();
        this.turn++;
        const done = this.queue.then(what);
        this.queue = done.catch(() => undefined);
        return done;
    }

    /** Whether it can be paused. */
    get isMoving(): boolean {
        return this.isPlaying || this.isStepping;
    }

    /** Pauses, then steps. */
    step(request: StepRequest): Promise<void> {
        this.pause();
        return this.ask(() => this.stepThrough(request), GLIDE_MS);
    }

    /** The same moment again, with the buffers of routers that have come into view. */
    refresh(): Promise<void> {
        return this.ask(() => this.source.frame(this.host.routers()), 0);
    }

    /** The program answers every fifth of a second, also where it has not got as far as it was asked to: time for a pause. */
    private async stepThrough(request: StepRequest): Promise<Frame> {
        const until = "cycles" in request && this.frame ? {until: this.frame.now + request.cycles * this.cycle} : request;
        let frame = await this.source.step(request, this.host.routers());
        if (frame.more) {
            this.isStepping = true;
            this.host.changed();
            while (frame.more && this.isStepping) {
                this.take(frame, 0);
                frame = await this.source.step(until, this.host.routers());
            }
            this.pause();
        }
        return frame;
    }

    private ask(what: () => Promise<Frame>, glideMs: number): Promise<void> {
        const turn = this.turn;
        const asked = this.queue.then(async () => {
            try {
                if (turn === this.turn) {
                    this.take(await what(), glideMs);
                }
            } catch (error) {
                this.pause();
                this.host.failed(error);
            }
        });
        this.queue = asked;
        return asked;
    }

    private take(frame: Frame, glideMs: number): void {
        this.frame = frame;
        if (frame.over || frame.deadlock) {
            this.pause();
        }
        this.host.show(frame, motionIsReduced() ? 0 : glideMs);
    }

    private tick = (now: number): void => {
        if (!this.isPlaying) {
            return;
        }
        requestAnimationFrame(this.tick);
        this.due = Math.min(MOST_DUE, this.due + (this.speed * (now - this.last)) / 1000);
        this.last = now;
        if (this.due < 1 || this.isBusy) {
            return;
        }
        const stop = this.frame ? this.host.nextStop(this.frame.now) : null;
        const left = stop === null ? Infinity : Math.max(1, Math.ceil((stop - this.frame!.now) / this.cycle));
        const cycles = Math.min(Math.floor(this.due), left);
        this.due -= cycles;
        this.isBusy = true;
        const interval = 1000 / this.speed;
        const glideMs = interval >= 60 ? Math.min(GLIDE_MS, 0.85 * interval) : 0;
        void this.ask(() => this.source.step({cycles}, this.host.routers()), glideMs).then(() => {
            this.isBusy = false;
            if (cycles === left) {
                this.pause();
            }
        });
    };
}
