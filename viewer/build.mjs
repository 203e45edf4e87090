// SPDX-License-Identifier: Apache-2.0
// Makes dist/index.html, dist/app.js and dist/app.css: the three files that flitwarp carries.
import {copyFileSync, readFileSync} from "node:fs";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const common = {
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "ascii", // a recording is one file, whatever it is served as
    logLevel: "warning",
};
const worker = await build({...common, entryPoints: [here("src/engine_worker.ts")], write: false});

await build({
    ...common,
    entryPoints: {app: here("src/main.ts")},
    outdir: here("dist"),
    define: {ENGINE_WORKER: JSON.stringify(worker.outputFiles[0].text)},
    banner: {js: `/*! The charts are uPlot:\n${readFileSync(here("node_modules/uplot/LICENSE"), "utf8")}*/`}, // it has to go along
});
copyFileSync(here("src/index.html"), here("dist/index.html"));

// A recording holds both inside its own page, where such an end tag would cut them short.
for (const [file, tag] of [["dist/app.js", "</script"], ["dist/app.css", "</style"]]) {
    if (readFileSync(here(file), "latin1").toLowerCase().includes(tag)) {
        throw new Error(`${file} contains ${tag}`);
    }
}
