// The view `maps`: citations and concepts of the collection as pictures, with a table as their equal.
//
// `#/maps/COLLECTION?kind=citations|concepts&colour=year|community&from=&to=&find=&node=&theme=&unlinked=no`

import { json } from "../api.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { MapView } from "./map_view.js";
import { segments } from "./controls.js";
import "./words.js";

const KINDS = ["citations", "concepts"];
const graphs = new Map();

export async function show(context) {
  const { name, info, params } = context;
  const kind = KINDS.includes(params.get("kind")) ? params.get("kind") : "citations";
  if (kind === "concepts" && info.level < 1) return without(context, kind, t("map_level", name));
  const [graph, theme] = await Promise.all([graphOf(info, kind), themeOf(name, params.get("theme"))]);
  if (!graph.ids.length) return without(context, kind, t("map_empty"));
  return new MapView(context, graph, theme, kinds(name, kind)).element;
}

export function arrived() {
  scrollTo(0, 0);
}

function without({ name }, kind, told) {
  return h("div", { class: "column" }, h("h1", { tabindex: "-1" }, t("maps")), kinds(name, kind), h("p", { class: "pad-top" }, told));
}

function kinds(name, chosen) {
  return segments(t("map_kind"), KINDS.map((kind) => [kind, t(`map_${kind}`), { href: `#/maps/${encodeURIComponent(name)}?kind=${kind}` }]), chosen);
}

// Kept while the snapshot is the same: the picture is there at once when one comes back.
async function graphOf(info, kind) {
  const key = `${info.snapshot_id} ${kind}`;
  if (!graphs.has(key)) {
    const query = new URLSearchParams({ collection: info.collection, kind });
    const graph = await json(`/map?${query}`);
    graph.alike = Uint8Array.from(graph.sources, (_, edge) => (edge < graph.certain ? 0 : 1));
    if (graphs.size > 5) graphs.clear();
    graphs.set(key, graph);
  }
  return graphs.get(key);
}

// The theme whose papers and words are to stand out.
async function themeOf(name, id) {
  if (!id) return null;
  return json(`/themes/${encodeURIComponent(id)}?${new URLSearchParams({ collection: name })}`).catch(() => null);
}
