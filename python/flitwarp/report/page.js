// SPDX-License-Identifier: Apache-2.0
// The report's script: a browser of figures, a table of runs, and a run's details.
//
// What is shown is one object, `view`, and the address behind '#' says it: whoever gets the address sees the same.
"use strict";

(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const DASH = "\u2013";
const byId = id => document.getElementById(id);

/* An element with attributes, listeners (functions) and children (text or elements). */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

function select(label, options, chosen, onChange) {
  const field = make("select", {change: () => onChange(field.value)});
  for (const [value, text] of options) field.append(make("option", {value, selected: value === chosen}, text));
  return make("label", {}, make("span", {}, label), field);
}

/* ---- the view, and the address that says it --------------------------------------------------------------------- */

const ALL = "*";
const few = data.figures.length <= 6;
const defaults = () => ({figure: few ? ALL : "0", at: {}, search: "", is: {}, warning: "", sort: "", application: "0", run: ""});
let view = defaults();

function readAddress() {
  const read = defaults();
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (key.startsWith("at.")) read.at[key.slice(3)] = value;
    else if (key.startsWith("is.")) read.is[key.slice(3)] = value;
    else if (key in read && typeof read[key] === "string") read[key] = value;
  }
  return read;
}

function address(of) {
  const usual = defaults();
  const said = new URLSearchParams();
  for (const [key, value] of Object.entries(of)) {
    if (typeof value === "string") { if (value !== usual[key]) said.set(key, value); }
    else for (const [name, chosen] of Object.entries(value)) if (chosen !== "") said.set(key + "." + name, chosen);
  }
  return "#" + said;
}

/* Changes the view; `fresh` makes a step that the browser's Back undoes. */
function change(changes, fresh = false) {
  view = {...view, ...changes};
  const said = address(view);
  if (said !== location.hash && !(said === "#" && !location.hash)) {
    if (fresh) history.pushState(null, "", said);
    else history.replaceState(null, "", said);
  }
  show();
}

/* ---- figures ------------------------------------------------------------------------------------------------------ */

const pictures = new Map();

/* A promise of a picture's address. SVG is compressed in the page. */
function pictureOf(number) {
  if (!pictures.has(number)) {
    const block = byId("picture-" + number);
    pictures.set(number, block.dataset.kind === "png" ? Promise.resolve("data:image/png;base64," + block.textContent) : unpacked(block.textContent));
  }
  return pictures.get(number);
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const svg = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).blob();
  return URL.createObjectURL(new Blob([svg], {type: "image/svg+xml"}));
}

function fillImage(image) {
  pictureOf(Number(image.dataset.number)).then(address => { image.src = address; },
    () => image.replaceWith(make("p", {class: "note"}, "This browser is too old to unpack the figure; its files are below.")));
}

/* The variables to choose a figure by, each with the values that occur. */
function selectors(spec) {
  const found = new Map();
  for (const figure of data.figures) {
    if (spec !== ALL && String(figure.spec) !== spec) continue;
    for (const [name, value] of Object.entries(figure.at)) {
      if (!found.has(name)) found.set(name, new Set());
      found.get(name).add(value);
    }
  }
  return [...found].filter(([, values]) => values.size > 1).map(([name, values]) => [name, inOrder(name, [...values])]);
}

function inOrder(name, values) {
  const known = data.variables.find(variable => variable.name === name);
  return known ? known.values.filter(value => values.includes(value)) : values;
}

const chosenAt = (name, values) => values.includes(view.at[name]) || view.at[name] === ALL ? view.at[name] : few ? ALL : values[0];

function chosenFigures() {
  const at = selectors(view.figure).map(([name, values]) => [name, chosenAt(name, values)]);
  return data.figures.map((figure, number) => ({...figure, number})).filter(figure =>
    (view.figure === ALL || String(figure.spec) === view.figure) &&
    at.every(([name, value]) => value === ALL || !(name in figure.at) || figure.at[name] === value));
}

const alone = figure => ({figure: String(figure.spec), at: {...figure.at}});

function stepFigure(by) {
  const chosen = chosenFigures();
  const now = chosen.length ? chosen[0].number : 0;
  change(alone(data.figures[(now + (chosen.length > 1 ? 0 : by) + data.figures.length) % data.figures.length]));
}

const lazily = new IntersectionObserver(entries => {
  for (const {isIntersecting, target} of entries) {
    if (!isIntersecting) continue;
    fillImage(target);
    lazily.unobserve(target);
  }
}, {rootMargin: "600px"});

let figuresShown = "";

function showFigures() {
  const key = view.figure + JSON.stringify(view.at);
  if (key === figuresShown) return;
  figuresShown = key;
  const held = document.activeElement && document.activeElement.dataset.of;
  const specs = new Map(data.figures.map(figure => [String(figure.spec), figure.title]));
  const controls = [select("figure", [...(specs.size > 1 ? [[ALL, "all"]] : []), ...specs], specs.has(view.figure) || specs.size > 1 ?
    view.figure : "0", value => change({figure: value}))];
  for (const [name, values] of selectors(view.figure)) {
    controls.push(select(name, [[ALL, "all"], ...values.map(value => [value, value])], chosenAt(name, values),
      value => change({at: {...view.at, [name]: value}})));
  }
  controls.forEach((label, i) => { label.lastChild.dataset.of = "figure" + i; });
  if (data.figures.length > 1) {
    controls.push(make("span", {class: "steps"},
      make("button", {type: "button", click: () => stepFigure(-1), "aria-label": "previous figure", "data-of": "back"}, "\u2039"),
      make("button", {type: "button", click: () => stepFigure(1), "aria-label": "next figure", "data-of": "on"}, "\u203a")));
  }
  const form = byId("figure-controls");
  form.replaceChildren(...controls);
  if (held) form.querySelector(`[data-of="${held}"]`)?.focus();
  const chosen = chosenFigures();
  const gallery = byId("gallery");
  lazily.disconnect();
  gallery.className = chosen.length > 1 ? "many" : "one";
  gallery.replaceChildren(...chosen.map(figure => figureElement(figure, chosen.length)));
  if (!chosen.length) gallery.append(make("p", {class: "note"}, "The study has no figure with these values."));
}

function figureElement(figure, count) {
  const links = Object.entries(figure.files).sort().reverse().map(([format, href]) => make("a", {href}, format.toUpperCase()));
  const caption = make("figcaption", {}, figure.caption + " ", make("span", {class: "formats"}, ...links));
  if (figure.error) return make("figure", {class: "undrawn"}, make("p", {}, "Not drawn: " + figure.error), caption);
  const alt = figure.caption + (figure.labels.length > 1 ? "; lines: " + figure.labels.join(", ") : "");
  const image = make("img", {alt, "data-number": figure.number});
  if (count <= 8) fillImage(image);
  else lazily.observe(image);
  return make("figure", {}, count > 1 ? make("a", {href: address({...view, ...alone(figure)}), "data-figure": figure.number,
    "aria-label": "Show alone: " + figure.caption}, image) : image, caption);
}

/* ---- numbers of runs ---------------------------------------------------------------------------------------------- */

const placeOf = new Map(data.columns.map((column, i) => [column, i]));
const number = (run, column) => placeOf.has(column) ? run.numbers[placeOf.get(column)] : null;
const isDone = run => run.state === "done" || run.state === "saturated";
const stateOf = run => run.state === "done" && run.kinds.length ? run.kinds[0] : run.state;
const kindOf = warning => warning.split(":")[0].replace(/^[\d.]+ /, "");

data.runs.forEach((run, i) => {
  run.index = i;
  run.kinds = run.warnings.map(kindOf);
  run.values = data.variables.map((variable, v) => variable.values[run.at[v]]);
  run.words = [run.name, "seed=" + run.seed, run.state, ...run.warnings, ...run.overrides, ...run.values,
    ...data.variables.map((variable, v) => variable.name + "=" + run.values[v])].join("\n").toLowerCase();
});

const grouped = text => text.replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
const fixed = digits => value => value.toFixed(digits);
const tidy = value => typeof value !== "number" ? String(value) : Number.isInteger(value) ? grouped(String(value)) : String(value);

function withUnit(seconds) {
  for (const [size, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"], [1e-9, "ns"]])
    if (seconds >= size) return `${Number((seconds / size).toPrecision(4))} ${unit}`;
  return `${Number((seconds * 1e12).toPrecision(4))} ps`;
}

/* The table's columns: name in the address, head, value for sorting and CSV, text. */
function tableColumns() {
  const application = view.application;
  const measured = (column, format) => run => {
    const value = isDone(run) ? number(run, column) : null;
    return value === null ? [null, DASH] : [value, format(value)];
  };
  const latency = (column, format) => run => number(run, application + ".saturated") === true ? [null, DASH] :
    measured(application + ".packet_latency." + column, format)(run);
  const of = (column, format) => measured(application + "." + column, format);
  const time = ticks => data.tick === null ? tidy(ticks) : withUnit(ticks * data.tick);
  const round = value => value < 1e5 ? fixed(0)(value) : value.toPrecision(3);
  const columns = [{key: "run", head: "run", of: run => [run.name, run.name]}];
  data.variables.forEach((variable, v) => columns.push({key: "is." + variable.name, head: variable.name,
    of: run => [run.at[v], run.values[v]], raw: run => run.values[v],
    isNumber: variable.values.every(value => value !== "" && !isNaN(value))}));
  columns.push(
    {key: "seed", head: "seed", of: run => [run.seed, String(run.seed)], isNumber: true},
    {key: "state", head: "state", of: run => [stateOf(run), stateOf(run)]},
    {key: "offered", head: "offered", title: "offered load", of: of("offered_load", fixed(4)), isNumber: true},
    {key: "accepted", head: "accepted", title: "accepted load", of: of("accepted_load", fixed(4)), isNumber: true},
    ...(data.jobs[Number(application)] ? [
      {key: "time", head: "time", title: "from its start to its end", of: of("completion_time", time), isNumber: true},
      ...(placeOf.has(application + ".slowdown") ? [
        {key: "alone", head: "alone", title: "the time that its slowdown is measured by", of: of("alone_time", time), isNumber: true},
        {key: "slowdown", head: "slowdown", title: "time beside the others, by time alone", of: of("slowdown", fixed(3)), isNumber: true}] : [])] : [
    {key: "latency", head: "latency", title: "mean packet latency", of: latency("mean", fixed(2)), isNumber: true},
    {key: "ci95", head: "\u00b1", title: "half of the 95 % confidence interval of the mean", of: latency("ci95", fixed(2)), isNumber: true},
    {key: "p50", head: "p50", title: "median packet latency", of: latency("p50", round), isNumber: true},
    {key: "p99", head: "p99", title: "99 % of packets were this quick", of: latency("p99", round), isNumber: true},
    {key: "p99.9", head: "p99.9", title: "99.9 % of packets were this quick", of: latency("p99.9", round), isNumber: true}]),
    {key: "hops", head: "hops", title: "mean hops", of: of("hops.mean", fixed(2)), isNumber: true},
    {key: "busiest", head: "busiest", title: "share of cycles in which the busiest channel carried a flit",
      of: measured("channels.utilisation.max", fixed(3)), isNumber: true},
    {key: "packets", head: "packets", title: "sampled packets that arrived", of: of("packets", value => grouped(String(value))), isNumber: true},
    {key: "seconds", head: "seconds", title: "wall clock time", isNumber: true,
      of: run => run.seconds === null ? [null, DASH] : [run.seconds, run.seconds.toFixed(run.seconds < 100 ? 2 : 0)]});
  return columns;
}

/* ---- the table of runs -------------------------------------------------------------------------------------------- */

let columns = [];
let shown = [];
let rowHeight = 30;
const tableWindow = byId("table-window");
const body = byId("table").tBodies[0];

function chooseRuns() {
  const words = view.search.toLowerCase().split(/\s+/).filter(word => word);
  const fixedValues = Object.entries(view.is).filter(([, value]) => value !== "").map(([name, value]) =>
    [data.variables.findIndex(variable => variable.name === name), value]).filter(([v]) => v >= 0);
  shown = data.runs.filter(run => words.every(word => run.words.includes(word)) &&
    fixedValues.every(([v, value]) => run.values[v] === value) &&
    (view.warning === "" || (view.warning === ALL ? run.kinds.length > 0 : run.kinds.includes(view.warning))));
  const falls = view.sort.startsWith("-");
  const column = columns.find(each => each.key === (falls ? view.sort.slice(1) : view.sort));
  if (!column) return;
  const sorted = shown.map(run => [column.of(run)[0], run]);
  sorted.sort(([a, runA], [b, runB]) => {
    if (a === null || b === null) return (a === null) - (b === null) || runA.index - runB.index; // what has no number: last
    const order = typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b;
    return (falls ? -order : order) || runA.index - runB.index;
  });
  shown = sorted.map(([, run]) => run);
}

const isNarrow = () => innerWidth < 640;
let laidNarrow = false;

/* All columns keep the width that their longest text takes, so that nothing moves while rows come and go. */
function layTable() {
  const table = byId("table");
  const pen = document.createElement("canvas").getContext("2d");
  table.tHead.replaceChildren(make("tr", {"aria-rowindex": 1}, ...columns.map(column => make("th",
    {scope: "col", class: column.isNumber ? "number" : null, "data-key": column.key, "data-head": column.head},
    make("button", {type: "button", title: column.title || null, click: () => sortBy(column.key)}, column.head)))));
  const style = getComputedStyle(table.tHead.rows[0].cells[0]);
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  laidNarrow = isNarrow();
  const widths = columns.map(column => {
    let longest = "";
    for (const run of data.runs) {
      const text = column.of(run)[1];
      if (text.length > longest.length) longest = text;
    }
    const width = Math.max(pen.measureText(column.head).width + 14, pen.measureText(longest).width) + 19;
    return Math.ceil(Math.min(width, column.key === "run" ? (laidNarrow ? 150 : 300) : 220));
  });
  table.style.width = widths.reduce((sum, width) => sum + width, 0) + "px";
  table.querySelector("colgroup").replaceChildren(...widths.map(width => {
    const column = make("col");
    column.style.width = width + "px";
    return column;
  }));
}

function sortBy(key) {
  change({sort: view.sort === key ? "-" + key : view.sort === "-" + key ? "" : key});
}

function markSorted() {
  const falls = view.sort.startsWith("-");
  for (const head of byId("table").tHead.rows[0].cells) {
    if (head.dataset.key === (falls ? view.sort.slice(1) : view.sort)) head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

function rowOf(run, place) {
  const kind = run.state === "done" ? (run.warnings.length ? "warned" : "done") : run.state === "saturated" ? "saturated" :
    run.state === "not run" ? "waiting" : "failed";
  return make("tr", {"aria-rowindex": place + 2, "data-run": run.name, class: kind}, ...columns.map(column => {
    const text = column.of(run)[1];
    if (column.key === "run") return make("th", {scope: "row"}, make("a", {href: address({...view, run: run.name}), "data-run": run.name, title: text}, text));
    return make("td", {class: column.isNumber ? "number" : null, title: text.length > 24 ? text : null}, column.key === "state" ? make("span", {class: "state"}, text) : text);
  }));
}

const spacer = height => {
  const row = make("tr", {class: "spacer", "aria-hidden": "true"}, make("td", {colspan: columns.length}));
  row.firstChild.style.height = height + "px";
  return row;
};

let drawnFrom = -1, drawnTo = -1, printing = false;

/* Draws the rows in sight, and some around them. */
function drawRows(always) {
  const first = Math.floor(tableWindow.scrollTop / rowHeight);
  const count = Math.ceil(tableWindow.clientHeight / rowHeight);
  if (!always && first >= drawnFrom + (drawnFrom ? 5 : 0) && first + count <= drawnTo - (drawnTo < shown.length ? 5 : 0)) return;
  const from = printing ? 0 : Math.max(0, Math.min(first, shown.length - count) - 20);
  const to = printing ? shown.length : Math.min(shown.length, from + count + 40);
  [drawnFrom, drawnTo] = [from, to];
  const held = document.activeElement && body.contains(document.activeElement) ? document.activeElement.dataset.run : null;
  body.replaceChildren(...(from ? [spacer(from * rowHeight)] : []), ...shown.slice(from, to).map((run, i) => rowOf(run, from + i)),
    ...(to < shown.length ? [spacer((shown.length - to) * rowHeight)] : []));
  if (held) body.querySelector(`a[data-run="${CSS.escape(held)}"]`)?.focus({preventScroll: true});
}

tableWindow.addEventListener("scroll", () => requestAnimationFrame(() => drawRows(false)), {passive: true});
addEventListener("resize", () => {
  if (columns.length && isNarrow() !== laidNarrow) {
    layTable();
    markSorted();
  }
  measureRow();
  drawRows(true);
});
addEventListener("beforeprint", () => { printing = true; drawRows(true); });
addEventListener("afterprint", () => { printing = false; drawRows(true); });

function measureRow() {
  const row = body.querySelector("tr[data-run]");
  if (row) rowHeight = row.getBoundingClientRect().height || rowHeight;
}

let controlsMade = false, runsShown = "", applicationShown = "";

function makeRunControls() {
  const counts = new Map();
  for (const run of data.runs) for (const kind of new Set(run.kinds)) counts.set(kind, (counts.get(kind) || 0) + 1);
  const warned = data.runs.filter(run => run.kinds.length).length;
  const form = byId("run-controls");
  form.addEventListener("submit", event => event.preventDefault());
  const example = data.variables.length ? data.variables[0].name + "=" + data.variables[0].values[0] : "seed=1";
  const search = make("input", {type: "search", placeholder: `name, ${example}, saturated \u2026`, autocomplete: "off", spellcheck: "false",
    name: "search", input: () => change({search: search.value})});
  form.append(make("label", {class: "search"}, make("span", {}, "search"), search));
  for (const variable of data.variables) {
    if (variable.values.length < 2) continue;
    const control = select(variable.name, [["", "any"], ...variable.values.map(value => [value, value])], "",
      value => change({is: {...view.is, [variable.name]: value}}));
    control.lastChild.dataset.variable = variable.name;
    form.append(control);
  }
  if (warned) {
    const control = select("warnings", [["", "all runs"], [ALL, `only with warnings (${warned})`],
      ...[...counts].map(([kind, count]) => [kind, `${kind} (${count})`])], "", value => change({warning: value}));
    control.lastChild.name = "warning";
    form.append(control);
  }
  if (data.applications.length > 1) {
    const control = select("application", data.applications.map((name, i) => [String(i), name]), "0", value => change({application: value}));
    control.lastChild.name = "application";
    form.append(control);
  }
  form.append(make("button", {type: "button", class: "reset", click: () =>
    change({search: "", is: {}, warning: "", sort: "", application: "0"})}, "Reset"));
}

function showRuns() {
  if (!controlsMade) makeRunControls();
  controlsMade = true;
  const key = JSON.stringify([view.search, view.is, view.warning, view.sort, view.application]);
  if (key === runsShown) return;
  runsShown = key;
  const form = byId("run-controls");
  if (form.elements.search.value !== view.search) form.elements.search.value = view.search;
  for (const field of form.querySelectorAll("[data-variable]")) field.value = view.is[field.dataset.variable] || "";
  for (const name of ["warning", "application"]) if (form.elements[name]) form.elements[name].value = view[name];
  if (applicationShown !== view.application) {
    applicationShown = view.application;
    columns = tableColumns();
    layTable();
  }
  chooseRuns();
  markSorted();
  byId("table").setAttribute("aria-rowcount", shown.length + 1);
  byId("shown-count").textContent = shown.length === data.runs.length ? `All ${grouped(String(shown.length))} runs` :
    `${grouped(String(shown.length))} of ${grouped(String(data.runs.length))} runs`;
  tableWindow.scrollTop = 0;
  drawRows(true);
  measureRow();
}

function downloadCsv() {
  const quoted = value => value === null ? "" : /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
  const lines = [[...columns.map(column => column.key.replace(/^is\./, "")), "warnings"],
    ...shown.map(run => [...columns.map(column => column.raw ? column.raw(run) : column.of(run)[0]), run.warnings.join("; ")])];
  const url = URL.createObjectURL(new Blob([lines.map(line => line.map(quoted).join(",") + "\n").join("")], {type: "text/csv"}));
  make("a", {href: url, download: data.name + "-runs.csv"}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* ---- one run ------------------------------------------------------------------------------------------------------ */

const dialog = byId("details");
const STATISTICS = ["mean", "ci95", "min", "p50", "p90", "p99", "p99.9", "p99.99", "max"];
const shellWord = word => /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
const commandOf = run => ["flitwarp", ...data.plugins.flatMap(plugin => ["--plugin", plugin]), "run", data.config, ...data.overrides,
  ...run.overrides, ...(data.baseline ? ["--baseline"] : [])].map(shellWord).join(" ");

function table(heads, rows, className) {
  return make("div", {class: "scroll"}, make("table", {class: className}, make("thead", {}, make("tr", {}, ...heads.map((head, i) =>
    make("th", {scope: "col", class: i && className === "statistics" ? "number" : null}, head)))), make("tbody", {}, ...rows)));
}

function detailsOf(run) {
  const place = shown.indexOf(run);
  const step = (by, text, name) => make("button", {type: "button", disabled: !(place >= 0 && shown[place + by]), "aria-label": name,
    click: () => change({run: shown[place + by].name})}, text);
  const parts = [make("div", {class: "bar-top"}, make("h2", {id: "details-title"}, run.name),
    make("span", {class: "steps"}, step(-1, "\u2039", "previous run"), step(1, "\u203a", "next run"),
      make("button", {type: "button", "aria-label": "close", click: () => change({run: ""})}, "\u00d7")))];
  const facts = [...data.variables.map((variable, v) => [variable.name, run.values[v]]), ["seed", run.seed], ["state", stateOf(run)]];
  if (run.seconds !== null) facts.push(["time", `${run.seconds.toFixed(2)} s` + (run.cpu === null ? "" : `, CPU ${run.cpu.toFixed(2)} s`)]);
  if (run.attempts > 1) facts.push(["attempts", run.attempts]);
  parts.push(make("dl", {class: "chips"}, ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value))))));
  if (run.warnings.length) parts.push(make("ul", {class: "warnings"}, ...run.warnings.map(warning => make("li", {}, warning))));
  if (run.message !== null) parts.push(make("h3", {}, "What it printed"), make("pre", {tabindex: 0}, data.messages[run.message]));
  parts.push(make("h3", {}, "Repeat it"), commandElement(run));
  data.applications.forEach((name, i) => {
    if (run.bars[i] && run.bars[i].length) parts.push(make("h3", {}, data.applications.length > 1 ? `Packet latency of ${name}` : "Packet latency"),
      histogram(run, i));
  });
  if (run.busiest.length) parts.push(make("h3", {}, "Busiest channels"), table(["from router", "to router", "class", "utilisation"],
    run.busiest.map(row => make("tr", {}, ...row.map((value, i) => make("td", {class: i === 3 ? "number" : null}, String(value))))), "settings"));
  parts.push(...numbersOf(run), ...settingsOf(run));
  return parts;
}

function commandElement(run) {
  const code = make("pre", {class: "command", tabindex: 0}, commandOf(run));
  const button = make("button", {type: "button", click: async () => {
    getSelection().selectAllChildren(code);
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected";
    }
  }}, "Copy");
  return make("div", {class: "command"}, code, button);
}

function settingsOf(run) {
  const first = data.runs[0];
  const rows = data.settings.map(({path, values}, i) => [path, values[first.settings[i]], values[run.settings[i]]])
    .filter(([, before, now]) => before !== now)
    .map(([path, before, now]) => make("tr", {}, make("th", {scope: "row"}, make("code", {}, path)), make("td", {}, before), make("td", {}, now)));
  const overrides = [...data.overrides, ...run.overrides].map(each => {
    const [path, ...value] = each.split("=");
    return make("tr", {}, make("th", {scope: "row"}, make("code", {}, path)), make("td", {}, value.join("=")));
  });
  const parts = [make("h3", {}, "Settings that differ from the first run"), run === first ? make("p", {class: "note"}, "This is the first run.") :
    rows.length ? table(["setting", first.name, "this run"], rows, "settings") : make("p", {class: "note"}, "None.")];
  if (overrides.length) parts.push(make("h3", {}, "Overrides"), table(["setting", "value"], overrides, "settings"));
  return parts;
}

/* All numbers: what has a mean as rows of statistics, the rest as a list. */
function numbersOf(run) {
  const parts = [];
  const sections = [...data.applications.map((name, i) => [String(i), data.applications.length > 1 ? `Numbers of ${name}` : "Numbers"]),
    ["channels", "Channels"], ["simulation", "Simulation"]];
  for (const [prefix, title] of sections) {
    const here = data.columns.filter(column => column.startsWith(prefix + ".") && number(run, column) !== null);
    const blocks = here.filter(column => column.endsWith(".mean")).map(column => column.slice(0, -5));
    const isStatistic = column => blocks.some(block => column.startsWith(block + ".") && STATISTICS.includes(column.slice(block.length + 1)));
    const kept = STATISTICS.filter(name => blocks.some(block => here.includes(block + "." + name)));
    const rows = blocks.map(block => make("tr", {}, make("th", {scope: "row"}, block.slice(prefix.length + 1).replaceAll("_", " ")),
      ...kept.map(name => {
        const value = number(run, block + "." + name);
        return make("td", {class: "number"}, value === null ? "" : Number.isInteger(value) ? tidy(value) : String(Number(value.toPrecision(5))));
      })));
    const rest = here.filter(column => !isStatistic(column)).map(column => make("div", {},
      make("dt", {}, column.slice(prefix.length + 1).replaceAll("_", " ").replaceAll(".", ": ")), make("dd", {}, tidy(number(run, column)))));
    if (!rows.length && !rest.length) continue;
    parts.push(make("h3", {}, title));
    if (prefix === "0" && !isDone(run)) parts.push(make("p", {class: "note"}, "As far as they were measured."));
    if (rows.length) parts.push(table(["", ...kept.map(name => name === "ci95" ? "\u00b1 95 %" : name)], rows, "statistics"));
    if (rest.length) parts.push(make("dl", {class: "numbers"}, ...rest));
  }
  return parts;
}

/* Bars of latency with the percentiles that matter. */
function histogram(run, application) {
  const [low, width, beyond, ...counts] = run.bars[application];
  const most = Math.max(...counts), high = low + width * counts.length;
  const [W, H, BASE, TOP] = [640, 210, 176, 38];
  const x = tick => (tick - low) / (high - low) * W;
  const draw = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const total = counts.reduce((sum, count) => sum + count, beyond);
  const svg = draw("svg", {viewBox: `0 0 ${W} ${H}`, class: "histogram", role: "img", "aria-label":
    `Packet latency from ${low} to ${high} ticks, ${total} packets`});
  counts.forEach((count, i) => {
    const height = count / most * (BASE - TOP);
    const bar = draw("rect", {x: W * i / counts.length, width: W / counts.length - (counts.length > 4 ? 1 : 2), y: BASE - height, height});
    const ticks = width > 1 ? `${low + i * width} to ${low + (i + 1) * width - 1} ticks` : `${low + i} ticks`;
    bar.append(draw("title", {}, `${ticks}: ${grouped(String(count))} packets`));
    svg.append(bar);
  });
  svg.append(draw("line", {x1: 0, x2: W, y1: BASE, y2: BASE, class: "axis"}));
  const size = matchMedia("(max-width: 40rem)").matches ? 24 : 14; // of letters, as page.css has it
  /* Of texts in a line: each at its place, as far as it stays inside and clear of those that came before. */
  const line = (y, attributes) => {
    const taken = [];
    return (place, text) => {
      const wide = 0.6 * size * text.length, left = Math.max(0, Math.min(place - wide / 2, W - wide));
      if (taken.some(([from, to]) => left < to + size / 2 && from < left + wide + size / 2)) return;
      taken.push([left, left + wide]);
      const anchor = left === 0 ? {x: 0, "text-anchor": "start"} : left === W - wide ? {x: W, "text-anchor": "end"} : {x: place, "text-anchor": "middle"};
      svg.append(draw("text", {y, ...anchor, ...attributes}, text));
    };
  };
  const onAxis = line(H - 8, {}), onMarks = line(TOP - 13, {class: "mark"});
  for (const i of [0, 4, 2, 1, 3]) onAxis(W * i / 4, String(Math.round(low + (high - low) * i / 4)) + (i === 4 ? " ticks" : ""));
  for (const name of ["p50", "p99", "p99.9"]) {
    const at = number(run, `${application}.packet_latency.${name}`);
    if (at === null || at > high) continue;
    const place = x(Math.min(at + 0.5, high));
    svg.append(draw("line", {x1: place, x2: place, y1: TOP - 6, y2: BASE, class: "mark"}));
    onMarks(place, name);
  }
  return make("figure", {class: "small"}, svg, make("figcaption", {}, `${grouped(String(total))} packets` +
    (beyond ? `; the slowest ${grouped(String(beyond))} lie beyond the right edge` : "")));
}

let runShown = "";

function showDetails() {
  if (view.run === runShown) return;
  runShown = view.run;
  const run = data.runs.find(each => each.name === view.run);
  if (!run) {
    if (dialog.open) dialog.close();
    return;
  }
  const held = dialog.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  dialog.replaceChildren(make("div", {class: "content"}, ...detailsOf(run)));
  dialog.scrollTop = 0;
  if (!dialog.open) dialog.showModal();
  const wanted = held && dialog.querySelector(`button[aria-label="${held}"]:not(:disabled)`);
  (wanted || dialog.querySelector("button[aria-label=close]")).focus();
}

dialog.addEventListener("close", () => { if (view.run) change({run: ""}); });
dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });

/* ---- links, tables that sort, and the beginning ------------------------------------------------------------------- */

/* Links into the view change it and keep the rest of it; links to sections keep all of it. */
document.addEventListener("click", event => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const row = event.target.closest("tr[data-run]");
  const link = event.target.closest("a[href^='#']");
  if (!link) {
    if (row && !getSelection().toString()) change({run: row.dataset.run}, true);
    return;
  }
  const said = new URLSearchParams(link.hash.slice(1));
  event.preventDefault();
  if (link.dataset.figure) {
    change(alone(data.figures[Number(link.dataset.figure)]), true);
    byId("figures").scrollIntoView();
  } else if (said.has("run")) {
    change({run: said.get("run")}, true);
  } else if (said.has("warning")) {
    change({search: "", is: {}, warning: said.get("warning")}, true);
    byId("runs").scrollIntoView();
  } else {
    byId(link.hash.slice(1))?.scrollIntoView();
  }
});

for (const sortable of document.querySelectorAll("table.sortable")) {
  const heads = [...sortable.tHead.rows[0].cells];
  const rows = [...sortable.tBodies[0].rows];
  const valueOf = (row, i) => {
    const text = row.cells[i].dataset.value ?? row.cells[i].textContent;
    return text === "" ? null : isNaN(text) ? text : Number(text);
  };
  heads.forEach((head, i) => {
    if (!head.textContent || head.querySelector(".unseen")) return;
    head.replaceChildren(make("button", {type: "button", click: () => {
      const falls = head.getAttribute("aria-sort") === "ascending";
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      const keyed = rows.map(row => [valueOf(row, i), row]);
      keyed.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) :
        (falls ? -1 : 1) * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true})));
      sortable.tBodies[0].append(...keyed.map(([, row]) => row));
    }}, head.textContent));
  });
}

function show() {
  if (data.figures.length) showFigures();
  if (data.runs.length) showRuns();
  showDetails();
}

byId("download").addEventListener("click", downloadCsv);
byId("figure-controls").addEventListener("submit", event => event.preventDefault());
addEventListener("popstate", () => { view = readAddress(); show(); });
byId("figures").hidden = !data.figures.length;
byId("runs").hidden = !data.runs.length;
view = readAddress();
show();
const target = location.hash.slice(1);
const section = target && !target.includes("=") ? target : view.warning || view.search || view.sort || Object.keys(view.is).length ? "runs" :
  view.figure !== defaults().figure || Object.keys(view.at).length ? "figures" : "";
if (section) byId(section)?.scrollIntoView({behavior: "instant"});
})();
