// SPDX-License-Identifier: Apache-2.0
// Making elements. Text only ever becomes text, and no attribute carries a style: the page's policy forbids both ways in.

type Child = Node | string | null | undefined | false;
type Listener = (event: never) => void;

/** An element with attributes; keys that start with "on" are listeners, false and null leave an attribute out. */
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Record<string, string | number | boolean | null | undefined | Listener> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
        if (typeof value === "function") {
            element.addEventListener(key.slice(2), value as EventListener);
        } else if (value !== false && value !== null && value !== undefined) {
            element.setAttribute(key, value === true ? "" : String(value));
        }
    }
    element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
    return element;
}

/** The one element with this id; the page's own file has it. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
    const element = document.getElementById(id);
    if (!element) {
        throw new Error(`the page has no #${id}`);
    }
    return element as T;
}

/** Says something to those who do not see the page. */
export function announce(text: string): void {
    const region = byId("announcements");
    if (region.textContent !== text) {
        region.textContent = text;
    }
}

export function download(name: string, content: Blob): void {
    const address = URL.createObjectURL(content);
    h("a", {href: address, download: name}).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** A short number for people: four significant digits, thin spaces between thousands. */
export function short(value: number | null | undefined): string {
    if (value === null || value === undefined || !Number.isFinite(value)) {
        return "\u2013";
    }
    const rounded = Number.isInteger(value) ? value : Number(value.toPrecision(4));
    const [whole, fraction] = String(rounded).split(".");
    const grouped = whole.length > 4 && !whole.includes("e") ? whole.replace(/\B(?=(\d{3})+$)/g, "\u2009") : whole;
    return fraction ? `${grouped}.${fraction}` : grouped;
}

export const motionIsReduced = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
