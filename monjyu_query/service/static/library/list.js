// The list of papers.

import { json } from "../api.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { listed, paperLink, parted } from "../paper/shared.js";

const STEP = 50;

export function paperList({ name: chosen, signal }) {
  const list = h("ul", { class: "papers" });
  const count = h("p", { class: "dim", role: "status" });
  const more = h("button", { type: "button", hidden: true, onclick: () => load(list.childElementCount) }, t("more"));
  const find = h("input", { id: "find", type: "search", maxlength: 200, autocomplete: "off", oninput: () => later() });
  let timer = 0;
  let turn = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => load(0), 200);
  };
  const load = async (offset) => {
    const mine = (turn += 1);
    const query = new URLSearchParams({ collection: chosen, text: find.value, offset, limit: STEP });
    const found = await json(`/papers?${query}`);
    if (mine !== turn) return;
    if (!offset) replace(list);
    list.append(...found.papers.map((paper) => item(paper, chosen)));
    count.textContent = t("count", found.total);
    more.hidden = list.childElementCount >= found.total;
  };
  load(0).catch((error) => replace(count, error.message));
  return h("div", { class: "column" }, h("h1", {}, t("papers")),
    h("div", { class: "row" }, h("div", { class: "field grow" }, h("label", { for: "find" }, t("find")), find)),
    count, list, more);
}

function item(paper, collection) {
  const facts = [[listed(paper.authors.slice(0, 4)), paper.authors.length > 4 ? " …" : ""], paper.year, paper.venue && quoted(paper.venue), paper.page_count ? t("pages", paper.page_count) : paper.document_type];
  return h("li", {}, h("p", { class: "title" }, paperLink(paper, collection), paper.retracted ? [" ", h("span", { class: "badge" }, t("retracted"))] : null), h("p", { class: "dim" }, parted(facts)));
}
