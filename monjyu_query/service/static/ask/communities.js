// Where a lazy search looked: each community as large as the passages tested in it, as dark as many were relevant. Every
// rectangle leads to its theme; the list beneath says the same in words.

import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";
import { svg } from "./concepts.js";
import "./words.js";

const [WIDE, NARROW, SMALLEST] = [[720, 260], [350, 360], 26]; // CSS pixels, so that words have their usual size
const [LETTER, LINE] = [7.2, 15];

export function communitiesMap(communities, collection) {
  const shown = communities.filter((one) => one.tested > 0).sort((a, b) => b.tested - a.tested);
  if (!shown.length) return null;
  const [width, height] = matchMedia("(max-width: 38rem)").matches ? NARROW : WIDE;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "treemap", role: "group", "aria-label": t("communitiesMap") });
  for (const [one, box] of squarified(shown, (each) => each.tested, width, height)) picture.append(tile(one, box, collection));
  return h("figure", { class: "communities" }, picture,
    h("figcaption", { class: "dim" }, t("communitiesHint")),
    h("details", {}, h("summary", {}, t("asList")), h("ul", {}, shown.map((one) => h("li", {},
      h("a", { href: themeLink(one, collection) }, quoted(one.title || one.id)), `: ${t("hits", one.relevant, one.tested)}`)))));
}

function themeLink(one, collection) {
  return `#/themes/${encodeURIComponent(collection)}/${encodeURIComponent(one.id)}`;
}

function tile(one, [x, y, width, height], collection) {
  const share = one.relevant / one.tested;
  const shade = one.relevant ? Math.min(4, 1 + Math.floor(share * 8)) : 0;
  const link = svg("a", { href: themeLink(one, collection), class: `tile shade-${shade}`, "aria-label": `${one.title || one.id}: ${t("hits", one.relevant, one.tested)}` });
  const title = svg("title", {});
  title.textContent = `${one.title || one.id}\n${t("hits", one.relevant, one.tested)}`;
  link.append(title, svg("rect", { x: x + 1, y: y + 1, width: Math.max(1, width - 2), height: Math.max(1, height - 2), rx: 4 }));
  if (width < 2 * SMALLEST || height < SMALLEST) return link;
  const lines = wrapped(one.title, Math.floor((width - 12) / LETTER)).slice(0, Math.floor((height - 10) / LINE));
  const room = lines.length < Math.floor((height - 10) / LINE);
  for (const [n, words] of [...lines, ...(room ? [`${one.relevant} / ${one.tested}`] : [])].entries()) {
    const text = svg("text", { x: x + 8, y: y + 18 + n * LINE, "aria-hidden": "true", class: n === lines.length ? "count" : "" });
    text.textContent = words;
    link.append(text);
  }
  return link;
}

// Words on lines of so many letters; wide letters count twice.
function wrapped(text, most) {
  const lines = [""];
  for (const word of text.match(/[\u3000-\u9fff\uff00-\uffef]|[^\s\u3000-\u9fff\uff00-\uffef]+\s*/g) ?? []) {
    if (lines.at(-1) && span(lines.at(-1) + word.trimEnd()) > most) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines.map((line) => (span(line.trimEnd()) > most ? `${line.slice(0, Math.max(1, most - 1))}…` : line.trimEnd()));
}

function span(text) {
  return [...text].reduce((sum, letter) => sum + (letter > "\u2e80" ? 2 : 1), 0);
}

// Squarified treemaps (Bruls, Huizing, van Wijk, 2000): rows along the shorter side, as long as the squares get squarer.
function squarified(items, weight, width, height) {
  const total = items.reduce((sum, one) => sum + weight(one), 0);
  const areas = items.map((one) => [one, (weight(one) * width * height) / total]);
  const placed = [];
  let [x, y, w, hgt] = [0, 0, width, height];
  while (areas.length) {
    const side = Math.min(w, hgt);
    let count = 1;
    while (count < areas.length && worst(areas.slice(0, count + 1), side) <= worst(areas.slice(0, count), side)) count += 1;
    const row = areas.splice(0, count);
    const thick = row.reduce((sum, [, area]) => sum + area, 0) / side;
    let along = 0;
    for (const [one, area] of row) {
      const long = area / thick;
      placed.push([one, w >= hgt ? [x, y + along, thick, long] : [x + along, y, long, thick]]);
      along += long;
    }
    if (w >= hgt) [x, w] = [x + thick, w - thick];
    else [y, hgt] = [y + thick, hgt - thick];
  }
  return placed;
}

function worst(row, side) {
  const sum = row.reduce((all, [, area]) => all + area, 0);
  return Math.max(...row.map(([, area]) => Math.max((side * side * area) / (sum * sum), (sum * sum) / (side * side * area))));
}
