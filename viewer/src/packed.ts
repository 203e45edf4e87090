// SPDX-License-Identifier: Apache-2.0
// What a page carries as text: gzip in base64.

export function fromBase64(text: string): Blob {
    return new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]);
}

export function unpacked(packed: Blob): Response {
    return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip")));
}
