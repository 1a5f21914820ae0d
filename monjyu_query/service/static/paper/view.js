// The view `paper`: its facts in a few lines, its pages, and beneath them what is known of it.

import { json, paperPath } from "../api.js";
import { h, quoted, say } from "../dom.js";
import { t } from "../i18n.js";
import { parted } from "./shared.js";
import { corrections } from "./correct.js";
import { known, loadDetails, summary } from "./details.js";
import { network, similar } from "./related.js";
import { reader } from "./reader.js";
import { places } from "./places.js";
import { loadPaper } from "./viewer.js";
import { caveats } from "./warnings.js";
import "../library/words.js";
import "./words.js";

const MOST_AUTHORS = 5;
let arrive = () => {};

export async function show(context, id) {
  const { name: collection, params, signal } = context;
  const [paper, links, details] = await Promise.all([
    loadPaper(id, collection),
    json(paperPath(id, `/citations?collection=${encodeURIComponent(collection)}`)),
    loadDetails(id, collection),
  ]);
  say(paper.title);
  const read = reader(paper, id, collection, { signal, page: Number(params.get("page")) || null, abstract: paper.abstract });
  arrive = read.arrived;
  const alike = similar(details, links, collection);
  const parts = [links.cited_by.length ? ["citedBy", t("citedBy", links.cited_by.length)] : null, links.cites.length ? ["cites", t("cites", links.cites.length)] : null, alike ? ["similar", t("similar")] : null, ["summary", t("summary")],
    ["references", t("references", details.references.length)], ["correct", t("somethingWrong")]].filter(Boolean);
  return h("article", { class: "column paper" }, head(paper, id, context), places(parts),
    links.notices.length ? h("ul", { class: "warnings" }, links.notices.map(notice)) : null,
    read.element,
    h("div", { class: "beneath" }, caveats(details.warnings), corrections(id, context, details), summary(id, collection),
      network(links, id, collection), alike,
      links.records.length ? h("section", {}, h("h2", {}, t("told")), h("ul", { class: "told" }, links.records.map(told))) : null,
      known(paper, details, id, collection)));
}

// Title, authors, year, venue and DOI in a few lines, however many authors there are.
function head(paper, id, { name: collection, ask }) {
  const doi = paper.doi ? h("a", { href: `https://doi.org/${paper.doi.split("/").map(encodeURIComponent).join("/")}`, target: "_blank", rel: "noopener noreferrer", title: t("newTab") }, quoted(`doi:${paper.doi}`)) : null;
  const facts = [paper.publication_date, paper.venue && quoted(paper.venue), doi, paper.page_count ? t("pages", paper.page_count) : paper.document_type];
  return h("header", { class: "paper-head" },
    h("a", { class: "back", href: `#/papers/${encodeURIComponent(collection)}` }, `‹ ${t("back")}`),
    h("div", { class: "title-row" }, h("h1", { tabindex: "-1" }, quoted(paper.title || id)),
      h("button", { type: "button", class: "primary", onclick: () => ask({ paper_ids: [id] }, paper.title || id) }, t("askThis"))),
    h("p", { class: "in-short" }, authors(paper.authors), h("span", { class: "dim" }, parted(facts))));
}

function authors(all) {
  if (!all.length) return null;
  const names = (some) => some.flatMap((one, place) => [place ? ", " : "", quoted(one.name)]);
  if (all.length <= MOST_AUTHORS + 1) return h("span", { class: "authors" }, names(all));
  const line = h("span", { class: "authors" }, names(all.slice(0, MOST_AUTHORS)), " ");
  const more = h("button", { type: "button", class: "link", onclick: () => more.replaceWith(...h("span", {}, ", ", names(all.slice(MOST_AUTHORS))).childNodes) }, t("moreAuthors", all.length - MOST_AUTHORS));
  line.append(more);
  return line;
}

function notice(one) {
  const told = [t(`notice_${one.kind}`), one.date, one.source, one.notice_doi && quoted(one.notice_doi), one.reasons.length ? quoted(one.reasons.join("; ")) : null];
  return h("li", {}, parted(told));
}

function told(one) {
  const facts = [one.source, one.citation_count === null ? null : t("citedTimes", one.citation_count, one.influential_citation_count), one.venue && quoted(one.venue), one.year, one.doi && quoted(one.doi),
    one.open_access ? `${t("access")}: ${one.open_access}` : null, one.fields.length ? quoted(one.fields.slice(0, 3).join(", ")) : null,
    ...one.shelves.slice(0, 5).map(quoted), one.tags.length ? quoted(one.tags.slice(0, 12).map((tag) => `#${tag}`).join(" ")) : null];
  return h("li", { class: "dim" }, parted(facts));
}

export function arrived(element) {
  element.querySelector("h1").focus({ preventScroll: true });
  scrollTo(0, 0);
  arrive();
}
