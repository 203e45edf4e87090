// SPDX-License-Identifier: Apache-2.0
// A deadlock over the network: the rest is dimmed, each packet's held channel is a broad line in the packet's colour, and an arrow
// leads from the router where it waits to the channel that it wants and the next packet holds.
import type {Deadlock} from "./api";
import type {Camera} from "./camera";
import {packetColour, type Palette} from "./colours";
import type {Geometry, Point} from "./geometry";

/** `stuck` is the packet pointed out, or -1 for all alike. */
export function drawDeadlock(context: CanvasRenderingContext2D, palette: Palette, geometry: Geometry, camera: Camera, deadlock: Deadlock,
                             stuck: number, half: number): void {
    context.globalAlpha = camera.unit > 120 ? 0.35 : 0.55;
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, camera.width, camera.height);
    const trace = (channel: number) => {
        const path = geometry.path(channel, half).map((point) => camera.toScreen(point));
        context.beginPath();
        path.forEach((point, i) => (i ? context.lineTo(point.x, point.y) : context.moveTo(point.x, point.y)));
        return path;
    };
    const width = Math.max(5, Math.min(14, 0.07 * camera.unit));
    context.lineJoin = "round";
    deadlock.packets.forEach(({packet, holds, wants}, index) => {
        context.globalAlpha = stuck < 0 || stuck === index ? 1 : 0.35;
        if (holds !== null) {
            trace(holds);
            context.lineWidth = width + 3;
            context.strokeStyle = palette.bad;
            context.stroke();
            context.lineWidth = width;
            context.strokeStyle = packetColour(packet);
            context.stroke();
        }
        for (const [channel] of wants) {
            const path = trace(channel);
            context.setLineDash([6, 5]);
            for (const [colour, margin] of [[palette.halo, 3], [palette.bad, 0]] as const) { // a margin, since packets may be as light
                context.lineWidth = (stuck === index ? 4 : 2.5) + margin;
                context.strokeStyle = colour;
                context.stroke();
            }
            context.setLineDash([]);
            drawArrow(context, path, palette.bad, Math.max(7, width));
        }
    });
    drawNumbers(context, palette, geometry, camera, deadlock, stuck);
    context.globalAlpha = 1;
}

/** At each router the places in the circle of those that wait there. */
function drawNumbers(context: CanvasRenderingContext2D, palette: Palette, geometry: Geometry, camera: Camera, deadlock: Deadlock, stuck: number): void {
    const waiting = new Map<number, number[]>();
    deadlock.packets.forEach(({router}, index) => waiting.set(router, [...(waiting.get(router) ?? []), index]));
    const size = Math.max(10, Math.min(17, 0.19 * camera.unit));
    context.font = `700 ${size.toFixed(1)}px system-ui, sans-serif`;
    context.globalAlpha = 1;
    for (const [router, indices] of waiting) {
        const isMeant = stuck < 0 || indices.includes(stuck);
        const text = indices.map((index) => index + 1).join(", ");
        const at = camera.toScreen({x: geometry.x[router], y: geometry.y[router]});
        const width = Math.max(1.7 * size, context.measureText(text).width + size);
        context.beginPath();
        context.roundRect(at.x - width / 2, at.y - 0.85 * size, width, 1.7 * size, 0.85 * size);
        context.fillStyle = isMeant ? palette.bad : palette.edge;
        context.fill();
        context.lineWidth = 2;
        context.strokeStyle = palette.halo;
        context.stroke();
        context.fillStyle = palette.paper;
        context.fillText(text, at.x, at.y + 0.05 * size);
    }
}

/** At the end of a path. */
function drawArrow(context: CanvasRenderingContext2D, path: Point[], colour: string, size: number): void {
    const end = path[path.length - 1];
    const before = path[path.length - 2];
    const angle = Math.atan2(end.y - before.y, end.x - before.x);
    const corner = (turn: number): [number, number] => [end.x - size * Math.cos(angle + turn), end.y - size * Math.sin(angle + turn)];
    context.beginPath();
    context.moveTo(end.x, end.y);
    context.lineTo(...corner(0.45));
    context.lineTo(...corner(-0.45));
    context.closePath();
    context.fillStyle = colour;
    context.fill();
}
