// The evidence table of a review: what the included papers say in each column, every cell with its source.

import { json } from "../api.js";
import { answerTable } from "../ask/answer.js";
import { warningsOf } from "../compare/digest.js";
import { h, replace } from "../dom.js";
import { t } from "../i18n.js";

export function evidence({ signal }, path, { collection, counts }) {
  if (!counts.included) return h("p", {}, t("rvEvidenceNone"));
  const place = h("div", {});
  const make = async () => {
    replace(place, h("p", { role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), " ", t("rvEvidenceWait")));
    try {
      const { tables } = await json(`${path}/evidence?${new URLSearchParams({ collection })}`);
      if (!signal.aborted) replace(place, tables.map((digest) => [warningsOf(digest), digest.tables.map((table) => answerTable(table, digest.citations, collection))]));
    } catch (error) {
      replace(place, h("p", { class: "error", role: "alert" }, error.message), button);
    }
  };
  const button = h("button", { type: "button", onclick: make }, t("rvEvidenceGo"));
  replace(place, button);
  return place;
}
