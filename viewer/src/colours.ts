// SPDX-License-Identifier: Apache-2.0
// Colours of what is drawn on canvases. Scales run evenly in lightness (OKLCH), so that they can be read without seeing hues:
// channels are blue, routers amber, which most colour-blind people tell apart.

export type Theme = "light" | "dark";

/** OKLCH to "#rrggbb"; what lies outside sRGB is clipped. */
export function oklch(lightness: number, chroma: number, hue: number): string {
    const a = chroma * Math.cos((hue * Math.PI) / 180);
    const b = chroma * Math.sin((hue * Math.PI) / 180);
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const linear = [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ];
    return "#" + linear.map((value) => {
        const gamma = value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
        return Math.round(255 * Math.min(1, Math.max(0, gamma))).toString(16).padStart(2, "0");
    }).join("");
}

export const STEPS = 16;

type Stop = [lightness: number, chroma: number, hue: number];

function scale([fromLightness, fromChroma, fromHue]: Stop, [toLightness, toChroma, toHue]: Stop): string[] {
    return Array.from({length: STEPS}, (_, step) => {
        const share = step / (STEPS - 1);
        const mix = (from: number, to: number) => from + share * (to - from);
        return oklch(mix(fromLightness, toLightness), mix(fromChroma, toChroma), mix(fromHue, toHue));
    });
}

export interface Palette {
    paper: string;
    box: string;
    slot: string;
    slotEdge: string;
    edge: string;
    ink: string;
    quiet: string;
    accent: string;
    bad: string;
    halo: string;
    flitInk: string;
    channels: string[];
    routers: string[];
    lines: string[];
}

// Eight hues after Okabe and Ito, told apart by most; darker on light paper.
const LINE_HUES: Stop[] = [[0.52, 0.13, 245], [0.62, 0.15, 50], [0.55, 0.11, 165], [0.5, 0.16, 330],
                           [0.68, 0.13, 90], [0.6, 0.1, 215], [0.45, 0.14, 290], [0.5, 0.15, 25]];

const PALETTES: Record<Theme, Palette> = {
    light: {
        paper: "#fcfcfa", box: "#ffffff", slot: "#f2f3f1", slotEdge: "#c6cbcf", edge: "#8d979f", ink: "#20262c", quiet: "#59636d",
        accent: "#0a5a8c", bad: "#a3261b", halo: "#ffffff", flitInk: "#14181b",
        channels: scale([0.87, 0.025, 225], [0.38, 0.15, 262]),
        routers: scale([0.95, 0.03, 95], [0.47, 0.13, 40]),
        lines: LINE_HUES.map((stop) => oklch(...stop)),
    },
    dark: {
        paper: "#14181b", box: "#1b2024", slot: "#22292f", slotEdge: "#414b53", edge: "#6d7881", ink: "#dde2e6", quiet: "#9aa5ae",
        accent: "#83c1ec", bad: "#f0938a", halo: "#000000", flitInk: "#14181b",
        channels: scale([0.36, 0.03, 250], [0.9, 0.1, 205]),
        routers: scale([0.28, 0.02, 70], [0.88, 0.15, 80]),
        lines: LINE_HUES.map(([lightness, chroma, hue]) => oklch(lightness + 0.22, chroma, hue)),
    },
};

/** The step of a scale for a share of 0 to 1. */
export function stepOf(share: number): number {
    return Math.max(0, Math.min(STEPS - 1, Math.floor(share * STEPS)));
}

/** Hues of numbers that follow each other lie far apart; lightness varies too, but stays high enough for dark numbers on it in
 *  both themes. */
const USUAL = 60;
export const PACKET_COLOURS = Array.from({length: USUAL}, (_, i) => oklch([0.74, 0.84, 0.79][i % 3], 0.125, (i * 137.508) % 360));

const toldApart = new Map<string, number>();

/** The same for a packet at all times, "source.sequence"; read by hand, since there are thousands of them in each frame. */
export function packetColourIndex(packet: string): number {
    const own = toldApart.size ? toldApart.get(packet) : undefined;
    if (own !== undefined) {
        return own;
    }
    let [number, sum] = [0, 0];
    for (let i = 0; i < packet.length; ++i) {
        const digit = packet.charCodeAt(i) - 48;
        if (digit >= 0 && digit <= 9) {
            number = (number * 10 + digit) % 1000003;
        } else {
            sum = number * 7;
            number = 0;
        }
    }
    return (sum + number) % USUAL;
}

/** Colours of their own for packets that are to be told apart, those of a deadlock: no reds, which mean the deadlock itself, hues as far from each other as can be, and those of
 *  neighbours in the list far apart. */
export function tellApart(packets: string[]): void {
    const names = [...new Set(packets)];
    if (names.length === toldApart.size && names.every((name) => toldApart.has(name))) {
        return;
    }
    toldApart.clear();
    PACKET_COLOURS.length = USUAL;
    names.forEach((name, i) => {
        toldApart.set(name, PACKET_COLOURS.length);
        const hue = names.length < 6 ? i / names.length : (i * 0.381966) % 1;
        PACKET_COLOURS.push(oklch(names.length < 6 ? 0.78 : [0.72, 0.86, 0.79][i % 3], 0.14, 65 + 300 * hue));
    });
}

export const packetColour = (packet: string): string => PACKET_COLOURS[packetColourIndex(packet)];

const REMEMBERED = "flitwarp-theme";

/** The theme in force: what the user chose with the switch, or what the system prefers. */
export class ThemeSwitch {
    readonly changed = new Set<() => void>();
    private readonly system = matchMedia("(prefers-color-scheme: dark)");
    private chosen: Theme | null = null;

    constructor() {
        try {
            const kept = localStorage.getItem(REMEMBERED);
            this.chosen = kept === "light" || kept === "dark" ? kept : null;
        } catch {
            // A page from a file may have no storage: the system's preference it is.
        }
        this.system.addEventListener("change", () => this.apply());
        this.apply();
    }

    get theme(): Theme {
        return this.chosen ?? (this.system.matches ? "dark" : "light");
    }

    get palette(): Palette {
        return PALETTES[this.theme];
    }

    toggle(): void {
        this.chosen = this.theme === "dark" ? "light" : "dark";
        try {
            localStorage.setItem(REMEMBERED, this.chosen);
        } catch {
            // Not remembered, then.
        }
        this.apply();
    }

    private apply(): void {
        document.documentElement.dataset.theme = this.theme;
        this.changed.forEach((listener) => listener());
    }
}
