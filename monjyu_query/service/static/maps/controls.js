// What stands above a map: what is drawn, how it is coloured, which years, which words; and what the colours mean.

import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { middle } from "./colours.js";

// One of a few, as links or buttons in a row: `choices` are [value, label, properties].
export function segments(label, choices, chosen) {
  return h("div", { class: "segments", role: "group", "aria-label": label }, choices.map(([value, name, properties]) => {
    const current = value === chosen ? { "aria-current": "true" } : {};
    return properties.href ? h("a", { ...properties, ...current }, name) : h("button", { type: "button", ...properties, "aria-pressed": String(value === chosen) }, name);
  }));
}

// Two handles on one line over the number of nodes of each year.
export function yearRange(graph, span, state, changed) {
  const [first, last] = span;
  const counts = new Map();
  for (const years of graph.years) {
    const year = middle(years);
    if (year !== null) counts.set(year, (counts.get(year) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  const bars = Array.from({ length: last - first + 1 }, (_, n) => {
    const bar = h("i");
    bar.style.height = `${Math.max(counts.has(first + n) ? 8 : 0, (100 * (counts.get(first + n) ?? 0)) / most)}%`;
    return bar;
  });
  const told = h("output", { class: "years-told" });
  const slider = (label, value, name) => h("input", { type: "range", min: first, max: last, step: 1, value, "aria-label": t(label), oninput: (event) => slide(name, event.target) });
  const from = slider("map_from", state.from ?? first, "from");
  const to = slider("map_to", state.to ?? last, "to");
  const tell = () => {
    told.textContent = t("map_years", from.value, to.value);
    bars.forEach((bar, n) => bar.classList.toggle("out", first + n < Number(from.value) || first + n > Number(to.value)));
  };
  const slide = (name, moved) => {
    if (Number(from.value) > Number(to.value)) moved.value = name === "from" ? to.value : from.value;
    state.from = Number(from.value) > first ? Number(from.value) : null;
    state.to = Number(to.value) < last ? Number(to.value) : null;
    tell();
    changed();
  };
  tell();
  return h("div", { class: "years", role: "group", "aria-label": t("map_year") }, h("div", { class: "bars", "aria-hidden": "true" }, bars), h("div", { class: "sliders" }, from, to), told);
}

// `light(place or null)`: has the nodes of a community stand out; `themeLink(place)`: where its report is.
export function legend(graph, colour, colours, span, lit, light, themeLink) {
  const list = h("div", { class: "legend", role: "group", "aria-label": t("map_legend") });
  if (colour === "year") {
    if (!span) return list;
    const run = h("span", { class: "run", "aria-hidden": "true" }, colours.node.slice(0, -1).map((one) => spot(one)));
    return replace(list, h("span", {}, String(span[0])), run, h("span", {}, String(span[1])), graph.years.some((years) => !years.length) ? [spot(colours.node.at(-1)), h("span", {}, t("map_unknown"))] : null);
  }
  const others = graph.communities.filter((place) => place < 0).length;
  return replace(list, graph.named.map((one, place) => [h("button", {
    type: "button", class: "chip", "aria-pressed": String(lit === place), onclick: () => light(lit === place ? null : place),
  }, spot(colours.node[place]), quoted(one.name), h("span", { class: "dim" }, String(one.size))), lit === place ? h("a", { class: "chip to-theme", href: themeLink(place) }, t("map_open_theme")) : null]),
  others ? h("span", { class: "chip still" }, spot(colours.node.at(-1)), t("map_other"), h("span", { class: "dim" }, String(others))) : null);
}

export function spot(colour) {
  const drawn = h("i", { class: "spot", "aria-hidden": "true" });
  drawn.style.background = colour;
  return drawn;
}
