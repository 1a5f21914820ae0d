// The view `tensions`: where papers contradict each other, or what they say of a subject, side by side.
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
  const warnings = found.warnings.length ? h("ul", { class: "warnings" }, found.warnings.map((text) => h("li", {}, said(text)))) : null;
  return h("article", { class: "column tensions" }, h("a", { class: "back", href: `#/themes/${encodeURIComponent(name)}` }, `‹ ${t("themes")}`), h("h1", { tabindex: "-1" }, t("tensions")),
    h("p", { class: "dim" }, t(found.built ? "tensions_line" : "tensions_compare")), found.built ? warnings : null, search(name, concept),
    found.built ? list(found, name, concept) : concept ? null : await subjects(name), concept && !found.tensions.length ? together(found, name, concept) : null,
    found.built ? null : h("details", { class: "judge" }, h("summary", {}, t("tensions_judge")), warnings, h("pre", {}, SETTINGS)));
}

const SETTINGS = `# monjyu.yaml
models:
  default: {provider: openai, base_url: "http://127.0.0.1:8080/v1", model: NAME}
roles:
  verify: {engine: llm, model: default}`;
const SUBJECTS = 8;

function address(name, concept) {
  return `#/tensions/${encodeURIComponent(name)}${concept ? `?${new URLSearchParams({ concept })}` : ""}`;
}

function search(name, concept) {
  const words = h("input", { type: "search", value: concept, maxlength: "200", "aria-label": t("tensions_find"), placeholder: t("tensions_find") });
  const submit = (event) => {
    event.preventDefault();
    location.hash = address(name, words.value.trim());
  };
  return h("form", { class: "row", role: "search", onsubmit: submit }, words, h("button", { type: "submit" }, t("tensions_show")));
}

// What many papers speak of, to begin with.
async function subjects(name) {
  const { themes } = await json(`/themes?${new URLSearchParams({ collection: name, widest: SUBJECTS })}`).catch(() => ({ themes: [] }));
  const names = themes.filter((theme) => theme.papers > 1 && theme.title).map((theme) => theme.title.split(/[,、] ?/)[0]);
  return names.length ? h("p", { class: "row" }, h("span", { class: "dim" }, t("tensions_subjects")), names.map((one) => h("a", { class: "button small", href: address(name, one) }, quoted(one)))) : null;
}

function list({ tensions, citations, total, read }, name, concept) {
  if (!tensions.length && concept) return h("p", { role: "status" }, t("tensions_none_of", concept, read), " ", h("a", { href: address(name, "") }, t("tensions_all")));
  if (!tensions.length) return h("p", { role: "status" }, t("tensions_none", read));
  const byNumber = new Map(citations.map((citation) => [citation.n, citation]));
  return [h("p", { class: "dim", role: "status" }, t("tensions_count", tensions.length, total)), h("ol", { class: "plain tension-list" }, tensions.map((one) => pair(one, byNumber, name)))];
}

// What each paper says of the subject, where nobody judged it.
function together({ papers, whole, said: sides, citations }, name, concept) {
  if (!sides.length) return h("p", { role: "status" }, t("tensions_nobody", concept));
  const byNumber = new Map(citations.map((citation) => [citation.n, citation]));
  return [h("p", { role: "status" }, t("tensions_said", concept, papers, whole)), h("div", { class: "sides" }, sides.map((side) => statement(side, byNumber.get(side.citation), name)))];
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
