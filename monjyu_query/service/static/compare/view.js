// The view `compare`: study tables, papers side by side, surveys.
//
// `#/compare/COLLECTION?view=table|papers|survey` with `column`, `about`, `most`, `papers`, `aspect`, `topic`, `budget`:
// what an address asks for is made at once. `papers=..&papers=..` alone sets two to five papers side by side, and makes
// a table of more.

import { h } from "../dom.js";
import { t } from "../i18n.js";
import { segments } from "../maps/controls.js";
import { sideBySide } from "./papers.js";
import { surveyOf } from "./survey.js";
import { studyTable } from "./table.js";
import "./words.js";

const MOST_BESIDE = 5;
const VIEWS = { table: studyTable, papers: sideBySide, survey: surveyOf };

export async function show(context) {
  const { name, params } = context;
  const view = chosenView(params);
  const link = (other) => `#/compare/${encodeURIComponent(name)}?${new URLSearchParams([["view", other], ...params.getAll("papers").map((id) => ["papers", id])])}`;
  const tabs = segments(t("compare_kind"), Object.keys(VIEWS).map((one) => [one, t(`compare_${one}`), { href: link(one) }]), view);
  const { form, results } = await VIEWS[view](context, (values) => keepAddress(name, view, values));
  return h("div", { class: "compare" }, h("div", { class: "column compare-form" },
    h("div", { class: "compare-head" }, h("h1", { tabindex: "-1" }, t("compare")), tabs), h("p", { class: "dim" }, t(`compare_${view}_line`)), form), results);
}

function chosenView(params) {
  const asked = params.get("view");
  const papers = params.getAll("papers").length;
  if (asked in VIEWS) return asked === "papers" && papers > MOST_BESIDE ? "table" : asked;
  if (papers) return papers > MOST_BESIDE ? "table" : "papers";
  return params.has("topic") ? "survey" : "table";
}

// `values` are pairs; what is empty stays out of the address.
function keepAddress(name, view, values) {
  const query = new URLSearchParams([["view", view], ...values.filter(([, value]) => value !== "" && value !== null && value !== undefined).map(([key, value]) => [key, String(value)])]);
  history.replaceState(history.state, "", `#/compare/${encodeURIComponent(name)}?${query}`);
}
