// The view `tensions`: where papers contradict each other, both sides beside each other.
//
// `#/tensions/COLLECTION?concept=WORDS`

import { json } from "../api.js";
import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";
import { openCitation } from "../paper/viewer.js";
import { said } from "../said.js";
import "./words.js";

export async function show({ name, params }) {
  const concept = params.get("concept")?.trim() ?? "";
  const query = new URLSearchParams({ collection: name, ...(concept ? { concept } : {}) });
  const found = await json(`/tensions?${query}`);
  return h("article", { class: "column tensions" }, h("a", { class: "back", href: `#/themes/${encodeURIComponent(name)}` }, `‹ ${t("themes")}`), h("h1", { tabindex: "-1" }, t("tensions")),
    h("p", { class: "dim" }, t("tensions_line")), found.warnings.length ? h("ul", { class: "warnings" }, found.warnings.map((text) => h("li", {}, said(text)))) : null, found.built ? [search(name, concept), list(found, name, concept)] : null);
}

function search(name, concept) {
  const words = h("input", { type: "search", value: concept, maxlength: "200", "aria-label": t("tensions_find"), placeholder: t("tensions_find") });
  const submit = (event) => {
    event.preventDefault();
    const asked = words.value.trim();
    location.hash = `#/tensions/${encodeURIComponent(name)}${asked ? `?${new URLSearchParams({ concept: asked })}` : ""}`;
  };
  return h("form", { class: "row", role: "search", onsubmit: submit }, words, h("button", { type: "submit" }, t("tensions_show")));
}

function list({ tensions, citations, total, read }, name, concept) {
  if (!tensions.length && concept) return h("p", { role: "status" }, t("tensions_none_of", concept, read), " ", h("a", { href: `#/tensions/${encodeURIComponent(name)}` }, t("tensions_all")));
  if (!tensions.length) return h("p", { role: "status" }, t("tensions_none", read));
  const byNumber = new Map(citations.map((citation) => [citation.n, citation]));
  return [h("p", { class: "dim", role: "status" }, t("tensions_count", tensions.length, total)), h("ol", { class: "plain tension-list" }, tensions.map((one) => pair(one, byNumber, name)))];
}

function pair(one, byNumber, name) {
  return h("li", { class: "tension" }, h("h2", {}, quoted(one.concept)), h("p", { class: "dim" }, quoted(one.reason)),
    h("div", { class: "sides" }, [one.first, one.second].map((side) => statement(side, byNumber.get(side.citation), name))));
}

function statement(side, citation, name) {
  const where = [side.year, citation.page ? t("page", citation.page) : null].filter(Boolean).join(", ");
  return h("section", { class: "side" }, h("blockquote", {}, quoted(citation.quote)),
    h("p", { class: "where" }, h("button", { type: "button", class: "link", onclick: (event) => openCitation(citation, name, event.currentTarget) },
      quoted(side.paper_title || side.paper_id), where ? `, ${where}` : "")));
}
