// The place of a paper among the others: who cites it, what it cites, and papers like it, each with why.

import { post } from "../api.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { paperLink } from "./shared.js";
import { openCitation } from "./viewer.js";

const MOST = 10;
const DAMPING = 10; // of reciprocal ranks: how much the first of a list counts more than the tenth

// `id` is the paper whose place it is. The words in which a paper cites another open where they stand.
export function network(links, id, collection) {
  const group = (name, papers) => h("section", { class: "half" }, h("h2", { id: `part-${name}`, tabindex: "-1" }, t(name, papers.length)),
    papers.length ? h("ul", { class: "linked" }, papers.map((paper) => h("li", {}, paperLink(paper, collection), year(paper),
      (paper.contexts ?? []).slice(0, 2).map((one) => h("blockquote", {}, citing(one.context, name === "citedBy" ? paper.paper_id : id, collection)))))) : h("p", { class: "dim" }, t("none")));
  return h("div", { class: "network" }, group("citedBy", links.cited_by), group("cites", links.cites));
}

function citing(context, from, collection) {
  const note = h("span", { class: "dim", role: "status" });
  const told = (text) => replace(note, ` ${text}`);
  const open = h("button", { type: "button", class: "link", title: t("openPlace"), onclick: async () => {
    try {
      const { places } = await post("/locate", { quote: context, collection });
      const place = places.find((one) => one.paper_id === from);
      if (place) await openCitation({ ...place, quote: place.text }, collection, open);
      else told(t("noPlace"));
    } catch (error) {
      told(error.message);
    }
  } }, quoted(context));
  return [open, note];
}

// Papers like it by their text, by works that both cite, and by papers that cite both: one list, the best by the sum of
// reciprocal ranks in the three.
export function similar(details, links, collection) {
  const found = new Map();
  const lists = [[details.similar, () => t("likeText")], [links.coupled, (one) => t("likeCoupled", one.count)], [links.co_cited, (one) => t("likeCited", one.count)]];
  for (const [papers, why] of lists) {
    papers.forEach((one, place) => {
      const held = found.get(one.paper_id) ?? { paper: one, score: 0, why: [] };
      held.score += 1 / (DAMPING + place);
      held.why.push(why(one));
      found.set(one.paper_id, held);
    });
  }
  const best = [...found.values()].sort((a, b) => b.score - a.score).slice(0, MOST);
  if (!best.length) return null;
  return h("section", { class: "similar" }, h("h2", { id: "part-similar", tabindex: "-1" }, t("similar")), h("ul", { class: "linked" }, best.map((one) => h("li", {}, paperLink(one.paper, collection), year(one.paper),
    h("div", { class: "dim why" }, one.why.join(" · "))))));
}

function year(paper) {
  return paper.year ? h("span", { class: "dim" }, ` ${paper.year}`) : null;
}
