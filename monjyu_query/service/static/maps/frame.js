// What stands around the picture of a map: its head, notes, legend, tip, buttons, panel and table.

import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";
import { yearRange } from "./controls.js";
import { zoomButtons } from "./hands.js";
import { MapTable } from "./table.js";

// Gives the map view its elements.
export function build(view) {
  const { graph } = view;
  view.told = h("div", { class: "map-tip", hidden: true, "aria-hidden": "true" });
  view.side = h("div", { class: "map-side" });
  view.legend = h("div");
  view.waiting = h("p", { class: "map-waiting", role: "status" }, t("map_arranging"));
  view.nothing = h("p", { class: "map-waiting", hidden: true }, t("map_none"));
  const words = { nearer: t("map_nearer"), further: t("map_further"), whole: t("map_whole") };
  const zoom = h("div", { class: "map-zoom", role: "group" }, zoomButtons(view.picture, view.acts, words).map(([sign, name, act]) => h("button", { type: "button", "aria-label": name, title: name, onclick: act }, sign)));
  view.table = new MapTable(graph, view.degrees, view.acts);
  view.stage = h("div", { class: "map-stage" }, view.canvas, h("p", { class: "map-keys", "aria-hidden": "true" }, t("map_keys")), view.legend, view.waiting, view.nothing, view.told, zoom, view.side);
  view.element = h("div", { class: "maps" },
    h("div", { class: "map-head" }, h("h1", { tabindex: "-1" }, t("maps")), view.kinds, controls(view),
      h("a", { class: "to-table", href: "#map-table", onclick: (event) => toTable(event, view.table.element) }, t("map_to_table"))),
    h("p", { class: "map-line dim" }, t(graph.kind === "citations" && graph.level < 1 ? "map_line_citations_0" : `map_line_${graph.kind}`), " ", notes(view)),
    view.stage, view.table.element);
}

function controls(view) {
  const find = h("input", { id: "map-find", type: "search", maxlength: 200, autocomplete: "off", value: view.state.text, placeholder: t("map_search"), "aria-label": t("map_search"), oninput: () => view.filter({ text: find.value.trim() }) });
  view.find = find;
  view.colouring = h("div");
  const years = view.span && view.span[0] < view.span[1] ? yearRange(view.graph, view.span, view.state, () => view.filter({})) : null;
  return [view.colouring, years, find];
}

function notes(view) {
  const { graph, theme } = view;
  const cut = graph.total > graph.ids.length ? t("map_truncated", graph.ids.length, graph.total) : null;
  const toggle = graph.unlinked ? h("label", { class: "map-unlinked" }, t("map_unlinked", graph.unlinked), ": ",
    h("input", { type: "checkbox", checked: view.state.unlinked, onchange: (event) => view.filter({ unlinked: event.target.checked }) }), " ", t("map_show_unlinked")) : null;
  const only = theme ? h("span", { class: "chip still" }, quoted(t("map_only", theme.theme.title)),
    h("button", { type: "button", class: "quiet small", "aria-label": t("map_reset"), onclick: (event) => view.whole(event.target.parentElement) }, "×")) : null;
  return [cut, cut ? " " : null, toggle, only ? " " : null, only];
}

function toTable(event, table) {
  event.preventDefault();
  table.focus();
  table.scrollIntoView({ block: "start" });
}
