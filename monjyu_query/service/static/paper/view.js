// The view `paper`: one with its sections, references and its place in the citation network.

import { json, paperPath } from "../api.js";
import { h, quoted, say } from "../dom.js";
import { t } from "../i18n.js";
import { listed, paperLink, parted } from "./shared.js";
import { corrections } from "./correct.js";
import { known, loadDetails } from "./details.js";
import { reader } from "./reader.js";
import { loadPaper, openCitation } from "./viewer.js";
import "./words.js";

const MOST_TOGETHER = 8;

export async function show({ name: collection, ask, params, signal, who }, id) {
  const [paper, links, details] = await Promise.all([
    loadPaper(id, collection),
    json(paperPath(id, `/citations?collection=${encodeURIComponent(collection)}`)),
    loadDetails(id, collection),
  ]);
  const facts = [paper.publication_date, paper.venue && quoted(paper.venue), paper.doi && quoted(paper.doi), paper.page_count ? t("pages", paper.page_count) : paper.document_type];
  const open = (page) => (event) => openCitation({ paper_id: id, paper_title: paper.title, page, sentence_ids: [] }, collection, event.currentTarget);
  say(paper.title);
  return h("article", { class: "column paper" },
    h("p", {}, h("a", { href: `#/papers/${encodeURIComponent(collection)}` }, `‹ ${t("back")}`)),
    h("h1", { tabindex: "-1" }, quoted(paper.title || id)),
    h("p", { class: "authors" }, listed(paper.authors.map((author) => author.name))),
    h("p", { class: "dim" }, parted(facts)),
    links.notices.length ? h("ul", { class: "warnings" }, links.notices.map(notice)) : null,
    h("div", { class: "row" },
      h("button", { type: "button", class: "primary", onclick: () => ask({ paper_ids: [id] }, paper.title || id) }, t("askThis")),
      h("button", { type: "button", onclick: open(["pdf", "image"].includes(paper.document_type) ? 1 : null) }, t("open"))),
    links.records.length ? h("section", {}, h("h2", {}, t("told")), h("ul", { class: "told" }, links.records.map(told))) : null,
    paper.abstract ? h("section", {}, h("h2", {}, t("abstract")), h("p", { class: "text" }, paper.abstract)) : null,
    network(links, collection),
    reader(paper, id, collection, { signal, page: Number(params.get("page")) || null }),
    known(paper, details, id, collection),
    corrections(id, collection, who, Object.fromEntries(details.fields.map((one) => [one.field, one.value]))));
}

function notice(one) {
  const told = [t(`notice_${one.kind}`), one.date, one.source, one.notice_doi && quoted(one.notice_doi), one.reasons.length ? quoted(one.reasons.join("; ")) : null];
  return h("li", {}, parted(told));
}

function told(one) {
  const facts = [one.source, one.citation_count === null ? null : t("citedTimes", one.citation_count), one.venue && quoted(one.venue), one.year, one.doi && quoted(one.doi),
    one.open_access ? `${t("access")}: ${one.open_access}` : null, one.fields.length ? quoted(one.fields.slice(0, 3).join(", ")) : null,
    ...one.shelves.slice(0, 5).map(quoted), one.tags.length ? quoted(one.tags.slice(0, 12).map((tag) => `#${tag}`).join(" ")) : null];
  return h("li", { class: "dim" }, parted(facts));
}

function network(links, collection) {
  const group = (name, papers) => h("section", { class: "half" }, h("h2", {}, t(name, papers.length)),
    papers.length ? h("ul", { class: "linked" }, papers.map((paper) => h("li", {}, paperLink(paper, collection), paper.year ? h("span", { class: "dim" }, ` ${paper.year}`) : null,
      (paper.contexts ?? []).slice(0, 2).map((one) => h("blockquote", {}, one.context))))) : h("p", { class: "dim" }, t("none")));
  const together = links.co_cited.slice(0, MOST_TOGETHER);
  return h("div", { class: "network" }, group("citedBy", links.cited_by), group("cites", links.cites),
    together.length ? h("section", { class: "half" }, h("h2", {}, t("coCited")), h("ul", { class: "linked" },
      together.map((paper) => h("li", {}, paperLink(paper, collection), h("span", { class: "dim" }, ` ×${paper.count}`))))) : null);
}

export function arrived(element) {
  element.querySelector("h1").focus({ preventScroll: true });
  scrollTo(0, 0);
}
