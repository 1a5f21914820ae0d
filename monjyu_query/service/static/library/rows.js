// A paper as a row of the library's table.

import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";
import { paperLink } from "../paper/shared.js";

export const SORTS = ["title", "year", "venue", "author", "citations", "pages"];

export function row(paper, collection, picked) {
  const title = paper.title || paper.paper_id;
  const box = h("input", { type: "checkbox", value: paper.paper_id, "aria-label": t("choose", title), checked: picked.chosen.has(paper.paper_id), onchange: () => {
    picked.set(paper, box.checked);
    picked.show();
  } });
  const cell = (name, ...content) => h("td", { "data-name": t(`sort_${name}`) }, content);
  return h("tr", {}, h("td", {}, box),
    h("th", { scope: "row" }, paperLink(paper, collection), paper.retracted ? [" ", h("span", { class: "badge" }, t("retracted"))] : null),
    cell("year", paper.year ?? "–"), cell("venue", paper.venue ? quoted(paper.venue) : "–"),
    cell("author", paper.authors.length ? quoted(paper.authors[0]) : "–", paper.authors.length > 1 ? ` ${t("andOthers", paper.authors.length - 1)}` : ""),
    cell("citations", paper.citations), cell("pages", paper.page_count || "–"));
}

export function heads() {
  return h("thead", {}, h("tr", {}, h("td", {}), SORTS.map((one) => h("th", { scope: "col" }, t(`sort_${one}`)))));
}

// Faint rows, until the papers are there.
export function waitingRows() {
  return Array.from({ length: 6 }, () => h("tr", { "aria-hidden": "true" }, h("td", { colspan: SORTS.length + 1 }, h("span", { class: "skeleton w90" }))));
}
