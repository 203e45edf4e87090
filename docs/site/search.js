/* SPDX-License-Identifier: Apache-2.0 */
/* SECTIONS, [page, heading, address, text] of each, stands before this. */
const query = document.getElementById("query");
const found = document.getElementById("found");
const pages = document.getElementById("pages");
const MOST = 30;

/* How well a section fits: all words must be there; those in its heading or its page's count most. -1: it does not fit. */
function fit([page, heading, , text], words) {
  const titles = `${page} ${heading}`.toLowerCase();
  const whole = `${titles} ${text.toLowerCase()}`;
  let sum = 0;
  for (const word of words) {
    if (!whole.includes(word)) return -1;
    sum += heading.toLowerCase().includes(word) ? 20 : titles.includes(word) ? 8 : 0;
    sum += Math.min(5, whole.split(word).length - 1);
  }
  return sum;
}

function around(text, word) {
  const at = text.toLowerCase().indexOf(word);
  const begin = Math.max(0, at - 40);
  return (begin ? "… " : "") + text.slice(begin, begin + 120) + (begin + 120 < text.length ? " …" : "");
}

function element(kind, text) {
  const made = document.createElement(kind);
  made.textContent = text;
  return made;
}

function search() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = !words.length;
  pages.hidden = !found.hidden;
  found.replaceChildren();
  if (!words.length) return;
  const fits = SECTIONS.map((section) => [fit(section, words), section]).filter(([sum]) => sum >= 0);
  fits.sort(([a], [b]) => b - a);
  found.append(element("p", fits.length ? `${fits.length} section${fits.length > 1 ? "s" : ""}` : "Nothing found. Try fewer or shorter words."));
  for (const [, [page, heading, address, text]] of fits.slice(0, MOST)) {
    const link = element("a", page === heading ? page : `${page}: ${heading}`);
    link.href = `${document.body.dataset.root}/${address}`;
    link.append(element("small", around(text, words[0])));
    found.append(link);
  }
}

query.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== query) {
    event.preventDefault();
    query.focus();
  } else if (event.key === "Escape") {
    query.value = "";
    search();
  } else if (event.key === "Enter" && document.activeElement === query) {
    found.querySelector("a")?.click();
  }
});
