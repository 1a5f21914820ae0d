// The files that are not among the papers: which, why, and what to do; and where the papers come from.

import { json } from "../api.js";
import { coded, h, quoted } from "../dom.js";
import { t } from "../i18n.js";
import { listed } from "../paper/shared.js";
import { said } from "../said.js";

export function loadProblems(collection) {
  return json(`/library/problems?collection=${encodeURIComponent(collection)}`);
}

// In plain words where we have them, else as the service said it.
function why(one) {
  const word = t(`why_${one.error_type}`);
  return word === `why_${one.error_type}` ? quoted(said(one.message)) : word;
}

function what(one) {
  const word = t(`do_${one.error_type}`);
  return word === `do_${one.error_type}` ? "" : coded(word);
}

export function cause(one) {
  return [why(one), " ", what(one)];
}

// The failed files as rows, in the place of the papers.
export function problemRows(found) {
  if (!found.failed.length) return h("p", {}, t("noneFailed"));
  return [h("p", { role: "status" }, t("failedFiles", found.failed_count)), rows(found.failed), left(found.failed_count - found.failed.length), h("p", { class: "dim" }, t("afterMending"))];
}

function rows(files) {
  return h("table", { class: "library-table problems" }, h("thead", {}, h("tr", {}, ["fileName", "whyFailed", "whatToDo"].map((one) => h("th", { scope: "col" }, t(one))))),
    h("tbody", {}, files.map((one) => h("tr", {}, h("th", { scope: "row" }, quoted(one.file)),
      h("td", { "data-name": t("whyFailed") }, why(one), h("details", {}, h("summary", {}, t("saidExactly")), quoted(one.message))),
      h("td", { "data-name": t("whatToDo") }, what(one))))));
}

function left(more) {
  return more > 0 ? h("p", { class: "dim" }, t("moreFiles", more)) : null;
}

// Where the papers come from, and the files there that are of no kind that is read.
export function sourcesOf(found) {
  return h("div", { class: "sources-of dim" }, found.sources.length ? h("p", {}, t("comesFrom"), listed(found.sources)) : null,
    found.unsupported_count ? h("details", {}, h("summary", {}, t("otherFiles", found.unsupported_count)),
      h("ul", {}, found.unsupported.map((one) => h("li", {}, quoted(one.file)))), left(found.unsupported_count - found.unsupported.length)) : null);
}
