// The view `draft`: whether the papers that a draft cites say what it says of them. `#/draft/COLLECTION`
//
// The draft stays in this tab and goes into no address; it is kept while one looks at other views.

import { post } from "../api.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { openCitation } from "../paper/viewer.js";
import { bibliographyField, draftField, draftOf, keep, kept } from "./fields.js";
import { reason } from "./words.js";

const WORST_FIRST = ["contradicted", "not_found", "partly", "not_judged", "not_resolved", "not_checked", "not_in_collection", "supported"];
const HEADS = { supported: "draftFor", contradicted: "draftAgainst" };

export function show({ name, signal }) {
  const said = h("p", { role: "status", class: "dim" });
  const found = h("div", { class: "checked" });
  const wrong = (error) => {
    replace(said);
    replace(found, h("p", { class: "error", role: "alert" }, error.message));
  };
  let turn = 0;
  const check = async () => {
    const mine = (turn += 1);
    replace(found);
    try {
      const asked = draftOf();
      if (!asked) return void replace(said, t("draftEmpty"));
      replace(said, t("draftChecking"));
      const answer = await post("/check-citations", { ...asked, collection: name }, signal);
      if (mine !== turn) return;
      keep({ answer, collection: name });
      replace(said);
      replace(found, results(answer, name));
      found.scrollIntoView({ block: "start" }); // the draft fills the window
    } catch (error) {
      if (mine === turn && error.name !== "AbortError") wrong(error);
    }
  };
  if (kept.answer && kept.collection === name) replace(found, results(kept.answer, name));
  return h("div", { class: "column draft" }, h("h1", { tabindex: "-1" }, t("draft")), h("p", { class: "dim" }, t("draftLine")),
    h("form", { onsubmit: (event) => { event.preventDefault(); check(); } }, draftField(wrong), bibliographyField(wrong),
      h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, t("draftGo")), said)), found);
}

function results({ sentences, citations, counts, warnings }, collection) {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const byNumber = new Map(citations.map((citation) => [citation.n, citation]));
  const known = (sentence) => !sentence.checks.some((check) => check.verdict === "not_judged" && check.reasons.length);
  const sorted = [...sentences].sort((one, other) => WORST_FIRST.indexOf(one.verdict) - WORST_FIRST.indexOf(other.verdict) || known(one) - known(other) || one.number - other.number);
  return [h("h2", {}, t("draftCount", total, sentences.length)),
    h("ul", { class: "verdicts" }, WORST_FIRST.filter((verdict) => counts[verdict]).map((verdict) => h("li", {}, badge(verdict), ` ${counts[verdict]}`))),
    warnings.map((warning) => h("p", { class: "dim" }, reason(warning))), total ? h("p", { class: "dim" }, t("draftHint")) : null,
    h("ol", { class: "plain checked-list" }, sorted.map((sentence) => h("li", {}, h("p", { class: "sentence" }, quoted(sentence.text)),
      sentence.checks.map((check) => checkOf(check, sentence, byNumber, collection)))))];
}

function badge(verdict) {
  return h("span", { class: `verdict ${verdict}` }, t(`draft_${verdict}`));
}

function checkOf(check, sentence, byNumber, collection) {
  const passages = check.citations.map((number) => byNumber.get(number)).filter(Boolean);
  const apart = sentence.checks.length > 1 && check.paper_id && check.claim;
  return h("section", { class: "check" }, h("p", {}, badge(check.verdict), " ", quoted(check.paper_title || check.work || check.cited)),
    check.method === "model" ? h("p", { class: "dim" }, t("draftModel")) : null,
    check.reasons.length ? h("p", { class: "why" }, check.reasons.map((one, place) => [place ? "; " : "", quoted(reason(one))])) : null,
    apart ? h("p", { class: "dim" }, t("draftClaim"), " ", quoted(check.claim)) : null,
    passages.length ? h("details", { open: check.verdict !== "supported" }, h("summary", {}, t(HEADS[check.verdict] ?? "draftNearest")), passages.map((passage) => passageOf(passage, collection))) : null);
}

function passageOf(passage, collection) {
  const title = passage.paper_title || passage.paper_id;
  const place = passage.page ? t("page", passage.page) : t("draftOpen");
  return h("blockquote", {}, quoted(passage.quote), " ", h("button", { type: "button", class: "link", "aria-label": t("draftOpenAt", title, place),
    onclick: (event) => openCitation(passage, collection, event.currentTarget) }, place));
}
