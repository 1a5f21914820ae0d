// What is known of the node that was chosen: its facts, its neighbours, where it leads.

import { json } from "../api.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { spot } from "./controls.js";

const MOST = 12;

// `acts`: choose(node), link(node), themeLink(place), ask(node).
export function panelOf(graph, neighbours, node, colours, context, acts) {
  const community = graph.named[graph.communities[node]];
  const papers = graph.kind === "citations";
  const years = graph.years[node];
  const facts = [years.length ? t("map_years", String(years[0]), String(years.at(-1))) : null, t(papers ? "map_cited_n" : "map_passages_n", graph.sizes[node])].filter(Boolean).join(" · ");
  const actions = papers
    ? [h("a", { class: "button primary", href: acts.link(node) }, t("map_open")), h("button", { type: "button", onclick: () => acts.ask(node) }, t("map_ask"))]
    : [community ? h("a", { class: "button primary", href: acts.themeLink(graph.communities[node]) }, t("map_open_theme")) : null];
  return h("aside", { class: "map-panel", "aria-labelledby": "map-chosen" },
    h("header", {}, h("h2", { id: "map-chosen", tabindex: "-1" }, quoted(graph.labels[node])),
      h("button", { type: "button", class: "quiet close", "aria-label": t("map_close"), onclick: () => acts.choose(-1) }, "×")),
    papers && !/^[“「]/.test(graph.names[node]) ? h("p", { class: "by" }, quoted(graph.names[node])) : null,
    h("p", { class: "dim" }, facts),
    community ? h("p", { class: "of-theme" }, spot(colours.node[graph.communities[node]] ?? colours.dim), h("a", { href: acts.themeLink(graph.communities[node]) }, quoted(community.name))) : null,
    h("div", { class: "row" }, actions),
    papers ? linkedPapers(graph, neighbours, node, acts) : [group("map_near", neighbours.map(([other]) => other), graph, acts), speaking(graph.ids[node], context)]);
}

function linkedPapers(graph, neighbours, node, acts) {
  const kinds = { map_cites: [], map_cited: [], map_alike: [] };
  for (const [other, edge] of neighbours) {
    kinds[graph.alike[edge] ? "map_alike" : graph.sources[edge] === node ? "map_cites" : "map_cited"].push(other);
  }
  return Object.entries(kinds).map(([name, nodes]) => group(name, nodes, graph, acts));
}

function group(name, nodes, graph, acts) {
  if (!nodes.length) return null;
  const unique = [...new Set(nodes)];
  return h("section", {}, h("h3", {}, t(name), h("span", { class: "dim" }, ` ${unique.length}`)),
    h("ul", { class: graph.kind === "concepts" ? "chips" : "plain" }, unique.slice(0, MOST).map((other) => h("li", {},
      h("button", { type: "button", class: graph.kind === "concepts" ? "chip" : "link", onclick: () => acts.choose(other) }, quoted(graph.labels[other]))))));
}

// The papers that speak of a concept, fetched when it is chosen.
function speaking(phrase, { name, signal }) {
  const list = h("div", { class: "speaking" }, h("span", { class: "skeleton w85" }), h("span", { class: "skeleton w60" }));
  const query = new URLSearchParams({ collection: name, phrase });
  json(`/map/papers?${query}`).then(({ papers }) => {
    if (signal.aborted) return;
    replace(list, h("ul", { class: "plain" }, papers.slice(0, MOST).map((paper) => h("li", {},
      h("a", { href: `#/paper/${encodeURIComponent(name)}/${encodeURIComponent(paper.paper_id)}` }, quoted(paper.title)),
      h("span", { class: "dim" }, ` ${[paper.year, t("map_times", paper.mentions)].filter(Boolean).join(" · ")}`)))));
  }).catch((error) => replace(list, h("p", { class: "error" }, error.message)));
  return h("section", {}, h("h3", {}, t("map_in")), list);
}
